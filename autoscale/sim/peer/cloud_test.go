package peer

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
	"github.com/goodfleet/goodfleet/provider/fake"
)

// sold is an offering of machines with so many accelerators for so many dollars an hour.
type sold struct {
	typ    string
	market provider.Market
	usd    int64
}

func (s sold) offering() provider.Offering {
	return provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: s.typ, Market: s.market}
}

// bought simulates jobs on machines that are bought, of which none is ever lost or short,
// and returns what each job took, s, and what all cost, USD.
func bought(t *testing.T, plan autoscale.PlanFunc, of []sold, jobs ...*planner.Job) (took []float64, usd float64) {
	t.Helper()
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	var quotes []pricing.Quote
	s := sim.Setting{
		Variant: "bought", Start: start, Catalogue: catalogue, Jobs: jobs, Plan: plan, Check: true,
		Loop: autoscale.Settings{Round: time.Minute, Hold: time.Second, SkipUnchanged: true, Book: 24 * time.Hour, MaxMoves: 1000},
		Climate: func(string) (fake.Climate, error) {
			c := sim.Still()
			c.Depth = func(provider.InstanceType) fake.Depth { return fake.Depth{Median: 100} }
			return c, nil
		},
	}
	for _, x := range of {
		quotes = append(quotes, pricing.Quote{Offering: x.offering(), Rate: pricing.DollarPerHour * pricing.Rate(x.usd), At: start.Add(-time.Hour), Source: "test"})
		s.Offerings = append(s.Offerings, x.offering())
	}
	if s.Prices, err = pricing.NewHistory(quotes, nil); err != nil {
		t.Fatal(err)
	}
	out, err := sim.Simulate(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	took = make([]float64, len(jobs))
	for i, j := range jobs {
		for _, o := range out.JobOutcomes {
			if o.Job == j.ID {
				took[i] = math.Round(o.JCTHours * 3600)
			}
		}
	}
	return took, math.Round(out.Cost.Dollars()*100) / 100
}

var (
	oneV100  = sold{"p3.2xlarge", provider.Spot, 3}
	fourV100 = sold{"p3.8xlarge", provider.Spot, 8}
	oneK80   = sold{"p2.xlarge", provider.Spot, 1}
)

const hourSec = 3600.

// near reports whether times are what they should be, but for two rounds of a minute, in
// which a machine comes up.
func near(took, want []float64) bool {
	return slices.EqualFunc(took, want, func(a, b float64) bool { return math.Abs(a-b) <= 120 })
}

// A fixed cluster is paid for from the first job to the last, and who comes later waits.
func TestFixedIsPaidForWhileItStandsIdle(t *testing.T) {
	fixed := func(n int) autoscale.PlanFunc {
		return Fixed{Fleet{"V100", provider.Spot}, n}.Plan
	}
	jobs := func() []*planner.Job {
		return []*planner.Job{job("a", 0, hourSec, 1), job("b", 0, hourSec, 1), job("c", 3*hourSec, hourSec, 1)}
	}
	for name, tt := range map[string]struct {
		accelerators int
		took         []float64
		usd          float64
	}{
		"one after the other":    {1, []float64{hourSec, 2 * hourSec, hourSec}, 4 * 3},
		"two side by side":       {2, []float64{hourSec, hourSec, hourSec}, 4 * 2 * 3},
		"one more than ever run": {3, []float64{hourSec, hourSec, hourSec}, 4 * 3 * 3},
	} {
		took, usd := bought(t, fixed(tt.accelerators), []sold{oneV100, oneK80}, jobs()...)
		if !near(took, tt.took) || math.Abs(usd/tt.usd-1) > 0.03 {
			t.Errorf("%s: took %v for %g USD, want %v for %g", name, took, usd, tt.took, tt.usd)
		}
	}
}

// Machines that are idle are given back for one that a gang fits on.
func TestFixedMakesRoomForAGang(t *testing.T) {
	took, _ := bought(t, Fixed{Fleet{"V100", provider.Spot}, 4}.Plan, []sold{oneV100, fourV100},
		job("a", 0, hourSec, 1), job("gang", 600, hourSec, 4), job("b", 700, hourSec, 1))
	// The gang needs all four and waits for a; b goes before it, so it waits for b too.
	if want := []float64{hourSec, 700 - 600 + 2*hourSec, hourSec}; !near(took, want) {
		t.Errorf("took %v, want about %v", took, want)
	}
}

// The backlog of three hours is to be done in as many hours as the rule says.
func TestBacklogHasWhatTheWorkNeeds(t *testing.T) {
	for name, tt := range map[string]struct {
		hours float64
		took  []float64
	}{
		"at once":        {0.1, []float64{hourSec, hourSec, hourSec}},
		"three after":    {3, []float64{hourSec, 2 * hourSec, 3 * hourSec}},
		"two, then less": {2, []float64{hourSec, hourSec, 2 * hourSec}},
	} {
		took, usd := bought(t, Backlog{Fleet{"V100", provider.Spot}, tt.hours}.Plan, []sold{oneV100, fourV100},
			job("a", 0, hourSec, 1), job("b", 0, hourSec, 1), job("c", 0, hourSec, 1))
		if !near(took, tt.took) || math.Abs(usd/9-1) > 0.05 {
			t.Errorf("%s: took %v for %g USD, want %v for 9", name, took, usd, tt.took)
		}
	}
}

// A V100 does twice the work of a K80 for three times the money: the power of the speed
// decides, and only the market that is asked counts.
func TestGreedyWeighsSpeedByItsPower(t *testing.T) {
	demand := sold{"p3.2xlarge", provider.OnDemand, 10}
	for name, tt := range map[string]struct {
		rule Greedy
		took float64
		usd  float64
	}{
		"cheapest by the hour": {Greedy{provider.Spot, 0}, 2 * hourSec, 2},
		"cheapest by work":     {Greedy{provider.Spot, 1}, 2 * hourSec, 2},
		"cost and time":        {Greedy{provider.Spot, 2}, hourSec, 3},
		"on demand":            {Greedy{provider.OnDemand, 0}, hourSec, 10},
	} {
		took, usd := bought(t, tt.rule.Plan, []sold{oneV100, oneK80, demand}, job("a", 0, hourSec, 1))
		if !near(took, []float64{tt.took}) || math.Abs(usd/tt.usd-1) > 0.03 {
			t.Errorf("%s: took %v for %g USD, want %g for %g", name, took, usd, tt.took, tt.usd)
		}
	}
}

// What a job has left is taken by the next one, and what nobody is on ends.
func TestGreedyTakesWhatStandsIdle(t *testing.T) {
	p := planner.Problem{Now: start.Add(time.Hour), Round: time.Minute}
	v100 := provider.InstanceType{Cloud: "aws", Name: "p3.2xlarge", Accelerator: "V100", Kind: provider.GPU, Count: 1, VCPU: 8, MemGiB: 61}
	o := planner.Offer{Offering: oneV100.offering(), Type: v100, Rate: 3 * pricing.DollarPerHour, Cap: -1}
	p.Offers = []planner.Offer{o}
	for _, id := range []provider.InstanceID{"m", "n"} {
		p.Machines = append(p.Machines, planner.Machine{ID: id, Offering: o.Offering})
	}
	p.Jobs = []planner.JobState{{Job: job("a", 0, hourSec, 1)}}
	plan, err := Greedy{provider.Spot, 1}.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Machines) != 1 || plan.Machines[0].Instance != "m" || len(plan.Releases) != 1 || plan.Releases[0].Instance != "n" {
		t.Errorf("%+v", plan)
	}
	p.Machines, p.Offers[0].Blocked = nil, "short"
	if plan, err = (Greedy{provider.Spot, 1}).Plan(p); err != nil || len(plan.Waits) != 1 || !plan.NextDecision.After(p.Now) {
		t.Errorf("%+v, %v: want the job to wait and to be looked at again", plan, err)
	}
}
