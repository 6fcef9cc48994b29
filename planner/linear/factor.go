package linear

import (
	"math"
	"slices"
)

// Tolerances of the factors, relative to columns whose entries are near 1.
const (
	pivotLeast     = 1e-11 // below this an entry is rounding, not a pivot
	pivotThreshold = 0.05  // a sparser pivot may be this much smaller than the largest
	crashLeast     = 1e-6  // a start basis takes no pivot below this
	driftMost      = 1e-6  // disagreement of an update with its prediction that asks for new factors
)

type entry struct {
	row   int32
	value float64
}

// factors holds B = L·R⁻¹·U of a basis matrix: L from the elimination, R the row
// transformations of later updates, U upper triangular in the order of its slots.
// A slot is a pivot: its row, and the basis position whose column it belongs to.
type factors struct {
	m        int
	lower    [][]entry // per slot, below its pivot row; multipliers
	lowered  []int32   // slots with entries in lower, in order of elimination
	upper    [][]entry // per slot, rows of earlier slots
	diagonal []float64
	slotRow  []int32   // slot → row
	slotPos  []int32   // slot → basis position
	posSlot  []int32   // basis position → slot
	order    []int32   // slots, first to last; -1 where one moved away
	place    []int32   // slot → index in order
	inRow    [][]int32 // row → slots whose upper may hold it
	updates  []update
	nonzeros int // of upper when it was new

	work  []float64
	solve []float64 // U's right-hand side, by row
	stamp []int32
	round int32
	arena []entry
}

// update is one row transformation: x[row] += Σ value·x[entry row].
type update struct {
	row     int32
	entries []entry
}

func newFactors(m int) *factors {
	f := &factors{m: m}
	f.lower, f.upper = make([][]entry, m), make([][]entry, m)
	f.diagonal = make([]float64, m)
	f.slotRow, f.slotPos, f.posSlot = make([]int32, m), make([]int32, m), make([]int32, m)
	f.place = make([]int32, m)
	f.inRow = make([][]int32, m)
	f.work, f.solve, f.stamp = make([]float64, m), make([]float64, m), make([]int32, m)
	return f
}

// columnsOf hands out the columns to be factored.
type columnsOf func(i int) ([]int32, []float64)

func (f *factors) reset() {
	for i := range f.m {
		f.lower[i], f.upper[i], f.inRow[i] = nil, nil, f.inRow[i][:0]
	}
	f.order, f.lowered, f.updates = f.order[:0], f.lowered[:0], f.updates[:0]
	f.arena = f.arena[:0] // nothing holds its entries any more
	f.nonzeros = 0
}

// arenaMost is up to which size arenas grow: 64 KiB, of which small programs need little.
const arenaMost = 4096

// keep copies entries into the arena, so that factors are few allocations.
func (f *factors) keep(list []entry) []entry {
	if len(list) == 0 {
		return nil
	}
	if cap(f.arena)-len(f.arena) < len(list) {
		f.arena = make([]entry, 0, max(min(8*f.m, arenaMost), min(2*cap(f.arena), arenaMost), 2*len(list)))
	}
	at := len(f.arena)
	f.arena = append(f.arena, list...)
	return f.arena[at:len(f.arena):len(f.arena)]
}

// factor eliminates n columns, singletons first, and takes each that has a pivot
// of at least least until m are found. It returns the columns taken by slot and
// the rows left without pivot. ordered: take the columns in the order given, for
// a start basis, where the first are wanted most.
func (f *factors) factor(n int, column columnsOf, least float64, ordered bool) (taken []int32, bare []int32) {
	f.reset()
	rowSlot := make([]int32, f.m) // row → slot, -1 while unpivoted
	for i := range rowSlot {
		rowSlot[i] = -1
	}
	count := make([]int32, f.m)
	for i := range n {
		rows, _ := column(i)
		for _, r := range rows {
			count[r]++
		}
	}
	sequence := make([]int32, 0, n)
	if ordered {
		for i := range n {
			sequence = append(sequence, int32(i))
		}
	} else {
		sequence = singletonsFirst(f.m, n, column)
	}
	el := elimination{f: f, rowSlot: rowSlot, count: count, x: f.work}
	taken = make([]int32, 0, f.m)
	for _, i := range sequence {
		if len(taken) == f.m {
			break
		}
		rows, values := column(int(i))
		if el.column(rows, values, least, int32(len(taken))) {
			taken = append(taken, i)
		}
	}
	for r, slot := range rowSlot {
		if slot < 0 {
			bare = append(bare, int32(r))
		}
	}
	for slot := range taken {
		f.order = append(f.order, int32(slot))
		f.place[slot] = int32(slot)
		for _, e := range f.upper[slot] {
			f.inRow[e.row] = append(f.inRow[e.row], int32(slot))
		}
		f.nonzeros += len(f.upper[slot])
	}
	return taken, bare
}

// elimination is the left-looking factorisation of one column after the other.
type elimination struct {
	f       *factors
	rowSlot []int32
	count   []int32
	x       []float64 // dense image of the column, zero between columns
	touched []int32
	stack   []int32
	upper   []entry
	below   []entry
}

