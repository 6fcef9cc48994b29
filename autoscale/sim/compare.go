package sim

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/provider"
)

// Variant is one way to run the same jobs: a policy, and what it may buy.
type Variant struct {
	Name string
	Plan autoscale.PlanFunc             // nil: the setting's
	Buy  func(o provider.Offering) bool // nil: the setting's
}

// HazardScales are the rates of interruptions under which a comparison shows what
// buys spot, as multiples of the measured one: what is known of it is known to
// about that factor.
func HazardScales() []float64 { return []float64{1.0 / 3, 1, 3} }

// Compare simulates the variants on the setting's jobs, prices and weather: pools
// come and go alike in all of them, whatever each buys. What may buy spot is
// simulated once for each of scales, the rest once. Runs are side by side on the
// processors; outcomes are in the order of variants and scales.
func Compare(ctx context.Context, s Setting, variants []Variant, scales []float64) ([]Outcome, error) {
	if len(variants) == 0 || len(scales) == 0 {
		return nil, fmt.Errorf("compare: want a variant and a hazard scale at least")
	}
	var settings []Setting
	for _, v := range variants {
		one := s
		one.Variant = v.Name
		if v.Plan != nil {
			one.Plan = v.Plan
		}
		if v.Buy != nil {
			one.Buy = v.Buy
		}
		if !one.usesSpot() {
			one.HazardScale = 1
			settings = append(settings, one)
			continue
		}
		for _, scale := range scales {
			one.HazardScale = scale
			settings = append(settings, one)
		}
	}
	shared := progressOf(s.Progress, len(settings))
	outcomes := make([]Outcome, len(settings))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range settings {
		settings[i].Progress = shared(i)
		group.Go(func() (err error) {
			outcomes[i], err = Simulate(ctx, settings[i])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return outcomes, nil
}

// progressOf gives each of n runs a callback that tells report of all of them
// together, one call at a time.
func progressOf(report func(Progress), n int) func(run int) func(Progress) {
	if report == nil {
		return func(int) func(Progress) { return nil }
	}
	var mu sync.Mutex
	done := make([]int, n)
	return func(run int) func(Progress) {
		return func(p Progress) {
			mu.Lock()
			defer mu.Unlock()
			if done[run] == p.Done && p.Done > 0 {
				return
			}
			done[run] = p.Done
			sum := 0
			for _, d := range done {
				sum += d
			}
			report(Progress{Now: p.Now, Done: sum, Jobs: n * p.Jobs})
		}
	}
}
