package share

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestCostRatioIsProvedWhereItsLastProgramsBestIsNothing follows Dinkelbach's method to programs
// whose gains and spend cancel, of which no gap is small beside the objective.
func TestCostRatioIsProvedWhereItsLastProgramsBestIsNothing(t *testing.T) {
	y, _ := Find("cost_ratio_slo")
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 31))
		p := &Problem{}
		for w := range 12 {
			p.Types = append(p.Types, Type{Name: fmt.Sprint(w), Workers: 210, Price: 0.5 + 0.5*float64(w) + r.Float64()})
		}
		for j := range 4200 {
			job := Job{ID: fmt.Sprint(j), Scale: 1, Weight: 1, Steps: 1e5, Deadline: math.NaN()}
			base := math.Exp(2 * r.NormFloat64())
			for w := range p.Types {
				job.Throughput = append(job.Throughput, base*math.Exp(0.2*float64(w)+0.3*r.NormFloat64()))
			}
			if j%2 == 0 {
				job.Deadline = job.Steps / (base * (0.1 + 0.6*r.Float64()))
			}
			p.Jobs = append(p.Jobs, job)
		}
		a, err := y.Share(p, Options{Gap: 1e-6})
		if err != nil || a.Status != "optimal" || a.Gap > 1e-6 {
			t.Errorf("seed %d: %v, %s with a gap of %g after %d programs", seed, err, a.Status, a.Gap, a.Rounds)
			continue
		}
		if got := sum(a.Theta) / p.cost(&plan{x: a.Share}); math.Abs(got/a.Objective-1) > 1e-9 {
			t.Errorf("seed %d: the shares' ratio is %g, not %g", seed, got, a.Objective)
		}
	}
}

// TestThePriceOfARatioIsARate: of a type of thousands of workers, one more gains what its price says,
// or less where soon another row decides; of few, a whole one may gain more.
func TestThePriceOfARatioIsARate(t *testing.T) {
	y, _ := Find("cost_ratio_slo")
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 8)
		for j := range p.Jobs {
			if best := p.fastest(j); best > 0 && rapid.Bool().Draw(t, "deadline") {
				p.Jobs[j].Deadline = p.Jobs[j].Steps / best * rapid.Float64Range(2, 20).Draw(t, "slack")
			}
			p.Jobs[j].Scale *= 10_000
		}
		for w := range p.Types {
			p.Types[w].Workers *= 10_000
		}
		w := rapid.IntRange(0, len(p.Types)-1).Draw(t, "type")
		q := *p
		q.Types = slices.Clone(p.Types)
		q.Types[w].Workers++
		a, errA := y.Share(p, Options{})
		b, errB := y.Share(&q, Options{})
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if a.Status != "optimal" || b.Status != "optimal" || a.Price == nil || p.Types[w].Workers == 0 {
			return // infeasible, or a type that the program leaves out
		}
		if distance(p.cost(&plan{x: a.Share}), q.cost(&plan{x: b.Share})) > 1e-2 {
			return // a job of about that ratio drops out at once: soon the rate is another
		}
		const bend, rounding = 1e-2, 1e-8
		if better := b.Objective - a.Objective; better < -rounding*a.Objective || better > a.Price[w]*(1+bend)+rounding*a.Objective {
			t.Fatalf("one more of type %d improves %g by %g, its price is %g", w, a.Objective, better, a.Price[w])
		}
	})
	// c workers of the cheap type: the ratio is 1/(c + 10·(10 − c)), which is convex in c.
	p := parse(t, `{"cluster":{"cheap":5,"dear":10},"prices":{"cheap":1,"dear":10},"jobs":[
	 {"id":"a","steps_left":100,"scale_factor":10,"slo_left_s":100,"throughput":{"cheap":1,"dear":1}}]}`)
	a, _ := y.Share(p, Options{})
	price := a.Price[0]
	if want := 9.0 / (55 * 55); math.Abs(price-want) > 1e-9 {
		t.Errorf("price %g, want %g", price, want)
	}
	p.Types[0].Workers++
	if b, _ := y.Share(p, Options{}); b.Objective-a.Objective <= price {
		t.Errorf("one more improves %g by %g, no more than its price of %g", a.Objective, b.Objective-a.Objective, price)
	}
	for _, y := range Policies() {
		a, _ := y.Share(p, Options{})
		if got := p.Explain(&a).Rates; got != (y.Name == "cost_ratio_slo") {
			t.Errorf("%s: prices are said to be rates: %v", y.Name, got)
		}
	}
}
