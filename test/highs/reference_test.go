package highs

import (
	"math"

	"github.com/goodfleet/goodfleet/planner/share"
)

// model writes a problem's program down plainly: a column for each job or pair and
// type, a row for each job's time and each type's workers.
type model struct {
	p        *share.Problem
	lp       Program
	theta    []int32 // row of each job: Σ throughput·x (− what it must reach) ≥ 0
	time     []int32
	capacity []int32
}

var inf = math.Inf(1)

// newModel states the rows; gain is the objective of one unit of job j's throughput on
// type w, rent what a worker of type w costs.
func newModel(p *share.Problem, alike, packed bool, gain func(j, w int) float64, rent func(w int) float64) *model {
	m := &model{p: p, lp: Program{Sense: -1}}
	for range p.Jobs {
		m.time = append(m.time, m.lp.Row(-inf, 1))
		m.theta = append(m.theta, m.lp.Row(0, inf))
	}
	for _, t := range p.Types {
		m.capacity = append(m.capacity, m.lp.Row(-inf, float64(t.Workers)))
	}
	for j, job := range p.Jobs {
		for w := range p.Types {
			v := job.Throughput[w]
			if alike {
				v = 1
			}
			if v > 0 {
				m.lp.Column(gain(j, w)*v-rent(w)*float64(job.Scale),
					[]int32{m.time[j], m.theta[j], m.capacity[w]}, []float64{1, v, float64(job.Scale)})
			}
		}
	}
	if packed {
		for _, q := range p.Pairs {
			for w, v := range q.Throughput {
				if v[0] > 0 || v[1] > 0 {
					s := float64(p.Jobs[q.A].Scale)
					m.lp.Column(gain(q.A, w)*v[0]+gain(q.B, w)*v[1]-rent(w)*s,
						[]int32{m.time[q.A], m.time[q.B], m.theta[q.A], m.theta[q.B], m.capacity[w]}, []float64{1, 1, v[0], v[1], s})
				}
			}
		}
	}
	return m
}

func nothing(int, int) float64 { return 0 }
func free(int) float64         { return 0 }

// level adds the column t with theta_j ≥ follow_j·t and the objective t.
func (m *model) level(follow []float64) {
	var rows []int32
	var values []float64
	for j, f := range follow {
		if f > 0 {
			rows, values = append(rows, m.theta[j]), append(values, -f)
		}
	}
	m.lp.Column(1, rows, values)
}

// floor makes theta_j at least f.
func (m *model) floor(j int, f float64) { m.lp.RowLower[m.theta[j]] = f }

// even counts each job's throughput in units of its floor: HiGHS keeps a row to 1e-9, whatever its
// size, and a floor far below others might be missed by all of it.
func (m *model) even() {
	unit := make(map[int32]float64)
	for _, r := range m.theta {
		if f := m.lp.RowLower[r]; f > 0 {
			unit[r], m.lp.RowLower[r] = f, 1
		}
	}
	for k, r := range m.lp.Index {
		if f := unit[r]; f > 0 {
			m.lp.Value[k] /= f
		}
	}
}

// solve asks HiGHS, or answers itself for a program without columns.
func (m *model) solve() Result {
	if len(m.lp.Cost) > 0 {
		return solver.Solve(&m.lp)
	}
	for _, b := range m.lp.RowLower {
		if b > 0 && !math.IsInf(b, 1) {
			return Result{Status: Infeasible}
		}
	}
	return Result{Status: Optimal}
}

// deadlines sets the floors; false if one has passed.
func (m *model) deadlines() bool {
	for j, job := range m.p.Jobs {
		if math.IsNaN(job.Deadline) || job.Steps == 0 {
			continue
		}
		if job.Deadline <= 0 {
			return false
		}
		m.floor(j, job.Steps/job.Deadline)
	}
	return true
}

// answer is a reference objective, or that there is none.
type answer struct {
	value      float64
	infeasible bool
}

func of(r Result) answer { return answer{r.Objective, r.Status != Optimal} }

