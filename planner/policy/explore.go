package policy

import (
	"fmt"
	"math"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
)

// profileHours is how long a type is rented until a job has been measured there: a
// trainer reports within its first minutes, and its first steps do not count.
const profileHours = 1.0 / 6

// guess is a job with types that its family never ran on.
type guess struct {
	job     int      // in the problem
	unknown []string // accelerators, sorted
	trials  []planner.Trial
	running string // the one of them that it runs on; "": none
}

// explore decides who tries which accelerators that a family of jobs never ran on.
// A job that knows one way to run uses another only if it is the one that tries it:
// trying is a purchase, made when what the family gains by it on average is worth
// more than it costs. One job of a family tries a type at a time. From all others
// the type is hidden until the result is there. A job of which nothing was ever
// measured anywhere goes by its estimates alone.
func explore(p *planner.Problem, s Settings) error {
	guesses := guessesOf(p)
	if len(guesses) == 0 {
		return nil
	}
	sub := *p
	sub.Jobs = make([]planner.JobState, len(guesses))
	for i, g := range guesses {
		sub.Jobs[i] = p.Jobs[g.job]
	}
	pr, err := planner.NewProgram(&sub, s.transfer())
	if err != nil {
		return err
	}
	families := map[string][]int{} // of guesses, by family
	var order []string
	for i := range guesses {
		if !appraiseTrials(&sub, &pr.Jobs[i], &guesses[i]) {
			continue // nothing that it knows can be had: it goes by its estimates
		}
		f := familyOf(sub.Jobs[i].Job)
		if families[f] == nil {
			order = append(order, f)
		}
		families[f] = append(families[f], i)
	}
	p.Jobs = slices.Clone(p.Jobs)
	for _, f := range order {
		for i, trial := range choose(guesses, families[f]) {
			g := &guesses[families[f][i]]
			state := &p.Jobs[g.job]
			state.Trial = trial
			hidden := slices.DeleteFunc(slices.Clone(g.unknown), func(a string) bool {
				return a == g.running || trial != nil && a == trial.Accelerator
			})
			job := *state.Job
			job.Curve = planner.Hide(job.Curve, hidden)
			state.Job = &job
		}
	}
	return nil
}

// familyOf is what shares the result of a trial.
func familyOf(j *planner.Job) string {
	if j.Family == "" {
		return "job " + string(j.ID)
	}
	return "family " + j.Family
}

// guessesOf lists the jobs that might run on what they only have estimates of.
func guessesOf(p *planner.Problem) []guess {
	var accelerators []string
	for i := range p.Offers {
		if a := p.Offers[i].Type.Accelerator; !slices.Contains(accelerators, a) {
			accelerators = append(accelerators, a)
		}
	}
	slices.Sort(accelerators)
	var list []guess
	for i := range p.Jobs {
		g := guess{job: i}
		for _, a := range accelerators {
			if !planner.Knows(p.Jobs[i].Job.Curve, a) {
				g.unknown = append(g.unknown, a)
			}
		}
		if len(g.unknown) == 0 || len(g.unknown) == len(accelerators) {
			continue
		}
		if r := p.Jobs[i].Running; r != nil {
			for k := range p.Offers {
				if o := &p.Offers[k]; o.Offering == r.Offering && slices.Contains(g.unknown, o.Type.Accelerator) {
					g.running = o.Type.Accelerator
				}
			}
		}
		list = append(list, g)
	}
	return list
}

// appraiseTrials fills in what each trial of a job would bring and cost. It returns
// false when the job knows of nothing that it could run on now.
func appraiseTrials(p *planner.Problem, d *planner.Demand, g *guess) bool {
	known := planner.Demand{State: d.State, Current: -1}
	best := map[string]*planner.Column{}
	for c := range d.Columns {
		col := &d.Columns[c]
		a := p.Offers[col.Offer].Type.Accelerator
		if !slices.Contains(g.unknown, a) {
			known.Columns = append(known.Columns, *col)
		}
	}
	if len(known.Columns) == 0 {
		return false
	}
	w := appraise(p, &known, nil)
	cost := func(c *planner.Column) float64 { return c.CostOfWork(w.v) + once(c, w.left) }
	for c := range d.Columns {
		col := &d.Columns[c]
		a := p.Offers[col.Offer].Type.Accelerator
		if slices.Contains(g.unknown, a) && (best[a] == nil || cost(col) < cost(best[a])) {
			best[a] = col
		}
	}
	for _, a := range g.unknown {
		col := best[a]
		if col == nil {
			continue
		}
		t := planner.Trial{
			Accelerator: a, Jobs: 1, Work: w.left, Kappa: w.kappa, LogCost: math.Log(cost(col)), LogSD: col.Speed.LogSD,
			Rate: col.Alone, Boot: col.Boot, Profile: profileHours, ValueOfTime: w.v,
		}
		if d.State.Running != nil {
			t.Resume = col.Resume // a job that waits loses nothing by starting there
		}
		g.trials = append(g.trials, t)
	}
	return true
}

// choose gives each type to at most one job of a family, by what its trial is worth
// to the family's jobs together. A trial that was begun goes on. The answer has a
// trial, or nil, for each of family.
func choose(guesses []guess, family []int) []*planner.Trial {
	chosen := make([]*planner.Trial, len(family))
	tried := map[string]bool{}
	var types []string
	for i, at := range family {
		g := &guesses[at]
		for k := range g.trials {
			t := &g.trials[k]
			t.Jobs = float64(len(family))
			if !slices.Contains(types, t.Accelerator) {
				types = append(types, t.Accelerator)
			}
			if t.Accelerator == g.running {
				chosen[i], tried[g.running] = t, true
			}
		}
	}
	slices.Sort(types)
	for _, a := range types {
		if tried[a] {
			continue
		}
		best := -1
		var most *planner.Trial
		for i, at := range family {
			if chosen[i] != nil {
				continue
			}
			for k := range guesses[at].trials {
				if t := &guesses[at].trials[k]; t.Accelerator == a && t.Worth() > 0 && (most == nil || t.Worth() > most.Worth()) {
					best, most = i, t
				}
			}
		}
		if best >= 0 {
			chosen[best] = most
		}
	}
	return chosen
}

// tries reports whether c is the trial that s may make.
func tries(p *planner.Problem, s *planner.JobState, c *planner.Column) bool {
	return s.Trial != nil && p.Offers[c.Offer].Type.Accelerator == s.Trial.Accelerator
}

// trialReason says why a type is tried.
func trialReason(j *planner.Job, t *planner.Trial) string {
	name := j.Family
	if name == "" {
		name = string(j.ID)
	}
	gain := t.Jobs * t.Work * t.Improvement()
	return fmt.Sprintf("tries %s for %s, which never ran there: knowing its speed is worth %s USD on average, the trial costs %s",
		t.Accelerator, name, money(gain), money(gain-t.Worth()))
}
