package peer

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/goodfleet/goodfleet/planner/share"
)

// paired is the part of an embedding that pairs add: an x for each pair and kind, which takes the
// time of both jobs and the workers of one, and gives to both.
type paired struct {
	jobs [][2]int   // by pair
	keep []float64  // entries of the scaled program, by pair and kind: of −x ≤ 0,
	two  []struct { // and, of each of the two jobs,
		whole, worth [2]float64 // of its time and of what it gets
	}
	seats []float64 // of the workers of a kind

	// Once all is scaled: the entries of −x ≤ 0, of all x; and, by column, the other rows that
	// have an entry, and the entry.
	bound  []float64
	starts []int32
	rows   []int32
	values []float64
}

func newPaired(p *share.Problem, e *embedding) *paired {
	n := len(p.Pairs) * e.kinds
	q := &paired{jobs: make([][2]int, len(p.Pairs)), keep: make([]float64, n), seats: make([]float64, n)}
	q.two = make([]struct{ whole, worth [2]float64 }, n)
	all := 0.0
	for _, t := range p.Types {
		all += float64(t.Workers)
	}
	equal := make([]float64, len(p.Jobs))
	for j, job := range p.Jobs {
		for w, t := range p.Types {
			equal[j] += job.Throughput[w] * float64(t.Workers) / all
		}
	}
	for k, x := range p.Pairs {
		q.jobs[k] = [2]int{x.A, x.B}
		for w, v := range x.Throughput {
			i := k*e.kinds + w
			q.keep[i], q.seats[i] = -1, float64(p.Jobs[x.A].Scale)
			for s, j := range q.jobs[k] {
				q.two[i].whole[s] = 1
				if equal[j] > 0 {
					q.two[i].worth[s] = -float64(p.Jobs[j].Scale) * v[s] / (p.Jobs[j].Weight * equal[j])
				}
			}
		}
	}
	return q
}

// each visits the entries of pairs.
func (q *paired) each(e *embedding, visit func(row, col int, v *float64)) {
	m, k, n := e.jobs, e.kinds, e.shares
	for i := range q.keep {
		col, jobs := m*k+i, q.jobs[i/k]
		visit(col, col, &q.keep[i])
		for s, j := range jobs {
			visit(n+j, col, &q.two[i].whole[s])
		}
		visit(n+m+i%k, col, &q.seats[i])
		for s, j := range jobs {
			visit(n+m+k+j, col, &q.two[i].worth[s])
		}
	}
}

// pack lays the rows beyond −x ≤ 0 out by column.
func (q *paired) pack(e *embedding) {
	q.bound = slices.Concat(e.keep, q.keep)
	count := make([]int32, e.shares+2)
	e.each(func(row, col int, v *float64) {
		if row >= e.shares && *v != 0 {
			count[col+1]++
		}
	})
	for c := range e.shares + 1 {
		count[c+1] += count[c]
	}
	q.starts = count
	q.rows, q.values = make([]int32, count[e.shares+1]), make([]float64, count[e.shares+1])
	next := slices.Clone(count)
	e.each(func(row, col int, v *float64) {
		if row >= e.shares && *v != 0 {
			q.rows[next[col]], q.values[next[col]] = int32(row), *v
			next[col]++
		}
	})
}

// times is G·x, by row.
func (q *paired) times(e *embedding, x []float64) []float64 {
	y := make([]float64, len(e.h))
	floats.MulTo(y[:e.shares], q.bound, x[:e.shares])
	for c, v := range x {
		from, to := q.starts[c], q.starts[c+1]
		values := q.values[from:to]
		for at, row := range q.rows[from:to] {
			y[row] += values[at] * v
		}
	}
	return y
}

// back is Gᵀ·z, by column.
func (q *paired) back(e *embedding, z []float64) []float64 {
	y := make([]float64, len(e.cols))
	floats.MulTo(y[:e.shares], q.bound, z[:e.shares])
	for c := range y {
		from, to := q.starts[c], q.starts[c+1]
		values := q.values[from:to]
		sum := y[c]
		for at, row := range q.rows[from:to] {
			sum += values[at] * z[row]
		}
		y[c] = sum
	}
	return y
}

// rowwise is the elimination where pairs tie the rows of jobs together: each x but t by itself,
// for all that it has on the diagonal; what is left are the rows of time, workers and levels.
type rowwise struct {
	e      *embedding
	d      []float64 // 1/ratio, about
	own    []float64 // diagonal of each x
	left   mat.Cholesky
	level  *mat.VecDense // column of t in the rows that are left
	inner  *mat.VecDense // what is left times that
	corner float64
}

func (q *paired) eliminate(e *embedding, d []float64) *rowwise {
	n := len(e.h) - e.shares
	r := &rowwise{e: e, d: d, own: make([]float64, e.shares), level: mat.NewVecDense(n, nil), inner: mat.NewVecDense(n, nil)}
	left := make([]float64, n*n)
	for c := range r.own {
		keep := q.bound[c]
		r.own[c] = d[c]*keep*keep + embedAdded
		rows, values := q.rows[q.starts[c]:q.starts[c+1]], q.values[q.starts[c]:q.starts[c+1]]
		for a, i := range rows {
			v, line := values[a]/r.own[c], left[(int(i)-e.shares)*n:]
			for b, j := range rows {
				if j >= i {
					line[int(j)-e.shares] += v * values[b]
				}
			}
		}
	}
	for i := range n {
		left[i*n+i] += 1 / d[e.shares+i]
	}
	r.left.Factorize(mat.NewSymDense(n, left)) // as well as may be
	for at := q.starts[e.shares]; at < q.starts[e.shares+1]; at++ {
		r.level.SetVec(int(q.rows[at])-e.shares, q.values[at])
	}
	_ = r.left.SolveVecTo(r.inner, r.level)
	r.corner = mat.Dot(r.level, r.inner) + embedAdded
	return r
}

// once is that of newton.
func (r *rowwise) once(b, g []float64) (x, z []float64) {
	e, q := r.e, r.e.pairs
	n := e.shares
	right := make([]float64, n+1)
	for c := range n {
		right[c] = (b[c] + r.d[c]*q.bound[c]*g[c]) / r.own[c]
	}
	side := mat.NewVecDense(len(e.h)-n, q.times(e, right)[n:])
	for i := range side.Len() {
		side.SetVec(i, side.AtVec(i)-g[n+i])
	}
	_ = r.left.SolveVecTo(side, side)
	t := (b[n] - mat.Dot(r.level, side)) / r.corner
	side.AddScaledVec(side, t, r.inner)
	z = make([]float64, len(e.h))
	copy(z[n:], side.RawVector().Data)
	x = q.back(e, z) // of the rows that are left: the others are 0 yet
	for c := range n {
		x[c] = right[c] - x[c]/r.own[c]
	}
	x[n] = t
	for c := range n {
		z[c] = r.d[c] * (q.bound[c]*x[c] - g[c])
	}
	return x, z
}

// PackFairest is PackFair with the shares, of all that are equally fair, that Gavel's authors'
// solver ends at, see embedding.
func PackFairest(p *share.Problem) (jobs, pairs [][]float64, err error) {
	e := newEmbedding(p, false)
	x, ended := e.solve()
	if !ended {
		return PackFair(p)
	}
	at := e.jobs * e.kinds
	return e.unscaled(x, 0, e.jobs), e.unscaled(x, at, len(p.Pairs)), nil
}
