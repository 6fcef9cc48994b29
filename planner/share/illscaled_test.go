package share

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/planner/whole"
	"pgregory.net/rapid"
)

// Kinds of ill-scaled problems.
const (
	farJobs  = iota // each job has an order of magnitude of its own, 1e-6 to 1e9 steps/s
	farTypes        // so has each type of each job
	farSizes        // jobs of up to 1e9 workers, more than there are of some types, or of all together
	farPairs        // jobs of one worker, any two of which may share it, on types of one worker
	farKinds
)

// drawIll makes jobs with throughputs of 1e-6 to 1e9 on 1 to a million workers of each type,
// with weights over six orders of magnitude, and some jobs equal in all.
func drawIll(seed uint64, kind int) *Problem {
	r := rand.New(rand.NewPCG(seed, uint64(kind)))
	order := func(least, most float64) float64 { return math.Pow(10, least+(most-least)*r.Float64()) }
	p := &Problem{}
	for w := range 1 + r.IntN(4) {
		p.Types = append(p.Types, Type{Name: fmt.Sprint(w), Workers: int(order(0, 6)), Price: order(-2, 2)})
		if kind == farPairs {
			p.Types[w].Workers = 1
		}
	}
	for j := range 1 + r.IntN(12) {
		if j > 0 && r.IntN(4) == 0 {
			twin := p.Jobs[r.IntN(j)]
			twin.ID = fmt.Sprint(j)
			p.Jobs = append(p.Jobs, twin)
			continue
		}
		job := Job{ID: fmt.Sprint(j), Scale: 1 << r.IntN(4), Steps: order(0, 6), Weight: order(-3, 3), Deadline: math.NaN()}
		switch kind {
		case farSizes:
			job.Scale = int(order(0, 9))
		case farPairs:
			job.Scale = 1
		}
		base := order(-6, 9)
		for range p.Types {
			if kind == farTypes {
				base = order(-6, 9)
			}
			job.Throughput = append(job.Throughput, base*(0.5+0.5*r.Float64()))
		}
		p.Jobs = append(p.Jobs, job)
		q := &p.Jobs[j]
		if r.IntN(2) == 0 {
			q.Steps = p.fastest(j) * order(0, 6)
		}
		q.Elapsed = 1000 * r.Float64()
		q.Isolated = q.Elapsed * r.Float64()
		if r.IntN(2) == 0 {
			q.Deadline = q.Steps / p.fastest(j) * order(0.2, 2.2)
		}
	}
	for a := range p.Jobs {
		for b := a + 1; b < len(p.Jobs); b++ {
			if p.Jobs[a].Scale != p.Jobs[b].Scale {
				continue
			}
			q := Pair{A: a, B: b}
			for w := range p.Types {
				q.Throughput = append(q.Throughput, [2]float64{p.Jobs[a].Throughput[w] * (0.3 + 0.7*r.Float64()), p.Jobs[b].Throughput[w] * (0.3 + 0.7*r.Float64())})
			}
			p.Pairs = append(p.Pairs, q)
		}
	}
	return p
}

// TestIllScaledProblemsAreCertifiedOrSaidNotToBe: the objective is what the shares give, the
// bound what the prices prove, the gap the distance of the two, and small; deadlines that are
// said to conflict cannot be met.
func TestIllScaledProblemsAreCertifiedOrSaidNotToBe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.IntRange(0, farKinds-1).Draw(t, "kind")
		p := drawIll(rapid.Uint64().Draw(t, "seed"), kind)
		for _, y := range Policies() {
			checkIll(t, y, p)
		}
	})
}

func checkIll(t failer, y Policy, p *Problem) {
	t.Helper()
	if y.Name == "allox" {
		q := *p
		q.Jobs = slices.Clone(p.Jobs)
		for j := range q.Jobs {
			q.Jobs[j].Scale = 1
		}
		p = &q
	}
	if slices.Contains(fillingPolicies, y.Name) { // each level of many jobs and pairs takes 512-bit numbers long
		p = firstJobs(p, 7)
	}
	a, err := y.share(p, Options{})
	if err != nil {
		t.Fatalf("%s: %v", y.Name, err)
	}
	a = y.named(a, Options{})
	if a.Status == "infeasible" {
		checkConflict(t, p, &a, y)
		return
	}
	if miss := y.misses(p, &a, Options{}); miss != "" {
		t.Fatalf("%s would be cut: %s", y.Name, miss)
	}
	for _, v := range append([]float64{a.Objective, a.Bound, a.Gap}, a.Price...) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("%s: objective %g, bound %g, gap %g, prices %g", y.Name, a.Objective, a.Bound, a.Gap, a.Price)
		}
	}
	checkShares(t, p, &a)
	if math.Abs(a.Gap-distance(a.Objective, a.Bound)) > 1e-9 {
		t.Fatalf("%s: gap %g of %.12g, bound %.12g", y.Name, a.Gap, a.Objective, a.Bound)
	}
	if a.Gap > 1e-6 || a.Status == "optimal" && a.Gap > 1e-7 {
		t.Fatalf("%s: %s with a gap of %g", y.Name, a.Status, a.Gap)
	}
	if want, ok := reached(p, &a, y.Name); ok && math.Abs(want-a.Objective) > 1e-6*math.Abs(want) {
		t.Fatalf("%s: objective %.12g, its shares give %.12g", y.Name, a.Objective, want)
	}
	checkBound(t, p, &a, y.Name)
}

