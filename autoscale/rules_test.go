package autoscale_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale/placement"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// ruleTypes are the machines of the tests below.
var ruleTypes = []provider.InstanceType{
	{Cloud: "aws", Name: "one", Accelerator: "V100", Kind: provider.GPU, Count: 1, AcceleratorMemGiB: 16, VCPU: 8, MemGiB: 64, Hosts: 1, QuotaFamily: "P"},
	{Cloud: "aws", Name: "four", Accelerator: "V100", Kind: provider.GPU, Count: 4, AcceleratorMemGiB: 16, VCPU: 32, MemGiB: 256, Hosts: 1, QuotaFamily: "P"},
	{Cloud: "aws", Name: "linked", Accelerator: "V100", Kind: provider.GPU, Count: 4, AcceleratorMemGiB: 16, VCPU: 32, MemGiB: 256, Hosts: 1, QuotaFamily: "P", Interconnect: "efa"},
	{Cloud: "gcp", Name: "slice", Accelerator: "TPU v5e", Kind: provider.TPU, Count: 4, AcceleratorMemGiB: 16, VCPU: 112, MemGiB: 192, Hosts: 1, QuotaFamily: "TPU", Interconnect: "ici"},
}

// ruling is a problem that a few lines say.
type ruling struct {
	jobs []*planner.Job
	sold map[string]int // machines to be had, by zone and type; -1: any number
	here []string       // machines that are held and may not be ended, by zone, type and reservation
	on   map[planner.JobID][]int
}

func ruleType(t *testing.T, name string) provider.InstanceType {
	t.Helper()
	i := slices.IndexFunc(ruleTypes, func(x provider.InstanceType) bool { return x.Name == name })
	if i < 0 {
		t.Fatalf("there is no type %s", name)
	}
	return ruleTypes[i]
}

func ruleOffering(t *testing.T, name string) provider.Offering {
	zone, typ, _ := strings.Cut(name, "/")
	typ, rack, reserved := strings.Cut(typ, "/")
	o := provider.Offering{Cloud: ruleType(t, typ).Cloud, Region: "r", Zone: zone, Type: typ, Market: provider.OnDemand, Reservation: rack}
	if reserved {
		o.Market = provider.Reserved
	}
	return o
}

// plan makes the problem and plans it.
func (r ruling) plan(t *testing.T) planner.Plan {
	t.Helper()
	p := planner.Problem{Now: start}
	offer := func(name string, most int) {
		o := ruleOffering(t, name)
		if slices.ContainsFunc(p.Offers, func(x planner.Offer) bool { return x.Offering == o }) {
			return
		}
		typ := ruleType(t, o.Type)
		rate := pricing.DollarPerHour.Times(typ.Count)
		if typ.Count > 1 {
			rate = rate * 9 / 10 // a large machine is a little cheaper than as many small ones
		}
		p.Offers = append(p.Offers, planner.Offer{Offering: o, Type: typ, Rate: rate, Booked: rate, Boot: 2 * time.Minute, Cap: most})
	}
	for _, name := range r.here {
		offer(name, r.sold[name])
	}
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range r.sold {
			if !yield(name) {
				return
			}
		}
	}) {
		offer(name, r.sold[name])
	}
	for n, name := range r.here {
		o := ruleOffering(t, name)
		p.Machines = append(p.Machines, planner.Machine{ID: provider.InstanceID(fmt.Sprint("i-", n)), Offering: o, Rate: pricing.DollarPerHour, ReadyAt: start, HoldTo: start.Add(time.Hour)})
	}
	for _, j := range r.jobs {
		s := planner.JobState{Job: j, Waiting: start}
		if on := r.on[j.ID]; on != nil {
			o := p.Machines[on[0]].Offering
			size := j.Resources.Replicas.Sizes()[0]
			s.Waiting = time.Time{}
			s.Running = &planner.Running{Config: planner.Config{Cloud: o.Cloud, Type: o.Type, Nodes: len(on), Replicas: size}, Offering: o, Since: start.Add(-time.Hour)}
			for _, n := range on {
				s.Running.Machines = append(s.Running.Machines, p.Machines[n].ID)
			}
		}
		p.Jobs = append(p.Jobs, s)
	}
	plan, err := policy.Value(p, policy.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	lookup := func(_, name string) (provider.InstanceType, bool) { return ruleType(t, name), true }
	if err := placement.CheckPlan(p, plan, lookup); err != nil {
		t.Errorf("%v", err)
	}
	return plan
}

