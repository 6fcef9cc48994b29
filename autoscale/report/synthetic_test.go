package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

var from = time.Date(2023, 3, 1, 0, 0, 0, 0, time.UTC)

// markup is what a careless page would run.
const markup = `<b>x</b>"&'`

// synthetic is an outcome made up for a test: 40 jobs over a week whose money
// adds up, scaled by a factor of cost and of time.
func synthetic(variant string, scale float64, usesSpot bool, costly, slow float64) sim.Outcome {
	rng := rand.New(rand.NewPCG(7, uint64(len(variant))))
	const steps = 168
	o := sim.Outcome{
		Variant: variant, HazardScale: scale, UsesSpot: usesSpot, Seed: 1, From: from, To: from.Add(steps * time.Hour),
		BurnCap: 40 * pricing.DollarPerHour, Reference: "V100", Jobs: 40, Rounds: 10_080,
		Launches: 120, FailedLaunches: 14, Interruptions: int(23 * scale), JobLosses: 17, Restarts: 31,
		MakespanHours: 160 * slow, PeakBurn: 38.2, AvgQueueHours: 0.4 * slow,
	}
	if !usesSpot {
		o.Interruptions = 0
	}
	kinds := []struct {
		cloud, name string
		market      provider.Market
	}{
		{"aws", "p3.2xlarge", provider.OnDemand}, {"aws", "p3.2xlarge", provider.Spot}, {"aws", "p2.xlarge", provider.Spot},
		{"aws", "p3.8xlarge", provider.Spot}, {"gcp", "n1-standard-8+p100x1", provider.Spot}, {"gcp", "n1-standard-8+v100x1", provider.OnDemand},
	}
	o.Series = sim.Series{StepSeconds: 3600, Cost: make([]pricing.Money, steps), Running: make([]float64, steps), Waiting: make([]float64, steps)}
	for k, kind := range kinds {
		if kind.market == provider.Spot && !usesSpot {
			continue
		}
		held := make([]float64, steps)
		for i := range held {
			wave := 4 + 3*math.Sin(float64(i)/24*2*math.Pi+float64(k)) + rng.Float64()*2
			held[i] = math.Max(0, math.Round(wave))
			o.Series.Cost[i] += pricing.Money(float64(pricing.Dollar) * held[i] * (0.6 + 0.3*float64(k)) * costly / 2)
			o.Series.Running[i] += held[i] / 2
		}
		o.Series.Fleet = append(o.Series.Fleet, sim.FleetSeries{Cloud: kind.cloud, Type: kind.name, Market: kind.market, Accelerators: held})
	}
	for i := range o.Series.Cost {
		o.Series.Waiting[i] = math.Max(0, math.Round(3*math.Sin(float64(i)/30)+rng.Float64()))
		o.Cost += o.Series.Cost[i]
	}
	left := o.Cost
	part := func(list *[]sim.Sum, key string, amount pricing.Money) {
		*list = append(*list, sim.Sum{Key: key, Amount: amount, AcceleratorHours: amount.Dollars() / 1.3})
	}
	for _, p := range []struct {
		key   string
		share float64
	}{{"idle", 0.031}, {"boot", 0.022}, {"waste", 0.047}} {
		amount := pricing.Money(float64(o.Cost) * p.share)
		part(&o.ByAccount, p.key, amount)
		left -= amount
	}
	part(&o.ByAccount, "job", left)
	o.IdleShare, o.BootShare, o.WasteShare = 0.031, 0.022, 0.047
	third := o.Cost / 3
	part(&o.ByTeam, "Vision", third+third/3)
	part(&o.ByTeam, "speech & <b>text</b>", third-third/5)
	part(&o.ByTeam, "recommendation", third-third/3)
	part(&o.ByTeam, "", o.Cost-(third+third/3)-(third-third/5)-(third-third/3))
	if usesSpot {
		o.SpotPaid, o.SpotSaving, o.SpotHours = o.Cost/2, o.Cost, 900
		o.Prices = []sim.PriceSeries{syntheticPrices(rng)}
	}
	sum := pricing.Money(0)
	var all []float64
	for i := range o.Jobs {
		jct := math.Exp(rng.NormFloat64()*1.2+1) * slow
		ended := from.Add(time.Duration(float64(i*4)*float64(time.Hour)) + time.Duration(jct*float64(time.Hour)))
		j := sim.JobOutcome{
			Job: planner.JobID(fmt.Sprintf("job-%03d", i)), Team: "Vision", Family: "ResNet-50", Submitted: from.Add(time.Duration(i*4) * time.Hour),
			Ended: &ended, Phase: "done", Done: true, JCTHours: jct, ReferenceHours: 3 * jct, Cost: o.Cost / 50 / pricing.Money(1+i%7),
		}
		if i == 0 {
			j.Job, j.Cost = markup, o.Cost/10
		}
		o.JobOutcomes = append(o.JobOutcomes, j)
		sum += j.Cost
		all = append(all, jct)
		o.AvgJCTHours += jct / float64(o.Jobs)
		o.ReferenceHours += j.ReferenceHours / slow
	}
	slices.Sort(all)
	o.P50JCTHours, o.P95JCTHours, o.MaxJCTHours = all[20], all[37], all[39]
	o.ReferencePerDollar = o.ReferenceHours / o.Cost.Dollars()
	return o
}

func syntheticPrices(rng *rand.Rand) sim.PriceSeries {
	list := 3060 * pricing.DollarPerHour / 1000
	s := sim.PriceSeries{
		Offering: provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az2", Type: "p3.2xlarge", Market: provider.Spot}, List: &list,
	}
	rate := 0.95
	for at := from; at.Before(from.Add(168 * time.Hour)); at = at.Add(time.Duration(2+rng.IntN(9)) * time.Hour) {
		rate = math.Max(0.918, rate*math.Exp(rng.NormFloat64()*0.05))
		s.Prices = append(s.Prices, sim.PricePoint{At: at, Rate: pricing.RateOf(rate)})
	}
	for i := range 9 {
		begin := from.Add(time.Duration(i*17) * time.Hour)
		s.Held = append(s.Held, sim.Stretch{From: begin, To: begin.Add(time.Duration(4+rng.IntN(12)) * time.Hour), Interrupted: i%3 == 0})
	}
	return s
}

// syntheticWeek is a whole comparison: the subject and three baselines.
func syntheticWeek() []sim.Outcome {
	list := []sim.Outcome{}
	for _, scale := range []float64{1.0 / 3, 1, 3} {
		list = append(list, synthetic("goodfleet", scale, true, 1+0.05*scale, 1+0.1*scale))
	}
	list = append(list, synthetic("all on-demand, cheapest type", 1, false, 3, 0.9))
	for _, scale := range []float64{1.0 / 3, 1, 3} {
		list = append(list, synthetic("cheapest accelerator-hour", scale, true, 1.3+0.05*scale, 2.5+0.3*scale))
	}
	return append(list, synthetic("on-demand, goodfleet's choice", 1, false, 2.4, 0.95))
}