// firstJobs is p with at most n of its jobs.
func firstJobs(p *Problem, n int) *Problem {
	q := *p
	q.Jobs = p.Jobs[:min(n, len(p.Jobs))]
	q.Pairs = slices.DeleteFunc(slices.Clone(p.Pairs), func(q Pair) bool { return q.B >= n })
	return &q
}

// checkConflict lifts all jobs in conflict towards their deadlines together: they come less
// than all the way.
func checkConflict(t failer, p *Problem, a *Answer, y Policy) {
	t.Helper()
	if !y.slo {
		return
	}
	floor, follow := p.floors(), make([]float64, len(p.Jobs))
	for _, j := range a.Conflict {
		if floor[j] < 0 || floor[j] > p.fastest(j)*(1-1e-9) {
			return // alone already
		}
		follow[j] = floor[j]
	}
	if len(a.Conflict) == 0 {
		t.Fatalf("%s: infeasible, and no jobs are in conflict", y.Name)
	}
	r := p.solve(demand{throughput: p.throughput, gain: make([]float64, len(p.Jobs)), follow: follow,
		packed: strings.HasSuffix(y.Name, "_packed")}, settings{gap: 1e-9})
	if r.bound >= 1 {
		t.Fatalf("%s: infeasible, and jobs %v come %g of the way to their deadlines, at most %g", y.Name, a.Conflict, r.objective, r.bound)
	}
}

// reached is the objective of a's throughputs by the policy's formula.
func reached(p *Problem, a *Answer, policy string) (value float64, ok bool) {
	least, most, sum, normal := math.Inf(1), 0.0, 0.0, 0.0
	for j, job := range p.Jobs {
		least = min(least, float64(job.Scale)*a.Theta[j]/(job.Weight*p.equal(j)))
		most = max(most, job.Steps/a.Theta[j])
		sum += a.Theta[j]
		normal += a.Theta[j] / p.equal(j)
	}
	switch policy {
	case "max_min_fairness", "max_min_fairness_packed":
		return least, true
	case "makespan", "makespan_packed":
		return most, true
	case "max_sum_throughput", "max_sum_throughput_packed":
		return sum, true
	case "max_sum_normalized_throughput", "max_sum_normalized_throughput_packed", "water_filling_sum":
		return normal, true
	case "min_spend_slo", "min_spend_slo_packed":
		return p.cost(&plan{x: a.Share, pairs: a.PairShare}), true
	}
	return 0, false
}

// checkBound recomputes the bound from the prices alone, job by job, over all pairs of types.
func checkBound(t failer, p *Problem, a *Answer, policy string) {
	t.Helper()
	const slack = 1e-6
	rent := 0.0
	for w, v := range a.Price {
		rent += v * float64(p.Types[w].Workers)
	}
	total := rent
	for j, job := range p.Jobs {
		net := make([]float64, len(p.Types))
		floor := 0.0
		for w, v := range job.Throughput {
			switch policy {
			case "max_min_fairness":
			case "max_sum_throughput":
				net[w] = v
			case "max_sum_normalized_throughput":
				net[w] = v / p.equal(j)
			case "fifo":
				net[w] = v * float64(len(p.Jobs)-j) / p.fastest(j)
			case "min_cost", "min_cost_slo":
				net[w] = v / p.Types[w].Price
			case "min_spend_slo":
				net[w] = -p.Types[w].Price * float64(job.Scale)
			default:
				return
			}
			net[w] -= a.Price[w] * float64(job.Scale)
		}
		switch {
		case policy == "max_min_fairness":
			floor = a.Bound * (1 + slack) * job.Weight * p.equal(j) / float64(job.Scale)
		case job.hasDeadline() && (policy == "min_cost_slo" || policy == "min_spend_slo"):
			floor = job.Steps / job.Deadline
		}
		// Its workers alone keep a job of more than there are to a part of its time.
		part, speed := min(1, 2*p.workers()/float64(job.Scale)), slices.Clone(job.Throughput)
		for w := range net {
			net[w] *= part
			speed[w] *= part
		}
		total += dearest(net, speed, floor)
	}
	switch {
	case policy == "max_min_fairness": // at a level beyond the bound the jobs cannot pay
		if total > slack*rent {
			t.Fatalf("%s: at prices %g a level above the bound %.12g is paid for: %g of %g are left", policy, a.Price, a.Bound, total, rent)
		}
	case policy == "min_spend_slo":
		if -total < a.Bound-slack*math.Abs(a.Bound) {
			t.Fatalf("%s: prices %g prove %.12g, and the bound is %.12g", policy, a.Price, -total, a.Bound)
		}
	case total > a.Bound+slack*math.Abs(a.Bound):
		t.Fatalf("%s: prices %g prove %.12g, and the bound is %.12g", policy, a.Price, total, a.Bound)
	}
}

