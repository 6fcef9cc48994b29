package autoscale_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// refuse answers launches of some offerings with an error kind.
func refuse(kind error, offerings ...provider.Offering) func(provider.LaunchRequest) fault {
	return func(req provider.LaunchRequest) fault {
		if slices.Contains(offerings, req.Offering) {
			return fault{before: true, err: fmt.Errorf("launch: %w", kind)}
		}
		return fault{}
	}
}

// asked lists the offerings that a round asked a cloud for.
func (f *faulty) asked() []provider.Offering {
	var list []provider.Offering
	for _, req := range f.calls {
		list = append(list, req.Offering)
	}
	return list
}

func TestNextCandidateIsTriedAtOnce(t *testing.T) {
	for _, tt := range []struct {
		kind error
		want []provider.Offering // asked for in one round
	}{
		{provider.ErrCapacity, []provider.Offering{smallSpot, smallSpotB, smallOnDemand}},
		{provider.ErrPrice, []provider.Offering{smallSpot, smallSpotB, smallOnDemand}},
		{provider.ErrInvalid, []provider.Offering{smallSpot, smallSpotB, smallOnDemand}},
		// A full quota is full in every zone, and a market that is denied is denied
		// in the whole region.
		{provider.ErrQuota, []provider.Offering{smallSpot, smallOnDemand}},
		{provider.ErrDenied, []provider.Offering{smallSpot, smallOnDemand}},
		// That we ask too often says nothing about the offering.
		{provider.ErrThrottled, []provider.Offering{smallSpot}},
	} {
		t.Run(tt.kind.Error(), func(t *testing.T) {
			w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot, smallSpotB, smallOnDemand}})
			w.clouds[0].launch = refuse(tt.kind, smallSpot, smallSpotB)
			w.submit(testJob("GPT-L", 1, 1))
			r := w.round(time.Minute)
			if got := w.clouds[0].asked(); !slices.Equal(got, tt.want) {
				t.Errorf("asked for %v, want %v", got, tt.want)
			}
			if got, want := r.Replans, len(tt.want)-1; tt.kind != provider.ErrThrottled && got != want {
				t.Errorf("%d plans anew, want %d", got, want)
			}
		})
	}
}

// A cloud that throttles is left alone for the round. It
// says nothing of the offering, which is bought in the next round.
func TestThrottlingMarksNothingDown(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot, smallSpotB, smallOnDemand}})
	w.clouds[0].launch = refuse(provider.ErrThrottled, smallSpot)
	w.submit(testJob("GPT-L", 1, 1))
	w.round(time.Minute)
	if got := w.kinds(); got[autoscale.EventBackOff] != 0 {
		t.Errorf("events %v, want none that marks something down", got)
	}
	w.clouds[0].launch = nil
	w.round(time.Minute)
	if live := w.live(); len(live) != 1 || live[0].Offering != smallSpot {
		t.Errorf("there is %v, want one of %s", live, smallSpot)
	}
}

// A launch that answers well and brings too little is a refusal of the rest.
func TestShortFillIsPlannedAnewInTheSameRound(t *testing.T) {
	for _, tt := range []struct {
		name string
		how  fault
		left int          // machines of the first offering
		cap  pricing.Rate // room for what comes up, and not for what was asked for besides
	}{
		{"success with an empty list", fault{empty: true}, 0, 0},
		{"one of three", fault{only: 1}, 1, 0},
		{"one of three under a cap", fault{only: 1}, 1, 8 * pricing.DollarPerHour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot, smallOnDemand}, settings: func(s *autoscale.Settings) { s.BurnCap = tt.cap }})
			w.clouds[0].launch = func(req provider.LaunchRequest) fault {
				if req.Offering == smallSpot {
					return tt.how
				}
				return fault{}
			}
			w.submit(testJob("a", 1, 1), testJob("b", 1, 1), testJob("c", 1, 1))
			w.round(time.Minute)
			count := map[provider.Offering]int{}
			for _, inst := range w.live() {
				count[inst.Offering]++
			}
			if count[smallSpot] != tt.left || count[smallOnDemand] != 3-tt.left {
				t.Errorf("machines %v, want %d on spot and the rest on demand", count, tt.left)
			}
			w.clouds[0].launch = nil
			w.until(120, w.allEnded)
		})
	}
}

func TestReplansOfARoundAreLimited(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, settings: func(s *autoscale.Settings) { s.MaxReplans = 2 }})
	w.clouds[0].launch = func(provider.LaunchRequest) fault {
		return fault{before: true, err: fmt.Errorf("%w", provider.ErrSpent)} // marks nothing down
	}
	w.submit(testJob("GPT-L", 1, 1))
	if r := w.round(time.Minute); len(w.clouds[0].calls) != 3 || r.Replans != 3 {
		t.Errorf("%d launches and %d plans anew, want 3 and 3: two with launches, one without", len(w.clouds[0].calls), r.Replans)
	}
}

