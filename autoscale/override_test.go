package autoscale_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/provider"
)

func (w *world) set(kind autoscale.OverrideKind, subject string, more ...func(*autoscale.Override)) {
	w.t.Helper()
	o := autoscale.Override{OverrideKey: autoscale.OverrideKey{Kind: kind, Subject: subject}, Who: "Ada", Why: "a demo"}
	for _, change := range more {
		change(&o)
	}
	if err := w.loop.Set(context.Background(), w.now, o); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) lift(kind autoscale.OverrideKind, subject string) {
	w.t.Helper()
	if err := w.loop.Lift(context.Background(), w.now, "Ada", autoscale.OverrideKey{Kind: kind, Subject: subject}); err != nil {
		w.t.Fatal(err)
	}
}

func TestPauseBuysAndMovesNothing(t *testing.T) {
	for _, subject := range []string{"", "cloud/aws", "team/Vision", "job/GPT-L"} {
		t.Run(subject, func(t *testing.T) {
			w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot, smallSpotB}})
			w.set(autoscale.Pause, subject)
			w.submit(testJob("GPT-L", 4, 1))
			for range 5 {
				w.restart() // the row outlives the loop
				w.round(time.Minute)
			}
			if n := len(w.live()); n != 0 {
				t.Errorf("%d machines were bought", n)
			}
			w.lift(autoscale.Pause, subject)
			w.until(10, func() bool { return w.job("GPT-L").Phase == autoscale.JobStarted })
			// Another zone gets so cheap that the job would move.
			w.set(autoscale.Pause, subject)
			w.prices.rates[smallSpotB] /= 100
			w.prices.rates[smallSpot] *= 20
			for range 15 {
				w.round(time.Minute)
			}
			if got := w.kinds(); got[autoscale.EventMove] > 0 || got[autoscale.EventLaunch] != 1 {
				t.Errorf("events %v, want no move and one launch", got)
			}
			w.lift(autoscale.Pause, subject)
			w.until(15, func() bool { return w.kinds()[autoscale.EventMove] == 1 })
		})
	}
}

// starving is thrifty until it is told to give nothing to anybody and to release all.
func starving(now *bool) autoscale.PlanFunc {
	return func(p planner.Problem) (planner.Plan, error) {
		if !*now {
			return thrifty(p)
		}
		var plan planner.Plan
		for _, j := range p.Jobs {
			plan.Waits = append(plan.Waits, planner.Wait{Job: j.Job.ID, Reason: "starved"})
		}
		for _, m := range p.Machines {
			if !m.HoldTo.After(p.Now) {
				plan.Releases = append(plan.Releases, planner.Release{Instance: m.ID, Offering: m.Offering, Reason: "starved"})
			}
		}
		return plan, nil
	}
}

// What a job holds is not taken from it while it is paused, whatever the plan says.
func TestPausedJobKeepsWhatThePlanWouldTake(t *testing.T) {
	for _, subject := range []string{"", "cloud/aws", "team/Vision", "job/GPT-L"} {
		t.Run(subject, func(t *testing.T) {
			starve := false
			w := newWorld(t, setup{plan: starving(&starve), offerings: []provider.Offering{smallSpot}})
			w.stable = false
			w.submit(testJob("GPT-L", 4, 1))
			w.until(10, func() bool { return w.job("GPT-L").Phase == autoscale.JobStarted })
			w.set(autoscale.Pause, subject)
			starve = true
			for range 20 {
				w.round(time.Minute)
			}
			if r := w.job("GPT-L"); r.Generation != 1 || r.Gang == nil || r.Stopping != 0 {
				t.Errorf("the job is at generation %d and holds %+v, want it left alone\n%s", r.Generation, r.Gang, w.history())
			}
			w.lift(autoscale.Pause, subject)
			w.until(10, func() bool { return w.job("GPT-L").Gang == nil })
		})
	}
}

