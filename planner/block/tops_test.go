package block

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestNoJobIsLiftedBeyondItsTopAtAnyPrices lifts each job alone over what a random point gives
// to all: no prices may prove less than that.
func TestNoJobIsLiftedBeyondItsTopAtAnyPrices(t *testing.T) {
	tight := 0
	for seed := range uint64(60) {
		p := drawFilling(seed, int(seed)%fillingKinds, 8, 3, 0.6).p
		r := rand.New(rand.NewPCG(seed, 78))
		x := make([]float64, p.Columns())
		for i := range x {
			x[i] = r.Float64()
		}
		p.repair(x)
		reach, prices, everyone := make([]float64, p.Jobs()), make([]float64, len(p.Capacity)), p.everyone()
		for j := range reach {
			reach[j] = p.reach(x, j) * r.Float64()
		}
		lift := *p
		lift.Level, lift.Floor = false, reach
		for j := range p.Jobs() {
			lift.Gain = make([]float64, p.Columns())
			copy(lift.Gain[p.First[j]:p.First[j+1]], p.Speed[p.First[j]:p.First[j+1]])
			s := Solve(&lift, Options{Gap: 1e-9, Vertex: true})
			if s.Status != Optimal {
				t.Fatalf("seed %d, job %d: %v", seed, j, s.Status)
			}
			best := p.eachAlone()
			p.tops(s.Prices, reach, everyone, best)
			if best[j] <= s.Objective*(1+1e-6) {
				tight++
			}
			for w := range prices {
				prices[w] = math.Pow(10, 6*r.Float64()-3)
			}
			most := p.eachAlone()
			p.tops(prices, reach, everyone, most)
			for _, top := range []float64{best[j], most[j]} {
				if top < s.Objective*(1-1e-8) {
					t.Errorf("seed %d: job %d can have %.12g, at prices %g no more than %.12g", seed, j, s.Objective, prices, top)
				}
			}
		}
	}
	if all := 60 * 8; tight < all*95/100 {
		t.Errorf("of %d tops at the prices of the best %d are what can be had", all, tight)
	}
}

// lack is the largest part of its most that a job does not have.
func lack(p *Program, f *Filled) float64 {
	part := 0.0
	for j, most := range f.Most {
		if short := most - f.Reach[j] - 1e-10*p.fastest(j); short > 0 {
			part = max(part, short/most)
		}
	}
	return part
}

// TestMostOfAFillingTellsWhatJobsLack takes shares from jobs, one after the other.
func TestMostOfAFillingTellsWhatJobsLack(t *testing.T) {
	for seed := range uint64(20) {
		f := drawFilling(seed, plainFilling, 10, 3, 0.6)
		a := Fill(f.p, f.next)
		if gap := lack(f.p, &a); gap > 1e-9 {
			t.Errorf("seed %d: a job lacks %g", seed, gap)
		}
		for j, was := range a.Reach {
			if was == 0 {
				continue
			}
			a.Reach[j] = was * 0.99
			if gap := lack(f.p, &a); gap < 0.01*(1-1e-6) || gap > 0.011 {
				t.Errorf("seed %d: job %d lacks 0.01, and the most says %g", seed, j, gap)
			}
			a.Reach[j] = was
		}
	}
}
