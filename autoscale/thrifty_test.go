package autoscale_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// thrifty is a plan that a reader can follow in his head: each job in turn keeps
// what it has, takes what is free, or buys the offer that does its work for the
// least money. It moves only to less than half the cost of work. Machines nobody
// uses are released when they may be.
//
// It never changes its mind: on the state that it led to, it says the same again.
func thrifty(p planner.Problem) (planner.Plan, error) {
	t := &thrift{p: p, ref: map[provider.InstanceID]planner.MachineRef{}}
	t.quotas = append(t.quotas, p.Quotas...)
	for _, m := range p.Machines {
		o, ok := t.offer(m.Offering)
		if !ok {
			return planner.Plan{}, fmt.Errorf("machine %s has no offer", m.ID)
		}
		t.ref[m.ID] = planner.MachineRef(len(t.plan.Machines))
		t.plan.Machines = append(t.plan.Machines, planner.PlannedMachine{Instance: m.ID, Offering: m.Offering, Rate: m.Rate})
		t.free = append(t.free, o.Type.Count)
		t.plan.Burn += m.Rate
	}
	// Who stays is settled first, so that nobody takes his place.
	way := make([]*thriftyWay, len(p.Jobs))
	for i := range p.Jobs {
		if p.Jobs[i].Running != nil {
			way[i] = t.stay(&p.Jobs[i])
			t.take(&p.Jobs[i], way[i])
		}
	}
	for i := range p.Jobs {
		if way[i] == nil {
			continue
		}
		if better := t.best(&p.Jobs[i], false); better != nil && better.cost < way[i].cost/2 {
			t.give(&p.Jobs[i], way[i])
			t.take(&p.Jobs[i], better)
			way[i] = better
		}
	}
	// What one buys another may share, so whoever waits is asked again.
	for changed := true; changed; {
		changed = false
		for i := range p.Jobs {
			if way[i] == nil {
				if way[i] = t.best(&p.Jobs[i], true); way[i] != nil {
					t.take(&p.Jobs[i], way[i])
					changed = true
				}
			}
		}
	}
	for i := range p.Jobs {
		if way[i] == nil {
			t.plan.Waits = append(t.plan.Waits, planner.Wait{Job: p.Jobs[i].Job.ID, Reason: "nothing is free or may be bought"})
			continue
		}
		t.plan.Allocations = append(t.plan.Allocations, way[i].allocation)
	}
	t.release()
	return t.plan, nil
}

type thrift struct {
	p      planner.Problem
	plan   planner.Plan
	quotas []planner.QuotaLeft
	free   []int // accelerators left, by machine of the plan
	ref    map[provider.InstanceID]planner.MachineRef
}

// thriftyWay is one way to run a job.
type thriftyWay struct {
	allocation planner.Allocation
	offer      *planner.Offer
	machines   []planner.MachineRef // of the plan
	buy        int
	perNode    int
	cost       float64 // USD per sample
}

func (t *thrift) offer(o provider.Offering) (*planner.Offer, bool) {
	for i := range t.p.Offers {
		if t.p.Offers[i].Offering == o {
			return &t.p.Offers[i], true
		}
	}
	return nil, false
}

func (t *thrift) way(j *planner.JobState, o *planner.Offer, replicas int) *thriftyWay {
	nodes := (replicas + o.Type.Count - 1) / o.Type.Count
	speed, ok := j.Job.Curve.Speed(o.Type.Accelerator, nodes, replicas)
	if !ok || replicas%nodes != 0 {
		return nil
	}
	w := &thriftyWay{offer: o, perNode: replicas / nodes}
	share := float64(replicas) / float64(nodes*o.Type.Count)
	w.cost = (o.Rate.Dollars()*float64(nodes)*share + j.Job.ValueOfTime.Dollars()) / speed.Goodput
	w.allocation = planner.Allocation{
		Job: j.Job.ID, Offering: o.Offering, Speed: speed, Reason: fmt.Sprintf("%.2g USD per sample", w.cost),
		Config: planner.Config{Cloud: o.Offering.Cloud, Type: o.Type.Name, Nodes: nodes, Replicas: replicas},
	}
	return w
}

// stay is the way that a job has.
func (t *thrift) stay(j *planner.JobState) *thriftyWay {
	o, _ := t.offer(j.Running.Offering)
	w := t.way(j, o, j.Running.Config.Replicas)
	w.allocation.Keeps = true
	for _, id := range j.Running.Machines {
		w.machines = append(w.machines, t.ref[id])
	}
	return w
}

