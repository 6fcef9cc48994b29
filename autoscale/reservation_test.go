package autoscale_test

import (
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

var block = func() provider.Offering {
	o := offering("aws", "use1-az1", "large", provider.Reserved)
	o.Reservation = "cb-1"
	return o
}()

// offered is the offer of o as the planner sees it in a state.
func offered(t *testing.T, s autoscale.State, o provider.Offering) planner.Offer {
	t.Helper()
	var seen planner.Offer
	s.Catalogue = testCatalogue(t)
	typ, _ := s.Catalogue.Lookup(o.Cloud, o.Type)
	s.Offers = []planner.Offer{{Offering: o, Type: typ, Boot: 2 * time.Minute}}
	_, _, err := autoscale.Decide(s, func(p planner.Problem) (planner.Plan, error) {
		for _, x := range p.Offers {
			if x.Offering == o {
				seen = x
			}
		}
		plan := planner.Plan{}
		for _, m := range p.Machines {
			plan.Machines = append(plan.Machines, planner.PlannedMachine{Instance: m.ID, Offering: m.Offering, Rate: m.Rate})
		}
		return plan, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

func TestReservationIsOpenWhileAMachineCanServeItsTime(t *testing.T) {
	r := autoscale.Reservation{Offering: block, Count: 3, From: start, Until: start.Add(75 * time.Minute), Drain: 30 * time.Minute}
	for _, tt := range []struct {
		at    time.Duration
		why   string        // begins with; "": open
		until time.Duration // zero: not known
	}{
		{-time.Minute, "reservation cb-1 begins at 2026-11-02T00:00:00Z", 0},
		{0, "", 0},
		{33 * time.Minute, "", 0}, // two minutes to boot and ten to hold are left
		{33*time.Minute + time.Second, "reservation cb-1 ends at 2026-11-02T00:45:00Z", 0},
		{45 * time.Minute, "reservation cb-1 ended at", 0},
		{80 * time.Minute, "reservation cb-1 ended at", 0},
	} {
		s := autoscale.State{Now: start.Add(tt.at), Hold: 10 * time.Minute, Reservations: []autoscale.Reservation{r}}
		o := offered(t, s, block)
		if (o.Blocked == "") != (tt.why == "") || !strings.HasPrefix(o.Blocked, tt.why) || o.Cap != 3 {
			t.Errorf("at %v: blocked %q, cap %d, want %q and 3", tt.at, o.Blocked, o.Cap, tt.why)
		}
		if o.Until.IsZero() == (tt.at < 0) {
			t.Errorf("at %v: until %v", tt.at, o.Until)
		}
	}
}

// TestReservationCountsWhatIsUsedOfIt: what is on its way in or out is used, and so
// are launches whose answer is out. Another reservation of the same type and zone is
// another count.
func TestReservationCountsWhatIsUsedOfIt(t *testing.T) {
	other := block
	other.Reservation = "cb-2"
	machine := func(id provider.InstanceID, o provider.Offering, state provider.InstanceState) autoscale.InstanceRecord {
		return autoscale.InstanceRecord{Instance: provider.Instance{ID: id, Offering: o, State: state, Launched: start}}
	}
	s := autoscale.State{
		Now:          start,
		Reservations: []autoscale.Reservation{{Offering: block, Count: 7}, {Offering: other, Count: 7}},
		Machines: []autoscale.InstanceRecord{
			machine("i-1", block, provider.Running), machine("i-2", block, provider.Pending), machine("i-3", block, provider.Ending),
			machine("i-4", other, provider.Running), machine("i-5", block, provider.Ended),
		},
		Intents: []autoscale.Intent{{Token: "t", Offering: block, Count: 3, Instances: []provider.InstanceID{"i-2"}, State: autoscale.IntentOpen}},
	}
	if got := offered(t, s, block).Cap; got != 7-3-2 {
		t.Errorf("%d may be launched, want 2", got)
	}
	s.Intents[0].Count = 100
	if got := offered(t, s, block).Cap; got != 0 {
		t.Errorf("%d may be launched, want none: never less than none", got)
	}
}

func TestReservationsThatMakeNoSenseAreRefused(t *testing.T) {
	for want, r := range map[string]autoscale.Reservation{
		"reserved market": {Offering: smallSpot, Count: 1},
		"0 machines":      {Offering: block},
		"is negative":     {Offering: block, Count: 1, Drain: -time.Minute},
		"before it beg":   {Offering: block, Count: 1, From: start, Until: start.Add(time.Minute), Drain: time.Minute},
		"twice":           {Offering: block, Count: 2},
	} {
		w := newWorld(t, setup{})
		w.cfg.Reservations = []autoscale.Reservation{r}
		if want == "twice" {
			w.cfg.Reservations = append(w.cfg.Reservations, r)
		}
		if _, err := autoscale.New(w.cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestReservationIsFreeToUse launches in a block under a budget that allows nothing.
func TestReservationIsFreeToUse(t *testing.T) {
	w := newWorld(t, setup{offerings: []provider.Offering{smallOnDemand}})
	w.cfg.Reservations = []autoscale.Reservation{{Offering: block, Count: 1}}
	w.guard(pricing.Rate(1))
	w.submit(testJob("GPT-L", 1, 1))
	r := w.round(time.Minute)
	if len(r.Diff.Launches) == 0 || r.Diff.Launches[0].Offering != block || r.Diff.Launches[0].Rate != 0 {
		t.Errorf("launches %+v, want one in the block at a decision rate of 0", r.Diff.Launches)
	}
}
