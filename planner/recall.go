package planner

import (
	"cmp"
	"slices"
)

// recallMost is how many columns of a job come back.
const recallMost = 12

// recall takes back those columns that Prune left out and that fall least short of the
// bound: under the prices of caps, quotas and rows other columns are good than without.
// It returns best in the terms of the program as it is then.
func (r *relaxation) recall(best *packing) *packing {
	type left struct {
		rest  int
		short float64
	}
	lists := make([][]left, r.jobs)
	r.shorts(func(_ int, o *option, short float64) {
		if o.column >= 0 || r.bound-short <= best.value() {
			return
		}
		list := lists[o.job]
		at := slices.IndexFunc(list, func(l left) bool { return l.rest == ^o.column })
		if at < 0 {
			lists[o.job] = append(list, left{^o.column, short})
		} else {
			list[at].short = min(list[at].short, short)
		}
	})
	back := make([]map[int]int, r.jobs) // of each job: where its columns have gone
	some := false
	for i, list := range lists {
		slices.SortFunc(list, func(a, b left) int { return cmp.Or(cmp.Compare(a.short, b.short), cmp.Compare(a.rest, b.rest)) })
		back[i] = map[int]int{}
		d := &r.pr.Jobs[i]
		for _, l := range list[:min(len(list), recallMost)] {
			back[i][l.rest] = len(d.Columns)
			d.Columns = append(slices.Clip(d.Columns), d.Rest[l.rest])
			some = true
		}
	}
	if !some {
		return best
	}
	name := func(o *option) {
		if at, ok := back[o.job][^o.column]; ok && o.column < 0 {
			o.column = at
		}
	}
	for c := range r.classes {
		for n := range r.classes[c].options {
			name(&r.classes[c].options[n])
		}
	}
	for n := range r.patterns {
		for m := range r.patterns[n].parts {
			name(&r.patterns[n].parts[m])
		}
	}
	r.pr.index()
	return best.again()
}

// shorts calls visit with each part of each class and by how much at least every plan
// with it falls short of the bound: by what the best company on its machine leaves of the rent,
// once for each node of the gang.
func (r *relaxation) shorts(visit func(c int, o *option, short float64)) {
	for c := range r.classes {
		k := &r.classes[c]
		r.fill.best(k, r.price, r.buffer)
		for n := range k.options {
			o := &k.options[n]
			short := (r.rent[c] - (o.worth - o.cut - r.price[o.job]*o.part) - r.fill.gang[k.size-o.perNode]) / o.part
			visit(c, o, max(short, 0))
		}
	}
}
