package planner

import "slices"

// Elsewhere counts what the rows would hold if the jobs of a solution came up in other
// zones than its own, each where it takes most of a row: so that leaving the zone to the
// cloud passes no row, whatever the cloud chooses.
type Elsewhere struct {
	k    *packing
	used []float64 // of each row, at most, USD/h
}

// Elsewhere begins with the zones of the solution.
func (s Solution) Elsewhere() *Elsewhere {
	return &Elsewhere{k: s.packing, used: slices.Clone(s.packing.used)}
}

// Admits lists those of others, in their order, as which job i could come up instead of
// planned while every row holds beside all that was admitted before. All its machines
// are to be bought.
func (e *Elsewhere) Admits(i int, planned *Column, others []*Column) []*Column {
	if len(e.used) == 0 || len(others) == 0 {
		return others
	}
	own := e.takes(i, planned)
	most := slices.Clone(own)
	var kept []*Column
	for _, x := range others {
		next := e.takes(i, x)
		fits := true
		for n := range next {
			next[n] = max(next[n], most[n])
			fits = fits && (next[n] <= own[n] || e.used[n]-own[n]+next[n] <= e.k.most[n]+capSlack)
		}
		if fits {
			kept, most = append(kept, x), next
		}
	}
	for n := range e.used {
		e.used[n] += most[n] - own[n]
	}
	return kept
}

// takes is what job i in a column takes of each row, on machines that are bought.
func (e *Elsewhere) takes(i int, c *Column) []float64 {
	list := make([]float64, len(e.used))
	e.k.takes(i, c, bought(c.Nodes), func(row int, take float64) { list[row] = take })
	return list
}
