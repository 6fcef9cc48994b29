package policy

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/share"
	"github.com/goodfleet/goodfleet/provider"
)

// Turns gives machines to contenders for one round: placement.Turns is the one.
type Turns func(rooms []planner.Room, list []planner.Contender, half time.Duration) []planner.Turn

// ErrNoTurns is what a policy of shares says when Settings.Turns is not set.
var ErrNoTurns = errors.New("shares are parts of time: want Settings.Turns, which makes rounds of them")

// The least lease, and how many times what a restart takes it lasts.
const (
	leastLease   = 6 * time.Minute
	leasePerLoss = 10
)

// Shared makes a policy of package share one that plans whole gangs: it shares the
// machines that are owned, by kind, and Settings.Turns gives them away for a lease at a
// time, so that what each job has had comes to its share.
//
// A lease lasts at least six minutes and ten times what the job's restart takes, and
// ends on a grid of six minutes times a power of two: so that leases of many jobs end
// together, and a large gang finds room. Who wins again goes on where he is.
//
// A job that can run at several sizes takes part at the one of the most goodput squared
// per accelerator. Nothing is bought; deadlines that cannot be met together are dropped,
// as in Gavel. How long a job has been isolated is what it did over its isolated speed.
func Shared(rule share.Policy) Policy {
	return func(p planner.Problem, s Settings) (planner.Plan, error) {
		if s.Turns == nil {
			return planner.Plan{}, fmt.Errorf("%s: %w", rule.Name, ErrNoTurns)
		}
		own := owned(p)
		pr, err := planner.NewProgram(&own, s.transfer())
		if err != nil {
			return planner.Plan{}, err
		}
		f := newFloor(&own, pr, p.Offers)
		answer, err := f.share(rule)
		if err != nil {
			return planner.Plan{}, fmt.Errorf("%s: %w", rule.Name, err)
		}
		plan := f.plan(rule, answer, s.Turns)
		for _, m := range p.Machines {
			if m.Rate > 0 && !m.Leaving {
				plan.Releases = append(plan.Releases, planner.Release{Instance: m.ID, Offering: m.Offering, Reason: rule.Name + " shares what is owned"})
			}
		}
		return plan, nil
	}
}

// floor is what is owned, by kind, and who would run there.
type floor struct {
	p     *planner.Problem
	pr    *planner.Program
	kinds []string
	rooms []planner.Room
	jobs  []floorJob
	time  share.Problem
}

// floorJob is a job at the gang size that it takes part at.
type floorJob struct {
	size    int
	ways    []planner.Way
	columns []int // of ways
}

func kindOf(p *planner.Problem, offer int) string { return planner.KindOf(p.Offers[offer].Offering) }

// priceOf is the price of an accelerator of o, USD per hour: as it is booked, else what
// the cheapest machine of its type is sold for on demand; −1: not known.
func priceOf(o *planner.Offer, sold []planner.Offer) float64 {
	if o.Booked > 0 {
		return o.Booked.Dollars() / float64(o.Type.Count)
	}
	least := -1.0
	for i := range sold {
		x := &sold[i]
		if rate := x.Rate.Dollars() / float64(x.Type.Count); x.Offering.Market == provider.OnDemand && rate > 0 &&
			planner.KindOf(x.Offering) == planner.KindOf(o.Offering) && (least < 0 || rate < least) {
			least = rate
		}
	}
	return least
}

func newFloor(p *planner.Problem, pr *planner.Program, sold []planner.Offer) *floor {
	f := &floor{p: p, pr: pr, jobs: make([]floorJob, len(pr.Jobs))}
	workers, price := map[string]int{}, map[string]float64{}
	room := func(id provider.InstanceID, offer, n int) {
		o := &p.Offers[offer]
		kind := kindOf(p, offer)
		for range n {
			f.rooms = append(f.rooms, planner.Room{Offering: o.Offering, Accelerators: o.Type.Count, Instance: id})
		}
		workers[kind] += n * o.Type.Count
		price[kind] = priceOf(o, sold)
	}
	for i := range p.Machines {
		m := &p.Machines[i]
		if o := slices.IndexFunc(p.Offers, func(o planner.Offer) bool { return o.Offering == m.Offering }); o >= 0 && !m.Leaving {
			room(m.ID, o, 1)
		}
	}
	for o := range p.Offers {
		if x := &p.Offers[o]; x.Blocked == "" && x.Cap > 0 {
			room("", o, x.Cap)
		}
	}
	for kind := range workers {
		f.kinds = append(f.kinds, kind)
	}
	slices.Sort(f.kinds)
	for _, kind := range f.kinds {
		f.time.Types = append(f.time.Types, share.Type{Name: kind, Workers: workers[kind], Price: price[kind]})
	}
	for i := range pr.Jobs {
		f.enter(i)
	}
	return f
}

