package share

import (
	"math"

	"github.com/goodfleet/goodfleet/planner/block"
	"github.com/goodfleet/goodfleet/planner/linear"
)

const (
	stopPart    = 1e-6  // part in the price of a level from which a job certainly stops there
	stopSure    = 3e-8  // part of what a job has, by which it may at most grow yet where it stops
	levelPivots = 20    // of a level, for each row
	looseLeast  = 1e-10 // part of what was reached that is taken back first where it cannot be had
	looseMost   = 1e-7  // and at most
	fillNoise   = 1e-16 // part of the support of the prices below which their gap is rounding
)

// packedFill is water filling with pairs: one pairing whose columns and basis stay from level
// to level, while what was reached moves into the floors. Prices that prove a level prove too
// how far above it each job can be: by the gap over its part in the price of the level.
type packedFill struct {
	p      *Problem
	d      demand // of the present level: floor is what was reached
	equal  []float64
	peak   []float64
	f      *pairing
	frozen []bool
	most   []float64 // per job, what it cannot exceed
	rounds int
}

// fillPacked fills in double precision.
func (p *Problem) fillPacked(d *demand, equal []float64) Answer {
	m := len(p.Jobs)
	l := &packedFill{p: p, d: *d, equal: equal, peak: p.peaks(d), most: p.peaks(d), frozen: make([]bool, m)}
	l.d.floor, l.d.follow = make([]float64, m), make([]float64, m)
	for j, e := range equal {
		l.frozen[j] = e <= 0
	}
	if !l.rates() {
		return p.filled(d, plan{status: block.Optimal, x: p.nothing(), theta: make([]float64, m)}, equal, l.most)
	}
	alone := l.d
	alone.packed = false
	first := p.solve(alone, settings{gap: 1e-7})
	l.f = newPairing(p, &l.d)
	l.f.begin(&first, first.x != nil)
	status := block.Optimal
	for {
		objective, bound, ok := l.level()
		l.rounds++
		if !ok {
			status = block.Feasible
			break
		}
		l.stop(objective, bound)
		if !l.rates() {
			break
		}
		l.lift()
	}
	r := plan{status: status}
	l.f.read(&r)
	r.need, r.level = l.d.floor, false
	l.f.fit(&r)
	a := p.filled(d, r, equal, l.most)
	a.Rounds = l.rounds
	return a
}

// rates sets how fast each job's throughput is to grow, and reports whether any is.
func (l *packedFill) rates() (live bool) {
	for j, rate := range l.p.rates(l.frozen) {
		l.d.follow[j] = 0
		if !l.frozen[j] && rate > 0 {
			l.d.follow[j], live = rate*l.equal[j], true
		}
	}
	return live
}

// level solves the present level over the columns that are there, and takes in pairs until none
// earns. Where pivots or rounding end it before that, ok is false.
func (l *packedFill) level() (objective, bound float64, ok bool) {
	s := l.f.s
	bound = math.Inf(1)
	loose := looseLeast
	for round := 0; round < packedRounds; round++ {
		status := s.Primal(packedFew + levelPivots*len(l.f.lp.Bound))
		if status == linear.Infeasible {
			if added, _ := l.f.price(true); added > 0 {
				continue
			}
		}
		if status != linear.Optimal {
			if loose > looseMost {
				return 0, bound, false
			}
			l.loosen(loose)
			loose *= 10
			bound = math.Inf(1)
			continue
		}
		added, proved := l.f.price(false)
		if proved < bound {
			bound = proved
		}
		if added == 0 {
			return max(0, s.Value(l.f.t)) * l.f.level, bound, true
		}
	}
	return 0, bound, false
}

// loosen takes back a part of what was reached, by which the tolerances of earlier levels made it
// too much.
func (l *packedFill) loosen(part float64) {
	for j, floor := range l.d.floor {
		if floor > 0 {
			l.d.floor[j] -= part * floor
		}
	}
	l.hold()
}

// stop notes what a level reached, and the jobs that stop there: those of which the prices prove
// that they can have no more, and in any case the one that they hold most.
func (l *packedFill) stop(objective, bound float64) {
	f, m := l.f, len(l.p.Jobs)
	hold, heaviest, support := make([]float64, m), -1, 0.0
	for j, rate := range l.d.follow {
		worth := max(0, f.dual(m+j)) / f.speed[j] * f.gain // of a step/s, in levels
		hold[j] = worth * rate
		l.d.floor[j] += objective * rate
		support += worth * l.d.floor[j]
		if rate > 0 && (heaviest < 0 || hold[j] > hold[heaviest]) {
			heaviest = j
		}
	}
	gap := max(math.Abs(bound-objective), fillNoise*support)
	for j, rate := range l.d.follow {
		if rate == 0 {
			continue
		}
		left := max(0, l.peak[j]-l.d.floor[j])
		if hold[j] > 0 {
			left = min(left, gap/hold[j]*rate)
		}
		if j == heaviest || hold[j] > stopPart || left <= stopSure*l.d.floor[j] {
			l.frozen[j] = true
			l.most[j] = l.d.floor[j] + left
		}
	}
}

// hold puts what was reached into the rows.
func (l *packedFill) hold() {
	for j, floor := range l.d.floor {
		l.f.s.SetBound(len(l.p.Jobs)+j, -floor/l.f.speed[j])
	}
}

// lift begins a level above what was reached.
func (l *packedFill) lift() {
	l.hold()
	f := l.f
	old := f.t
	f.lp.Cost[old] = 0
	f.addLevel()
	f.s.Exchange(old, f.t)
}