// best is the cheapest way that is to be had, on machines of the plan or, without
// share, on new ones alone; of equal ones the first.
func (t *thrift) best(j *planner.JobState, share bool) *thriftyWay {
	var best *thriftyWay
	for i := range t.p.Offers {
		for _, replicas := range j.Job.Resources.Replicas.Sizes() {
			w := t.way(j, &t.p.Offers[i], replicas)
			if w != nil && (best == nil || w.cost < best.cost) && t.room(w, share) {
				best = w
			}
		}
	}
	return best
}

// room finds the machines of a way, those of the plan first. It reports whether
// there are enough.
func (t *thrift) room(w *thriftyWay, share bool) bool {
	nodes := w.allocation.Config.Nodes
	for i, m := range t.plan.Machines {
		if share && len(w.machines) < nodes && m.Offering == w.offer.Offering && t.free[i] >= w.perNode {
			w.machines = append(w.machines, planner.MachineRef(i))
		}
	}
	w.buy = nodes - len(w.machines)
	if w.buy == 0 {
		return true
	}
	if w.offer.Blocked != "" || t.p.BurnCap > 0 && t.plan.Burn+w.offer.Rate.Times(w.buy) > t.p.BurnCap {
		return false
	}
	class := provider.QuotaClassOf(w.offer.Offering, w.offer.Type)
	for _, q := range t.quotas {
		if q.Class == class && w.buy*q.Unit.Use(w.offer.Type) > q.Left {
			return false
		}
	}
	return true
}

func (t *thrift) take(j *planner.JobState, w *thriftyWay) {
	for range w.buy {
		w.machines = append(w.machines, planner.MachineRef(len(t.plan.Machines)))
		t.plan.Machines = append(t.plan.Machines, planner.PlannedMachine{Offering: w.offer.Offering, Rate: w.offer.Rate, Reason: "for " + string(j.Job.ID)})
		t.free = append(t.free, w.offer.Type.Count)
		t.plan.Burn += w.offer.Rate
	}
	for _, ref := range w.machines {
		t.free[ref] -= w.perNode
		w.allocation.Machines = append(w.allocation.Machines, ref)
		m := &t.plan.Machines[ref]
		m.Jobs = append(m.Jobs, planner.Share{Job: j.Job.ID, Accelerators: w.perNode})
	}
	class := provider.QuotaClassOf(w.offer.Offering, w.offer.Type)
	for i := range t.quotas {
		if t.quotas[i].Class == class {
			t.quotas[i].Left -= w.buy * t.quotas[i].Unit.Use(w.offer.Type)
		}
	}
}

// give frees what a way holds.
func (t *thrift) give(j *planner.JobState, w *thriftyWay) {
	for _, ref := range w.machines {
		t.free[ref] += w.perNode
		m := &t.plan.Machines[ref]
		m.Jobs = slices.DeleteFunc(m.Jobs, func(s planner.Share) bool { return s.Job == j.Job.ID })
	}
}

// release gives up machines that nobody uses and that may be ended.
func (t *thrift) release() {
	old := t.plan.Machines
	moved := make([]planner.MachineRef, len(old))
	t.plan.Machines, t.plan.Burn = nil, 0
	var next time.Time
	for i, m := range old {
		if m.Instance != "" && len(m.Jobs) == 0 {
			held := t.p.Machines[i]
			if !held.HoldTo.After(t.p.Now) {
				clock := planner.NoClock
				if held.HoldTo.Equal(t.p.Now) {
					clock = planner.HoldClock
				}
				t.plan.Releases = append(t.plan.Releases, planner.Release{Instance: m.Instance, Offering: m.Offering, Reason: "nobody uses it", Clock: clock})
				continue
			}
			if next.IsZero() || held.HoldTo.Before(next) {
				next = held.HoldTo
			}
		}
		moved[i] = planner.MachineRef(len(t.plan.Machines))
		t.plan.Machines = append(t.plan.Machines, m)
		t.plan.Burn += m.Rate
	}
	for i := range t.plan.Allocations {
		refs := t.plan.Allocations[i].Machines
		for k := range refs {
			refs[k] = moved[refs[k]]
		}
	}
	if !next.IsZero() {
		t.plan.NextDecision, t.plan.NextClock = next, planner.HoldClock
	}
}

// swap gives every job the place of the next.
func swap(p planner.Problem) (planner.Plan, error) {
	plan, err := thrifty(p)
	n := len(plan.Allocations)
	if err != nil || n == 0 {
		return plan, err
	}
	for i := range plan.Machines {
		plan.Machines[i].Jobs = nil
	}
	turned := slices.Clone(plan.Allocations)
	for i := range turned {
		next := plan.Allocations[(i+1)%n]
		turned[i].Machines, turned[i].Offering, turned[i].Keeps = next.Machines, next.Offering, false
	}
	plan.Allocations = turned
	return plan, nil
}
