package peer

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/share"
)

// GavelConfig is a policy of Gavel's and how its rounds go.
type GavelConfig struct {
	Rule share.Policy

	// Aware policies take kinds in the fixed order V100, P100, K80; for others the order
	// is drawn in each round.
	Aware bool

	// Blind policies take every kind to be as fast as a V100.
	Blind bool

	// FIFO leaves jobs of priority 0 waiting; all other rules give them what is left.
	FIFO bool

	// Interior leaves the choice among equally good shares to the interior method, as
	// Gavel's solver did; else those of most throughput are taken.
	Interior bool

	// Embedded leaves it to the method by which Gavel's authors solved max-min fairness,
	// step by step; Rule is then that, or its agnostic form.
	Embedded bool

	// Ever is the mechanism as Sia's authors run it: shares anew in each round; time had
	// counts from a job's arrival on; one queue of jobs and kinds, in which the largest
	// priority of all comes first.
	Ever bool

	// Pack lets two jobs share workers: jobs and pairs of them get shares by it, in place of
	// Rule, and pairs take part in rounds as jobs do. Nil: they do not share.
	Pack Packing

	Renew time.Duration // least time between two allocations; 0: 1920 s, as published
	Seed  uint64        // of the order of kinds
}

// renew and half are numbers of Gavel's program: an allocation holds for at least 1920
// s, and each job begins with half a round of 360 s to its account on each kind.
const (
	renew = 1920 * time.Second
	half  = 180 * time.Second
)

// streamKinds keeps the order of kinds apart from all other randomness.
const streamKinds = 0x6b_69_6e_64

// Gavel is the round mechanism of Gavel's simulator (scheduler.py at c4fa400). Every so
// often it shares machines by a rule; in each round it takes, kind by kind, the jobs of
// the largest priority, their share over the part of the time that they had there since
// the shares were made. Ties go by what they were entitled to and did not get, then by
// the share, then by arrival. A gang that does not fit is skipped. A job that came since
// the shares were made may win, and then its machines stand idle: it is placed when
// there are shares for it.
type Gavel struct {
	cfg GavelConfig
	rng *rand.Rand

	made    bool
	begin   time.Time // first plan
	renewed time.Time // shares
	flag    bool      // a job came or went since
	last    time.Time // plan
	plan    planner.Plan
	jobs    map[planner.JobID]*account
	total   []float64 // time that all jobs had, by kind, s
}

// account is what the mechanism knows of a job, or of a pair.
type account struct {
	seen    bool      // in the present problem
	index   int       // there
	pairs   []*couple // with those that came before, in their order
	share   []float64 // by kind; nil: it has none yet
	time    []float64 // that it had since the shares were made, s
	lacks   []float64 // entitled to and did not get, s, over all shares
	runs    int       // kind that it runs on; -1: none
	done    float64   // samples, when shares were made last
	alone   float64   // its isolated speed then, samples/s
	isolate float64   // seconds that its work would have taken isolated
}

// NewGavel begins with nothing shared.
func NewGavel(cfg GavelConfig) *Gavel {
	cfg.Renew = cmp.Or(cfg.Renew, renew)
	if cfg.Ever {
		cfg.Renew = 1
	}
	return &Gavel{cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, streamKinds)), jobs: map[planner.JobID]*account{}}
}

// Plan makes the plan of a round. Asked again at the same instant it says the same.
func (g *Gavel) Plan(p planner.Problem) (planner.Plan, error) {
	if g.made && p.Now.Equal(g.last) {
		return g.again(p), nil
	}
	f := newFloor(&p)
	if !g.made {
		g.begin, g.renewed = p.Now, p.Now
		g.total = make([]float64, len(f.kinds))
	}
	g.settle(p.Now)
	g.take(f)
	first := g.renewed.Equal(g.begin)
	if g.cfg.Ever || g.flag && (first || p.Now.Sub(g.renewed) >= g.cfg.Renew) {
		if err := g.renew(f); err != nil {
			return planner.Plan{}, err
		}
	}
	g.plan = g.round(f)
	g.made, g.last = true, p.Now
	return g.plan, nil
}

// again is the plan of this instant for a problem in which gangs have left since.
func (g *Gavel) again(p planner.Problem) planner.Plan {
	g.plan.NextDecision = p.Now.Add(1)
	return g.plan
}

// settle adds the time since the last plan to the accounts of those who ran.
func (g *Gavel) settle(now time.Time) {
	sec := now.Sub(g.last).Seconds()
	if !g.made {
		return
	}
	for _, a := range g.jobs {
		if a.runs >= 0 {
			a.time[a.runs] += sec
			g.total[a.runs] += sec // by one and the same number: in any order
		}
		for _, c := range a.pairs {
			if c.runs >= 0 {
				c.time[c.runs] += sec
				g.total[c.runs] += sec
			}
		}
	}
}

