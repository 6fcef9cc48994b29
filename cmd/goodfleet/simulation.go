package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/placement"
	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// subjectName is the variant that the baselines are held against.
const subjectName = "goodfleet"

const (
	// priceStep is the relative change of a rate that is worth a plan: spot prices
	// move by a percent or so several times a day, which turns no choice that a
	// restart would pay for.
	priceStep = 0.02
	// bookEvery is the longest time between two bookings of a machine. Charges do
	// not depend on it: they are made from the lives of machines.
	bookEvery = time.Hour
)

// setting is the simulation that was asked for.
func (world world) setting(cfg simulateConfig, start time.Time, jobs []*planner.Job) (sim.Setting, error) {
	s := cfg.settings
	if len(s.regions) == 0 {
		s.regions = homes(jobs)
	}
	quotas, err := world.quotas(s)
	if err != nil {
		return sim.Setting{}, err
	}
	windows, err := s.windows()
	if err != nil {
		return sim.Setting{}, err
	}
	named, err := policyNamed(cmp.Or(cfg.policy, policy.Default), s, len(cfg.owned) > 0 || cfg.cluster != "" || s.config != nil && len(s.config.Spec.Owned) > 0)
	if err != nil {
		return sim.Setting{}, err
	}
	reservations, err := world.reservations(cfg)
	if err != nil {
		return sim.Setting{}, err
	}
	offerings := world.sold(s, start, jobs)
	if named.Owned {
		offerings = nil // nothing is bought
	}
	if len(offerings) == 0 && len(reservations) == 0 && cfg.cluster == "" {
		return sim.Setting{}, fmt.Errorf("%s: nothing that these jobs can run on has a known price at %s where they may buy", cfg.file, start.Format(time.RFC3339))
	}
	policies, err := readPolicies(s.budgets, nil)
	if err != nil {
		return sim.Setting{}, err
	}
	rules, bills, err := s.billing(start)
	if err != nil {
		return sim.Setting{}, err
	}
	setting := sim.Setting{
		Rules: rules, Bills: bills,
		Policies: policies,
		Variant:  subjectName, Seed: s.seed, Start: start.Truncate(s.round), Jobs: jobs,
		Catalogue: world.catalogue, Prices: world.history, Offerings: offerings, Reservations: reservations, Quotas: quotas,
		Plan: planBy(named.Policy), Reference: reference(jobs),
		Loop: autoscale.Settings{Round: s.round, BurnCap: s.burnCap, Setup: setup, Book: bookEvery, SkipUnchanged: true, PriceStep: priceStep, Windows: windows, Rows: s.rows(), Teams: s.teams()},
	}
	return setting, cfg.onCluster(&setting)
}

// rows are the limits of the settings file, as the planner knows them.
func (s *settings) rows() []planner.Row {
	if s.config == nil {
		return nil
	}
	var list []planner.Row
	for _, l := range s.config.Spec.Limits {
		list = append(list, l.Row())
	}
	return list
}

// teams are the limits of the settings file on what teams may say of their jobs.
func (s *settings) teams() []planner.TeamLimit {
	if s.config == nil {
		return nil
	}
	var list []planner.TeamLimit
	for _, t := range s.config.Spec.Teams {
		list = append(list, t.Limit())
	}
	return list
}

// billing is how the settings file says that the clouds bill.
func (s *settings) billing(start time.Time) (rules ledger.Rules, bills autoscale.Bills, err error) {
	if s.config == nil {
		return rules, bills, nil
	}
	b := s.config.Spec.Billing
	if rules, err = b.Rules(s.config.Spec.Owned); err != nil {
		return rules, bills, err
	}
	bills.Controller = b.Holding(start)
	bills.Grants, err = b.Grants()
	return rules, bills, err
}

// windows are those of the settings file, as the loop goes by them.
func (s *settings) windows() ([]autoscale.Window, error) {
	if s.config == nil {
		return nil, nil
	}
	var list []autoscale.Window
	for _, w := range s.config.Spec.Windows {
		open, err := w.Time()
		if err != nil {
			return nil, fmt.Errorf("window %s: %w", w.Name, err)
		}
		of := slices.Concat(w.Allow, w.Deny)
		list = append(list, autoscale.Window{
			Name: w.Name, Deny: len(w.Deny) > 0, Moves: slices.Contains(of, "moves"), Launches: slices.Contains(of, "launches"), Time: open,
		})
	}
	return list, nil
}

