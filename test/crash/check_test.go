package crash

import (
	"context"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// shown notes which machines any loop has been told of, and when first.
func (w *world) shown(list []provider.Instance) {
	for _, inst := range list {
		if _, known := w.seen[inst.ID]; !known {
			w.seen[inst.ID] = w.now
		}
	}
}

// swept notes which machines a look of this round has listed.
func (w *world) swept(list []provider.Instance) { w.listed = append(w.listed, list...) }

// noteLooks notes between which rounds a machine was listed that went to their end
// and in which its cloud could be touched.
func (w *world) noteLooks(r autoscale.Round) {
	for _, inst := range w.listed {
		frozen := slices.ContainsFunc(r.Frozen, func(f autoscale.Frozen) bool { return f.Cloud == inst.Offering.Cloud })
		if w.killer.isDead() || r.Halted != "" || frozen {
			continue
		}
		looks, known := w.looks[inst.ID]
		if !known {
			looks.first = w.now
		}
		looks.last = w.now
		w.looks[inst.ID] = looks
	}
	w.listed = nil
}

// checkLaunch: the intent is in the store and open, and its token has always meant
// this request.
func (w *world) checkLaunch(req provider.LaunchRequest) {
	if first, known := w.requests[req.Token]; known && !first.Equal(req) {
		w.fail("token %s is sent with %+v, and was with %+v", req.Token, req, first)
	}
	w.requests[req.Token] = req
	snap, err := w.store.Store.Load(context.Background())
	if err != nil {
		w.fail("load: %v", err)
		return
	}
	at := slices.IndexFunc(snap.Intents, func(x autoscale.Intent) bool { return x.Token == req.Token && x.Offering == req.Offering })
	if at < 0 {
		w.fail("launch of %s: no intent is in the store", req.Token)
		return
	}
	w.checkCap(snap, snap.Intents[at])
}

// checkCap: the machines that are really there and that the store knows of, and
// those that this intent asks for, stay under the cap.
func (w *world) checkCap(snap autoscale.Snapshot, x autoscale.Intent) {
	if w.s.cap == 0 || x.Offering.Market == provider.Reserved { // what is paid ahead costs nothing more
		return
	}
	sum := x.Rate * pricing.Rate(x.Count)
	known := map[provider.InstanceID]bool{}
	for _, r := range snap.Instances {
		known[r.Instance.ID] = r.Instance.State != provider.Ended
	}
	for _, m := range w.machines() {
		if rate, ok := w.prices.RateAt(m.Offering, w.now); ok && known[m.ID] && m.State != provider.Ended && m.Offering.Market != provider.Reserved && m.Tags.Intent != x.Token {
			sum += rate
		}
	}
	if sum > w.s.cap {
		w.fail("launch of %s: with it machines of %s USD/h are held, the cap is %s", x.Token, sum, w.s.cap)
	}
}

// checkEnd: no gang runs on what is ended, it is ours, the store says that it is to
// end, and what nothing accounted for was left alone for the grace.
func (w *world) checkEnd(ids []provider.InstanceID) {
	records, err := w.store.Store.Instances(context.Background())
	if err != nil {
		w.fail("instances: %v", err)
		return
	}
	truth := map[provider.InstanceID]provider.Instance{}
	for _, m := range w.machines() {
		truth[m.ID] = m
	}
	for _, id := range ids {
		if _, ours := truth[id]; !ours {
			w.fail("terminate %s: it is not of this fleet", id)
		}
		for _, g := range w.runner.Gangs() {
			if truth[id].Live() && slices.ContainsFunc(g.Nodes, func(n autoscale.GangNode) bool { return n.Instance == id }) {
				w.fail("terminate %s: %s runs there", id, g.Job)
			}
		}
		i := slices.IndexFunc(records, func(r autoscale.InstanceRecord) bool { return r.Instance.ID == id })
		switch {
		case i < 0 || records[i].EndAsked.IsZero():
			w.fail("terminate %s: that it is to end is not in the store", id)
		case records[i].Instance.State == provider.Ended:
			w.fail("terminate %s: it has ended, by the store", id)
		case !records[i].Orphan.IsZero() && records[i].Quarantined.IsZero() && w.now.Sub(w.seen[id]) < grace:
			w.fail("terminate %s: nothing accounted for it for %v only, the grace is %v", id, w.now.Sub(w.seen[id]), grace)
		}
	}
}

// checkRound: what may never be is not, after a round.
func (w *world) checkRound() {
	records, err := w.store.Store.Instances(context.Background())
	if err != nil {
		w.fail("instances: %v", err)
		return
	}
	known := map[provider.InstanceID]autoscale.InstanceRecord{}
	for _, r := range records {
		known[r.Instance.ID] = r
	}
	count := map[string]int{}
	running := map[provider.InstanceID]provider.Instance{}
	for _, m := range w.machines() {
		count[m.Tags.Intent]++
		if m.State == provider.Running {
			running[m.ID] = m
		}
		looks := w.looks[m.ID]
		r, has := known[m.ID]
		switch looked := looks.last.Sub(looks.first); {
		case !m.Live() || looked < 2*grace:
		case !has:
			w.fail("machine %s has been listed for %v, and no record has it", m.ID, looked)
		case !r.Orphan.IsZero() && !r.Draining && r.Quarantined.IsZero() && r.Denied.IsZero() && !w.halted && looked > 3*grace:
			w.fail("machine %s has been listed for %v, and nothing accounts for it", m.ID, looked)
		}
	}
	for token, req := range w.requests {
		if count[token] > req.Count+w.surplus() {
			w.fail("intent %s asked for %d machines and has %d", token, req.Count, count[token])
		}
	}
	type slot struct {
		id provider.InstanceID
		n  int
	}
	holder := map[slot]string{}
	for _, g := range w.runner.Gangs() {
		for _, n := range g.Nodes {
			if m := running[n.Instance]; m.ID == "" && w.ends[n.Instance].ID != "" {
				w.fail("%s runs on %s, which does not", g.Job, n.Instance)
			}
			for _, i := range n.Accelerators {
				if other, taken := holder[slot{n.Instance, i}]; taken {
					w.fail("accelerator %d of %s is held by %s and %s", i, n.Instance, other, g.Job)
				}
				holder[slot{n.Instance, i}] = string(g.Job)
			}
		}
	}
}

// surplus is by how much a cloud may hand out more than was asked for.
func (w *world) surplus() int {
	for f, rate := range w.s.faults.PerDay {
		if f.String() == "surplus" && rate > 0 {
			return 1
		}
	}
	return 0
}

// over reports whether every job has ended and every machine is gone and settled.
func (w *world) over() bool {
	if len(w.jobs) == 0 || w.now.Before(w.jobs[len(w.jobs)-1].Submitted) {
		return false
	}
	jobs, err := w.store.Jobs(context.Background())
	if err != nil || len(jobs) < len(w.jobs) {
		return false
	}
	for _, r := range jobs {
		if r.Ended.IsZero() {
			return false
		}
	}
	for _, m := range w.machines() {
		if m.State != provider.Ended {
			return false
		}
	}
	records, err := w.store.Store.Instances(context.Background())
	return err == nil && !slices.ContainsFunc(records, func(r autoscale.InstanceRecord) bool { return !r.Settled })
}

// checkBooks: the charges add up, and each machine's life is booked once. Where the
// cloud's clock was right when it spoke of a machine, to the nano dollar what a
// meter makes of its life in one piece; else to the last second of its time.
func (w *world) checkBooks() {
	charges, err := w.store.Charges(context.Background(), time.Time{}, time.Time{})
	if err != nil {
		w.fail("charges: %v", err)
		return
	}
	if err := ledger.Check(charges); err != nil {
		w.fail("%v", err)
	}
	amount, used := map[provider.InstanceID]pricing.Money{}, map[provider.InstanceID]time.Duration{}
	for i := range charges {
		c := &charges[i]
		amount[c.Instance] += c.Amount
		if c.Kind == ledger.Usage || c.Kind == ledger.Reversal {
			used[c.Instance] += c.Time()
		}
	}
	records, err := w.store.Store.Instances(context.Background())
	if err != nil {
		w.fail("instances: %v", err)
		return
	}
	for _, m := range w.machines() {
		at := slices.IndexFunc(records, func(r autoscale.InstanceRecord) bool { return r.Instance.ID == m.ID })
		if at < 0 {
			w.fail("machine %s (%v to %v) is in no record", m.ID, m.Launched.Sub(start), m.Ended.Sub(start))
			continue
		}
		r := records[at]
		meter := ledger.NewMeter(w.prices, ledger.Rules{})
		var want pricing.Money
		var life time.Duration
		t, _ := w.catalogue.Lookup(m.Offering.Cloud, m.Offering.Type)
		for _, c := range meter.Settle(m, t.Count, nil, w.now, 0) {
			want += c.Amount
			if c.Kind == ledger.Usage || c.Kind == ledger.Reversal {
				life += c.Time()
			}
		}
		if used[m.ID] != life {
			w.fail("machine %s: %v of %v accelerator-time are booked", m.ID, used[m.ID], life)
		}
		if r.Instance.Started.Equal(m.Started) && amount[m.ID] != want {
			w.fail("machine %s: %s of %s USD are booked", m.ID, amount[m.ID], want)
		}
		delete(used, m.ID)
	}
	for id, d := range used {
		if d != 0 {
			w.fail("machine %s is booked and is not of this fleet", id)
		}
	}
}
