package planner

import (
	"cmp"
	"slices"
)

// closeAll empties each shared machine that costs something, if its jobs do better
// elsewhere.
func (k *packing) closeAll() bool {
	better := false
	for b := 0; b < len(k.bins); b++ {
		if k.bins[b].jobs < 2 || k.bins[b].held {
			continue
		}
		trial := k.clone()
		var jobs []int
		for i := range trial.seats {
			if trial.seats[i].column >= 0 && slices.Contains(trial.seats[i].bins, b) {
				jobs = append(jobs, i)
			}
		}
		for _, i := range jobs {
			trial.unseat(i)
		}
		for _, i := range jobs {
			if p, ok := trial.best(i); ok && p.gain() > tieSlack {
				trial.seatAt(i, p)
			}
		}
		if trial.value() > k.value()+tieSlack && trial.rowsHold() {
			*k = *trial
			better = true
		}
	}
	return better
}

// shareAll opens one machine of each offer, or takes an idle one that is held, and
// lets in the jobs that gain by it; it stays if together they gain more than its
// rate.
func (k *packing) shareAll() bool {
	better := false
	for _, o := range k.pr.shared {
		if !k.withinCap(k.rate[o]) {
			continue
		}
		idle := slices.IndexFunc(k.binsOf(o), func(b int) bool {
			return k.bins[b].machine >= 0 && k.bins[b].jobs == 0 && !k.bins[b].held
		})
		if idle < 0 && !k.mayBuy(o, 1) {
			continue
		}
		better = k.shareOn(o, idle) || better
	}
	return better
}

// wish is a job that would rather sit on the machine that is tried.
type wish struct {
	job, column int
	gain        float64 // per accelerator, USD/h
}

// shareOn tries one machine of offer o: the idle-th that is held, or a bought one
// if idle < 0.
func (k *packing) shareOn(o, idle int) bool {
	worth := func(c *Column) float64 {
		if idle >= 0 {
			return c.Here
		}
		return c.Bought
	}
	wishes := k.wishes(o, worth)
	if len(wishes) < 2 {
		return false
	}
	trial := k.clone()
	machine := 0
	if idle >= 0 {
		machine = trial.binsOf(o)[idle]
	} else {
		machine = trial.empty(o)
	}
	trial.occupy(machine) // it stands even before its first job
	moved := make([]bool, len(k.seats))
	count := 0
	for _, w := range wishes {
		d := &trial.pr.Jobs[w.job]
		col := &d.Columns[w.column]
		if moved[w.job] || trial.bars(d, machine) || !trial.fits(&trial.bins[machine], d.State.Job, col) {
			continue
		}
		before := trial.value()
		back := trial.unseat(w.job)
		there := proposal{seat: seat{column: w.column, bins: []int{machine}, worth: worth(col)}}
		gain := worth(col) - trial.tollOf(w.job, col, there.bins)
		if trial.value()+gain > before+tieSlack && trial.allows(w.job, &there) {
			trial.seatAt(w.job, there)
			moved[w.job] = true
			count++
		} else {
			trial.putBack(w.job, back)
		}
	}
	trial.vacate(machine)
	if count == 0 || trial.value() <= k.value()+tieSlack || !trial.rowsHold() && k.rowsHold() {
		return false
	}
	*k = *trial
	return true
}

// wishes lists the jobs that would add more on a machine of offer o than they add
// now, when the machine itself costs nothing, the most per accelerator first.
func (k *packing) wishes(o int, worth func(*Column) float64) []wish {
	var list []wish
	for _, w := range k.pr.onOffer[o] {
		col := &k.pr.Jobs[w.job].Columns[w.column]
		if gain := worth(col) - k.adds(w.job); gain > tieSlack {
			list = append(list, wish{w.job, w.column, gain / float64(col.PerNode)})
		}
	}
	slices.SortStableFunc(list, func(a, b wish) int { return cmp.Compare(b.gain, a.gain) })
	return list
}

// adds is what the value would fall by without job i.
func (k *packing) adds(i int) float64 {
	s := &k.seats[i]
	if s.column < 0 {
		return 0
	}
	v := s.worth
	for _, b := range s.bins {
		if bin := &k.bins[b]; len(k.pr.tolls) > 0 {
			v -= k.pr.tollsOf(bin.offer, k.binRate(bin), bin.tenants) - k.pr.tollsOf(bin.offer, k.binRate(bin), without(bin.tenants, i))
		}
		if k.bins[b].jobs == 1 && !k.bins[b].held {
			v -= k.pr.times * k.binRate(&k.bins[b])
		}
	}
	return v
}
