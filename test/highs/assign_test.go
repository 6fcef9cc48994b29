package highs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/goodfleet/goodfleet/planner/share"
	"github.com/goodfleet/goodfleet/planner/whole"
)

// drawAssignment makes jobs with goodputs that grow ever more slowly with size. Half of the
// draws have sizes of 1, 2, 4 and 8, the others any; in some a quarter of the jobs are equal
// to others, or least accelerators, which weigh jobs, lie six orders of magnitude apart.
func drawAssignment(r *rand.Rand, jobs, types int) *share.Assignment {
	a := &share.Assignment{Power: []float64{-0.5, -1, 0.5, 1, -2, 2}[r.IntN(6)], Lambda: []float64{1.1, 1.1, 0, 0.5, 100}[r.IntN(5)]}
	equal, far := r.IntN(4) == 0, r.IntN(6) == 0
	speed := make([]float64, types)
	mixed := r.IntN(2) == 0
	for k := range types {
		speed[k] = math.Exp(r.NormFloat64())
		a.Types = append(a.Types, share.Type{Name: fmt.Sprint(k), Workers: r.IntN(1 + 4*max(jobs, 1)/types)})
	}
	for j := range jobs {
		q := share.Request{ID: fmt.Sprint(j), MinGPUs: 1, Current: -1}
		if equal && j > 0 && r.IntN(4) == 0 {
			q = a.Requests[r.IntN(j)]
			q.ID = fmt.Sprint(j)
			a.Requests = append(a.Requests, q)
			continue
		}
		if far {
			q.MinGPUs = []float64{1e-3, 1e3, math.Pow(10, 6*r.Float64()-3)}[min(j, 2)]
		}
		bend := 0.35 + 0.6*r.Float64()
		for k := range types {
			if r.IntN(6) == 0 {
				continue
			}
			own := speed[k] * math.Exp(0.3*r.NormFloat64())
			for g := 1; g <= 8; g *= 2 {
				size := g
				if mixed {
					size = 1 + r.IntN(12)
				}
				q.Options = append(q.Options, share.Config{Type: k, GPUs: size, Goodput: own * math.Pow(float64(size), bend)})
			}
		}
		if len(q.Options) == 0 {
			q.Options = append(q.Options, share.Config{Type: 0, GPUs: 1})
		}
		if r.IntN(2) == 0 {
			q.Current = r.IntN(len(q.Options))
			q.Restart = share.Restart{AgeSec: 5000 * r.Float64(), Count: float64(r.IntN(5)), CostSec: 10 + 200*r.Float64()}
			q.Pinned = r.IntN(12) == 0 && q.Options[q.Current].Goodput > 0
		}
		a.Requests = append(a.Requests, q)
	}
	return a
}

// drawRequests makes an assignment of up to 24 jobs, of 50, or of one or none.
func drawRequests(r *rand.Rand) *share.Assignment {
	jobs := r.IntN(25)
	switch r.IntN(10) {
	case 0:
		jobs = 50
	case 1:
		jobs = r.IntN(2)
	}
	return drawAssignment(r, jobs, 1+r.IntN(6))
}

// assignment is the integer program as it is written down by its authors.
func assignment(a *share.Assignment, gap float64) answer {
	p := &Program{Sense: 1, Gap: gap}
	sign := 1.0
	if a.Power > 0 {
		p.Sense, sign = -1, -1
	}
	var capacity []int32
	for _, t := range a.Types {
		capacity = append(capacity, p.Row(-inf, float64(t.Workers)))
	}
	for _, q := range a.Requests {
		row := p.Row(1, 1)
		least := inf
		for _, o := range q.Options {
			if o.Goodput > 0 {
				least = min(least, o.Goodput)
			}
		}
		factor := 1.0
		if q.Restart.AgeSec >= q.Restart.CostSec && q.Restart.AgeSec > 0 {
			factor = max(q.Restart.AgeSec-q.Restart.Count*q.Restart.CostSec, 0) / (q.Restart.AgeSec + q.Restart.CostSec)
		}
		for i, o := range q.Options {
			v := q.MinGPUs * o.Goodput / least
			if q.Current >= 0 && i != q.Current {
				v *= factor
			}
			w := math.Pow(v, a.Power)
			if !(o.Goodput > 0) || math.IsInf(w, 0) || q.Pinned && i != q.Current {
				continue
			}
			p.Column(w, []int32{row, capacity[o.Type]}, []float64{1, float64(o.GPUs)})
			p.Whole = append(p.Whole, true)
		}
		if !q.Pinned {
			p.Column(sign*a.Lambda, []int32{row}, []float64{1})
			p.Whole = append(p.Whole, true)
		}
	}
	for i := range p.Whole {
		p.Upper[i] = 1
	}
	return of(solver.Solve(p))
}

// TestLargerAssignmentsKeepToTheirBounds asks for 1e-4 of 60 to 150 jobs, where no more is
// promised than what the answer says of itself.
func TestLargerAssignmentsKeepToTheirBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 4))
	worst, optimal := 0.0, 0
	for i := range *larger {
		a := drawAssignment(r, 60+r.IntN(91), 2+r.IntN(5))
		got, want := a.Solve(whole.Limits{Gap: 1e-4}), assignment(a, 1e-7)
		if (got.Status == "infeasible") != want.infeasible {
			t.Errorf("instance %d: status %s, want infeasible %v", i, got.Status, want.infeasible)
		}
		if want.infeasible {
			continue
		}
		low, high := got.Objective, got.Bound
		if a.Power < 0 {
			low, high = high, low
		}
		if slack := near * max(1, math.Abs(want.value)); low > want.value+slack || high < want.value-slack {
			t.Errorf("instance %d, p = %g: objective %.10g and bound %.10g beside the optimum %.10g", i, a.Power, got.Objective, got.Bound, want.value)
		}
		if (got.Status == "optimal") != (got.Gap <= 1e-4) {
			t.Errorf("instance %d: %s with a gap of %g", i, got.Status, got.Gap)
		}
		if worst = max(worst, got.Gap); got.Status == "optimal" {
			optimal++
		}
	}
	t.Logf("%d of %d optimal, largest gap %.1e", optimal, *larger, worst)
}

func TestAssignmentsAgreeWithHiGHS(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 3))
	for i := range *instances {
		a := drawRequests(r)
		jobs := len(a.Requests)
		got, want := a.Solve(whole.Limits{}), assignment(a, 1e-9)
		if len(a.Requests) == 0 {
			want = answer{}
		}
		if (got.Status == "infeasible") != want.infeasible {
			t.Errorf("instance %d: status %s, want infeasible %v", i, got.Status, want.infeasible)
			continue
		}
		if want.infeasible {
			continue
		}
		if got.Status != "optimal" || math.Abs(got.Objective-want.value) > near*max(1, math.Abs(want.value)) {
			t.Errorf("instance %d, %d jobs, p = %g: %s %.10g (gap %g, %d nodes), want %.10g", i, jobs, a.Power, got.Status, got.Objective, got.Gap, got.Nodes, want.value)
		}
	}
}