// ruled is a job of some size, which a TPU carries too.
func ruled(id planner.JobID, size int, change ...func(*planner.Resources)) *planner.Job {
	j := testJob(id, 10*float64(size), size)
	j.Curve = perAccelerator{"V100": 1000, "TPU v5e": 1000}
	for _, c := range change {
		c(&j.Resources)
	}
	return j
}

func anyNetwork(r *planner.Resources) { r.Ethernet = true }
func sharing(r *planner.Resources)    { r.Ethernet, r.ShareNodes = true, true }
func heavy(r *planner.Resources)      { r.VCPU = 10 } // two of them do not fit on one machine
func onTPU(r *planner.Resources)      { r.Accelerators = []string{"TPU v5e"} }

// Each rule of placement, with what would be done without it to be had.
func TestPlansKeepTheRulesOfPlacement(t *testing.T) {
	for _, tt := range []struct {
		name string
		ruling
		want map[planner.JobID]string // nodes × accelerators on zone and type; "": it waits
		buys int
		says string // of the jobs that wait
	}{
		{
			name:   "gangs are whole: half a gang is none",
			ruling: ruling{jobs: []*planner.Job{ruled("a", 8)}, sold: map[string]int{"z1/linked": 1}},
			want:   map[planner.JobID]string{"a": ""},
		},
		{
			name:   "a gang lies in one zone",
			ruling: ruling{jobs: []*planner.Job{ruled("a", 8)}, sold: map[string]int{"z1/linked": 1, "z2/linked": 1}},
			want:   map[planner.JobID]string{"a": ""},
		},
		{
			name:   "and in one reservation",
			ruling: ruling{jobs: []*planner.Job{ruled("a", 8)}, here: []string{"z1/linked/rack-1", "z1/linked/rack-2"}},
			want:   map[planner.JobID]string{"a": ""},
		},
		{
			name:   "of which one has all of it",
			ruling: ruling{jobs: []*planner.Job{ruled("a", 8)}, here: []string{"z1/linked/rack-1", "z1/linked/rack-2", "z1/linked/rack-2"}},
			want:   map[planner.JobID]string{"a": "2 × 4 z1/linked"},
		},
		{
			name:   "and is bought in the zone that has all of it",
			ruling: ruling{jobs: []*planner.Job{ruled("a", 8)}, sold: map[string]int{"z1/linked": 1, "z2/linked": 2}},
			want:   map[planner.JobID]string{"a": "2 × 4 z2/linked"}, buys: 2,
		},
		{
			name:   "a job of a whole machine gets a whole one",
			ruling: ruling{jobs: []*planner.Job{ruled("small", 1), ruled("whole", 4)}, sold: map[string]int{"z1/four": -1}, here: []string{"z1/four"}, on: map[planner.JobID][]int{"small": {0}}},
			want:   map[planner.JobID]string{"small": "1 × 1 z1/four", "whole": "1 × 4 z1/four"}, buys: 1,
		},
		{
			name:   "small jobs are packed",
			ruling: ruling{jobs: []*planner.Job{ruled("a", 1), ruled("b", 1), ruled("c", 1), ruled("d", 1)}, sold: map[string]int{"z1/one": -1, "z1/four": -1}},
			want:   map[planner.JobID]string{"a": "1 × 1 z1/four", "b": "1 × 1 z1/four", "c": "1 × 1 z1/four", "d": "1 × 1 z1/four"}, buys: 1,
		},
		{
			name:   "no gang over machines that nothing declared connects",
			ruling: ruling{jobs: []*planner.Job{ruled("a", 8)}, sold: map[string]int{"z1/four": -1}},
			want:   map[planner.JobID]string{"a": ""}, says: "resources.network: no size of 8 replicas lies on one machine (four has 4)",
		},
		{
			name:   "over Ethernet if the job says so",
			ruling: ruling{jobs: []*planner.Job{ruled("a", 8, anyNetwork)}, sold: map[string]int{"z1/four": -1}},
			want:   map[planner.JobID]string{"a": "2 × 4 z1/four"}, buys: 2,
		},
		{
			name:   "one machine needs no interconnect",
			ruling: ruling{jobs: []*planner.Job{ruled("a", 4)}, sold: map[string]int{"z1/four": -1}},
			want:   map[planner.JobID]string{"a": "1 × 4 z1/four"}, buys: 1,
		},
		{
			name:   "a slice is not shared",
			ruling: ruling{jobs: []*planner.Job{ruled("a", 2, onTPU)}, sold: map[string]int{"z1/slice": -1}},
			want:   map[planner.JobID]string{"a": ""},
		},
		{
			name:   "nor joined with another",
			ruling: ruling{jobs: []*planner.Job{ruled("a", 8, onTPU)}, sold: map[string]int{"z1/slice": -1}},
			want:   map[planner.JobID]string{"a": ""},
		},
		{
			name:   "but used as it is sold",
			ruling: ruling{jobs: []*planner.Job{ruled("a", 4, onTPU)}, sold: map[string]int{"z1/slice": -1}},
			want:   map[planner.JobID]string{"a": "1 × 4 z1/slice"}, buys: 1,
		},
		{
			name: "two gangs of several nodes meet where both share",
			ruling: ruling{
				jobs: []*planner.Job{ruled("wide", 6, sharing), ruled("thin", 2, sharing)},
				here: []string{"z1/four", "z1/four"}, on: map[planner.JobID][]int{"wide": {0, 1}},
			},
			want: map[planner.JobID]string{"wide": "2 × 3 z1/four", "thin": "2 × 1 z1/four"},
		},
		{
			name: "and not where one does not",
			ruling: ruling{
				jobs: []*planner.Job{ruled("wide", 6, anyNetwork), ruled("thin", 2, sharing)},
				here: []string{"z1/four", "z1/four"}, on: map[planner.JobID][]int{"wide": {0, 1}},
			},
			want: map[planner.JobID]string{"wide": "2 × 3 z1/four", "thin": ""},
		},
		{
			name: "what is left over on two machines carries a gang that shares",
			ruling: ruling{
				jobs: []*planner.Job{ruled("x", 2, heavy), ruled("y", 2, heavy), ruled("thin", 4, sharing)},
				here: []string{"z1/four", "z1/four"}, on: map[planner.JobID][]int{"x": {0}, "y": {1}},
			},
			want: map[planner.JobID]string{"x": "1 × 2 z1/four", "y": "1 × 2 z1/four", "thin": "2 × 2 z1/four"},
		},
		{
			name: "kept placements are kept though others are as good",
			ruling: ruling{
				jobs: []*planner.Job{ruled("a", 1), ruled("b", 8, anyNetwork)}, sold: map[string]int{"z2/four": -1, "z1/four": -1},
				here: []string{"z1/four", "z1/four", "z2/four"}, on: map[planner.JobID][]int{"a": {2}, "b": {0, 1}},
			},
			want: map[planner.JobID]string{"a": "1 × 1 z2/four", "b": "2 × 4 z1/four"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan := tt.plan(t)
			got := map[planner.JobID]string{}
			for _, a := range plan.Allocations {
				got[a.Job] = fmt.Sprintf("%d × %d %s/%s", a.Config.Nodes, a.Config.Replicas/a.Config.Nodes, a.Offering.Zone, a.Offering.Type)
			}
			for _, w := range plan.Waits {
				got[w.Job] = ""
				if !strings.Contains(w.Reason, tt.says) {
					t.Errorf("%s waits: %q, want %q", w.Job, w.Reason, tt.says)
				}
			}
			buys := 0
			for _, m := range plan.Machines {
				if m.Instance == "" {
					buys++
				}
			}
			for job, want := range tt.want {
				if got[job] != want {
					t.Errorf("%s: %q, want %q", job, got[job], want)
				}
			}
			if buys != tt.buys {
				t.Errorf("%d machines are bought, want %d", buys, tt.buys)
			}
		})
	}
}
