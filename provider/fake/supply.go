package fake

import (
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// window is a time in which a statement, not the weather, says what a pool is.
type window struct {
	from, to time.Time // to zero: no end
	up       bool
	holds    int // machines; negative: it says nothing of them, only of up
}

func (w window) covers(at time.Time) bool {
	return !at.Before(w.from) && (w.to.IsZero() || at.Before(w.to))
}

// forced is what the statements say of the state at an instant. ok is false when
// none does. Of two that cover it, the one written later holds.
func (p *pool) forced(at time.Time) (up, ok bool) {
	for _, w := range slices.Backward(p.windows) {
		if w.holds < 0 && w.covers(at) {
			return w.up, true
		}
	}
	return false, false
}

// holds is how many machines the pool has for us while it is up.
func (p *pool) holds(at time.Time) int {
	for _, w := range slices.Backward(p.windows) {
		if w.holds >= 0 && w.covers(at) {
			return w.holds
		}
	}
	return p.depth
}

// turn is the first instant after at at which a statement begins or ends.
func (p *pool) turn(at time.Time) (next time.Time, ok bool) {
	for _, w := range p.windows {
		for _, t := range []time.Time{w.from, w.to} {
			if t.After(at) && (!ok || t.Before(next)) {
				next, ok = t, true
			}
		}
	}
	return next, ok
}

// poolSpell makes pools go down or up, or hold a number of machines.
type poolSpell struct {
	of     pattern
	states []stretch
	taking int           // machines that a down pool takes: negative all; asIs: all spot machines, no other
	notice time.Duration // negative: as the cloud gives it
}

// stretch is one state of a pool; span 0 has no end.
type stretch struct {
	span  time.Duration
	up    bool
	holds int // negative: it says nothing of them
}

// asIs lets a pool that goes down do what its market does.
const asIs = -2

// readPool reads
//
//	OFFERING down [taking all|none|N] [notice TIME | without notice] [for TIME]
//	OFFERING up [for TIME]
//	OFFERING holds N [for TIME]
//	OFFERING replays up TIME down TIME ...
func readPool(l *line) (deed, pattern) {
	d := &poolSpell{of: l.pattern(), taking: asIs, notice: -1}
	s := stretch{holds: -1}
	switch {
	case l.has("down"):
		if l.has("taking") {
			if l.has("none") {
				d.taking = 0
			} else {
				d.taking = l.some("how many are taken")
			}
		}
		d.notice = l.warning()
	case l.has("up"):
		s.up = true
	case l.has("holds"):
		s.holds = l.count("the machines that it holds")
	case l.has("replays"):
		for len(l.words) > 0 && l.err == nil {
			s := stretch{holds: -1, up: l.has("up")}
			if !s.up {
				l.need("down")
			}
			if s.span = l.duration("the length of a spell", false); l.err == nil && s.span == 0 {
				l.fail("a spell of no length")
			}
			d.states = append(d.states, s)
		}
		if len(d.states) == 0 {
			l.fail("replays: no spell is given")
		}
		return d, d.of
	default:
		w := l.word("what the pool does")
		l.fail("%q: a pool goes up or down, holds a number of machines or replays spells", w)
	}
	s.span = l.span()
	d.states = []stretch{s}
	return d, d.of
}

func (d *poolSpell) fits(c *Cloud) error {
	_, err := d.of.sold(c)
	return err
}

func (d *poolSpell) begin(c *Cloud, at time.Time) {
	for _, p := range d.of.supplies(c) {
		from := at
		for _, s := range d.states {
			w := window{from: from, up: s.up, holds: s.holds}
			if s.span > 0 {
				w.to = from.Add(s.span)
			}
			p.windows = append(p.windows, w)
			switch {
			case s.holds >= 0:
			case s.up:
				c.at(w.to, func(c *Cloud) { c.endOfCalm(p, w.to) })
			default:
				d.takes(p).begin(c, from)
			}
			from = w.to
		}
	}
}

// takes is the loss with which p goes down.
func (d *poolSpell) takes(p *pool) *take {
	n := d.taking
	if n == asIs {
		n = 0
		if p.key.Market == provider.Spot {
			n = -1
		}
	}
	return &take{target: target{n: n, pool: p}, notice: d.notice}
}

// endOfCalm takes the machines of a spot pool that a statement held up, if it is
// down now that the statement has ended.
func (c *Cloud) endOfCalm(p *pool, at time.Time) {
	if p.key.Market == provider.Spot && !p.up(at) {
		(&take{target: target{n: -1, pool: p}}).begin(c, at)
	}
}

// take is the loss of some machines.
type take struct {
	target
	notice time.Duration // negative: as the cloud gives it
}

// readTake reads "TARGET [notice TIME | without notice]".
func readTake(l *line) (deed, pattern) {
	d := &take{target: l.target("how many are taken")}
	d.notice = l.warning()
	return d, d.of
}

func (d *take) begin(c *Cloud, at time.Time) {
	if d.n == 0 {
		return
	}
	notice := c.leadOf(d.notice)
	if notice > 0 {
		// Machines that come after the notice and go all the same get no word.
		c.at(at.Add(-notice), func(c *Cloud) { c.doom(d, c.now, at) })
	}
	if notice == 0 || d.n < 0 {
		c.at(at, func(c *Cloud) { c.doom(d, at, at) })
	}
}

// leadOf is the time from a notice to the loss, the cloud's own if none is given.
func (c *Cloud) leadOf(notice time.Duration) time.Duration {
	if notice < 0 {
		return c.cfg.Climate.Notice.Lead
	}
	return notice
}

// doom chooses the machines that a take takes.
func (c *Cloud) doom(d *take, noticed, loss time.Time) {
	n := 0
	for _, m := range c.listed {
		if n == d.n {
			return
		}
		if !m.inst.Live() || !d.picks(m) {
			continue
		}
		n++
		if !m.loss.IsZero() && !m.loss.After(loss) {
			continue // it goes anyway
		}
		if m.loss.IsZero() || m.noticed.After(noticed) {
			m.noticed = noticed
		}
		m.loss = loss
		if !loss.After(c.now) {
			c.lost(m)
			continue
		}
		c.schedule(loss, m, (*Cloud).lost)
	}
}
