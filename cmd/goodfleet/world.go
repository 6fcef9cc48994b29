package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// world is what is sold: the embedded catalogue and price history, with the prices
// that a person accepted.
type world struct {
	catalogue *provider.Catalogue
	history   *pricing.History
}

func newWorld(s settings) (world, error) {
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		return world{}, err
	}
	history, err := pricing.EmbeddedHistory()
	if err != nil {
		return world{}, err
	}
	quarantine, err := pricing.OpenQuarantine(s.refused)
	if err != nil {
		return world{}, err
	}
	if accepted := quarantine.AcceptedQuotes(); len(accepted) > 0 {
		if history, err = history.With(accepted); err != nil {
			return world{}, fmt.Errorf("accepted prices of %s: %w", s.refused, err)
		}
	}
	return world{catalogue, history}, nil
}

// newest is the instant after which no price is known to have changed.
func (w world) newest() time.Time {
	_, last, _ := w.history.Span()
	return last
}

// names are what jobs and flags may name: accelerators, clouds and regions of what
// is sold or was.
func (w world) names() document.Sold {
	sold := document.Sold{RegionsOf: map[string][]string{}}
	for _, t := range w.catalogue.Types() {
		sold.Accelerators = append(sold.Accelerators, t.Accelerator)
		sold.Clouds = append(sold.Clouds, t.Cloud)
	}
	for _, o := range w.history.Offerings() {
		sold.Regions = append(sold.Regions, o.Region)
		if of := sold.RegionsOf[o.Cloud]; !slices.Contains(of, o.Region) {
			sold.RegionsOf[o.Cloud] = append(of, o.Region)
		}
	}
	for _, list := range []*[]string{&sold.Accelerators, &sold.Clouds, &sold.Regions} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return sold
}

// check refuses settings that name a cloud or region in which nothing is sold.
func (w world) check(s settings) error {
	names := w.names()
	for _, list := range []struct {
		key          string
		given, known []string
	}{{"clouds", s.clouds, names.Clouds}, {"regions", s.regions, names.Regions}} {
		for _, name := range list.given {
			if !slices.Contains(list.known, name) {
				return fmt.Errorf("%s: %s: nothing is sold in %q%s", s.origins[list.key], list.key, name, suggestion(name, list.known))
			}
		}
	}
	return nil
}

// allows reports whether the settings let an offering be bought.
func (s settings) allows(o provider.Offering) bool {
	in := func(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }
	return in(s.clouds, o.Cloud) && in(s.regions, o.Region) && (len(s.markets) == 0 || slices.Contains(s.markets, o.Market))
}

// offers is what may be bought of some offerings at an instant, as the loop tells
// the planner.
func (w world) offers(s settings, at time.Time, of []provider.Offering) ([]planner.Offer, error) {
	book, err := w.history.Book(at)
	if err != nil {
		return nil, err
	}
	hazards := pricing.NewHazards(pricing.HazardConfig{Catalogue: w.catalogue})
	loop := autoscale.DefaultSettings()
	var offers []planner.Offer
	for _, o := range of {
		q, _ := book.Quote(o)
		t, ok := w.catalogue.Lookup(o.Cloud, o.Type)
		if !ok || !s.allows(q.Offering) {
			continue
		}
		offer := planner.Offer{
			Offering: q.Offering, Type: t, Rate: q.Rate, Booked: q.Rate, Cap: -1,
			Hazard: hazards.Of(q.Offering, at), Boot: loop.Boot,
		}
		if q.Offering.Market == provider.Spot {
			offer.Notice = loop.Notices[q.Offering.Cloud]
		}
		offers = append(offers, offer)
	}
	return offers, nil
}

// quotas are the limits of the settings file.
func (w world) quotas(s settings) ([]provider.Quota, error) {
	if s.config == nil {
		return nil, nil
	}
	var quotas []provider.Quota
	for i, q := range s.config.Spec.Quotas {
		at := fmt.Sprintf("spec.quotas[%d]", i)
		var families, regions []string
		for _, t := range w.catalogue.Types() {
			if t.Cloud == q.Cloud {
				families = append(families, t.QuotaFamily)
			}
		}
		for _, o := range w.history.Offerings() {
			if o.Cloud == q.Cloud {
				regions = append(regions, o.Region)
			}
		}
		switch {
		case len(families) == 0:
			return nil, s.configDoc.Fail(at+".cloud", "nothing is sold in cloud %q%s", q.Cloud, suggestion(q.Cloud, w.names().Clouds))
		case !slices.Contains(regions, q.Region):
			return nil, s.configDoc.Fail(at+".region", "nothing is sold in region %q of %s%s", q.Region, q.Cloud, suggestion(q.Region, regions))
		case !slices.Contains(families, q.Family):
			slices.Sort(families)
			return nil, s.configDoc.Fail(at+".family", "%s has no counter %q%s", q.Cloud, q.Family, suggestion(q.Family, slices.Compact(families)))
		}
		quota := provider.Quota{
			Class: provider.QuotaClass{Cloud: q.Cloud, Account: q.Account, Region: q.Region, Family: q.Family, Market: q.Market},
			Unit:  provider.VCPUs, Limit: q.Limit,
		}
		if q.Cloud == "gcp" {
			quota.Unit = provider.Accelerators
		}
		if code, ok := provider.QuotaCodeOf(provider.InstanceType{Cloud: q.Cloud, QuotaFamily: q.Family}, q.Market); ok {
			quota.Unit, quota.Code = code.Unit, code.Code
		}
		quotas = append(quotas, quota)
	}
	return quotas, nil
}

// instant reads a time of a flag: RFC 3339, or a day, which begins at midnight UTC.
func instant(flag, text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf(`--%s %q: want a day or a time, as in "2023-06-05" or "2023-06-05T12:00:00Z"`, flag, text)
}

// places lists the offerings that have a price at an instant, in order. A quote of
// a whole region stands for its zones only where none of them has its own.
func (w world) places(at time.Time) []provider.Offering {
	type key struct {
		cloud, region, typ string
		market             provider.Market
	}
	zoned := map[key]bool{}
	var all []provider.Offering
	for _, o := range w.history.Offerings() {
		if _, ok := w.history.RateAt(o, at); ok {
			all = append(all, o)
			zoned[key{o.Cloud, o.Region, o.Type, o.Market}] = zoned[key{o.Cloud, o.Region, o.Type, o.Market}] || o.Zone != o.Region
		}
	}
	return slices.DeleteFunc(all, func(o provider.Offering) bool {
		return o.Zone == o.Region && zoned[key{o.Cloud, o.Region, o.Type, o.Market}]
	})
}
