package peer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/goodfleet/goodfleet/planner/share"
)

// Settings of the embedding, those of ECOS 2.0: Domahidi, Chu and Boyd, "ECOS: An SOCP
// Solver for Embedded Systems", ECC 2013, and its published program.
const (
	embedScalings = 3     // of rows and columns
	embedBack     = 0.99  // part of the way to the border that a step goes
	embedLongest  = 0.999 // step, in parts of a direction
	embedShortest = 1e-6
	embedLeast    = 1e-4 // of the part of mu that a step aims at
	embedDone     = 1e-8 // residuals and gap, relative to the size of what they are of
	embedNear     = 1e-7 // the same, of an end that rounding keeps from that
	embedSteps    = 100
	embedAdded    = 7e-8  // to the diagonal of Newton's equations
	embedRefine   = 9     // times that an answer of them is made better
	embedExact    = 1e-14 // of the right sides, that an answer may leave
)

// embedding is the program of max-min fairness in the form that interior point solvers of
// cones take: minimise −t over shares x and the level t, with slacks s ≥ 0 to
//
//	x ≥ 0,  Σ_w x_jw ≤ 1,  Σ_j n_j·x_jw ≤ workers_w,  t ≤ Σ_w a_jw·x_jw.
//
// Many shares reach the best level, and where rounds then turn out otherwise, so do jobs.
// Gavel's authors solved it by ECOS, and of all these shares the one that its path ends at
// is neither a vertex nor the analytic centre: it depends on the scaling of the data, on
// where the path begins, and on each step. All of that is done here as ECOS does it, with
// multipliers z of the rows, and tau and kappa of the homogeneous self-dual embedding.
//
// Variables are x by job and kind, then those by pair and kind (see embedpairs.go), then t. Rows
// are in the order above, each kind by job.
type embedding struct {
	jobs, kinds int
	shares      int       // how many x there are
	workers     []float64 // n_j and a_jw of the unscaled program
	gain        []float64
	keep        []float64 // entries of the scaled program, by their kind of row: of −x ≤ 0,
	whole       []float64 // of the sum of a job's shares,
	seats       []float64 // of its workers
	worth       []float64 // of what it gets,
	level       []float64 // and of t there, by job
	rows, cols  []float64 // by which rows and columns were divided
	c           float64   // cost of t
	h           []float64 // right sides
	pairs       *paired   // nil: there are none
}

// fairest are shares of max-min fairness by a rule that may be embedded, as the authors' solver
// leaves them. Where the path does not come to its end, as it may not if many shares are alike
// and a kind is not full, they are those amid the best ones.
func fairest(rule share.Policy, p *share.Problem) ([][]float64, error) {
	e := newEmbedding(p, rule.Name == fairAgnostic)
	x, ended := e.solve()
	if !ended {
		a, err := rule.Share(p, share.Options{Gap: 1e-6, Interior: true})
		return a.Share, err
	}
	return e.unscaled(x, 0, e.jobs), nil
}

// unscaled are the shares of n jobs, or pairs, from column at on, by kind.
func (e *embedding) unscaled(x []float64, at, n int) [][]float64 {
	shares := make([][]float64, n)
	for j := range shares {
		shares[j] = make([]float64, e.kinds)
		for w := range shares[j] {
			i := at + j*e.kinds + w
			shares[j][w] = min(max(x[i]/e.cols[i], 0), 1)
		}
	}
	return shares
}

func newEmbedding(p *share.Problem, blind bool) *embedding {
	m, k := len(p.Jobs), len(p.Types)
	n := m*k + len(p.Pairs)*k
	e := &embedding{jobs: m, kinds: k, shares: n, workers: make([]float64, m), gain: make([]float64, m*k), h: make([]float64, n+m+k+m), c: -1}
	all := 0.0
	for _, t := range p.Types {
		all += float64(t.Workers)
	}
	for j, job := range p.Jobs {
		e.workers[j] = float64(job.Scale)
		equal := 0.0
		for w, t := range p.Types {
			equal += job.Throughput[w] * float64(t.Workers) / all
		}
		for w, v := range job.Throughput {
			if blind {
				v, equal = 1, 1
			}
			if equal > 0 {
				e.gain[j*k+w] = float64(job.Scale) * v / (job.Weight * equal)
			}
		}
		e.h[n+j] = 1
	}
	for w, t := range p.Types {
		e.h[n+m+w] = float64(t.Workers)
	}
	if len(p.Pairs) > 0 {
		e.pairs = newPaired(p, e)
	}
	e.scale()
	return e
}

