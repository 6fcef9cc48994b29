package policy

import "github.com/goodfleet/goodfleet/planner"

// fallBack finds for every column of a job what it does after a loss, until the same
// can be had again after D hours (Dry): it goes on in the next-best way that is sold
// now, or waits.
//
// The model's wait D in the cost of a unit of work is the wait until this or the
// next-best way runs. Where another is sold it is none: pools come and go whoever
// holds them, so what is there after a loss is there whatever was chosen before, and
// the choice owes a loss the restart alone, which Useful holds. With the wait of the
// own pool instead, spot that goes often would look dearer than on demand beside
// zones that sell the same.
//
// What a loss does to the end of the job is another question. Hours up, 1/L in the
// mean, and D hours on the other way x take turns, with S hours for the way back, so
//
//	USD per sample   = (R/L + D·R_x + S·R + M)/(G·a/L + D·G_x·a_x)
//	hours per sample = (1/L + D + S)/(G·a/L + D·G_x·a_x)
//
// from which Dearer and Behind follow, with M what data and checkpoint cost to move to
// x beyond what they cost here, USD. It waits where that makes a sample cheaper in money
// and time.
func fallBack(p *planner.Problem, d *planner.Demand, v float64) {
	best, second := nextBest(p, d, v)
	for c := range d.Columns {
		col := &d.Columns[c]
		col.Down, col.Behind, col.Dearer = col.Dry, col.Dry, 0
		x := best
		if x != nil && x.Offer == col.Offer {
			x = second
		}
		if x == nil || col.Loss <= 0 || col.Dry <= 0 {
			continue
		}
		col.Down = 0
		pace, other := col.Speed.Goodput*col.Useful, x.Speed.Goodput*x.Useful
		back := col.Resume + col.Boot
		moves := max(0, x.OneOff-col.OneOff)
		turn := pace/col.Loss + col.Dry*other // samples
		spend := (col.Alone/col.Loss + col.Dry*x.Alone + back*col.Alone + moves) / turn
		wall := (1/col.Loss + col.Dry + back) / turn
		if spend+v*wall >= (col.Alone+v*(1+col.Loss*col.Dry))/pace {
			continue // it waits
		}
		col.Dearer = (spend*pace - col.Alone) / col.Loss
		col.Behind = (wall*pace - 1) / col.Loss
	}
}

// nextBest are the ways to run the job that are sold now and fit the cap, of which a
// unit of work costs least in money and time, with moving there spread over an hour
// at least, and the least so on another offering.
func nextBest(p *planner.Problem, d *planner.Demand, v float64) (best, second *planner.Column) {
	cost := func(c *planner.Column) float64 {
		return (c.Alone + v + c.OneOff/max(c.Dry, 1)) / (c.Speed.Goodput * c.Useful)
	}
	for c := range d.Columns {
		col := &d.Columns[c]
		switch {
		case !p.Offers[col.Offer].ForSale() || p.BurnCap > 0 && col.Alone > p.BurnCap.Dollars():
		case best == nil || cost(col) < cost(best):
			if best != nil && best.Offer != col.Offer {
				second = best
			}
			best = col
		case col.Offer != best.Offer && (second == nil || cost(col) < cost(second)):
			second = col
		}
	}
	return best, second
}
