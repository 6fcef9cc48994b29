package budget

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Held is a machine that is here or on its way, at the rate in force. A rate of 0
// is one that is not known: while such a machine is held, the limits over it
// allow no launch.
type Held struct {
	Instance provider.InstanceID
	Offering provider.Offering
	Rate     pricing.Rate
	Token    string // of the launch that brought it; "": not known
}

// Guard admits launches while the machines held and the launches under way stay
// within every limit. Its methods are safe for concurrent use, and each is one
// step: of launches asked for at once, no more pass than fit together.
type Guard struct {
	limits []Limit

	mu    sync.Mutex // guards the fields below
	held  []Held
	asked map[string]reservation // by token
}

// reservation is money held back for one launch.
type reservation struct {
	offering provider.Offering
	rate     pricing.Rate // of one machine
	count    int          // asked for; what came up once committed
	seen     int          // of them, already among the machines held
	done     bool         // committed: part of what is held at the next Observe
}

// left is what the reservation still adds to the machines held.
func (r reservation) left() pricing.Rate { return times(r.rate, max(0, r.count-r.seen)) }

// NewGuard makes a guard with a cap on the rates of the whole fleet (0: none) and
// further limits. It panics on a negative cap and on a limit without a name of
// its own, which no caller can mean.
func NewGuard(fleet pricing.Rate, more ...Limit) *Guard {
	g := &Guard{asked: map[string]reservation{}}
	if fleet != 0 {
		g.limits = append(g.limits, Limit{Name: FleetBurn, Burn: fleet})
	}
	g.limits = append(g.limits, more...)
	names := map[string]bool{}
	for _, l := range g.limits {
		if l.Name == "" || names[l.Name] || l.Burn < 0 {
			panic(fmt.Sprintf("budget: limit %q of %s USD/h: want a name of its own and a cap that is not negative", l.Name, l.Burn))
		}
		names[l.Name] = true
	}
	return g
}

// Observe replaces the machines held. From here on what was committed counts only
// as far as it is among them, so a listing that is older than a commit must be
// completed by the machines of that launch. A launch whose answer is still out
// stays reserved, less its machines that are already here.
func (g *Guard) Observe(held []Held) {
	seen := make(map[string]int, len(held))
	for _, h := range held {
		if h.Token != "" {
			seen[h.Token]++
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = slices.Clone(held)
	for token, r := range g.asked {
		if r.done {
			delete(g.asked, token)
			continue
		}
		r.seen = seen[token]
		g.asked[token] = r
	}
}

// Reserve holds back the money for count machines of o at a rate each, or answers
// with *Refused. A token that is already reserved is not counted again, but judged
// anew: what is held may have grown since, by machines that came late. When it is
// refused then, it stays reserved as it was. A rate of 0 is not known, and refused.
func (g *Guard) Reserve(token string, o provider.Offering, count int, rate pricing.Rate) error {
	if token == "" || count <= 0 || rate < 0 {
		return fmt.Errorf("reserve %d × %s at %s USD/h: a token, a positive count and a rate are required", count, o, rate)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	before, again := g.asked[token]
	next := reservation{offering: o, rate: rate, count: count, seen: before.seen}
	switch {
	case again && before.done:
		return nil
	case again && (before.offering != o || before.count != count):
		return fmt.Errorf("reserve %d × %s: token %s is that of %d × %s", count, o, token, before.count, before.offering)
	}
	if refused := g.judge(token, next); refused != nil {
		return refused
	}
	g.asked[token] = next
	return nil
}

// judge answers with the limit that leaves the least room, or nil when all hold.
func (g *Guard) judge(token string, next reservation) error {
	var worst *Refused
	for _, l := range g.limits {
		if !l.covers(next.offering) {
			continue
		}
		r := g.use(l, token)
		r.Asked = next.left()
		if next.rate == 0 {
			r.Unpriced = next.offering.String()
		}
		over := plus(plus(r.Held, r.Reserved), r.Asked) > l.Burn
		if !over && r.Unpriced == "" {
			continue
		}
		if worst == nil || stricter(r, *worst) {
			worst = &r
		}
	}
	if worst == nil {
		if next.rate == 0 {
			return &Refused{Policy: "budget", Unpriced: next.offering.String()}
		}
		return nil
	}
	return worst
}

// stricter orders refusals: a missing rate first, then the least room left, then
// the name.
func stricter(a, b Refused) bool {
	if (a.Unpriced != "") != (b.Unpriced != "") {
		return a.Unpriced != ""
	}
	roomA, roomB := a.Limit-plus(a.Held, a.Reserved), b.Limit-plus(b.Held, b.Reserved)
	if roomA != roomB {
		return roomA < roomB
	}
	return a.Policy < b.Policy
}

// use is what counts against a limit, without the reservation of one token.
func (g *Guard) use(l Limit, without string) Refused {
	r := Refused{Policy: l.Name, Limit: l.Burn}
	for _, h := range g.held {
		if !l.covers(h.Offering) {
			continue
		}
		if h.Rate <= 0 && r.Unpriced == "" {
			r.Unpriced = string(h.Instance)
		}
		r.Held = plus(r.Held, max(0, h.Rate))
	}
	for token, asked := range g.asked { // a sum: the order does not matter
		if token != without && l.covers(asked.offering) {
			r.Reserved = plus(r.Reserved, asked.left())
		}
	}
	return r
}

// Commit says that a launch was answered and brought got machines; the rest of
// its money is free. A token that is not reserved is left alone: its machines
// count when they are observed.
func (g *Guard) Commit(token string, got int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r, ok := g.asked[token]
	if !ok || r.done {
		return
	}
	if got <= 0 {
		delete(g.asked, token)
		return
	}
	r.count, r.done = got, true
	g.asked[token] = r
}

// Release gives back what is held for a launch that brought nothing and never
// will. A committed launch is not released: its machines are here.
func (g *Guard) Release(token string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r, ok := g.asked[token]; ok && !r.done {
		delete(g.asked, token)
	}
}

// Use is how far one limit is used.
type Use struct {
	Policy                string
	Held, Reserved, Limit pricing.Rate
	Unpriced              bool // a machine without a known rate is held: Held is a lower bound
}

// Over is by how much the limit is passed, as when it was lowered below what
// runs; 0 when it holds.
func (u Use) Over() pricing.Rate { return max(0, plus(u.Held, u.Reserved)-u.Limit) }

// Uses tells how far each limit is used, in the order in which they were given.
func (g *Guard) Uses() []Use {
	g.mu.Lock()
	defer g.mu.Unlock()
	uses := make([]Use, 0, len(g.limits))
	for _, l := range g.limits {
		r := g.use(l, "")
		uses = append(uses, Use{Policy: r.Policy, Held: r.Held, Reserved: r.Reserved, Limit: r.Limit, Unpriced: r.Unpriced != ""})
	}
	return uses
}

// Tokens lists the launches whose money is held back, in order.
func (g *Guard) Tokens() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Sorted(maps.Keys(g.asked))
}
