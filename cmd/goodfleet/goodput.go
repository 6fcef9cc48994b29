package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/planner/goodput"
)

// goodputConfig is what the goodput verb is asked.
type goodputConfig struct {
	file   string // "-": stdin
	output string
}

func newGoodput(s streams) *cobra.Command {
	cfg := goodputConfig{}
	cmd := &cobra.Command{
		Use:   "goodput FILE",
		Short: "Answer questions about step times, best batches, speedups and fits",
		Long: `Answer the questions of FILE ("-": standard input), a JSON document with cases of
the kinds model, optimize, speedup and fit, and cluster_cases of the kinds
power_mean, realloc_factor, utility, desired_nodes and paper_autoscale. The answer
is {"cases": {id: answer}, "cluster_cases": {id: answer}}.`,
		Example: `  goodfleet goodput questions.json -o json
  goodfleet goodput fit samples.csv --initial-batch 128 -o profile.json
  goodfleet goodput plot profile.json -o profile.svg`,
		Args: exactlyOne("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			cfg.file = args[0]
			return runGoodput(s, cfg)
		},
	}
	cmd.Flags().StringVarP(&cfg.output, "output", "o", asTable, "table, json, yaml or csv")
	cmd.AddCommand(newGoodputFit(s), newGoodputPlot(s))
	return cmd
}

func runGoodput(s streams, cfg goodputConfig) error {
	if err := checkFormat(cfg.output, asTable, asJSON, asYAML, asCSV); err != nil {
		return err
	}
	text, err := readInput(s, cfg.file)
	if err != nil {
		return err
	}
	cases, err := goodput.ParseCases(text)
	if err != nil {
		return fmt.Errorf("%s: %w", cfg.file, err)
	}
	answers, err := cases.Answer()
	if err != nil {
		return fmt.Errorf("%s: %w", cfg.file, err)
	}
	g, err := answersGrid(answers)
	if err != nil {
		return err
	}
	return answer{data: answers, grid: g}.print(s.out, cfg.output)
}

// answersGrid lists every value of the answers with its path.
func answersGrid(a goodput.Answers) (grid, error) {
	g := grid{head: []string{"case", "value", "answer"}, right: []bool{false, false, true}}
	text, err := json.Marshal(a)
	if err != nil {
		return g, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var parts struct {
		Cases        map[string]any
		ClusterCases map[string]any `json:"cluster_cases"`
	}
	if err := decoder.Decode(&parts); err != nil {
		return g, err
	}
	for _, part := range []map[string]any{parts.Cases, parts.ClusterCases} {
		for _, id := range sortedKeys(part) {
			g.flatten(id, "", part[id])
		}
	}
	return g, nil
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (g *grid) flatten(id, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, k := range sortedKeys(value) {
			next := k
			if path != "" {
				next = path + "." + k
			}
			g.flatten(id, next, value[k])
		}
	case []any:
		for i, v := range value {
			g.flatten(id, path+"["+strconv.Itoa(i)+"]", v)
		}
	case nil:
		g.rows = append(g.rows, []string{id, path, unknown})
	default:
		g.rows = append(g.rows, []string{id, path, fmt.Sprint(value)})
	}
}