// scale divides rows and columns by the roots of their largest entries, a few times over.
func (e *embedding) scale() {
	m, k := e.jobs, e.kinds
	e.keep, e.whole, e.seats, e.worth, e.level = ones(m*k), ones(m*k), ones(m*k), make([]float64, m*k), ones(m)
	for i := range e.seats {
		e.seats[i], e.worth[i] = e.workers[i/k], -e.gain[i]
		e.keep[i] = -1
	}
	e.rows, e.cols = ones(len(e.h)), ones(e.shares+1)
	for range embedScalings {
		r, c := make([]float64, len(e.h)), make([]float64, e.shares+1)
		e.each(func(row, col int, v *float64) {
			r[row], c[col] = max(r[row], math.Abs(*v)), max(c[col], math.Abs(*v))
		})
		for _, list := range [][]float64{r, c} {
			for i, v := range list {
				if list[i] = math.Sqrt(v); v == 0 {
					list[i] = 1
				}
			}
		}
		e.each(func(row, col int, v *float64) { *v /= r[row] * c[col] })
		floats.Mul(e.rows, r)
		floats.Mul(e.cols, c)
	}
	floats.Div(e.h, e.rows)
	e.c /= e.cols[e.shares]
	if e.pairs != nil {
		e.pairs.pack(e)
	}
}

func ones(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = 1
	}
	return list
}

// each visits every entry of the rows.
func (e *embedding) each(visit func(row, col int, v *float64)) {
	m, k, n := e.jobs, e.kinds, e.shares
	for i := range m * k {
		j, w := i/k, i%k
		visit(i, i, &e.keep[i])
		visit(n+j, i, &e.whole[i])
		visit(n+m+w, i, &e.seats[i])
		visit(n+m+k+j, i, &e.worth[i])
	}
	if e.pairs != nil {
		e.pairs.each(e, visit)
	}
	for j := range m {
		visit(n+m+k+j, n, &e.level[j])
	}
}

// times is G·x, by row.
func (e *embedding) times(x []float64) []float64 {
	if e.pairs != nil {
		return e.pairs.times(e, x)
	}
	y := make([]float64, len(e.h))
	e.each(func(row, col int, v *float64) { y[row] += *v * x[col] })
	return y
}

// back is Gᵀ·z, by column.
func (e *embedding) back(z []float64) []float64 {
	if e.pairs != nil {
		return e.pairs.back(e, z)
	}
	y := make([]float64, len(e.cols))
	e.each(func(row, col int, v *float64) { y[col] += *v * z[row] })
	return y
}

// newton solves Gᵀz = b, Gx − ratio·z = g for x and z, with a ratio above 0 for each row, by an
// elimination that does so with embedAdded on the diagonal of both parts.
type newton struct {
	e     *embedding
	ratio []float64
	once  func(b, g []float64) (x, z []float64)
}

// blocks is the elimination where there are no pairs: each job's part of GᵀdG is small; t and the
// workers of each kind couple them.
type blocks struct {
	e      *embedding
	d      []float64    // 1/ratio, about
	blocks []*mat.Dense // inverse, by job
	edge   [][]float64  // of t and of each kind, the column that couples, by job and kind
	inner  [][]float64  // the blocks' inverse times that
	border mat.LU
}

func (e *embedding) newton(ratio []float64) *newton {
	d := make([]float64, len(ratio))
	for i, v := range ratio {
		d[i] = 1 / (v + embedAdded)
	}
	if e.pairs != nil {
		return &newton{e, ratio, e.pairs.eliminate(e, d).once}
	}
	return &newton{e, ratio, e.eliminate(d).once}
}