// maxMin is the level of max-min fairness over the jobs that can run.
func maxMin(p *share.Problem, alike, packed bool) answer {
	follow := make([]float64, len(p.Jobs))
	any := false
	for j, job := range p.Jobs {
		e := equalShare(p, j)
		if alike {
			e = 0
			for _, t := range p.Types {
				if t.Workers > 0 {
					e = 1
				}
			}
		}
		if follow[j] = job.Weight * e / float64(job.Scale); follow[j] > 0 {
			any = true
		}
	}
	if !any {
		return answer{}
	}
	m := newModel(p, alike, packed, nothing, free)
	m.level(follow)
	return of(m.solve())
}

func makespan(p *share.Problem, packed bool) answer {
	follow := make([]float64, len(p.Jobs))
	for j, job := range p.Jobs {
		follow[j] = job.Steps
		if equalShare(p, j) == 0 {
			return answer{infeasible: true}
		}
	}
	if len(p.Jobs) == 0 {
		return answer{}
	}
	m := newModel(p, false, packed, nothing, free)
	m.level(follow)
	r := m.solve()
	return answer{1 / r.Objective, r.Status != Optimal || r.Objective <= 0}
}

// finishTime bisects on rho: it can be had if the level of all needs is at least 1.
func finishTime(p *share.Problem, packed bool) answer {
	if len(p.Jobs) == 0 {
		return answer{}
	}
	low, high := 0.0, 0.0
	d := make([]float64, len(p.Jobs))
	for j, job := range p.Jobs {
		iso := isolatedRate(p, j)
		if iso == 0 {
			return answer{infeasible: true}
		}
		d[j] = job.Isolated + job.Steps/iso
		low = max(low, job.Elapsed/d[j])
		high = max(high, (job.Elapsed+job.Steps/iso)/d[j])
	}
	high *= 1 + 1e-9
	for high-low > 1e-9*high {
		mid := low + (high-low)/2
		need, ok := make([]float64, len(p.Jobs)), true
		for j, job := range p.Jobs {
			left := mid*d[j] - job.Elapsed
			ok = ok && left > 0
			need[j] = job.Steps / left
		}
		if ok {
			m := newModel(p, false, packed, nothing, free)
			m.level(need)
			r := m.solve()
			ok = r.Status == Optimal && r.Objective >= 1
		}
		if ok {
			high = mid
		} else {
			low = mid
		}
	}
	return answer{value: high}
}

func throughputGain(int, int) float64 { return 1 }

func priced(p *share.Problem) func(j, w int) float64 {
	return func(_, w int) float64 { return 1 / p.Types[w].Price }
}

func normalized(p *share.Problem) func(j, w int) float64 {
	return func(j, _ int) float64 {
		if e := equalShare(p, j); e > 0 {
			return 1 / e
		}
		return 0
	}
}

func inOrder(p *share.Problem) func(j, w int) float64 {
	return func(j, _ int) float64 {
		best := 0.0
		for _, v := range p.Jobs[j].Throughput {
			best = max(best, v)
		}
		if best == 0 {
			return 0
		}
		return float64(len(p.Jobs)-j) / best
	}
}

func sumOf(p *share.Problem, packed bool, gain func(j, w int) float64) answer {
	return of(newModel(p, false, packed, gain, free).solve())
}

func withDeadlines(p *share.Problem, packed bool, gain func(j, w int) float64, rent func(int) float64) answer {
	m := newModel(p, false, packed, gain, rent)
	if !m.deadlines() {
		return answer{infeasible: true}
	}
	return of(m.solve())
}

// costRatio is the linear program of Charnes and Cooper: y = u·x with cost(y) = 1. It has no point
// where no job can run: that is a ratio of 0, if no deadline asks for more.
func costRatio(p *share.Problem) answer {
	m := newModel(p, false, false, throughputGain, free)
	if !m.deadlines() {
		return answer{infeasible: true}
	}
	kept := of(m.solve()) // whether the deadlines can be
	if kept.infeasible || len(m.lp.Cost) == 0 {
		return kept
	}
	var rows []int32
	var values []float64
	for i := range m.lp.RowLower {
		if b := m.lp.RowUpper[i]; !math.IsInf(b, 1) {
			rows, values = append(rows, int32(i)), append(values, -b)
			m.lp.RowUpper[i] = 0
		} else if b := m.lp.RowLower[i]; b != 0 {
			rows, values = append(rows, int32(i)), append(values, -b)
			m.lp.RowLower[i] = 0
		}
	}
	one := m.lp.Row(1, 1)
	// The cost row needs an entry in every column: write the program anew with it.
	with := Program{Sense: -1, RowLower: m.lp.RowLower, RowUpper: m.lp.RowUpper}
	i := 0
	for j, job := range p.Jobs {
		for w, t := range p.Types {
			if v := job.Throughput[w]; v > 0 {
				s := float64(job.Scale)
				with.Column(v, []int32{m.time[j], m.theta[j], m.capacity[w], one}, []float64{1, v, s, s * t.Price})
				i++
			}
		}
	}
	with.Column(0, rows, values)
	r := solver.Solve(&with)
	if r.Status == Optimal {
		return answer{value: r.Objective}
	}
	return answer{}
}

