package whole

// ranked has a bound and a place in the order of making.
type ranked interface {
	rank() (bound float64, order int)
}

// queue is a heap of open nodes: largest bound first, then the oldest.
type queue[N ranked] []N

func (q queue[N]) Len() int { return len(q) }
func (q queue[N]) Less(a, b int) bool {
	most, first := q[a].rank()
	bound, order := q[b].rank()
	if most != bound {
		return most > bound
	}
	return first < order
}
func (q queue[N]) Swap(a, b int) { q[a], q[b] = q[b], q[a] }

// Push and Pop serve container/heap.
func (q *queue[N]) Push(x any) { *q = append(*q, x.(N)) }

// Pop removes the last entry.
func (q *queue[N]) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}
