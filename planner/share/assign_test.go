package share

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/planner/whole"
)

func TestPinnedJobKeepsItsConfigAndTooManyAreInfeasible(t *testing.T) {
	text := `{"p":1,"lambda":1.1,"capacity":{"a":%d},"jobs":[
	 {"id":"x","current":0,"pinned":true,"options":[{"type":"a","gpus":2,"goodput":1},{"type":"a","gpus":1,"goodput":5}]},
	 {"id":"y","current":0,"pinned":true,"options":[{"type":"a","gpus":2,"goodput":1}]}]}`
	for capacity, want := range map[int]string{4: "optimal", 3: "infeasible"} {
		a, err := ParseAssignment(fmt.Appendf(nil, text, capacity), Sia)
		if err != nil {
			t.Fatal(err)
		}
		got := a.Solve(whole.Limits{})
		if got.Status != want || want == "optimal" && got.Choice[0] != 0 {
			t.Errorf("capacity %d: %s, choice %v; want %s", capacity, got.Status, got.Choice, want)
		}
	}
}

func TestRestartsLeaveTheShareThatEachRuleStates(t *testing.T) {
	for _, c := range []struct {
		name        string
		r           Restart
		sia, pollux float64
	}{
		{"no restart", Restart{}, 1, 1},
		{"younger than one restart", Restart{AgeSec: 10, CostSec: 30}, 1, 10.0 / 40},
		{"younger, and restarted", Restart{AgeSec: 10, CostSec: 30, Count: 5}, 1, 0},
		{"some restarts", Restart{AgeSec: 100, CostSec: 25, Count: 2}, 50.0 / 125, 50.0 / 125},
		{"more restarts than age", Restart{AgeSec: 100, CostSec: 60, Count: 2}, 0, 0},
	} {
		for rule, want := range map[Rule]float64{Sia: c.sia, Pollux: c.pollux} {
			if got := (&Assignment{Rule: rule}).factor(c.r); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s, rule %d: %g, want %g", c.name, rule, got, want)
			}
		}
	}
}

// drawAssignment makes an assignment small enough to try every choice.
func drawAssignment(t *rapid.T) *Assignment {
	a := &Assignment{Rule: rapid.SampledFrom([]Rule{Sia, Pollux}).Draw(t, "rule")}
	powers := []float64{-2, -1, -0.5, -0.1, 0.1, 0.5, 1}
	if a.Rule == Sia {
		powers = append(powers, 2, 3)
	} else {
		powers = append(powers, 0)
	}
	a.Power = rapid.SampledFrom(powers).Draw(t, "p")
	a.Lambda = rapid.SampledFrom([]float64{0, 0.5, 1.1, 1.3, 100}).Draw(t, "lambda")
	types := rapid.IntRange(1, 3).Draw(t, "types")
	for k := range types {
		a.Types = append(a.Types, Type{Name: fmt.Sprint(k), Workers: rapid.IntRange(0, 6).Draw(t, "capacity")})
	}
	for j := range rapid.IntRange(0, 5).Draw(t, "jobs") {
		q := Request{ID: fmt.Sprint(j), MinGPUs: rapid.SampledFrom([]float64{1, 1, 2}).Draw(t, "min"), Current: -1}
		for range rapid.IntRange(0, 4).Draw(t, "options") {
			q.Options = append(q.Options, Config{
				Type:    rapid.IntRange(0, types-1).Draw(t, "type"),
				GPUs:    rapid.IntRange(1, 4).Draw(t, "gpus"),
				Goodput: rapid.SampledFrom([]float64{0, -1, 1, 2, 3, 5.5, 8, 100}).Draw(t, "goodput"),
			})
		}
		if n := len(q.Options); n > 0 && rapid.Bool().Draw(t, "runs") {
			q.Current = rapid.IntRange(0, n-1).Draw(t, "current")
			q.Restart = Restart{
				AgeSec:  rapid.Float64Range(0, 500).Draw(t, "age"),
				CostSec: rapid.Float64Range(0, 100).Draw(t, "cost"),
				Count:   float64(rapid.IntRange(0, 4).Draw(t, "restarts")),
			}
			q.Pinned = q.Options[q.Current].Goodput > 0 && rapid.IntRange(0, 5).Draw(t, "pinned") == 0
		}
		a.Requests = append(a.Requests, q)
	}
	return a
}

