package autoscale_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// One job of half an hour on one machine: two minutes to boot and half of one to
// set up, one to restore, thirty of work, and then it is idle until it may be ended.
func TestRoundBooksWhoHeldWhat(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	w.submit(testJob("GPT-L", 0.5, 1))
	w.until(60, w.allEnded)
	w.round(time.Minute)
	w.checkBooks()
	charges, err := w.store.Charges(t.Context(), time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[ledger.Account]time.Duration{}
	for _, c := range charges {
		got[c.Account] += c.To.Sub(c.From)
		if want := map[ledger.Account]string{ledger.ToJob: "GPT-L", ledger.ToRestart: "GPT-L"}[c.Account]; c.Job != want {
			t.Errorf("%s of %s is borne by job %q, want %q", c.Amount, c.Account, c.Job, want)
		}
	}
	want := map[ledger.Account]time.Duration{
		ledger.ToBoot:    30 * time.Second, // booting is not billed, being set up is
		ledger.ToRestart: time.Minute,      // restoring
		ledger.ToJob:     30 * time.Minute,
		ledger.ToIdle:    30 * time.Second, // until the round after it was ready
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("time by account (-want, +got):\n%s\n%s", diff, w.history())
	}
}

// What a job that runs has been charged is what its budget is held against, after a
// restart too.
func TestRunningJobKnowsWhatItSpent(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	w.submit(testJob("GPT-L", 5, 1))
	for range 20 {
		w.round(time.Minute)
		charges, err := w.store.Charges(t.Context(), time.Time{}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		var want pricing.Money
		for _, c := range charges {
			if c.Job == "GPT-L" {
				want += c.Amount
			}
		}
		if got := w.job("GPT-L").Spent; got != want {
			t.Fatalf("at %s the job counts %s USD as spent, its charges are %s", w.now.Format(time.TimeOnly), got, want)
		}
	}
	if w.job("GPT-L").Spent == 0 {
		t.Error("a quarter of an hour cost nothing")
	}
}

// What was paid for work that is lost moves from the job to waste: that since the
// last checkpoint, at its speed.
func TestLostWorkIsWaste(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	w.submit(testJob("GPT-L", 5, 1))
	w.until(10, func() bool { return !w.job("GPT-L").Times.Running.IsZero() })
	running := w.job("GPT-L").Times.Running
	w.round(running.Add(17 * time.Minute).Sub(w.now)) // a checkpoint at 10 minutes
	machine := w.job("GPT-L").Gang.Nodes[0].Instance
	if err := w.clouds[0].Cloud.Terminate(t.Context(), machine); err != nil {
		t.Fatal(err)
	}
	w.round(time.Minute)
	charges, err := w.store.Charges(t.Context(), time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	sum := map[ledger.Account]pricing.Money{}
	for _, c := range charges {
		if c.Instance == machine {
			sum[c.Account] += c.Amount
		}
	}
	if want := pricing.DollarPerHour.Over(10 * time.Minute); sum[ledger.ToJob] != want {
		t.Errorf("the job bears %s USD, want %s: ten minutes that are safe", sum[ledger.ToJob], want)
	}
	if want := pricing.DollarPerHour.Over(8 * time.Minute); sum[ledger.ToRestart]+sum[ledger.ToWaste] != want {
		t.Errorf("restarts and waste are %s and %s USD, want %s: one minute of restoring and seven to be done again", sum[ledger.ToRestart], sum[ledger.ToWaste], want)
	}
	want := pricing.DollarPerHour.Over(time.Minute)
	if off := sum[ledger.ToRestart] - want; off < -1 || off > 1 { // where the minute begins, the hour's rounding stands
		t.Errorf("restarts cost %s USD, want %s: one minute of restoring", sum[ledger.ToRestart], want)
	}
}

func TestFrozenCloudIsLeftAlone(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, gcp: true})
	a, b := testJob("on-aws", 0.3, 1), testJob("on-gcp", 0.3, 1)
	a.Curve, b.Curve = perAccelerator{"V100": 1000}, perAccelerator{"K80": 1000}
	w.submit(a, b)
	w.until(10, func() bool { return w.job("on-aws").Gang != nil && w.job("on-gcp").Gang != nil })
	w.clouds[1].list = errors.New("503")
	for range 30 {
		r := w.round(time.Minute)
		if len(r.Frozen) != 1 || r.Frozen[0].Cloud != "gcp" {
			t.Fatalf("frozen are %v, want gcp", r.Frozen)
		}
	}
	// Both are done; the machine on AWS is ended, that on GCP nobody can see.
	if live := w.live(); len(live) != 1 || live[0].Offering != slowSpot {
		t.Errorf("machines %v, want that of the frozen cloud alone", live)
	}
	w.clouds[1].list = nil
	w.until(3, w.allEnded)
	w.round(time.Minute)
	w.checkBooks()
	if got := w.kinds(); got[autoscale.EventFrozen] != 1 || got[autoscale.EventThawed] != 1 {
		t.Errorf("frozen %d times and thawed %d times, want once each", got[autoscale.EventFrozen], got[autoscale.EventThawed])
	}
}

func TestRunnerThatCannotBeReadFreezesEverything(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty})
	w.submit(testJob("GPT-L", 1, 1))
	w.runner.fail = func(string) error { return errors.New("connection refused") }
	if r := w.round(time.Minute); !r.Diff.Empty() || len(r.Frozen) != 1 {
		t.Errorf("%+v while the runner cannot be read", r.Diff)
	}
	w.runner.fail = nil
	w.until(90, w.allEnded)
}