// A job leaves a cloud that is paused as little as it comes to one.
func TestPausedCloudIsNeitherLeftNorEntered(t *testing.T) {
	for _, cloud := range []string{"cloud/aws", "cloud/gcp"} {
		t.Run(cloud, func(t *testing.T) {
			w := newWorld(t, setup{plan: thrifty, gcp: true, offerings: []provider.Offering{smallSpot, slowSpot}})
			w.submit(testJob("GPT-L", 20, 1))
			w.until(10, func() bool { return w.job("GPT-L").Phase == autoscale.JobStarted })
			w.set(autoscale.Pause, cloud)
			w.prices.rates[smallSpot] *= 100
			for range 15 {
				w.round(time.Minute)
			}
			if got := w.kinds(); got[autoscale.EventMove] > 0 || got[autoscale.EventLaunch] != 1 {
				t.Errorf("events %v, want no move and one launch", got)
			}
			w.lift(autoscale.Pause, cloud)
			w.until(15, func() bool { return w.kinds()[autoscale.EventMove] == 1 })
		})
	}
}

// A launch whose answer is out is not sent again while nothing may be bought: it may
// not have been heard.
func TestPausedLaunchIsNotSentAgain(t *testing.T) {
	for _, key := range []autoscale.OverrideKey{{Kind: autoscale.Pause}, {Kind: autoscale.Pause, Subject: "cloud/aws"}, {Kind: autoscale.Exclude, Subject: "aws/*/small/spot"}} {
		t.Run(string(key.Kind)+" "+key.Subject, func(t *testing.T) {
			w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
			c := w.clouds[0]
			c.launch = func(provider.LaunchRequest) fault { return fault{before: true, err: provider.ErrUnknown} }
			w.submit(testJob("GPT-L", 0.2, 1))
			w.round(time.Minute)
			if len(c.calls) != 1 {
				t.Fatalf("%d launches, want one whose answer is lost", len(c.calls))
			}
			first := c.calls[0]
			c.launch = nil
			w.set(key.Kind, key.Subject)
			for range 3 {
				if w.round(time.Minute); len(c.calls) != 0 || len(w.live()) != 0 {
					t.Fatalf("launched %+v, machines %v: want none", c.calls, w.live())
				}
			}
			w.lift(key.Kind, key.Subject)
			if w.round(time.Minute); len(c.calls) == 0 || !c.calls[0].Equal(first) {
				t.Errorf("launched %+v, want the same again: %+v", c.calls, first)
			}
			w.until(60, w.allEnded)
		})
	}
}

func TestPauseOfAnotherLeavesAJobAlone(t *testing.T) {
	for _, subject := range []string{"cloud/gcp", "team/Speech", "job/GPT"} {
		w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
		w.set(autoscale.Pause, subject)
		w.submit(testJob("GPT-L", 0.2, 1))
		w.until(60, w.allEnded)
	}
}

func TestOverrideEndsAtItsTime(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	w.set(autoscale.Pause, "", func(o *autoscale.Override) { o.Until = w.now.Add(10 * time.Minute) })
	w.submit(testJob("GPT-L", 0.2, 1))
	w.until(12, func() bool { return len(w.live()) == 1 })
	if at := w.now.Sub(start); at != 10*time.Minute {
		t.Errorf("bought after %v, want 10 minutes", at)
	}
	if list, err := w.loop.Overrides(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("in force: %v, %v, want none", list, err)
	}
}

func TestFreezeChangesNothing(t *testing.T) {
	frozen := ""
	for _, how := range []string{"row", "file"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
			w.cfg.Frozen = func() (string, bool) { return frozen, frozen != "" }
			w.restart()
			w.submit(testJob("a", 0.2, 1))
			w.until(10, func() bool { return w.job("a").Phase == autoscale.JobStarted })
			if how == "row" {
				w.set(autoscale.Freeze, "")
			} else {
				frozen = "fleet.freeze"
				defer func() { frozen = "" }()
			}
			w.submit(testJob("b", 0.2, 1))
			for range 40 {
				if r := w.round(time.Minute); !r.Diff.Empty() || !strings.Contains(r.Halted, "fr") {
					t.Fatalf("changed %+v, halted %q", r.Diff, r.Halted)
				}
			}
			if len(w.live()) != 1 || w.job("a").Phase != autoscale.JobDone {
				t.Errorf("%d machines, job in phase %d: want the machine kept, the job done and seen", len(w.live()), w.job("a").Phase)
			}
			frozen = ""
			if how == "row" {
				w.lift(autoscale.Freeze, "")
			}
			w.until(60, w.allEnded)
			w.round(time.Minute)
			w.checkBooks()
		})
	}
}

