package policy

import (
	"slices"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// TestAlternatesKeepTheRows: jobs that may come up in another zone, at half a percent
// more, leave each row its room even if all of them come up where they take most of it.
func TestAlternatesKeepTheRows(t *testing.T) {
	milli := func(n int64) pricing.Rate { return pricing.DollarPerHour * pricing.Rate(n) / 1000 }
	burn := func(team string, most int64) planner.Row {
		return planner.Row{Name: "burn", Kind: planner.BurnRow, Team: team, Most: milli(most)}
	}
	zoneB := burn("", 1004)
	zoneB.Over = func(_ *planner.Job, o provider.Offering) bool { return o.Zone == "b" }
	for _, tt := range []struct {
		name string
		row  planner.Row
		want []int // alternates of each job
	}{
		{"room for both in the dearest", burn("Vision", 2010), []int{1, 1}},
		{"room for one in the dearest", burn("Vision", 2009), []int{1, 0}},
		{"room for the plan", burn("Vision", 2000), []int{0, 0}},
		{"another team's", burn("NLP", 1), []int{1, 1}},
		{"of all, for one", burn("", 2005), []int{1, 0}},
		{"of the other zone, for one", burnOver(zoneB, milli(1005)), []int{1, 0}},
		{"of the other zone, for none", zoneB, []int{0, 0}},
		{"a part of spot", planner.Row{Name: "spot", Kind: planner.SpotRow, Part: 1}, []int{1, 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := planner.Problem{Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Rows: []planner.Row{tt.row}}
			for zone, rate := range map[string]pricing.Rate{"a": milli(1000), "b": milli(1005)} {
				p.Offers = append(p.Offers, planner.Offer{
					Offering: provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: zone, Type: "v1", Market: provider.Spot},
					Type:     typeOf("v1"), Rate: rate, Booked: rate, Cap: -1, Boot: 2 * time.Minute,
				})
			}
			slices.SortFunc(p.Offers, func(a, b planner.Offer) int { return a.Offering.Compare(b.Offering) })
			for _, id := range []planner.JobID{"one", "two"} {
				p.Jobs = append(p.Jobs, planner.JobState{Waiting: p.Now, Job: &planner.Job{
					ID: id, Team: "Vision", Submitted: p.Now, ValueOfTime: pricing.DollarPerHour, Curve: tableCurve{"V100": {1: 1000}},
					Work: planner.Work{Samples: 4000, Kind: planner.WorkExact}, Resources: planner.Resources{Replicas: planner.Replicas{Set: []int{1}}},
				}})
			}
			plan, err := Value(p, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, a := range plan.Allocations {
				if a.Offering.Zone != "a" {
					t.Errorf("%s is planned in zone %s", a.Job, a.Offering.Zone)
				}
				got = append(got, len(a.Alternates))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("alternates %v, want %v", got, tt.want)
			}
		})
	}
}

// burnOver is a row with another bound.
func burnOver(r planner.Row, most pricing.Rate) planner.Row {
	r.Most = most
	return r
}
