package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goodfleet/goodfleet/provider"
)

// Refusal is a budget policy that keeps a job from an offer, and why.
type Refusal struct{ By, Why string }

// RefusalText is all who keep a job from an offer, in words.
func RefusalText(list []Refusal) string {
	words := make([]string, len(list))
	for i, r := range list {
		words[i] = "budget policy " + r.By + ": " + r.Why
	}
	return strings.Join(words, "; ")
}

// unrefused is a job that may use whatever it fits.
func (j *Job) unrefused() *Job {
	free := *j
	free.Refuses, free.Opens = nil, nil
	return &free
}

// refusedBy is what one policy forbids of the offers that a job fits.
type refusedBy struct {
	name    string
	count   int
	least   *Offer // the cheapest of them
	why     string // of it
	one     bool   // every one of them for the same reason
	markets []provider.Market
}

// refused says which policies forbid every offer that would carry a job, each with the
// number of offers and the reason; free is the job without policies. ok is false when
// one is forbidden by nobody.
func refused(j, free *Job, offers []Offer) (reason string, ok bool) {
	fits := 0
	var list []*refusedBy
	for i := range offers {
		o := &offers[i]
		if !carried(free, o) {
			continue
		}
		fits++
		by := j.Refuses(o)
		if len(by) == 0 {
			return "", false
		}
		for _, r := range by {
			at := slices.IndexFunc(list, func(x *refusedBy) bool { return x.name == r.By })
			if at < 0 {
				at, list = len(list), append(list, &refusedBy{name: r.By, one: true, why: r.Why})
			}
			list[at].add(o, r.Why)
		}
	}
	slices.SortStableFunc(list, func(a, b *refusedBy) int {
		return cmp.Or(cmp.Compare(b.count, a.count), strings.Compare(a.name, b.name))
	})
	words := make([]string, len(list))
	for i, r := range list {
		words[i] = r.text(fits)
	}
	return "budget policies: " + strings.Join(words, "; "), true
}

func (r *refusedBy) add(o *Offer, why string) {
	r.count++
	if r.one = r.one && why == r.why; r.least == nil || o.Rate < r.least.Rate {
		r.least, r.why = o, why
	}
	if m := o.Offering.Market; !slices.Contains(r.markets, m) {
		r.markets = append(r.markets, m)
	}
}

// text is what a policy forbids, of so many offers that would do.
func (r *refusedBy) text(fits int) string {
	what := fmt.Sprintf("%d of the %d offerings that it fits", r.count, fits)
	switch {
	case fits == 1:
		what = r.least.Offering.String()
	case r.count == fits:
		what = fmt.Sprintf("all %d offerings that it fits", fits)
	case len(r.markets) == 1:
		what += ", " + r.markets[0].String()
	}
	why := r.why
	if !r.one {
		why = "the cheapest, " + r.least.Offering.String() + ": " + why
	}
	return fmt.Sprintf("%s forbids %s (%s)", r.name, what, why)
}
