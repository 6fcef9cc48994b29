package highs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// scaled is a curve that loses a tenth of its speed with each doubling.
type scaled struct {
	perHour map[string]float64
	sizes   []int
}

func (c scaled) Speed(accelerator string, nodes, replicas int) (planner.Speed, bool) {
	g, ok := c.perHour[accelerator]
	g *= float64(replicas) * math.Pow(0.9, math.Log2(float64(replicas)))
	if nodes > 1 {
		g *= 0.9
	}
	return planner.Speed{Goodput: g}, ok
}

// drawJoint draws a hundred jobs on sixty offers: four accelerators, machines of 1 to
// 8 of them, in several zones, on demand and spot; with a quota, a supply or a cap in
// some. All sizes are powers of two, so that what fits in number fits in place.
func drawJoint(r *rand.Rand, capped bool) planner.Problem {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	p := planner.Problem{Now: now}
	names := []string{"K80", "P100", "V100", "A100"}
	base := []float64{0.5, 1.2, 2.5, 4}
	for zone := 0; len(p.Offers) < 60; zone++ {
		for k, name := range names {
			for _, count := range []int{1, 2, 4, 8} {
				market, rate := provider.OnDemand, base[k]*float64(count)*(0.95+0.1*r.Float64())
				o := planner.Offer{Boot: 3 * time.Minute, Cap: -1}
				if zone%2 == 1 {
					market = provider.Spot
					rate *= 0.3 + 0.3*r.Float64()
					o.Hazard = pricing.Hazard{PoolPerHour: 0.4 * r.Float64(), OnePerHour: 0.01, Down: time.Hour}
					o.Notice = 2 * time.Minute
				}
				if r.IntN(3) == 0 {
					o.Cap = 1 + r.IntN(6)
				}
				o.Type = provider.InstanceType{Cloud: "aws", Name: fmt.Sprintf("%s-%d", name, count), Accelerator: name, Kind: provider.GPU, Count: count, AcceleratorMemGiB: 16, VCPU: 8 * count, MemGiB: 60 * float64(count), Hosts: 1, QuotaFamily: "P", Interconnect: "efa"}
				o.Offering = provider.Offering{Cloud: "aws", Region: "r", Zone: fmt.Sprintf("r-%d", zone), Type: o.Type.Name, Market: market}
				o.Rate = pricing.RateOf(rate)
				o.Booked = o.Rate
				if len(p.Offers) < 60 {
					p.Offers = append(p.Offers, o)
				}
			}
		}
	}
	for i := range 100 {
		size := 1 << r.IntN(4)
		speed := 1000 * (0.5 + r.Float64())
		curve := scaled{perHour: map[string]float64{}}
		for k, name := range names {
			curve.perHour[name] = speed * []float64{1, 2.2, 4, 7}[k] * (0.6 + 0.8*r.Float64())
		}
		p.Jobs = append(p.Jobs, planner.JobState{Job: &planner.Job{
			ID: planner.JobID(fmt.Sprintf("j%02d", i)), Submitted: now.Add(-time.Duration(r.IntN(60)) * time.Minute),
			Work:       planner.Work{Samples: speed * (20 + 200*r.Float64()), Kind: planner.WorkExact},
			Resources:  planner.Resources{Replicas: planner.Replicas{Set: []int{size, 2 * size}}},
			Checkpoint: planner.Checkpoint{Save: 10 * time.Second, Restore: 40 * time.Second},
			Curve:      curve,
		}})
	}
	p.Quotas = []planner.QuotaLeft{{Class: provider.QuotaClass{Cloud: "aws", Region: "r", Family: "P", Market: provider.OnDemand}, Unit: provider.VCPUs, Left: 64 + r.IntN(400)}}
	if capped {
		p.BurnCap = pricing.RateOf(40 + 100*r.Float64())
	}
	return p
}