func TestPinnedJobRunsOnItsConfigAlone(t *testing.T) {
	w := newWorld(t, setup{plan: func(p planner.Problem) (planner.Plan, error) { return policy.Value(p, policy.Settings{}) }})
	w.stable = false
	w.submit(testJob("GPT-L", 2, 1, 2, 4))
	w.set(autoscale.Pin, "GPT-L", func(o *autoscale.Override) {
		o.Config = &planner.Config{Cloud: "aws", Type: "large", Nodes: 1, Replicas: 2}
	})
	w.until(12, func() bool { return w.job("GPT-L").Gang != nil })
	if got := w.job("GPT-L").Gang.Config; got.Type != "large" || got.Replicas != 2 {
		t.Errorf("it runs on %+v, want 2 replicas on large", got)
	}
}

func TestExcludedOfferingIsNotBought(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot, smallSpotB, smallOnDemand}})
	w.set(autoscale.Exclude, "aws/*/small/spot")
	w.submit(testJob("GPT-L", 1, 1))
	w.round(time.Minute)
	if live := w.live(); len(live) != 1 || live[0].Offering != smallOnDemand {
		t.Errorf("%v were bought, want the one that is not excluded", live)
	}
}

func TestHeldMachineIsNotEnded(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	w.submit(testJob("GPT-L", 0.1, 1))
	w.round(time.Minute)
	id := string(w.live()[0].ID)
	w.set(autoscale.HoldMachine, id)
	for range 60 {
		w.round(time.Minute)
	}
	if len(w.live()) != 1 {
		t.Fatal("it was ended")
	}
	w.lift(autoscale.HoldMachine, id)
	w.until(20, w.allEnded)
}

// The planner is told that a held machine stays, so that it counts on it and its cost.
func TestHeldMachineIsHeldInTheProblem(t *testing.T) {
	var last planner.Problem
	w := newWorld(t, setup{offerings: []provider.Offering{smallSpot}, plan: func(p planner.Problem) (planner.Plan, error) {
		last = p
		return thrifty(p)
	}})
	w.submit(testJob("GPT-L", 1, 1))
	w.until(5, func() bool { return len(w.live()) == 1 })
	w.set(autoscale.HoldMachine, string(w.live()[0].ID))
	w.round(time.Minute)
	if len(last.Machines) != 1 || last.Machines[0].HoldTo.Before(w.now.Add(24*time.Hour)) {
		t.Errorf("machines %+v, want one that is held beyond any plan", last.Machines)
	}
}

// Who holds a machine keeps it whatever else would end it: a drain, or its age.
func TestHeldMachineOutlivesWhatWouldEndIt(t *testing.T) {
	for _, tt := range []struct {
		name string
		by   func(w *world, id provider.InstanceID)
		keep func(*autoscale.Settings)
	}{
		{"a drain", func(w *world, id provider.InstanceID) { w.set(autoscale.DrainMachine, string(id)) }, nil},
		{"its age", func(*world, provider.InstanceID) {}, func(s *autoscale.Settings) { s.MaxLife = 20 * time.Minute }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}, settings: tt.keep})
			w.submit(testJob("GPT-L", 0.1, 1))
			w.until(5, func() bool { return len(w.live()) == 1 })
			id := w.live()[0].ID
			w.set(autoscale.HoldMachine, string(id))
			tt.by(w, id)
			for range 60 {
				w.round(time.Minute)
			}
			if !w.truth(id).Live() {
				t.Fatalf("it was ended\n%s", w.history())
			}
			w.lift(autoscale.HoldMachine, string(id))
			w.until(20, w.allEnded)
		})
	}
}

// A machine that is too old ends when its job runs on another.
func TestMachineEndsAtItsMaximumLifetime(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}, settings: func(s *autoscale.Settings) { s.MaxLife = time.Hour }})
	w.stable = false // what is too old is drained, and its job moves
	w.submit(testJob("GPT-L", 3, 1))
	w.until(5, func() bool { return len(w.live()) == 1 })
	first := w.live()[0]
	w.until(120, func() bool { return !w.truth(first.ID).Live() })
	if lived := w.truth(first.ID).Ended.Sub(first.Launched); lived < time.Hour || lived > 75*time.Minute {
		t.Errorf("it lived %v, want an hour and the boot of another", lived)
	}
	if r := w.job("GPT-L"); r.Gang == nil || r.Losses != 0 {
		t.Errorf("the job lost %d gangs and holds %+v, want it moved", r.Losses, r.Gang)
	}
}

