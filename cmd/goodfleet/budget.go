package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/pricing/budget"
)

func newBudget(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "budget",
		Short: "Budget policies: what they say, how far they are used, what they would do",
		Long: `Budget policies say what may be spent, by whom, when: documents of kind BudgetPolicy
("goodfleet schema BudgetPolicy"), named by --budgets or budgets in the settings file.`,
		Example: `  goodfleet budget check policies.yaml
  goodfleet budget status --budgets policies.yaml
  goodfleet budget replay policies.yaml --from last-month`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBudgetStatus(s), newBudgetCheck(s), newBudgetExplain(s), newBudgetReplay(s), newBudgetAnswer(s, budget.Approved), newBudgetAnswer(s, budget.Denied))
	return cmd
}

func newBudgetCheck(s streams) *cobra.Command {
	var cfg settings
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Read policies, name the first thing that is wrong with its line, and tell what they say",
		Example: `  goodfleet budget check policies.yaml
  goodfleet budget check team-*.yaml -o json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s wants a FILE; see %s --help", cmd.CommandPath(), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if cfg, err = readSettings(cmd); err != nil {
				return err
			}
			policies, err := readPolicies(args, s.in)
			if err != nil {
				return err
			}
			return showPolicies(s.out, policies, cfg.output)
		},
	}
	addSettings(cmd, "output")
	return cmd
}

// readPolicies reads the policies of all files together; "-" is standard input.
func readPolicies(files []string, in io.Reader) (budget.Policies, error) {
	var all []*budget.Policy
	for _, name := range files {
		var data []byte
		var err error
		if name == "-" && in == nil {
			return nil, errors.New("--budgets -: policies are read from files here, since jobs may come from standard input")
		}
		if name == "-" {
			data, err = readAll(in, "stdin", mostDocument)
		} else {
			data, err = readFile(name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, bare(err))
		}
		list, err := document.Policies(name, data, budget.FromFile)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return budget.NewPolicies(all...)
}

// showPolicies tells what policies say.
func showPolicies(w io.Writer, policies budget.Policies, output string) error {
	type row struct {
		Name   string        `json:"name"`
		Owner  string        `json:"owner"`
		Origin budget.Origin `json:"origin"`
		Mode   string        `json:"mode"`
		About  string        `json:"about"`
		Says   []string      `json:"says"`
	}
	data := []row{}
	g := grid{head: []string{"policy", "owner", "from", "about", "says"}, wrap: 5}
	for _, p := range policies {
		r := row{p.Name, p.Owner, p.Origin, "enforce", p.Over.String(), p.Says()}
		if p.DryRun {
			r.Mode = "dry-run"
			r.Says = append([]string{"dry run"}, r.Says...)
		}
		data = append(data, r)
		g.rows = append(g.rows, []string{p.Name, p.Owner, string(p.Origin), r.About, strings.Join(r.Says, "; ")})
	}
	g.notes = []string{"", numbered(len(policies), "policy is", "policies are") + " sound."}
	return answer{data: data, grid: g}.print(w, output)
}
