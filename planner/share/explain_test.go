package share

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/planner/whole"
)

// TestPricesBoundWhatOneMoreWorkerIsWorth adds a worker and solves again. These policies
// have no E_j, which a worker more would change.
func TestPricesBoundWhatOneMoreWorkerIsWorth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 10)
		for j := range p.Jobs {
			if best := p.fastest(j); best > 0 && rapid.IntRange(0, 2).Draw(t, "deadline") == 0 {
				p.Jobs[j].Deadline = p.Jobs[j].Steps / best * rapid.Float64Range(2, 20).Draw(t, "slack")
			}
		}
		w := rapid.IntRange(0, len(p.Types)-1).Draw(t, "type")
		q := *p
		q.Types = append([]Type(nil), p.Types...)
		q.Types[w].Workers++
		for _, name := range []string{"max_sum_throughput", "min_cost", "min_cost_slo", "min_spend_slo", "fifo", "makespan"} {
			y, _ := Find(name)
			a, errA := y.Share(p, Options{})
			b, errB := y.Share(&q, Options{})
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if a.Status != "optimal" || b.Status != "optimal" || a.Price == nil || p.Types[w].Workers == 0 {
				continue // infeasible, or a type that the program leaves out
			}
			better := b.Objective - a.Objective
			if name == "min_spend_slo" || name == "makespan" {
				better = -better
			}
			size := max(math.Abs(a.Objective), math.Abs(b.Objective))
			if a.Price[w] < 0 || better < -1e-7*size || better > a.Price[w]+1e-6*size {
				t.Fatalf("%s: one more of type %d improves %g by %g, its price is %g", name, w, a.Objective, better, a.Price[w])
			}
		}
	})
}

func TestExplanationsSayWhatHoldsEachJob(t *testing.T) {
	p := parse(t, `{"cluster":{"fast":1,"slow":2,"none":0},"prices":{"fast":4,"slow":1,"none":1},"jobs":[
	 {"id":"late","steps_left":100,"slo_left_s":50,"throughput":{"fast":4,"slow":2}},
	 {"id":"calm","steps_left":100,"throughput":{"fast":4,"slow":2}},
	 {"id":"lost","steps_left":0,"throughput":{"none":9}}]}`)
	for _, c := range []struct {
		policy string
		want   [3]string // by job, the start of the reason
	}{
		{"min_spend_slo", [3]string{"its deadline", "the objective", "runs on no type"}},
		{"max_sum_throughput", [3]string{"", "", "runs on no type"}},
		{"max_min_fairness", [3]string{"it holds the common level; full types: fast", "it holds the common level; full types: fast", "runs on no type"}},
		{"cost_ratio_slo", [3]string{"", "", "runs on no type"}},
	} {
		y, _ := Find(c.policy)
		a, err := y.Share(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		e := p.Explain(&a)
		for j, l := range e.Jobs {
			if !strings.HasPrefix(l.Reason, c.want[j]) {
				t.Errorf("%s: %s is said to be limited by %q, want %q", c.policy, l.Job, l.Reason, c.want[j])
			}
		}
		if !e.Types[1].Binding || e.Types[1].Type != "none" {
			t.Errorf("%s: a type without workers is not full: %+v", c.policy, e.Types[1])
		}
	}
}

func TestEveryPolicyExplainsItself(t *testing.T) {
	p := parse(t, twoJobs)
	for _, y := range Policies() {
		a, err := y.Share(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		e := p.Explain(&a)
		for _, l := range e.Jobs {
			if l.Reason == "" {
				t.Errorf("%s: nothing is said of job %s", y.Name, l.Job)
			}
		}
		for _, l := range e.Types {
			if l.Priced && !(l.Price >= 0) || l.Used > float64(l.Workers)*(1+1e-6) {
				t.Errorf("%s: %+v", y.Name, l)
			}
		}
	}
}

func TestExplanationsTellALevelAndAnObjectiveFromFullTypes(t *testing.T) {
	p := parse(t, `{"cluster":{"cheap":1,"fast":2},"prices":{"cheap":1,"fast":4},"jobs":[
	 {"id":"slow","steps_left":1,"throughput":{"cheap":1,"fast":1}},
	 {"id":"quick","steps_left":1,"throughput":{"cheap":4,"fast":8}}]}`)
	for _, c := range []struct {
		policy string
		job    int
		want   string
	}{
		{"max_min_fairness", 0, "its own speed: all its time on its fastest type, and the common level is no higher"},
		{"min_cost", 1, "the objective: its time counts for more where it is than on fast"},
	} {
		y, _ := Find(c.policy)
		a, err := y.Share(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Explain(&a).Jobs[c.job].Reason; got != c.want {
			t.Errorf("%s: %q, want %q", c.policy, got, c.want)
		}
	}
}

// A type without workers has no price: programs leave it out, and what its first worker
// would be worth may be much. Nothing of it is said as 0.
func TestTypesWithoutWorkersHaveNoPrice(t *testing.T) {
	p := parse(t, `{"cluster":{"some":1,"none":0},"prices":{"some":1,"none":1},"jobs":[{"id":"a","steps_left":100,"slo_left_s":90,"throughput":{"some":2,"none":9}},{"id":"b","steps_left":100,"throughput":{"some":1,"none":3}}]}`)
	for _, y := range Policies() {
		a, err := y.Share(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range p.Explain(&a).Types {
			if l.Priced && l.Type == "none" {
				t.Errorf("%s: one more of none is said to be worth %g", y.Name, l.Price)
			}
		}
	}
	q := &Assignment{Rule: Sia, Power: 1, Lambda: 1, Types: []Type{{Name: "some", Workers: 1}, {Name: "none"}}}
	q.Requests = []Request{{ID: "a", MinGPUs: 1, Current: -1, Options: []Config{{Type: 0, GPUs: 1, Goodput: 1}, {Type: 1, GPUs: 1, Goodput: 5}}}}
	s := q.Solve(whole.Limits{})
	for _, l := range q.Explain(&s).Types {
		if l.Priced != (l.Type == "some") {
			t.Errorf("assign: %+v", l)
		}
	}
}
