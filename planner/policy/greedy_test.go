package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// greedyProblem is ten teams with two jobs each under a cap that carries a few of
// them. Each team may say that an hour is worth two dollars, and a weight of three.
func greedyProblem(seed uint64, value pricing.Rate, weight float64) planner.Problem {
	p := drawProblem(seed, shape{jobs: 20, spot: true, smallJobs: true})
	p.BurnCap = 12 * pricing.DollarPerHour
	for i := range p.Jobs {
		j := p.Jobs[i].Job
		j.Team = fmt.Sprintf("team-%d", i%10)
		j.ValueOfTime = value
		if i%3 == 0 {
			j.ValueOfTime = 0 // left to the knee, and weighted
		}
		j.Weight = weight
		if i < 10 {
			p.Teams = append(p.Teams, planner.TeamLimit{Name: j.Team, MaxValueOfTime: 2 * pricing.DollarPerHour, MaxWeight: 3})
		}
	}
	return p
}

// TestValueAboveTheLimitOfATeamChangesNothing lets all teams say ever more.
func TestValueAboveTheLimitOfATeamChangesNothing(t *testing.T) {
	for seed := range uint64(5) {
		want, err := Value(greedyProblem(seed, 2*pricing.DollarPerHour, 3), Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for _, more := range []float64{1.01, 10, 1e6} {
			p := greedyProblem(seed, pricing.RateOf(2*more), 3*more)
			said := p.Jobs[1].Job
			got, err := Value(p, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, %g times the limit: plan (-want +got):\n%s", seed, more, diff)
			}
			if said.ValueOfTime != pricing.RateOf(2*more) {
				t.Errorf("the job of the caller was changed to %s USD/h", said.ValueOfTime)
			}
		}
	}
}

// TestJobBesideGreedyTeamsStarts lets jobs of ten teams, which say that an hour is
// worth a thousand dollars and may say four, compete with one that says half a dollar.
// Two machines are all that the cap allows; each greedy job that ends is followed by
// another, and one more waits. The meek one starts within the bound that Value states.
func TestJobBesideGreedyTeamsStarts(t *testing.T) {
	const step, value, most = 10 * time.Minute, 0.5, 4.0
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 1))
		p := drawProblem(1, shape{jobs: 1})
		p.Offers = p.Offers[1:2] // one V100 each
		p.BurnCap = p.Offers[0].Rate.Times(2)
		p.Jobs = nil
		add := func(id, team string, usd, hours float64) {
			p.Jobs = append(p.Jobs, planner.JobState{Waiting: p.Now, Job: &planner.Job{
				ID: planner.JobID(id), Team: team, Submitted: p.Now, ValueOfTime: pricing.RateOf(usd), Curve: tableCurve{"V100": {1: 1000}},
				Work:       planner.Work{Samples: 1000 * hours, Kind: planner.WorkExact},
				Resources:  planner.Resources{Replicas: planner.Replicas{Set: []int{1}}},
				Checkpoint: planner.Checkpoint{Save: 10 * time.Second, Restore: 30 * time.Second},
			}})
		}
		for n := range 10 {
			p.Teams = append(p.Teams, planner.TeamLimit{Name: fmt.Sprintf("greedy-%d", n), MaxValueOfTime: pricing.RateOf(most)})
		}
		add("meek", "meek", value, 4)
		begin, next, longest, started := p.Now, 0, 1.0, false
		seen := map[planner.JobID]bool{}
		for !started && p.Now.Sub(begin) < 100*time.Hour {
			for len(p.Jobs) < 4 {
				add(fmt.Sprintf("job-%d", next), fmt.Sprintf("greedy-%d", next%10), 1000, 3+2*rng.Float64())
				next++
			}
			plan, err := Value(p, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range plan.Allocations {
				started = started || a.Job == "meek"
				if s := stateOf(&p, a.Job); !seen[a.Job] && a.Job != "meek" {
					seen[a.Job] = true
					longest = max(longest, 1+p.Now.Sub(s.Job.Submitted).Hours()/(s.Job.Work.Samples/1000))
				}
			}
			p = follow(p, plan, step)
		}
		rate := p.Offers[0].Rate.Dollars()
		rho := 1 + math.Sqrt((most+rate+most+most*math.Pow(longest-1, 2))/value)
		bound := hours((rhoStep*rho-1)*4*1.01) + step + bonusCheck // 1.01: what checkpoints take
		waited := p.Now.Sub(begin) - step
		t.Logf("seed %d: it waits %v beside %d others that wait up to %.2f times their time, bound %v", seed, waited, next, longest, bound)
		if !started || waited > bound {
			t.Errorf("seed %d: started %v after %v, want it within %v", seed, started, waited, bound)
		}
	}
}

func stateOf(p *planner.Problem, id planner.JobID) *planner.JobState {
	i := slices.IndexFunc(p.Jobs, func(s planner.JobState) bool { return s.Job.ID == id })
	return &p.Jobs[i]
}

// follow carries a plan out for a step of time: machines are up at once.
func follow(p planner.Problem, plan planner.Plan, step time.Duration) planner.Problem {
	next := p
	next.Now = p.Now.Add(step)
	next.Jobs, next.Machines = nil, nil
	ids := make([]string, len(plan.Machines))
	for i, m := range plan.Machines {
		ids[i] = string(m.Instance)
		if ids[i] == "" {
			ids[i] = fmt.Sprintf("%s/%d", p.Now.Format(time.RFC3339), i)
		}
		next.Machines = append(next.Machines, planner.Machine{ID: provider.InstanceID(ids[i]), Offering: m.Offering, Rate: m.Rate, ReadyAt: p.Now})
	}
	for _, s := range p.Jobs {
		s.Running = nil
		if a := allocation(&plan, s.Job.ID); a != nil {
			s.Done += a.Speed.Goodput * step.Hours()
			s.Waiting = time.Time{}
			s.Running = &planner.Running{Config: a.Config, Offering: a.Offering, Since: p.Now}
			for _, ref := range a.Machines {
				s.Running.Machines = append(s.Running.Machines, provider.InstanceID(ids[ref]))
			}
		} else if s.Waiting.IsZero() {
			s.Waiting = p.Now
		}
		if s.Done < s.Job.Work.Samples {
			next.Jobs = append(next.Jobs, s)
		}
	}
	return next
}
