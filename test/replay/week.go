package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/placement"
	"github.com/goodfleet/goodfleet/autoscale/report"
	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/autoscale/sim/peer"
	"github.com/goodfleet/goodfleet/autoscale/sim/workload"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// weekGround is a week of jobs as goodfleet's example has them, drawn anew for each seed,
// on machines that are bought at the prices of a week of its own: those of AWS as they
// were, Google's as listed. Jobs say no deadline, and have their data wherever they run;
// an hour of each is worth the same.
type weekGround struct {
	Regions []string `json:"regions"` // in which machines are bought
	Jobs    int      `json:"jobs"`
	Days    float64  `json:"days"` // over which they come
}

const weekCost = "cost, USD"

// The prices begin in December 2022; the week of a seed lies weeksApart weeks after that
// of the seed before, and in the first weekSpan weeks.
var firstMonday = time.Date(2023, time.January, 2, 0, 0, 0, 0, time.UTC)

const (
	weeksApart = 12
	weekSpan   = 65
	longestJob = 16 * time.Hour
)

// validate reports the first thing that is wrong.
func (g *weekGround) validate() error {
	if len(g.Regions) == 0 || g.Jobs < 1 || !(g.Days >= 1) {
		return fmt.Errorf("week %+v: want regions, jobs and a day at least", *g)
	}
	return nil
}

// runWeek runs one seed of a point.
func runWeek(ctx context.Context, e experiment, p point, seed int) (result, error) {
	s, err := weekSetting(e, p, seed)
	if err != nil {
		return result{}, err
	}
	out, err := sim.Simulate(ctx, s)
	if err != nil {
		return result{}, err
	}
	if out.Unfinished+out.Failed > 0 {
		return result{}, fmt.Errorf("%d jobs are not done", out.Unfinished+out.Failed)
	}
	ended := newEnds()
	for _, j := range out.JobOutcomes {
		ended.add(string(j.Job), j.Ended.Sub(s.Start))
	}
	cost := roundedValue((out.Cost + out.Egress).Dollars())
	trade := curve{name: tradeCurve, points: []report.ChartPoint{{X: roundedValue(out.AvgJCTHours), Y: cost}}}
	corner, err := weekCorner(s)
	if err != nil {
		return result{}, err
	}
	box := curve{name: boxCurve, points: []report.ChartPoint{corner}}
	return result{value: cost, rounds: out.Rounds, hash: ended.hash(), curves: []curve{trade, box}}, nil
}

// cornerTimes is the JCT of the corner over the mean time that jobs take alone.
const cornerTimes = 2

// weekCorner is what nobody who knows prices and speeds needs to pass: each job at once, on
// demand on the machines on which its work costs least, and cornerTimes as long.
func weekCorner(s sim.Setting) (corner report.ChartPoint, err error) {
	q := planner.Problem{Now: s.Start}
	for _, o := range s.Offerings {
		t, _ := s.Catalogue.Lookup(o.Cloud, o.Type)
		if rate, ok := s.Prices.RateAt(o, s.Start); ok && o.Market == provider.OnDemand {
			q.Offers = append(q.Offers, planner.Offer{Offering: o, Type: t, Rate: rate, Booked: rate, Cap: -1})
		}
	}
	for _, j := range s.Jobs {
		q.Jobs = append(q.Jobs, planner.JobState{Job: j})
	}
	pr, err := planner.NewProgram(&q, planner.DefaultTransfer())
	if err != nil {
		return corner, err
	}
	for i := range pr.Jobs {
		least, hours := math.Inf(1), 0.0
		for c := range pr.Jobs[i].Columns {
			col := &pr.Jobs[i].Columns[c]
			if h := col.PaidHours(s.Jobs[i].Work.Samples); col.Alone*h < least {
				least, hours = col.Alone*h, h
			}
		}
		corner.X += cornerTimes * hours / float64(len(s.Jobs))
		corner.Y += least
	}
	return report.ChartPoint{X: roundedValue(corner.X), Y: roundedValue(corner.Y)}, nil
}