func TestMachinesOfOthersAreNeverTouched(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, awsQuota: 16, offerings: []provider.Offering{smallSpot}})
	foreign, err := w.clouds[0].Cloud.Launch(t.Context(), provider.LaunchRequest{
		Token: "theirs", Offering: smallSpot, Count: 1, Min: 1, Tags: provider.Tags{Fleet: "another"},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.submit(testJob("a", 0.2, 1), testJob("b", 0.2, 1))
	for range 60 {
		w.round(time.Minute)
	}
	if live := w.live(); len(live) != 1 || live[0].ID != foreign[0].ID {
		t.Errorf("machines %v, want the foreign one alone", live)
	}
	// It takes half of the quota: there was room for one of ours, and no call was
	// made that the quota would have refused.
	if got := w.kinds(); got[autoscale.EventLaunchFailed] != 0 || got[autoscale.EventDone] != 2 {
		t.Errorf("events %v, want two jobs done one after the other without a refusal", got)
	}
}

// A machine that carries our tag, and that no record knows, is ours: it is booked,
// and ended when nobody needs it.
func TestMachineOfOursThatIsUnknownIsAdopted(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	if _, err := w.clouds[0].Cloud.Launch(t.Context(), provider.LaunchRequest{
		Token: "lost", Offering: smallSpot, Count: 1, Min: 1, Tags: provider.Tags{Fleet: "fleet", Epoch: 1, Intent: "lost"},
	}); err != nil {
		t.Fatal(err)
	}
	w.until(15, func() bool { return len(w.live()) == 0 })
	w.round(time.Minute)
	w.checkBooks()
}

func TestMinimumRunTimeIsKept(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	w.submit(testJob("GPT-L", 0.01, 1))
	w.until(30, w.allEnded)
	events, err := w.store.Events(t.Context(), time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]time.Time{}
	for _, e := range events {
		at[e.Kind] = e.At
	}
	if got := at[autoscale.EventRelease].Sub(at[autoscale.EventLaunch]); got != 10*time.Minute {
		t.Errorf("ended %v after its launch, want the minimum run time of 10 minutes\n%s", got, w.history())
	}
	i := slices.IndexFunc(w.rounds, func(r autoscale.Round) bool { return len(r.Diff.Terminations) > 0 })
	if got := w.rounds[i].Diff.Terminations[0].Clock; got != planner.HoldClock {
		t.Errorf("the clock of the end is %q, want %q", got, planner.HoldClock)
	}
}

// Rounds that are skipped because nothing has changed come to the same as planning
// every minute.
func TestSkippedRoundsChangeNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var jobs []*planner.Job
		for n := range rapid.IntRange(1, 5).Draw(rt, "jobs") {
			jobs = append(jobs, drawJob(rt, n))
		}
		s := drawSetup(rt)
		s.plan = thrifty
		given := s.settings
		fall := rapid.IntRange(0, 90).Draw(rt, "minute of the fall")
		run := func(skip bool) (string, []ledger.Charge, int) {
			s.settings = func(x *autoscale.Settings) {
				given(x)
				x.SkipUnchanged = skip
			}
			w := newWorld(rt, s)
			w.prices.turn = start.Add(time.Duration(fall) * time.Minute)
			w.prices.later = map[provider.Offering]pricing.Rate{largeSpot: pricing.DollarPerHour * 3 / 2}
			w.submit(jobs...)
			w.until(1500, w.allEnded)
			charges, err := w.store.Charges(t.Context(), time.Time{}, time.Time{})
			if err != nil {
				rt.Fatal(err)
			}
			skipped := 0
			for _, r := range w.rounds {
				if r.Skipped {
					skipped++
				}
			}
			return w.history(), charges, skipped
		}
		events, charges, none := run(false)
		skippedEvents, skippedCharges, some := run(true)
		if diff := cmp.Diff(events, skippedEvents); diff != "" {
			rt.Errorf("events of every plan (-), with skipped ones (+):\n%s", diff)
		}
		if diff := cmp.Diff(charges, skippedCharges); diff != "" {
			rt.Errorf("charges of every plan (-), with skipped ones (+):\n%s", diff)
		}
		if none != 0 || some == 0 {
			rt.Errorf("%d rounds were skipped without, %d with leave to do so", none, some)
		}
	})
}

