package planner

import "slices"

// Admits reports whether the cap, the rows and what is for sale would carry a job of
// the program if it ran alone: on machines that are there, with nobody on them and
// no minimum run time left, or bought. What is on its way out counts as gone. A way
// counts if its worth passes the rates of its machines.
func (pr *Program) Admits(i int) bool {
	_, _, ok := pr.alone(i)
	return ok
}

// alone is the best seat of job i if it ran alone, and the packing that it is in.
func (pr *Program) alone(i int) (*packing, proposal, bool) {
	p := *pr.Problem
	p.Machines = slices.Clone(p.Machines)
	for m := range p.Machines {
		p.Machines[m].HoldTo = p.Now
	}
	if p.BurnCap > 0 {
		p.BurnCap += p.Aside
	}
	p.Rows = slices.Clone(p.Rows)
	for n := range p.Rows {
		if r := &p.Rows[n]; r.Kind == BurnRow && !r.ofJobs() && r.Over == nil {
			r.Most += p.Aside
		}
	}
	own := *pr
	own.Problem, own.room, own.shared = &p, room{}, nil
	own.index()
	k := newPacking(&own)
	for m := range p.Machines {
		if x := &p.Machines[m]; x.Leaving {
			k.burn -= x.Rate.Dollars()
		}
	}
	best, ok := k.best(i)
	return k, best, ok && best.gain() > tieSlack
}

// room is what a search may use of the cap and the rows; nil rows: all.
type room struct {
	kept   bool
	capped float64   // USD/h
	rows   []float64 // USD/h
}

// KeepRoom keeps as much of the cap and of the rows free as job i needs in its best
// seat: what runs goes on, but nothing is bought for others that would take it. So
// room comes together for a job that needs more than any one other gives up.
func (pr *Program) KeepRoom(i int) {
	_, need, ok := pr.alone(i)
	if !ok {
		return
	}
	pr.index()
	pr.room = room{}
	k := newPacking(pr)
	for j := range pr.Jobs {
		if c := pr.Jobs[j].Current; c >= 0 {
			if p, ok := k.proposeStay(j, c, nil); ok {
				k.seatAt(j, p)
			}
		}
	}
	col := &pr.Jobs[i].Columns[need.column]
	r := room{kept: true, capped: max(k.capped-pr.rates[col.Offer]*float64(col.Nodes), k.burn), rows: slices.Clone(k.most)}
	k.takes(i, col, bought(col.Nodes), func(n int, take float64) {
		if !pr.Problem.Rows[n].ofSpot() {
			r.rows[n] = max(r.rows[n]-take, k.used[n])
		}
	})
	pr.room = r
}

// FreeRoom gives back what KeepRoom kept.
func (pr *Program) FreeRoom() { pr.room = room{} }

// burnCap is the burn that a search may come to, USD/h; only where the problem has a cap.
func (pr *Program) burnCap() float64 {
	if pr.room.kept {
		return pr.room.capped
	}
	return pr.Problem.BurnCap.Dollars()
}
