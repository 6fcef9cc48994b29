package peer

import (
	"fmt"
	"testing"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// twoKinds is a problem of two machines of four V100s and one of eight K80s.
func twoKinds(jobs ...string) planner.Problem {
	p := machinesOf(2, 4, jobs...)
	k80 := planner.Offer{Offering: provider.Offering{Cloud: "own", Type: "K80"}, Type: provider.InstanceType{Name: "K80", Accelerator: "K80", Count: 8}}
	p.Offers = append(p.Offers, k80)
	p.Machines = append(p.Machines, planner.Machine{ID: "k", Offering: k80.Offering})
	return p
}

// Sixteen accelerators of two kinds are one to it, in machines of four, of which a job has
// no more than there are of a kind; all are used, and no gang lies on both kinds.
func TestPolluxIsBlindToKinds(t *testing.T) {
	p := twoKinds("a", "b")
	plan, err := Pollux{Of: knows(map[planner.JobID]float64{"a": 0.9, "b": 0.9}, 64)}.Plan(p)
	if got := given(t, plan, err); got["a"] != 8 || got["b"] != 8 {
		t.Errorf("%v, want 8 each", got)
	}
	on := map[string]int{}
	for _, a := range plan.Allocations {
		for _, m := range a.Machines {
			if plan.Machines[m].Offering != a.Offering {
				t.Errorf("%s lies on %s and %s", a.Job, a.Offering.Type, plan.Machines[m].Offering.Type)
			}
		}
		on[a.Offering.Type] += a.Config.Replicas
	}
	if on["V100"] != 8 || on["K80"] != 8 {
		t.Errorf("%v are used, want 8 and 8", on)
	}
}

// Who has as much as it is to have stays, on whichever kind.
func TestPolluxStaysWhereItLanded(t *testing.T) {
	p := twoKinds("a", "b")
	p.Jobs[0].Running = &planner.Running{Config: planner.Config{Type: "K80", Nodes: 1, Replicas: 8}, Offering: p.Offers[1].Offering, Machines: []provider.InstanceID{"k"}}
	plan, err := Pollux{Of: knows(map[planner.JobID]float64{"a": 0.9, "b": 0.9}, 64)}.Plan(p)
	given(t, plan, err)
	for _, a := range plan.Allocations {
		if a.Job == "a" && !a.Keeps || a.Job == "b" && a.Offering.Type != "V100" {
			t.Errorf("%s is on %s, keeps %v", a.Job, a.Offering.Type, a.Keeps)
		}
	}
}

// A gang for which no kind has room is made smaller.
func TestSeatBlindHalvesWhatFindsNoRoom(t *testing.T) {
	p := twoKinds("a", "b", "c")
	f := newFloor(&p)
	f.seatBlind([]seat{{&p.Jobs[0], 4, 0, false}, {&p.Jobs[1], 8, 0, false}, {&p.Jobs[2], 8, 0, false}}, false)
	got := given(t, f.finish("full"), nil)
	if got["a"]+got["b"]+got["c"] < 12 || got["b"] != 8 || got["c"] != 8 && got["c"] != 4 {
		t.Errorf("%v: want 8 for b, 8 or 4 for c", got)
	}
}

// Over many jobs, each accelerator is as likely to come first.
func TestKindsAreDrawnByAccelerators(t *testing.T) {
	p := twoKinds("x")
	p.Machines = append(p.Machines, planner.Machine{ID: "l", Offering: p.Offers[1].Offering}, planner.Machine{ID: "m", Offering: p.Offers[1].Offering})
	f := newFloor(&p) // 24 K80s, 8 V100s
	first := 0
	const draws = 4000
	for n := range draws {
		order := f.drawn(&planner.JobState{Job: job(fmt.Sprintf("j%d", n), 0, 3600, 1)})
		if len(order) != 2 || order[0] == order[1] {
			t.Fatalf("order %v", order)
		}
		if f.kinds[order[0]].typ.Accelerator == "K80" {
			first++
		}
	}
	if share := float64(first) / draws; share < 0.72 || share > 0.78 { // four standard deviations
		t.Errorf("K80 comes first in %.3f of draws, want 0.75", share)
	}
}

// Of a gang that lies on slots of both kinds, the part on the kind that has more stays.
func TestTrimmedKeepsTheTypeOfMost(t *testing.T) {
	p := twoKinds("x")
	p.Machines = append(p.Machines, planner.Machine{ID: "l", Offering: p.Offers[1].Offering})
	f := newFloor(&p) // four slots of K80s, and two of V100s
	both := 0
	for n := range 300 {
		s := seat{&planner.JobState{Job: job(fmt.Sprintf("j%d", n), 0, 3600, 1)}, 24, 0, false}
		if w, n := f.trimmed(s); n != 16 || f.kinds[w].typ.Accelerator != "K80" {
			t.Fatalf("%d of 24 on %s, want 16 on K80", n, f.kinds[w].typ.Accelerator)
		}
		s.n = 8
		switch w, n := f.trimmed(s); {
		case n == 8:
			both++
		case n != 4 || w != 0:
			t.Fatalf("%d of 8 on %s, want 8, or 4 on the kind that comes first", n, f.kinds[w].typ.Accelerator)
		}
	}
	if both < 110 || both > 170 { // 140 are expected: 7 pairs of slots in 15 are alike
		t.Errorf("%d of 300 gangs of two slots lie on one kind, want about 140", both)
	}
}
