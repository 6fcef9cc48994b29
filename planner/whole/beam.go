package whole

import (
	"cmp"
	"math"
	"slices"
)

// Settings of the beam.
const (
	beamWidth  = 50   // states kept at each depth
	beamDepth  = 28   // jobs that change at most
	beamAlike  = 3    // changes kept that move the same rows by the same units
	beamRows   = 3    // rows of a state that are acted on
	beamLossy  = 40   // changes that gain most, tried from every state
	beamPart   = 0.25 // part of all that is lost that one change may add
	beamRounds = 8    // choices improved
)

// beam improves a choice by chains of changes that no few rows contain: one job fills
// the room of a row and overfills it, the next leaves that row for another, until
// all is even again. A state is the room of every row, which on the way may be below
// nothing; the states that lose least are kept, overfull rows counted at their price.
type beam struct {
	x     *exchange
	width int
	moves [][]move // row → changes that move its use, those that lose least first
	lossy []move

	states []chain
	rooms  []float64 // state × row
	next   []chain
	trail  []link // moves that chains share, each after the one before
	best   chain
	found  bool
}

// move is a job's change from what it has to option i: it frees units of row from (-1:
// none) and takes units of row to, and loses more by loss.
type move struct {
	j, i       int32
	from, to   int32
	free, take float64
	loss       float64
}

// chain is a state: the moves so far, what they lose, and that with the rent of what is
// amiss with the rooms.
type chain struct {
	loss, score float64
	move        *move // the last one; nil: none
	before      int32 // those before it, in the trail; -1: none
	parent      int32 // state that it comes from
}

// link is a move of a chain and the place of the one before, -1: none.
type link struct {
	move   *move
	before int32
}

// sweep improves the choice by beams until they find nothing, or the loss is enough.
func (x *exchange) sweep(enough float64) {
	b := &beam{x: x, width: beamWidth}
	for range beamRounds {
		if x.loss() <= enough || !b.improve() {
			return
		}
	}
}

// improve runs beams from the present choice with ever fewer of its lossy jobs at the
// option that loses them least, which leaves rows overfull.
func (b *beam) improve() bool {
	x := b.x
	x.shorten()
	type lossy struct {
		j    int
		loss float64
	}
	var list []lossy
	for j, c := range x.choice {
		if l := x.r.loss(x.p, j, c); l > 1e-9*x.r.bound/float64(len(x.choice)) {
			list = append(list, lossy{j, l})
		}
	}
	slices.SortStableFunc(list, func(a, b lossy) int { return cmp.Compare(b.loss, a.loss) })
	total := x.loss()
	for n := len(list); ; n /= 2 {
		was := make([]int, n)
		for k, q := range list[:n] {
			was[k] = x.choice[q.j]
			x.move(q.j, x.short[q.j][0].i)
		}
		b.index(total)
		rest := 0.0
		for j, c := range x.choice {
			rest += x.r.loss(x.p, j, c)
		}
		if b.run(rest, total) {
			x.move(int(b.best.move.j), int(b.best.move.i))
			for at := b.best.before; at >= 0; at = b.trail[at].before {
				x.move(int(b.trail[at].move.j), int(b.trail[at].move.i))
			}
			return true
		}
		for k, q := range list[:n] {
			x.move(q.j, was[k])
		}
		if n == 0 {
			return false
		}
	}
}

// index lists the changes of the present choice by the rows that they move.
func (b *beam) index(total float64) {
	x := b.x
	most := beamPart * total
	type kind struct {
		from, to   int32
		free, take int32
	}
	kinds := make(map[kind][]move)
	var order []kind
	for j, c := range x.choice {
		from, free, now := int32(-1), int32(0), x.r.loss(x.p, j, c)
		if c >= 0 {
			o := x.p.Options[j][c]
			from, free = int32(o.Row), int32(math.Round(o.Units/x.unit))
		}
		for _, o := range x.short[j] {
			if o.loss-now > most {
				break
			}
			if o.i == c {
				continue
			}
			k := kind{from, int32(o.row), free, o.units}
			if k.from == k.to { // one row: only the difference counts
				k.free, k.take = max(0, free-o.units), max(0, o.units-free)
			}
			list, seen := kinds[k]
			if !seen {
				order = append(order, k)
			}
			m := move{int32(j), int32(o.i), from, int32(o.row), float64(free) * x.unit, float64(o.units) * x.unit, o.loss - now}
			at := len(list)
			for at > 0 && list[at-1].loss > m.loss {
				at--
			}
			if at == beamAlike {
				continue
			}
			list = slices.Insert(list, at, m)
			kinds[k] = list[:min(len(list), beamAlike)]
		}
	}
	b.moves = make([][]move, len(x.left))
	b.lossy = b.lossy[:0]
	for _, k := range order {
		if k.from >= 0 {
			b.moves[k.from] = append(b.moves[k.from], kinds[k]...)
		}
		if k.to >= 0 && k.to != k.from {
			b.moves[k.to] = append(b.moves[k.to], kinds[k]...)
		}
		for _, m := range kinds[k] {
			if m.loss < 0 {
				b.lossy = append(b.lossy, m)
			}
		}
	}
	byLoss := func(m, n move) int { return cmp.Compare(m.loss, n.loss) }
	for row := range b.moves {
		slices.SortStableFunc(b.moves[row], byLoss)
	}
	slices.SortStableFunc(b.lossy, byLoss)
	b.lossy = b.lossy[:min(len(b.lossy), beamLossy)]
}

