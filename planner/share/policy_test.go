package share

import (
	"fmt"
	"math"
	"slices"
	"testing"
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

// TestJobsThatRunNowhereAreNamedByEveryPolicy: such a job gets nothing, is named, and takes nothing from
// the others; policies that must do its work, and they alone, cannot be satisfied; those that divide time
// without a look at throughputs give it some.
func TestJobsThatRunNowhereAreNamedByEveryPolicy(t *testing.T) {
	must := []string{"makespan", "makespan_packed", "finish_time_fairness", "finish_time_fairness_packed"}
	blind := []string{"max_min_fairness_agnostic", "gandiva", "isolated", "proportional"}
	const nowhere, done = `{"id":"n","steps_left":10,"throughput":{"b":5}}`, `{"id":"d","steps_left":0,"throughput":{"b":1}}`
	const runs = `{"id":"r","steps_left":10,"throughput":{"a":2}}`
	for _, c := range []struct {
		jobs string
		lost int
	}{{nowhere, 1}, {nowhere + "," + runs, 1}, {nowhere + "," + done, 2}, {nowhere + "," + done + "," + runs, 2}, {runs, 0}, {"", 0}} {
		p := parse(t, `{"cluster":{"a":3,"b":0},"prices":{"a":1,"b":1},"jobs":[`+c.jobs+`]}`)
		for _, y := range Policies() {
			a, err := y.Share(p, Options{})
			switch {
			case err != nil:
				t.Errorf("%s, %s: %v", y.Name, c.jobs, err)
			case slices.Contains(must, y.Name) && c.lost > 0:
				if a.Status != "infeasible" || !slices.Equal(a.Conflict, []int{0}) {
					t.Errorf("%s, %s: %s, conflict %v; want job 0", y.Name, c.jobs, a.Status, a.Conflict)
				}
			case a.Status != "optimal":
				t.Errorf("%s, %s: %s", y.Name, c.jobs, a.Status)
			case !slices.Contains(blind, y.Name) && !slices.Equal(a.Left, index(c.lost)):
				t.Errorf("%s, %s: left out %v, want %d", y.Name, c.jobs, a.Left, c.lost)
			}
			if last := len(p.Jobs) - 1; last == c.lost && !slices.Contains(must, y.Name) && !slices.Contains(blind, y.Name) && y.Unit != "USD/h" && a.Theta[last] < 2*(1-1e-6) {
				t.Errorf("%s, %s: the job that can run has %g steps/s", y.Name, c.jobs, a.Theta[last])
			}
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
