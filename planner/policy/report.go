package policy

import (
	"fmt"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
)

// report turns a solution into a plan with its reasons. full holds every column
// of each job, know what the policy knew of it, scale what the plan decides on in
// USD per hour.
func report(p *planner.Problem, pr *planner.Program, sol planner.Solution, know []worth, full []planner.Demand, scale float64) planner.Plan {
	l, rows := sol.Layout(), sol.Elsewhere()
	plan := planner.Plan{
		Machines: l.Machines, Releases: l.Releases, Burn: l.Burn,
		Value: sol.Value, Bound: sol.Bound,
	}
	if scale > 0 && sol.Bound.Kind != "" {
		plan.Gap = max(0, sol.Bound.Value-sol.Value) / scale
	}
	wake := func(at time.Time, clock planner.Clock) {
		if at.After(p.Now) && (plan.NextDecision.IsZero() || at.Before(plan.NextDecision)) {
			plan.NextDecision, plan.NextClock = at, clock
		}
	}
	for i := range pr.Jobs {
		d := &pr.Jobs[i]
		seat := &l.Seats[i]
		said := ""
		if !d.State.Job.Deadline.IsZero() && (know[i].pledge != nil || len(d.Columns) == 0) {
			x := promise(p, d, seat, &know[i])
			plan.Promises = append(plan.Promises, x)
			if x.State == planner.PromiseLate || x.State == planner.PromiseOpen {
				said = "; deadline: " + x.String()
			}
			wake(x.From, planner.NetClock)
		}
		if seat.Column == nil {
			w := waits(p, d, sol, i, &know[i])
			w.Reason += said
			plan.Waits = append(plan.Waits, w)
			if know[i].aside && d.Refused {
				wake(know[i].next, planner.BonusClock)
			}
			if !w.Never && !d.Refused { // what a policy forbids until then is told by the clocks of policies
				wake(later(know[i].next, p.Now.Add(bonusCheck)), planner.BonusClock)
				wake(headAt(d, &know[i]), planner.HeadClock)
			}
			continue
		}
		a := allocate(p, d, seat, &know[i], full[i].Columns, l.Machines)
		a.Alternates = alternates(p, rows, i, prizeOf(&know[i]), seat, full[i].Columns, l.Machines)
		a.Reason += said
		plan.Allocations = append(plan.Allocations, a)
		if a.Held && full[i].Columns[know[i].best].Offer == know[i].at { // another size there may be worth it then
			wake(longer(d, &know[i]), planner.StayClock)
		}
		if know[i].head > 0 {
			wake(p.Now.Add(firstRun(d)-d.State.Held), planner.HeadClock)
		}
	}
	plan.Roomy = sol.Roomy() && len(plan.Waits)+len(plan.Promises) == 0
	for _, at := range delay(p, know, full, &plan) {
		wake(at, planner.FreeClock)
	}
	for _, at := range holdOut(p, pr, know, &plan) {
		wake(at, planner.OpenClock)
	}
	if at := keepIdle(p, pr, know, full, &plan); !at.IsZero() {
		wake(at, planner.IdleClock)
	}
	makeRoom(&plan)
	for m := range plan.Machines {
		pm := &plan.Machines[m]
		if pm.Instance == "" {
			pm.Reason = "carries " + shares(pm.Jobs)
		}
	}
	for i := range p.Machines {
		m := &p.Machines[i]
		if m.HoldTo.After(p.Now) && !m.Leaving {
			wake(m.HoldTo, planner.HoldClock)
		}
	}
	for i := range p.Offers {
		if o := &p.Offers[i]; o.Blocked != "" && !o.Until.IsZero() {
			wake(o.Until, planner.BackClock)
		}
	}
	return plan
}

