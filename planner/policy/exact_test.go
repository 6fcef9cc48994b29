package policy

import (
	"math"
	"slices"
	"testing"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/linear"
	"github.com/goodfleet/goodfleet/provider"
)

// exactShapes are kinds of small programs; together they have every row and every
// kind of machine that a program knows.
var exactShapes = []struct {
	name string
	shape
}{
	{"free", shape{jobs: 4, spot: true}},
	{"shared", shape{jobs: 5, smallJobs: true}},
	{"capped", shape{jobs: 4, capped: true}},
	{"quota", shape{jobs: 4, quota: true}},
	{"shortage", shape{jobs: 4, shortage: true, smallJobs: true}},
	{"owned", shape{jobs: 4, owned: true, smallJobs: true}},
	{"switching", shape{jobs: 3, machines: true, running: true, spot: true}},
	{"shared switching", shape{jobs: 4, running: true, smallJobs: true}},
	{"rows", shape{jobs: 4, rows: true, spot: true, smallJobs: true}},
	{"rows and machines", shape{jobs: 3, rows: true, spot: true, machines: true, running: true, owned: true}},
	{"budgets of teams that share", shape{jobs: 4, budgets: true, smallJobs: true, running: true}},
	{"budgets", shape{jobs: 4, budgets: true, spot: true, smallJobs: true}},
	{"budgets and machines", shape{jobs: 3, budgets: true, spot: true, machines: true, running: true, capped: true}},
	{"policies", shape{jobs: 4, policies: true, spot: true, smallJobs: true}},
	{"policies and machines", shape{jobs: 3, policies: true, spot: true, machines: true, running: true}},
	{"staying", shape{jobs: 4, machines: true, running: true, stays: true, capped: true, spot: true, smallJobs: true}},
	{"all", shape{jobs: 4, machines: true, running: true, owned: true, capped: true, quota: true, shortage: true, smallJobs: true}},
}

// TestSmallPlansAreOptimal holds plans of small programs against every point of
// them: configs × counts × keeping and moving. That the exact search is needed
// shows in how often the linear program, rounded, and the local search alone miss.
func TestSmallPlansAreOptimal(t *testing.T) {
	const each = 40
	total, rounded, searched := 0, 0, 0
	for _, sh := range exactShapes {
		t.Run(sh.name, func(t *testing.T) {
			many := uint64(each)
			if (sh.rows || sh.policies) && !sh.machines { // prices of teams' rows pass through every step of the proof
				many *= 4
			}
			for seed := range many {
				p := drawProblem(1000+seed, sh.shape)
				pr, scale := programOf(t, &p)
				sol := planner.Solve(pr, scale, planner.Limits{Any: true, Nodes: 1 << 20})
				want := enumerate(&p, pr)
				if d := sol.Value - want; d > 1e-9*scale || d < -1e-9*scale {
					t.Errorf("seed %d: value %.12f, every point tried %.12f", seed, sol.Value, want)
				}
				if sol.Bound.Kind != "proved" || math.Abs(sol.Bound.Value-want) > 1e-8*scale {
					t.Errorf("seed %d: bound %.12f (%s) of %.12f: not proved", seed, sol.Bound.Value, sol.Bound.Kind, want)
				}
				total++
				if roundedLP(t, &p, pr) < want-1e-6*scale {
					rounded++
				}
				if planner.Solve(pr, scale, planner.Limits{Any: true, Nodes: -1}).Value < want-1e-9*scale {
					searched++
				}
			}
		})
	}
	t.Logf("%d programs; rounding the linear program misses %d, the local search %d", total, rounded, searched)
	if rounded < 100 {
		t.Errorf("rounding misses only %d: the draws are too easy to show anything", rounded)
	}
}

// roundedLP is what the linear program in parts of machines comes to when each job
// takes the column that it has at least half of, or waits if there is none, and whole
// machines are bought for them, one job after the other where the rows allow it.
func roundedLP(t *testing.T, p *planner.Problem, pr *planner.Program) float64 {
	t.Helper()
	// Rows: jobs, room on each offer, supply of each offer, held machines of each
	// offer, quotas, the cap.
	jobs, offers, quotas := len(pr.Jobs), len(p.Offers), len(p.Quotas)
	b := make([]float64, jobs+3*offers+quotas+1)
	for i := range jobs {
		b[i] = 1
	}
	held, fixed := make([]float64, offers), 0.0
	for _, m := range p.Machines {
		for o := range p.Offers {
			if p.Offers[o].Offering == m.Offering {
				held[o]++
			}
		}
		if m.HoldTo.After(p.Now) {
			fixed += m.Rate.Dollars()
		}
	}
	for o := range offers {
		b[jobs+offers+o] = 1000
		if c := p.Offers[o].Cap; c >= 0 {
			b[jobs+offers+o] = float64(c)
		}
		b[jobs+2*offers+o] = held[o]
	}
	for q := range quotas {
		b[jobs+3*offers+q] = float64(p.Quotas[q].Left)
	}
	b[len(b)-1] = 1e6
	if p.BurnCap > 0 {
		b[len(b)-1] = p.BurnCap.Dollars() - fixed
	}
	lp := linear.NewProgram(b)
	type y struct{ job, column int }
	var ys []y
	for i := range pr.Jobs {
		for c := range pr.Jobs[i].Columns {
			col := &pr.Jobs[i].Columns[c]
			lp.Add(max(col.Stay, col.Here, col.Bought), []int32{int32(i), int32(jobs + col.Offer)}, []float64{1, float64(col.Replicas())})
			ys = append(ys, y{i, c})
		}
	}
	for o := range p.Offers {
		offer := &p.Offers[o]
		rate, size := offer.Rate.Dollars(), float64(offer.Type.Count)
		rows, values := []int32{int32(jobs + o), int32(jobs + offers + o), int32(len(b) - 1)}, []float64{-size, 1, rate}
		for q := range p.Quotas {
			if p.Quotas[q].Class == provider.QuotaClassOf(offer.Offering, offer.Type) {
				rows, values = append(rows, int32(jobs+3*offers+q)), append(values, float64(p.Quotas[q].Unit.Use(offer.Type)))
			}
		}
		lp.Add(-rate, rows, values)
		for _, m := range p.Machines {
			if m.Offering == offer.Offering {
				cost := m.Rate.Dollars()
				if m.HoldTo.After(p.Now) {
					cost = 0
				}
				lp.Add(-cost, []int32{int32(jobs + o), int32(jobs + 2*offers + o), int32(len(b) - 1)}, []float64{-size, 1, cost})
			}
		}
	}
	s := linear.NewSimplex(lp)
	if got := s.Primal(10000); got != linear.Optimal {
		t.Fatalf("the linear program is %s", got)
	}
	only := *pr
	only.Jobs = slices.Clone(pr.Jobs)
	for i := range only.Jobs {
		d := &only.Jobs[i]
		most, at := 0.5-1e-9, -1
		for n, v := range ys {
			if v.job == i && s.Value(n) > most {
				most, at = s.Value(n), v.column
			}
		}
		if at < 0 {
			d.Columns, d.Current = nil, -1
			continue
		}
		if d.Current == at {
			d.Current = 0
		} else {
			d.Current = -1
		}
		d.Columns = d.Columns[at : at+1]
	}
	return enumerate(p, &only)
}
