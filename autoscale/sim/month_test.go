package sim

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
)

// elastic is a curve of jobs that run on one to eight accelerators: n of them are as
// fast as n^0.7 of one, as of a job that communicates much.
type elastic map[string]float64

func (s elastic) Speed(accelerator string, nodes, replicas int) (planner.Speed, bool) {
	each, ok := s[accelerator]
	return planner.Speed{Goodput: each * math.Pow(float64(replicas), 0.7) * math.Pow(0.9, float64(nodes-1))}, ok
}

// month is June 2023 on AWS in us-east-1, at the prices that were, with so many jobs
// an hour all through it: of a few hours on one V100 each, and with an hour worth
// between a half and four times what a V100 costs on demand, so that some want to be
// fast and most can wait.
func month(t testing.TB, perHour float64, seed uint64) Setting {
	t.Helper()
	s := Setting{
		Variant: "month", Seed: seed, Start: time.Date(2023, 6, 1, 0, 0, 0, 0, time.UTC), Horizon: 30 * 24 * time.Hour,
		Plan: func(p planner.Problem) (planner.Plan, error) {
			return policy.Value(p, policy.Settings{Limits: planner.Limits{NoBound: true}})
		},
		Loop: autoscale.Settings{Round: 10 * time.Minute, Setup: 140 * time.Second, SkipUnchanged: true, PriceStep: 0.05, Book: time.Hour},
	}
	virginia(t, &s)
	rng := rand.New(rand.NewPCG(seed, 0x6d_6f_6e_74))
	for at := time.Duration(0); ; {
		at += time.Duration(rng.ExpFloat64() / perHour * float64(time.Hour))
		if at >= s.Horizon {
			return s
		}
		hours := 6 * math.Exp(0.7*rng.NormFloat64())
		s.Jobs = append(s.Jobs, &planner.Job{
			ID: planner.JobID(fmt.Sprintf("job-%04d", len(s.Jobs))), Team: "Vision", Family: "test", Submitted: s.Start.Add(at),
			Work:        planner.Work{Samples: math.Round(1000 * hours), Kind: planner.WorkExact},
			Resources:   planner.Resources{Replicas: planner.Replicas{Set: []int{1, 2, 4}}, Ethernet: true},
			Curve:       elastic{"V100": 1000, "T4": 250},
			ValueOfTime: pricing.RateOf(1.5 * math.Pow(8, rng.Float64())),
			Checkpoint:  planner.Checkpoint{Save: 20 * time.Second, Restore: 30 * time.Second},
		})
	}
}

var months = flag.Int("months", 0, "whole months of demand, with three times the jobs, that are simulated besides")
var monthSeed = flag.Uint64("month.seed", 1, "of the first of them")

// played is what a month came to: its outcome, and how often something was stopped.
type played struct {
	Outcome
	spent   int // times that the total was used up and all had to stop
	stopped int // stops of a job for want of money in the last three days
}

func play(t *testing.T, s Setting) played {
	t.Helper()
	w, err := newWorld(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var p played
	if p.Outcome, err = w.outcome(t.Context()); err != nil {
		t.Fatal(err)
	}
	events, err := w.store.Events(t.Context(), time.Time{}, s.Start.Add(s.Horizon).Add(-time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		switch {
		case e.Kind == autoscale.EventBudget && strings.HasSuffix(e.Text, "until all has stopped"):
			p.spent++
		case e.Kind == autoscale.EventStop && e.At.After(s.Start.Add(s.Horizon-72*time.Hour)) && strings.Contains(e.Text, "budget"):
			p.stopped++
		}
	}
	return p
}

// TestMonthOfDemandLastsToItsEnd gives months of jobs a third of what they would cost
// without a cap: with a price on money it lasts, stops nobody for want of it in the last
// three days, and does more work than when rates count as they are until all is spent.
func TestMonthOfDemandLastsToItsEnd(t *testing.T) {
	type run struct {
		perHour float64
		seed    uint64
		amount  pricing.Money // 0: a third of what is spent without a cap
	}
	runs := []run{{0.1, 1, 239 * pricing.Dollar}} // 716 USD without a cap
	for seed := uint64(2); seed <= 6; seed++ {
		runs = append(runs, run{0.1, seed, 0})
	}
	for n := range *months {
		runs = append(runs, run{0.3, *monthSeed + uint64(n), 0})
	}
	for _, r := range runs {
		s := month(t, r.perHour, r.seed)
		if r.amount == 0 {
			r.amount = play(t, s).Cost / 3
		}
		s.Totals = []budget.Total{{Name: "month", Amount: r.amount, Period: budget.Month}}
		priced := play(t, s)
		s.Totals[0].Unpriced = true
		flat := play(t, s)
		share := priced.Cost.Dollars() / r.amount.Dollars()
		t.Logf("seed %d: %d jobs, %s USD: %.1f %% spent, work %.0f for %.0f without a price: ratio %.2f; done %d and %d; restarts %d and %d; for want of money %d stops in the last three days",
			r.seed, priced.Jobs, r.amount, 100*share, priced.Samples, flat.Samples, priced.Samples/flat.Samples,
			priced.Jobs-priced.Unfinished, flat.Jobs-flat.Unfinished, priced.Restarts, flat.Restarts, priced.stopped)
		if share < 0.97 || share > 1 {
			t.Errorf("seed %d: %.1f %% of the budget are spent, want 97 to 100", r.seed, 100*share)
		}
		if priced.spent > 0 || flat.spent == 0 {
			t.Errorf("seed %d: the total is used up %d times with a price, want never, and %d without, want once", r.seed, priced.spent, flat.spent)
		}
		if priced.stopped > 0 {
			t.Errorf("seed %d: jobs are stopped %d times for want of money in the last three days, want never", r.seed, priced.stopped)
		}
		if priced.Samples < 1.1*flat.Samples {
			t.Errorf("seed %d: %.0f samples are done, %.0f without a price: want a tenth more", r.seed, priced.Samples, flat.Samples)
		}
		last := priced.Series.Cost[len(priced.Series.Cost)-int(72*3600/priced.Series.StepSeconds):]
		for n := range 3 {
			day := pricing.Money(0)
			for _, c := range last[n*len(last)/3 : (n+1)*len(last)/3] {
				day += c
			}
			if day.Dollars() < 0.5*r.amount.Dollars()/30 {
				t.Errorf("seed %d: %s USD are spent on one of the last three days: jobs are paused", r.seed, day)
			}
		}
	}
}
