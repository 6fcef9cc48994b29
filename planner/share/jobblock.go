package share

import "math"

// jobBlock is the inverse of a job's Newton matrix D + b·1·1ᵀ + a·rate·rateᵀ, where a and
// b are the curvatures of its objective and of its time. With D⁻¹ huge on the columns in
// use, plain formulas subtract huge numbers: rates are taken about their weighted mean
// instead, and each column's weight against that of all others.
type jobBlock struct {
	d     []float64 // D⁻¹, 0 for absent columns
	e     []float64 // D⁻¹·(rate − mean)
	rest  []float64 // what time leaves of a column's own weight
	loose float64   // 1/b
	total float64   // 1/b + Σ d
	mean  float64   // Σ d·rate / total
	turn  float64   // 1/(1/a + rateᵀ(D + b·1·1ᵀ)⁻¹rate)
}

func newJobBlock(n int) *jobBlock {
	return &jobBlock{d: make([]float64, n), e: make([]float64, n), rest: make([]float64, n)}
}

// invert prepares b for job j.
func (a *ascent) invert(j int, b *jobBlock) {
	b.loose = a.y[j] / a.mu[j]
	b.total, b.mean = b.loose, 0
	for w, v := range a.rate[j] {
		b.d[w] = 0
		if v > 0 {
			b.d[w] = a.x[j][w] / a.sigma[j][w]
			b.rest[w] = b.total // the weights before this one
			b.total += b.d[w]
			b.mean += b.d[w] * v
		}
	}
	b.mean /= b.total
	after, quad := 0.0, b.loose*b.mean*b.mean
	for w := a.n - 1; w >= 0; w-- {
		v := a.rate[j][w]
		b.e[w] = 0
		if v == 0 {
			continue
		}
		b.rest[w] = (b.rest[w] + after) / b.total
		after += b.d[w]
		b.e[w] = b.d[w] * (v - b.mean)
		quad += b.e[w] * (v - b.mean)
	}
	curve := (1 - a.power) * math.Pow(a.u[j], a.power-2)
	b.turn = curve / (1 + curve*quad)
}

// solve sets out to M⁻¹·r.
func (b *jobBlock) solve(r, out []float64) {
	mean := dot(b.d, r) / b.total
	inner := b.loose * b.mean * mean
	for w, e := range b.e {
		inner += e * (r[w] - mean)
	}
	inner *= b.turn
	for w := range out {
		out[w] = b.d[w]*(r[w]-mean) - b.e[w]*inner
	}
}

// add adds scale²·M⁻¹ to the upper triangle of normal.
func (b *jobBlock) add(normal []float64, scale float64) {
	n, ss := len(b.d), scale*scale
	for w, d := range b.d {
		if d == 0 {
			continue
		}
		normal[w*n+w] += ss * (d*b.rest[w] - b.turn*b.e[w]*b.e[w])
		for k := w + 1; k < n; k++ {
			normal[w*n+k] -= ss * (d/b.total*b.d[k] + b.turn*b.e[w]*b.e[k])
		}
	}
}
