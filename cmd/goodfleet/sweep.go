package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/autoscale/sim/sweep"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
)

// Files of a sweep, in the folder of --out.
const (
	journalFile   = "sweep.journal"
	sweepCSVFile  = "sweep.csv"
	sweepJSONFile = "sweep.jsonl"
)

// sweptBy refuses flags that go with one run, or that a sweep's file names.
func (cfg *simulateConfig) sweptBy(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("--sweep %s names the jobs: want no FILE beside it", cfg.sweep)
	}
	for _, flag := range []string{"workload", "load", "cluster", "prices", "baselines", "faults", "truth", "owned"} {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("--sweep: want no --%s beside it", flag)
		}
	}
	if cfg.settings.out == "" {
		return errors.New("--out: a sweep wants a folder for its rows")
	}
	if cfg.parallel < 0 {
		return fmt.Errorf("--parallel %d: want 0 or more", cfg.parallel)
	}
	if !cmd.Flags().Changed("policy") {
		cfg.policy = ""
	}
	return nil
}

// sweepAxis is a list of a sweep: its name, the words for its places, and what a place
// does to a run.
type sweepAxis struct {
	name   string
	places []string
	put    func(r *sweptRun, place int)
}

// sweptRun is one run of a sweep while it is put together.
type sweptRun struct {
	cfg    simulateConfig
	value  pricing.Rate // of an hour of every job; 0: as they say
	hazard float64      // 0: 1
}

// runSweep runs all combinations of a sweep's file.
func runSweep(ctx context.Context, s streams, cfg simulateConfig) error {
	doc, text, err := readSweep(cfg.sweep)
	if err != nil {
		return err
	}
	axes, inputs, err := cfg.axes(doc)
	if err != nil {
		return err
	}
	beside, err := cfg.beside()
	if err != nil {
		return err
	}
	config := sweep.Config{Parallel: cfg.parallel, Journal: filepath.Join(cfg.settings.out, journalFile), Inputs: slices.Concat(beside, []string{hashOf(text)}, inputs)}
	for _, a := range axes {
		config.Axes = append(config.Axes, a.name)
	}
	config.Runs = cfg.runs(axes)
	// What is wrong with a place on an axis is told before the first run begins.
	for _, at := range eachPlace(axes) {
		r := cfg.run(axes, at)
		if _, err := r.Setting(); err != nil {
			return fmt.Errorf("%s: %s: %w", cfg.sweep, strings.Join(r.Places, ", "), err)
		}
	}
	if err := os.MkdirAll(cfg.settings.out, 0o755); err != nil {
		return fmt.Errorf("simulate: %w", err)
	}
	const steps = 1000 // of the bar, per run
	bar := progress(cfg.bar, int64(steps*len(config.Runs)), "sweeping")
	config.Progress = func(runs int, part float64) {
		bar.Describe(fmt.Sprintf("%d of %d runs", runs, len(config.Runs)))
		_ = bar.Set(int(part * float64(steps*len(config.Runs)))) // a bar that cannot be drawn is no reason to stop
	}
	table, err := sweep.Do(ctx, config)
	_ = bar.Finish()
	switch {
	case errors.Is(err, sweep.ErrOther):
		return fmt.Errorf("%w: remove it, or name another folder by --out", err)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("stopped; the same command goes on where it was: %w", err)
	case err != nil:
		return err
	}
	return publishSweep(s.out, cfg, table)
}

// eachPlace lists combinations, as an index on each axis, in which each place of each axis
// is there, beside the first of all others.
func eachPlace(axes []sweepAxis) [][]int {
	list := [][]int{make([]int, len(axes))}
	for i, a := range axes {
		for place := 1; place < len(a.places); place++ {
			at := make([]int, len(axes))
			at[i] = place
			list = append(list, at)
		}
	}
	return list
}

// readSweep reads the one document of a sweep's file.
func readSweep(name string) (document.Document, []byte, error) {
	text, err := readFile(name)
	if err != nil {
		return document.Document{}, nil, fmt.Errorf("--sweep: %w", err)
	}
	docs, err := document.Decode(name, text)
	if err != nil {
		return document.Document{}, nil, err
	}
	if len(docs) != 1 || docs[0].Sweep == nil {
		return document.Document{}, nil, docs[len(docs)-1].Fail("kind", "want one document of kind Sweep")
	}
	return docs[0], text, nil
}