// weekSetting is the ground, the jobs and the rule of a run.
func weekSetting(e experiment, p point, seed int) (sim.Setting, error) {
	g := e.Week
	start := firstMonday.Add(time.Duration(seed*weeksApart%weekSpan) * 7 * 24 * time.Hour)
	jobs, err := workload.GavelWeek(workload.Config{Seed: uint64(seed), Jobs: g.Jobs, Longest: longestJob, Start: start, Span: time.Duration(g.Days * 24 * float64(time.Hour))})
	if err != nil {
		return sim.Setting{}, err
	}
	for _, j := range jobs {
		j.ValueOfTime, j.Deadline, j.Data, j.Clouds = pricing.Rate(math.Round(p.Value*float64(pricing.DollarPerHour))), time.Time{}, planner.Data{}, nil
	}
	how := e.Scheduler
	if p.rule != nil {
		how = *p.rule
	}
	plan, err := weekPlan(how, p)
	if err != nil {
		return sim.Setting{}, err
	}
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		return sim.Setting{}, err
	}
	prices, err := pricing.EmbeddedHistory()
	if err != nil {
		return sim.Setting{}, err
	}
	s := sim.Setting{
		Variant: e.Name, Seed: uint64(seed), Start: start, Jobs: jobs, Catalogue: catalogue, Prices: prices, Plan: plan,
		Offerings: g.sold(catalogue, prices, start, jobs), Horizon: 180 * 24 * time.Hour,
		Loop: autoscale.Settings{Round: time.Minute, Book: bookEvery, Setup: spotSetup, SkipUnchanged: true, PriceStep: weekPriceStep, MaxMoves: anyNumber, MaxGrowth: anyNumber},
	}
	return s, nil
}

// weekPriceStep is the change of a price that is worth a plan, as goodfleet simulate has it.
const weekPriceStep = 0.02

// weekPlan is a rule with its parameter, or ours.
func weekPlan(how scheduler, p point) (autoscale.PlanFunc, error) {
	fleet := peer.Fleet{Accelerator: how.Accelerator, Market: provider.Spot}
	greedy := peer.Greedy{Market: provider.Spot, Speed: p.Parameter}
	switch how.Peer {
	case "":
		return func(q planner.Problem) (planner.Plan, error) {
			settings := policy.Settings{Turns: placement.Turns}
			settings.Limits.Quick = true
			return policy.Value(q, settings)
		}, nil
	case "fixed":
		return peer.Fixed{Fleet: fleet, Accelerators: int(p.Parameter)}.Plan, nil
	case "backlog":
		return peer.Backlog{Fleet: fleet, Hours: p.Parameter}.Plan, nil
	case "greedy":
		return greedy.Plan, nil
	case "on-demand":
		greedy.Market = provider.OnDemand
		return greedy.Plan, nil
	}
	return nil, fmt.Errorf("there is no rule %q for machines that are bought", how.Peer)
}

// sold lists what has a price at the start and carries any job, in the zones of the
// regions; of hosts that differ in nothing but themselves, the cheapest.
func (g *weekGround) sold(catalogue *provider.Catalogue, prices *pricing.History, start time.Time, jobs []*planner.Job) []provider.Offering {
	type key struct {
		region, zone, accelerator string
		count                     int
		market                    provider.Market
	}
	var keys []key
	least := map[key]provider.Offering{}
	rates := map[key]pricing.Rate{}
	for _, o := range prices.Offerings() {
		t, known := catalogue.Lookup(o.Cloud, o.Type)
		rate, priced := prices.RateAt(o, start)
		if !known || !priced || o.Zone == o.Region || !slices.Contains(g.Regions, o.Region) || o.Market != provider.Spot && o.Market != provider.OnDemand {
			continue
		}
		if !slices.ContainsFunc(jobs, func(j *planner.Job) bool { return j.RunsOn(t) }) || slices.ContainsFunc(jobs, func(j *planner.Job) bool {
			n := float64(t.Count)
			return j.Resources.VCPU*n > float64(t.VCPU) || j.Resources.MemGiB*n > t.MemGiB
		}) {
			continue
		}
		k := key{o.Region, o.Zone, t.Accelerator, t.Count, o.Market}
		if was, ok := rates[k]; !ok {
			keys = append(keys, k)
		} else if was <= rate {
			continue
		}
		least[k], rates[k] = o, rate
	}
	list := make([]provider.Offering, len(keys))
	for i, k := range keys {
		list[i] = least[k]
	}
	return list
}
