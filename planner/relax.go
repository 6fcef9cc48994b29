package planner

import (
	"cmp"
	"slices"

	"github.com/goodfleet/goodfleet/planner/linear"
)

// relaxation is the program over patterns: what one machine of each class carries,
// whole machines at their whole rates, but any share of a pattern. Its optimum is
// far nearer to that of the program than when machines are had in parts, since a
// machine that stands half empty is paid for. Patterns are made as they are needed.
type relaxation struct {
	pr      *Program
	classes []class
	lp      *linear.Program
	simplex *linear.Simplex
	basis   []int32 // of its optimum
	jobs    int     // rows of jobs come first

	capRow   []int     // of each offer: the row of its supply; −1: none
	quotaRow []int     // of each quota row of the problem; −1: none
	rowRow   []int     // of each row of the problem
	spared   []float64 // of each of them, USD/h that it may leave out
	burnRow  int       // −1: none
	burnUnit float64

	ofMachine []int // class of each machine; −1: none
	ofOffer   []int // class of the machines of each offer that would be bought; −1: none

	patterns []pattern // by column of the program
	bound    float64
	duals    []float64 // of each row, those that prove the bound
	price    []float64 // of each job, USD/h
	rent     []float64 // of each class: its cost and the prices of its rows, USD/h

	fill   fill
	buffer []option
	greedy []option
}

// pattern is the parts of jobs on one machine of a class.
type pattern struct {
	class int
	parts []option
}

// relax prepares the relaxation of a program that has been indexed.
func (pr *Program) relax() *relaxation {
	p := pr.Problem
	r := &relaxation{pr: pr, classes: pr.classes(), jobs: len(pr.Jobs), burnRow: -1, burnUnit: 1}
	var bounds []float64
	for range pr.Jobs {
		bounds = append(bounds, 1)
	}
	r.capRow, r.quotaRow = slices.Repeat([]int{-1}, len(p.Offers)), slices.Repeat([]int{-1}, len(p.Quotas))
	for c := range r.classes {
		k := &r.classes[c]
		if len(k.machines) > 0 {
			k.row = len(bounds)
			bounds = append(bounds, float64(len(k.machines)))
			continue
		}
		o := &p.Offers[k.offer]
		if o.Cap >= 0 {
			r.capRow[k.offer] = len(bounds)
			bounds = append(bounds, float64(o.Cap))
		}
		if q := pr.quotaOf[k.offer]; q >= 0 && r.quotaRow[q] < 0 {
			r.quotaRow[q] = len(bounds)
			bounds = append(bounds, float64(max(p.Quotas[q].Left, 0))/quotaUnit)
		}
	}
	if p.BurnCap > 0 {
		r.burnRow = len(bounds)
		r.burnUnit = max(p.BurnCap.Dollars(), 1e-6)
		bounds = append(bounds, max(pr.burnCap()-pr.fixedBurn(), 0)/r.burnUnit)
	}
	start := newPacking(pr)
	for n := range p.Rows {
		r.rowRow = append(r.rowRow, len(bounds))
		r.spared = append(r.spared, pr.spared(n))
		bounds = append(bounds, (start.mayStay(n)-start.used[n]+r.spared[n])/rowUnit)
	}
	r.lp = linear.NewProgram(bounds)
	r.ofMachine, r.ofOffer = slices.Repeat([]int{-1}, len(p.Machines)), slices.Repeat([]int{-1}, len(p.Offers))
	for c := range r.classes {
		k := &r.classes[c]
		if len(k.machines) == 0 {
			r.ofOffer[k.offer] = c
		}
		for _, m := range k.machines {
			r.ofMachine[m] = c
		}
	}
	r.rent = make([]float64, len(r.classes))
	return r
}

// rowUnit scales rows of the problem, USD/h.
const rowUnit = 10.0

// quotaUnit scales rows of quotas, whose units run to hundreds a machine.
const quotaUnit = 32.0

