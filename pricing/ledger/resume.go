package ledger

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Resume makes a meter that goes on where the one that made the charges stood. The
// charges may come in any order and more than once, but must hold all that was
// booked of every run that may still be settled: its first charge is its start.
func Resume(prices Prices, rules Rules, charges []Charge) *Meter {
	m := NewMeter(prices, rules)
	lines := make([]*Charge, len(charges))
	var newest time.Time
	for i := range charges {
		lines[i] = &charges[i]
		if charges[i].To.After(newest) {
			newest = charges[i].To
		}
	}
	lines = slices.DeleteFunc(lines, func(c *Charge) bool { return effect(c.Kind) < 0 || c.Item == Traffic }) // no meter made these
	slices.SortFunc(lines, inOrderOfEffect)
	lines = slices.CompactFunc(lines, func(a, b *Charge) bool { return a.ID == b.ID })
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && sameRun(lines[n], lines[0]) {
			n++
		}
		r := m.rebuild(lines[:n])
		m.runs[r.key] = r // the runs of an instance come in their order
		lines = lines[n:]
	}
	m.settleDown(newest)
	return m
}

// inOrderOfEffect orders charges by run, and those of a run so that each finds
// what it acts on: usage by time, reversals, the minimum, transfers by round.
func inOrderOfEffect(a, b *Charge) int {
	if c := cmp.Or(strings.Compare(a.Offering.Cloud, b.Offering.Cloud), strings.Compare(string(a.Item), string(b.Item)),
		strings.Compare(string(a.Instance), string(b.Instance)),
		cmp.Compare(a.Run, b.Run), cmp.Compare(effect(a.Kind), effect(b.Kind))); c != 0 {
		return c
	}
	if a.Kind == Transfer {
		if c := cmp.Compare(a.Round, b.Round); c != 0 {
			return c
		}
	}
	return cmp.Or(a.From.Compare(b.From), strings.Compare(string(a.Account), string(b.Account)),
		strings.Compare(a.Job, b.Job), strings.Compare(a.ID, b.ID))
}

func effect(k Kind) int { return slices.Index([]Kind{Usage, Reversal, Minimum, Transfer}, k) }

func sameRun(a, b *Charge) bool {
	return a.Run == b.Run && a.Instance == b.Instance && a.Item == b.Item && a.Offering.Cloud == b.Offering.Cloud
}

// rebuild makes a run of its charges, which are in the order of their effect.
func (m *Meter) rebuild(lines []*Charge) *run {
	first := lines[0]
	r := m.newRun(instanceKey{first.Offering.Cloud, first.Item, first.Instance}, first.Run, first.Offering, first.From)
	for rest := lines; len(rest) > 0; {
		c, n := rest[0], 1
		switch c.Kind {
		case Usage:
			for n < len(rest) && rest[n].Kind == Usage && rest[n].From.Equal(c.From) {
				n++
			}
			r.restore(rest[:n])
		case Minimum:
			r.closed = true
		case Reversal:
			r.restoreReversal(c)
		case Transfer:
			r.restoreTransfer(c, lines)
		}
		rest = rest[n:]
	}
	return r
}

// restore brings back a booking from its lines.
func (r *run) restore(lines []*Charge) {
	c := lines[0]
	b := &booking{kind: c.Kind, from: c.From.Sub(r.started), to: c.To.Sub(r.started), of: c.Of}
	for _, l := range lines {
		b.claims = append(b.claims, claim{account: l.Account, job: l.Job, team: l.Team, project: l.Project, share: l.Share})
		b.amounts = append(b.amounts, l.Amount)
	}
	next := piece{from: b.from, rate: c.Rate, per: c.Per, public: c.Public, list: c.List, size: c.Quantity, known: c.Known, prepaid: c.Prepaid}
	if r.begins(next) {
		r.current = next
	}
	b.piece = r.current
	r.of, r.claims = b.of, b.claims
	r.stretches = append(r.stretches, stretch{booking: b, from: b.from, to: b.to})
	r.booked = b.to
}

// begins reports whether a piece that comes next is another than the current one.
func (r *run) begins(next piece) bool {
	if r.key.item != Machine || r.capacity != nil {
		return r.booked == 0 || r.newPiece(next)
	}
	return r.booked <= next.from.Truncate(time.Hour) || next.rate != r.current.rate || next.known != r.current.known || next.public != r.current.public
}

// restoreReversal repeats what a line took back.
func (r *run) restoreReversal(c *Charge) {
	from, to := c.From.Sub(r.started), c.To.Sub(r.started)
	r.stretches = cut(cut(r.stretches, from), to)
	r.stretches = slices.DeleteFunc(r.stretches, func(s stretch) bool { return from <= s.from && s.to <= to })
	r.booked = min(r.booked, from)
	r.closed = true
}

// restoreTransfer repeats the move that the line out tells of; its partner among
// the lines of the run tells where to.
func (r *run) restoreTransfer(out *Charge, lines []*Charge) {
	stem, ok := strings.CutSuffix(out.ID, transferOut)
	if !ok {
		return
	}
	in := slices.IndexFunc(lines, func(c *Charge) bool { return c.ID == stem+transferIn })
	if in < 0 {
		return
	}
	from, to := out.From.Sub(r.started), out.To.Sub(r.started)
	r.stretches = cut(cut(r.stretches, from), to)
	r.relabel(func(s stretch, i int) bool {
		return from <= s.from && s.to <= to && s.claims[i].job == out.Job && s.account(i) == out.Account
	}, lines[in].Account)
}

// settleDown forgets what lies beyond Reach and puts the closed runs in the order
// of their ends.
func (m *Meter) settleDown(newest time.Time) {
	for key, r := range m.runs {
		r.trim(newest.Sub(r.started) - Reach)
		if r.closed {
			m.ended = append(m.ended, key)
		}
	}
	slices.SortFunc(m.ended, func(a, b instanceKey) int {
		p, q := m.runs[a], m.runs[b]
		return cmp.Or(p.started.Add(p.booked).Compare(q.started.Add(q.booked)), a.compare(b))
	})
}