func TestSameWorldSameHistory(t *testing.T) {
	run := func() string {
		w := newWorld(t, setup{gcp: true, interruptions: 0.5, notice: time.Minute})
		w.submit(testJob("a", 1, 1, 2), testJob("b", 0.5, 4, 8), testJob("c", 2, 2))
		w.until(1500, w.allEnded)
		return w.history()
	}
	if diff := cmp.Diff(run(), run()); diff != "" {
		t.Errorf("the same world twice:\n%s", diff)
	}
}

func TestDecideIsPure(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, gcp: true})
	w.submit(testJob("a", 1, 1, 2), testJob("b", 0.5, 4))
	w.round(time.Minute)
	snap, err := w.store.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	small, _ := w.catalogue.Lookup("aws", "small")
	state := autoscale.State{
		Now: w.now, Jobs: snap.Jobs, Machines: snap.Instances, Hold: time.Minute, Catalogue: w.catalogue,
		Offers: []planner.Offer{{Offering: smallSpot, Type: small, Rate: pricing.DollarPerHour}},
	}
	before := state
	before.Jobs, before.Machines, before.Offers = slices.Clone(state.Jobs), slices.Clone(state.Machines), slices.Clone(state.Offers)
	one, _, err := autoscale.Decide(state, thrifty)
	if err != nil {
		t.Fatal(err)
	}
	two, _, err := autoscale.Decide(state, thrifty)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(one, two); diff != "" {
		t.Errorf("decided twice:\n%s", diff)
	}
	ignore := cmp.Comparer(func(a, b *provider.Catalogue) bool { return a == b })
	if diff := cmp.Diff(before, state, ignore); diff != "" {
		t.Errorf("the state was changed:\n%s", diff)
	}
}

func TestDryRunChangesNothing(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty})
	w.submit(testJob("GPT-L", 1, 1))
	w.advance(w.now.Add(time.Minute))
	diff, plan, err := w.loop.Plan(t.Context(), w.now)
	if err != nil {
		t.Fatal(err)
	}
	if len(diff.Launches) != 1 || len(plan.Allocations) != 1 {
		t.Errorf("%+v, want one launch for one job", diff)
	}
	if n := len(w.live()); n != 0 || w.kinds()[autoscale.EventLaunch] != 0 {
		t.Errorf("%d machines were bought by a dry run", n)
	}
	w.until(90, w.allEnded)
}

