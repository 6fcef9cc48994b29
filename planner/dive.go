package planner

import (
	"cmp"
	"math"
	"slices"
)

// dive makes a plan of the relaxation, beside the jobs that k seats already: it carries
// out the patterns that are used whole, or else those that are used most, solves again
// what is left, and so on. It returns k.
func (r *relaxation) dive(k *packing, exchanges int) *packing {
	k.exchanges = exchanges
	r.simplex.SetBasis(r.basis)
	r.leave(k)
	r.simplex.Dual(relaxPivots)
	r.simplex.Primal(relaxPivots)
	tried := make([]bool, 0, len(r.patterns))
	y := make([]float64, len(r.lp.Bound))
	for idle := 0; idle < diveIdle; idle++ {
		for len(tried) < len(r.patterns) {
			tried = append(tried, false)
		}
		some := false
		for _, n := range r.chosen(tried) {
			tried[n], some = true, true
			r.simplex.Fix(n, true)
			if r.place(k, &r.patterns[n]) {
				idle = -1
			}
		}
		if !some {
			break
		}
		r.leave(k)
		r.simplex.Dual(relaxPivots)
		for range diveRounds {
			for row := range y {
				y[row] = max(r.simplex.Price(row), 0)
			}
			for i := range k.seats {
				if k.seats[i].column >= 0 {
					y[i] = math.Inf(1)
				}
			}
			before := len(r.patterns)
			if r.generate(y); len(r.patterns) == before {
				break
			}
			r.simplex.Primal(relaxPivots)
		}
	}
	for n := range tried {
		r.simplex.Fix(n, false)
	}
	r.cut(r.duals) // the proof goes on with the prices of the bound, not with the last ones here
	k.improve(divePasses)
	return k
}

const (
	usedLeast  = 1e-6     // the share from which on a pattern counts as used
	usedWhole  = 1 - 1e-6 // and as used whole
	diveRounds = 2        // rounds of new patterns in each step
	diveIdle   = 4        // steps without a job seated after which it ends: a row is full
	divePasses = 20       // sweeps over the plan
)

// chosen lists the patterns to be carried out next: those that are used whole, or
// else the most used, a tenth of all and never two with the same job.
func (r *relaxation) chosen(tried []bool) []int {
	var whole, part []int
	for n := range tried {
		if tried[n] {
			continue
		}
		switch x := r.simplex.Value(n); {
		case x >= usedWhole:
			whole = append(whole, n)
		case x > usedLeast:
			part = append(part, n)
		}
	}
	if len(whole) > 0 {
		return whole
	}
	slices.SortStableFunc(part, func(a, b int) int { return cmp.Compare(r.simplex.Value(b), r.simplex.Value(a)) })
	most := (len(part) + 9) / 10
	taken := map[int]bool{}
	for _, n := range part {
		if len(whole) == most {
			break
		}
		parts := r.patterns[n].parts
		if slices.ContainsFunc(parts, func(o option) bool { return taken[o.job] }) {
			continue
		}
		for _, o := range parts {
			taken[o.job] = true
		}
		whole = append(whole, n)
	}
	return whole
}

// leave sets the bounds of the rows to what the plan k leaves of them.
func (r *relaxation) leave(k *packing) {
	for i := range k.seats {
		left := 1.0
		if k.seats[i].column >= 0 {
			left = 0
		}
		if r.lp.Bound[i] != left {
			r.simplex.SetBound(i, left)
		}
	}
	r.couplings(k, nil, func(row int, left float64) {
		if r.lp.Bound[row] != left {
			r.simplex.SetBound(row, left)
		}
	})
}

// couplings calls visit with each row beside those of jobs, and what a plan leaves of it,
// but for machines that have no price by y; nil: with those too.
func (r *relaxation) couplings(k *packing, y []float64, visit func(row int, left float64)) {
	for c := range r.classes {
		if row := r.classes[c].row; row >= 0 && (y == nil || y[row] != 0) {
			left := 0.0
			for _, b := range k.binsOf(r.classes[c].offer) {
				if bin := &k.bins[b]; bin.machine >= 0 && bin.jobs == 0 && r.ofMachine[bin.machine] == c {
					left++
				}
			}
			visit(row, left)
		}
	}
	for o, row := range r.capRow {
		if row < 0 {
			continue
		}
		left := r.pr.Problem.Offers[o].Cap
		if slot := r.pr.slot[o]; slot >= 0 { // else only columns that Prune left out are of it
			left -= k.bought[slot]
		}
		visit(row, float64(left))
	}
	for q, row := range r.quotaRow {
		if row >= 0 {
			visit(row, float64(max(k.quota[q], 0))/quotaUnit)
		}
	}
	for n, row := range r.rowRow {
		visit(row, (k.mayStay(n)-k.parts[n]+r.spared[n])/rowUnit)
	}
	if r.burnRow >= 0 {
		visit(r.burnRow, max(k.capped-k.burn, 0)/r.burnUnit)
	}
}

// place seats the jobs of a pattern that still wait together on one machine, and
// reports whether there were any that could be.
func (r *relaxation) place(k *packing, p *pattern) (seated bool) {
	bins := []int{-1}
	if list := r.classes[p.class].machines; len(list) > 0 {
		bins = bins[:0]
		for _, b := range k.binsOf(r.classes[p.class].offer) {
			if bin := &k.bins[b]; bin.machine >= 0 && bin.jobs == 0 && slices.Contains(list, bin.machine) {
				bins = append(bins, b)
				break
			}
		}
		if len(bins) == 0 {
			return false
		}
	}
	for _, o := range p.parts {
		if o.column < 0 || k.seats[o.job].column >= 0 {
			continue
		}
		prop, ok := proposal{}, false
		if o.part < 1 {
			prop, ok = k.propose(o.job, o.column, nil)
		} else if bins[0] < 0 || k.fits(&k.bins[bins[0]], r.pr.Jobs[o.job].State.Job, &r.pr.Jobs[o.job].Columns[o.column]) {
			prop, ok = k.proposeAt(o.job, o.column, bins)
		}
		if !ok {
			continue
		}
		k.seatAt(o.job, prop)
		seated = true
		if o.part == 1 {
			bins[0] = k.seats[o.job].bins[0]
		}
	}
	return seated
}
