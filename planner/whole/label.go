package whole

import (
	"cmp"
	"math"
	"slices"
)

// Settings of labels.
const (
	labelFirst = 200_000   // labels × options tried before branching
	labelNode  = 5_000     // at a node of branching
	labelWork  = 4_000_000 // and before a proof is given up
	labelWords = 2         // 64-bit words for the use of all rows
)

// use is the units taken of every row, packed.
type use [labelWords]uint64

// labels proves a choice, or finds the best, by the jobs' uses of capacity: after each job
// one label is kept for each use of the rows that some choices of the jobs so far come
// to, the one worth most, and none that loses as much as the best choice known.
// Equal jobs make equal uses and cost nothing extra. Jobs with the clearest choice come
// first, so that labels stay few until the end.
type labels struct {
	p     *Problem
	r     *relaxation
	jobs  []labelled
	word  []int    // row → word of a use
	shift []uint   // and place in it
	size  []uint64 // and units that it holds
	mask  []uint64 // and its bits
	unit  float64
	most  [][]float64 // job, row → units that the jobs from here on may take
	trail []change
	least float64 // loss of what was left out
}

// labelled is a job with its options, those that lose least first.
type labelled struct {
	j    int
	list []option
}

// label is a use with what its choices are worth and lose, and the last of them.
type label struct {
	used        use
	value, loss float64
	last        int32
}

// newLabels lists the options that lose less than limit; nil if uses cannot be packed.
func newLabels(p *Problem, r *relaxation, keep [][]bool, limit float64) *labels {
	l := &labels{p: p, r: r, unit: p.unit(), least: math.Inf(1)}
	if l.unit == 0 {
		return nil
	}
	word, at := 0, uint(0)
	for _, c := range p.Capacity {
		units := math.Floor(c/l.unit + roomTol)
		bits := uint(math.Ilogb(max(units, 1))) + 1
		if bits > 40 {
			return nil
		}
		if at+bits > 64 {
			word, at = word+1, 0
		}
		if word == labelWords {
			return nil
		}
		l.word, l.shift, l.size = append(l.word, word), append(l.shift, at), append(l.size, uint64(units))
		l.mask = append(l.mask, 1<<bits-1)
		at += bits
	}
	for j, list := range p.Options {
		q := labelled{j: j}
		for i := -1; i < len(list); i++ {
			if i >= 0 && !keep[j][i] {
				continue
			}
			if loss := r.loss(p, j, i); loss < limit {
				o := option{i: i, row: -1, loss: loss}
				if i >= 0 {
					o.row, o.units = list[i].Row, int32(math.Round(list[i].Units/l.unit))
				}
				q.list = append(q.list, o)
			} else {
				l.least = min(l.least, loss)
			}
		}
		if len(q.list) == 0 { // whatever it takes loses too much
			return l
		}
		slices.SortStableFunc(q.list, func(a, b option) int { return cmp.Compare(a.loss, b.loss) })
		l.jobs = append(l.jobs, q)
	}
	second := func(q labelled) float64 {
		if len(q.list) == 1 {
			return math.Inf(1)
		}
		return q.list[1].loss
	}
	slices.SortStableFunc(l.jobs, func(a, b labelled) int { return cmp.Compare(second(b), second(a)) })
	l.most = make([][]float64, len(l.jobs)+1)
	l.most[len(l.jobs)] = make([]float64, len(p.Capacity))
	for n := len(l.jobs) - 1; n >= 0; n-- {
		l.most[n] = slices.Clone(l.most[n+1])
		single := make([]float64, len(p.Capacity))
		for _, o := range l.jobs[n].list {
			if o.row >= 0 {
				single[o.row] = max(single[o.row], float64(o.units))
			}
		}
		for row, u := range single {
			l.most[n][row] += u
		}
	}
	return l
}

// run looks for the best choice that loses less than limit and is worth more than least.
// It reports whether it came to an end within so much work, and the choice if there is one.
// No other choice then loses less than l.least, or is worth more.
func (l *labels) run(limit, least float64, most int) (done bool, choice []int) {
	if len(l.jobs) < len(l.p.Options) {
		return true, nil
	}
	here := []label{{last: -1}}
	work := 0
	for n, q := range l.jobs {
		at := make(map[use]int32, 2*len(here))
		var next []label
		for _, b := range here {
			for _, o := range q.list {
				loss := b.loss + o.loss
				if loss >= limit {
					l.least = min(l.least, loss)
					break
				}
				used := b.used
				if o.row >= 0 {
					w, s := l.word[o.row], l.shift[o.row]
					if l.units(&used, o.row)+uint64(o.units) > l.size[o.row] {
						continue
					}
					used[w] += uint64(o.units) << s
				}
				work++
				value := b.value + l.p.at(q.j, o.i).Value
				k, seen := at[used]
				if seen && next[k].value >= value {
					continue
				}
				if !seen {
					if all := loss + l.unused(&used, n+1); all >= limit {
						l.least = min(l.least, all)
						continue
					}
					k = int32(len(next))
					at[used] = k
					next = append(next, label{used: used})
				}
				next[k].value, next[k].loss, next[k].last = value, loss, int32(len(l.trail))
				l.trail = append(l.trail, change{b.last, int32(q.j), int32(o.i)})
			}
			if work > most {
				return false, nil
			}
		}
		here = next
	}
	best := -1
	for k := range here {
		if here[k].value > least {
			best, least = k, here[k].value
		}
	}
	if best < 0 {
		return true, nil
	}
	choice = make([]int, len(l.p.Options))
	for t := here[best].last; t >= 0; t = l.trail[t].before {
		choice[l.trail[t].j] = int(l.trail[t].i)
	}
	return true, choice
}

// units is what a use takes of a row.
func (l *labels) units(u *use, row int) uint64 {
	return u[l.word[row]] >> l.shift[row] & l.mask[row]
}

// unused is the least rent of the room that the jobs from n on will leave.
func (l *labels) unused(u *use, n int) float64 {
	sum := 0.0
	for row, price := range l.r.prices {
		if price == 0 {
			continue
		}
		if room := l.p.Capacity[row] - (float64(l.units(u, row))+l.most[n][row])*l.unit; room > 0 {
			sum += room * price
		}
	}
	return sum
}

// label proves the choice or betters it, and reports whether that is the end of it within
// so much work.
func (p *Problem) label(r *relaxation, keep [][]bool, res *Result, l Limits, most int) bool {
	within := l.within(p, res)
	limit := r.bound - res.Value - within
	b := newLabels(p, r, keep, limit)
	if b == nil {
		return false
	}
	done, choice := b.run(limit, res.Value, most)
	if !done {
		return false
	}
	if choice != nil {
		if !p.fits(choice) {
			return false // values too near to each other to be told apart: nothing was proved
		}
		if v := p.value(choice); v > res.Value {
			res.Choice, res.Value = choice, v
		}
	}
	res.Bound = min(res.Bound, max(res.Value, r.bound-b.least, r.struck)+p.rounding(r.bound))
	return true
}