func TestSubmitTakesAllOrNone(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty})
	w.submit(testJob("first", 1, 1))
	for _, tt := range []struct {
		name string
		jobs []*planner.Job
	}{
		{"an id that is taken", []*planner.Job{testJob("x", 1, 1), testJob("first", 1, 1)}},
		{"an id given twice", []*planner.Job{testJob("x", 1, 1), testJob("x", 1, 1)}},
		{"no id", []*planner.Job{testJob("x", 1, 1), testJob("", 1, 1)}},
		{"no curve", []*planner.Job{testJob("x", 1, 1), {ID: "y"}}},
	} {
		if err := w.loop.Submit(t.Context(), w.now, tt.jobs...); err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
	jobs, err := w.store.Jobs(t.Context())
	if err != nil || len(jobs) != 1 {
		t.Errorf("%d jobs and %v, want the first alone", len(jobs), err)
	}
}

func TestNewSaysWhatIsWrong(t *testing.T) {
	good := newWorld(t, setup{plan: thrifty}).cfg
	if _, err := autoscale.New(good); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		spoil func(*autoscale.Config)
	}{
		{"no clouds", func(c *autoscale.Config) { c.Clouds = nil }},
		{"a cloud twice", func(c *autoscale.Config) { c.Clouds = append(slices.Clone(c.Clouds), c.Clouds[0]) }},
		{"no store", func(c *autoscale.Config) { c.Store = nil }},
		{"no tokens", func(c *autoscale.Config) { c.Tokens = nil }},
		{"an offering of no cloud", func(c *autoscale.Config) { c.Offerings = []provider.Offering{slowSpot} }},
		{"an offering of no type", func(c *autoscale.Config) {
			o := smallSpot
			o.Type = "huge"
			c.Offerings = []provider.Offering{o}
		}},
		{"a negative time", func(c *autoscale.Config) { c.Settings.Hold = -1 }},
		{"a longest wait below the shortest", func(c *autoscale.Config) { c.Settings.BackOffMax = time.Second }},
		{"a negative cap", func(c *autoscale.Config) { c.Settings.BurnCap = -1 }},
	} {
		cfg := good
		tt.spoil(&cfg)
		if _, err := autoscale.New(cfg); err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}

// A plan that would end a machine before its minimum run time, or an orphan before its
// grace, is not obeyed until then: what a plan says of it is no reason.
func TestPlanEndsNothingThatIsStillHeld(t *testing.T) {
	for _, tt := range []struct {
		name   string
		orphan bool
	}{{"minimum run time", false}, {"an orphan's grace", true}} {
		t.Run(tt.name, func(t *testing.T) {
			ending := false
			w := newWorld(t, setup{
				settings: func(s *autoscale.Settings) {
					if s.OrphanGrace = 20 * time.Minute; tt.orphan {
						s.Hold = time.Minute
					}
				},
				plan: func(p planner.Problem) (planner.Plan, error) {
					if !ending {
						return policy.Value(p, policy.Settings{})
					}
					var plan planner.Plan
					for _, m := range p.Machines {
						plan.Releases = append(plan.Releases, planner.Release{Instance: m.ID, Offering: m.Offering, Reason: "a mistake"})
					}
					for _, j := range p.Jobs {
						plan.Waits = append(plan.Waits, planner.Wait{Job: j.Job.ID})
					}
					return plan, nil
				},
			})
			w.stable = false
			if tt.orphan {
				ending = true
				if err := w.clouds[0].Cloud.Do("foreign 1 of aws/use1-az1/small/spot fleet fleet"); err != nil {
					t.Fatal(err)
				}
			} else {
				w.submit(testJob("a", 20, 1))
				w.until(5, func() bool { return len(w.live()) == 1 })
				if err := w.loop.Cancel(t.Context(), w.now, "a"); err != nil {
					t.Fatal(err)
				}
				ending = true
			}
			w.round(time.Minute)
			seen := w.now
			m := w.live()[0]
			w.until(40, func() bool { return len(w.live()) == 0 })
			least := m.Launched.Add(10 * time.Minute)
			if tt.orphan {
				least = seen.Add(20 * time.Minute)
			}
			if w.now.Before(least) {
				t.Errorf("it ended at %v, want not before %v\n%s", w.now.Sub(start), least.Sub(start), w.history())
			}
		})
	}
}
