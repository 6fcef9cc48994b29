package sim

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// In any world no accelerator is held twice, gangs are whole, quotas and the cap
// hold after every round, charges by account equal charges by instance to the
// nano dollar, and every machine's whole life is booked.
func TestSimulationsKeepTheLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := smallSetting(t, rapid.Uint64().Draw(rt, "seed"), rapid.IntRange(1, 7).Draw(rt, "jobs"))
		s.HazardScale = rapid.SampledFrom([]float64{1.0 / 3, 1, 3, 10}).Draw(rt, "hazard scale")
		s.Horizon = time.Duration(rapid.IntRange(1, 24).Draw(rt, "horizon")) * time.Hour
		s.Loop.BurnCap = pricing.Rate(rapid.IntRange(0, 30).Draw(rt, "cap")) * pricing.DollarPerHour
		s.Loop.Book = time.Duration(rapid.IntRange(0, 60).Draw(rt, "book")) * time.Minute
		s.Loop.SkipUnchanged = rapid.Bool().Draw(rt, "skip")
		if !s.Loop.SkipUnchanged {
			s.Loop.Round = 10 * time.Minute // every round is planned: fewer of them
		}
		for _, kind := range smallTypes {
			for _, market := range []provider.Market{provider.OnDemand, provider.Spot} {
				if n := rapid.IntRange(0, 5).Draw(rt, kind.name); n < 5 {
					limit(&s, kind.cloud, kind.name, market, n)
				}
			}
		}
		out, err := Simulate(t.Context(), s)
		if err != nil {
			rt.Fatal(err)
		}
		for _, sums := range [][]Sum{out.ByAccount, out.ByTeam, out.ByMarket, out.ByCloud, out.ByType} {
			total := pricing.Money(0)
			for _, sum := range sums {
				total += sum.Amount
			}
			if total != out.Cost {
				rt.Errorf("a dimension sums to %s, the cost is %s", total, out.Cost)
			}
		}
		spent, jobs := pricing.Money(0), pricing.Money(0)
		for _, amount := range out.Series.Cost {
			spent += amount
		}
		for _, j := range out.JobOutcomes {
			jobs += j.Cost
			if j.Done && j.Samples != workOf(s.Jobs, j.Job) {
				rt.Errorf("job %s is done with %g samples", j.Job, j.Samples)
			}
		}
		if spent != out.Cost {
			rt.Errorf("the series sums to %s, the cost is %s", spent, out.Cost)
		}
		if jobs > out.Cost {
			rt.Errorf("jobs bear %s of %s", jobs, out.Cost)
		}
	})
}

func workOf(jobs []*planner.Job, id planner.JobID) float64 {
	for _, job := range jobs {
		if job.ID == id {
			return job.Work.Samples
		}
	}
	return -1
}