// rows calls visit with the rows that a machine of class c takes from, and how much.
func (r *relaxation) rows(c int, visit func(row int, take float64)) {
	k := &r.classes[c]
	if k.row >= 0 {
		visit(k.row, 1)
	} else {
		if row := r.capRow[k.offer]; row >= 0 {
			visit(row, 1)
		}
		if q := r.pr.quotaOf[k.offer]; q >= 0 {
			visit(r.quotaRow[q], float64(r.pr.Problem.Quotas[q].Unit.Use(r.pr.Problem.Offers[k.offer].Type))/quotaUnit)
		}
	}
	if r.burnRow >= 0 && k.burn > 0 {
		visit(r.burnRow, k.burn/r.burnUnit)
	}
	for n, row := range r.rowRow {
		if w := &r.pr.Problem.Rows[n]; k.burn > 0 && r.pr.whole(n, k.offer) {
			visit(row, w.take(r.pr.Problem.Offers[k.offer].Offering.Market, k.burn)/rowUnit)
		}
	}
}

// teams calls visit with the rows of its team that a part of a job on a machine of
// class c takes from.
func (r *relaxation) teams(c int, o *option, visit func(row int, take float64)) {
	k := &r.classes[c]
	for n, row := range r.rowRow {
		if w := &r.pr.Problem.Rows[n]; r.pr.counts(n, o.job, k.offer) {
			share := float64(o.perNode) / float64(k.size)
			visit(row, share*w.take(r.pr.Problem.Offers[k.offer].Offering.Market, k.rate)/rowUnit)
		}
	}
}

// cut takes the prices y of the rows of teams off the worth of parts.
func (r *relaxation) cut(y []float64) {
	if len(r.rowRow) == 0 {
		return
	}
	for c := range r.classes {
		k := &r.classes[c]
		for n := range k.options {
			o := &k.options[n]
			o.cut = 0
			r.teams(c, o, func(row int, take float64) { o.cut += take * y[row] })
		}
	}
}

// add brings a pattern into the program.
func (r *relaxation) add(c int, parts []option) {
	var rows []int32
	var values []float64
	worth := -r.classes[c].cost
	for _, o := range parts {
		worth += o.worth
		rows = append(rows, int32(o.job))
		values = append(values, o.part)
	}
	sums := make(map[int]float64, len(r.rowRow))
	for n := range parts {
		r.teams(c, &parts[n], func(row int, take float64) { sums[row] += take })
	}
	for _, row := range r.rowRow {
		if v := sums[row]; v != 0 {
			rows = append(rows, int32(row))
			values = append(values, v)
		}
	}
	r.rows(c, func(row int, take float64) {
		rows = append(rows, int32(row))
		values = append(values, take)
	})
	r.lp.Add(worth, rows, values)
	r.patterns = append(r.patterns, pattern{class: c, parts: slices.Clone(parts)})
}

// Limits of one relaxation.
const (
	patternRounds  = 120
	relaxPivots    = 20000
	patternsAtOnce = 50   // of a class in a round, beside the best
	earnsLeast     = 1e-9 // USD/h: a pattern that earns less over its rent does not come in
)

// solve makes patterns until none earns more than its machine costs, beginning with
// those of a plan, and returns a value that no plan passes. It ends early once the
// bound is down to enough.
func (r *relaxation) solve(from *packing, enough float64) float64 {
	start := make([]float64, len(r.lp.Bound))
	d := r.pr.priced(0)
	for i := range r.jobs {
		start[i], _ = d.most(i)
	}
	r.adopt(from)
	r.duals, r.bound = start, r.generate(start)
	s := linear.NewSimplex(r.lp)
	for range patternRounds {
		if r.bound <= enough || s.Primal(relaxPivots) != linear.Optimal {
			break
		}
		now := make([]float64, len(start))
		mid := make([]float64, len(start))
		for row := range now {
			now[row] = max(s.Price(row), 0)
			mid[row] = 0.6*now[row] + 0.4*r.duals[row]
		}
		before := len(r.patterns)
		for _, y := range [][]float64{mid, now} { // the duals of few patterns swing: half way is often better
			if b := r.generate(y); b < r.bound {
				r.duals, r.bound = y, b
			}
		}
		if len(r.patterns) == before {
			break
		}
	}
	r.simplex, r.basis = s, s.Basis()
	r.price = r.duals[:r.jobs]
	r.cut(r.duals)
	for c := range r.classes {
		r.rent[c] = r.rentAt(c, r.duals)
	}
	return r.bound
}

