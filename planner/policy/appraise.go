package policy

import (
	"math"

	"github.com/goodfleet/goodfleet/planner"
)

// appraise finds v, kappa, the work left and the waiting bonus of a job, without
// the columns that gone reports (nil: with all).
func appraise(p *planner.Problem, d *planner.Demand, gone func(c *planner.Column) bool) worth {
	j := d.State.Job
	knee := kneeOf(p, d)
	w := worth{v: j.ValueOfTime.Dollars()}
	if w.v <= 0 {
		w.v = bookedRate(p, &d.Columns[knee])
		if j.Weight > 0 {
			w.v *= j.Weight
		}
	}
	w.v = min(w.v, p.MostValue(j.Team))
	w.at, w.lasts = -1, p.Turnover.Hours()
	if p.Mu()+p.MuOf(j.Team) == 0 { // the price of money turns, and what is the best size with it
		w.steady = steadyAt(d, p.Now)
	}
	if d.Current >= 0 {
		w.at = d.Columns[d.Current].Offer
	}
	w.left, w.p80 = planner.Remaining(d.State, d.Columns[knee].Speed.Goodput)
	cheapestWay(p, d, &w, gone)
	if w.best < 0 {
		return w
	}
	best := &d.Columns[w.best]
	age := p.Now.Sub(j.Submitted).Hours()
	alone := best.WallHours(w.left + d.State.Done)
	if w.alone = alone; alone > 0 {
		rest := best.WallHours(w.left)
		step := math.Floor(math.Log((max(age, 0)+rest)/alone) / math.Log(rhoStep))
		w.rho = math.Pow(rhoStep, step)
		w.next = j.Submitted.Add(hours(math.Pow(rhoStep, step+1)*alone - rest))
	}
	w.bonus = w.v * math.Pow(max(0, w.rho-1), 2)
	payDear(p, d, &w, gone)
	return w
}

// kneeOf is the column of the least cost times time.
func kneeOf(p *planner.Problem, d *planner.Demand) int {
	knee, kneeScore := 0, -1.0
	for c := range d.Columns {
		col := &d.Columns[c]
		if score := col.Speed.Goodput * col.Speed.Goodput / bookedRate(p, col); score > kneeScore {
			knee, kneeScore = c, score
		}
	}
	return knee
}

// cheapestWay finds kappa and the column that has it, without those that gone reports.
func cheapestWay(p *planner.Problem, d *planner.Demand, w *worth, gone func(c *planner.Column) bool) {
	fallBack(p, d, w.v)
	w.kappa, w.best = math.Inf(1), -1
	for c := range d.Columns {
		col := &d.Columns[c]
		if gone != nil && gone(col) {
			continue
		}
		if k := col.CostOfWork(w.v) + once(col, w.left); k < w.kappa {
			w.kappa, w.best = k, c
			w.start, w.charge = col.Resume+col.Boot, leastCharge(p, col, w)
		}
	}
}

// once is the money of moving the job's data to c, per sample of the work left.
func once(c *planner.Column, left float64) float64 {
	if c.OneOff == 0 || left <= 0 {
		return 0
	}
	return c.OneOff / left
}

// bookedRate is the rate of c's whole machines as the report will show it, USD/h:
// a machine that is owned has a decision rate of 0 but is not worth nothing.
func bookedRate(p *planner.Problem, c *planner.Column) float64 {
	o := &p.Offers[c.Offer]
	rate := max(o.Booked, o.Rate).Dollars()
	return max(rate*float64(c.Nodes), 1e-6)
}

// dearerBy is what the budgets add to each dollar of c's whole machines.
func dearerBy(p *planner.Problem, d *planner.Demand, c *planner.Column) float64 {
	share := float64(c.PerNode) / float64(p.Offers[c.Offer].Type.Count)
	return p.Mu() + share*p.MuOf(d.State.Job.Team)
}

// payDear lets the waiting bonus of a job first make up for what its work costs more
// by dear money, for each unit of work: where that decides whether the job runs, it
// runs on what does most for a dollar, not on what costs least an hour. The rest of
// the bonus is the same on every config. Columns that gone reports are left out.
func payDear(p *planner.Problem, d *planner.Demand, w *worth, gone func(c *planner.Column) bool) {
	if w.bonus <= 0 || len(p.Budgets) == 0 {
		return
	}
	least, pace := math.Inf(1), 0.0
	for c := range d.Columns {
		col := &d.Columns[c]
		if gone != nil && gone(col) {
			continue
		}
		done := col.Speed.Goodput * col.Useful
		if k := col.CostOfWork(w.v) + once(col, w.left) + dearerBy(p, d, col)*col.Alone/done; k < least {
			least, pace = k, done
		}
	}
	need := (least - w.kappa) * pace
	if need <= 0 {
		return
	}
	paid := min(need, w.bonus)
	w.dear, w.bonus = paid/pace, w.bonus-paid
}