// take notes which jobs came and went.
func (g *Gavel) take(f *floor) {
	p := f.p
	for _, a := range g.jobs {
		a.seen = false
	}
	for i := range p.Jobs {
		id := p.Jobs[i].Job.ID
		a, known := g.jobs[id]
		if !known {
			a = &account{runs: -1}
			g.jobs[id], g.flag = a, true
			if g.cfg.Pack != nil {
				a.pairs = couples(f, i)
			}
		}
		a.seen, a.index = true, i
	}
	for id, a := range g.jobs {
		if !a.seen {
			delete(g.jobs, id)
			g.flag = true
		}
	}
	if g.cfg.Pack == nil {
		return
	}
	for _, a := range g.jobs {
		a.pairs = slices.DeleteFunc(a.pairs, func(c *couple) bool { return g.jobs[c.older] == nil })
	}
}

// renew makes shares anew.
func (g *Gavel) renew(f *floor) error {
	p := f.p
	since := p.Now.Sub(g.renewed).Seconds()
	sp := share.Problem{}
	for _, k := range f.kinds {
		sp.Types = append(sp.Types, share.Type{Name: k.name, Workers: k.workers, Price: -1})
	}
	for i := range p.Jobs {
		j := &p.Jobs[i]
		a := g.jobs[j.Job.ID]
		speeds := g.speeds(f, j)
		fresh := a.share == nil
		if fresh {
			a.time, a.lacks = make([]float64, len(f.kinds)), make([]float64, len(f.kinds))
		} else if !g.cfg.Ever {
			for w := range a.lacks {
				a.lacks[w] += a.share[w]*since - (a.time[w] - half.Seconds())
			}
		}
		if a.alone > 0 {
			a.isolate += (j.Done - a.done) / a.alone
		}
		a.done, a.alone = j.Done, isolated(f, speeds, sizeOf(j), len(p.Jobs))
		for w := range a.time {
			if fresh && g.cfg.Ever {
				g.total[w] += half.Seconds()
			}
			if fresh || !g.cfg.Ever {
				a.time[w] = half.Seconds()
			}
		}
		weight := j.Job.Weight
		if weight == 0 {
			weight = 1
		}
		sp.Jobs = append(sp.Jobs, share.Job{
			ID: string(j.Job.ID), Scale: sizeOf(j), Weight: weight, Steps: max(0, j.Job.Work.Samples-j.Done), Throughput: speeds,
			Elapsed: p.Now.Sub(j.Job.Submitted).Seconds(), Isolated: a.isolate, Deadline: math.NaN(),
		})
	}
	if !g.cfg.Ever {
		g.total = make([]float64, len(f.kinds))
		for w := range g.total {
			g.total[w] = half.Seconds() * float64(len(p.Jobs))
		}
	}
	if g.cfg.Pack != nil {
		if err := g.renewPairs(f, &sp, since); err != nil {
			return err
		}
	} else if len(sp.Jobs) > 0 {
		given, err := g.share(&sp)
		if err != nil {
			return fmt.Errorf("%s: %w", g.cfg.Rule.Name, err)
		}
		for i := range p.Jobs {
			a := g.jobs[p.Jobs[i].Job.ID]
			a.share = make([]float64, len(f.kinds))
			if given != nil {
				for w := range a.share {
					a.share[w] = min(max(given[i][w], 0), 1)
				}
			}
		}
	}
	g.renewed, g.flag = p.Now, false
	return nil
}

// share asks the rule; nil where it gives nothing.
func (g *Gavel) share(p *share.Problem) ([][]float64, error) {
	if g.cfg.Embedded {
		switch g.cfg.Rule.Name {
		case fairAware, fairAgnostic:
			return fairest(g.cfg.Rule, p)
		}
		return nil, fmt.Errorf("only %s and %s are solved as Gavel's authors did", fairAware, fairAgnostic)
	}
	answer, err := g.cfg.Rule.Share(p, share.Options{Gap: 1e-6, Interior: g.cfg.Interior})
	return answer.Share, err
}

// Rules that may be Embedded.
const (
	fairAware    = "max_min_fairness"
	fairAgnostic = "max_min_fairness_agnostic"
)

// sizeOf is the gang size of a rigid job, the least of another.
func sizeOf(j *planner.JobState) int { return j.Job.Resources.Replicas.Sizes()[0] }

// speeds are the throughputs of a job by kind, samples/s, as the rule is told.
func (g *Gavel) speeds(f *floor, j *planner.JobState) []float64 {
	speeds := make([]float64, len(f.kinds))
	v100 := 0.0
	for w := range f.kinds {
		speeds[w] = f.speed(j, w)
		if f.kinds[w].typ.Accelerator == "V100" {
			v100 = speeds[w]
		}
	}
	if g.cfg.Blind {
		for w := range speeds {
			speeds[w] = v100
		}
	}
	return speeds
}

// speed is the throughput of a job on a kind at its size, samples/s; 0: it cannot run.
func (f *floor) speed(j *planner.JobState, w int) float64 {
	k := &f.kinds[w]
	nodes, ok := k.spread(sizeOf(j))
	if !ok {
		return 0
	}
	s, ok := j.Job.Curve.Speed(k.typ.Accelerator, nodes, sizeOf(j))
	if !ok {
		return 0
	}
	return s.Goodput / 3600
}

// isolated is the speed of a job on its n-th of every kind.
func isolated(f *floor, speeds []float64, scale, n int) float64 {
	total, speed := 0.0, 0.0
	for w := range f.kinds {
		x := float64(f.kinds[w].workers) / float64(n*scale)
		total += x
		speed += x * speeds[w]
	}
	return speed / max(1, total)
}
