package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

func newBudgetExplain(s streams) *cobra.Command {
	cfg := budgetConfig{}
	cmd := &cobra.Command{
		Use:   "explain OFFERING",
		Short: "Which policy decides what for a job on an offering, and which is the strictest",
		Long: `Asks every policy about one machine of an offering (cloud/zone/type/market) for a job, by
the ledger up to --now and the prices at --at: what each says, and which of those that
limit it leaves the least room: that one answers. Exit code 2 when it would be refused.`,
		Example: `  goodfleet budget explain aws/use1-az1/p3.16xlarge/spot --team Vision --budgets policies.yaml
  goodfleet budget explain aws/use1-az1/p3.16xlarge/on-demand --job ResNet-50 --team Vision -o json`,
		Args: exactlyOne("OFFERING"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if cfg.settings, err = readSettings(cmd); err != nil {
				return err
			}
			return runBudgetExplain(s.out, cfg, args[0], time.Now())
		},
	}
	addSettings(cmd, "budgets", "ledger", "out", "output", "quarantine")
	cmd.Flags().StringVar(&cfg.job, "job", "", "job that it is for")
	cmd.Flags().StringVar(&cfg.team, "team", "", "team of the job")
	cmd.Flags().StringVar(&cfg.project, "project", "", "project of the job")
	cmd.Flags().StringVar(&cfg.span.now, "now", "", "instant up to which charges are known (default now)")
	cmd.Flags().StringVar(&cfg.at, "at", "", "instant of the prices (default the newest)")
	cfg.span.zone = "UTC"
	return cmd
}

// findOffering finds what is sold under a name.
func (w world) findOffering(name string) (provider.Offering, error) {
	var near []string
	for _, o := range w.history.Offerings() {
		if o.String() == name {
			return o, nil
		}
		near = append(near, o.String())
	}
	return provider.Offering{}, fmt.Errorf("nothing is sold as %q%s", name, suggestion(name, near))
}

func runBudgetExplain(w io.Writer, cfg budgetConfig, name string, now time.Time) error {
	policies, err := cfg.settings.policies()
	if err != nil {
		return err
	}
	world, err := newWorld(cfg.settings)
	if err != nil {
		return err
	}
	span, err := cfg.span.read(now)
	if err != nil {
		return err
	}
	all, err := cfg.settings.spendsOf(span)
	if err != nil {
		return err
	}
	at := world.newest()
	if cfg.at != "" {
		if at, err = instant("at", cfg.at); err != nil {
			return err
		}
	}
	o, err := world.findOffering(name)
	if err != nil {
		return err
	}
	t, ok := world.catalogue.Lookup(o.Cloud, o.Type)
	if !ok {
		return fmt.Errorf("%s: the catalogue lacks its type", name)
	}
	rate, _ := world.history.RateAt(o, at)
	list, _ := world.history.ListRate(o, at)
	facts := budget.FactsOf(o, t).For(cfg.job, cfg.team, cfg.project)
	ask := budget.Ask{Offering: o, Count: 1, Rate: rate, List: list, For: []budget.Part{{Facts: facts, Count: t.Count}}}
	verdicts, refused := budget.Explain(policies, all, ask, span.now)

	type row struct {
		Policy  string `json:"policy"`
		Covers  bool   `json:"covers"`
		Says    string `json:"says"`
		Decides bool   `json:"decides"`
	}
	data := struct {
		Offering string   `json:"offering"`
		Rate     string   `json:"rate"`
		Refused  string   `json:"refused,omitempty"`
		Policies []row    `json:"policies"`
		Strict   []string `json:"strictest"`
	}{Offering: name, Rate: rate.String(), Policies: []row{}, Strict: []string{}}
	g := grid{head: []string{"policy", "covers", "says", ""}, wrap: 3}
	for _, v := range verdicts {
		data.Policies = append(data.Policies, row{v.Policy, v.Covers, v.Says, v.Decides})
		mark := ""
		if v.Decides {
			mark = "decides"
			data.Strict = append(data.Strict, v.Policy)
		}
		g.rows = append(g.rows, []string{v.Policy, map[bool]string{true: "yes", false: "no"}[v.Covers], v.Says, mark})
	}
	who := strings.Trim(cfg.job+" of "+cfg.team, " of")
	if who == "" {
		who = "nobody yet"
	}
	g.notes = []string{"", fmt.Sprintf("One %s at %s USD/h for %s: ", name, rate, who)}
	if refused == nil {
		g.notes[1] += "it may be bought."
	} else {
		data.Refused = refused.Error()
		g.notes[1] += "refused. " + data.Refused
	}
	if err := (answer{data: data, grid: g}).print(w, cfg.settings.output); err != nil {
		return err
	}
	if refused != nil {
		return found("%v", refused)
	}
	return nil
}