// makeRoom names the clock of what moves or ends beside a job that a clock started:
// it gives way to that job, or follows from it.
func makeRoom(plan *planner.Plan) {
	cause := planner.NoClock
	for _, a := range plan.Allocations {
		if a.Clock != planner.NoClock {
			cause = a.Clock
			break
		}
	}
	if cause == planner.NoClock {
		return
	}
	for i := range plan.Allocations { // the clock of the head is its own: a round may end more for it
		if a := &plan.Allocations[i]; !a.Keeps && a.Clock == planner.NoClock && cause != planner.HeadClock {
			a.Clock = cause
		}
	}
	for i := range plan.Releases {
		if r := &plan.Releases[i]; r.Clock == planner.NoClock {
			r.Clock = cause
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func shares(list []planner.Share) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = fmt.Sprintf("%s (%d)", s.Job, s.Accelerators)
	}
	return strings.Join(words, ", ")
}

// waits says why a job gets nothing.
func waits(p *planner.Problem, d *planner.Demand, sol planner.Solution, i int, w *worth) planner.Wait {
	wait := planner.Wait{Job: d.State.Job.ID}
	switch {
	case w.pledge != nil && w.pledge.hold != "":
		wait.Reason = w.pledge.hold
	case w.pledge != nil && w.pledge.short != "":
		wait.Reason = w.pledge.short + " has no room for it now"
	case w.short != "":
		wait.Reason = "it is the head of those that never ran, and " + w.short + " has no room for it yet: nothing is bought before it"
	case len(d.Columns) == 0 && d.Lacks != "":
		wait.Reason, wait.Never = d.Lacks+unpriced(p, d.State.Job), !d.Refused
	case len(d.Columns) == 0:
		wait.Reason, wait.Retries = blocked(p, d.State.Job)
		wait.Reason += unpriced(p, d.State.Job)
	case sol.LacksShare(i) != nil:
		wait.Reason = lacksShare(sol.LacksShare(i))
	default:
		binds := sol.CouldStart(i)
		if binds == "" {
			wait.Reason = "an hour of it is worth " + money(w.v) + " USD, less than what it would displace"
			if scarce := p.Scarce(d.State.Job.Team); scarce != "" {
				wait.Reason += ", by budget " + scarce
			}
		} else {
			wait.Reason = binds + " is taken by jobs worth more per dollar"
		}
	}
	return wait
}

// lacksShare says of what there must be more before a job may start. Of a job that may run
// on one market alone this may be never, so it is said what else there must be.
func lacksShare(r *planner.Row) string {
	if r.Kind == planner.SpotRow {
		return fmt.Sprintf("limit %s: spot may be %s of what is burnt, and too little on demand runs beside it: alone, a job on spot is all of it", r.Name, percent(r.Part))
	}
	return fmt.Sprintf("limit %s: spot must be %s of what is burnt, and too little spot runs beside it: alone, a job on demand has none", r.Name, percent(r.Part))
}

// unpriced names what would carry the job and has no known price: it is never
// bought, however much it would help.
func unpriced(p *planner.Problem, j *planner.Job) string {
	var names []string
	for i := range p.Unpriced {
		if _, none := planner.Lacks(j, p.Unpriced[i:i+1]); !none {
			names = append(names, p.Unpriced[i].Offering.String())
		}
	}
	const shown = 3
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1:
		return "; " + names[0] + " has no price"
	case n > shown:
		return fmt.Sprintf("; %s and %d more have no price", strings.Join(names[:shown], ", "), n-shown)
	}
	return "; " + strings.Join(names, ", ") + " have no price"
}

// blocked says why every offer that fits the job cannot be bought now.
func blocked(p *planner.Problem, j *planner.Job) (reason string, until time.Time) {
	seen := map[string]int{}
	var order []string
	for i := range p.Offers {
		o := &p.Offers[i]
		why := o.Blocked
		if why == "" && o.Cap == 0 {
			why = "no more of it may be bought"
		}
		if why == "" {
			continue
		}
		if _, none := planner.Lacks(j, p.Offers[i:i+1]); none {
			continue
		}
		if seen[why] == 0 {
			order = append(order, why)
		}
		seen[why]++
		if !o.Until.IsZero() && (until.IsZero() || o.Until.Before(until)) {
			until = o.Until
		}
	}
	words := make([]string, len(order))
	for i, why := range order {
		words[i] = fmt.Sprintf("%s (%d offerings)", why, seen[why])
	}
	return "nothing that fits can be had now: " + strings.Join(words, "; "), until
}

// allocate describes a seat.
func allocate(p *planner.Problem, d *planner.Demand, seat *planner.Seat, w *worth, full []planner.Column, machines []planner.PlannedMachine) planner.Allocation {
	c := seat.Column
	o := &p.Offers[c.Offer]
	a := planner.Allocation{
		Job:      d.State.Job.ID,
		Config:   configOf(p, c),
		Offering: o.Offering,
		Machines: seat.Machine,
		Speed:    c.Speed,
		Alone:    o.Rate.Times(c.Nodes),
		Keeps:    seat.Stays,
	}
	for _, ref := range seat.Machine {
		a.Rate += machines[ref].Rate * pricing.Rate(c.PerNode) / pricing.Rate(o.Type.Count)
	}
	if d.State.Job.Work.Kind != planner.WorkUnknown {
		wait := c.Resume
		if seat.Stays {
			wait = 0
		} else if seat.Bought {
			wait += c.Boot
		}
		a.Finish = p.Now.Add(hours(wait + c.WallHours(w.left)))
		a.Cost = pricing.Money(float64(a.Rate)*c.PaidHours(w.left)) + pricing.Money(c.Loss*c.Dearer*c.PaidHours(w.left)*float64(pricing.Dollar))
		if !seat.Stays {
			a.Cost += pricing.Money(c.OneOff * float64(pricing.Dollar))
		}
	}
	a.Reason = why(p, seat, w, full)
	if seat.Stays && w.best >= 0 {
		// What it bears of its machines is what it could save of: on a shared one, a part.
		stay := *c
		stay.Alone = a.Rate.Dollars()
		if less := 1 - cost(&full[w.best], w)/cost(&stay, w); less > leastSaving {
			a.Held = true
			a.Reason = fmt.Sprintf("held: saving below threshold: %s would be %s cheaper per unit of work, which a restart does not earn back",
				p.Offers[full[w.best].Offer].Offering, percent(less))
		}
	}
	if tries(p, d.State, c) {
		a.Reason = trialReason(d.State.Job, d.State.Trial)
	}
	if w.head > 0 {
		a.Reason = headReason(p, d)
	}
	a.RunnerUp = runnerUp(p, seat, w, full)
	switch {
	case w.pledge != nil && w.pledge.due && !a.Keeps:
		a.Clock = planner.NetClock
	case d.Current < 0 && w.head > 0:
		a.Clock = planner.HeadClock
	case d.Current < 0 && w.bonus > 0:
		a.Clock = planner.BonusClock
	case d.Current >= 0 && !a.Keeps && w.steady > steadyAt(d, p.Now.Add(-p.Tick())):
		a.Clock = planner.StayClock
	}
	return a
}

