package planner

// priced is a program under prices: what each job would take if machines could be
// had in parts.
type priced struct {
	pr   *Program
	rate []float64 // price of an accelerator of each offer, USD per hour
	held []float64 // accelerators that are held and cost nothing more, per offer
}

func (pr *Program) priced(mu float64) *priced {
	p := pr.Problem
	d := &priced{pr: pr, rate: make([]float64, len(p.Offers)), held: make([]float64, len(p.Offers))}
	for i := range p.Offers {
		d.rate[i] = (pr.times + mu) * p.Offers[i].Rate.Dollars() / float64(p.Offers[i].Type.Count)
	}
	for i, o := range pr.machineOffer {
		if o < 0 || p.Machines[i].Leaving {
			continue
		}
		count := float64(p.Offers[o].Type.Count)
		if p.Machines[i].HoldTo.After(p.Now) {
			d.held[o] += count
		}
		// A machine that we keep may be cheaper than one bought today.
		d.rate[o] = min(d.rate[o], (pr.times+mu)*p.Machines[i].Rate.Dollars()/count)
	}
	return d
}

// most is the best that a job adds under the prices, and the column that does it;
// -1 when it does best to wait.
func (d *priced) most(i int) (value float64, column int) {
	column = -1
	cols := d.pr.Jobs[i].Columns
	for c := range cols {
		col := &cols[c]
		if v := max(col.Stay, col.Here, col.Bought) - d.rate[col.Offer]*float64(col.Replicas()); v > value {
			value, column = v, c
		}
	}
	return value, column
}

// capPrice is the price on the burn cap, per dollar of rate, at which the jobs'
// own choices just stay within it when machines can be had in parts. 0 without a
// cap or when it does not bind.
func (pr *Program) capPrice() float64 {
	p := pr.Problem
	if p.BurnCap == 0 {
		return 0
	}
	room := pr.burnCap() - pr.fixedBurn()
	over := func(mu float64) bool {
		d := pr.priced(mu)
		burn := 0.0
		for i := range pr.Jobs {
			if _, c := d.most(i); c >= 0 {
				col := &pr.Jobs[i].Columns[c]
				burn += p.Offers[col.Offer].Rate.Dollars() / float64(p.Offers[col.Offer].Type.Count) * float64(col.Replicas())
			}
		}
		for o, n := range d.held {
			burn -= n * p.Offers[o].Rate.Dollars() / float64(p.Offers[o].Type.Count)
		}
		return burn > room
	}
	if !over(0) {
		return 0
	}
	low, high := 0.0, 1.0
	for high < 1e6 && over(high) {
		low, high = high, 2*high
	}
	for range 30 {
		if mid := (low + high) / 2; over(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// fixedBurn is the rates of the machines that burn whatever the plan says, USD/h.
func (pr *Program) fixedBurn() float64 {
	burn := 0.0
	for i := range pr.Problem.Machines {
		m := &pr.Problem.Machines[i]
		if m.Leaving || pr.machineOffer[i] < 0 || m.HoldTo.After(pr.Problem.Now) {
			burn += m.Rate.Dollars()
		}
	}
	return burn
}
