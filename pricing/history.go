package pricing

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// History is how prices moved: for each offering a step function of time, whose
// value is a rate or "not sold". It does not change once built and may be read
// from several goroutines.
//
// A price holds from its quote until the next one of the same offering, however
// long that is; Book.Age tells how old it has become. Before the first quote, and
// after an end, the price is unknown.
type History struct {
	series  []series // by offering
	sources []string
	index   map[provider.Offering]int

	once     sync.Once
	instants []int64 // unix seconds at which any series steps, ascending, distinct

	mu    sync.Mutex // guards the fields below
	cache bookCache
}

// bookCache is the book that was built last, and what it was built of.
type bookCache struct {
	book   *Book
	epoch  int   // instants at or before the book's
	priced []int // series that are in the book
}

// End is an instant from which on an offering is no longer sold.
type End struct {
	Offering provider.Offering
	At       time.Time
	Source   string
}

// NewHistory builds a history of quotes and ends given in any order. It fails on
// an invalid offering, on a rate that is not positive and on two steps of one
// offering at one instant. Instants are kept to the second.
func NewHistory(quotes []Quote, ends []End) (*History, error) {
	set := newSeriesSet()
	type key struct {
		offering provider.Offering
		at       int64
	}
	seen := make(map[key]bool, len(quotes)+len(ends))
	add := func(o provider.Offering, at time.Time, rate Rate, source string) error {
		if err := o.Validate(); err != nil {
			return err
		}
		k := key{o, at.Unix()}
		if seen[k] {
			return fmt.Errorf("offering %s has two prices at %s", o, at.UTC().Format(time.RFC3339))
		}
		seen[k] = true
		set.add(o, at, rate, source)
		return nil
	}
	for _, q := range quotes {
		if q.Rate <= 0 {
			return nil, fmt.Errorf("offering %s: rate %s is not positive", q.Offering, q.Rate)
		}
		if err := add(q.Offering, q.At, q.Rate, q.Source); err != nil {
			return nil, err
		}
	}
	for _, e := range ends {
		if err := add(e.Offering, e.At, 0, e.Source); err != nil {
			return nil, err
		}
	}
	return set.history(), nil
}

// newHistory takes ownership of all, whose steps are in time order.
func newHistory(all []series, sources []string) *History {
	slices.SortFunc(all, func(p, q series) int { return p.offering.Compare(q.offering) })
	h := &History{series: all, sources: sources, index: make(map[provider.Offering]int, len(all))}
	for i := range all {
		h.index[all[i].offering] = i
	}
	return h
}

// Restrict is the history of the offerings that keep accepts. It shares the
// prices with h and is cheap to ask when it is small.
func (h *History) Restrict(keep func(provider.Offering) bool) *History {
	var kept []series
	for i := range h.series {
		if keep(h.series[i].offering) {
			kept = append(kept, h.series[i])
		}
	}
	return newHistory(kept, h.sources)
}

// With is the history with more quotes, such as those of a price file, and ends. A
// quote or an end takes the place of what h has at the same instant.
func (h *History) With(quotes []Quote, ends ...End) (*History, error) {
	set := newSeriesSet()
	for i := range h.series {
		s := &h.series[i]
		set.index[s.offering] = i
		set.all = append(set.all, series{offering: s.offering, steps: s.steps})
	}
	for _, text := range h.sources {
		set.source(text)
	}
	own := map[provider.Offering]bool{}
	add := func(o provider.Offering, at time.Time, rate Rate, source string) error {
		if err := o.Validate(); err != nil {
			return err
		}
		if s := set.of(o); !own[o] {
			s.steps = slices.Clone(s.steps) // h shares them
			own[o] = true
		}
		set.add(o, at, rate, source)
		return nil
	}
	for _, q := range quotes {
		if q.Rate <= 0 {
			return nil, fmt.Errorf("offering %s: rate %s is not positive", q.Offering, q.Rate)
		}
		if err := add(q.Offering, q.At, q.Rate, q.Source); err != nil {
			return nil, err
		}
	}
	for _, e := range ends {
		if err := add(e.Offering, e.At, 0, e.Source); err != nil {
			return nil, err
		}
	}
	return set.history(), nil
}

// Offerings lists every offering that the history knows, in order.
func (h *History) Offerings() []provider.Offering {
	all := make([]provider.Offering, len(h.series))
	for i := range h.series {
		all[i] = h.series[i].offering
	}
	return all
}

// Span is the first and the last instant at which any price changed. ok is false
// for a history without prices.
func (h *History) Span() (first, last time.Time, ok bool) {
	all := h.steps()
	if len(all) == 0 {
		return time.Time{}, time.Time{}, false
	}
	return moment(all[0]), moment(all[len(all)-1]), true
}