// filled is water filling by its definition: raise all, then find by one program a job
// which could not rise alone.
func filled(p *share.Problem) []float64 {
	n := len(p.Jobs)
	e, base, frozen := make([]float64, n), make([]float64, n), make([]bool, n)
	for j := range p.Jobs {
		e[j] = equalShare(p, j)
		frozen[j] = e[j] == 0
	}
	for {
		rates := rates(p, frozen)
		live := false
		for j, r := range rates {
			live = live || r > 0 && !frozen[j]
		}
		if !live {
			return base
		}
		follow := make([]float64, n)
		for j := range follow {
			follow[j] = rates[j] * e[j]
		}
		var r Result
		for loose := 1e-10; loose < 1e-5 && r.Status != Optimal; loose *= 10 {
			m := newModel(p, false, true, nothing, free)
			for j := range p.Jobs {
				m.floor(j, base[j]*e[j]*(1-loose))
			}
			m.level(follow)
			r = m.solve()
		}
		c := max(0, r.Objective)
		for j := range base {
			base[j] += c * rates[j]
		}
		stopped, stiffest, least := 0, -1, inf
		for j := range base {
			if rates[j] == 0 || frozen[j] {
				continue
			}
			if up := rise(p, j, base, e); up < 1e-6 {
				frozen[j] = true
				stopped++
			} else if up < least {
				least, stiffest = up, j
			}
		}
		if stopped == 0 { // the loosened floors let even the stiffest job rise a little
			frozen[stiffest] = true
		}
	}
}

// rates are written here once more, from the definition.
func rates(p *share.Problem, frozen []bool) []float64 {
	r := make([]float64, len(p.Jobs))
	if len(p.Entities) == 0 {
		for j, job := range p.Jobs {
			if !frozen[j] {
				r[j] = job.Weight / float64(job.Scale)
			}
		}
		return r
	}
	for _, e := range p.Entities {
		var left []int
		total := 0.0
		for _, j := range e.Jobs {
			if !frozen[j] {
				left = append(left, j)
				total += p.Jobs[j].Weight
			}
		}
		for i, j := range left {
			switch {
			case e.FIFO && i == 0:
				r[j] = e.Weight / float64(p.Jobs[j].Scale)
			case !e.FIFO:
				r[j] = e.Weight * p.Jobs[j].Weight / total / float64(p.Jobs[j].Scale)
			}
		}
	}
	return r
}

func soonest(p *share.Problem) answer {
	best := inf
	for j := range p.Jobs {
		m := newModel(p, false, false, func(k, _ int) float64 {
			if k == j {
				return 1
			}
			return 0
		}, free)
		if r := m.solve(); r.Objective > 0 {
			best = min(best, p.Jobs[j].Steps/r.Objective)
		}
	}
	if math.IsInf(best, 1) {
		return answer{} // no job can run
	}
	return answer{value: best}
}

// rise is how much more job j could have while all others keep what they have, as a
// part of what it could have if it were alone.
// The floors are loosened, by more if HiGHS finds that rounding made them impossible.
func rise(p *share.Problem, j int, base, e []float64) float64 {
	for loose := 1e-9; loose < 1e-5; loose *= 10 {
		m := newModel(p, false, true, func(k, _ int) float64 {
			if k == j {
				return 1 / e[j]
			}
			return 0
		}, free)
		for k := range base {
			m.floor(k, base[k]*e[k]*(1-loose))
		}
		if r := m.solve(); r.Status == Optimal {
			alone := 0.0
			for w, v := range p.Jobs[j].Throughput {
				if p.Types[w].Workers > 0 {
					alone = max(alone, v/e[j])
				}
			}
			return (r.Objective - base[j]) / alone
		}
	}
	return 0
}
