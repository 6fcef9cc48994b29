package policy

import (
	"cmp"
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/deadline"
	"github.com/goodfleet/goodfleet/provider"
)

// DefaultPatience is how many times its time at the knee a job without deadline may
// take under MinCost.
const DefaultPatience = 4.0

// noValue is what an hour counts where only money does, USD: the least rate that is one.
const noValue = 1e-9

// MinCost spends the least that meets every deadline: an hour has no value of its own.
// A job without deadline gets one at Settings.Patience times its time at the knee, from
// its submission. What a job waits for, takes or leaves is deadline.Patient: it waits
// for spot while it has slack, and goes to what surely runs, the cheapest that is fast
// enough, before its net is due. Nets, caps and quotas are those of Value.
func MinCost(p planner.Problem, s Settings) (planner.Plan, error) {
	p.Jobs = patientJobs(&p, s)
	r, err := explainWith(p, s, thrifty)
	if err != nil {
		return planner.Plan{}, err
	}
	return r.Plan, nil
}

// patientJobs are the jobs of p, each with a deadline and without a value of time.
func patientJobs(p *planner.Problem, s Settings) []planner.JobState {
	list := make([]planner.JobState, len(p.Jobs))
	plain := planner.Problem{Offers: p.Offers}
	for i, state := range p.Jobs {
		job := *state.Job
		if job.Deadline.IsZero() {
			plain.Jobs = []planner.JobState{{Job: &job}} // from its beginning, on nothing
			if pr, err := planner.NewProgram(&plain, s.transfer()); err == nil && len(pr.Jobs[0].Columns) > 0 {
				d := &pr.Jobs[0]
				knee := &d.Columns[kneeOf(&plain, d)]
				_, p80 := planner.Remaining(d.State, knee.Speed.Goodput)
				job.Deadline = job.Submitted.Add(hours(cmp.Or(s.Patience, DefaultPatience) * (knee.Resume + knee.Boot + knee.WallHours(p80))))
			}
		}
		job.ValueOfTime = 1 // noValue: 0 would stand for the knee's rate
		state.Job = &job
		list[i] = state
	}
	return list
}

// thrifty takes the waiting bonus from a job, and leaves it the columns of what deadline.Patient says: spot, what surely runs, or none.
func thrifty(p *planner.Problem, d *planner.Demand, w *worth) {
	w.bonus, w.next = 0, time.Time{}
	g := w.pledge
	if g == nil || g.due || len(g.safety.Ways) == 0 {
		setWorth(p, d, w)
		if g != nil {
			g.must = true // it runs, whatever it is worth
		}
		return
	}
	net := &g.all[g.safety.Ways[0].Column]
	if g.safety.Net != nil {
		net = &g.all[g.safety.Net.Column]
	}
	var spot *planner.Column
	for c := range d.Columns {
		col := &d.Columns[c]
		if p.Offers[col.Offer].Sure() || !usable(p, d, c) {
			continue
		}
		if spot == nil || col.CostOfWork(0) < spot.CostOfWork(0) {
			spot = col
		}
	}
	mode, why := patience(p, d, w, net, spot)
	switch mode {
	case deadline.Idle:
		d.Columns, d.Current, g.hold = nil, -1, why
	case deadline.Spot:
		confine(p, d, w, func(c int) bool { return !p.Offers[d.Columns[c].Offer].Sure() && usable(p, d, c) })
		g.must = true
	default:
		fits := map[int]bool{}
		for _, f := range g.safety.Ways {
			fits[f.Column] = true
		}
		confine(p, d, w, func(c int) bool { return fits[c] })
		g.must = true
	}
}

// usable reports whether column c of a job can be had: bought, or kept.
func usable(p *planner.Problem, d *planner.Demand, c int) bool {
	o := &p.Offers[d.Columns[c].Offer]
	return c == d.Current || o.Blocked == "" && o.Cap != 0
}

// patience asks deadline.Patient what the job should hold. spot nil: none is there.
func patience(p *planner.Problem, d *planner.Demand, w *worth, net, spot *planner.Column) (mode deadline.Mode, why string) {
	job := d.State.Job
	if spot == nil {
		spot = &planner.Column{} // nothing is known of its price: as cheap as the last one that was there
	}
	onNet := net.Speed.Goodput * net.Useful // samples an hour
	all := w.p80 + d.State.Done
	c := deadline.Case{
		Work: all / onNet, Time: job.Deadline.Sub(job.Submitted).Hours(), Changeover: net.Resume + net.Boot,
		Tick: p.Tick().Hours(), Grant: p.Offers[net.Offer].Grant.Hours(), Rate: noSpotRate,
	}
	v := deadline.View{Work: w.p80 / onNet, Time: job.Deadline.Sub(p.Now).Hours(), Mode: deadline.Idle, Age: knownForLong}
	if spot.Nodes > 0 {
		o := &p.Offers[spot.Offer]
		c.Rate = net.CostOfWork(0) / spot.CostOfWork(0)
		v.There = true
		v.Spent = d.State.Spent.Dollars() / (spot.CostOfWork(0) * onNet)
		if spot.Loss > 0 {
			v.Life = 1 / spot.Loss
		}
		if !o.Missing.IsZero() {
			v.Age = p.Now.Sub(o.Missing).Hours()
		}
	}
	if d.Current >= 0 {
		v.Mode = deadline.Sure
		if p.Offers[d.Columns[d.Current].Offer].Offering.Market == provider.Spot {
			v.Mode = deadline.Spot
		}
	}
	mode = deadline.Patient(&c, v)
	if mode == deadline.Idle {
		why = fmt.Sprintf("waits for spot: %s of slack", hours(v.Time-deadline.Net(v.Work, c.Changeover, c.Tick, c.Grant)).Round(time.Minute))
	}
	return mode, why
}

const (
	// noSpotRate stands for the rate of what surely runs over that of spot while no
	// spot is there to be compared with: what AWS and GCP ask in the middle.
	noSpotRate = 3.0

	// knownForLong is the age, in hours, of spot that was never found missing.
	knownForLong = 24.0
)