// lookup finds the series of o. Price data name no account: what holds for all
// accounts holds for that of o.
func (h *History) lookup(o provider.Offering) (*series, bool) {
	i, ok := h.index[o]
	if !ok && o.Account != "" {
		o.Account = ""
		i, ok = h.index[o]
	}
	if !ok {
		return nil, false
	}
	return &h.series[i], true
}

// RateAt is the price of o at an instant. ok is false when none is known.
func (h *History) RateAt(o provider.Offering, at time.Time) (rate Rate, ok bool) {
	s, ok := h.lookup(o)
	if !ok {
		return 0, false
	}
	st, ok := s.find(at.Unix())
	return st.rate, ok
}

// ListRate is the on-demand rate of the type and zone of o, whatever the market
// of o: what savings are measured against. Where no zone was told apart in the
// list price, the region's rate holds.
func (h *History) ListRate(o provider.Offering, at time.Time) (rate Rate, ok bool) {
	o.Market, o.Reservation = provider.OnDemand, ""
	if rate, ok = h.RateAt(o, at); ok {
		return rate, true
	}
	o.Zone = o.Region
	return h.RateAt(o, at)
}

// Book is all quotes at an instant. While no price changed between two calls the
// second one costs next to nothing.
func (h *History) Book(at time.Time) (*Book, error) {
	if at.IsZero() {
		return nil, fmt.Errorf("price book: the instant is not set")
	}
	instants := h.steps()
	epoch, found := slices.BinarySearch(instants, at.Unix())
	if found {
		epoch++
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cache.book == nil || h.cache.epoch != epoch {
		h.cache = h.build(at, epoch)
	}
	book := *h.cache.book // quotes and index are shared, only the instant is new
	book.at = at
	return &book, nil
}

// build makes the book of an instant. The index of the last book is used again
// when the same offerings are sold.
func (h *History) build(at time.Time, epoch int) bookCache {
	next := bookCache{epoch: epoch, priced: make([]int, 0, len(h.series))}
	quotes := make([]Quote, 0, len(h.series))
	for i := range h.series {
		s := &h.series[i]
		if st, ok := s.find(at.Unix()); ok {
			next.priced = append(next.priced, i)
			quotes = append(quotes, h.quote(s, st))
		}
	}
	next.book = &Book{at: at, quotes: quotes}
	if h.cache.book != nil && slices.Equal(h.cache.priced, next.priced) {
		next.book.index = h.cache.book.index
		return next
	}
	next.book.index = make(map[provider.Offering]int, len(quotes))
	for i := range quotes {
		next.book.index[quotes[i].Offering] = i
	}
	return next
}

// NextChange is the first instant after t at which a price changes, starts or
// ends. ok is false when none does.
func (h *History) NextChange(t time.Time) (at time.Time, ok bool) {
	instants := h.steps()
	i, found := slices.BinarySearch(instants, t.Unix())
	if found {
		i++
	}
	if i == len(instants) {
		return time.Time{}, false
	}
	return moment(instants[i]), true
}

// Changes lists the quotes at which a rate became another, after from and up to
// to, for the offerings that keep accepts (nil: all), by time and then by
// offering. The end of a quote is no quote: see NextChange.
func (h *History) Changes(from, to time.Time, keep func(provider.Offering) bool) []Quote {
	var changes []Quote
	for i := range h.series {
		s := &h.series[i]
		if keep != nil && !keep(s.offering) {
			continue
		}
		first, _ := slices.BinarySearchFunc(s.steps, from.Unix()+1, func(st step, at int64) int { return cmp.Compare(st.at, at) })
		for k := first; k < len(s.steps) && s.steps[k].at <= to.Unix(); k++ {
			if st := s.steps[k]; st.rate != 0 && (k == 0 || s.steps[k-1].rate != st.rate) {
				changes = append(changes, h.quote(s, st))
			}
		}
	}
	slices.SortFunc(changes, func(p, q Quote) int {
		return cmp.Or(p.At.Compare(q.At), p.Offering.Compare(q.Offering))
	})
	return changes
}

func (h *History) quote(s *series, st step) Quote {
	return Quote{Offering: s.offering, Rate: st.rate, At: moment(st.at), Source: h.sources[st.source]}
}

// steps is every instant at which a price changes, starts or ends. A repeated
// equal quote counts too: it renews the age.
func (h *History) steps() []int64 {
	h.once.Do(func() {
		seen := make(map[int64]struct{})
		for i := range h.series {
			for _, st := range h.series[i].steps {
				seen[st.at] = struct{}{}
			}
		}
		h.instants = make([]int64, 0, len(seen))
		for at := range seen {
			h.instants = append(h.instants, at)
		}
		slices.Sort(h.instants)
	})
	return h.instants
}

func moment(unix int64) time.Time { return time.Unix(unix, 0).UTC() }
