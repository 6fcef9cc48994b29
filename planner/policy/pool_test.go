package policy

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// tryout is a choice between a cheap spot pool of which the losses are only believed and
// another of which they are known to be none.
type tryout struct {
	shape, mean float64 // of the law of the cheap one's losses per hour
	cheap, safe float64 // USD/h
	v           float64 // USD/h
	work        float64 // h
	start       float64 // h from launch to work
}

// played is what the job costs in money and time when it begins in the cheap pool, and
// goes to the safe one with the first loss; each loss is announced, so that no work goes.
func (x *tryout) played(r *rand.Rand, lives int) float64 {
	law := distuv.Gamma{Alpha: x.shape, Beta: x.shape / x.mean, Src: r}
	sum := 0.0
	for range lives {
		up := r.ExpFloat64() / law.Rand()
		if up >= x.start+x.work {
			sum += (x.cheap + x.v) * (x.start + x.work)
			continue
		}
		left := x.work - max(0, up-x.start)
		sum += (x.cheap+x.v)*up + (x.safe+x.v)*(x.start+left)
	}
	return sum / float64(lives)
}

// TestACheapPoolIsTriedWhereThatPays plays both ways of the choice, and holds the plan
// against what came out cheaper in money and time. With the mean of what is believed as
// the rate of losses, a long job would be kept from pools that it had better try.
func TestACheapPoolIsTriedWhereThatPays(t *testing.T) {
	p := drawProblem(2, shape{jobs: 1, spot: true})
	var v100 planner.Offer
	for _, o := range p.Offers {
		if o.Offering.Market == provider.Spot && o.Type.Accelerator == "V100" && o.Type.Count == 1 {
			v100 = o
		}
	}
	j := *p.Jobs[0].Job
	j.Resources.Accelerators, j.Resources.Replicas.Set = []string{"V100"}, []int{1}
	j.Checkpoint.Save = 0
	speed, ok := j.Curve.Speed("V100", 1, 1)
	if !ok {
		t.Fatal("the job has no speed on a V100")
	}
	r := rand.New(rand.NewPCG(11, 0x74_72_69_65_73))
	tries, keeps, byMean := 0, 0, 0
	for range 60 {
		x := tryout{
			shape: 0.5 + r.Float64(), mean: 0.3 + r.Float64(), cheap: 1, safe: 1 + 0.3*r.Float64(),
			v: math.Exp(r.NormFloat64()), work: 0.5 + 15*r.Float64(), start: 0.05 + 0.2*r.Float64(),
		}
		try, keep := x.played(r, 20_000), (x.safe+x.v)*(x.start+x.work)
		if math.Abs(try/keep-1) < 0.01 {
			continue // as good as equal, and terms of second order decide
		}
		at := func(zone string, rate, perHour, shape float64) planner.Offer {
			o := v100
			o.Offering.Zone, o.Cap, o.Rate = zone, -1, pricing.RateOf(rate)
			o.Booked, o.Notice = o.Rate, 2*time.Minute
			o.Boot = time.Duration(x.start*float64(time.Hour)) - j.Checkpoint.Restore
			o.Hazard = pricing.Hazard{PoolPerHour: perHour, Shape: shape, Rate: shape / x.mean, Down: 2 * time.Hour}
			return o
		}
		job := j
		job.ValueOfTime = pricing.RateOf(x.v)
		job.Work = planner.Work{Samples: speed.Goodput * x.work, Kind: planner.WorkExact}
		first := func(shape float64) string {
			q := planner.Problem{Now: p.Now, Jobs: []planner.JobState{{Job: &job}}, Offers: []planner.Offer{at("cheap", x.cheap, x.mean, shape), at("safe", x.safe, 0, 0)}}
			return explain(t, q).Plan.Allocations[0].Offering.Zone
		}
		want := "cheap"
		if keep < try {
			want = "safe"
			keeps++
		} else {
			tries++
		}
		if got := first(x.shape); got != want {
			t.Errorf("%+v: it begins in the %s pool; played, the cheap one costs %.3f of the safe one's", x, got, try/keep)
		}
		if first(0) != want {
			byMean++
		}
	}
	if tries < 10 || keeps < 3 || byMean < 5 {
		t.Errorf("%d draws where the cheap pool pays, %d where it does not, %d decided otherwise by the mean: they see one side only", tries, keeps, byMean)
	}
}
