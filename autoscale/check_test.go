package autoscale_test

import (
	"context"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/placement"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// check fails the test if the fleet is in a state that it may never be in.
func (w *world) check(r autoscale.Round) {
	w.t.Helper()
	w.checkGangs()
	w.checkCaps()
	w.checkOwners()
	w.checkClocks(r)
}

// checkGangs: gangs are whole, in one zone, and no accelerator is held twice.
func (w *world) checkGangs() {
	w.t.Helper()
	snap, err := w.store.Load(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	all, err := w.store.Instances(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	var machines []placement.Machine
	for _, m := range all {
		t, _ := w.catalogue.Lookup(m.Instance.Offering.Cloud, m.Instance.Offering.Type)
		machines = append(machines, placement.Machine{ID: m.Instance.ID, Offering: m.Instance.Offering, Accelerators: t.Count})
	}
	var gangs []placement.Gang
	for _, j := range snap.Jobs {
		if j.Gang == nil {
			continue
		}
		g := placement.Gang{Job: j.Job.ID}
		for _, n := range j.Gang.Nodes {
			g.Nodes = append(g.Nodes, placement.Node{Instance: n.Instance, Accelerators: n.Accelerators})
		}
		if len(g.Nodes) != j.Gang.Config.Nodes {
			w.t.Errorf("gang of %s has %d nodes of %d", j.Job.ID, len(g.Nodes), j.Gang.Config.Nodes)
		}
		gangs = append(gangs, g)
	}
	if err := placement.Check(machines, gangs); err != nil {
		w.t.Errorf("placement at %v: %v", w.now.Sub(start), err)
	}
}

// checkCaps: what is really there never burns more than the cap. Prices of these
// tests only fall, so that the cap can hold.
func (w *world) checkCaps() {
	w.t.Helper()
	var burn pricing.Rate
	for _, inst := range w.live() {
		rate, _ := w.prices.RateAt(inst.Offering, w.now)
		burn += rate
	}
	if limit := w.cfg.Settings.BurnCap; limit > 0 && burn > limit {
		w.t.Errorf("burn at %v is %s USD/h, the cap %s", w.now.Sub(start), burn, limit)
	}
}

// checkOwners: every machine has an intent of its own, and no intent has more
// machines than it asked for.
func (w *world) checkOwners() {
	w.t.Helper()
	count := map[string]int{}
	for _, inst := range w.live() {
		if inst.Tags.Fleet != "fleet" {
			continue
		}
		count[inst.Tags.Intent]++
	}
	for _, c := range w.clouds {
		for _, req := range c.calls {
			if count[req.Token] > req.Count {
				w.t.Errorf("token %s has %d machines, %d were asked for", req.Token, count[req.Token], req.Count)
			}
		}
	}
}

// checkClocks: a round that changes something was woken by an event, or names a
// clock for each change.
func (w *world) checkClocks(r autoscale.Round) {
	w.t.Helper()
	if r.Skipped && !r.Diff.Empty() {
		w.t.Errorf("round %d was skipped and changed %+v", r.Number, r.Diff)
	}
	if w.restarted || !w.stable || w.store.fail != nil || w.runner.fail != nil {
		w.restarted = w.store.fail != nil
		return // what was told before the restart is not told again
	}
	if n := len(w.rounds); n > 1 {
		// What the last round met with while it acted is met by this one.
		if before := w.rounds[n-2].Events; has(before, autoscale.EventDenied) || has(before, autoscale.EventFailed) {
			return
		}
	}
	for _, e := range r.Events {
		switch e.Kind {
		case autoscale.EventPlan, autoscale.EventMove, autoscale.EventLaunch, autoscale.EventStart, autoscale.EventStop,
			autoscale.EventRelease, autoscale.EventDrain, autoscale.EventRetry:
		default:
			return // something happened
		}
	}
	for _, x := range r.Diff.Launches {
		if x.Clock == "" {
			w.t.Errorf("round %d at %v: %d × %s is bought, nothing has happened and no clock is named\n%s", r.Number, w.now.Sub(start), x.Count, x.Offering, w.history())
		}
	}
	for _, x := range r.Diff.Terminations {
		if x.Clock == "" {
			w.t.Errorf("round %d at %v: %s is ended, nothing has happened and no clock is named\n%s", r.Number, w.now.Sub(start), x.Instance, w.history())
		}
	}
	for _, x := range r.Diff.Stops {
		if x.Clock == "" {
			w.t.Errorf("round %d at %v: %s is stopped, nothing has happened and no clock is named\n%s", r.Number, w.now.Sub(start), x.Job, w.history())
		}
	}
	for _, x := range r.Diff.Targets {
		if x.Clock == "" {
			w.t.Errorf("round %d at %v: %s is moved to %+v, nothing has happened and no clock is named\n%s", r.Number, w.now.Sub(start), x.Job, x.Target, w.history())
		}
	}
}

// checkBooks: every machine there ever was is booked to its end, once. The amount
// is what a meter of its own makes of the machine's life in one piece.
func (w *world) checkBooks() {
	w.t.Helper()
	charges, err := w.store.Charges(context.Background(), time.Time{}, time.Time{})
	if err != nil {
		w.t.Fatal(err)
	}
	got := map[provider.InstanceID]pricing.Money{}
	for _, c := range charges {
		got[c.Instance] += c.Amount
	}
	records, err := w.store.Instances(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	known := map[provider.InstanceID]bool{}
	for _, r := range records {
		known[r.Instance.ID] = true
		if !r.Settled {
			w.t.Errorf("machine %s (%v) is not settled", r.Instance.ID, r.Instance.State)
		}
		meter := ledger.NewMeter(w.prices, ledger.Rules{})
		var want pricing.Money
		for _, c := range meter.Settle(r.Instance, 1, nil, w.now, 0) {
			want += c.Amount
		}
		if got[r.Instance.ID] != want {
			w.t.Errorf("machine %s is booked at %s USD, want %s", r.Instance.ID, got[r.Instance.ID], want)
		}
	}
	for _, c := range w.clouds {
		list, err := c.Cloud.Instances(context.Background())
		if err != nil {
			w.t.Fatal(err)
		}
		for _, inst := range list {
			if !known[inst.ID] {
				w.t.Errorf("machine %s of the cloud is in no record", inst.ID)
			}
		}
	}
}
