package policy

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
)

// TestRoomyPlansStayWithMoreRoom makes a plan, and where it says that it had room enough,
// another with a hundred times the cap, the quotas and the supplies: it is the same.
func TestRoomyPlansStayWithMoreRoom(t *testing.T) {
	shapes := []shape{
		{jobs: 3, capped: true}, {jobs: 3, quota: true}, {jobs: 2, shortage: true, smallJobs: true}, {jobs: 4, running: true, capped: true, smallJobs: true},
		{jobs: 3, machines: true, running: true, capped: true, quota: true, spot: true},
	}
	roomy, tight := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(rapid.Uint64().Draw(t, "seed"), rapid.SampledFrom(shapes).Draw(t, "shape"))
		factor := rapid.SampledFrom([]float64{1, 3, 20}).Draw(t, "room")
		widen(&p, factor)
		got, err := Value(p, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if !got.Roomy {
			tight++
			return
		}
		roomy++
		widen(&p, 100)
		want, err := Value(p, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		const near = 1e-9 // rows of the relaxation are scaled by their room
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(near, near)); diff != "" {
			t.Errorf("a plan that had room enough is another with more (-more, +given):\n%s", diff)
		}
	})
	if roomy == 0 || tight == 0 {
		t.Errorf("%d plans had room enough and %d had not, want some of each", roomy, tight)
	}
}

// widen gives a problem so many times its room.
func widen(p *planner.Problem, factor float64) {
	p.BurnCap = pricing.Rate(float64(p.BurnCap) * factor)
	p.Quotas = append([]planner.QuotaLeft(nil), p.Quotas...)
	for i := range p.Quotas {
		p.Quotas[i].Left = int(math.Ceil(float64(p.Quotas[i].Left) * factor))
	}
	p.Offers = append([]planner.Offer(nil), p.Offers...)
	for i := range p.Offers {
		if o := &p.Offers[i]; o.Cap > 0 {
			o.Cap = int(math.Ceil(float64(o.Cap) * factor))
		}
	}
}

// TestPlansWithJobsThatWaitAreNotRoomy: a job that waits may start with more room.
func TestPlansWithJobsThatWaitAreNotRoomy(t *testing.T) {
	p := drawProblem(3, shape{jobs: 2, smallJobs: true})
	for _, tt := range []struct {
		name string
		cap  pricing.Rate
		want bool
	}{{"no cap", 0, true}, {"a cap that nobody feels", 1000 * pricing.DollarPerHour, true}, {"a cap that admits nothing", pricing.DollarPerHour / 10, false}} {
		t.Run(tt.name, func(t *testing.T) {
			p.BurnCap, p.Now = tt.cap, start.Add(time.Minute)
			plan, err := Value(p, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if plan.Roomy != tt.want {
				t.Errorf("roomy is %v with %d jobs waiting, want %v", plan.Roomy, len(plan.Waits), tt.want)
			}
		})
	}
}