func (e *embedding) eliminate(d []float64) *blocks {
	m, k := e.jobs, e.kinds
	n := &blocks{e: e, d: d, blocks: make([]*mat.Dense, m), edge: make([][]float64, k+1), inner: make([][]float64, k+1)}
	for i := range n.edge {
		n.edge[i] = make([]float64, m*k)
	}
	corner := embedAdded
	for j := range m {
		block := mat.NewSymDense(k, nil)
		one, get := d[m*k+j], d[m*k+m+k+j]
		for a := range k {
			i := j*k + a
			for b := a; b < k; b++ {
				v := one*e.whole[i]*e.whole[j*k+b] + get*e.worth[i]*e.worth[j*k+b]
				if a == b {
					v += d[i]*e.keep[i]*e.keep[i] + embedAdded
				}
				block.SetSym(a, b, v)
			}
			n.edge[0][i] = get * e.worth[i] * e.level[j]
			n.edge[1+a][i] = e.seats[i]
		}
		corner += get * e.level[j] * e.level[j]
		n.blocks[j] = new(mat.Dense)
		_ = n.blocks[j].Inverse(block) // a block that is nearly singular is inverted as well as may be
	}
	border := mat.NewDense(k+1, k+1, nil)
	border.Set(0, 0, corner)
	for a := range k {
		border.Set(1+a, 1+a, -1/d[m*k+m+a])
	}
	for a := range n.edge {
		n.inner[a] = n.within(n.edge[a])
	}
	for a := range n.edge {
		for b := range n.inner {
			border.Set(a, b, border.At(a, b)-floats.Dot(n.edge[a], n.inner[b]))
		}
	}
	n.border.Factorize(border)
	return n
}

// within multiplies by the inverse of the blocks.
func (n *blocks) within(v []float64) []float64 {
	k := n.e.kinds
	y := make([]float64, len(v))
	for i := range y {
		for b := range k {
			y[i] += n.blocks[i/k].At(i%k, b) * v[i-i%k+b]
		}
	}
	return y
}

// solve works the answer out with a little added, and then a few times what it leaves of
// the equations as they are.
func (n *newton) solve(b, g []float64) (x, z []float64) {
	x, z = n.once(b, g)
	over, left := n.left(b, g, x, z)
	for range embedRefine {
		if n.e.pairs != nil && max(floats.Norm(over, 2), floats.Norm(left, 2)) < embedExact*(1+max(floats.Norm(b, 2), floats.Norm(g, 2))) {
			break
		}
		dx, dz := n.once(over, left)
		floats.Add(dx, x)
		floats.Add(dz, z)
		o, l := n.left(b, g, dx, dz)
		if floats.Norm(o, 2)+floats.Norm(l, 2) >= floats.Norm(over, 2)+floats.Norm(left, 2) {
			break
		}
		x, z, over, left = dx, dz, o, l
	}
	return x, z
}

// left is what an answer leaves of both sides.
func (n *newton) left(b, g, x, z []float64) (over, left []float64) {
	over, left = n.e.back(z), n.e.times(x)
	for i := range over {
		over[i] = b[i] - over[i]
	}
	for i := range left {
		left[i] = g[i] - left[i] + n.ratio[i]*z[i]
	}
	return over, left
}

// once is that of newton.
func (n *blocks) once(b, g []float64) (x, z []float64) {
	e, k := n.e, n.e.kinds
	dg := make([]float64, len(g))
	floats.MulTo(dg, n.d, g)
	right := e.back(dg)
	floats.Add(right, b)
	last := len(right) - 1
	alone := n.within(right[:last])
	side := mat.NewVecDense(k+1, nil)
	for a := range n.edge {
		side.SetVec(a, -floats.Dot(n.edge[a], alone))
	}
	side.SetVec(0, side.AtVec(0)+right[last])
	_ = n.border.SolveVecTo(side, false, side) // as for the blocks
	for a := range n.inner {
		floats.AddScaled(alone, -side.AtVec(a), n.inner[a])
	}
	x = append(alone, side.AtVec(0))
	z = e.times(x)
	floats.Sub(z, g)
	floats.Mul(z, n.d)
	return x, z
}

// move is a point of the path, or a step on it.
type move struct {
	x, s, z    []float64
	tau, kappa float64
}

