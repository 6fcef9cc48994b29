package pricing

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// Limits beyond which a price is put aside until a person accepts it. In 17
// months of AWS spot prices all steps but one were under 10 %, none over 80 %, and
// spot lay between 10 % and 101 % of on-demand.
const (
	maxJump        = 20  // times the last known price, up or down
	minSpotPercent = 5   // of on-demand of the same type
	maxSpotPercent = 120 // of on-demand of the same type
	maxListRatio   = 2   // times the embedded list price, up or down
)

// Suspect is a quote that was put aside: well formed, but so far from what is
// known that a wrong unit or field is likelier than a new price. It is never
// planned with and never summed.
type Suspect struct {
	ID     string `json:"id"` // the same offering and rate have the same id
	Quote  Quote  `json:"quote"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// Error names the row in one line.
func (s Suspect) Error() string {
	return fmt.Sprintf("%s:%d: %s at %s USD/h is quarantined as %s: %s", s.File, s.Line, s.Quote.Offering, s.Quote.Rate, s.ID, s.Reason)
}

// suspectID names a suspect: twelve hexadecimal digits of a hash of what is
// quoted and the rate, so that a price that comes again is the same suspect.
func suspectID(o provider.Offering, rate Rate) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q %q %s", o.Cloud, o.Account, o.Region, o.Zone, o.Type, o.Market, o.Reservation, rate))
	return hex.EncodeToString(sum[:6])
}

// Verdict is what became of the rows of a price file.
type Verdict struct {
	Accepted []Quote
	Suspects []Suspect
	Refused  []Refusal
}

// CheckerConfig is what quotes are held against. Every field may be left out.
type CheckerConfig struct {
	Last     *Book                // the last known quotes
	Embedded *Book                // EmbeddedBook
	Accepted func(id string) bool // suspects that a person has accepted: Quarantine.Accepted
}

// Checker tells plausible quotes from suspects.
type Checker struct {
	cfg      CheckerConfig
	embedded listRates
}

// NewChecker makes a checker.
func NewChecker(cfg CheckerConfig) *Checker {
	return &Checker{cfg: cfg, embedded: newListRates(cfg.Embedded)}
}

// Check judges the quotes of a file. On-demand comes first, since spot is held
// against it, then by time; each accepted quote is the last known one for those
// after it. The answer is in that order. Two quotes of one offering and instant
// are one too many: the second is refused.
func (c *Checker) Check(quotes []FileQuote) Verdict {
	quotes = slices.Clone(quotes)
	slices.SortStableFunc(quotes, func(p, q FileQuote) int {
		return cmp.Or(cmp.Compare(p.Offering.Market, q.Offering.Market), p.At.Compare(q.At))
	})
	last := map[provider.Offering]Rate{}
	for _, book := range []*Book{c.cfg.Embedded, c.cfg.Last} {
		if book != nil {
			for _, q := range book.quotes {
				last[q.Offering] = q.Rate
			}
		}
	}
	list := newListRates(c.cfg.Embedded, c.cfg.Last)
	type key struct {
		offering provider.Offering
		at       time.Time
	}
	seen := map[key]bool{}
	var v Verdict
	for _, q := range quotes {
		if k := (key{q.Offering, q.At}); seen[k] {
			v.Refused = append(v.Refused, Refusal{
				File: q.File, Line: q.Line, Field: "type", Text: q.Offering.Type, Reason: Repeated, Detail: q.Offering.String(),
			})
			continue
		} else {
			seen[k] = true
		}
		if reason := c.suspicion(q.Quote, last, list); reason != "" {
			id := suspectID(q.Offering, q.Rate)
			if c.cfg.Accepted == nil || !c.cfg.Accepted(id) {
				v.Suspects = append(v.Suspects, Suspect{ID: id, Quote: q.Quote, File: q.File, Line: q.Line, Reason: reason})
				continue
			}
		}
		v.Accepted = append(v.Accepted, q.Quote)
		last[q.Offering] = q.Rate
		list.add(q.Offering, q.Rate)
	}
	return v
}

// suspicion says what is odd about a quote, or nothing.
func (c *Checker) suspicion(q Quote, last map[provider.Offering]Rate, list listRates) string {
	if known, ok := last[q.Offering]; ok && (q.Rate > known*maxJump || q.Rate < known/maxJump) {
		return fmt.Sprintf("%s USD/h is outside 1/%d..%d of the last known %s", q.Rate, maxJump, maxJump, known)
	}
	switch q.Offering.Market {
	case provider.Spot:
		if r, where, ok := list.near(q.Offering); ok && (q.Rate*100 < r.lo*minSpotPercent || q.Rate*100 > r.hi*maxSpotPercent) {
			return fmt.Sprintf("%s USD/h is outside %d..%d %% of the on-demand rate %s in %s", q.Rate, minSpotPercent, maxSpotPercent, r, where)
		}
	case provider.OnDemand:
		if r, where, ok := c.embedded.near(q.Offering); ok && (q.Rate*maxListRatio < r.lo || q.Rate > r.hi*maxListRatio) {
			return fmt.Sprintf("%s USD/h is outside 1/%d..%d of the embedded list price %s in %s", q.Rate, maxListRatio, maxListRatio, r, where)
		}
	}
	return ""
}
