package autoscale_test

import (
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// A job alone is all on spot or not at all. Between a least and a most share it goes on
// demand, whoever sets the two; under a most that it cannot keep it waits and says for what.
func TestShareOfSpotThatAJobAloneCannotHave(t *testing.T) {
	share := func(least, most float64) *budget.Policy {
		return &budget.Policy{Name: "share", Spot: &budget.SpotShare{Min: least, Max: most}}
	}
	both := []provider.Offering{smallSpot, smallOnDemand}
	for _, c := range []struct {
		name     string
		sold     []provider.Offering
		rows     []planner.Row
		policies []*budget.Policy
		bought   provider.Market // 0: nothing
		says     string
	}{
		{"a most", both, nil, []*budget.Policy{share(0, 0.5)}, provider.OnDemand, ""},
		{"a least", both, nil, []*budget.Policy{share(0.4, 1)}, provider.Spot, ""},
		{"both", both, nil, []*budget.Policy{share(0.4, 0.9)}, provider.OnDemand, ""},
		{"both, of two policies", both, nil, []*budget.Policy{share(0.4, 1), {Name: "other", Spot: &budget.SpotShare{Max: 0.9}}}, provider.OnDemand, ""},
		{"both, one of the settings", both, []planner.Row{{Name: "limit", Kind: planner.SpotRow, Part: 0.9}}, []*budget.Policy{share(0.4, 1)}, provider.OnDemand, ""},
		{"a most of another team", both, []planner.Row{{Name: "limit", Kind: planner.SpotRow, Team: "Speech", Part: 0.9}}, []*budget.Policy{share(0.4, 1)}, provider.Spot, ""},
		{"both, and no spot", []provider.Offering{smallOnDemand}, nil, []*budget.Policy{share(0.4, 0.9)}, provider.OnDemand, ""},
		{"a most, and spot only", []provider.Offering{smallSpot}, nil, []*budget.Policy{share(0, 0.5)}, 0, "limit share: spot: spot may be 50 % of what is burnt, and too little on demand runs beside it"},
		{"a least, and no spot", []provider.Offering{smallOnDemand}, nil, []*budget.Policy{share(0.4, 1)}, 0, "limit share: spot: spot must be 40 % of what is burnt, and too little spot runs beside it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, setup{offerings: c.sold, settings: settingRows(c.rows)})
			for _, p := range c.policies {
				p.Owner = "o"
			}
			w.put(c.policies...)
			w.submit(testJob("a", 5, 1))
			r := w.round(time.Minute)
			if c.bought == 0 {
				if len(r.Bought) != 0 || len(r.Plan.Waits) != 1 || !strings.Contains(r.Plan.Waits[0].Reason, c.says) {
					t.Errorf("bought %+v, waits %+v, want %q", r.Bought, r.Plan.Waits, c.says)
				}
				return
			}
			if len(r.Bought) != 1 || r.Bought[0].Offering.Market != c.bought {
				t.Errorf("bought %+v, want one %s; waits %+v", r.Bought, c.bought, r.Plan.Waits)
			}
		})
	}
}

// settingRows are settings with limits in them.
func settingRows(rows []planner.Row) func(s *autoscale.Settings) {
	return func(s *autoscale.Settings) { s.Rows = rows }
}
