package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
)

func newBudgetReplay(s streams) *cobra.Command {
	cfg := budgetConfig{}
	cmd := &cobra.Command{
		Use:   "replay [FILE...]",
		Short: "What policies would have done to a ledger: last month's, or one of a simulation",
		Long: `Goes through a ledger as if the policies had been in force: when each step would have
been done and each cap used up, and what was spent from then on. What was spent after a
stop would not have been spent then; whether it would have been later, or elsewhere, a
ledger cannot tell. "goodfleet simulate --budgets FILE" can: it runs under the policies.`,
		Example: `  goodfleet budget replay policies.yaml --from last-month
  goodfleet simulate gavel-week --burn-cap "25 USD/h" && goodfleet budget replay policies.yaml`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if cfg.settings, err = readSettings(cmd); err != nil {
				return err
			}
			if len(args) > 0 {
				cfg.settings.budgets = args
			}
			return runBudgetReplay(s.out, cfg, time.Now())
		},
	}
	addSettings(cmd, "budgets", "ledger", "out", "output")
	cfg.span.add(cmd)
	return cmd
}

func runBudgetReplay(w io.Writer, cfg budgetConfig, now time.Time) error {
	policies, all, span, err := cfg.books(now)
	if err != nil {
		return err
	}
	sum := pricing.Money(0)
	for i := range all {
		sum += all[i].Amount
	}
	findings := budget.Replay(policies, all)
	if findings == nil {
		findings = []budget.Finding{}
	}
	g := grid{
		head:  []string{"policy", "period from", "what", "at", "limit", "spent then", "spent after USD"},
		right: []bool{false, false, false, false, false, true, true},
	}
	for _, f := range findings {
		name, from := f.Policy, unknown
		if f.Key != "" {
			name += "/" + f.Key
		}
		switch {
		case !f.From.IsZero():
			from = f.From.In(span.zone).Format(time.DateOnly)
		case f.Period != "":
			from = "no start"
		}
		g.add(name, from, f.What, f.At.In(span.zone).Format("2006-01-02 15:04"), f.Limit, f.Spent, f.After)
	}
	g.notes = []string{"", fmt.Sprintf("The ledger holds %s USD that budgets count. A step that only warns stops nothing.", cents(sum.Dollars()))}
	return answer{data: struct {
		Ledger   pricing.Money    `json:"ledger"`
		Findings []budget.Finding `json:"findings"`
	}{sum, findings}, grid: g}.print(w, cfg.settings.output)
}
