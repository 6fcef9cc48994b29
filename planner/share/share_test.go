package share

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/planner/whole"
)

const twoJobs = `{"cluster":{"a":1,"b":1},"prices":{"a":2,"b":1},"jobs":[
 {"id":"x","steps_left":100,"throughput":{"a":4,"b":2}},
 {"id":"y","steps_left":100,"throughput":{"a":1,"b":2}}]}`

func parse(t *testing.T, text string) *Problem {
	t.Helper()
	p, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParseNamesWhatItRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no cluster", `{"jobs":[]}`, "cluster: is missing"},
		{"half a worker", `{"cluster":{"a":1.5},"jobs":[]}`, "cluster.a: 1.5: want a whole number"},
		{"text for workers", `{"cluster":{"a":"1"},"jobs":[]}`, "cluster.a: want a number"},
		{"price of nothing", `{"cluster":{"a":1},"prices":{"b":1},"jobs":[]}`, "prices.b: there is no such type"},
		{"no jobs", `{"cluster":{"a":1}}`, "jobs: is missing"},
		{"no id", `{"cluster":{"a":1},"jobs":[{"steps_left":1,"throughput":{}}]}`, "jobs[0].id: is missing"},
		{"id twice", `{"cluster":{"a":1},"jobs":[{"id":1,"steps_left":1,"throughput":{}},{"id":"1","steps_left":1,"throughput":{}}]}`, `jobs[1].id: "1" is also the id of jobs[0]`},
		{"unknown type", `{"cluster":{"a":1},"jobs":[{"id":1,"steps_left":1,"throughput":{"z":1}}]}`, "jobs[0].throughput.z: there is no such type"},
		{"negative speed", `{"cluster":{"a":1},"jobs":[{"id":1,"steps_left":1,"throughput":{"a":-1}}]}`, "jobs[0].throughput.a: -1: want at least 0"},
		{"no weight", `{"cluster":{"a":1},"jobs":[{"id":1,"steps_left":1,"weight":0,"throughput":{}}]}`, "jobs[0].weight: 0: want more than 0"},
		{"job in two entities", `{"cluster":{"a":1},"jobs":[{"id":1,"steps_left":1,"throughput":{}}],"entities":{"e":{"jobs":[1]},"f":{"jobs":[1]}}}`, `entities.f.jobs[0]: job "1" is already in entity e`},
		{"pair of different scale", `{"cluster":{"a":1},"jobs":[{"id":1,"steps_left":1,"throughput":{}},{"id":2,"scale_factor":2,"steps_left":1,"throughput":{}}],"pairs":[{"jobs":[1,2],"throughput":{}}]}`, "pairs[0].jobs: scale factors 1 and 2"},
		{"half a document", `{"cluster":`, "the document ends early"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestPoliciesAnswerTwoJobsAsByHand(t *testing.T) {
	p := parse(t, twoJobs)
	for _, c := range []struct {
		policy string
		want   float64
	}{
		{"max_min_fairness", 4.0 / 3}, // E = 3 and 1.5; each alone on its best type
		{"makespan", 50},
		{"max_sum_throughput", 6},
		{"max_sum_normalized_throughput", 4.0/3 + 4.0/3},
		{"fifo", 2 + 1},
		{"fifo_greedy", 2 + 1},
		{"min_cost", 2 + 2},
		{"min_spend_slo", 0},
		{"shortest_job_first", 25},
		{"water_filling_sum", 8.0 / 3},
		{"isolated", 1 + 1},
		{"allox", 25 + 50},
	} {
		y, _ := Find(c.policy)
		got, err := y.Share(p, Options{})
		if err != nil || got.Status != "optimal" || math.Abs(got.Objective-c.want) > 1e-8 {
			t.Errorf("%s: %s %.9g, %v; want %g", c.policy, got.Status, got.Objective, err, c.want)
		}
	}
}

func TestDeadlinesThatCannotAllBeMetNameAnIrreducibleConflict(t *testing.T) {
	p := parse(t, `{"cluster":{"a":1},"prices":{"a":1},"jobs":[
	 {"id":"x","steps_left":60,"slo_left_s":100,"throughput":{"a":1}},
	 {"id":"y","steps_left":60,"slo_left_s":100,"throughput":{"a":1}},
	 {"id":"z","steps_left":1,"slo_left_s":100,"throughput":{"a":1}}]}`)
	for _, name := range []string{"min_cost_slo", "min_spend_slo", "cost_ratio_slo"} {
		y, _ := Find(name)
		got, err := y.Share(p, Options{})
		if err != nil || got.Status != "infeasible" || len(got.Conflict) != 2 {
			t.Errorf("%s: %s, conflict %v, %v; want two jobs", name, got.Status, got.Conflict, err)
		}
	}
}

func TestAJobThatRunsNowhereDoesNotHoldTheOthersBack(t *testing.T) {
	p := parse(t, `{"cluster":{"a":1,"b":0},"jobs":[
	 {"id":"x","steps_left":1,"throughput":{"a":3}},
	 {"id":"y","steps_left":1,"throughput":{"b":5}}]}`)
	y, _ := Find("max_min_fairness")
	got, err := y.Share(p, Options{})
	if err != nil || got.Objective < 1 || len(got.Left) != 1 || got.Left[0] != 1 {
		t.Errorf("objective %g, left out %v, %v; want 1 and job 1", got.Objective, got.Left, err)
	}
}

func TestPinnedJobKeepsItsConfigAndTooManyAreInfeasible(t *testing.T) {
	text := `{"p":1,"lambda":1.1,"capacity":{"a":%d},"jobs":[
	 {"id":"x","current":0,"pinned":true,"options":[{"type":"a","gpus":2,"goodput":1},{"type":"a","gpus":1,"goodput":5}]},
	 {"id":"y","current":0,"pinned":true,"options":[{"type":"a","gpus":2,"goodput":1}]}]}`
	for capacity, want := range map[int]string{4: "optimal", 3: "infeasible"} {
		a, err := ParseAssignment(fmt.Appendf(nil, text, capacity))
		if err != nil {
			t.Fatal(err)
		}
		got := a.Solve(whole.Limits{})
		if got.Status != want || want == "optimal" && got.Choice[0] != 0 {
			t.Errorf("capacity %d: %s, choice %v; want %s", capacity, got.Status, got.Choice, want)
		}
	}
}

func TestRestartFactor(t *testing.T) {
	for _, c := range []struct {
		r    Restart
		want float64
	}{
		{Restart{}, 1},
		{Restart{AgeSec: 10, CostSec: 30, Count: 5}, 1},
		{Restart{AgeSec: 100, CostSec: 25, Count: 2}, 50.0 / 125},
		{Restart{AgeSec: 100, CostSec: 60, Count: 2}, 0},
	} {
		if got := c.r.Factor(); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v: %g, want %g", c.r, got, c.want)
		}
	}
}

func ExamplePolicy_Share() {
	p, err := Parse([]byte(twoJobs))
	if err != nil {
		fmt.Println(err)
		return
	}
	y, _ := Find("max_min_fairness")
	a, err := y.Share(p, Options{})
	fmt.Printf("%s %.4f, gap below 1e-9: %v, %v\n", a.Status, a.Objective, a.Gap < 1e-9, err)
	// Output: optimal 1.3333, gap below 1e-9: true, <nil>
}
