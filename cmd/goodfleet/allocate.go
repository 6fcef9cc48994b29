package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/planner/share"
)

// allocateConfig is what the allocate verb is asked.
type allocateConfig struct {
	file, policy, output string
	list, explain        bool
	gap                  float64
}

func newAllocate(s streams) *cobra.Command {
	cfg := allocateConfig{}
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
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				cfg.file = args[0]
			}
			return runAllocate(s, cfg)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&cfg.policy, "policy", "p", "", "name of the policy; --list lists them")
	f.StringVarP(&cfg.output, "output", "o", asTable, "table, json, yaml or csv")
	f.BoolVar(&cfg.list, "list", false, "list the policies, a line each")
	f.BoolVar(&cfg.explain, "explain", false, "add the price of each type and what limits each job")
	f.Float64Var(&cfg.gap, "gap", 1e-9, "relative distance from the optimum that is near enough")
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
	if !(cfg.gap >= 0) {
		return fmt.Errorf("gap %g: want at least 0", cfg.gap)
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
	a, err := policy.Share(p, share.Options{Gap: cfg.gap})
	if err != nil {
		return fmt.Errorf("%s: %w", cfg.file, err)
	}
	out := newAllocated(p, &a, cfg.explain)
	if err := (answer{data: out, grid: out.grid()}).print(s.out, cfg.output); err != nil {
		return err
	}
	if a.Status == "infeasible" {
		return found("%s: infeasible: %d jobs cannot all have what they need: %v", cfg.file, len(out.Conflict), out.Conflict)
	}
	return nil
}

func listPolicies(s streams, cfg allocateConfig) error {
	type line struct {
		Name string `json:"name"`
		Line string `json:"objective"`
	}
	var list []line
	g := grid{head: []string{"policy", "objective"}}
	for _, y := range share.Policies() {
		list = append(list, line{y.Name, y.Line})
		g.rows = append(g.rows, []string{y.Name, y.Line})
	}
	return answer{data: list, grid: g}.print(s.out, cfg.output)
}

// allocated is the fixed format of an answer.
type allocated struct {
	Policy     string                        `json:"policy"`
	Status     string                        `json:"status"`
	Objective  *float64                      `json:"objective"`
	Bound      *float64                      `json:"bound"`
	Gap        *float64                      `json:"gap"`
	Allocation map[string]map[string]float64 `json:"allocation"`
	Pairs      []allocatedPair               `json:"pairs"`
	Vector     []float64                     `json:"vector,omitempty"`
	Conflict   []string                      `json:"conflict,omitempty"`
	LeftOut    []string                      `json:"left_out,omitempty"`
	Explain    *explained                    `json:"explain,omitempty"`
	order      []string
}

type allocatedPair struct {
	Jobs  [2]string `json:"jobs"`
	Type  string    `json:"type"`
	Share float64   `json:"share"`
}

type explained struct {
	Types map[string]explainedType `json:"types"`
	Jobs  map[string]explainedJob  `json:"jobs"`
}

type explainedType struct {
	Used    float64 `json:"used"`
	Workers int     `json:"workers"`
	Binding bool    `json:"binding"`
	Price   float64 `json:"price_per_worker"`
}

type explainedJob struct {
	StepsPerSec float64 `json:"steps_per_s"`
	Limit       string  `json:"limited_by"`
}

// leastShare is the smallest share of time that is told.
const leastShare = 1e-9

func newAllocated(p *share.Problem, a *share.Answer, explain bool) allocated {
	out := allocated{Policy: a.Policy, Status: a.Status, Allocation: make(map[string]map[string]float64), Pairs: []allocatedPair{}, Vector: a.Vector}
	for _, j := range a.Conflict {
		out.Conflict = append(out.Conflict, p.Jobs[j].ID)
	}
	for _, j := range a.Left {
		out.LeftOut = append(out.LeftOut, p.Jobs[j].ID)
	}
	if a.Status == "infeasible" {
		return out
	}
	out.Objective, out.Bound, out.Gap = &a.Objective, &a.Bound, &a.Gap
	for j, job := range p.Jobs {
		out.order = append(out.order, job.ID)
		shares := make(map[string]float64)
		for w, x := range a.Share[j] {
			if x > leastShare {
				shares[p.Types[w].Name] = x
			}
		}
		out.Allocation[job.ID] = shares
	}
	for i, x := range a.PairShare {
		if x > leastShare {
			q := p.Pairs[i/len(p.Types)]
			out.Pairs = append(out.Pairs, allocatedPair{[2]string{p.Jobs[q.A].ID, p.Jobs[q.B].ID}, p.Types[i%len(p.Types)].Name, x})
		}
	}
	if explain {
		out.Explain = newExplained(p.Explain(a))
	}
	return out
}

func newExplained(e share.Explanation) *explained {
	out := &explained{Types: make(map[string]explainedType), Jobs: make(map[string]explainedJob)}
	for _, t := range e.Types {
		out.Types[t.Type] = explainedType{t.Used, t.Workers, t.Binding, t.Price}
	}
	for _, j := range e.Jobs {
		out.Jobs[j.Job] = explainedJob{j.Theta, j.Reason}
	}
	return out
}

func figure(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// grid lists the shares, then what is known of the optimum.
func (o allocated) grid() grid {
	g := grid{head: []string{"job", "with", "type", "share"}, right: []bool{false, false, false, true}}
	if o.Explain != nil {
		g.head, g.right = append(g.head, "limited by"), append(g.right, false)
	}
	row := func(job, with, kind string, x float64) {
		cells := []string{job, with, kind, strconv.FormatFloat(x, 'f', 4, 64)}
		if o.Explain != nil {
			cells = append(cells, o.Explain.Jobs[job].Limit)
		}
		g.rows = append(g.rows, cells)
	}
	for _, id := range o.order {
		for _, kind := range sortedNames(o.Allocation[id]) {
			row(id, "", kind, o.Allocation[id][kind])
		}
	}
	for _, q := range o.Pairs {
		row(q.Jobs[0], q.Jobs[1], q.Type, q.Share)
	}
	if o.Objective == nil {
		g.notes = append(g.notes, fmt.Sprintf("%s: %s", o.Policy, o.Status))
		return g
	}
	g.notes = append(g.notes, fmt.Sprintf("%s: %s, objective %s, bound %s, gap %.2g", o.Policy, o.Status, figure(*o.Objective), figure(*o.Bound), *o.Gap))
	if o.Explain != nil {
		for _, kind := range sortedNames(o.Explain.Types) {
			t := o.Explain.Types[kind]
			g.notes = append(g.notes, fmt.Sprintf("%s: %s of %d workers in use; one more is worth %s of the objective", kind, figure(t.Used), t.Workers, figure(t.Price)))
		}
	}
	return g
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
