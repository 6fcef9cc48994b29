package goodput

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// box is the region that a search stays in. A variable whose bounds are equal is
// held.
type box struct{ low, high [7]float64 }

func (b *box) clip(x [7]float64) [7]float64 {
	for i := range x {
		x[i] = min(max(x[i], b.low[i]), b.high[i])
	}
	return x
}

// Limits of one descent.
const (
	gradTolerance = 1e-7  // of the projected gradient's largest component
	dropTolerance = 1e-11 // relative fall of the value that counts as none
	stallSteps    = 4     // steps without a fall before it stops
	longestStep   = 4.    // in a variable of the search: a factor of 55 in a parameter
	armijo        = 1e-4
	boundSlack    = 1e-12 // distance from a bound that counts as on it
)

// descend minimizes f over the box from x by a projected quasi-Newton method: BFGS
// with Powell's damping on the variables that are not held at a bound, and a
// backtracking search along the projected step. It returns the point, its value,
// the number of steps, and whether it stopped by itself rather than at most.
func descend(f func(x [7]float64, grad *[7]float64) float64, x [7]float64, b *box, most int) (best [7]float64, value float64, steps int, settled bool) {
	x = b.clip(x)
	var g [7]float64
	value = f(x, &g)
	hessian := identity()
	stalled := 0
	for steps = range most {
		free := freeOf(x, g, b)
		if len(free) == 0 || projectedNorm(x, g, b) < gradTolerance {
			return x, value, steps, true
		}
		step, ok := newtonStep(hessian, g, free)
		if !ok {
			hessian = identity()
			step, _ = newtonStep(hessian, g, free)
		}
		if size := floats.Norm(step[:], math.Inf(1)); size > longestStep {
			floats.Scale(longestStep/size, step[:])
		}
		next, nextValue, nextGrad, moved := search(f, x, value, g, step, b)
		if !moved {
			if stalled++; stalled > 1 {
				return x, value, steps, true
			}
			hessian = identity()
			continue
		}
		update(hessian, x, next, g, nextGrad)
		if value-nextValue <= dropTolerance*math.Abs(value) {
			if stalled++; stalled >= stallSteps {
				return next, nextValue, steps + 1, true
			}
		} else {
			stalled = 0
		}
		x, value, g = next, nextValue, nextGrad
	}
	return x, value, most, false
}

func identity() *mat.SymDense {
	h := mat.NewSymDense(7, nil)
	for i := range 7 {
		h.SetSym(i, i, 1)
	}
	return h
}

// freeOf lists the variables that may move: not those at a bound that the
// descent pushes against.
func freeOf(x, g [7]float64, b *box) []int {
	free := make([]int, 0, 7)
	for i := range x {
		atLow := x[i] <= b.low[i]+boundSlack && g[i] > 0
		atHigh := x[i] >= b.high[i]-boundSlack && g[i] < 0
		if !atLow && !atHigh && b.low[i] < b.high[i] {
			free = append(free, i)
		}
	}
	return free
}

func projectedNorm(x, g [7]float64, b *box) float64 {
	moved := x
	for i := range moved {
		moved[i] -= g[i]
	}
	moved = b.clip(moved)
	return floats.Distance(moved[:], x[:], math.Inf(1))
}

// newtonStep solves for the step over the free variables. ok is false when the
// matrix is not positive definite or the step does not descend.
func newtonStep(hessian *mat.SymDense, g [7]float64, free []int) (step [7]float64, ok bool) {
	n := len(free)
	part, right := mat.NewSymDense(n, nil), make([]float64, n)
	for r, i := range free {
		right[r] = -g[i]
		for c := r; c < n; c++ {
			part.SetSym(r, c, hessian.At(i, free[c]))
		}
	}
	// Without mat.Cholesky, which estimates the condition at each: a third of all fitting.
	factor, ok := lapack64.Potrf(part.RawSymmetric())
	if !ok {
		return step, false
	}
	solved := blas64.General{Rows: n, Cols: 1, Stride: 1, Data: right}
	lapack64.Potrs(factor, solved)
	slope := 0.0
	for r, i := range free {
		step[i] = right[r]
		slope += step[i] * g[i]
	}
	return step, slope < 0
}

// search walks back along the projected step until the value falls enough.
func search(f func(x [7]float64, grad *[7]float64) float64, x [7]float64, value float64, g, step [7]float64, b *box) (next [7]float64, nextValue float64, nextGrad [7]float64, moved bool) {
	for t := 1.0; t > 1e-10; t *= 0.4 {
		next = x
		for i := range next {
			next[i] += t * step[i]
		}
		next = b.clip(next)
		slope := 0.0
		for i := range next {
			slope += g[i] * (next[i] - x[i])
		}
		if nextValue = f(next, &nextGrad); nextValue <= value+armijo*min(slope, 0) && nextValue < value {
			return next, nextValue, nextGrad, true
		}
	}
	return x, value, g, false
}

// update changes the BFGS matrix by the step from x to next, damped so that it
// stays positive definite.
func update(hessian *mat.SymDense, x, next, g, nextGrad [7]float64) {
	s, y := mat.NewVecDense(7, nil), mat.NewVecDense(7, nil)
	for i := range 7 {
		s.SetVec(i, next[i]-x[i])
		y.SetVec(i, nextGrad[i]-g[i])
	}
	var bs mat.VecDense
	bs.MulVec(hessian, s)
	sBs, sy := mat.Dot(s, &bs), mat.Dot(s, y)
	if !(sBs > 0) {
		return
	}
	if sy < 0.2*sBs {
		share := 0.8 * sBs / (sBs - sy)
		y.ScaleVec(share, y)
		y.AddScaledVec(y, 1-share, &bs)
		sy = mat.Dot(s, y)
	}
	if !(sy > 0) {
		return
	}
	hessian.SymRankOne(hessian, -1/sBs, &bs)
	hessian.SymRankOne(hessian, 1/sy, y)
}
