package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/planner/share"
)

// allocateConfig is what the allocate verb is asked.
type allocateConfig struct {
	file, policy, output string
	list, explain        bool
	gap                  float64
	power                *float64 // of power_mean; nil: its own
}

func newAllocate(s streams) *cobra.Command {
	cfg := allocateConfig{}
	power := 0.0
	cmd := &cobra.Command{
		Use:   "allocate --policy NAME FILE",
		Short: "Share a fixed fleet among jobs by a policy",
		Long: `Share a fixed fleet among jobs: FILE ("-": standard input) is a JSON document with
cluster, prices, jobs and, where a policy uses them, pairs and entities. The answer is
the share of time that each job has on each type, with the objective, a bound that no
other sharing exceeds, and the gap between them.

Deadlines that cannot all be met give the status infeasible, the jobs in conflict and
exit code 2.`,
		Example: `  goodfleet allocate --policy max_min_fairness fleet.json -o json
  goodfleet allocate --policy min_spend_slo --explain fleet.json
  goodfleet allocate --list`,
		Args: atMost(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				cfg.file = args[0]
			}
			if cmd.Flags().Changed("power") {
				cfg.power = &power
			}
			return runAllocate(s, cfg)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&cfg.policy, "policy", "p", "", "name of the policy; --list lists them")
	f.StringVarP(&cfg.output, "output", "o", asTable, "table, json, yaml or csv")
	f.BoolVar(&cfg.list, "list", false, "list the policies, a line each")
	f.BoolVar(&cfg.explain, "explain", false, "add the price of each type and what limits each job")
	f.Float64Var(&cfg.gap, "gap", 0, "relative distance from the optimum that is near enough; 0: 1e-9, of power_mean 1e-7")
	f.Float64Var(&power, "power", -1, "p of power_mean, -10 to 1: the lower, the nearer to the worst-off job")
	return cmd
}

func policyNames() []string {
	var names []string
	for _, y := range share.Policies() {
		names = append(names, y.Name)
	}
	return names
}

func runAllocate(s streams, cfg allocateConfig) error {
	if err := checkFormat(cfg.output, asTable, asJSON, asYAML, asCSV); err != nil {
		return err
	}
	if cfg.list {
		return listPolicies(s, cfg)
	}
	if cfg.policy == "" {
		return fmt.Errorf("allocate wants --policy; goodfleet allocate --list lists them")
	}
	policy, ok := share.Find(cfg.policy)
	if !ok {
		return fmt.Errorf("policy %q: there is none of that name%s", cfg.policy, suggestion(cfg.policy, policyNames()))
	}
	if err := checkGap(cfg.gap); err != nil {
		return err
	}
	if cfg.power != nil && policy.Name != "power_mean" {
		return fmt.Errorf("power: %s takes none, only power_mean does", policy.Name)
	}
	if cfg.file == "" {
		return fmt.Errorf("allocate wants a FILE; see goodfleet allocate --help")
	}
	text, err := readInput(s, cfg.file)
	if err != nil {
		return err
	}
	p, err := share.Parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", cfg.file, err)
	}
	a, err := policy.Share(p, share.Options{Gap: cfg.gap, Power: cfg.power})
	if err != nil {
		return fmt.Errorf("%s: %w", cfg.file, err)
	}
	out := newAllocated(p, &a, cfg.explain)
	if err := (answer{data: out, grid: out.grid()}).print(s.out, cfg.output); err != nil {
		return err
	}
	if a.Status == "infeasible" {
		return found("%s: infeasible: %s", cfg.file, lacking(out.Conflict))
	}
	return nil
}

// lacking says which jobs ask for more than there is.
func lacking(jobs []string) string {
	if len(jobs) == 1 {
		return "job " + jobs[0] + " cannot have what it needs"
	}
	return fmt.Sprintf("%d jobs cannot all have what they need: %s", len(jobs), strings.Join(jobs, ", "))
}

// checkGap refuses distances that no answer could be asked for.
func checkGap(gap float64) error {
	if !(gap >= 0 && gap < 1) {
		return fmt.Errorf("gap %g: want at least 0, and less than 1", gap)
	}
	return nil
}

// policyLine is a policy as it is listed.
type policyLine struct {
	Name string `json:"name"`
	Line string `json:"objective"`
	Unit string `json:"unit,omitempty"`
}

func listPolicies(s streams, cfg allocateConfig) error {
	var list []policyLine
	for _, y := range share.Policies() {
		list = append(list, policyLine{y.Name, y.Line, y.Unit})
	}
	return printPolicies(s, list, cfg.output)
}

func printPolicies(s streams, list []policyLine, format string) error {
	g := grid{head: []string{"policy", "objective", "unit"}}
	for _, y := range list {
		g.rows = append(g.rows, []string{y.Name, y.Line, y.Unit})
	}
	return answer{data: list, grid: g}.print(s.out, format)
}
