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
	For      []Part // who has which part of it; empty: nobody
}

// Guard admits launches while the machines held and the launches under way stay
// within every limit. Its methods are safe for concurrent use, and each is one
// step: of launches asked for at once, no more pass than fit together.
type Guard struct {
	own []Limit // that hold whatever Observe says

	mu sync.Mutex // guards at
	at *Position
}

// reservation is money held back for one launch.
type reservation struct {
	ask  Ask
	seen int  // of its machines, already among the machines held
	done bool // committed: part of what is held at the next Observe
}

// count is how many machines the reservation still adds to those held.
func (r reservation) count() int { return max(0, r.ask.Count-r.seen) }

// NewGuard makes a guard with a cap on the rates of the whole fleet (0: none) and
// further limits. It panics on a negative cap and on a limit without a name of
// its own, which no caller can mean.
func NewGuard(fleet pricing.Rate, more ...Limit) *Guard {
	g := &Guard{}
	if fleet != 0 {
		g.own = append(g.own, Limit{Name: FleetBurn, Burn: fleet})
	}
	g.own = append(g.own, more...)
	names := map[string]bool{}
	for _, l := range g.own {
		if l.Name == "" || names[l.Name] || l.Burn < 0 {
			panic(fmt.Sprintf("budget: limit %q of %s USD/h: want a name of its own and a cap that is not negative", l.Name, l.Burn))
		}
		names[l.Name] = true
	}
	g.at = NewPosition(g.own, nil)
	return g
}

// Observe replaces the machines held, and the limits beside those that the guard was
// made with. From here on what was committed counts only as far as it is among the
// machines, so a listing that is older than a commit must be completed by the machines
// of that launch. A launch whose answer is still out stays reserved, less its machines
// that are already here.
func (g *Guard) Observe(held []Held, limits ...Limit) {
	seen := make(map[string]int, len(held))
	for _, h := range held {
		if h.Token != "" {
			seen[h.Token]++
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	next := NewPosition(slices.Concat(g.own, limits), slices.Clone(held))
	for token, r := range g.at.asked {
		if !r.done {
			r.seen = seen[token]
			next.asked[token] = r
		}
	}
	g.at = next
}

// Reserve holds back the money for count machines of o at a rate each, or answers
// with *Refused. A token that is already reserved is not counted again, but judged
// anew: what is held may have grown since, by machines that came late. When it is
// refused then, it stays reserved as it was. A rate of 0 is not known, and refused.
func (g *Guard) Reserve(token string, a Ask) error {
	if token == "" || a.Count <= 0 || a.Rate < 0 {
		return fmt.Errorf("reserve %d × %s at %s USD/h: a token, a positive count and a rate are required", a.Count, a.Offering, a.Rate)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	before, again := g.at.asked[token]
	next := reservation{ask: a, seen: before.seen}
	switch {
	case again && before.done:
		return nil
	case again && (before.ask.Offering != a.Offering || before.ask.Count != a.Count):
		return fmt.Errorf("reserve %d × %s: token %s is that of %d × %s", a.Count, a.Offering, token, before.ask.Count, before.ask.Offering)
	}
	if refused := g.at.judge(token, next); refused != nil {
		return refused
	}
	g.at.asked[token] = next
	return nil
}

// Commit says that a launch was answered and brought got machines; the rest of
// its money is free. A token that is not reserved is left alone: its machines
// count when they are observed.
func (g *Guard) Commit(token string, got int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r, ok := g.at.asked[token]
	if !ok || r.done {
		return
	}
	if got <= 0 {
		delete(g.at.asked, token)
		return
	}
	r.ask.Count, r.done = got, true
	g.at.asked[token] = r
}

// Release gives back what is held for a launch that brought nothing and never
// will. A committed launch is not released: its machines are here.
func (g *Guard) Release(token string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r, ok := g.at.asked[token]; ok && !r.done {
		delete(g.at.asked, token)
	}
}

// Uses tells how far each limit is used, in the order in which they were given.
func (g *Guard) Uses() []Use {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.at.Uses()
}

// Tokens lists the launches whose money is held back, in order.
func (g *Guard) Tokens() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Sorted(maps.Keys(g.at.asked))
}
