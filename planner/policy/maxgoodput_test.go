package policy

import (
	"errors"
	"math"
	"testing"

	"github.com/goodfleet/goodfleet/planner"
)

// phiOf is the switching factor by its definition: 1 − S/min(T + S, max(600 s, 6·S,
// stay)), stay being how long the job has been on this offering, in doublings from 600 s; on
// spot for no longer than a machine lives there.
func phiOf(p *planner.Problem, s *planner.JobState, c *planner.Column, restart float64) float64 {
	stay := 600.0 / 3600
	if s.Running != nil && s.Running.Offering == p.Offers[c.Offer].Offering {
		for age := p.Now.Sub(s.Running.Since).Hours(); 2*stay <= age; {
			stay *= 2
		}
	}
	life := math.Min(s.Job.Work.Samples/(c.Speed.Goodput*c.Useful)*(1+c.Loss*c.Behind)+restart, math.Max(stay, 6*restart))
	if c.Loss > 0 {
		life = math.Min(life, 1/c.Loss)
	}
	return math.Max(0, 1-restart/math.Max(life, 1.0/3600))
}

func TestMaxGoodputIsTheMostOfEveryPoint(t *testing.T) {
	shapes := []struct {
		name string
		shape
	}{
		{"free", shape{jobs: 4, capped: true, spot: true}},
		{"shared", shape{jobs: 4, capped: true, smallJobs: true}},
		{"shortage and quota", shape{jobs: 4, capped: true, shortage: true, quota: true}},
		{"switching", shape{jobs: 3, capped: true, machines: true, running: true}},
		{"owned", shape{jobs: 4, capped: true, owned: true, smallJobs: true}},
	}
	for _, sh := range shapes {
		t.Run(sh.name, func(t *testing.T) {
			waits := 0
			for seed := range uint64(25) {
				p := drawProblem(7000+seed, sh.shape)
				for i := range p.Jobs {
					p.Jobs[i].Job.Weight = 1 + float64((seed+uint64(i))%3)
				}
				plan, err := MaxGoodput(p, Settings{Limits: planner.Limits{Any: true, Nodes: 1 << 20}})
				if err != nil {
					t.Fatal(err)
				}
				pr, err := planner.NewProgram(&p, planner.DefaultTransfer())
				if err != nil {
					t.Fatal(err)
				}
				for i := range pr.Jobs {
					d := &pr.Jobs[i]
					appraise(&p, d, nil) // what is done after a loss lengthens the time to the end
					knee, least := 0.0, math.Inf(1)
					for c := range d.Columns {
						col := &d.Columns[c]
						o := &p.Offers[col.Offer]
						rate := math.Max(o.Rate.Dollars(), o.Booked.Dollars()) * float64(col.Nodes)
						if cost := rate / col.Speed.Goodput / col.Speed.Goodput; cost < least {
							knee, least = col.Speed.Goodput, cost
						}
					}
					for c := range d.Columns {
						col := &d.Columns[c]
						u := d.State.Job.Weight * col.Speed.Goodput * col.Useful / knee
						col.Stay = u
						col.Here = u * phiOf(&p, d.State, col, col.Resume)
						col.Bought = u * phiOf(&p, d.State, col, col.Resume+col.Boot)
					}
				}
				want := enumerateWorth(&p, pr)
				if plan.Value > want+1e-9 || plan.Value < want-2*goodputPerSpend {
					t.Errorf("seed %d: %.9f, every point tried %.9f", seed, plan.Value, want)
				}
				if plan.Bound.Value < want-1e-9 || plan.Bound.Value > want+2*goodputPerSpend {
					t.Errorf("seed %d: bound %.9f of %.9f", seed, plan.Bound.Value, want)
				}
				if plan.Burn > p.BurnCap {
					t.Errorf("seed %d: burns %s of %s", seed, plan.Burn, p.BurnCap)
				}
				waits += len(plan.Waits)
			}
			if waits == 0 {
				t.Error("no job of any draw waits: the cap binds nowhere")
			}
		})
	}
}

func TestMaxGoodputWantsACap(t *testing.T) {
	p := drawProblem(1, shape{jobs: 2})
	if _, err := MaxGoodput(p, Settings{}); !errors.Is(err, ErrNoCap) {
		t.Errorf("got %v, want %v", err, ErrNoCap)
	}
}