func TestBackOffEndsAndGrows(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	w.clouds[0].launch = refuse(provider.ErrCapacity, smallSpot)
	w.submit(testJob("GPT-L", 1, 1))
	var tried []time.Duration
	for range 80 {
		r := w.round(time.Minute)
		if len(w.clouds[0].calls) > 0 {
			tried = append(tried, w.now.Sub(start)/time.Minute)
		}
		if r.NextDecision.IsZero() || !r.NextDecision.After(w.now) {
			t.Fatalf("at %v the next decision is at %v", w.now, r.NextDecision)
		}
	}
	// 3 minutes, doubled up to 30.
	if want := []time.Duration{1, 4, 10, 22, 46, 76}; !slices.Equal(tried, want) {
		t.Errorf("tried in minutes %d, want %d", tried, want)
	}
	w.clouds[0].launch = nil
	w.until(120, w.allEnded)
	if got := w.kinds(); got[autoscale.EventRetry] == 0 || got[autoscale.EventBackOff] != 6 {
		t.Errorf("events %v, want 6 back-offs and retries", got)
	}
}

// One that is asked for again although it boots for six minutes would be bought
// every round.
func TestMachineOnItsWayIsNotBoughtTwice(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, boot: 6 * time.Minute, offerings: []provider.Offering{smallSpot}})
	w.submit(testJob("GPT-L", 1, 1))
	for range 15 {
		w.round(20 * time.Second)
	}
	if got := w.kinds()[autoscale.EventLaunch]; got != 1 {
		t.Errorf("%d machines were bought, want 1", got)
	}
}

func TestMachineThatNeverComesUpIsReplacedOnce(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, boot: 10 * time.Hour, offerings: []provider.Offering{smallSpot, smallOnDemand}})
	w.submit(testJob("GPT-L", 1, 1))
	for range 45 {
		w.round(time.Minute)
	}
	live := w.live()
	if len(live) != 1 || live[0].Offering != smallOnDemand {
		t.Errorf("after 45 minutes there are %v, want one of the next offering", live)
	}
	if got := w.kinds()[autoscale.EventLaunch]; got != 2 {
		t.Errorf("%d machines were bought, want 2", got)
	}
}

func TestLostAnswerIsAskedForAgainFirst(t *testing.T) {
	for _, tt := range []struct {
		name string
		how  fault
	}{
		{"the cloud heard it", fault{err: provider.ErrUnknown}},
		{"the cloud did not hear it", fault{before: true, err: errors.New("broken pipe")}},
	} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, restart %t", tt.name, restart), func(t *testing.T) {
				w := newWorld(t, setup{plan: thrifty})
				c := w.clouds[0]
				c.launch = func(provider.LaunchRequest) fault { return tt.how }
				w.submit(testJob("GPT-L", 0.5, 1))
				w.round(time.Minute)
				if len(c.calls) != 1 {
					t.Fatalf("%d launches while an answer is out, want 1", len(c.calls))
				}
				first := c.calls[0]
				if restart {
					w.restart()
				}
				w.round(time.Minute)
				if len(c.calls) != 1 || !c.calls[0].Equal(first) {
					t.Errorf("asked %+v, want the very same launch again: %+v", c.calls, first)
				}
				c.launch = nil
				w.until(60, w.allEnded)
				if got := w.kinds()[autoscale.EventLaunch] + w.kinds()[autoscale.EventAdopt]; got != 1 {
					t.Errorf("%d machines, want 1\n%s", got, w.history())
				}
				w.round(time.Minute)
				w.checkBooks()
			})
		}
	}
}

// TestWhatIsUnderWayHoldsItsQuota: the quota carries one machine, and nobody knows
// whether the one that was asked for is there. No call is made that it would refuse.
func TestWhatIsUnderWayHoldsItsQuota(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}, awsQuota: 8})
	c := w.clouds[0]
	c.launch = func(provider.LaunchRequest) fault { return fault{before: true, err: errors.New("broken pipe")} }
	w.submit(testJob("first", 9, 1))
	w.round(time.Minute)
	if len(c.calls) != 1 {
		t.Fatalf("%d launches, want 1", len(c.calls))
	}
	first := c.calls[0]
	w.submit(testJob("second", 9, 1))
	for range 3 {
		w.round(time.Minute)
		for _, req := range c.calls {
			if !req.Equal(first) {
				t.Errorf("asked for %d × %s beside the one that is under way", req.Count, req.Offering)
			}
		}
	}
	if got := w.kinds(); got[autoscale.EventBackOff] != 0 {
		t.Errorf("events %v: something was marked down", got)
	}
}

