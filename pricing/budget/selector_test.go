package budget_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing/budget"
)

func selector(t interface{ Fatal(...any) }, m budget.Match) *budget.Selector {
	s, err := budget.NewSelector(m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSelectorCovers(t *testing.T) {
	facts := budget.Facts{
		Job: "llm-7", Team: "vision", Project: "release", Cloud: "aws", Region: "us-east-1", Zone: "use1-az1",
		Type: "p4d.24xlarge", Market: "spot", Accelerator: "A100", Accelerators: 8,
	}
	for _, c := range []struct {
		match           budget.Match
		want            bool
		ofJobs, ofOffer bool
	}{
		{budget.Match{}, true, false, false},
		{budget.Match{Team: "vision"}, true, true, false},
		{budget.Match{Team: "speech"}, false, true, false},
		{budget.Match{Team: "vision", Market: "on-demand"}, false, true, true},
		{budget.Match{Where: `job.startsWith("llm-") && accelerator in ["A100", "H100"]`}, true, true, true},
		{budget.Match{Where: `type == "p4d.24xlarge" && accelerators > 4`}, true, false, true},
		{budget.Match{Where: `region.endsWith("west-1")`}, false, false, true},
		{budget.Match{Cloud: "aws", Where: `team == ""`}, false, true, true},
		{budget.Match{Where: `1 / (accelerators - 8) > 0`}, true, false, true}, // in doubt it covers
	} {
		s := selector(t, c.match)
		for range 2 { // the second time from memory
			if got := s.Covers(facts); got != c.want {
				t.Errorf("%s: covers %t, want %t", s, got, c.want)
			}
		}
		if s.OfJobs() != c.ofJobs || s.OfOffers() != c.ofOffer {
			t.Errorf("%s: of jobs %t, of offers %t", s, s.OfJobs(), s.OfOffers())
		}
	}
}

// An equality written as a field and as an expression covers the same.
func TestFieldsAndExpressionsAgree(t *testing.T) {
	words := rapid.SampledFrom([]string{"a", "b", "c"})
	rapid.Check(t, func(t *rapid.T) {
		f := budget.Facts{Team: words.Draw(t, "team"), Market: words.Draw(t, "market"), Zone: words.Draw(t, "zone")}
		team, market := words.Draw(t, "of team"), words.Draw(t, "of market")
		one := selector(t, budget.Match{Team: team, Market: market})
		two := selector(t, budget.Match{Where: `team == "` + team + `" && market == "` + market + `"`})
		if one.Covers(f) != two.Covers(f) {
			t.Fatalf("%s and %s of %+v", one, two, f)
		}
	})
}
