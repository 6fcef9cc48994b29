package pricing

import (
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// Quote is a price seen: what, how much, when, and where it was read.
type Quote struct {
	Offering provider.Offering `json:"offering"`
	Rate     Rate              `json:"rate"`
	At       time.Time         `json:"at"` // the price held from here on, as far as we know
	Source   string            `json:"source"`
}

// Book is all quotes at one instant. It does not change once built.
type Book struct {
	at     time.Time
	quotes []Quote // by offering
	index  map[provider.Offering]int
}

// NewBook builds the book at an instant. It fails on an offering quoted twice, on
// a rate that is not positive and on a quote from the future.
func NewBook(at time.Time, quotes []Quote) (*Book, error) {
	b := &Book{at: at, quotes: slices.Clone(quotes), index: make(map[provider.Offering]int, len(quotes))}
	slices.SortFunc(b.quotes, func(p, q Quote) int { return p.Offering.Compare(q.Offering) })
	for i, q := range b.quotes {
		if err := q.Offering.Validate(); err != nil {
			return nil, err
		}
		if _, twice := b.index[q.Offering]; twice {
			return nil, fmt.Errorf("offering %s is quoted twice", q.Offering)
		}
		if q.Rate <= 0 {
			return nil, fmt.Errorf("offering %s: rate %s is not positive", q.Offering, q.Rate)
		}
		if q.At.After(at) {
			return nil, fmt.Errorf("offering %s: quote of %s lies after the book's %s", q.Offering, q.At, at)
		}
		b.index[q.Offering] = i
	}
	return b, nil
}

// At is the instant of the book.
func (b *Book) At() time.Time { return b.at }

// Same reports whether c holds the very quotes of b, as two books of one history
// do while no price changed between their instants. It costs nothing.
func (b *Book) Same(c *Book) bool {
	return len(b.quotes) == len(c.quotes) && (len(b.quotes) == 0 || &b.quotes[0] == &c.quotes[0])
}

// Quotes returns all quotes by offering. The caller must not change them.
func (b *Book) Quotes() []Quote { return b.quotes }

// Quote returns the quote of o. ok is false when no quote is known. A quote that
// names no account holds for every account.
func (b *Book) Quote(o provider.Offering) (q Quote, ok bool) {
	i, ok := b.Place(o)
	if !ok {
		return Quote{}, false
	}
	return b.quotes[i], true
}

// Place is which of Quotes is the quote of o, as Quote finds it. Two books of one history
// mostly have it at the same place.
func (b *Book) Place(o provider.Offering) (i int, ok bool) {
	i, ok = b.index[o]
	if !ok && o.Account != "" {
		o.Account = ""
		i, ok = b.index[o]
	}
	return i, ok
}

// Rate reports the price of o. ok is false when no quote is known.
func (b *Book) Rate(o provider.Offering) (rate Rate, ok bool) {
	q, ok := b.Quote(o)
	return q.Rate, ok
}

// Age is how long before the book's instant the quote of o was seen. ok is false
// when no quote is known.
func (b *Book) Age(o provider.Offering) (age time.Duration, ok bool) {
	q, ok := b.Quote(o)
	if !ok {
		return 0, false
	}
	return b.at.Sub(q.At), true
}
