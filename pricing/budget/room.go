package budget

import (
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// Room is when a cap that lets nothing more begin has room again, if nothing more is spent
// until then. At is zero where it has none by itself.
type Room struct {
	At   time.Time
	Why  string // "the month ends"
	zone *time.Location
}

// String is the room for people, at the time of the cap's zone.
func (r Room) String() string {
	if r.At.IsZero() {
		return r.Why + ": only a higher amount makes room"
	}
	return "room comes at " + r.At.In(r.zone).Format(time.RFC3339) + ", as " + r.Why
}

// Room is when there is room again: as an exception begins that adds enough, or as a period
// begins whose amount is more than what it owes for those before. The window of a dated cap
// is its last: beyond it the cap stops nothing.
func (s *Standing) Room(now time.Time) Room {
	p, c := s.Policy, s.Policy.Cap
	zone := c.Zone
	if zone == nil {
		zone = time.UTC
	}
	from, until, before := now, s.Until, s.Before
	spent, carried := s.Spent, s.Carried
	for k := 1; ; k++ {
		if e := p.makesRoom(spent, c.Amount+carried, from, until); e != nil {
			return Room{e.From, fmt.Sprintf("%s adds %s USD (%s)", e.Owner, e.Add, e.Reason), zone}
		}
		switch {
		case c.Period.Endless():
			return Room{Why: "it has no end", zone: zone}
		case c.Period == Dated:
			return Room{until, "its window ends", zone}
		}
		begun, _ := p.Total(s.Key).Span(from)
		before = slices.Concat([]Before{{Spent: spent, Added: p.AddedIn(begun, until)}}, before)
		spent, carried = 0, c.Carried(before...)
		from, until = p.Total(s.Key).Span(until)
		if added, _ := p.Added(from); p.allows(spent, c.Amount+added+carried) {
			return Room{from, p.begins(k), zone} // a debt is carried through two periods at most
		}
	}
}

// begins says of a period that it begins, k after the one that is on.
func (p *Policy) begins(k int) string {
	if k == 1 {
		return "the " + p.Cap.Period.String() + " ends"
	}
	return "a " + p.Cap.Period.String() + " begins that owes less than its amount"
}

// allows reports whether more may begin when so much of an amount is spent: no step that
// forbids it is reached, and what is done is undone.
func (p *Policy) allows(spent, amount pricing.Money) bool {
	share := 1.0
	for _, s := range p.Steps {
		if s.Do.AtLeast(NoNew) {
			share = min(share, s.At-p.Margin)
		}
	}
	return float64(spent) < share*float64(amount)
}

// makesRoom is the first exception that begins after an instant and before another, and
// adds enough; nil: none does.
func (p *Policy) makesRoom(spent, base pricing.Money, after, before time.Time) *Exception {
	var first *Exception
	for i := range p.Exceptions {
		e := &p.Exceptions[i]
		if e.Add <= 0 || !e.From.After(after) || !e.From.Before(before) || first != nil && !e.From.Before(first.From) {
			continue
		}
		if added, _ := p.Added(e.From); p.allows(spent, max(0, base+added)) {
			first = e
		}
	}
	return first
}