// axes are the lists of a sweep's file, in one order whatever that of the file, and the
// hashes of the files that they name. A list that is absent is no axis, but for jobs,
// policy and seed, which have a column always.
func (cfg simulateConfig) axes(doc document.Document) (list []sweepAxis, inputs []string, err error) {
	spec := doc.Sweep.Spec
	besideIt := func(name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(filepath.Dir(cfg.sweep), name)
	}
	take := func(field string, at int, name string) error {
		hash, err := hashOfFile(besideIt(name))
		if err != nil {
			return doc.Fail(fmt.Sprintf("spec.%s[%d]", field, at), "%v", err)
		}
		inputs = append(inputs, hash)
		return nil
	}
	for i, name := range spec.Jobs {
		if _, ok := example(name); ok {
			continue
		}
		if err := take("jobs", i, name); err != nil {
			return nil, nil, err
		}
	}
	for i, name := range spec.Prices {
		if name != document.Embedded {
			if err := take("prices", i, name); err != nil {
				return nil, nil, err
			}
		}
	}
	for i, name := range spec.Policies {
		if _, err := policy.ByName(name); err != nil {
			return nil, nil, doc.Fail(fmt.Sprintf("spec.policies[%d]", i), "%v", err)
		}
	}
	list = append(list, sweepAxis{"workload", spec.Jobs, func(r *sweptRun, i int) {
		r.cfg.file = spec.Jobs[i]
		if _, ok := example(spec.Jobs[i]); !ok {
			r.cfg.workload = besideIt(spec.Jobs[i])
			r.cfg.file = r.cfg.workload
		}
	}})
	if len(spec.Loads) > 0 {
		list = append(list, sweepAxis{"load", words(spec.Loads, shortest), func(r *sweptRun, i int) { r.cfg.load = spec.Loads[i] }})
	}
	if len(spec.Clusters) > 0 {
		list = append(list, sweepAxis{"cluster", spec.Clusters, func(r *sweptRun, i int) {
			if spec.Clusters[i] != document.Bought {
				r.cfg.cluster = spec.Clusters[i]
			}
		}})
	}
	policies := spec.Policies
	if len(policies) == 0 {
		policies = []string{cfg.policy}
	}
	list = append(list, sweepAxis{"policy", policies, func(r *sweptRun, i int) { r.cfg.policy = policies[i] }})
	if len(spec.Prices) > 0 {
		list = append(list, sweepAxis{"prices", spec.Prices, func(r *sweptRun, i int) {
			if spec.Prices[i] != document.Embedded {
				r.cfg.prices = besideIt(spec.Prices[i])
			}
		}})
	}
	hourly := func(h document.Hourly) string { return pricing.Rate(h).String() }
	if len(spec.ValuesOfTime) > 0 {
		list = append(list, sweepAxis{"value_of_time", words(spec.ValuesOfTime, hourly), func(r *sweptRun, i int) { r.value = pricing.Rate(spec.ValuesOfTime[i]) }})
	}
	if len(spec.BurnCaps) > 0 {
		list = append(list, sweepAxis{"burn_cap", words(spec.BurnCaps, hourly), func(r *sweptRun, i int) { r.cfg.settings.burnCap = pricing.Rate(spec.BurnCaps[i]) }})
	}
	if len(spec.HazardScales) > 0 {
		list = append(list, sweepAxis{"hazard_scale", words(spec.HazardScales, shortest), func(r *sweptRun, i int) { r.hazard = spec.HazardScales[i] }})
	}
	seeds := spec.Seeds
	if len(seeds) == 0 {
		seeds = []uint64{cfg.settings.seed}
	}
	list = append(list, sweepAxis{"seed", words(seeds, func(n uint64) string { return strconv.FormatUint(n, 10) }), func(r *sweptRun, i int) { r.cfg.settings.seed = seeds[i] }})
	return list, inputs, nil
}

func words[T any](list []T, word func(T) string) []string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = word(v)
	}
	return texts
}