func TestLostAnswerIsGivenUpInTheEnd(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot, smallOnDemand}})
	w.clouds[0].launch = func(req provider.LaunchRequest) fault {
		if req.Offering == smallSpot {
			return fault{before: true, err: errors.New("broken pipe")}
		}
		return fault{}
	}
	w.submit(testJob("GPT-L", 0.5, 1))
	w.until(80, w.allEnded)
	if got := w.job("GPT-L").Phase; got != autoscale.JobDone {
		t.Errorf("the job is in phase %v, want done\n%s", got, w.history())
	}
}

// A launch is the very same however often it is sent, even when the store has got
// another epoch between: a token with other tags is another request to a cloud.
func TestLaunchKeepsItsTagsWhenTheEpochChanges(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	c := w.clouds[0]
	c.launch = func(provider.LaunchRequest) fault { return fault{err: provider.ErrUnknown} }
	w.submit(testJob("GPT-L", 0.5, 1))
	w.round(time.Minute)
	first := c.calls[0]
	w.do("listing shows id=i-later offering=aws/use1-az1/small/spot region=us-east-1 state=ended fleet=fleet epoch=7 round=1 launched=-2h started=-2h ended=-1h cause=1 for 2m")
	if r := w.round(time.Minute); r.Halted == "" || len(c.calls) != 0 {
		t.Fatalf("halted %q with launches %+v, want a frozen start", r.Halted, c.calls)
	}
	if err := w.loop.Adopt(t.Context(), w.now, "Ada"); err != nil {
		t.Fatal(err)
	}
	if _, epoch, err := w.loop.Fleet(t.Context()); err != nil || epoch != 8 {
		t.Fatalf("epoch %d, %v, want 8", epoch, err)
	}
	w.restart()
	c.launch = nil
	w.round(time.Minute)
	if len(c.calls) != 1 || !c.calls[0].Equal(first) {
		t.Errorf("asked %+v, want the very same launch again: %+v", c.calls, first)
	}
	w.until(60, w.allEnded)
	if got := w.kinds()[autoscale.EventLaunchFailed]; got != 1 {
		t.Errorf("%d launches failed, want the one whose answer was lost\n%s", got, w.history())
	}
	if list, err := w.loop.GC(t.Context(), w.now, "Ada", false); err != nil || len(list) != 0 {
		t.Errorf("orphans %v, %v, want none", list, err)
	}
}

// A controller that was away for longer than a cloud remembers tokens must not send
// an old launch again: it would buy a second time.
func TestOldLaunchIsNotSentAgain(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}, settings: func(s *autoscale.Settings) { s.TokenLife = 30 * time.Minute }})
	c := w.clouds[0]
	c.launch = func(provider.LaunchRequest) fault { return fault{before: true, err: errors.New("connection reset")} }
	w.submit(testJob("GPT-L", 0.5, 1))
	w.round(time.Minute)
	first := c.calls[0]
	w.restart()
	c.launch = nil
	w.round(45 * time.Minute)
	for _, again := range c.calls {
		if again.Token == first.Token {
			t.Errorf("the launch of 45 minutes ago is sent again: %+v", again)
		}
	}
	w.until(80, w.allEnded)
	if got := w.kinds()[autoscale.EventLaunch]; got != 1 {
		t.Errorf("%d machines were bought, want 1\n%s", got, w.history())
	}
}

// A call that hangs ends at its deadline, and other clouds go on meanwhile.
func TestCallThatHangsHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, setup{plan: thrifty, gcp: true, settings: func(s *autoscale.Settings) { s.CallTimeout = 10 * time.Second }})
		w.clouds[0].launch = func(provider.LaunchRequest) fault { return fault{hangs: true} }
		a, b := testJob("on-aws", 1, 1), testJob("on-gcp", 1, 1)
		a.Curve, b.Curve = perAccelerator{"V100": 1000}, perAccelerator{"K80": 1000}
		w.submit(a, b)
		began := time.Now()
		w.round(time.Minute)
		if took := time.Since(began); took > 11*time.Second {
			t.Errorf("the round took %v, want the deadline of one call", took)
		}
		if live := w.live(); len(live) != 1 || live[0].Offering != slowSpot {
			t.Errorf("machines %v, want that of the other cloud", live)
		}
	})
}

func TestGangIsBoughtWholeOrNotAtAll(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, awsQuota: 16, offerings: []provider.Offering{smallSpot, smallOnDemand}})
	w.submit(testJob("GPT-L", 1, 4))
	w.round(time.Minute)
	for _, req := range w.clouds[0].calls {
		if req.Count != 4 || req.Min != 4 {
			t.Errorf("launch of %d, at least %d, want 4 and 4", req.Count, req.Min)
		}
	}
	w.until(120, w.allEnded)
}

