package throughput

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// kriging predicts a value from others that are correlated with it: the best
// linear prediction of a Gaussian process with mean zero and a known covariance
// (Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006,
// algorithm 2.1).
type kriging struct {
	factor mat.Cholesky
	weight *mat.VecDense
}

var errCovariance = errors.New("the covariance is not positive definite")

// newKriging takes values, the covariance of each two of them, and the variance of
// what each was measured with.
func newKriging(values []float64, covariance func(i, j int) float64, noise func(i int) float64) (*kriging, error) {
	n := len(values)
	k := &kriging{weight: mat.NewVecDense(n, nil)}
	matrix := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			matrix.SetSym(i, j, covariance(i, j))
		}
		matrix.SetSym(i, i, matrix.At(i, i)+noise(i))
	}
	if !k.factor.Factorize(matrix) {
		return nil, errCovariance
	}
	if err := k.factor.SolveVecTo(k.weight, mat.NewVecDense(n, values)); err != nil {
		return nil, errCovariance
	}
	return k, nil
}

// at predicts a value of that variance, by its covariances with the known ones.
func (k *kriging) at(variance float64, covariance func(i int) float64) (mean, sd float64) {
	n := k.weight.Len()
	to := mat.NewVecDense(n, nil)
	for i := range n {
		to.SetVec(i, covariance(i))
	}
	var solved mat.VecDense
	if k.factor.SolveVecTo(&solved, to) != nil {
		return 0, math.Sqrt(variance)
	}
	return mat.Dot(to, k.weight), math.Sqrt(max(variance-mat.Dot(to, &solved), 0))
}