func shortest(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// runs are all combinations: the last axis turns fastest.
func (cfg simulateConfig) runs(axes []sweepAxis) []sweep.Run {
	var list []sweep.Run
	at := make([]int, len(axes))
	for {
		list = append(list, cfg.run(axes, at))
		turn := len(axes) - 1
		for ; turn >= 0; turn-- {
			if at[turn]++; at[turn] < len(axes[turn].places) {
				break
			}
			at[turn] = 0
		}
		if turn < 0 {
			return list
		}
	}
}

// run is one combination, by the index of its place on each axis.
func (cfg simulateConfig) run(axes []sweepAxis, at []int) sweep.Run {
	r := sweptRun{cfg: cfg}
	r.cfg.sweep = ""
	var places []string
	for i, a := range axes {
		places = append(places, a.places[at[i]])
		a.put(&r, at[i])
	}
	r.cfg.baselines = false
	policyAt := slices.IndexFunc(axes, func(a sweepAxis) bool { return a.name == "policy" })
	if r.cfg.policy == "" { // none is named anywhere: that of machines that are all there is, or bought
		r.cfg.policy = policy.Default
		if r.cfg.cluster != "" {
			r.cfg.policy = onClusters
		}
		places[policyAt] = r.cfg.policy
	}
	return sweep.Run{Places: places, Setting: r.setting}
}

// setting is what the run simulates.
func (r sweptRun) setting() (sim.Setting, error) {
	_, setting, err := r.cfg.asked(strings.NewReader(""))
	if err != nil {
		return sim.Setting{}, err
	}
	setting.HazardScale = r.hazard
	if r.value > 0 {
		for _, j := range setting.Jobs {
			j.ValueOfTime = r.value
		}
	}
	return setting, nil
}

// beside is all that the rows depend on beside the sweep's file: the program and the
// settings, without those that only say where and how answers go. Of files that settings
// are, or name, it is what they hold: of prices that were put aside, those accepted.
func (cfg simulateConfig) beside() ([]string, error) {
	s := cfg.settings
	list := []string{"version " + version, "from " + cfg.from.String(), "days " + shortest(cfg.days), "policy " + cfg.policy, "config " + s.configHash}
	for _, d := range settingList {
		if !slices.Contains([]string{"out", "output", "ledger"}, d.key) {
			list = append(list, d.key+" "+s.values[d.key])
		}
	}
	for _, name := range s.budgets {
		hash, err := hashOfFile(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, bare(err)) // as whoever reads policies says it
		}
		list = append(list, "budgets "+hash)
	}
	q, err := pricing.OpenQuarantine(s.refused)
	if err != nil {
		return nil, err
	}
	accepted, err := json.Marshal(q.AcceptedQuotes())
	if err != nil {
		return nil, err
	}
	return append(list, "accepted "+hashOf(accepted)), nil
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func hashOfFile(name string) (string, error) {
	text, err := readFile(name)
	if err != nil {
		return "", err
	}
	return hashOf(text), nil
}

// publishSweep writes the rows and prints them.
func publishSweep(w io.Writer, cfg simulateConfig, t sweep.Table) error {
	for _, file := range []struct {
		name string
		text func() ([]byte, error)
	}{{sweepCSVFile, t.CSV}, {sweepJSONFile, t.JSONL}} {
		err := writeFile(filepath.Join(cfg.settings.out, file.name), func(w io.Writer) error {
			text, err := file.text()
			if err != nil {
				return err
			}
			_, err = w.Write(text)
			return err
		})
		if err != nil {
			return err
		}
	}
	charts, err := drawSweep(cfg.settings.out, t)
	if err != nil {
		return err
	}
	shown := sweepColumns
	if cfg.settings.output == asCSV {
		shown = sweep.Figures()
	}
	return answer{data: t, grid: sweepGrid(t, shown, filepath.Join(cfg.settings.out, sweepCSVFile), charts)}.print(w, cfg.settings.output)
}

// sweepColumns are the figures that a table shows; the files have all of them.
var sweepColumns = []string{"cost_usd", "avg_jct_hours", "p95_jct_hours", "makespan_hours", "unfinished", "interruptions", "reference_hours_per_usd"}

func sweepGrid(t sweep.Table, shown []string, written string, charts []string) grid {
	g := grid{head: slices.Concat(t.Axes, shown), notes: []string{"", "Written: " + written + ", " + strings.Join(append([]string{sweepJSONFile}, charts...), ", ") + " beside it"}}
	all := sweep.Figures()
	for range t.Axes {
		g.right = append(g.right, false)
	}
	for range shown {
		g.right = append(g.right, true)
	}
	for _, r := range t.Rows {
		cells := slices.Clone(r.Places)
		for _, name := range shown {
			cells = append(cells, r.Figures[slices.Index(all, name)])
		}
		g.rows = append(g.rows, cells)
	}
	return g
}
