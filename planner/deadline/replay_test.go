package deadline

import "math"

// trace is when spot is there, tick by tick, in one or more zones of the same length.
type trace struct {
	tick  float64 // h
	zones [][]bool
}

// there reports whether spot is there in some zone.
func (tr *trace) there(at int) bool {
	for _, z := range tr.zones {
		if z[at] {
			return true
		}
	}
	return false
}

// bill is what a replay came to.
type bill struct {
	cost       float64 // h of spot
	spot, sure float64 // h of work done on each
	starts     int
	finish     float64 // h after the start
	late       bool
}

// seen is what was seen of a zone: losses, and the hours that it was up. As long as
// nothing was seen, a loss every 10/3 h is believed, with the weight of half a loss.
type seen struct {
	losses, up float64
	was        bool
}

func (s *seen) lossPerHour() float64 { return (0.5 + s.losses) / (0.5/0.3 + s.up) }

func (s *seen) see(there bool, tick float64) {
	if s.was && !there {
		s.losses++
	}
	s.was = there
	if there {
		s.up += tick
	}
}

// replay runs one job on a trace from a tick on. Everything changes at ticks; spot is
// taken in the zone that was lost least often so far.
func replay(tr *trace, from int, c Case, rule Rule) bill {
	v := View{Work: c.Work, Time: c.Time, Mode: Idle, Age: -tr.tick}
	zones := make([]seen, len(tr.zones))
	var b bill
	held, changing := -1, 0.0
	var all seen // of spot as a whole
	for at := from; v.Work > 1e-9; at++ {
		if at >= len(tr.zones[0]) {
			return bill{late: true, finish: math.Inf(1)}
		}
		best := -1
		for i := range zones {
			zones[i].see(tr.zones[i][at], tr.tick)
			if tr.zones[i][at] && (best < 0 || zones[i].lossPerHour() < zones[best].lossPerHour()) {
				best = i
			}
		}
		if v.There != (best >= 0) {
			v.There, v.Age = best >= 0, -tr.tick
		}
		v.Age += tr.tick
		all.see(best >= 0, tr.tick)
		v.Life = 1 / all.lossPerHour()
		if v.Mode == Spot && !tr.zones[held][at] {
			v.Mode, held = Idle, -1
		}
		m := rule(&c, v)
		if m == Spot && !v.There {
			panic("a rule says spot where there is none")
		}
		if m != v.Mode {
			changing, held, v.Mode = 0, -1, m
			if m != Idle {
				changing = c.Changeover
				b.starts++
			}
			if m == Spot {
				held = best
			}
		}
		use := tr.tick
		if m != Idle {
			use = min(use, changing+v.Work)
			wait := min(use, changing)
			changing -= wait
			work := use - wait
			v.Work -= work
			rate := 1.0
			if m == Spot {
				b.spot += work
			} else {
				b.sure += work
				rate = c.Rate
			}
			v.Spent += rate * use
		}
		v.Time -= use
		b.finish += use
	}
	b.cost = v.Spent
	b.late = v.Time < -1e-9
	return b
}

// omniscientBound is the least that a job can cost that knows the trace: the minimum
// of Σ (s + k·v) over ticks with s + v <= 1, s only where spot is there, and
// Σ (s + v) ticks of work less a changeover for each start at least C0 (NSDI 2024,
// section 3.3). A price on work makes it a shortest path over (tick, mode); the best
// price gives a bound that no schedule passes.
func omniscientBound(tr *trace, from int, c Case) float64 {
	steps := int(c.Time/tr.tick + 1e-9)
	dual := func(price float64) (value, work float64) {
		// least[m] is the least cost less price·work of the ticks from here on in mode m.
		var least, done [3]float64
		for t := steps - 1; t >= 0; t-- {
			var nextLeast, nextDone [3]float64
			up := tr.there(from + t)
			for m := range 3 { // 0 idle, 1 spot, 2 what surely runs
				nextLeast[m], nextDone[m] = least[0], done[0]
				for to := 1; to <= 2; to++ {
					if to == 1 && !up {
						continue
					}
					work, rate := tr.tick, 1.0
					if to == 2 {
						rate = c.Rate
					}
					if to != m {
						work -= c.Changeover
					}
					if v := least[to] + rate*tr.tick - price*work; v < nextLeast[m] {
						nextLeast[m], nextDone[m] = v, done[to]+work
					}
				}
			}
			least, done = nextLeast, nextDone
		}
		return least[0] + price*c.Work, done[0]
	}
	lo, hi, best := 0.0, 64*c.Rate, 0.0
	for range 40 {
		price := (lo + hi) / 2
		value, work := dual(price)
		best = max(best, value)
		if work < c.Work {
			lo = price
		} else {
			hi = price
		}
	}
	return best
}

// omniscientExact is the same least cost by dynamic programming over tick, mode and
// progress on a grid of unit hours, which must divide tick, changeover and work.
func omniscientExact(tr *trace, from int, c Case, unit float64) float64 {
	steps := int(c.Time/tr.tick + 1e-9)
	need, gain, lose := int(math.Round(c.Work/unit)), int(math.Round(tr.tick/unit)), int(math.Round(c.Changeover/unit))
	most := need + 4*lose // starts at first put the end further off
	// least[m][w] is the least cost of w units of work in the ticks from here on.
	fresh := func() (l [3][]float64) {
		for m := range l {
			l[m] = make([]float64, most+1)
			for w := range l[m] {
				if w > 0 {
					l[m][w] = math.Inf(1)
				}
			}
		}
		return l
	}
	least, next := fresh(), fresh()
	at := func(l []float64, w int) float64 {
		switch {
		case w <= 0:
			return l[0]
		case w > most:
			return math.Inf(1)
		}
		return l[w]
	}
	for t := steps - 1; t >= 0; t-- {
		up := tr.there(from + t)
		for m := range 3 {
			for w := range most + 1 {
				v := least[0][w]
				for to := 1; to <= 2; to++ {
					if to == 1 && !up {
						continue
					}
					rate, left := 1.0, w-gain
					if to == 2 {
						rate = c.Rate
					}
					if to != m {
						left += lose
					}
					v = min(v, at(least[to], left)+rate*tr.tick)
				}
				next[m][w] = v
			}
		}
		least, next = next, least
	}
	return least[0][need]
}