// dearest is the largest Σ net·x with Σ x ≤ 1 and Σ speed·x ≥ floor, by trying all vertices;
// −Inf if there is no point.
func dearest(net, speed []float64, floor float64) float64 {
	best := math.Inf(-1)
	if floor <= 0 {
		best = 0
	}
	for w, v := range speed {
		if v < floor {
			continue
		}
		best = max(best, net[w], net[w]*floor/v)
		for k, u := range speed {
			if u < floor {
				x := (floor - u) / (v - u)
				best = max(best, x*net[w]+(1-x)*net[k])
			}
		}
	}
	return best
}

// TestIllScaledAssignmentsAreTheBestOfAllChoices draws goodputs of 1e-6 to 1e9 and up to a
// million accelerators, with options that are the same.
func TestIllScaledAssignmentsAreTheBestOfAllChoices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAssignment(t)
		for k := range a.Types {
			a.Types[k].Workers *= int(math.Pow(10, float64(rapid.IntRange(0, 5).Draw(t, "order of capacity"))))
		}
		for j := range a.Requests {
			q := &a.Requests[j]
			for i := range q.Options {
				if o := &q.Options[i]; o.Goodput > 0 {
					o.Goodput *= math.Pow(10, rapid.Float64Range(-6, 7).Draw(t, "order of goodput"))
					o.GPUs = max(1, min(o.GPUs*a.Types[o.Type].Workers/4, 1e6))
				}
				if i > 0 && !q.Pinned && rapid.IntRange(0, 3).Draw(t, "same") == 0 && q.Options[0].Goodput > 0 {
					q.Options[i] = q.Options[0]
				}
			}
		}
		got := a.Solve(whole.Limits{})
		want, ok := best(a)
		if (got.Status == "infeasible") == ok {
			t.Fatalf("status %s, feasible %v", got.Status, ok)
		}
		used := make([]int, len(a.Types))
		for j, c := range got.Choice {
			if c >= 0 {
				o := a.Requests[j].Options[c]
				if used[o.Type] += o.GPUs; used[o.Type] > a.Types[o.Type].Workers {
					t.Fatalf("%d of %d accelerators", used[o.Type], a.Types[o.Type].Workers)
				}
			}
		}
		if !ok {
			return
		}
		for _, v := range append([]float64{got.Objective, got.Bound, got.Gap}, got.Price...) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("objective %g, bound %g, gap %g, prices %g", got.Objective, got.Bound, got.Gap, got.Price)
			}
		}
		if got.Status != "optimal" || math.Abs(got.Objective-want) > 2e-9*math.Abs(want) {
			t.Fatalf("%s %.12g (gap %g), the best of all choices has %.12g", got.Status, got.Objective, got.Gap, want)
		}
		low, high := got.Objective, got.Bound
		if a.Rule == Sia && a.Power < 0 {
			low, high = got.Bound, got.Objective
		}
		if slack := 1e-9 * math.Abs(want); want < low-slack || want > high+slack {
			t.Fatalf("%s %.12g, bound %.12g: the best of all choices has %.12g", got.Status, got.Objective, got.Bound, want)
		}
		if math.Abs(got.Gap-distance(got.Objective, got.Bound)) > 1e-12 {
			t.Fatalf("gap %g of %.12g, bound %.12g", got.Gap, got.Objective, got.Bound)
		}
		if have := formula(a, got.Choice); math.Abs(have-got.Objective) > 1e-8*math.Abs(have) {
			t.Fatalf("objective %.12g, its choice has %.12g", got.Objective, have)
		}
	})
}
