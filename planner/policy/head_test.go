package policy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// overload is a fleet to which more work comes for ever than its cap can pay for, of
// ten teams that say that an hour is worth a thousand dollars and may say four, and of
// one that says a cent. It keeps books of when each job first ran.
type overload struct {
	t     testing.TB
	p     planner.Problem
	rng   *rand.Rand
	step  time.Duration
	came  map[planner.JobID]time.Time
	joins map[planner.JobID]time.Time // when each joins the row
	until map[planner.JobID]time.Time // by when each starts at the latest if it is the head then
	turn  time.Duration               // that each who joined before may take longer
	ran   map[planner.JobID]time.Time
	head  map[planner.JobID]bool // began as the head, and has not run its first run yet
	drain []planner.Machine      // on their way out for one step more
}

const (
	overloadHold = 10 * time.Minute
	overloadBoot = 2 * time.Minute
)

// newOverload has a cap of so many machines of one V100, and a row of the meek team's of
// one if narrow.
func newOverload(t testing.TB, seed uint64, machines int, narrow bool) *overload {
	o := &overload{
		t: t, rng: rand.New(rand.NewPCG(seed, 7)), step: 10 * time.Minute,
		came: map[planner.JobID]time.Time{}, until: map[planner.JobID]time.Time{}, joins: map[planner.JobID]time.Time{}, ran: map[planner.JobID]time.Time{}, head: map[planner.JobID]bool{},
	}
	o.p = drawProblem(1, shape{jobs: 1})
	o.p.Offers, o.p.Jobs, o.p.Hold, o.p.Round = o.p.Offers[1:2], nil, overloadHold, o.step
	o.p.Offers[0].Boot = overloadBoot
	o.p.BurnCap = o.p.Offers[0].Rate.Times(machines)
	for n := range 10 {
		o.p.Teams = append(o.p.Teams, planner.TeamLimit{Name: fmt.Sprintf("greedy-%d", n), MaxValueOfTime: 4 * pricing.DollarPerHour})
	}
	if narrow {
		o.p.Rows = []planner.Row{{Name: "meek", Kind: planner.BurnRow, Team: "meek", Most: o.p.Offers[0].Rate}}
	}
	return o
}

// add hands in a job on so many machines, and reckons when it joins the row.
func (o *overload) add(id, team string, usd, hours float64, nodes int) {
	j := &planner.Job{
		ID: planner.JobID(id), Team: team, Submitted: o.p.Now, ValueOfTime: pricing.RateOf(usd), Curve: perNode{},
		Work:       planner.Work{Samples: 1000 * hours * float64(nodes), Kind: planner.WorkExact},
		Resources:  planner.Resources{Replicas: planner.Replicas{Set: []int{nodes}}, Ethernet: true},
		Checkpoint: planner.Checkpoint{Save: 10 * time.Second, Restore: 30 * time.Second},
	}
	steps := func(d time.Duration) time.Duration { return (d + o.step - 1) / o.step * o.step }
	start := j.Checkpoint.Restore + j.Checkpoint.Save + overloadBoot
	give := steps(overloadHold) + 2*o.step // until what runs has given way
	one := give + steps(overloadBoot) + steps(max(leastRun, runTimes*start)) + o.step
	alone := time.Duration(1.05 * hours * float64(time.Hour)) // with checkpoints
	o.came[j.ID] = o.p.Now
	o.joins[j.ID], o.turn = o.p.Now.Add(steps(max(headWait, headTimes*alone))), one
	o.until[j.ID] = o.joins[j.ID].Add(give)
	o.p.Jobs = append(o.p.Jobs, planner.JobState{Job: j, Waiting: o.p.Now})
}

// perNode is a curve of 1000 samples an hour on each machine.
type perNode struct{}

func (perNode) Speed(_ string, nodes, _ int) (planner.Speed, bool) {
	return planner.Speed{Goodput: 1000 * float64(nodes)}, true
}

