package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/planner/share"
	"github.com/goodfleet/goodfleet/planner/whole"
)

// assignConfig is what the assign verb is asked.
type assignConfig struct {
	file, output string
	explain      bool
	limits       whole.Limits
}

func newAssign(s streams) *cobra.Command {
	cfg := assignConfig{}
	cmd := &cobra.Command{
		Use:   "assign FILE",
		Short: "Give each job one whole config on a fixed fleet, as Sia does",
		Long: `Give each job one of its options or none, so that the sum of their normalised
goodputs to the power p is best within the capacity of each type. FILE ("-": standard
input) is a JSON document with p, lambda, capacity and jobs. For p > 0 the sum is
maximised, for p < 0 minimised. Pinned jobs that do not fit give the status infeasible
and exit code 2.`,
		Example: `  goodfleet assign round.json -o json
  goodfleet assign round.json --gap 1e-4`,
		Args: exactlyOne("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			cfg.file = args[0]
			return runAssign(s, cfg)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&cfg.output, "output", "o", asTable, "table, json, yaml or csv")
	f.BoolVar(&cfg.explain, "explain", false, "add the price of each type")
	f.Float64Var(&cfg.limits.Gap, "gap", 1e-9, "relative distance from the optimum that is near enough")
	f.IntVar(&cfg.limits.Nodes, "nodes", 0, "most nodes of branch and bound (0: as many as small programs need)")
	return cmd
}

// assigned is the fixed format of an answer.
type assigned struct {
	Status    string             `json:"status"`
	Objective *float64           `json:"objective"`
	Bound     *float64           `json:"bound"`
	Gap       *float64           `json:"gap"`
	Choice    map[string]*int    `json:"choice"`
	Conflict  []string           `json:"conflict,omitempty"`
	Prices    map[string]float64 `json:"prices,omitempty"`
}

func runAssign(s streams, cfg assignConfig) error {
	if err := checkFormat(cfg.output, asTable, asJSON, asYAML, asCSV); err != nil {
		return err
	}
	if !(cfg.limits.Gap >= 0) || cfg.limits.Nodes < 0 {
		return fmt.Errorf("gap %g, nodes %d: want at least 0", cfg.limits.Gap, cfg.limits.Nodes)
	}
	text, err := readInput(s, cfg.file)
	if err != nil {
		return err
	}
	a, err := share.ParseAssignment(text)
	if err != nil {
		return fmt.Errorf("%s: %w", cfg.file, err)
	}
	r := a.Solve(cfg.limits)
	out := assigned{Status: r.Status, Choice: make(map[string]*int)}
	g := grid{head: []string{"job", "option", "type", "accelerators", "goodput"}, right: []bool{false, true, false, true, true}}
	for j, c := range r.Choice {
		id := a.Requests[j].ID
		if c < 0 {
			out.Choice[id] = nil
			g.rows = append(g.rows, []string{id, unknown, unknown, "0", unknown})
			continue
		}
		o := a.Requests[j].Options[c]
		out.Choice[id] = &c
		g.rows = append(g.rows, []string{id, strconv.Itoa(c), a.Types[o.Type].Name, strconv.Itoa(o.GPUs), figure(o.Goodput)})
	}
	for _, j := range r.Conflict {
		out.Conflict = append(out.Conflict, a.Requests[j].ID)
	}
	g.notes = []string{r.Status}
	if r.Status != "infeasible" {
		out.Objective, out.Bound, out.Gap = &r.Objective, &r.Bound, &r.Gap
		g.notes[0] = fmt.Sprintf("%s, objective %s, bound %s, gap %.2g", r.Status, figure(r.Objective), figure(r.Bound), r.Gap)
	}
	if cfg.explain && r.Price != nil {
		out.Prices = make(map[string]float64)
		for k, t := range a.Types {
			out.Prices[t.Name] = r.Price[k]
			g.notes = append(g.notes, fmt.Sprintf("%s: one more accelerator is worth about %s of the objective", t.Name, figure(r.Price[k])))
		}
	}
	if err := (answer{data: out, grid: g}).print(s.out, cfg.output); err != nil {
		return err
	}
	if r.Status == "infeasible" {
		return found("%s: infeasible: the pinned jobs %v do not fit", cfg.file, out.Conflict)
	}
	return nil
}
