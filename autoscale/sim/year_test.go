package sim

import (
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale/placement"
	"github.com/goodfleet/goodfleet/autoscale/sim/workload"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
)

// BenchmarkYear is 5,000 jobs as the example week has them, that come over the twelve
// months of 2023, at the prices that were.
func BenchmarkYear(b *testing.B) {
	for b.Loop() {
		plans := 0
		s := weekSetting(b, func(p planner.Problem) (planner.Plan, error) {
			plans++
			settings := policy.Settings{Turns: placement.Turns}
			settings.Limits.Quick = true
			return policy.Value(p, settings)
		})
		jobs, err := workload.GavelWeek(workload.Config{Seed: 1, Jobs: 5000, Longest: 16 * time.Hour, Start: s.Start, Span: 365 * 24 * time.Hour})
		if err != nil {
			b.Fatal(err)
		}
		s.Jobs = jobs
		s.Horizon = 400 * 24 * time.Hour
		out, err := Simulate(b.Context(), s)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(plans), "plans")
		b.ReportMetric(float64(out.Rounds), "rounds")
		b.ReportMetric(float64(len(s.Offerings)), "offers")
	}
}
