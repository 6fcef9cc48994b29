package placement

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

func TestCheckPlanNamesWhatIsWrong(t *testing.T) {
	lookup := func(cloud, name string) (provider.InstanceType, bool) {
		return provider.InstanceType{Cloud: cloud, Name: name, Count: 4, VCPU: 32, MemGiB: 244}, name == "p3.8xlarge"
	}
	anyNetwork := planner.Resources{Ethernet: true}
	problem := planner.Problem{
		Jobs:     []planner.JobState{{Job: &planner.Job{ID: "a", Resources: anyNetwork}}, {Job: &planner.Job{ID: "b"}}},
		Machines: []planner.Machine{{ID: "i-1", Offering: zoneA}, {ID: "i-2", Offering: zoneA, Leaving: true}},
	}
	config := func(nodes, replicas int) planner.Config {
		return planner.Config{Cloud: "aws", Type: "p3.8xlarge", Nodes: nodes, Replicas: replicas}
	}
	good := func() planner.Plan {
		return planner.Plan{
			Machines: []planner.PlannedMachine{{Instance: "i-1", Offering: zoneA}, {Offering: zoneA}},
			Allocations: []planner.Allocation{
				{Job: "a", Config: config(2, 6), Offering: zoneA, Machines: []planner.MachineRef{0, 1}},
			},
			Waits: []planner.Wait{{Job: "b"}},
		}
	}
	for _, tt := range []struct {
		name  string
		spoil func(*planner.Plan)
		says  string
	}{
		{"good", func(*planner.Plan) {}, ""},
		{"an unknown machine", func(p *planner.Plan) { p.Machines[0].Instance = "i-9" }, "i-9 is not in the problem"},
		{"a machine twice", func(p *planner.Plan) { p.Machines[1].Instance = "i-1" }, "named twice"},
		{"another offering", func(p *planner.Plan) { p.Machines[0].Offering = zoneB }, "i-1 is of"},
		{"a leaving machine", func(p *planner.Plan) {
			p.Machines[0].Instance, p.Machines[0].Jobs = "i-2", []planner.Share{{Job: "a"}}
		}, "is leaving"},
		{"an unknown type", func(p *planner.Plan) { p.Machines[1].Offering.Type = "p9" }, "type p9"},
		{"kept and released", func(p *planner.Plan) { p.Releases = []planner.Release{{Instance: "i-1"}} }, "kept and released"},
		{"released and unknown", func(p *planner.Plan) { p.Releases = []planner.Release{{Instance: "i-9"}} }, "releases machine i-9"},
		{"not whole", func(p *planner.Plan) { p.Allocations[0].Machines = p.Allocations[0].Machines[:1] }, "1 machines for 2 nodes"},
		{"uneven", func(p *planner.Plan) { p.Allocations[0].Config.Replicas = 5 }, "do not lie evenly"},
		{"too many", func(p *planner.Plan) { p.Allocations[0].Config.Replicas = 10 }, "not enough accelerators"},
		{"two zones", func(p *planner.Plan) { p.Machines[1].Offering = zoneB }, "machine 1 is of"},
		{"no such machine", func(p *planner.Plan) { p.Allocations[0].Machines[1] = 7 }, "there is no machine 7"},
		{"a job without an answer", func(p *planner.Plan) { p.Waits = nil }, "job b has no answer"},
		{"a job with two", func(p *planner.Plan) { p.Waits = append(p.Waits, planner.Wait{Job: "a"}) }, "job a has two answers"},
		{"a job of nobody", func(p *planner.Plan) { p.Waits = append(p.Waits, planner.Wait{Job: "c"}) }, "answers for 3 jobs"},
	} {
		plan := good()
		tt.spoil(&plan)
		err := CheckPlan(problem, plan, lookup)
		if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.says)
		}
	}
}

// Two jobs of two accelerators on a machine of 32 vCPU and 244 GiB.
func TestCheckPlanCountsTheHost(t *testing.T) {
	lookup := func(cloud, name string) (provider.InstanceType, bool) {
		return provider.InstanceType{Cloud: cloud, Name: name, Count: 4, VCPU: 32, MemGiB: 244}, true
	}
	for _, tt := range []struct {
		vcpu, memGiB float64
		says         string
	}{{0, 0, ""}, {8, 61, ""}, {8.5, 0, "not enough vCPU"}, {0, 61.5, "not enough memory"}} {
		r := planner.Resources{VCPU: tt.vcpu, MemGiB: tt.memGiB}
		problem := planner.Problem{Jobs: []planner.JobState{{Job: &planner.Job{ID: "a", Resources: r}}, {Job: &planner.Job{ID: "b", Resources: r}}}}
		plan := planner.Plan{Machines: []planner.PlannedMachine{{Offering: zoneA}}}
		for _, j := range problem.Jobs {
			plan.Allocations = append(plan.Allocations, planner.Allocation{
				Job: j.Job.ID, Config: planner.Config{Cloud: "aws", Type: zoneA.Type, Nodes: 1, Replicas: 2}, Offering: zoneA, Machines: []planner.MachineRef{0},
			})
		}
		err := CheckPlan(problem, plan, lookup)
		if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%g vCPU and %g GiB each: got %v, want %q", tt.vcpu, tt.memGiB, err, tt.says)
		}
	}
}

