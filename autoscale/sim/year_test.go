package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale/placement"
	"github.com/goodfleet/goodfleet/autoscale/sim/workload"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
)

// BenchmarkYear is 5,044 jobs that come over twelve months from June 2023 on, each week
// drawn anew as the example week is, at the prices that were.
func BenchmarkYear(b *testing.B) {
	for b.Loop() {
		plans := 0
		s := weekSetting(b, func(p planner.Problem) (planner.Plan, error) {
			plans++
			settings := policy.Settings{Turns: placement.Turns}
			settings.Limits.Quick = true
			return policy.Value(p, settings)
		})
		s.Jobs = nil
		for week := range 52 {
			jobs, err := workload.GavelWeek(workload.Config{Seed: uint64(week), Jobs: 97, Longest: 16 * time.Hour, Start: s.Start.AddDate(0, 0, 7*week), Span: 7 * 24 * time.Hour})
			if err != nil {
				b.Fatal(err)
			}
			for _, j := range jobs {
				j.ID = planner.JobID(fmt.Sprintf("%d/%s", week, j.ID))
			}
			s.Jobs = append(s.Jobs, jobs...)
		}
		slices.SortStableFunc(s.Jobs, func(a, b *planner.Job) int { return a.Submitted.Compare(b.Submitted) })
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