// joint writes the joint program down: a share of each column, whole, and whole
// machines of each offer.
func joint(p *planner.Problem, pr *planner.Program, gap float64) *Program {
	lp := &Program{Sense: -1, Gap: gap}
	room := make([]int32, len(p.Offers))
	for o := range p.Offers {
		room[o] = lp.Row(-inf, 0)
	}
	burn, quota := lp.Row(-inf, inf), lp.Row(-inf, float64(p.Quotas[0].Left))
	if p.BurnCap > 0 {
		lp.RowUpper[burn] = p.BurnCap.Dollars()
	}
	for i := range pr.Jobs {
		row := lp.Row(-inf, 1)
		for c := range pr.Jobs[i].Columns {
			col := &pr.Jobs[i].Columns[c]
			x := lp.Column(col.Bought, []int32{row, room[col.Offer]}, []float64{1, float64(col.Replicas())})
			lp.Upper[x] = 1
		}
	}
	for o := range p.Offers {
		offer := &p.Offers[o]
		rows, values := []int32{room[o], burn}, []float64{-float64(offer.Type.Count), offer.Rate.Dollars()}
		if offer.Offering.Market == provider.OnDemand {
			rows, values = append(rows, quota), append(values, float64(offer.Type.VCPU))
		}
		z := lp.Column(-offer.Rate.Dollars(), rows, values)
		if offer.Cap >= 0 {
			lp.Upper[z] = float64(offer.Cap)
		}
	}
	for range lp.Cost {
		lp.Whole = append(lp.Whole, true)
	}
	return lp
}

// TestJointPlansComeNearHiGHS: a hundred jobs on sixty offers, within 1 % of what the
// plan decides on, of an independent solver's optimum, and bounds that hold.
func TestJointPlansComeNearHiGHS(t *testing.T) {
	const hundredth = 0.01
	r := rand.New(rand.NewPCG(*seed, 8))
	worst := 0.0
	for i := range 4 {
		p := drawJoint(r, i%2 == 1)
		pr, scale, err := policy.Program(&p, policy.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		want := solver.Solve(joint(&p, pr, 5e-3))
		if want.Status != Optimal {
			t.Fatalf("instance %d: HiGHS ends with %d", i, want.Status)
		}
		pr.Prune()
		got := planner.Solve(pr, scale, planner.Limits{})
		gap := (want.Objective - got.Value) / scale
		worst = max(worst, gap)
		t.Logf("cap %s: plan %.3f, bound %.3f (%s), HiGHS %.3f: short by %.3f %%", p.BurnCap, got.Value, got.Bound.Value, got.Bound.Kind, want.Objective, 100*gap)
		if gap > hundredth {
			t.Errorf("instance %d: value %.4f, HiGHS %.4f: short by %.2f %% of what is decided on", i, got.Value, want.Objective, 100*gap)
		}
		if got.Bound.Value < want.Objective-1e-6*scale {
			t.Errorf("instance %d: bound %.6f below a plan of %.6f", i, got.Bound.Value, want.Objective)
		}
	}
	t.Logf("worst %.3f %%", 100*worst)
}

// TestPlansUnderTightCapsComeNearHiGHS: as before, under caps that leave most jobs waiting,
// within 1 % of the worth of the solver's plan: far less than what the plan decides on,
// which counts the jobs that wait too.
func TestPlansUnderTightCapsComeNearHiGHS(t *testing.T) {
	const hundredth, solved = 0.01, 2e-3
	r := rand.New(rand.NewPCG(*seed, 9))
	for _, limit := range []pricing.Rate{15 * pricing.DollarPerHour, 40 * pricing.DollarPerHour, 80 * pricing.DollarPerHour, 120 * pricing.DollarPerHour} {
		p := drawJoint(r, false)
		p.BurnCap = limit
		pr, scale, err := policy.Program(&p, policy.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		want := solver.Solve(joint(&p, pr, solved))
		if want.Status != Optimal {
			t.Fatalf("cap %s: HiGHS ends with %d", limit, want.Status)
		}
		pr.Prune()
		got := planner.Solve(pr, scale, planner.Limits{})
		short := (want.Objective - got.Value) / want.Objective
		t.Logf("cap %s: plan %.3f, bound %.3f (%s), HiGHS %.3f: short by %.3f %%", limit, got.Value, got.Bound.Value, got.Bound.Kind, want.Objective, 100*short)
		if short > hundredth {
			t.Errorf("cap %s: value %.4f, HiGHS %.4f: short by %.2f %% of it", limit, got.Value, want.Objective, 100*short)
		}
		if got.Bound.Value < want.Objective*(1-1e-9) {
			t.Errorf("cap %s: bound %.6f below a plan of %.6f", limit, got.Bound.Value, want.Objective)
		}
	}
}
