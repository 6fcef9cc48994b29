package budget_test

import (
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
)

// A step that is reached and lets nothing begin refuses a launch, as a round does, and is named
// with when room comes; one that warns, is not reached or belongs to a dry run refuses nothing.
func TestExplainRefusesByTheStepInForce(t *testing.T) {
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	at := func(share float64, m budget.Measure, do budget.Action) budget.Step {
		return budget.Step{At: share, Measure: m, Do: do}
	}
	foretold := at(0.9, budget.Foretold, budget.NoNew)
	foretold.Quantile = 0.5
	rounds := at(0.5, budget.Actual, budget.NoNew)
	rounds.Rounds = 3
	for name, c := range map[string]struct {
		steps []budget.Step
		dry   bool
		want  string // the step that refuses; "": none
		says  string
	}{
		"no step":       {},
		"warn":          {steps: []budget.Step{at(0.5, budget.Actual, budget.Warn)}},
		"no-new":        {steps: []budget.Step{at(0.5, budget.Actual, budget.NoNew)}, want: "no-new at 50% actual"},
		"drain":         {steps: []budget.Step{at(0.5, budget.Actual, budget.Drain)}, want: "drain at 50% actual"},
		"stop":          {steps: []budget.Step{at(0.5, budget.Actual, budget.Stop)}, want: "stop at 50% actual"},
		"committed":     {steps: []budget.Step{at(0.6, budget.Committed, budget.NoNew)}, want: "no-new at 60% committed"},
		"forecast":      {steps: []budget.Step{foretold}, want: "no-new at 90% forecast P50"},
		"the severest":  {steps: []budget.Step{at(0.5, budget.Actual, budget.Stop), at(0.4, budget.Actual, budget.NoNew), at(0.1, budget.Actual, budget.Warn)}, want: "stop at 50% actual"},
		"not reached":   {steps: []budget.Step{at(0.61, budget.Actual, budget.Stop)}},
		"not yet often": {steps: []budget.Step{rounds}},
		"dry run":       {steps: []budget.Step{at(0.5, budget.Actual, budget.Stop)}, dry: true, says: "stop at 50% actual"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &budget.Policy{Name: "p", Owner: "o", Cap: &budget.Cap{Amount: 1000 * pricing.Dollar, Period: budget.Day}, Steps: c.steps, DryRun: c.dry}
			var spends []budget.Spend // a day before too: a forecast needs it
			for from := now.Add(-72 * time.Hour); from.Before(now); from = from.Add(time.Hour) {
				spends = append(spends, budget.Spend{At: from, To: from.Add(time.Hour), Amount: 50 * pricing.Dollar})
			}
			ask := budget.Ask{Offering: aws, Count: 1, Rate: usd, For: []budget.Part{{Facts: budget.FactsOf(aws, p4d), Count: 8}}}
			verdicts, err := budget.Explain(budget.Policies{p}, spends, ask, budget.Known{}, now)
			if (err != nil) != (c.want != "") {
				t.Fatalf("refused: %v, want by %q", err, c.want)
			}
			if want := c.want + "; room comes at 2026-11-03T00:00:00Z, as the day ends"; err != nil && !strings.HasSuffix(err.Error(), "600 of 1000 USD are spent: "+want) {
				t.Errorf("refused: %v, want %s", err, want)
			}
			if v := verdicts[0]; !strings.Contains(v.Says, c.want) || !strings.Contains(v.Says, c.says) || err != nil && !v.Decides {
				t.Errorf("it says %q, decides: %v", v.Says, v.Decides)
			}
		})
	}
}

// A cap that covers nothing of a machine but what is paid at once with it is asked too: a round
// holds the launch to it. Limits on rates of such a policy have no say.
func TestExplainAsksWhoCoversWhatIsPaidAtOnce(t *testing.T) {
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	machine := budget.FactsOf(aws, p4d).For("far", "NLP", "")
	once := budget.Facts{Job: "far", Team: "NLP", Cloud: "aws", Region: "eu-west-1", Market: "none"}
	for name, c := range map[string]struct {
		region        string        // that the policy is about
		amount, spent pricing.Money // USD
		each          budget.Each
		burn          pricing.Rate
		steps         []budget.Step
		covers        bool
		refused       string // ""
	}{
		"what is paid at once, and too much": {region: "eu-west-1", amount: 5, covers: true, refused: "what is left lasts"},
		"of each job":                        {region: "eu-west-1", amount: 5, each: budget.PerJob, covers: true, refused: "what is left lasts"},
		"used up":                            {region: "eu-west-1", amount: 5, spent: 5, covers: true, refused: "used up"},
		"a step":                             {region: "eu-west-1", amount: 100, spent: 60, steps: []budget.Step{{At: 0.5, Measure: budget.Actual, Do: budget.NoNew}}, covers: true, refused: "no-new at 50% actual; room comes"},
		"it is enough":                       {region: "eu-west-1", amount: 11, covers: true},
		"a burn cap has no say":              {region: "eu-west-1", amount: 11, burn: 1, covers: true},
		"of another region":                  {region: "us-west-2", amount: 5},
	} {
		t.Run(name, func(t *testing.T) {
			over, err := budget.NewSelector(budget.Match{Region: c.region})
			if err != nil {
				t.Fatal(err)
			}
			p := &budget.Policy{Name: "p", Owner: "o", Over: over, Burn: c.burn, Steps: c.steps, Cap: &budget.Cap{Amount: c.amount * pricing.Dollar, Period: budget.Day, Each: c.each}}
			spends := []budget.Spend{{Facts: once, At: now.Add(-time.Hour), To: now.Add(-time.Hour), Amount: c.spent * pricing.Dollar}}
			ask := budget.Ask{Offering: aws, Count: 1, Rate: usd, For: []budget.Part{{Facts: machine, Count: 8, Lumps: []budget.Lump{{Facts: once, Amount: 10 * pricing.Dollar}}}}}
			verdicts, err := budget.Explain(budget.Policies{p}, spends, ask, budget.Known{}, now)
			if (err != nil) != (c.refused != "") || err != nil && !strings.Contains(err.Error(), c.refused) {
				t.Errorf("refused: %v, want %q", err, c.refused)
			}
			if v := verdicts[0]; v.Covers != c.covers || c.covers != strings.Contains(v.Says, "only what is paid at once counts") || v.Decides != c.covers {
				t.Errorf("covers: %v, decides: %v, says %q", v.Covers, v.Decides, v.Says)
			}
		})
	}
}
