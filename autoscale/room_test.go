package autoscale

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/autoscale/placement"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// hall is a few machines of four accelerators, and jobs that lie on them.
type hall struct {
	state *State
	plan  planner.Plan
	offer provider.Offering
}

// drawHall draws jobs of one or two nodes on up to three machines, and a plan that
// lays them otherwise. Both are sound each for itself. The plan may buy more machines.
func drawHall(t *rapid.T) hall {
	typ := provider.InstanceType{Cloud: "aws", Name: "four", Accelerator: "V100", Kind: provider.GPU, Count: 4, AcceleratorMemGiB: 16, VCPU: 32, MemGiB: 256, Hosts: 1, QuotaFamily: "P"}
	catalogue, err := provider.NewCatalogue([]provider.InstanceType{typ})
	if err != nil {
		t.Fatal(err)
	}
	h := hall{offer: provider.Offering{Cloud: "aws", Region: "r", Zone: "r-1", Type: typ.Name, Market: provider.OnDemand}}
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	h.state = &State{Now: now, Catalogue: catalogue, Strays: map[planner.JobID]bool{}, Used: map[provider.InstanceID]bool{}}
	h.state.Offers = []planner.Offer{{Offering: h.offer, Type: typ, Rate: pricing.DollarPerHour, Booked: pricing.DollarPerHour}}
	held := rapid.IntRange(1, 3).Draw(t, "machines")
	for n := range held {
		h.state.Machines = append(h.state.Machines, InstanceRecord{Instance: provider.Instance{ID: provider.InstanceID(fmt.Sprint("i-", n)), Offering: h.offer, State: provider.Running, Launched: now.Add(-time.Hour)}})
	}
	h.plan.Machines = make([]planner.PlannedMachine, held+rapid.IntRange(0, 3).Draw(t, "bought"))
	for n := range h.plan.Machines {
		h.plan.Machines[n].Offering = h.offer
		if n < held {
			h.plan.Machines[n].Instance = h.state.Machines[n].Instance.ID
		}
	}
	before, after := make([]placement.Room, held), make([]placement.Room, len(h.plan.Machines))
	for _, list := range [][]placement.Room{before, after} {
		for n := range list {
			list[n] = placement.RoomOf(typ)
		}
	}
	for n := range rapid.IntRange(1, 5).Draw(t, "jobs") {
		job := &planner.Job{ID: planner.JobID(fmt.Sprint("j", n)), Submitted: now.Add(-time.Hour)}
		job.Resources.VCPU = rapid.SampledFrom([]float64{0, 4, 10, 16}).Draw(t, "vcpu")
		job.Resources.MemGiB = rapid.SampledFrom([]float64{0, 50, 100, 200}).Draw(t, "memory")
		job.Resources.ShareNodes = rapid.Bool().Draw(t, "shares")
		nodes := rapid.IntRange(1, 2).Draw(t, "nodes")
		c := planner.Config{Cloud: "aws", Type: typ.Name, Nodes: nodes, Replicas: nodes * rapid.IntRange(1, 4).Draw(t, "of each")}
		r := JobRecord{Job: job}
		if on := lay(t, before, job, c); on != nil {
			r.Target = &planner.Running{Config: c, Offering: h.offer, Since: now.Add(-time.Hour)}
			for _, m := range on {
				r.Target.Machines = append(r.Target.Machines, h.state.Machines[m].Instance.ID)
			}
		}
		h.state.Jobs = append(h.state.Jobs, r)
		if on := lay(t, after, job, c); on != nil {
			a := planner.Allocation{Job: job.ID, Config: c, Offering: h.offer}
			for _, m := range on {
				a.Machines = append(a.Machines, planner.MachineRef(m))
			}
			h.plan.Allocations = append(h.plan.Allocations, a)
		}
	}
	return h
}

// lay puts a gang onto machines that take it, in an order that is drawn; nil if it
// does not fit, or shall not be put anywhere.
func lay(t *rapid.T, list []placement.Room, job *planner.Job, c planner.Config) []int {
	order := make([]int, len(list))
	for n := range order {
		order[n] = n
	}
	var on []int
	if rapid.IntRange(0, 4).Draw(t, "waits") == 0 {
		return nil
	}
	for _, n := range rapid.Permutation(order).Draw(t, "order") {
		if len(on) < c.Nodes && list[n].Lacks(job, c) == "" && !list[n].Meets(job, c) {
			on = append(on, n)
		}
	}
	if len(on) < c.Nodes {
		return nil
	}
	for _, n := range on {
		list[n].Give(job, c)
	}
	return on
}

