package whole

import (
	"cmp"
	"slices"
)

// fill rounds the present point: what is nearly whole, then, in order of share, what fits.
func (t *tree) fill() []int {
	type part struct {
		n, i int
		x, v float64
	}
	var parts []part
	for n, list := range t.column {
		for i, c := range list {
			if c >= 0 {
				if x := t.s.Value(int(c)); x > wholeTol {
					parts = append(parts, part{n, i, x, t.p.Options[t.jobs[n]][i].Value})
				}
			}
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(b.x, a.x), cmp.Compare(b.v, a.v)) })
	choice := make([]int, len(t.jobs))
	for n := range choice {
		choice[n] = -1
	}
	left := slices.Clone(t.room)
	place := func(n, i int) {
		if o := t.p.Options[t.jobs[n]][i]; choice[n] < 0 && o.Units <= left[o.Row]+roomTol {
			choice[n] = i
			left[o.Row] -= o.Units
		}
	}
	for _, q := range parts {
		place(q.n, q.i)
	}
	for n, list := range t.column {
		if choice[n] >= 0 {
			continue
		}
		best := -1
		for i, c := range list {
			o := t.p.Options[t.jobs[n]][i]
			if c >= 0 && o.Units <= left[o.Row]+roomTol && (best < 0 || o.Value > t.p.Options[t.jobs[n]][best].Value) {
				best = i
			}
		}
		if best >= 0 {
			place(n, best)
		}
	}
	for n := range choice { // a larger option where room is left
		for i, c := range t.column[n] {
			now := t.p.at(t.jobs[n], choice[n])
			o := t.p.Options[t.jobs[n]][i]
			room := left[o.Row]
			if choice[n] >= 0 && now.Row == o.Row {
				room += now.Units
			}
			if c >= 0 && o.Value > now.Value && o.Units <= room+roomTol {
				if choice[n] >= 0 {
					left[now.Row] += now.Units
				}
				left[o.Row] -= o.Units
				choice[n] = i
			}
		}
	}
	return choice
}

// take keeps a choice that fits and is better.
func (t *tree) take(choice []int) {
	left := slices.Clone(t.room)
	value := 0.0
	for n, i := range choice {
		if i >= 0 {
			o := t.p.Options[t.jobs[n]][i]
			left[o.Row] -= o.Units
			value += o.Value
		}
	}
	for _, l := range left {
		if l < -roomTol {
			return
		}
	}
	if value > t.best {
		t.best, t.choice, t.found = value, choice, true
	}
}