// solve follows the path and returns x of the scaled program, and whether it came to the end.
func (e *embedding) solve() (x []float64, ended bool) {
	if e.jobs == 0 || e.kinds == 0 {
		return nil, true
	}
	at := e.begin()
	var last []float64 // x of the point before, and whether it is near the end
	near := false
	for range embedSteps {
		r := e.residuals(&at)
		if !(at.tau > 0 && r.mu > 0) { // rounding led out of what is positive
			return last, near
		}
		if ended = r.off < embedDone; ended {
			break
		}
		last, near = slices.Clone(at.x), r.off < embedNear
		floats.Scale(1/at.tau, last)
		rows := len(e.h)
		ratio := make([]float64, rows)
		floats.DivTo(ratio, at.s, at.z)
		n := e.newton(ratio)
		cost := make([]float64, len(e.cols))
		cost[len(cost)-1] = -e.c
		x, z := n.solve(cost, e.h)
		pivot := e.c*x[len(x)-1] + floats.Dot(e.h, z) - at.kappa/at.tau

		// step solves the equations of Newton with a part of the residuals left out, and with
		// right sides of the products of s and z, and of tau and kappa.
		step := func(part float64, both []float64, pair float64) move {
			ex, ez := make([]float64, len(r.x)), make([]float64, rows)
			floats.AddScaled(ex, part, r.x)
			floats.AddScaled(ez, -part, r.z)
			for i := range ez {
				ez[i] -= both[i] / at.z[i]
			}
			d := move{}
			d.x, d.z = n.solve(ex, ez)
			d.tau = (-part*r.tau - pair/at.tau - e.c*d.x[len(d.x)-1] - floats.Dot(e.h, d.z)) / pivot
			floats.AddScaled(d.x, d.tau, x)
			floats.AddScaled(d.z, d.tau, z)
			d.kappa = (pair - at.kappa*d.tau) / at.tau
			d.s = make([]float64, rows)
			for i := range d.s {
				d.s[i] = both[i]/at.z[i] - d.z[i]*ratio[i]
			}
			return d
		}
		both := make([]float64, rows)
		for i := range both {
			both[i] = -at.s[i] * at.z[i]
		}
		d := step(1, both, -at.tau*at.kappa)
		aim := min(max(math.Pow(1-at.room(&d), 3), embedLeast), 1)
		for i := range both {
			both[i] += aim*r.mu - d.s[i]*d.z[i]
		}
		d = step(1-aim, both, aim*r.mu-at.tau*at.kappa-d.tau*d.kappa)
		at.advance(&d, embedBack*at.room(&d))
	}
	floats.Scale(1/at.tau, at.x)
	return at.x, ended
}

// begin is where the path begins: the x of least slacks in their squares, and the least
// multipliers, both moved until they are positive.
func (e *embedding) begin() move {
	n := e.newton(ones(len(e.h)))
	at := move{tau: 1, kappa: 1}
	at.x, at.s = n.solve(make([]float64, len(e.cols)), e.h)
	floats.Scale(-1, at.s)
	cost := make([]float64, len(e.cols))
	cost[len(cost)-1] = -e.c
	_, at.z = n.solve(cost, make([]float64, len(e.h)))
	for _, v := range [][]float64{at.s, at.z} {
		if least := floats.Min(v); least <= 0 {
			floats.AddConst(1-least, v)
		}
	}
	return at
}

// residual is how far a point is from solving the embedding.
type residual struct {
	x, z    []float64
	tau, mu float64
	off     float64 // residuals and gap, relative to the size of what they are of: the largest
}

func (e *embedding) residuals(at *move) residual {
	last := len(at.x) - 1
	r := residual{x: e.back(at.z), z: e.times(at.x)}
	floats.Scale(-1, r.x)
	r.x[last] -= e.c * at.tau
	floats.Add(r.z, at.s)
	floats.AddScaled(r.z, -at.tau, e.h)
	r.tau = at.kappa + e.c*at.x[last] + floats.Dot(e.h, at.z)
	gap := floats.Dot(at.s, at.z)
	r.mu = (gap + at.kappa*at.tau) / float64(len(at.s)+1)
	gap /= at.tau * at.tau
	size := func(v []float64) float64 { return floats.Norm(v, 2) }
	primal := size(r.z) / at.tau / max(1, size(e.h)+size(at.x)+size(at.s))
	dual := size(r.x) / at.tau / max(1, math.Abs(e.c)+size(at.z))
	r.off = max(primal, dual, gap/max(1, math.Abs(e.c*at.x[last]/at.tau)))
	return r
}

// room is how much of a step keeps everything positive, within the bounds of a step.
func (at *move) room(d *move) float64 {
	most := embedLongest
	within := func(v, step float64) {
		if step < 0 {
			most = min(most, -v/step)
		}
	}
	for i := range at.s {
		within(at.s[i], d.s[i])
		within(at.z[i], d.z[i])
	}
	within(at.tau, d.tau)
	within(at.kappa, d.kappa)
	return max(most, embedShortest)
}

// advance takes a part of a step.
func (at *move) advance(d *move, part float64) {
	floats.AddScaled(at.x, part, d.x)
	floats.AddScaled(at.s, part, d.s)
	floats.AddScaled(at.z, part, d.z)
	at.tau += part * d.tau
	at.kappa += part * d.kappa
}
