package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/autoscale/report"
	"github.com/goodfleet/goodfleet/planner"
)

// goodputPlotConfig is what the plot of a profile is asked.
type goodputPlotConfig struct {
	file, output  string
	accelerator   string // "": the first of the profile
	perNode, most int
}

func newGoodputPlot(s streams) *cobra.Command {
	cfg := goodputPlotConfig{}
	cmd := &cobra.Command{
		Use:   "plot PROFILE.json",
		Short: "Draw throughput, efficiency and goodput of a profile, as PNG or SVG",
		Long: `Draw what a profile says of one accelerator type: throughput, efficiency and
goodput over accelerators at the best batch, with the range of one standard
deviation, and over the batch. Measured points are dots. The name of the output
says the format: .png or .svg.`,
		Example: `  goodfleet goodput plot profile.json -o profile.svg
  goodfleet goodput plot profile.json --accelerator V100 --per-node 8 --most 64 -o v100.png`,
		Args: exactlyOne("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			cfg.file = args[0]
			return runGoodputPlot(s, cfg)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&cfg.output, "output", "o", "", "file of the drawing, .png or .svg")
	f.StringVar(&cfg.accelerator, "accelerator", "", "type to draw (default: the first of the profile)")
	f.IntVar(&cfg.perNode, "per-node", 4, "accelerators on a machine")
	f.IntVar(&cfg.most, "most", 64, "the most accelerators to draw")
	return cmd
}

func runGoodputPlot(s streams, cfg goodputPlotConfig) error {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(cfg.output)), ".")
	switch {
	case format != report.PlotPNG && format != report.PlotSVG:
		return fmt.Errorf("--output %q: want a file that ends in .png or .svg", cfg.output)
	case cfg.perNode < 1 || cfg.most < 1 || cfg.most > 1<<16:
		return fmt.Errorf("--per-node %d --most %d: want at least 1, and at most %d", cfg.perNode, cfg.most, 1<<16)
	}
	text, err := readInput(s, cfg.file)
	if err != nil {
		return err
	}
	docs, err := document.Decode(cfg.file, text)
	if err != nil {
		return err
	}
	p := docs[0].Profile
	if len(docs) != 1 || p == nil {
		return docs[0].Fail("kind", "want one document of kind Profile here")
	}
	if len(p.Types) == 0 {
		return fmt.Errorf("%s: spec.types: is missing: a table has no curves to draw", cfg.file)
	}
	if cfg.accelerator == "" {
		cfg.accelerator = p.Types[0].Accelerator
	}
	drawing := report.GoodputPlot{
		Profile: p, Accelerator: cfg.accelerator, PerNode: cfg.perNode, Most: cfg.most,
		Predictor: planner.GoodputPredictor(p, planner.Growth{}),
	}
	return writeFile(cfg.output, func(w io.Writer) error { return drawing.Write(w, format) })
}