func configOf(p *planner.Problem, c *planner.Column) planner.Config {
	t := &p.Offers[c.Offer].Type
	return planner.Config{Cloud: t.Cloud, Type: t.Name, Nodes: c.Nodes, Replicas: c.Replicas(), Batch: c.Speed.Batch, MaxLocal: c.Speed.MaxLocal}
}

// cost is what the rest of the job costs on c, money and time, in USD.
func cost(c *planner.Column, w *worth) float64 {
	return (c.CostOfWork(w.v) + once(c, w.left)) * w.left
}

// leastSaving is the share of a job's cost below which another place is as good as
// this one: less is rounding.
const leastSaving = 1e-6

// why says what spoke for the seat.
func why(p *planner.Problem, seat *planner.Seat, w *worth, full []planner.Column) string {
	c := seat.Column
	if w.best >= 0 {
		best := &full[w.best]
		switch more := cost(c, w)/cost(best, w) - 1; {
		case same(p, c, best) && c.Offer == best.Offer:
			if w.v <= noValue {
				return fmt.Sprintf("least money for its work: %s USD to the end", money(cost(c, w)))
			}
			return fmt.Sprintf("least money and time for its work: %s USD to the end, with an hour valued at %s USD", money(cost(c, w)), money(w.v))
		case more > 0.0005:
			return fmt.Sprintf("next to its best (%s, %s dearer alone): shares a machine, or the best cannot be had", p.Offers[best.Offer].Offering, percent(more))
		}
	}
	text := fmt.Sprintf("as good as its best: %s USD to the end", money(cost(c, w)))
	if w.v > noValue {
		text += fmt.Sprintf(", with an hour valued at %s USD", money(w.v))
	}
	return text
}

// same reports whether two columns are the same config in the same market.
func same(p *planner.Problem, a, b *planner.Column) bool {
	x, y := &p.Offers[a.Offer], &p.Offers[b.Offer]
	return x.Type.Name == y.Type.Name && x.Type.Cloud == y.Type.Cloud && x.Offering.Market == y.Offering.Market &&
		a.Nodes == b.Nodes && a.PerNode == b.PerNode
}

// runnerUp is the best other config or market of the job, and why it lost.
func runnerUp(p *planner.Problem, seat *planner.Seat, w *worth, full []planner.Column) *planner.RunnerUp {
	chosen := seat.Column
	var second *planner.Column
	for c := range full {
		col := &full[c]
		if same(p, chosen, col) {
			continue
		}
		if second == nil || cost(col, w) < cost(second, w) {
			second = col
		}
	}
	if second == nil {
		return nil
	}
	o := &p.Offers[second.Offer]
	r := &planner.RunnerUp{Config: configOf(p, second), Offering: o.Offering, Rate: o.Rate.Times(second.Nodes)}
	speed := second.Speed.Goodput * second.Useful / (chosen.Speed.Goodput * chosen.Useful)
	rate := second.Alone / max(chosen.Alone, 1e-9)
	r.Reason = fmt.Sprintf("%.2f× the useful speed at %.2f× the rate", speed, rate)
	switch ratio := cost(second, w) / cost(chosen, w); {
	case ratio > 1.0005:
		r.Reason += ": " + percent(ratio-1) + " dearer per unit of work"
	case ratio < 0.9995:
		r.Reason += ": " + percent(1-ratio) + " cheaper per unit of work, less than the switch costs or not to be had"
	default:
		r.Reason += ": equal; ties keep what is, then go by name"
	}
	if second.Useful < 0.97 {
		r.Reason += fmt.Sprintf(" (%s of what is paid is lost to interruptions)", percent(1-second.Useful))
	}
	return r
}

func hours(h float64) time.Duration {
	const most = 100 * 365 * 24
	return time.Duration(min(h, most) * float64(time.Hour))
}

// money is dollars for a sentence: three significant digits below ten, cents above.
func money(usd float64) string {
	if usd < 10 {
		return fmt.Sprintf("%.3g", usd)
	}
	return fmt.Sprintf("%.2f", usd)
}

func percent(share float64) string {
	if share < 0.1 {
		return fmt.Sprintf("%.1f %%", 100*share)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}
