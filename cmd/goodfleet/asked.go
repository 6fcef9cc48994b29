package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
)

// askConfig is what a plan is made from: the flags that plan and why share.
type askConfig struct {
	settings settings
	file     string // of jobs; "": those of the store
	now      time.Time
	owned    []string
	prices   string // file of prices; "": none
	state    string // what runs: a document of kind Fleet, or a store; "": nothing does
	policy   string // "": the default
}

// askFlags are the flags of askConfig as they were given.
type askFlags struct {
	at, prices, state string
	owned             []string
}

func (f *askFlags) add(cmd *cobra.Command) {
	addSettings(cmd, "budgets", "burnCap", "clouds", "ledger", "regions", "markets", "output", "quarantine")
	cmd.Flags().StringVar(&f.at, "at", "", "instant or day to plan for, at the prices of then (default: now)")
	cmd.Flags().StringArrayVar(&f.owned, "owned", nil, "machines that are there and paid for: cloud/region/zone/type=count; may be repeated")
	cmd.Flags().StringVar(&f.prices, "prices", "", "file of prices of your own, as prices check reads it; they go before the embedded ones")
	cmd.Flags().StringVar(&f.state, "state", "", "what runs: a file of kind Fleet, or a store in SQLite (default: nothing)")
}

// config is what the flags say.
func (f *askFlags) config(cmd *cobra.Command, file string) (cfg askConfig, err error) {
	cfg = askConfig{file: file, owned: f.owned, prices: f.prices, state: f.state, now: time.Now().UTC().Truncate(time.Second)}
	if cfg.settings, err = readSettings(cmd); err != nil {
		return cfg, err
	}
	if f.at != "" {
		if cfg.now, err = instant("at", f.at); err != nil {
			return cfg, err
		}
	}
	if file == "-" && (f.prices == "-" || f.state == "-") || f.prices == "-" && f.state == "-" {
		return cfg, fmt.Errorf("standard input is one file: want - once")
	}
	return cfg, nil
}

// asked is a plan that was made, and what it was made from.
type asked struct {
	cfg     askConfig
	world   world
	book    *pricing.Book
	state   autoscale.State
	running *running
	reasons *policy.Reasons // of the default policy; nil: of another
	plan    planner.Plan
	diff    autoscale.Diff
	later   int // jobs that are submitted after the instant planned for
	prices  *priceUse
}

// ask makes the plan that is asked for. Nothing is bought and nothing is written.
func ask(ctx context.Context, cfg askConfig, in io.Reader) (*asked, error) {
	a := &asked{cfg: cfg}
	var err error
	if a.world, err = newWorld(cfg.settings); err != nil {
		return nil, err
	}
	if cfg.prices != "" {
		if a.prices, err = a.world.use(cfg.settings, cfg.prices, in, cfg.now); err != nil {
			return nil, err
		}
	}
	if err := a.world.check(cfg.settings); err != nil {
		return nil, err
	}
	var jobs []*planner.Job
	if cfg.file != "" {
		if jobs, err = a.world.readJobs(cfg.file, in); err != nil {
			return nil, err
		}
	}
	if a.running, err = a.world.readRunning(ctx, cfg, in); err != nil {
		return nil, err
	}
	if a.running.doc != nil && cfg.file == "" {
		return nil, fmt.Errorf("%s: a file of kind Fleet names jobs, but not what they need: want a FILE of jobs too", a.running.name)
	}
	if err := a.fill(jobs); err != nil {
		return nil, err
	}
	named, err := policyNamed(cmp.Or(cfg.policy, policy.Default), cfg.settings, slices.ContainsFunc(a.state.Machines, func(m autoscale.InstanceRecord) bool { return m.Rate == 0 }))
	if err != nil {
		return nil, err
	}
	a.diff, a.plan, err = autoscale.Decide(a.state, func(p planner.Problem) (planner.Plan, error) {
		if named.Name != policy.Default {
			return named.Policy(p, planSettings)
		}
		var err error
		if a.reasons, err = policy.Explain(p, policy.Settings{}); err != nil {
			return planner.Plan{}, err
		}
		return a.reasons.Plan, nil
	})
	if err != nil {
		return nil, err
	}
	a.book, err = a.world.history.Book(cfg.now)
	return a, err
}

// fill puts together the state: what runs, what is owned, the jobs that have just
// come in, and what may be bought.
func (a *asked) fill(jobs []*planner.Job) (err error) {
	cfg, world := a.cfg, a.world
	defaults := autoscale.DefaultSettings()
	a.state = autoscale.State{Now: cfg.now, BurnCap: cfg.settings.burnCap, Rows: cfg.settings.rows(), Teams: cfg.settings.teams(), Hold: defaults.Hold, Recheck: defaults.DeniedWait, Catalogue: world.catalogue}
	if a.state.Windows, err = cfg.settings.windows(); err != nil {
		return err
	}
	if a.state.Machines, err = world.owned(cfg); err != nil {
		return err
	}
	if err := a.running.into(&a.state, a, jobs); err != nil {
		return err
	}
	a.state.Hints = autoscale.Hinted(a.state.Machines)
	if len(a.state.Jobs) == 0 {
		if cfg.file == "" {
			return fmt.Errorf("%s: holds no job that has not ended: name a file of jobs", cfg.state)
		}
		return fmt.Errorf("%s: no job is submitted by %s: choose a later --at", cfg.file, cfg.now.Format(time.RFC3339))
	}
	all := make([]*planner.Job, len(a.state.Jobs))
	for i := range a.state.Jobs {
		all[i] = a.state.Jobs[i].Job
	}
	if a.state.Offers, err = world.offers(cfg.settings, cfg.now, world.withoutNeedlessShapes(world.places(cfg.now), cfg.now, all)); err != nil {
		return err
	}
	if a.state.Quotas, err = world.quotas(cfg.settings); err != nil {
		return err
	}
	return a.underPolicies()
}

// underPolicies has the plan made under the budget policies of the settings, as a round
// makes it. What is spent is that of a ledger which is named; of none, nothing is.
func (a *asked) underPolicies() error {
	s := a.cfg.settings
	policies, err := readPolicies(s.budgets, nil)
	if err != nil || len(policies) == 0 {
		return err
	}
	var standings []budget.Standing
	if s.origins["ledger"] != "default" {
		all, err := s.spendsOf(span{now: a.cfg.now, to: a.cfg.now, zone: time.UTC})
		if err != nil {
			return err
		}
		standings = budget.Standings(policies, all, a.cfg.now)
	}
	return a.state.UnderPolicies(policies, standings, a.world.history)
}

// waiting is a job that waits, as the loop would keep it.
func (a *asked) waiting(j *planner.Job) (r autoscale.JobRecord, comes bool) {
	if j.Submitted.After(a.cfg.now) {
		a.later++
		return r, false
	}
	job := *j
	job.Submitted = a.cfg.now // when a job of a trace came says nothing of how long it waits here
	return autoscale.JobRecord{Job: &job, Phase: autoscale.JobWaiting, Waiting: job.Submitted}, true
}
