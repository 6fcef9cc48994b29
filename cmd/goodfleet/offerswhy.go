package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// The job that effective prices of offers --why are told for: a job of a plan has
// its own times, and why tells of it.
const (
	referenceSave    = 30 * time.Second
	referenceRestore = time.Minute
)

// useful is the shares of paid and of wall time that become progress of the reference
// job on one machine of an offer.
func useful(o *planner.Offer) (paid, wall float64) {
	loss := o.Hazard.PerHour(1)
	covered := o.Notice > referenceSave
	unannounced := loss
	if covered {
		unannounced = 0
	}
	every := pricing.CheckpointEvery(referenceSave, unannounced)
	paid = pricing.UsefulPaid(loss, referenceRestore+o.Boot, referenceSave, every, covered)
	return paid, pricing.UsefulWall(paid, loss, o.Hazard.Down)
}

// limited puts caps and blocks on offers, as the loop would tell the planner: words of
// people, shortages, quotas that are used up.
func (world world) limited(ctx context.Context, cfg offersConfig, in io.Reader, at time.Time, offers []planner.Offer) ([]planner.Offer, error) {
	s := autoscale.State{Now: at, Offers: offers, Catalogue: world.catalogue}
	var err error
	if s.Windows, err = cfg.settings.windows(); err != nil {
		return nil, err
	}
	if s.Quotas, err = world.quotas(cfg.settings); err != nil {
		return nil, err
	}
	r, err := world.readRunning(ctx, askConfig{state: cfg.state, now: at}, in)
	if err != nil {
		return nil, err
	}
	if err := r.limits(&s); err != nil {
		return nil, err
	}
	slices.SortFunc(s.Offers, func(a, b planner.Offer) int { return a.Offering.Compare(b.Offering) })
	var limited []planner.Offer
	_, _, err = autoscale.Decide(s, func(p planner.Problem) (planner.Plan, error) {
		limited = p.Offers
		return planner.Plan{}, nil
	})
	return limited, err
}

// explainOffers says for each row what speaks for it or against it: that it is the cheapest
// of its accelerator by effective price, how much dearer it is, or that it cannot be
// had now.
func explainOffers(rows []offerRow) {
	best := map[string]*offerRow{}
	for i := range rows {
		r := &rows[i]
		if b := best[r.Accelerator]; r.Blocked == "" && (b == nil || *r.Effective < *b.Effective) {
			best[r.Accelerator] = r
		}
	}
	for i := range rows {
		r := &rows[i]
		b := best[r.Accelerator]
		switch {
		case r.Blocked != "":
			r.Reason = "against: " + r.Blocked
			if r.Until != nil {
				r.Reason += ", until " + r.Until.UTC().Format("2006-01-02 15:04")
			}
		case r == b:
			r.Reason = "for: the least effective price of " + r.Accelerator
		case *r.Effective <= *b.Effective*1.0005:
			r.Reason = "for: as cheap as the cheapest"
		default:
			over := 100 * (*r.Effective / *b.Effective - 1)
			r.Reason = fmt.Sprintf("against: %.*f %% over %s", decimals(over), over, b.Offering)
		}
		if r.Stale {
			r.Reason += "; its price is old"
		}
	}
}

// decimals is how many digits after the point a percentage needs to say something.
func decimals(percent float64) int {
	if percent < 9.95 {
		return 1
	}
	return 0
}

// notSoldIn lists the regions in which a type is sold in one market and not in the
// other, beside those that are sold in it nowhere: what has no price is absent, not free.
func (world world) notSoldIn(cfg offersConfig, at time.Time, nowhere []notSold) []unpricedRow {
	type place struct{ cloud, region, typ string }
	var order []place
	priced := map[place]map[provider.Market]bool{}
	for _, o := range world.places(at) {
		t, ok := world.catalogue.Lookup(o.Cloud, o.Type)
		if !ok || cfg.gpu != "" && t.Accelerator != cfg.gpu || !(settings{clouds: cfg.settings.clouds, regions: cfg.settings.regions}).allows(o) {
			continue
		}
		p := place{o.Cloud, o.Region, o.Type}
		if priced[p] == nil {
			priced[p] = map[provider.Market]bool{}
			order = append(order, p)
		}
		priced[p][o.Market] = true
	}
	var rows []unpricedRow
	for _, p := range order {
		for _, m := range []provider.Market{provider.OnDemand, provider.Spot} {
			if !priced[p][m] && !slices.Contains(nowhere, notSold{p.cloud, p.typ, m}) && (len(cfg.settings.markets) == 0 || slices.Contains(cfg.settings.markets, m)) {
				rows = append(rows, unpricedRow{Row: p.cloud + "/" + p.typ + " in " + p.region, Text: m.String(), Reason: "not sold, or its price is not known"})
			}
		}
	}
	return rows
}

// unsoldNotes puts rows that differ by their region alone on one line.
func unsoldNotes(rows []unpricedRow) []string {
	var order []string
	regions := map[string][]string{}
	for _, r := range rows {
		what, region, _ := strings.Cut(r.Row, " in ")
		key := what + ": " + r.Text + ": not sold"
		if regions[key] == nil {
			order = append(order, key)
		}
		regions[key] = append(regions[key], region)
	}
	var notes []string
	for _, key := range order {
		notes = append(notes, key+", or its price is not known, in "+strings.Join(regions[key], ", "))
	}
	return notes
}
