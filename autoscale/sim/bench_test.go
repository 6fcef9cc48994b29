package sim

import (
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/sim/workload"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// weekSetting is the week of 200 jobs that ships as an example, at real prices,
// where the jobs' data lie.
func weekSetting(t testing.TB, plan autoscale.PlanFunc) Setting {
	t.Helper()
	jobs, err := workload.GavelWeek(workload.GavelWeekConfig())
	if err != nil {
		t.Fatal(err)
	}
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	history, err := pricing.EmbeddedHistory()
	if err != nil {
		t.Fatal(err)
	}
	s := Setting{
		Variant: "goodfleet", Seed: 1, Start: workload.GavelWeekConfig().Start, Jobs: jobs, Catalogue: catalogue, Prices: history, Plan: plan,
		Loop: autoscale.Settings{BurnCap: 60 * pricing.DollarPerHour, Book: time.Hour, SkipUnchanged: true, PriceStep: 0.02},
	}
	regions := map[string]bool{"us-east-1": true, "us-west-2": true, "us-central1": true}
	accelerators := map[string]bool{"K80": true, "P100": true, "V100": true}
	for _, o := range history.Offerings() {
		kind, ok := catalogue.Lookup(o.Cloud, o.Type)
		if _, priced := history.RateAt(o, s.Start); priced && ok && regions[o.Region] && accelerators[kind.Accelerator] && o.Zone != o.Region {
			s.Offerings = append(s.Offerings, o)
		}
	}
	return s
}

// BenchmarkWeek is one variant of the main example: some 10,000 rounds.
func BenchmarkWeek(b *testing.B) {
	for b.Loop() {
		plans := 0
		s := weekSetting(b, func(p planner.Problem) (planner.Plan, error) {
			plans++
			return policy.Value(p, policy.Settings{})
		})
		out, err := Simulate(b.Context(), s)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(plans), "plans")
		b.ReportMetric(float64(out.Rounds), "rounds")
	}
}