// column eliminates one column and gives it the slot, unless its pivot is too small.
func (e *elimination) column(rows []int32, values []float64, least float64, slot int32) bool {
	f := e.f
	f.round++
	e.touched = e.touched[:0]
	reach := e.stack[:0]
	for k, r := range rows {
		e.x[r] = values[k]
		if f.stamp[r] != f.round {
			f.stamp[r] = f.round
			e.touched = append(e.touched, r)
			if s := e.rowSlot[r]; s >= 0 && len(f.lower[s]) > 0 {
				reach = append(reach, s)
			}
		}
	}
	// Slots are eliminated in ascending order; what they touch lies in later slots.
	heap := slotHeap(reach)
	heap.init()
	for len(heap) > 0 {
		s := heap.pop()
		pivot := e.x[f.slotRow[s]]
		for _, l := range f.lower[s] {
			if f.stamp[l.row] != f.round {
				f.stamp[l.row] = f.round
				e.x[l.row] = 0
				e.touched = append(e.touched, l.row)
				if t := e.rowSlot[l.row]; t >= 0 && len(f.lower[t]) > 0 {
					heap.push(t)
				}
			}
			e.x[l.row] -= l.value * pivot
		}
	}
	e.stack = heap[:0]
	row := e.choose(least)
	if row < 0 {
		for _, r := range e.touched {
			e.x[r] = 0
		}
		return false
	}
	pivot := e.x[row]
	e.upper, e.below = e.upper[:0], e.below[:0]
	for _, r := range e.touched {
		v := e.x[r]
		e.x[r] = 0
		switch {
		case r == row || v == 0:
		case e.rowSlot[r] >= 0:
			e.upper = append(e.upper, entry{r, v})
		case math.Abs(v) > 1e-15:
			e.below = append(e.below, entry{r, v / pivot})
		}
	}
	f.upper[slot], f.lower[slot] = f.keep(e.upper), f.keep(e.below)
	if len(e.below) > 0 {
		f.lowered = append(f.lowered, slot)
	}
	f.diagonal[slot], f.slotRow[slot] = pivot, row
	e.rowSlot[row] = slot
	return true
}

// choose picks the pivot row: the one with fewest entries among those large enough.
func (e *elimination) choose(least float64) int32 {
	largest := 0.0
	for _, r := range e.touched {
		if e.rowSlot[r] < 0 {
			largest = max(largest, math.Abs(e.x[r]))
		}
	}
	if largest < least {
		return -1
	}
	best := int32(-1)
	for _, r := range e.touched {
		if e.rowSlot[r] >= 0 || math.Abs(e.x[r]) < max(least, pivotThreshold*largest) {
			continue
		}
		if best < 0 || e.count[r] < e.count[best] || e.count[r] == e.count[best] && r < best {
			best = r
		}
	}
	return best
}

// singletonsFirst orders columns so that each that has one row to itself comes
// before those that need elimination, then the rest by length.
func singletonsFirst(m, n int, column columnsOf) []int32 {
	head := make([]int32, m+1)
	left := make([]int32, n)
	for i := range n {
		rows, _ := column(i)
		left[i] = int32(len(rows))
		for _, r := range rows {
			head[r+1]++
		}
	}
	for r := range m {
		head[r+1] += head[r]
	}
	fill := slices.Clone(head[:m])
	byRow := make([]int32, head[m])
	for i := range n {
		rows, _ := column(i)
		for _, r := range rows {
			byRow[fill[r]] = int32(i)
			fill[r]++
		}
	}
	done, covered := make([]bool, n), make([]bool, m)
	sequence := make([]int32, 0, n)
	for i := range n {
		if left[i] == 1 {
			sequence = append(sequence, int32(i))
		}
	}
	kept := sequence[:0]
	queue := slices.Clone(sequence)
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		if done[i] || left[i] != 1 {
			continue
		}
		done[i] = true
		kept = append(kept, i)
		rows, _ := column(int(i))
		for _, r := range rows {
			if covered[r] {
				continue
			}
			covered[r] = true
			for _, other := range byRow[head[r]:head[r+1]] {
				left[other]--
				if left[other] == 1 && !done[other] {
					queue = append(queue, other)
				}
			}
		}
	}
	rest := make([]int32, 0, n-len(kept))
	for i := range n {
		if !done[i] {
			rest = append(rest, int32(i))
		}
	}
	slices.SortStableFunc(rest, func(a, b int32) int { return int(left[a] - left[b]) })
	return append(kept, rest...)
}

// slotHeap is a least-first heap of slots.
type slotHeap []int32

func (h slotHeap) init() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h slotHeap) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && h[c+1] < h[c] {
			c++
		}
		if h[i] <= h[c] {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

func (h *slotHeap) push(v int32) {
	*h = append(*h, v)
	for i := len(*h) - 1; i > 0; {
		p := (i - 1) / 2
		if (*h)[p] <= (*h)[i] {
			return
		}
		(*h)[p], (*h)[i] = (*h)[i], (*h)[p]
		i = p
	}
}

func (h *slotHeap) pop() int32 {
	top := (*h)[0]
	last := len(*h) - 1
	(*h)[0] = (*h)[last]
	*h = (*h)[:last]
	h.down(0)
	return top
}