// TestWhatIsPutOffNeverMeetsWhatIsNot: a part of a plan that cannot be bought yet keeps
// its jobs where they are, and with them all that was to take their places. What
// is left of the plan lies beside it: on accelerators, vCPU and memory that are there,
// and no gang of several nodes on a machine with another that does not share. Where
// everything can be had, nothing is put off.
func TestWhatIsPutOffNeverMeetsWhatIsNot(t *testing.T) {
	put, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		h := drawHall(t)
		room := rapid.IntRange(0, 4).Draw(t, "may buy")
		h.state.BurnCap = pricing.DollarPerHour.Times(len(h.state.Machines) + room)
		a := newAdmission(h.state, &planner.Problem{}, &h.plan)
		a.run()
		all++
		if len(a.deferred) > 0 {
			put++
		}
		buys := 0
		for _, m := range h.plan.Machines {
			if m.Instance == "" {
				buys++
			}
		}
		if buys <= room && len(a.deferred) > 0 {
			t.Fatalf("%d may be bought and %d are, and yet is put off: %v", room, buys, a.deferred)
		}
		type load struct {
			accelerators  int
			vcpu, memGiB  float64
			alone, shares int
		}
		on := map[provider.InstanceID]*load{}
		for i := range h.state.Jobs {
			r := &h.state.Jobs[i]
			at := a.want[r.Job.ID]
			if _, late := a.deferred[r.Job.ID]; late {
				at = r.Target
			}
			if at == nil {
				continue
			}
			each := at.Config.Replicas / at.Config.Nodes
			for _, id := range at.Machines {
				if on[id] == nil {
					on[id] = &load{}
				}
				l := on[id]
				l.accelerators += each
				l.vcpu += float64(each) * r.Job.Resources.VCPU
				l.memGiB += float64(each) * r.Job.Resources.MemGiB
				switch {
				case at.Config.Nodes > 1 && r.Job.Resources.ShareNodes:
					l.shares++
				case at.Config.Nodes > 1:
					l.alone++
				}
			}
		}
		for _, m := range h.state.Machines {
			l := on[m.Instance.ID]
			if l == nil {
				continue
			}
			if l.accelerators > 4 || l.vcpu > 32 || l.memGiB > 256 {
				t.Errorf("%s carries %d accelerators, %g vCPU and %g GiB; put off: %v", m.Instance.ID, l.accelerators, l.vcpu, l.memGiB, a.deferred)
			}
			if l.alone > 0 && l.alone+l.shares > 1 {
				t.Errorf("%s carries a gang that shares with none, and another; put off: %v", m.Instance.ID, a.deferred)
			}
		}
	})
	if all >= 100 && put*20 < all {
		t.Errorf("something was put off in %d of %d draws: too few to say anything", put, all)
	}
}

// TestMemoryIsNotGivenTwice: the one that leaves cannot yet, and the one that comes has
// accelerators beside it, but not the memory.
func TestMemoryIsNotGivenTwice(t *testing.T) {
	for _, tt := range []struct {
		vcpu, memGiB float64
		put          bool
	}{{0, 0, false}, {16, 128, false}, {17, 0, true}, {0, 129, true}, {math.Nextafter(16, 17), 0, false}} {
		h := hall{offer: provider.Offering{Cloud: "aws", Region: "r", Zone: "r-1", Type: "four", Market: provider.OnDemand}}
		catalogue, err := provider.NewCatalogue([]provider.InstanceType{{Cloud: "aws", Name: "four", Accelerator: "V100", Kind: provider.GPU, Count: 4, AcceleratorMemGiB: 16, VCPU: 32, MemGiB: 256, Hosts: 1}})
		if err != nil {
			t.Fatal(err)
		}
		job := func(id planner.JobID) *planner.Job {
			return &planner.Job{ID: id, Resources: planner.Resources{VCPU: tt.vcpu, MemGiB: tt.memGiB}}
		}
		one := planner.Config{Cloud: "aws", Type: "four", Nodes: 1, Replicas: 1}
		s := &State{Catalogue: catalogue, Offers: []planner.Offer{{Offering: h.offer, Rate: pricing.DollarPerHour}}, BurnCap: pricing.DollarPerHour}
		s.Offers[0].Type, _ = catalogue.Lookup("aws", "four")
		s.Machines = []InstanceRecord{{Instance: provider.Instance{ID: "i-0", Offering: h.offer, State: provider.Running}}}
		s.Jobs = []JobRecord{{Job: job("leaves"), Target: &planner.Running{Config: one, Offering: h.offer, Machines: []provider.InstanceID{"i-0"}}}, {Job: job("comes")}}
		plan := planner.Plan{
			Machines: []planner.PlannedMachine{{Instance: "i-0", Offering: h.offer}, {Offering: h.offer}},
			Allocations: []planner.Allocation{
				{Job: "leaves", Config: one, Offering: h.offer, Machines: []planner.MachineRef{1}},
				{Job: "comes", Config: one, Offering: h.offer, Machines: []planner.MachineRef{0}},
			},
		}
		a := newAdmission(s, &planner.Problem{}, &plan)
		a.run()
		if _, put := a.deferred["comes"]; put != tt.put || a.deferred["leaves"] == "" {
			t.Errorf("%g vCPU and %g GiB: put off %v", tt.vcpu, tt.memGiB, a.deferred)
		}
	}
}
