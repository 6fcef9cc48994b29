package planner

import (
	"cmp"
	"slices"
)

// improve sweeps until nothing helps. It returns the number of sweeps, and whether
// any changed something.
func (k *packing) improve(most int) (passes int, changed bool) {
	for pass := range most {
		better := k.insertAll()
		better = k.moveAll() || better
		better = k.closeAll() || better
		better = k.shareAll() || better
		if !better { // the dearest step only where the others are at an end
			better = k.exchangeAll()
		}
		if !better {
			return pass + 1, changed
		}
		changed = true
	}
	return most, changed
}

// insertAll seats waiting jobs, those that gain most first. A job's gain is looked
// at again when its turn comes, and all of them once more while any was seated.
func (k *packing) insertAll() bool {
	better := false
	for {
		var order []wish
		for i := range k.seats {
			if k.seats[i].column >= 0 {
				continue
			}
			if p, ok := k.best(i); ok && p.gain() > tieSlack {
				order = append(order, wish{job: i, gain: p.gain()})
			}
		}
		slices.SortStableFunc(order, func(a, b wish) int { return cmp.Compare(b.gain, a.gain) })
		seated := false
		for _, w := range order {
			if p, ok := k.best(w.job); ok && p.gain() > tieSlack {
				k.seatAt(w.job, p)
				seated = true
			}
		}
		if !seated {
			return better
		}
		better = true
	}
}

// moveAll takes each job out and seats it where it adds most.
func (k *packing) moveAll() bool {
	better := false
	for i := range k.seats {
		if k.seats[i].column < 0 {
			continue
		}
		before := k.value()
		back := k.unseat(i)
		p, ok := k.best(i)
		moved := ok && k.value()+p.gain() > before+tieSlack
		if moved {
			k.seatAt(i, p)
		}
		// Left out, it was worth less than its machines. Either may leave too little on
		// demand beside the spot of others.
		if k.value() > before+tieSlack && k.rowsHold() {
			better = true
			continue
		}
		if moved {
			k.unseat(i)
		}
		k.seatAt(i, back)
	}
	return better
}