// pressed reports whether room in the cap, in a quota or in a supply that may be bought has
// a price.
func (r *relaxation) pressed() bool {
	for row := r.jobs; row < len(r.duals); row++ {
		held := slices.ContainsFunc(r.classes, func(k class) bool { return k.row == row })
		if r.duals[row] > 0 && !held {
			return true
		}
	}
	return false
}

// rentAt is what a machine of class c must earn under the duals y.
func (r *relaxation) rentAt(c int, y []float64) float64 {
	rent := r.classes[c].cost
	r.rows(c, func(row int, take float64) { rent += take * y[row] })
	return rent
}

// generate adds the best pattern of each class that earns more than its rent under
// the duals y. It raises y until none does, held machines in their own price and
// others in those of the jobs that they could carry, and returns the bound that this
// proves: y·b.
func (r *relaxation) generate(y []float64) float64 {
	raise := make([]float64, r.jobs)
	r.cut(y)
	for c := range r.classes {
		k := &r.classes[c]
		rent := r.rentAt(c, y)
		if k.densest(y[:r.jobs])*float64(k.size) <= rent {
			continue
		}
		earns, parts := r.fill.best(k, y[:r.jobs], r.buffer)
		r.buffer = parts
		more := earns - rent
		if more <= 0 {
			continue
		}
		if more > earnsLeast {
			r.add(c, parts)
			r.similar(c, parts, y)
		}
		if k.row >= 0 {
			y[k.row] += more
			continue
		}
		for _, o := range k.options {
			raise[o.job] = max(raise[o.job], more/o.part)
		}
	}
	for i, v := range raise {
		y[i] += v
	}
	bound := 0.0
	for row, b := range r.lp.Bound {
		if y[row] > 0 && b != 0 { // 0 of what has no price yet counts for nothing
			bound += y[row] * b
		}
	}
	return bound
}

// adopt adds the patterns of a plan.
func (r *relaxation) adopt(k *packing) {
	onBin := make([][]int, len(k.bins))
	for i := range k.seats {
		for _, b := range k.seats[i].bins {
			onBin[b] = append(onBin[b], i)
		}
	}
	for c := range r.classes {
		class := &r.classes[c]
		for b := range k.bins {
			bin := &k.bins[b]
			if bin.offer != class.offer || len(onBin[b]) == 0 || (bin.machine < 0) != (len(class.machines) == 0) ||
				bin.machine >= 0 && !slices.Contains(class.machines, bin.machine) {
				continue
			}
			var parts []option
			for _, o := range class.options {
				if slices.Contains(onBin[b], o.job) && k.seats[o.job].column == o.column {
					parts = append(parts, o)
				}
			}
			r.add(c, parts)
		}
	}
}

// similar adds further patterns of class c, of jobs that none of the patterns before
// has: first those whose parts earn most for an accelerator. Many jobs want many
// machines of a kind, and each round should find more than one.
func (r *relaxation) similar(c int, parts []option, y []float64) {
	k := &r.classes[c]
	rent := r.rentAt(c, y)
	used := make(map[int]bool, len(parts))
	for _, o := range parts {
		used[o.job] = true
	}
	density := func(o *option) float64 { return (o.worth - o.cut - y[o.job]*o.part) / float64(o.perNode) }
	r.greedy = r.greedy[:0]
	for n := range k.options {
		if o := &k.options[n]; density(o) > 0 && !used[o.job] {
			r.greedy = append(r.greedy, *o)
		}
	}
	slices.SortStableFunc(r.greedy, func(a, b option) int { return cmp.Compare(density(&b), density(&a)) })
	for range patternsAtOnce {
		free, gang, earns := k.size, false, 0.0
		var next []option
		for n := range r.greedy {
			o := &r.greedy[n]
			if o.perNode > free || used[o.job] || gang && o.gang {
				continue
			}
			used[o.job] = true
			next = append(next, *o)
			free -= o.perNode
			gang = gang || o.gang
			earns += o.worth - o.cut - y[o.job]*o.part
			if free == 0 {
				break
			}
		}
		if earns <= rent+earnsLeast {
			return
		}
		r.add(c, next)
	}
}
