package placement

import (
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// Two jobs may share all that both hold of a machine of four accelerators, and the host has to
// carry both.
func TestCheckPlanOfTwoThatShare(t *testing.T) {
	lookup := func(cloud, name string) (provider.InstanceType, bool) {
		return provider.InstanceType{Cloud: cloud, Name: name, Count: 4, VCPU: 32, MemGiB: 244}, true
	}
	for _, tt := range []struct {
		name  string
		vcpu  float64 // per replica
		spoil func(p *planner.Plan)
		says  string
	}{
		{"good", 4, func(*planner.Plan) {}, ""},
		{"too much for the host", 4.5, func(*planner.Plan) {}, "job b: machine 0"},
		{"with nobody", 0, func(p *planner.Plan) { p.Allocations[1].Config.With = "" }, "job a: shares with b, which shares with nobody"},
		{"with another", 0, func(p *planner.Plan) { p.Allocations[1].Config.With = "c" }, "job a: shares with b, which shares with c"},
		{"a third", 0, func(p *planner.Plan) { p.Allocations[2].Config.With = "a" }, "job c: shares with a, which shares with b"},
		{"with itself", 0, func(p *planner.Plan) { p.Allocations[0].Config.With = "a" }, "job a: shares with a, which shares with nobody"},
		{"half of it", 0, func(p *planner.Plan) { p.Allocations[1].Config.Replicas = 2 }, "job a: shares with b, but not all that both hold"},
		{"elsewhere", 0, func(p *planner.Plan) { p.Allocations[1].Machines = []planner.MachineRef{1} }, "job a: shares with b, but not all that both hold"},
		{"no room for a third", 0, func(p *planner.Plan) { p.Allocations[2].Machines = []planner.MachineRef{0} }, "job c: machine 0"},
	} {
		need := planner.Resources{VCPU: tt.vcpu}
		problem := planner.Problem{Jobs: []planner.JobState{{Job: &planner.Job{ID: "a", Resources: need}}, {Job: &planner.Job{ID: "b", Resources: need}}, {Job: &planner.Job{ID: "c"}}}}
		plan := planner.Plan{Machines: []planner.PlannedMachine{{Offering: zoneA}, {Offering: zoneA}}}
		for i, with := range []planner.JobID{"b", "a", ""} {
			plan.Allocations = append(plan.Allocations, planner.Allocation{
				Job: problem.Jobs[i].Job.ID, Config: planner.Config{Cloud: "aws", Type: zoneA.Type, Nodes: 1, Replicas: 4, With: with}, Offering: zoneA, Machines: []planner.MachineRef{0},
			})
		}
		plan.Allocations[2].Machines = []planner.MachineRef{1}
		tt.spoil(&plan)
		err := CheckPlan(problem, plan, lookup)
		if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.says)
		}
	}
}

func TestCheckLetsTwoHoldAnAcceleratorAndNoThird(t *testing.T) {
	machines := []Machine{{"i-1", zoneA, 4}}
	for _, tt := range []struct {
		name  string
		gangs []Gang
		says  string
	}{
		{"two", []Gang{pair("a", "b", node("i-1", 0, 1)), pair("b", "a", node("i-1", 0, 1))}, ""},
		{"one says so", []Gang{pair("a", "b", node("i-1", 0)), gang("b", node("i-1", 0))}, "accelerator 0 of machine i-1 is held by a too"},
		{"a third", []Gang{pair("a", "b", node("i-1", 0)), pair("b", "a", node("i-1", 0)), pair("c", "b", node("i-1", 0))}, "is held by b too"},
		{"not all of it", []Gang{pair("a", "b", node("i-1", 0, 1)), pair("b", "a", node("i-1", 1, 2))}, "accelerator 1 of machine i-1 is held by a too"},
	} {
		err := Check(machines, tt.gangs)
		if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.says)
		}
	}
}
