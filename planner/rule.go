package planner

import "slices"

// rule drops from the classes every part that no plan better than best by slack
// uses, and takes those back that Prune left out and that such a plan may use. It
// returns best in the terms of the program as it is then.
func (r *relaxation) rule(best *packing, slack float64) *packing {
	least := best.value() + slack
	type left struct{ job, rest int }
	index := map[left]int{}
	kept := make([][]option, len(r.classes))
	r.shorts(func(c int, o *option, short float64) {
		if r.bound-short > least {
			kept[c] = append(kept[c], *o)
		}
	})
	for c := range r.classes {
		k := &r.classes[c]
		k.options = kept[c]
		for n := range k.options {
			o := &k.options[n]
			if o.column >= 0 {
				continue
			}
			d := &r.pr.Jobs[o.job]
			key := left{o.job, ^o.column}
			at, ok := index[key]
			if !ok {
				at = len(d.Columns)
				index[key] = at
				d.Columns = append(slices.Clip(d.Columns), d.Rest[key.rest])
			}
			o.column = at
		}
	}
	if len(index) == 0 {
		return best
	}
	r.pr.index()
	return best.again()
}

// again makes the same packing of a program that has gained columns.
func (k *packing) again() *packing {
	c := newPacking(k.pr)
	c.exchanges = k.exchanges
	at := make([]int, len(k.bins))
	for b := range at {
		at[b] = -1
	}
	ofMachine := make(map[int]int, len(c.bins))
	for b := range c.bins {
		ofMachine[c.bins[b].machine] = b
	}
	for b := range k.bins {
		if m := k.bins[b].machine; m >= 0 {
			at[b] = ofMachine[m]
		}
	}
	for i := range k.seats {
		s := k.seats[i]
		if s.column < 0 {
			continue
		}
		was := s.bins
		s.bins = make([]int, len(was))
		for n, b := range was {
			s.bins[n] = at[b]
		}
		c.seatAt(i, proposal{seat: s})
		for n, b := range was {
			at[b] = c.seats[i].bins[n]
		}
	}
	return c
}
