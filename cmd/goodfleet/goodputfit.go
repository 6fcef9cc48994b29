package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/planner/goodput"
)

// goodputFitConfig is what the fit of a profile is asked.
type goodputFitConfig struct {
	file          string // "-": stdin
	output        string // "": the profile goes to stdout
	name          string
	limits        goodput.Limits
	sqr, variance float64
	noise         bool
	gradientBytes float64
}

func newGoodputFit(s streams) *cobra.Command {
	cfg := goodputFitConfig{}
	cmd := &cobra.Command{
		Use:   "fit SAMPLES.csv",
		Short: "Make a profile of a job from measured pass times",
		Long: `Make a profile of a job from a CSV with a header and the columns

  accelerator   T4, A100-80GB, ...
  nodes         machines that the job ran on
  replicas      accelerators in all
  atomic_bsz    samples of one pass on one accelerator
  accum_time    mean seconds of a forward and backward pass without synchronization
  optim_time    mean seconds of a pass with synchronization and optimizer step

and, if you like, kind (gpu or tpu) and count (passes behind the means). Measure at
least two local batches on one accelerator, two sizes on one machine beyond two
accelerators, and one on several machines; what was not measured is named. The
profile goes to the file of --output, and a table of the fits to stdout.`,
		Example: `  goodfleet goodput fit samples.csv --name resnet50 --initial-batch 200 --max-batch 12800 --accumulation -o profile.json`,
		Args:    exactlyOne("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg.file = args[0]
			cfg.noise = cmd.Flags().Changed("sqr") || cmd.Flags().Changed("var")
			return runGoodputFit(s, cfg)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&cfg.output, "output", "o", "", "file of the profile (default: standard output, without the table)")
	f.StringVar(&cfg.name, "name", "", "name of the job (default: that of the file)")
	f.IntVar(&cfg.limits.InitialBatch, "initial-batch", 0, "batch that the learning rate was tuned for, of all accelerators together")
	f.IntVar(&cfg.limits.MaxBatch, "max-batch", 0, "largest batch to train with (default: the initial batch)")
	f.IntVar(&cfg.limits.MinLocal, "min-local", 0, "smallest batch of a pass on one accelerator (default: 1)")
	f.IntVar(&cfg.limits.MaxLocal, "max-local", 0, "largest batch of a pass on one accelerator (default: --max-batch)")
	f.BoolVar(&cfg.limits.Accumulation, "accumulation", false, "a step may add up several passes")
	f.Float64Var(&cfg.sqr, "sqr", 0, "squared norm of the gradient (default: not known)")
	f.Float64Var(&cfg.variance, "var", 0, "variance of the gradient at the initial batch (default: not known)")
	f.Float64Var(&cfg.gradientBytes, "gradient-bytes", 0, "bytes of gradients that each accelerator exchanges in a step (default: not known)")
	return cmd
}

func runGoodputFit(s streams, cfg goodputFitConfig) error {
	if cfg.limits.InitialBatch == 0 {
		return errors.New("--initial-batch is missing: the batch that progress is counted at")
	}
	text, err := readInput(s, cfg.file)
	if err != nil {
		return err
	}
	types, err := goodput.ReadSamples(cfg.file, bytes.NewReader(text))
	if err != nil {
		return err
	}
	p := &goodput.Profile{Name: cfg.name, Limits: cfg.limits, GradientBytes: cfg.gradientBytes}
	if p.Name == "" {
		p.Name = strings.TrimSuffix(filepath.Base(cfg.file), filepath.Ext(cfg.file))
	}
	if cfg.noise {
		n, ok := goodput.NewNoise(cfg.sqr, cfg.variance)
		if !ok {
			return fmt.Errorf("--sqr %g --var %g: want finite numbers, at least 0", cfg.sqr, cfg.variance)
		}
		p.Noise = &n
	}
	g := grid{
		head:  []string{"accelerator", "samples", "objective", "mean error", "not identified"},
		right: []bool{false, true, true, true, false},
	}
	for _, t := range types {
		fitted, res, err := goodput.NewTypeProfile(t.Accelerator, t.Kind, t.Samples)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", cfg.file, t.Accelerator, err)
		}
		p.Put(fitted)
		missing := strings.Join(res.Unidentified, ", ")
		if missing == "" {
			missing = "none"
		}
		g.rows = append(g.rows, []string{
			t.Accelerator, strconv.Itoa(len(fitted.Samples)), strconv.FormatFloat(res.Objective, 'f', 4, 64),
			strconv.FormatFloat(100*res.MeanError, 'f', 1, 64) + " %", missing,
		})
	}
	var document bytes.Buffer
	compact, err := p.MarshalJSON()
	if err != nil {
		return err
	}
	if err := json.Indent(&document, compact, "", "  "); err != nil {
		return err
	}
	document.WriteByte('\n')
	if cfg.output == "" {
		_, err := s.out.Write(document.Bytes())
		return err
	}
	if err := writeFile(cfg.output, func(w io.Writer) error {
		_, err := w.Write(document.Bytes())
		return err
	}); err != nil {
		return err
	}
	g.notes = append(g.notes, "", "The profile is in "+cfg.output+".")
	return answer{grid: g}.print(s.out, asTable)
}