// pass plans, and lets a step of time pass: bought machines boot, released ones go at the
// end of the step, and count until then.
func (o *overload) pass() {
	o.t.Helper()
	p := o.p
	p.Aside = 0
	for _, m := range o.drain {
		p.Aside += m.Rate
	}
	p.BurnCap = max(1, p.BurnCap-p.Aside)
	plan, err := Value(p, Settings{Limits: planner.Limits{NoBound: true}})
	if err != nil {
		o.t.Fatal(err)
	}
	next := o.p
	next.Now = o.p.Now.Add(o.step)
	next.Jobs, next.Machines = nil, nil
	burn := pricing.Rate(0)
	for _, m := range o.p.Machines {
		burn += m.Rate
	}
	o.drain = nil
	gone := map[provider.InstanceID]bool{}
	for _, r := range plan.Releases {
		gone[r.Instance] = true
	}
	for _, m := range o.p.Machines {
		if gone[m.ID] {
			o.drain = append(o.drain, m)
		} else {
			next.Machines = append(next.Machines, m)
		}
	}
	ids := make([]provider.InstanceID, len(plan.Machines))
	late := map[planner.JobID]bool{} // what is not gone yet leaves no room to buy for them
	for i, m := range plan.Machines {
		ids[i] = m.Instance
		if m.Instance != "" {
			continue
		}
		if burn += m.Rate; burn > o.p.BurnCap {
			for _, s := range m.Jobs {
				late[s.Job] = true
			}
			continue
		}
		ids[i] = provider.InstanceID(fmt.Sprintf("%s/%d", o.p.Now.Format("02T15:04"), i))
		next.Machines = append(next.Machines, planner.Machine{ID: ids[i], Offering: m.Offering, Rate: m.Rate, ReadyAt: o.p.Now.Add(overloadBoot), HoldTo: o.p.Now.Add(overloadHold)})
	}
	for id, joins := range o.joins { // each round counts those that are before it
		if joins.Equal(o.p.Now) {
			for i := range o.p.Jobs {
				if s := &o.p.Jobs[i]; s.Job.ID != id && s.Held < time.Hour && s.Restarts == 0 && !o.joins[s.Job.ID].After(joins) {
					o.until[id] = o.until[id].Add(o.turn)
				}
			}
		}
	}
	for _, s := range o.p.Jobs {
		a := allocation(&plan, s.Job.ID)
		was := s.Running
		s.Running = nil
		switch {
		case a == nil || late[s.Job.ID] && was == nil:
			if was != nil {
				s.Restarts++
				if o.head[s.Job.ID] && s.Held < leastRun {
					o.t.Errorf("%s is stopped after %v of its first run", s.Job.ID, s.Held)
				}
			}
			if s.Waiting.IsZero() {
				s.Waiting = o.p.Now
			}
		case late[s.Job.ID]:
			s.Running = was
		default:
			s.Waiting = time.Time{}
			s.Running = &planner.Running{Config: a.Config, Offering: a.Offering, Since: o.p.Now}
			if a.Keeps {
				s.Running.Since = was.Since
			}
			for _, ref := range a.Machines {
				s.Running.Machines = append(s.Running.Machines, ids[ref])
			}
			o.head[s.Job.ID] = o.head[s.Job.ID] || strings.HasPrefix(a.Reason, "it waited for")
		}
		if s.Running != nil {
			lost := time.Duration(0)
			if s.Held == 0 {
				lost = overloadBoot
			}
			if _, ran := o.ran[s.Job.ID]; !ran {
				o.ran[s.Job.ID] = o.p.Now
			}
			s.Held += o.step - lost
			s.Done += 1000 * float64(s.Running.Config.Nodes) * (o.step - lost).Hours()
		}
		if s.Done < s.Job.Work.Samples {
			next.Jobs = append(next.Jobs, s)
		}
	}
	o.p = next
}

// TestEveryJobStartsUnderEndlessOverload lets jobs come twice as fast as the cap pays
// for them, nearly all of them worth hundreds of times as much as the meek ones. Each
// starts within the bound that is stated for the head of those that never ran, and has
// its first run; a gang that needs all of the cap too.
func TestEveryJobStartsUnderEndlessOverload(t *testing.T) {
	for seed := range uint64(4) {
		machines := 2 + int(seed%2)
		o := newOverload(t, seed, machines, seed == 3)
		meek, next, most := 0, 0, 0
		begin := o.p.Now
		for n := range 200 {
			if n%24 == 0 && n < 72 {
				nodes := []int{1, machines, 1}[meek%3]
				if seed == 3 {
					nodes = 1
				}
				o.add(fmt.Sprintf("meek-%d", meek), "meek", 0.01, 0.9, nodes)
				meek++
			}
			for range o.rng.IntN(2) {
				o.add(fmt.Sprintf("job-%d", next), fmt.Sprintf("greedy-%d", next%10), 1000, 0.5+o.rng.Float64(), 1+o.rng.IntN(2))
				next++
			}
			o.pass()
			most = max(most, len(o.p.Jobs))
		}
		due, late := 0, 0
		for id, until := range o.until {
			ran, started := o.ran[id]
			if until.After(o.p.Now) && !started {
				continue
			}
			due++
			if !started || ran.After(until) {
				late++
				t.Errorf("seed %d: %s came after %v, is to start by %v, and starts after %v", seed, id, o.came[id].Sub(begin), until.Sub(begin), ran.Sub(begin))
			}
		}
		for n := range meek {
			id := planner.JobID(fmt.Sprintf("meek-%d", n))
			ran, started := o.ran[id]
			t.Logf("seed %d: %s came after %v, starts %v %v after it came, bound %v", seed, id, o.came[id].Sub(begin), started, ran.Sub(o.came[id]), o.until[id].Sub(o.came[id]))
			if !started {
				t.Errorf("seed %d: %s never started", seed, id)
			}
		}
		t.Logf("seed %d: %d jobs came, %d ran, %d were due; %d were there at once", seed, len(o.came), len(o.ran), due, most)
		if most < 40 {
			t.Errorf("seed %d: %d jobs at most: no overload", seed, most)
		}
	}
}
