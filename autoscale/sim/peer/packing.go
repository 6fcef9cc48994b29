package peer

import (
	"fmt"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/share"
)

// Packing shares kinds of workers among the jobs of a problem, each for itself, and among its
// pairs, each of which has the workers of one job: by job and kind, and by pair and kind.
type Packing func(p *share.Problem) (jobs, pairs [][]float64, err error)

// couple is a job and one of the same size that came before it: as a pair they are an entity of
// their own to the mechanism.
type couple struct {
	account
	older planner.JobID
	speed [][2]float64 // of the older and of the other by kind, samples/s; zeros where they do not fit
}

// couples are the pairs of job i of the problem with those before it.
func couples(f *floor, i int) []*couple {
	j := &f.p.Jobs[i]
	var list []*couple
	for k := range i {
		old := &f.p.Jobs[k]
		if sizeOf(old) != sizeOf(j) {
			continue
		}
		c := &couple{older: old.Job.ID, speed: make([][2]float64, len(f.kinds))}
		c.runs = -1
		for w := range f.kinds {
			a, fits := f.beside(old, j, w)
			b, fit := f.beside(j, old, w)
			if fits && fit {
				c.speed[w] = [2]float64{a.Goodput / 3600, b.Goodput / 3600}
			}
		}
		list = append(list, c)
	}
	return list
}

// beside is the speed of a job on a kind while another shares its accelerators.
func (f *floor) beside(j, with *planner.JobState, w int) (planner.Speed, bool) {
	k := &f.kinds[w]
	nodes, ok := k.spread(sizeOf(j))
	if !ok {
		return planner.Speed{}, false
	}
	return planner.Beside(j.Job.Curve, with.Job.Family, k.typ.Accelerator, nodes, sizeOf(j))
}

// renewPairs makes shares of jobs and of pairs anew, so many seconds after the last.
func (g *Gavel) renewPairs(f *floor, p *share.Problem, since float64) error {
	var pairs []*couple
	for i := range f.p.Jobs {
		a := g.jobs[f.p.Jobs[i].Job.ID]
		for _, c := range a.pairs {
			if c.share == nil {
				c.time, c.lacks = make([]float64, len(f.kinds)), make([]float64, len(f.kinds))
			}
			for w := range c.time {
				if c.share != nil {
					c.lacks[w] += c.share[w]*since - (c.time[w] - half.Seconds())
				}
				c.time[w] = half.Seconds()
			}
			pairs = append(pairs, c)
			p.Pairs = append(p.Pairs, share.Pair{A: g.jobs[c.older].index, B: i, Throughput: c.speed})
		}
	}
	if len(p.Jobs) == 0 {
		return nil
	}
	alone, paired, err := g.cfg.Pack(p)
	if err != nil {
		return fmt.Errorf("pairs: %w", err)
	}
	give := func(a *account, given []float64) {
		a.share = make([]float64, len(f.kinds))
		for w := range a.share {
			a.share[w] = min(max(given[w], 0), 1)
		}
	}
	for i := range f.p.Jobs {
		give(g.jobs[f.p.Jobs[i].Job.ID], alone[i])
	}
	for n, c := range pairs {
		give(&c.account, paired[n])
	}
	return nil
}

// packed adds to a queue the jobs and pairs that may run on a kind, whose priority is above 0,
// or is 0: a job, then its pairs with those that came before it.
func (g *Gavel) packed(f *floor, w int, taken []bool, queue []claimant, urgent bool) []claimant {
	for i := range f.p.Jobs {
		if taken[i] {
			continue
		}
		j := &f.p.Jobs[i]
		a := g.jobs[j.Job.ID]
		add := func(x *account, mate int) {
			c := g.claim(x, w)
			if c.job, c.mate = i, mate; (c.priority > 0) == urgent {
				queue = append(queue, c)
			}
		}
		if f.speed(j, w) > 0 {
			add(a, -1)
		}
		for _, c := range a.pairs {
			if mate := g.jobs[c.older].index; !taken[mate] && c.speed[w][0] > 0 {
				add(&c.account, mate)
			}
		}
	}
	return queue
}

// paired reports whether a job runs with its mate already, or alone if it has none.
func (f *floor) paired(c *claimant) bool {
	with := planner.JobID("")
	if c.mate >= 0 {
		with = f.p.Jobs[c.mate].Job.ID
	}
	r := f.p.Jobs[c.job].Running
	return r != nil && r.Config.With == with
}

// join puts the mate of a job that was just seated on the same accelerators.
func (f *floor) join(c *claimant, k *kind) {
	if c.mate < 0 {
		return
	}
	j, mate := &f.p.Jobs[c.job], &f.p.Jobs[c.mate]
	first := &f.plan.Allocations[len(f.plan.Allocations)-1]
	second := *first
	second.Job, first.Config.With, second.Config.With = mate.Job.ID, mate.Job.ID, j.Job.ID
	for _, x := range []struct {
		a       *planner.Allocation
		j, with *planner.JobState
	}{{first, j, mate}, {&second, mate, j}} {
		x.a.Speed, _ = planner.Beside(x.j.Job.Curve, x.with.Job.Family, k.typ.Accelerator, x.a.Config.Nodes, x.a.Config.Replicas)
		x.a.Keeps = x.a.Keeps && x.j.Running != nil && x.j.Running.Config.With == x.with.Job.ID
	}
	for _, at := range second.Machines {
		m := &f.plan.Machines[at]
		m.Jobs = append(m.Jobs, planner.Share{Job: mate.Job.ID, Accelerators: second.Config.Replicas / second.Config.Nodes})
	}
	f.plan.Allocations = append(f.plan.Allocations, second)
}
