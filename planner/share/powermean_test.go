package share

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// drawProblem makes a problem of a few jobs and types; singles have one worker each.
func drawProblem(t *rapid.T, most int) *Problem {
	p := &Problem{}
	for w := range rapid.IntRange(1, 4).Draw(t, "types") {
		p.Types = append(p.Types, Type{Name: fmt.Sprint(w), Workers: rapid.IntRange(0, 8).Draw(t, "workers"), Price: rapid.Float64Range(0.1, 10).Draw(t, "price")})
	}
	for j := range rapid.IntRange(0, most).Draw(t, "jobs") {
		job := Job{ID: fmt.Sprint(j), Scale: 1 << rapid.IntRange(0, 3).Draw(t, "scale"), Steps: rapid.Float64Range(1, 1e6).Draw(t, "steps"), Deadline: math.NaN()}
		job.Weight = rapid.Float64Range(0.5, 5).Draw(t, "weight")
		base := math.Pow(10, rapid.Float64Range(-2, 2).Draw(t, "speed"))
		for range p.Types {
			v := base * rapid.Float64Range(0.5, 8).Draw(t, "throughput")
			if rapid.IntRange(0, 7).Draw(t, "cannot") == 0 {
				v = 0
			}
			job.Throughput = append(job.Throughput, v)
		}
		p.Jobs = append(p.Jobs, job)
	}
	return p
}

func TestPowerMeanIsProvedAndIsTheMeanOfItsShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t, 12)
		power := rapid.SampledFrom([]float64{-3, -1, -0.5, 0, 0.5, 0.9, 1}).Draw(t, "p")
		a, err := powerMean(p, Options{Power: &power})
		if err != nil {
			t.Fatal(err)
		}
		y, _ := Find("power_mean")
		for _, asked := range []float64{0, 1e-12, 1e-9, 1e-5} {
			b, err := y.Share(p, Options{Power: &power, Gap: asked})
			near := asked
			if asked == 0 {
				near = 1e-7
			}
			if err != nil || (b.Status == "optimal") != (b.Gap <= near) {
				t.Fatalf("asked for %g: %s with a gap of %g, %v", asked, b.Status, b.Gap, err)
			}
		}
		if a.Gap > 1e-5 || a.Objective > a.Bound {
			t.Fatalf("%s: %.12g, bound %.12g", a.Status, a.Objective, a.Bound)
		}
		checkShares(t, p, &a)
		sum, n := 0.0, 0.0
		for j := range p.Jobs {
			iso := p.isolated(j)
			if iso == 0 {
				continue
			}
			u := dot(p.Jobs[j].Throughput, a.Share[j])/iso + 1e-3
			if n++; power == 0 {
				sum += math.Log(u)
			} else {
				sum += math.Pow(u, power)
			}
		}
		want := 0.0
		switch {
		case n > 0 && power == 0:
			want = math.Exp(sum / n)
		case n > 0:
			want = math.Pow(sum/n, 1/power)
		}
		if math.Abs(a.Objective-want) > 1e-9*want {
			t.Fatalf("objective %.12g, its shares give %.12g", a.Objective, want)
		}
	})
}

// TestPowerMeanOfOneTypeIsKnown has the answer in closed form: alike jobs on one type
// share it evenly for any p below 1, and each has the speedup 1.
func TestPowerMeanOfOneTypeIsKnown(t *testing.T) {
	p := &Problem{Types: []Type{{Name: "a", Workers: 2}}}
	for j := range 5 {
		p.Jobs = append(p.Jobs, Job{ID: fmt.Sprint(j), Scale: 1, Weight: 1, Steps: 1, Throughput: []float64{float64(1 + j)}, Deadline: math.NaN()})
	}
	for _, power := range []float64{-10, -1, 0, 0.5} {
		a, err := powerMean(p, Options{Power: &power})
		if err != nil || math.Abs(a.Objective-1.001) > 1e-7 {
			t.Errorf("p = %g: %.10g, %v; want 1.001", power, a.Objective, err)
		}
		for j := range a.Share {
			if math.Abs(a.Share[j][0]-0.4) > 1e-5 {
				t.Errorf("p = %g: job %d has %g, want 0.4", power, j, a.Share[j][0])
			}
		}
	}
}

func TestPowerMeanNearsMaxMinAsThePowerFalls(t *testing.T) {
	p := parse(t, twoJobs)
	worst := func(power float64) float64 {
		a, err := powerMean(p, Options{Power: &power})
		if err != nil {
			t.Fatal(err)
		}
		least := math.Inf(1)
		for j := range p.Jobs {
			least = min(least, a.Theta[j]/p.isolated(j))
		}
		return least
	}
	if low, high := worst(-10), worst(1); low < high-1e-9 {
		t.Errorf("the worst-off job has %g at p = -10, %g at p = 1", low, high)
	}
}

func TestPowerMeanRefusesPowersThatItCannotServe(t *testing.T) {
	for _, power := range []float64{1.5, -11, math.NaN(), math.Inf(-1)} {
		if _, err := powerMean(parse(t, twoJobs), Options{Power: &power}); err == nil {
			t.Errorf("p = %g: no error", power)
		}
	}
}