// enter takes job i in.
func (f *floor) enter(i int) {
	d, j := &f.pr.Jobs[i], &f.jobs[i]
	job := d.State.Job
	best := 0.0
	for c := range d.Columns {
		col := &d.Columns[c]
		if score := col.Speed.Goodput * col.Speed.Goodput / float64(col.Replicas()); score > best {
			best, j.size = score, col.Replicas()
		}
	}
	speeds := make([]float64, len(f.kinds))
	var order []int
	for c := range d.Columns {
		if d.Columns[c].Replicas() == j.size {
			order = append(order, c)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(d.Columns[b].Speed.Goodput, d.Columns[a].Speed.Goodput)
	})
	for _, c := range order {
		col := &d.Columns[c]
		kind := kindOf(f.p, col.Offer)
		j.ways = append(j.ways, planner.Way{Kind: kind, Offering: f.p.Offers[col.Offer].Offering, Nodes: col.Nodes, PerNode: col.PerNode})
		j.columns = append(j.columns, c)
		if at := slices.Index(f.kinds, kind); at >= 0 {
			speeds[at] = max(speeds[at], col.Speed.Goodput/3600)
		}
	}
	x := share.Job{ID: string(job.ID), Scale: max(1, j.size), Weight: weightOf(job), Throughput: speeds, Deadline: math.NaN()}
	if best > 0 {
		fastest := slices.Max(speeds)
		x.Steps, _ = planner.Remaining(d.State, fastest*3600)
		x.Elapsed = max(0, f.p.Now.Sub(job.Submitted).Seconds())
	}
	if !job.Deadline.IsZero() && job.Deadline.After(f.p.Now) {
		x.Deadline = job.Deadline.Sub(f.p.Now).Seconds()
	}
	f.time.Jobs = append(f.time.Jobs, x)
}

// share applies a rule to the jobs that can run.
func (f *floor) share(rule share.Policy) (share.Answer, error) {
	p := f.time
	for i := range p.Jobs {
		if alone := f.isolated(i); alone > 0 {
			p.Jobs[i].Isolated = f.pr.Jobs[i].State.Done / alone
		}
	}
	if rule.Name == "hierarchical" {
		p.Entities = f.teams()
	}
	for {
		answer, err := rule.Share(&p, share.Options{Gap: shareGap})
		if err != nil || len(answer.Conflict) == 0 {
			return answer, err
		}
		dropped := false
		for _, i := range answer.Conflict {
			dropped = dropped || !math.IsNaN(p.Jobs[i].Deadline)
			p.Jobs[i].Deadline = math.NaN()
		}
		if !dropped {
			return answer, nil
		}
	}
}

// shareGap is how near to its optimum a rule is solved: far below what turns can keep.
const shareGap = 1e-6

// isolated is the speed of job i on its equal part of every kind, steps/s.
func (f *floor) isolated(i int) float64 {
	j := &f.time.Jobs[i]
	total, speed := 0.0, 0.0
	for w, t := range f.time.Types {
		x := float64(t.Workers) / float64(len(f.time.Jobs)*j.Scale)
		total += x
		speed += x * j.Throughput[w]
	}
	return speed / max(1, total)
}

// teams are the entities of a hierarchical rule, all of one weight.
func (f *floor) teams() []share.Entity {
	var list []share.Entity
	for i := range f.pr.Jobs {
		team := f.pr.Jobs[i].State.Job.Team
		at, ok := slices.BinarySearchFunc(list, team, func(e share.Entity, name string) int { return strings.Compare(e.Name, name) })
		if !ok {
			list = slices.Insert(list, at, share.Entity{Name: team, Weight: 1})
		}
		list[at].Jobs = append(list[at].Jobs, i)
	}
	return list
}
