package policy

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// lived plays a job that is lost and comes back over and over: up for an exponential
// time, then on the other way for another, then back. It returns USD and hours per
// sample.
func lived(r *rand.Rand, c, x *planner.Column, turns int) (usd, hours float64) {
	pace, other := c.Speed.Goodput*c.Useful, x.Speed.Goodput*x.Useful
	spent, took, done := 0.0, 0.0, 0.0
	for range turns {
		up, away, back := r.ExpFloat64()/c.Loss, r.ExpFloat64()*c.Dry, c.Resume+c.Boot
		spent += up*c.Alone + away*x.Alone + back*c.Alone + max(0, x.OneOff-c.OneOff)
		took += up + away + back
		done += up*pace + away*other
	}
	return spent / done, took / done
}

// TestTheEndCountsWhatIsDoneElsewhereAfterLosses plays what is predicted of money and
// time to the end, for jobs that go on elsewhere after a loss and for jobs that wait.
func TestTheEndCountsWhatIsDoneElsewhereAfterLosses(t *testing.T) {
	const turns = 200_000 // a standard error of 0.3 % at the most
	goes, waits := 0, 0
	for seed := uint64(0); seed < 60; seed++ {
		p := drawProblem(seed, shape{jobs: 1, spot: true})
		r := rand.New(rand.NewPCG(seed, 0x6661_6c6c))
		for i := range p.Offers {
			o := &p.Offers[i]
			o.Hazard.Down = time.Duration(r.ExpFloat64() * float64(2*time.Hour))
			o.Hazard.PoolPerHour = 3 * r.Float64()
			o.Boot = time.Duration(r.Float64() * float64(20*time.Minute))
		}
		pr, _ := programOf(t, &p)
		d := &pr.Jobs[0]
		v := math.Exp(2 * r.NormFloat64())
		fallBack(&p, d, v)
		best, second := nextBest(&p, d, v)
		c := r.IntN(len(d.Columns))
		col, x := &d.Columns[c], best
		if x.Offer == col.Offer {
			x = second
		}
		if col.Down != 0 {
			t.Errorf("seed %d: it is thought to wait %g h though something else is sold", seed, col.Down)
		}
		usd, hours := lived(r, col, x, turns)
		still := &planner.Column{Speed: planner.Speed{}, Useful: 1, OneOff: col.OneOff}
		alone := *col
		alone.Resume, alone.Boot = 0, 0
		usdStill, hoursStill := lived(r, &alone, still, turns)
		if usdStill+v*hoursStill < usd+v*hours {
			waits++
			usd, hours = usdStill, hoursStill
		} else {
			goes++
		}
		near := func(got, want float64) bool { return math.Abs(got-want) <= 0.02*want }
		if got := col.Spend(1); !near(got, usd) && math.Abs((usdStill+v*hoursStill)/(usd+v*hours)-1) > 0.02 {
			t.Errorf("seed %d: a sample costs %g USD, played %g", seed, got, usd)
		}
		if got := col.WallHours(1); !near(got, hours) && math.Abs((usdStill+v*hoursStill)/(usd+v*hours)-1) > 0.02 {
			t.Errorf("seed %d: a sample takes %g h, played %g", seed, got, hours)
		}
	}
	if goes < 10 || waits < 3 {
		t.Errorf("%d jobs go on elsewhere, %d wait: the draws see one side only", goes, waits)
	}
}

// TestSpotThatGoesOftenIsKeptWhereTheNextZoneSells: a pool that is lost every hour and
// gone for two is still cheaper than on demand at three times its rate if another pool
// sells the same, and where it alone is sold the wait counts.
func TestSpotThatGoesOftenIsKeptWhereTheNextZoneSells(t *testing.T) {
	p := drawProblem(2, shape{jobs: 1, spot: true})
	v100 := p.Offers[0]
	for _, o := range p.Offers {
		if o.Offering.Market == provider.OnDemand && o.Type.Accelerator == "V100" && o.Type.Count == 1 {
			v100 = o
		}
	}
	at := func(zone string, m provider.Market) planner.Offer {
		x := v100
		x.Offering.Zone, x.Offering.Market = zone, m
		x.Cap, x.Rate = -1, 3*pricing.DollarPerHour
		if m == provider.Spot {
			x.Rate = pricing.DollarPerHour
			x.Hazard = pricing.Hazard{PoolPerHour: 1, Down: 2 * time.Hour}
			x.Notice = 2 * time.Minute
		}
		x.Booked = x.Rate
		return x
	}
	j := *p.Jobs[0].Job
	j.Resources.Accelerators, j.Resources.Replicas.Set, j.ValueOfTime = []string{"V100"}, []int{1}, pricing.DollarPerHour
	for _, tt := range []struct {
		name   string
		offers []planner.Offer
		wait   float64 // h
	}{
		{"two pools and on demand", []planner.Offer{at("a", provider.Spot), at("b", provider.Spot), at("a", provider.OnDemand)}, 0},
		{"one pool", []planner.Offer{at("a", provider.Spot)}, 2},
	} {
		q := planner.Problem{Now: p.Now, Jobs: []planner.JobState{{Job: &j}}, Offers: tt.offers}
		r := explain(t, q)
		if a := r.Plan.Allocations; len(a) != 1 || a[0].Offering.Market != provider.Spot {
			t.Errorf("%s: got %+v, want spot", tt.name, a)
		}
		col := &r.full[0].Columns[r.know[0].best]
		if col.Down != tt.wait {
			t.Errorf("%s: waits %g h after a loss, want %g", tt.name, col.Down, tt.wait)
		}
		if k := (1 + 1*(1+1*tt.wait)) / (col.Speed.Goodput * col.Useful); math.Abs(r.know[0].kappa-k) > 1e-12*k {
			t.Errorf("%s: kappa %g, by the formula %g", tt.name, r.know[0].kappa, k)
		}
	}
}
