package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/planner/share"
	"github.com/goodfleet/goodfleet/planner/whole"
)

// assignConfig is what the assign verb is asked.
type assignConfig struct {
	file, policy, output string
	list, explain        bool
	limits               whole.Limits
}

func newAssign(s streams) *cobra.Command {
	cfg := assignConfig{}
	cmd := &cobra.Command{
		Use:   "assign [--policy NAME] FILE",
		Short: "Give each job one whole config on a fixed fleet, as Sia or Pollux does",
		Long: `Give each job one of its options or none, within the capacity of each type. FILE
("-": standard input) is a JSON document with p, lambda, capacity and jobs. By policy
sia the sum of normalised goodputs to the power p is best: largest for p > 0, least for
p < 0. By policy pollux their power mean is largest; p may be left out then, and is -1.
A job has an id and options (type, gpus and goodput, 0 where it cannot run). It may have
min_gpus (1), current (index of the option it has), restart (age_s, count and cost_s of
its restarts) and pinned (it keeps current):
  {"p": -0.5, "lambda": 1.1, "capacity": {"a100": 8}, "jobs": [{"id": "x", "options":
    [{"type": "a100", "gpus": 1, "goodput": 40}, {"type": "a100", "gpus": 2, "goodput": 70}]}]}
The answer is an index into options for each job, or null. Status feasible means that the
gap asked for was not reached within the nodes: --gap 1e-4 is enough for large fleets.
Pinned jobs that do not fit give the status infeasible and exit code 2.`,
		Example: `  goodfleet assign round.json -o json
  goodfleet assign round.json --gap 1e-4
  goodfleet assign --list`,
		Args: atMost(1, "FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				cfg.file = args[0]
			}
			return runAssign(s, cfg)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&cfg.output, "output", "o", asTable, "table, json, yaml or csv")
	f.StringVarP(&cfg.policy, "policy", "p", "sia", "sia or pollux; --list says what they optimise")
	f.BoolVar(&cfg.list, "list", false, "list the policies, a line each")
	f.BoolVar(&cfg.explain, "explain", false, "add use and price of each type, as if configs could be shared, and what limits each job")
	f.Float64Var(&cfg.limits.Gap, "gap", 1e-9, "relative distance from the optimum that is near enough")
	f.IntVar(&cfg.limits.Nodes, "nodes", 0, "most nodes of branch and bound (0: as many as small programs need)")
	return cmd
}

func runAssign(s streams, cfg assignConfig) error {
	if err := checkFormat(cfg.output, asTable, asJSON, asYAML, asCSV); err != nil {
		return err
	}
	var names []string
	var list []policyLine
	rule := share.Rule(0)
	for _, r := range share.RuleNames() {
		names, list = append(names, r.Name), append(list, policyLine{Name: r.Name, Line: r.Line})
		if r.Name == cfg.policy {
			rule = r.Rule
		}
	}
	switch {
	case cfg.list:
		return printPolicies(s, list, cfg.output)
	case !slices.Contains(names, cfg.policy):
		return fmt.Errorf("policy %q: there is none of that name%s", cfg.policy, suggestion(cfg.policy, names))
	case cfg.limits.Nodes < 0:
		return fmt.Errorf("nodes %d: want at least 0", cfg.limits.Nodes)
	case cfg.file == "":
		return fmt.Errorf("assign wants a FILE; see goodfleet assign --help")
	}
	if err := checkGap(cfg.limits.Gap); err != nil {
		return err
	}
	text, err := readInput(s, cfg.file)
	if err != nil {
		return err
	}
	a, err := share.ParseAssignment(text, rule)
	if err != nil {
		return fmt.Errorf("%s: %w", cfg.file, err)
	}
	r := a.Solve(cfg.limits)
	out := newAssigned(a, &r, cfg.explain)
	if err := (answer{data: out, grid: out.grid(a)}).print(s.out, cfg.output); err != nil {
		return err
	}
	if r.Status == "infeasible" {
		return found("%s: infeasible: %s", cfg.file, crowded(out.Conflict))
	}
	return nil
}

// crowded says which pinned jobs are too many.
func crowded(jobs []string) string {
	if len(jobs) == 1 {
		return "the pinned job " + jobs[0] + " does not fit"
	}
	return "the pinned jobs " + strings.Join(jobs, ", ") + " do not fit"
}

// assigned is the fixed format of an answer.
type assigned struct {
	Status    string           `json:"status"`
	Objective *float64         `json:"objective"`
	Bound     *float64         `json:"bound"`
	Gap       *float64         `json:"gap"`
	Choice    map[string]*int  `json:"choice"`
	Conflict  []string         `json:"conflict,omitempty"`
	Explain   *assignedExplain `json:"explain,omitempty"`
}

type assignedExplain struct {
	Types map[string]explainedType `json:"types"`
	Jobs  map[string]string        `json:"jobs"`
}

func newAssigned(a *share.Assignment, r *share.Assigned, explain bool) assigned {
	out := assigned{Status: r.Status, Choice: make(map[string]*int)}
	for j, c := range r.Choice {
		out.Choice[a.Requests[j].ID] = nil
		if c >= 0 {
			out.Choice[a.Requests[j].ID] = &c
		}
	}
	for _, j := range r.Conflict {
		out.Conflict = append(out.Conflict, a.Requests[j].ID)
	}
	if r.Status == "infeasible" {
		return out
	}
	out.Objective, out.Bound, out.Gap = finite(r.Objective), finite(r.Bound), finite(r.Gap)
	if explain {
		e := a.Explain(r)
		out.Explain = &assignedExplain{Types: explainedTypes(e.Types), Jobs: make(map[string]string)}
		for _, j := range e.Jobs {
			out.Explain.Jobs[j.Job] = j.Reason
		}
	}
	return out
}

// grid lists the choices, then what is known of the optimum.
func (o assigned) grid(a *share.Assignment) grid {
	g := grid{head: []string{"job", "option", "type", "accelerators", "goodput"}, right: []bool{false, true, false, true, true}}
	if o.Explain != nil {
		g.head, g.right = append(g.head, "limited by"), append(g.right, false)
	}
	for _, q := range a.Requests {
		cells := []string{q.ID, unknown, unknown, "0", unknown}
		if c := o.Choice[q.ID]; c != nil {
			option := q.Options[*c]
			cells = []string{q.ID, strconv.Itoa(*c), a.Types[option.Type].Name, strconv.Itoa(option.GPUs), figure(option.Goodput)}
		}
		if o.Explain != nil {
			cells = append(cells, o.Explain.Jobs[q.ID])
		}
		g.rows = append(g.rows, cells)
	}
	g.notes = []string{o.Status}
	if o.Objective != nil {
		g.notes[0] = fmt.Sprintf("%s, objective %s, bound %s, gap %s", o.Status, figure(*o.Objective), known(o.Bound, 6), known(o.Gap, 2))
	}
	if o.Explain != nil {
		g.notes = append(g.notes, typeNotes(o.Explain.Types, "accelerator", "if configs could be shared one more would be worth at most", "")...)
	}
	return g
}
