package policy

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
)

// programOf is the program that Value solves, with its scale.
func programOf(t testing.TB, p *planner.Problem) (*planner.Program, float64) {
	t.Helper()
	pr, err := planner.NewProgram(p, planner.DefaultTransfer())
	if err != nil {
		t.Fatal(err)
	}
	scale := 0.0
	for i := range pr.Jobs {
		d := &pr.Jobs[i]
		w := appraise(p, d, nil)
		setWorth(p, d, &w)
		scale += w.v + d.Columns[w.best].Alone
	}
	return pr, scale
}

// TestSearchAgainstEnumeration holds the search against every point of small
// programs: never better than the best, never above the bound, and the best in
// nearly all of them.
func TestSearchAgainstEnumeration(t *testing.T) {
	shapes := map[string]shape{
		"free":            {jobs: 3, spot: true},
		"shared machines": {jobs: 4, smallJobs: true},
		"capped":          {jobs: 4, capped: true},
		"quota":           {jobs: 4, quota: true},
		"held machines":   {jobs: 3, machines: true, spot: true},
		"all rows":        {jobs: 4, machines: true, capped: true, quota: true},
	}
	const each = 60
	for name, sh := range shapes {
		t.Run(name, func(t *testing.T) {
			missed, loss := 0, 0.0
			for seed := range uint64(each) {
				p := drawProblem(seed, sh)
				pr, scale := programOf(t, &p)
				sol := planner.Solve(pr, scale, planner.Limits{Kicks: 240})
				want := enumerate(&p, pr)
				if sol.Value > want+1e-9*scale {
					t.Fatalf("seed %d: value %.9f above the best point %.9f", seed, sol.Value, want)
				}
				if sol.Bound.Value < want-1e-9*scale {
					t.Fatalf("seed %d: bound %.9f below the best point %.9f", seed, sol.Bound.Value, want)
				}
				if gap := (want - sol.Value) / scale; gap > planner.Hysteresis+1e-9 {
					missed++
					loss = max(loss, gap)
				}
			}
			t.Logf("missed %d of %d, worst loss %.2f %% of what was decided on", missed, each, 100*loss)
			if missed > each/20 || loss > 0.15 {
				t.Errorf("missed %d of %d, worst loss %.2f %%", missed, each, 100*loss)
			}
		})
	}
}

// TestAloneEachJobGetsItsOwnArgmax checks the choice of one job, uncapped, by the
// definition: the least money and time for a unit of work among all configs.
func TestAloneEachJobGetsItsOwnArgmax(t *testing.T) {
	for seed := range uint64(300) {
		p := drawProblem(seed, shape{jobs: 1, spot: true})
		// Equal boots and no restart leave only the cost of work to choose by.
		for i := range p.Offers {
			p.Offers[i].Boot = 0
		}
		p.Jobs[0].Job.Checkpoint.Restore = 0
		pr, _ := programOf(t, &p)
		d := &pr.Jobs[0]
		w := appraise(&p, d, nil)
		least, at := math.Inf(1), -1
		for c := range d.Columns {
			col := &d.Columns[c]
			rate := p.Offers[col.Offer].Rate.Dollars() * float64(col.Nodes)
			hazard := p.Offers[col.Offer].Hazard
			lossPerHour := hazard.PoolPerHour + float64(col.Nodes)*hazard.OnePerHour
			wait := hazard.Down.Hours()
			for x := range d.Columns {
				if d.Columns[x].Offer != col.Offer {
					wait = 0 // another is sold: after a loss it runs there
				}
			}
			if k := (rate + w.v*(1+lossPerHour*wait)) / (col.Speed.Goodput * col.Useful); k < least {
				least, at = k, c
			}
		}
		plan, err := Value(p, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Allocations) != 1 {
			t.Fatalf("seed %d: the job waits: %+v", seed, plan.Waits)
		}
		got, want := plan.Allocations[0], &d.Columns[at]
		if got.Offering != p.Offers[want.Offer].Offering || got.Config.Replicas != want.Replicas() {
			t.Errorf("seed %d: got %v, want %v × %d", seed, got.Config, p.Offers[want.Offer].Offering, want.Nodes)
		}
		if math.Abs(plan.Value-w.v-w.bonus) > 1e-6 {
			t.Errorf("seed %d: surplus %.6f, want the value of time %.6f", seed, plan.Value, w.v+w.bonus)
		}
	}
}

// TestPlansSayWhatIsLateAndWhatMovingCosts: a job that cannot meet its deadline is
// told so, and the cost of bringing its data is in its cost.
func TestPlansSayWhatIsLateAndWhatMovingCosts(t *testing.T) {
	p := drawProblem(5, shape{jobs: 1})
	j := p.Jobs[0].Job
	plain, err := Value(p, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	a := plain.Allocations[0]
	j.Deadline = a.Finish.Add(-90 * time.Minute)
	j.Data = planner.Data{Cloud: "other", Region: "far", Size: planner.Size{GiB: 100, Known: true}}
	moved, err := Value(p, Settings{Transfer: planner.Transfer{BetweenClouds: map[string]float64{"other": 0.05}, GiBPerSec: 100}})
	if err != nil {
		t.Fatal(err)
	}
	b := moved.Allocations[0]
	if a.Config != b.Config {
		t.Fatalf("moved to %v from %v: the cost of data is the same everywhere", b.Config, a.Config)
	}
	if got, want := (b.Cost - a.Cost).Dollars(), 5.0; math.Abs(got-want) > 0.01 {
		t.Errorf("moving 100 GiB at 0.05 USD adds %.4f USD, want %.2f", got, want)
	}
	if !strings.Contains(b.Reason, "the fastest is 1h30m0s after it") {
		t.Errorf("reason %q does not say how late", b.Reason)
	}
	if strings.Contains(a.Reason, "late") {
		t.Errorf("reason %q: there is no deadline", a.Reason)
	}
}