// TestCheckPlanCountsWhatWasMeasured: the plan was made with what machines of the offer
// were seen to have, not with what the catalogue says.
func TestCheckPlanCountsWhatWasMeasured(t *testing.T) {
	lookup := func(cloud, name string) (provider.InstanceType, bool) {
		return provider.InstanceType{Cloud: cloud, Name: name, Count: 4, VCPU: 32, MemGiB: 244}, true
	}
	for memGiB, says := range map[float64]string{300: "", 244: "not enough memory", 200: "not enough memory"} {
		r := planner.Resources{MemGiB: 140}
		problem := planner.Problem{Jobs: []planner.JobState{{Job: &planner.Job{ID: "a", Resources: r}}, {Job: &planner.Job{ID: "b", Resources: r}}}}
		seen, _ := lookup("aws", zoneA.Type)
		seen.MemGiB = memGiB
		problem.Offers = []planner.Offer{{Offering: zoneA, Type: seen}}
		plan := planner.Plan{Machines: []planner.PlannedMachine{{Offering: zoneA}}}
		for _, j := range problem.Jobs {
			plan.Allocations = append(plan.Allocations, planner.Allocation{
				Job: j.Job.ID, Config: planner.Config{Cloud: "aws", Type: zoneA.Type, Nodes: 1, Replicas: 1}, Offering: zoneA, Machines: []planner.MachineRef{0},
			})
		}
		err := CheckPlan(problem, plan, lookup)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%g GiB were seen: got %v, want %q", memGiB, err, says)
		}
	}
}

// What a gang demands of its machines, beside room.
func TestCheckPlanHoldsGangsToTheirRules(t *testing.T) {
	slice := provider.Offering{Cloud: "gcp", Region: "us-west4", Zone: "us-west4-a", Type: "v5e-8", Market: provider.Spot}
	lookup := func(_, name string) (provider.InstanceType, bool) {
		t, ok := map[string]provider.InstanceType{
			"p3.8xlarge": {Kind: provider.GPU, Count: 4}, "p5.48xlarge": {Kind: provider.GPU, Count: 8, Interconnect: "efa"}, "v5e-8": {Kind: provider.TPU, Count: 8, Interconnect: "ici"},
		}[name]
		t.Name = name
		return t, ok
	}
	linked := zoneA
	linked.Type = "p5.48xlarge"
	for _, tt := range []struct {
		name     string
		on       provider.Offering
		nodes    int
		replicas []int // of each job, one after the other on the same machines
		asks     []planner.Resources
		says     string // "": nothing
	}{
		{"over an interconnect", linked, 2, []int{16}, []planner.Resources{{}}, ""},
		{"over none", zoneA, 2, []int{8}, []planner.Resources{{}}, "2 nodes of p3.8xlarge, which declares no interconnect"},
		{"over any, as was asked", zoneA, 2, []int{8}, []planner.Resources{{Ethernet: true}}, ""},
		{"one node needs none", zoneA, 1, []int{4}, []planner.Resources{{}}, ""},
		{"a whole slice", slice, 1, []int{8}, []planner.Resources{{}}, ""},
		{"a part of a slice", slice, 1, []int{4}, []planner.Resources{{}}, "a TPU slice is used whole and alone"},
		{"two slices", slice, 2, []int{16}, []planner.Resources{{}}, "a TPU slice is used whole and alone"},
		{"two gangs on the same nodes", linked, 2, []int{8, 8}, []planner.Resources{{ShareNodes: true}, {}}, "machine 0 carries the gang of job-0 too"},
		{"two that share", linked, 2, []int{8, 8}, []planner.Resources{{ShareNodes: true}, {ShareNodes: true}}, ""},
	} {
		plan := planner.Plan{Machines: make([]planner.PlannedMachine, tt.nodes)}
		for n := range plan.Machines {
			plan.Machines[n].Offering = tt.on
		}
		var problem planner.Problem
		for i, replicas := range tt.replicas {
			job := planner.JobID(fmt.Sprint("job-", i))
			problem.Jobs = append(problem.Jobs, planner.JobState{Job: &planner.Job{ID: job, Resources: tt.asks[i]}})
			a := planner.Allocation{Job: job, Offering: tt.on, Config: planner.Config{Type: tt.on.Type, Nodes: tt.nodes, Replicas: replicas}}
			for n := range plan.Machines {
				a.Machines = append(a.Machines, planner.MachineRef(n))
			}
			plan.Allocations = append(plan.Allocations, a)
		}
		err := CheckPlan(problem, plan, lookup)
		if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.says)
		}
	}
}
