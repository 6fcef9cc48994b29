package pricing

import (
	"fmt"
	"maps"
	"slices"

	"github.com/goodfleet/goodfleet/provider"
)

// place names a type somewhere: in a zone, in a region (zone empty), or anywhere
// in a cloud (both empty).
type place struct{ cloud, typ, region, zone string }

// rateRange is the lowest and the highest rate of a place.
type rateRange struct{ lo, hi Rate }

// String shows one rate, or a range.
func (r rateRange) String() string {
	if r.lo == r.hi {
		return r.lo.String()
	}
	return fmt.Sprintf("%s..%s", r.lo, r.hi)
}

// listRates knows on-demand rates by place: what other prices are held against.
type listRates map[place]rateRange

// newListRates collects the on-demand quotes of books, of which any may be nil.
// Where two books quote one offering, the later one counts.
func newListRates(books ...*Book) listRates {
	latest := map[provider.Offering]Rate{}
	for _, b := range books {
		if b == nil {
			continue
		}
		for _, q := range b.quotes {
			latest[q.Offering] = q.Rate
		}
	}
	l := listRates{}
	for _, o := range slices.SortedFunc(maps.Keys(latest), provider.Offering.Compare) {
		l.add(o, latest[o])
	}
	return l
}

// add takes in the rate of o, if it is on-demand. Of several rates of one zone
// the last added counts; regions and clouds keep their whole range.
func (l listRates) add(o provider.Offering, rate Rate) {
	if o.Market != provider.OnDemand {
		return
	}
	l[place{o.Cloud, o.Type, o.Region, o.Zone}] = rateRange{rate, rate}
	for _, p := range []place{{o.Cloud, o.Type, o.Region, ""}, {o.Cloud, o.Type, "", ""}} {
		r, ok := l[p]
		if !ok {
			r = rateRange{rate, rate}
		}
		l[p] = rateRange{min(r.lo, rate), max(r.hi, rate)}
	}
}

// near is the on-demand rate of the type of o in its zone, else in its region,
// else anywhere in its cloud, and where that is. ok is false when none is known.
func (l listRates) near(o provider.Offering) (r rateRange, where string, ok bool) {
	for _, p := range []place{
		{o.Cloud, o.Type, o.Region, o.Zone}, {o.Cloud, o.Type, o.Region, ""}, {o.Cloud, o.Type, "", ""},
	} {
		if r, ok = l[p]; !ok {
			continue
		}
		switch {
		case p.zone != "":
			return r, p.zone, true
		case p.region != "":
			return r, p.region, true
		}
		return r, "all regions", true
	}
	return rateRange{}, "", false
}