// The cap of the budget and of the plan is one number here; a guard with a cap of
// its own refuses what the plan wants, and nothing is asked of a cloud.
func TestNothingIsBoughtThatTheBudgetRefuses(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty})
	w.guard(2_000_000_000)
	w.submit(testJob("a", 1, 1), testJob("b", 1, 1), testJob("c", 1, 1))
	for range 3 {
		w.round(time.Minute)
		if len(w.clouds[0].calls) > 0 {
			t.Errorf("asked for %v", w.clouds[0].asked())
		}
	}
	if w.kinds()[autoscale.EventLaunchFailed] == 0 {
		t.Error("no event says why")
	}
}

func TestTwoLoopsOnOneStoreDoNotBothDecide(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty})
	w.submit(testJob("GPT-L", 1, 1))
	other, err := autoscale.New(w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := other.Fleet(t.Context()); err != nil { // it has loaded the store
		t.Fatal(err)
	}
	w.round(time.Minute)
	if _, err := other.Round(context.Background(), w.now); !errors.Is(err, autoscale.ErrStale) {
		t.Errorf("the second loop: %v, want ErrStale", err)
	}
	if got := len(w.live()); got != 1 {
		t.Errorf("%d machines, want 1", got)
	}
	if _, err := other.Round(context.Background(), w.now); err != nil {
		t.Errorf("the second loop, having loaded again: %v", err)
	}
	if got := len(w.live()); got != 1 {
		t.Errorf("%d machines after another round, want 1", got)
	}
}

// Money that was held back for a launch comes free when the launch brings nothing,
// and all but the part that came when it comes short.
func TestRefusedLaunchGivesItsMoneyBack(t *testing.T) {
	for _, tt := range []struct {
		name string
		how  fault
	}{
		{"refused", fault{before: true, err: provider.ErrCapacity}},
		{"nothing in it", fault{empty: true}},
		{"given up without an answer", fault{before: true, err: provider.ErrUnknown}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallOnDemand}, settings: func(s *autoscale.Settings) {
				s.BurnCap, s.IntentMax = 4*pricing.DollarPerHour, 3*time.Minute // room for one machine
			}})
			c := w.clouds[0]
			c.launch = func(provider.LaunchRequest) fault { return tt.how }
			w.submit(testJob("GPT-L", 0.5, 1))
			for range 20 {
				w.round(time.Minute)
			}
			c.launch = nil
			w.until(60, w.allEnded)
			if got := w.job("GPT-L").Phase; got != autoscale.JobDone {
				t.Errorf("the job is in phase %v, want done\n%s", got, w.history())
			}
		})
	}
}

// A launch whose answer is out may have brought nothing yet. It is not sent again
// while machines that came late fill the cap.
func TestLaunchIsNotSentAgainPastTheCap(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallOnDemand}, settings: func(s *autoscale.Settings) { s.BurnCap = 4 * pricing.DollarPerHour }})
	c := w.clouds[0]
	c.launch = func(provider.LaunchRequest) fault { return fault{before: true, err: errors.New("broken pipe")} }
	w.submit(testJob("GPT-L", 0.5, 1))
	w.round(time.Minute)
	c.launch = nil
	w.do("foreign 1 of aws/use1-az1/small/on-demand fleet fleet")
	w.round(time.Minute)
	if len(c.calls) != 0 || len(w.live()) != 1 {
		t.Errorf("asked %+v with %d machines there, want nothing beside the one that fills the cap", c.calls, len(w.live()))
	}
	w.until(120, w.allEnded)
	if got := w.job("GPT-L").Phase; got != autoscale.JobDone {
		t.Errorf("the job is in phase %v, want done\n%s", got, w.history())
	}
}

// A launch whose cloud could not be listed until its time was over is asked for once
// more: nobody has looked yet whether it was heard.
func TestLaunchOfAFrozenCloudIsAskedForOnceMore(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	c := w.clouds[0]
	c.launch = func(provider.LaunchRequest) fault { return fault{before: true, err: errors.New("connection reset")} }
	w.submit(testJob("a", 0.5, 1))
	w.round(time.Minute)
	first := c.calls[0]
	c.launch, c.list = nil, errors.New("connection reset")
	for range 20 { // longer than an answer is waited for
		w.round(time.Minute)
	}
	c.list = nil
	w.round(time.Minute)
	if len(c.calls) != 1 || !c.calls[0].Equal(first) || len(w.live()) != 1 {
		t.Errorf("asked %+v, want the launch of before, once: %+v", c.calls, first)
	}
}