// run searches from the present choice, whose jobs lose loss, for one that loses less
// than total with its rooms.
func (b *beam) run(loss, total float64) bool {
	x := b.x
	k := len(x.left)
	start := chain{loss: loss, score: loss + x.rent(x.left), before: -1}
	b.trail = b.trail[:0]
	b.best, b.found = chain{score: total - gainLeast*(1+math.Abs(x.r.bound))}, false
	b.states, b.rooms = append(b.states[:0], start), append(b.rooms[:0], x.left...)
	for range beamDepth {
		b.next = b.next[:0]
		limit := math.Inf(1)
		for s := range b.states {
			limit = b.expand(s, limit)
		}
		if len(b.next) == 0 {
			break
		}
		b.prune()
		rooms := make([]float64, 0, len(b.next)*k)
		b.states = b.states[:0]
		seen := make(map[uint64]bool, len(b.next))
		for _, c := range b.next {
			at := int(c.parent) * k
			room := append(rooms[len(rooms):], b.rooms[at:at+k]...)
			c.move.shift(room)
			if h := hash(room); !seen[h] {
				seen[h] = true
				rooms = append(rooms, room...)
				b.trail = append(b.trail, link{c.move, c.before})
				b.states = append(b.states, chain{loss: c.loss, score: c.score, before: int32(len(b.trail) - 1)})
			}
		}
		b.rooms = rooms
	}
	return b.found
}

// shift makes the move in a list of rooms.
func (m *move) shift(room []float64) {
	if m.from >= 0 {
		room[m.from] += m.free
	}
	if m.to >= 0 {
		room[m.to] -= m.take
	}
}

// hash tells rooms apart.
func hash(room []float64) uint64 {
	h := uint64(14695981039346656037)
	for _, v := range room {
		h = (h ^ math.Float64bits(math.Round(v*1024))) * 1099511628211
	}
	return h
}

// rent is what the rooms lose: that of room left, and as much for room that lacks.
func (x *exchange) rent(room []float64) float64 {
	sum := 0.0
	for row, v := range room {
		sum += math.Abs(v) * x.r.prices[row]
	}
	return sum
}

// expand adds the states that one more change makes of state s, if they are better than
// limit, and returns the new limit.
func (b *beam) expand(s int, limit float64) float64 {
	k := len(b.x.left)
	room := b.rooms[s*k : s*k+k]
	var rows [beamRows]int
	var worst [beamRows]float64
	n := 0
	for row, v := range room {
		w := math.Abs(v) * b.x.r.prices[row]
		if v < -roomTol {
			w *= 2
		}
		if w < 1e-15 {
			continue
		}
		at := n
		for at > 0 && worst[at-1] < w {
			at--
		}
		if at == beamRows {
			continue
		}
		if n < beamRows {
			n++
		}
		copy(rows[at+1:n], rows[at:n-1])
		copy(worst[at+1:n], worst[at:n-1])
		rows[at], worst[at] = row, w
	}
	for _, row := range rows[:n] {
		limit = b.try(s, b.moves[row], limit)
	}
	return b.try(s, b.lossy, limit)
}

// try adds the states that moves make of state s.
func (b *beam) try(s int, moves []move, limit float64) float64 {
	k := len(b.x.left)
	here := b.states[s]
	room := b.rooms[s*k : s*k+k]
	price := b.x.r.prices
	rest := here.score - here.loss
	var done [beamDepth]int32 // jobs that the chain has moved
	n := 0
	for at := here.before; at >= 0; at = b.trail[at].before {
		done[n] = b.trail[at].move.j
		n++
	}
	for i := range moves {
		m := &moves[i]
		// Moves come in order of loss: from here on none gets below.
		if here.loss+m.loss >= b.best.score {
			break
		}
		score := rest
		if m.from == m.to {
			v := room[m.to]
			score += (math.Abs(v+m.free-m.take) - math.Abs(v)) * price[m.to]
		} else {
			if m.from >= 0 {
				v := room[m.from]
				score += (math.Abs(v+m.free) - math.Abs(v)) * price[m.from]
			}
			if m.to >= 0 {
				v := room[m.to]
				score += (math.Abs(v-m.take) - math.Abs(v)) * price[m.to]
			}
		}
		score += here.loss + m.loss
		if score >= limit || slices.Contains(done[:n], m.j) {
			continue
		}
		c := chain{loss: here.loss + m.loss, score: score, move: m, before: here.before, parent: int32(s)}
		if score < b.best.score && b.fits(room, m) {
			b.best, b.found = c, true
		}
		b.next = append(b.next, c)
		if len(b.next) >= 6*b.width {
			b.prune()
			limit = b.next[len(b.next)-1].score
		}
	}
	return limit
}

// fits reports whether no row is overfull after m.
func (b *beam) fits(room []float64, m *move) bool {
	for row, v := range room {
		if int32(row) == m.from {
			v += m.free
		}
		if int32(row) == m.to {
			v -= m.take
		}
		if v < -roomTol {
			return false
		}
	}
	return true
}

// prune keeps the best of the next states.
func (b *beam) prune() {
	slices.SortStableFunc(b.next, func(c, d chain) int { return cmp.Compare(c.score, d.score) })
	b.next = b.next[:min(len(b.next), b.width)]
}