// setup is how long a machine runs, and costs, before it can carry a job: image,
// drivers, data. Eva (EuroSys 2025) measured 140 to 251 s on AWS GPU machines; this
// is the low end, since a trainer's image is usually kept warm.
const setup = 140 * time.Second

// planSettings are what every plan is made with.
var planSettings = policy.Settings{Turns: placement.Turns}

func planBy(p policy.Policy) autoscale.PlanFunc {
	return func(q planner.Problem) (planner.Plan, error) {
		replay := planSettings
		replay.Limits.Quick = true
		return p(q, replay)
	}
}

// homes lists the regions in which the jobs' data lie; nil when none says where.
func homes(jobs []*planner.Job) []string {
	regions := map[string]bool{}
	for _, j := range jobs {
		if j.Data.Region != "" {
			regions[j.Data.Region] = true
		}
	}
	return slices.Sorted(maps.Keys(regions))
}

// sold lists the offerings that have a price at an instant and on whose
// accelerators some job is known to run, without hosts that are needlessly large.
func (world world) sold(s settings, at time.Time, jobs []*planner.Job) []provider.Offering {
	useful := map[string]bool{}
	var elastic []*planner.Job
	for _, j := range jobs {
		if p, ok := planner.ProfileOf(j.Curve); ok {
			for _, a := range p.Accelerators() {
				useful[a] = true
			}
		} else {
			elastic = append(elastic, j)
		}
	}
	var list []provider.Offering
	for _, o := range world.places(at) {
		t, ok := world.catalogue.Lookup(o.Cloud, o.Type)
		if ok && s.allows(o) && (useful[t.Accelerator] || slices.ContainsFunc(elastic, func(j *planner.Job) bool { return j.RunsOn(t) })) {
			list = append(list, o)
		}
	}
	return world.withoutNeedlessShapes(list, at, jobs)
}

// reference is the accelerator that work is compared by: the one that most jobs
// know, the newest of Gavel's three where all do.
func reference(jobs []*planner.Job) string {
	known := map[string]int{}
	for _, j := range jobs {
		if p, ok := planner.ProfileOf(j.Curve); ok {
			for _, a := range p.Accelerators() {
				known[a]++
			}
		}
		if p, ok := planner.GoodputProfileOf(j.Curve); ok {
			for _, t := range p.Types {
				known[t.Accelerator]++
			}
		}
	}
	best := "V100"
	for _, a := range slices.Sorted(maps.Keys(known)) {
		if known[a] > known[best] {
			best = a
		}
	}
	return best
}

// variants are goodfleet and, if they are asked for, the baselines.
func (world world) variants(cfg simulateConfig, setting sim.Setting) ([]sim.Variant, error) {
	list := []sim.Variant{{Name: subjectName}}
	if !cfg.baselines || cfg.cluster != "" { // where nothing is bought, none is another way to buy
		return list, nil
	}
	var offers []planner.Offer
	for _, o := range setting.Offerings {
		t, _ := setting.Catalogue.Lookup(o.Cloud, o.Type)
		if rate, ok := setting.Prices.RateAt(o, setting.Start); ok {
			offers = append(offers, planner.Offer{Offering: o, Type: t, Rate: rate, Booked: rate, Cap: -1})
		}
	}
	onDemand := func(o provider.Offering) bool { return o.Market == provider.OnDemand }
	if cloud, name, ok := policy.CheapestType(setting.Jobs, offers); ok {
		list = append(list, sim.Variant{
			Name: "on demand, all on " + name, Plan: planBy(policy.OneType(policy.Value, cloud, name)), Buy: onDemand,
		})
	}
	return append(list,
		sim.Variant{Name: "cheapest accelerator by the hour", Plan: planBy(policy.Blind)},
		sim.Variant{Name: "on demand, goodfleet's choice", Plan: planBy(policy.OnDemand(policy.Value)), Buy: onDemand},
	), nil
}