// A drained machine ends when its job runs elsewhere, and not before.
func TestDrainedMachineIsReplacedFirst(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	w.submit(testJob("GPT-L", 2, 1))
	w.until(10, func() bool { return w.job("GPT-L").Phase == autoscale.JobStarted })
	id := w.live()[0].ID
	w.set(autoscale.DrainMachine, string(id))
	most := 0
	for range 15 {
		w.round(time.Minute)
		most = max(most, len(w.live()))
	}
	live := w.live()
	if len(live) != 1 || live[0].ID == id || most != 2 {
		t.Errorf("there are %v and were %d at once, want another one, and both for a while", live, most)
	}
	if r := w.job("GPT-L"); r.Losses != 0 || r.Gang == nil {
		t.Errorf("the job lost %d gangs and holds %+v", r.Losses, r.Gang)
	}
}

func TestOverridesThatMakeNoSenseAreRefused(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty})
	for name, o := range map[string]autoscale.Override{
		"nobody says so":   {OverrideKey: autoscale.OverrideKey{Kind: autoscale.Freeze}},
		"unknown kind":     {OverrideKey: autoscale.OverrideKey{Kind: "stop"}, Who: "Ada"},
		"the loop's own":   {OverrideKey: autoscale.OverrideKey{Kind: autoscale.Breaker}, Who: "Ada"},
		"pause of what":    {OverrideKey: autoscale.OverrideKey{Kind: autoscale.Pause, Subject: "zone/a"}, Who: "Ada"},
		"over before":      {OverrideKey: autoscale.OverrideKey{Kind: autoscale.Freeze}, Who: "Ada", Until: start.Add(-1)},
		"pin of no config": {OverrideKey: autoscale.OverrideKey{Kind: autoscale.Pin, Subject: "a"}, Who: "Ada"},
		"pin of no job":    {OverrideKey: autoscale.OverrideKey{Kind: autoscale.Pin, Subject: "a"}, Who: "Ada", Config: &planner.Config{Cloud: "aws", Type: "large", Nodes: 1, Replicas: 1}},
		"pin to another":   {OverrideKey: autoscale.OverrideKey{Kind: autoscale.Pin, Subject: "a"}, Who: "Ada", Config: &planner.Config{Cloud: "aws", Type: "small", Nodes: 1, Replicas: 1, With: "b"}},
		"bad pattern":      {OverrideKey: autoscale.OverrideKey{Kind: autoscale.Exclude, Subject: "aws/[a/x/spot"}, Who: "Ada"},
		"hold of nothing":  {OverrideKey: autoscale.OverrideKey{Kind: autoscale.HoldMachine}, Who: "Ada"},
	} {
		if err := w.loop.Set(t.Context(), w.now, o); err == nil {
			t.Errorf("%s: %+v was accepted", name, o)
		}
	}
	if err := w.loop.Lift(t.Context(), w.now, "Ada", autoscale.OverrideKey{Kind: autoscale.Pause}); err == nil {
		t.Error("what is not in force was lifted")
	}
}

// A machine that a person holds is not condemned: its job stays on it past its maximum
// lifetime, and leaves when the hold is lifted.
func TestHeldMachineIsNotCondemned(t *testing.T) {
	w := newWorld(t, setup{settings: func(s *autoscale.Settings) { s.MaxLife = time.Hour }})
	w.submit(testJob("a", 20, 1))
	w.until(10, func() bool { return w.job("a").Gang != nil })
	id := w.live()[0].ID
	key := autoscale.OverrideKey{Kind: autoscale.HoldMachine, Subject: string(id)}
	if err := w.loop.Set(context.Background(), w.now, autoscale.Override{OverrideKey: key, Who: "Ada", Why: "it is looked at"}); err != nil {
		t.Fatal(err)
	}
	for range 90 {
		w.round(time.Minute)
	}
	if r := w.job("a"); r.Gang == nil || r.Gang.Generation != 1 || len(w.live()) != 1 || w.kinds()[autoscale.EventDrain] != 0 {
		t.Errorf("held, and left after an hour: %+v\n%s", r.Gang, w.history())
	}
	if err := w.loop.Lift(context.Background(), w.now, "Ada", key); err != nil {
		t.Fatal(err)
	}
	w.until(15, func() bool { r := w.job("a"); return r.Gang != nil && r.Gang.Generation == 2 })
}
