package share

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestTypesAreRankedForAJobByWhatTheObjectiveCounts moves a little of each job's time to each type, as if
// there were room, and values the shares anew by the policy's own formula, or, where that is a level or a
// rule, by the job's throughput: the types that are said to be full, or missing to a job whose time
// is used up, are just those where that helps, and those that are said to count less do not.
func TestTypesAreRankedForAJobByWhatTheObjectiveCounts(t *testing.T) {
	for _, y := range Policies() {
		t.Run(y.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p := drawExplained(t, y.Name == "allox")
				a, err := y.Share(p, Options{})
				if err != nil || a.Status == "infeasible" {
					return
				}
				for j, l := range p.Explain(&a).Jobs {
					checkReason(t, y, p, &a, j, l.Reason)
				}
			})
		})
	}
}

// drawExplained makes a problem with prices, deadlines and pairs.
func drawExplained(t *rapid.T, single bool) *Problem {
	p := drawProblem(t, 8)
	for j := range p.Jobs {
		if p.Jobs[j].Scale = min(p.Jobs[j].Scale, 2); single {
			p.Jobs[j].Scale = 1
		}
		if best := p.fastest(j); best > 0 && rapid.IntRange(0, 2).Draw(t, "deadline") == 0 {
			p.Jobs[j].Deadline = p.Jobs[j].Steps / best * rapid.Float64Range(1.5, 20).Draw(t, "slack")
		}
		if j > 0 && p.Jobs[j-1].Scale == p.Jobs[j].Scale {
			q := Pair{A: j - 1, B: j}
			for w := range p.Types {
				q.Throughput = append(q.Throughput, [2]float64{p.Jobs[j-1].Throughput[w] * rapid.Float64Range(0.3, 1).Draw(t, "part"), p.Jobs[j].Throughput[w] * rapid.Float64Range(0.3, 1).Draw(t, "part")})
			}
			p.Pairs = append(p.Pairs, q)
		}
	}
	return p
}

// helps is by how much, of what it is, the objective gains by a little of job j's time more on type w:
// time that it has left, or that is taken from all that it runs.
func helps(y Policy, p *Problem, a *Answer, j, w int) float64 {
	const little = 1e-4
	moved := *a
	moved.Share, moved.PairShare = make([][]float64, len(a.Share)), slices.Clone(a.PairShare)
	for i := range a.Share {
		moved.Share[i] = slices.Clone(a.Share[i])
	}
	if time := p.time(a)[j]; time >= 1-usedTol {
		for k := range moved.Share[j] {
			moved.Share[j][k] *= 1 - little/time
		}
	}
	before := *a
	if len(a.PairShare) > 0 { // of a pair the other runs on: job j alone is looked at
		before.PairShare, moved.PairShare = nil, nil
	}
	moved.Share[j][w] += little
	summed := y.counts != byRule && !slices.Contains([]string{"max_min_fairness", "max_min_fairness_agnostic", "max_min_fairness_packed",
		"makespan", "makespan_packed", "finish_time_fairness", "finish_time_fairness_packed"}, y.Name)
	value := func(a *Answer) float64 {
		switch {
		case y.counts == byTime:
			return p.time(a)[j]
		case !summed:
			return p.theta(a)[j]
		case y.Unit == "USD/h":
			return -y.value(p, a, Options{})
		}
		return y.value(p, a, Options{})
	}
	u, v := value(&before), value(&moved)
	return (v - u) / max(math.Abs(u), math.Abs(v), 1e-300) / little
}

func checkReason(t *rapid.T, y Policy, p *Problem, a *Answer, j int, reason string) {
	t.Helper()
	sure := 1e-4 // part of the objective from which a difference is none of rounding or of the curve
	if y.Name == "power_mean" {
		sure = 1e-2 // flat at its optimum: a gap of 1e-7 leaves shares free by its square root
	}
	listed := func(after string) []string {
		_, list, ok := strings.Cut(reason, after)
		if !ok {
			return nil
		}
		list, _, _ = strings.Cut(list, ";")
		return strings.Split(list, ", ")
	}
	paired := 0.0 // time that is not job j's alone
	for i, x := range a.PairShare {
		if q := p.Pairs[i/len(p.Types)]; q.A == j || q.B == j {
			paired += x
		}
	}
	if paired > 0 && p.time(a)[j] >= 1-usedTol {
		return
	}
	full := append(listed("are full: "), listed("full types: ")...)
	less := listed("counts for more where it is than on ")
	for w, kind := range p.Types {
		if kind.Workers == 0 || p.Jobs[j].Throughput[w] == 0 {
			continue
		}
		gain := helps(y, p, a, j, w)
		if slices.Contains(full, fmt.Sprint(w)) && gain < -sure {
			t.Fatalf("job %d: %q, and time on %d would change the objective by %g", j, reason, w, gain)
		}
		if slices.Contains(less, fmt.Sprint(w)) && gain > sure {
			t.Fatalf("job %d: %q, and time on %d would change the objective by %g", j, reason, w, gain)
		}
		if len(full) > 0 && !strings.HasPrefix(reason, "it holds") && !slices.Contains(full, fmt.Sprint(w)) && gain > sure && p.used(a)[w] >= float64(kind.Workers)*(1-usedTol) {
			t.Fatalf("job %d: %q, and %d is full too, time on which would change the objective by %g", j, reason, w, gain)
		}
	}
}