// formula is the objective of a choice as the papers write it; NaN if the choice has an
// option that may not be chosen.
func formula(a *Assignment, choice []int) float64 {
	sum := 0.0
	for j, c := range choice {
		q := a.Requests[j]
		if q.Pinned && c != q.Current {
			return math.NaN()
		}
		v := 0.0
		if c >= 0 {
			least := math.Inf(1)
			for _, o := range q.Options {
				if o.Goodput > 0 {
					least = min(least, o.Goodput)
				}
			}
			if q.Options[c].Goodput <= 0 {
				return math.NaN()
			}
			v = q.MinGPUs * q.Options[c].Goodput / least
			if young := q.Restart.AgeSec < q.Restart.CostSec; q.Current >= 0 && c != q.Current && q.Restart.AgeSec+q.Restart.CostSec > 0 && !(young && a.Rule == Sia) {
				v *= max(q.Restart.AgeSec-q.Restart.Count*q.Restart.CostSec, 0) / (q.Restart.AgeSec + q.Restart.CostSec)
			}
		}
		switch {
		case a.Rule == Pollux && math.Abs(a.Power) < 1e-100: // the geometric mean
			sum += math.Log(v + 1e-3)
		case a.Rule == Pollux:
			sum += math.Pow(v+1e-3, a.Power)
		case c >= 0:
			sum += math.Pow(v, a.Power)
		case a.Power > 0:
			sum -= a.Lambda
		default:
			sum += a.Lambda
		}
	}
	switch n := float64(len(choice)); {
	case a.Rule == Sia:
		return sum
	case n == 0:
		return 0
	case math.Abs(a.Power) < 1e-100:
		return math.Exp(sum / n)
	default:
		return math.Pow(sum/n, 1/a.Power)
	}
}

// best tries every choice that fits; ok is false if none does.
func best(a *Assignment) (value float64, ok bool) {
	choice := make([]int, len(a.Requests))
	left := make([]int, len(a.Types))
	for k, t := range a.Types {
		left[k] = t.Workers
	}
	least := a.Rule == Sia && a.Power < 0
	var try func(j int)
	try = func(j int) {
		if j == len(choice) {
			if v := formula(a, choice); !math.IsNaN(v) && (!ok || (v > value) != least) {
				value, ok = v, true
			}
			return
		}
		choice[j] = -1
		try(j + 1)
		for i, o := range a.Requests[j].Options {
			if left[o.Type] >= o.GPUs {
				left[o.Type] -= o.GPUs
				choice[j] = i
				try(j + 1)
				left[o.Type] += o.GPUs
			}
		}
	}
	try(0)
	return value, ok
}

func TestAssignmentsAreTheBestOfAllChoices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAssignment(t)
		got := a.Solve(whole.Limits{})
		want, ok := best(a)
		if (got.Status == "infeasible") == ok {
			t.Fatalf("status %s, but a choice fits: %v", got.Status, ok)
		}
		if !ok {
			if len(got.Conflict) == 0 {
				t.Fatal("infeasible without a conflict")
			}
			return
		}
		if got.Status != "optimal" || math.Abs(got.Objective-want) > 1e-8*max(math.Abs(want), 1e-3) {
			t.Fatalf("%s %.12g (bound %.12g), want %.12g", got.Status, got.Objective, got.Bound, want)
		}
		if own := formula(a, got.Choice); math.Abs(got.Objective-own) > 1e-8*max(math.Abs(own), 1e-3) {
			t.Fatalf("says %.12g of a choice that is worth %.12g", got.Objective, own)
		}
	})
}
