package whole

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// alike parts jobs into classes of equal ones. The options of a class are ordered by rent,
// none (-1) first, and equal jobs take them in falling order: that is no loss, and makes
// "the k-th job takes no more than this" a bound on how many of the class take more.
type alike struct {
	classes [][]int // jobs, by index
	order   [][]int // class → options
}

// newAlike looks at so many jobs, at the options of each that are open, and at their rents.
func newAlike(jobs int, options func(n int) []Option, open func(n, i int) bool, rent func(n, i int) float64) alike {
	var a alike
	index := make(map[string]int)
	var key []byte
	for n := range jobs {
		key = key[:0]
		order := []int{-1}
		for i, o := range options(n) {
			if open(n, i) {
				for _, word := range []uint64{uint64(i), uint64(o.Row), math.Float64bits(o.Units), math.Float64bits(o.Value)} {
					key = binary.LittleEndian.AppendUint64(key, word)
				}
				order = append(order, i)
			}
		}
		c, seen := index[string(key)]
		if !seen {
			c = len(a.classes)
			index[string(key)] = c
			slices.SortStableFunc(order[1:], func(a, b int) int { return cmp.Compare(rent(n, a), rent(n, b)) })
			a.classes, a.order = append(a.classes, nil), append(a.order, order)
		}
		a.classes[c] = append(a.classes[c], n)
	}
	return a
}

// count is how many jobs of class c take option i at the shares x.
func (a *alike) count(c, i int, x func(n, i int) float64) float64 {
	sum := 0.0
	for _, n := range a.classes[c] {
		sum += x(n, i)
	}
	return sum
}

// part finds a class of which some count is no whole number, and a place at which to part
// it: more than k jobs take order[at] or one after it, or no more do. The shares allow
// neither; low says that they are nearer to the second. class is -1 if all counts are whole.
func (a *alike) part(x func(n, i int) float64) (class, k, at int, low bool) {
	class = -1
	most := wholeTol
	for c := range a.classes {
		sum := 0.0
		for _, i := range a.order[c][1:] {
			f := a.count(c, i, x)
			f -= math.Floor(f)
			sum += f * (1 - f)
		}
		if sum > most {
			class, most = c, sum
		}
	}
	if class < 0 {
		return class, 0, 0, false
	}
	// As near half as can be on either side.
	mass, nearest, sum := 0.0, math.Inf(1), 0.0
	order := a.order[class]
	for k := len(order) - 1; k >= 1; k-- { // jobs that take order[k] or more
		sum += a.count(class, order[k], x)
		if d := math.Abs(sum - math.Floor(sum) - 0.5); d < nearest {
			at, mass, nearest = k, sum, d
		}
	}
	k = min(int(math.Floor(mass)), len(a.classes[class])-1)
	return class, k, at, mass-math.Floor(mass) <= 0.5
}

// whole reads shares whose counts are whole, in the order that equal jobs take.
func (a *alike) whole(jobs int, x func(n, i int) float64) []int {
	choice := make([]int, jobs)
	for n := range choice {
		choice[n] = -1
	}
	for c, list := range a.classes {
		next, sum := 0, 0.0
		for k := len(a.order[c]) - 1; k >= 1; k-- {
			i := a.order[c][k]
			sum += a.count(c, i, x)
			for ; next < len(list) && float64(next) < math.Round(sum); next++ {
				choice[list[next]] = i
			}
		}
	}
	return choice
}