func TestSimulateGivesTheSameBytesForOneSeed(t *testing.T) {
	run := func(seed uint64) string {
		s := smallSetting(t, 3, 6)
		s.Seed = seed
		out, err := Simulate(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := run(1)
	if diff := cmp.Diff(run(1), first); diff != "" {
		t.Errorf("the same seed gives other bytes:\n%s", diff)
	}
	if run(2) == first {
		t.Error("another seed gives the same bytes")
	}
}

// One job on a machine that is never lost takes what arithmetic says, and costs it.
func TestSimulateOneJobByHand(t *testing.T) {
	s := smallSetting(t, 1, 1)
	s.Buy = func(o provider.Offering) bool {
		return o.Type == "p3.2xlarge" && o.Zone == "use1-az1" && o.Market == provider.OnDemand
	}
	job := s.Jobs[0]
	job.Submitted = start.Add(30 * time.Second) // between two rounds
	job.Work.Samples, job.Resources.Replicas.Set = 2000, []int{1}
	job.Checkpoint = planner.Checkpoint{Restore: 5 * time.Minute, Save: time.Minute, Every: time.Hour}
	out, err := Simulate(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if out.Launches != 1 || out.Unfinished != 0 || out.Restarts != 0 {
		t.Fatalf("%d launches, %d unfinished, %d restarts: want one machine and one run", out.Launches, out.Unfinished, out.Restarts)
	}
	j := out.JobOutcomes[0]
	// From its start on: 5 min to restore, an hour of work, a minute to save, an hour of work.
	if got, want := j.Ended.Sub(*j.Started), 2*time.Hour+6*time.Minute; got != want {
		t.Errorf("the job ran for %v, want %v", got, want)
	}
	if got := out.ReferenceHours; got != 2 {
		t.Errorf("the work took %g V100-hours, want 2", got)
	}
	boot := amountOf(out.ByAccount, ledger.ToBoot)
	if want := (3060 * pricing.DollarPerHour / 1000).Over(time.Minute); boot != want {
		t.Errorf("the minute of set-up cost %s, want %s", boot, want)
	}
	restart := amountOf(out.ByAccount, ledger.ToRestart)
	if want := (3060 * pricing.DollarPerHour / 1000).Over(5 * time.Minute); restart != want {
		t.Errorf("the start cost %s, want %s", restart, want)
	}
}

func amountOf(sums []Sum, account ledger.Account) pricing.Money {
	for _, sum := range sums {
		if sum.Key == string(account) {
			return sum.Amount
		}
	}
	return 0
}

func TestSimulateStopsAtTheHorizon(t *testing.T) {
	s := smallSetting(t, 5, 3)
	for _, job := range s.Jobs {
		job.Work.Samples = 1e9
	}
	s.Jobs[2].Submitted = start.Add(30 * time.Hour) // never comes
	s.Horizon = 12 * time.Hour
	out, err := Simulate(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if !out.Horizon || out.Unfinished != 3 || out.Cost == 0 {
		t.Errorf("horizon passed %v, %d unfinished, cost %s: want all three jobs unfinished and paid for", out.Horizon, out.Unfinished, out.Cost)
	}
	if late := out.To.Sub(start.Add(s.Horizon)); late < 0 || late > 30*time.Minute {
		t.Errorf("the fleet ended %v after the horizon, want soon after", late)
	}
	for _, j := range out.JobOutcomes[:2] {
		if j.Samples == 0 {
			t.Errorf("job %s kept nothing: it was to save before its stop", j.Job)
		}
	}
}

func TestSimulateTruthNeedNotBeTheBelief(t *testing.T) {
	s := smallSetting(t, 8, 2)
	s.Buy = func(o provider.Offering) bool { return o.Market == provider.OnDemand }
	s.Truth.Speed = func(job *planner.Job, c planner.Config, accelerator string) (planner.Speed, bool) {
		speed, ok := job.Curve.Speed(accelerator, c.Nodes, c.Replicas)
		speed.Goodput /= 2
		return speed, ok
	}
	slow, err := Simulate(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.Truth.Speed = nil
	plain, err := Simulate(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if ratio := slow.AvgJCTHours / plain.AvgJCTHours; ratio < 1.5 || ratio > 2.5 {
		t.Errorf("at half the speed jobs take %.2f times as long, want about 2", ratio)
	}
}

func TestSimulateRefusesASettingThatCannotBe(t *testing.T) {
	for name, spoil := range map[string]func(*Setting){
		"no start":               func(s *Setting) { s.Start = time.Time{} },
		"nothing sold":           func(s *Setting) { s.Offerings = nil },
		"a job before the start": func(s *Setting) { s.Jobs[0].Submitted = start.Add(-time.Minute) },
		"a negative horizon":     func(s *Setting) { s.Horizon = -1 },
		"a negative scale":       func(s *Setting) { s.HazardScale = -1 },
		"no plan":                func(s *Setting) { s.Plan = nil },
		"a job twice":            func(s *Setting) { s.Jobs = append(s.Jobs, s.Jobs[0]) },
	} {
		s := smallSetting(t, 1, 1)
		spoil(&s)
		if _, err := Simulate(t.Context(), s); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

func TestCompareKeepsOrderAndWeather(t *testing.T) {
	s := smallSetting(t, 4, 4)
	onDemand := func(o provider.Offering) bool { return o.Market == provider.OnDemand }
	var last Progress
	s.Progress = func(p Progress) { last = p }
	variants := []Variant{{Name: "goodfleet"}, {Name: "on-demand", Buy: onDemand}, {Name: "again"}}
	outcomes, err := Compare(t.Context(), s, variants, []float64{1, 3})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range outcomes {
		got = append(got, o.Variant)
	}
	if diff := cmp.Diff(got, []string{"goodfleet", "goodfleet", "on-demand", "again", "again"}); diff != "" {
		t.Errorf("order, got (-), want (+):\n%s", diff)
	}
	if outcomes[2].UsesSpot || outcomes[2].Interruptions != 0 || amountsOf(outcomes[2].ByMarket) != "on-demand" {
		t.Errorf("the on-demand variant bought spot: %+v", outcomes[2].ByMarket)
	}
	outcomes[3].Variant, outcomes[4].Variant = "goodfleet", "goodfleet"
	if diff := cmp.Diff(outcomes[:2], outcomes[3:]); diff != "" {
		t.Errorf("the same variant came out otherwise beside itself:\n%s", diff)
	}
	if want := 5 * len(s.Jobs); last.Jobs != want || last.Done != want {
		t.Errorf("last progress %d of %d jobs, want %d of %d", last.Done, last.Jobs, want, want)
	}
}

func amountsOf(sums []Sum) string {
	text := ""
	for _, sum := range sums {
		text += sum.Key
	}
	return text
}

// The checker must see what it is there for.
func TestCheckerFindsWhatIsBroken(t *testing.T) {
	s := smallSetting(t, 1, 1)
	o := s.Offerings[0]
	limit(&s, o.Cloud, o.Type, o.Market, 1)
	machine := func(id provider.InstanceID) provider.Instance {
		return provider.Instance{ID: id, Offering: o, State: provider.Running, Launched: start, Started: start}
	}
	gang := func(job planner.JobID, id provider.InstanceID, accelerators ...int) autoscale.Gang {
		return autoscale.Gang{Job: job, Config: planner.Config{Cloud: o.Cloud, Type: o.Type, Nodes: 1, Replicas: 1}, Offering: o,
			Nodes: []autoscale.GangNode{{Instance: id, Accelerators: accelerators}}}
	}
	pending := machine("i-1")
	pending.State = provider.Pending
	for _, tt := range []struct {
		name     string
		machines []provider.Instance
		gangs    []autoscale.Gang
		cap      pricing.Rate
		ok       bool
	}{
		{"one gang on its machine", []provider.Instance{machine("i-1")}, []autoscale.Gang{gang("a", "i-1", 0)}, 4 * pricing.DollarPerHour, true},
		{"two gangs on one accelerator", []provider.Instance{machine("i-1")}, []autoscale.Gang{gang("a", "i-1", 0), gang("b", "i-1", 0)}, 0, false},
		{"an accelerator that is not there", []provider.Instance{machine("i-1")}, []autoscale.Gang{gang("a", "i-1", 1)}, 0, false},
		{"a gang that is not whole", []provider.Instance{machine("i-1")}, []autoscale.Gang{gang("a", "i-1")}, 0, false},
		{"a machine that boots", []provider.Instance{pending}, []autoscale.Gang{gang("a", "i-1", 0)}, 0, false},
		{"a machine that is gone", nil, []autoscale.Gang{gang("a", "i-1", 0)}, 0, false},
		{"more machines than the quota", []provider.Instance{machine("i-1"), machine("i-2")}, nil, 0, false},
		{"more than the cap", []provider.Instance{machine("i-1")}, nil, 3 * pricing.DollarPerHour, false},
	} {
		c := checker{catalogue: s.Catalogue, quotas: s.Quotas, burnCap: tt.cap, rate: s.Prices.RateAt}
		err := c.round(start, tt.machines, tt.gangs)
		if tt.ok != (err == nil) || err != nil && !errors.Is(err, ErrBroken) {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
	ended := machine("i-1")
	ended.Ended, ended.State, ended.Cause = start.Add(time.Hour), provider.Ended, provider.EndedByUs
	line := ledger.Charge{ID: "1", Kind: ledger.Usage, Instance: "i-1", Run: 1, Offering: o, From: start, To: start.Add(time.Hour),
		Account: ledger.ToIdle, Share: 1, Of: 1, Rate: pricing.DollarPerHour, Known: true, Amount: pricing.Dollar}
	short := line
	short.To = start.Add(time.Minute)
	stranger := line
	stranger.ID, stranger.Instance = "2", "i-9"
	c := checker{catalogue: s.Catalogue}
	for name, tt := range map[string]struct {
		charges []ledger.Charge
		ok      bool
	}{
		"whole":             {[]ledger.Charge{line}, true},
		"part of its life":  {[]ledger.Charge{short}, false},
		"nothing":           {nil, false},
		"twice":             {[]ledger.Charge{line, line}, false},
		"a machine unknown": {[]ledger.Charge{line, stranger}, false},
	} {
		if err := c.books(tt.charges, []provider.Instance{ended}); tt.ok != (err == nil) {
			t.Errorf("booked %s: got %v", name, err)
		}
	}
	// Of SUSE the hour in which EC2 takes a machine is free, and no more than that.
	taken, late := ended, line
	taken.Ended, taken.Cause = start.Add(3*time.Hour+20*time.Minute), provider.Interrupted
	for hours, ok := range map[int]bool{2: false, 3: true} {
		late.To = start.Add(time.Duration(hours) * time.Hour)
		late.Amount = pricing.Dollar * pricing.Money(hours)
		c.image = ledger.SUSE
		if err := c.books([]ledger.Charge{late}, []provider.Instance{taken}); ok != (err == nil) {
			t.Errorf("%d of 3 hours 20 minutes booked of SUSE: got %v", hours, err)
		}
	}
}

// A notice says that a pool goes down; it still sells until it does.
func TestSimulateBuysNothingFromAPoolThatIsTakenBack(t *testing.T) {
	s := smallSetting(t, 11, 12)
	s.HazardScale = 10
	w, err := newWorld(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	events, err := w.store.Events(t.Context(), time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	gone := map[provider.InstanceID]time.Time{}
	for id, m := range w.machines {
		gone[id] = m.Ended
	}
	doomed := map[provider.Offering]time.Time{}
	notices := 0
	for _, e := range events {
		switch e.Kind {
		case autoscale.EventNotice:
			notices++
			doomed[*e.Offering] = gone[e.Instance]
		case autoscale.EventLaunch:
			if until := doomed[*e.Offering]; e.At.Before(until) {
				t.Errorf("%s: bought %s, which is taken back until %s", e.At, e.Offering, until)
			}
		}
	}
	if notices == 0 {
		t.Fatal("no notice came: the test says nothing")
	}
}
