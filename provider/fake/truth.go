package fake

import (
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// Spell is a stretch of time in which a pool is up or down.
type Spell struct {
	From, To time.Time // To is excluded
	Up       bool
}

// Truth is what a pool really is at an instant. No cloud tells it; it is for tests
// and pictures, and nothing that plans may read it.
type Truth struct {
	Up    bool
	Depth int // machines that the pool holds for us while it is up
	Law   Law // of its spells, with the factors of the pool and of the run
}

// Truth tells what a pool is at an instant. ok is false when the pool is not sold
// or the instant lies before the start.
func (c *Cloud) Truth(key provider.Pool, at time.Time) (truth Truth, ok bool) {
	p, ok := c.again(key)
	if !ok || at.Before(c.cfg.Start) {
		return Truth{}, false
	}
	return Truth{Up: p.up(at), Depth: p.holds(at), Law: p.law}, true
}

// Walk lists the spells of a pool from an instant to another, the first and the
// last cut to fit. It is empty for a pool that is not sold and for what lies
// before the start. Walking changes nothing.
func (c *Cloud) Walk(key provider.Pool, from, to time.Time) []Spell {
	p, ok := c.again(key)
	if !ok {
		return nil
	}
	if from.Before(c.cfg.Start) {
		from = c.cfg.Start
	}
	var list []Spell
	for at := from; at.Before(to); {
		s := Spell{From: at, To: to, Up: p.up(at)}
		if !p.law.Steady() && p.spell(0).to.Before(to) {
			s.To = p.spell(0).to
		}
		if turn, ok := p.turn(at); ok && turn.Before(s.To) {
			s.To = turn
		}
		at = s.To
		if n := len(list); n > 0 && list[n-1].Up == s.Up {
			list[n-1].To = s.To
			continue
		}
		list = append(list, s)
	}
	return list
}

// again is a pool as it was at the start, with all that statements say of it.
func (c *Cloud) again(key provider.Pool) (*pool, bool) {
	c.mu.Lock()
	known, sold := c.pools[key]
	var windows []window
	if sold {
		windows = slices.Clone(known.windows)
	}
	cfg := c.cfg // statements change its quotas
	c.mu.Unlock()
	if !sold {
		return nil, false
	}
	t, _ := cfg.Catalogue.Lookup(key.Cloud, key.Type)
	p, err := newPool(cfg, key, t)
	if err != nil {
		return nil, false
	}
	p.windows = windows
	return p, true
}

// Machines lists every machine that there ever was, as it is now, in launch order:
// those of other fleets too, and those that no listing shows. No cloud tells it.
func (c *Cloud) Machines() []provider.Instance {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]provider.Instance, len(c.ever))
	for i, m := range c.ever {
		list[i] = m.inst
	}
	return list
}

// Watch tells what became of machines from one look to the next, at a cost that does
// not grow with those that ended long ago. The zero value has seen none. It is for
// one cloud and one user.
type Watch struct {
	open []*machine // that had not ended, in launch order
	next int        // place of the first that was not there yet
}

// Look lists, as they are now and in launch order, the machines of c that had not
// ended at the last look or were not there yet: a machine that has ended, which
// changes no more, is told of once.
func (w *Watch) Look(c *Cloud) []provider.Instance {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := append(w.open, c.ever[w.next:]...)
	w.open, w.next = all[:0], len(c.ever)
	list := make([]provider.Instance, len(all))
	for i, m := range all {
		list[i] = m.inst
		if m.inst.State != provider.Ended {
			w.open = append(w.open, m)
		}
	}
	return list
}
