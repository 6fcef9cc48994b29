package whole

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// count is how many jobs of class c take option i at the present point.
func (t *tree) count(c, i int) float64 {
	sum := 0.0
	for _, j := range t.classes[c] {
		sum += t.s.Value(int(t.column[j][i]))
	}
	return sum
}

// classify finds the jobs whose columns are alike, and orders their options by rent.
func (t *tree) classify() {
	t.classes, t.order = nil, nil
	index := make(map[string]int)
	var key []byte
	for n := range t.jobs {
		key = key[:0]
		order := []int{-1} // none; its column is not looked at
		for i, col := range t.column[n] {
			if col >= 0 {
				o := t.p.Options[t.jobs[n]][i]
				for _, word := range []uint64{uint64(i), uint64(o.Row), math.Float64bits(o.Units), math.Float64bits(o.Value)} {
					key = binary.LittleEndian.AppendUint64(key, word)
				}
				order = append(order, i)
			}
		}
		c, seen := index[string(key)]
		if !seen {
			c = len(t.classes)
			index[string(key)] = c
			slices.SortStableFunc(order[1:], func(a, b int) int {
				return cmp.Compare(t.rent[t.column[n][a]], t.rent[t.column[n][b]])
			})
			t.classes, t.order = append(t.classes, nil), append(t.order, order)
		}
		t.classes[c] = append(t.classes[c], n)
	}
}

// whole reads a point whose counts are whole, in the order that equal jobs take.
func (t *tree) whole() []int {
	choice := make([]int, len(t.jobs))
	for n := range choice {
		choice[n] = -1
	}
	for c, jobs := range t.classes {
		next, sum := 0, 0.0
		for k := len(t.order[c]) - 1; k >= 1; k-- {
			i := t.order[c][k]
			sum += t.count(c, i)
			for ; next < len(jobs) && float64(next) < math.Round(sum); next++ {
				choice[jobs[next]] = i
			}
		}
	}
	return choice
}
