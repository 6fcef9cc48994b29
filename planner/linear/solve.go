package linear

import "math"

// forward solves B x = a: a by row comes in and is destroyed, x by basis position
// comes out. If spike is not nil it receives R·L⁻¹·a by row, which an update needs.
func (f *factors) forward(a, x, spike []float64) {
	for _, s := range f.lowered {
		if p := a[f.slotRow[s]]; p != 0 {
			for _, e := range f.lower[s] {
				a[e.row] -= e.value * p
			}
		}
	}
	for i := range f.updates {
		u := &f.updates[i]
		sum := a[u.row]
		for _, e := range u.entries {
			sum += e.value * a[e.row]
		}
		a[u.row] = sum
	}
	if spike != nil {
		copy(spike, a)
	}
	for k := len(f.order) - 1; k >= 0; k-- {
		s := f.order[k]
		if s < 0 {
			continue
		}
		row := f.slotRow[s]
		v := a[row]
		if v == 0 {
			x[f.slotPos[s]] = 0
			continue
		}
		v /= f.diagonal[s]
		for _, e := range f.upper[s] {
			a[e.row] -= e.value * v
		}
		if math.Abs(v) < 1e-15 {
			v = 0
		}
		x[f.slotPos[s]] = v
	}
}

// backward solves Bᵀ y = c: c by basis position comes in, y by row comes out.
// Positions before the slot first (in U's order) must be zero; -1 for no such promise.
// If half is not nil it receives U⁻ᵀ c by row, which an update needs.
func (f *factors) backward(c, y []float64, first int32, half []float64) {
	begin := 0
	if first >= 0 {
		begin = int(f.place[first])
		clear(y)
	}
	for k := begin; k < len(f.order); k++ {
		s := f.order[k]
		if s < 0 {
			continue
		}
		sum := c[f.slotPos[s]]
		for _, e := range f.upper[s] {
			sum -= e.value * y[e.row]
		}
		if sum != 0 {
			sum /= f.diagonal[s]
		}
		y[f.slotRow[s]] = sum
	}
	if half != nil {
		copy(half, y)
	}
	for i := len(f.updates) - 1; i >= 0; i-- {
		u := &f.updates[i]
		if v := y[u.row]; v != 0 {
			for _, e := range u.entries {
				y[e.row] += e.value * v
			}
		}
	}
	for i := len(f.lowered) - 1; i >= 0; i-- {
		s := f.lowered[i]
		row := f.slotRow[s]
		sum := y[row]
		for _, e := range f.lower[s] {
			sum -= e.value * y[e.row]
		}
		y[row] = sum
	}
}

// replace puts the column with the given spike at position pos. half is U⁻ᵀ of the
// unit vector of pos, pivot the entering column's entry there. It reports false if
// the new diagonal disagrees with what the pivot predicts: factor again.
func (f *factors) replace(pos int32, spike, half []float64, pivot float64) bool {
	slot := f.posSlot[pos]
	row := f.slotRow[slot]
	scale := half[row]
	if scale == 0 {
		return false
	}
	var list []entry
	diagonal := spike[row]
	for k := int(f.place[slot]) + 1; k < len(f.order); k++ {
		s := f.order[k]
		if s < 0 {
			continue
		}
		r := f.slotRow[s]
		if v := half[r] / scale; math.Abs(v) > 1e-15 {
			list = append(list, entry{r, v})
			diagonal += v * spike[r]
		}
	}
	predicted := pivot / scale // the old diagonal is 1/scale
	if math.Abs(diagonal) < pivotLeast || math.Abs(diagonal-predicted) > driftMost*math.Abs(predicted) {
		return false
	}
	if len(list) > 0 {
		f.updates = append(f.updates, update{row, list})
	}
	for _, other := range f.inRow[row] {
		col := f.upper[other]
		for i := range col {
			if col[i].row == row {
				col[i] = col[len(col)-1]
				f.upper[other] = col[:len(col)-1]
				break
			}
		}
	}
	f.inRow[row] = f.inRow[row][:0]
	var column []entry
	for r, v := range spike {
		if int32(r) != row && math.Abs(v) > 1e-15 {
			column = append(column, entry{int32(r), v})
			f.inRow[r] = append(f.inRow[r], slot)
		}
	}
	f.upper[slot], f.diagonal[slot] = column, diagonal
	f.order[f.place[slot]] = -1
	f.place[slot] = int32(len(f.order))
	f.order = append(f.order, slot)
	return true
}
