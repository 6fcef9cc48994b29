package whole

import (
	"math"
	"slices"
)

// newton solves for the step by Cholesky's factors; false if rounding leaves none.
func (s *smooth) newton() bool {
	k := len(s.price)
	a := s.curve
	for i := range k {
		if s.p.Capacity[i] <= 0 {
			a[i*k+i], s.slope[i] = 1, 0
		}
	}
	scale := make([]float64, k)
	for i := range k {
		scale[i] = 1 / math.Sqrt(a[i*k+i])
	}
	for i := range k {
		for j := 0; j <= i; j++ {
			sum := a[i*k+j] * scale[i] * scale[j]
			if i == j {
				sum += 1e-13 // rounding of the differences above
			}
			for l := range j {
				sum -= a[i*k+l] * a[j*k+l]
			}
			if i != j {
				a[i*k+j] = sum / a[j*k+j]
				continue
			}
			if !(sum > 1e-14) {
				sum = 1e-14
			}
			a[i*k+i] = math.Sqrt(sum)
		}
	}
	for i := range k {
		sum := -s.slope[i] * scale[i]
		for j := range i {
			sum -= a[i*k+j] * s.step[j]
		}
		s.step[i] = sum / a[i*k+i]
	}
	for i := k - 1; i >= 0; i-- {
		for j := i + 1; j < k; j++ {
			s.step[i] -= a[j*k+i] * s.step[j]
		}
		s.step[i] /= a[i*k+i]
	}
	for i := range k {
		s.step[i] *= scale[i]
	}
	return !slices.ContainsFunc(s.step, func(d float64) bool { return math.IsNaN(d) || math.IsInf(d, 0) })
}
