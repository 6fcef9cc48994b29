package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/autoscale/report"
	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// simulateConfig is what the simulate verb is asked.
type simulateConfig struct {
	settings  settings
	file      string
	from      time.Time // of the first job; zero: as the file says
	days      float64   // of submissions to keep; 0: all
	baselines bool      // run the same jobs under the baselines too
	truth     string    // profiles that are true where they differ from the jobs' own: a file, or an example; "": none
	faults    string    // what goes wrong besides: a seed to draw it from, or a scenario's file; "": nothing
	policy    string    // what decides
	owned     []string  // machines that are there and paid for
	workload  string    // a trace, in place of file; "": none
	load      float64   // jobs per hour of a stream; 0: it is none
	cluster   string    // all that there is; "": machines are bought
	prices    string    // file of prices; "": none
	sweep     string    // file of kind Sweep: many runs in place of one; "": one
	parallel  int       // runs of a sweep side by side; 0: as many as there are processors
	bar       io.Writer // where the progress bar goes
}

// onClusters is the policy of machines that are all there is, where none is named.
const onClusters = "srpt"

// weekExample is what is simulated when no file is named.
const weekExample = "gavel-week"

func newSimulate(s streams) *cobra.Command {
	cfg := simulateConfig{bar: s.err}
	var from string
	cmd := &cobra.Command{
		Use:   "simulate [FILE]",
		Short: "Replay jobs against prices in virtual time, next to three baselines",
		Long: `Replay the jobs of a file (or an example by its name, or - for stdin; gavel-week when
none is named) against the price history in virtual time, through the loop that
would spend the money. The same jobs run under three baselines: on demand on the
cheapest single type, on the cheapest accelerator by the hour whatever it does, and
on demand with goodfleet's choice. What buys spot is run at 1/3, 1 and 3 times the
measured rate of interruptions. Where goodfleet loses, the table says so.

Machines are bought in the regions where the jobs' data lie, unless --regions says
otherwise. Into the folder --out go report.html, comparison.json and charges.jsonl,
the ledger that cost-report reads; an empty --out writes nothing. Budget policies
(--budgets) hold in every run, the baselines' too.

--faults rehearses bad days: lost answers, launches that come in part, listings that
lie, clocks that are off, and all else that clouds have done to others. With a number,
each of them befalls each cloud twice a day, drawn from that seed; what was drawn goes
into --out as faults.txt. With the name of a file, its lines say what happens and when:
faults.txt is such a file.

--workload takes jobs from a trace instead: a trace of Gavel's, a stream of jobs of its
simulations (then --load says how many come in an hour), a CSV with the columns job,
submitted, type, replicas and samples, or documents; also packed by gzip. Jobs without
dates come from 2023-06-05 on, unless --from says otherwise. --cluster puts them on
machines that are all there from the start, and nothing is bought: a published cluster
by its name, or kinds of machines, as in "36xV100,16x4xT4". There srpt decides, unless
--policy says otherwise.

Jobs that adapt do as their profile says, unless --truth names a file of profiles: then
those whose profile has the name of one in there do as that one says, measure it with a
scatter of 2 %, and are planned by what they measured. The table shows when each was sent
elsewhere or took another batch, and what was believed then. "elastic" is such a file that
goes with the example of that name.

--sweep takes a file of kind Sweep, lists of jobs, loads, policies, clusters, prices, values
of time, caps, scales of interruptions and seeds, and runs each combination without the
baselines, as many side by side as there are processors. What no list names is as the flags
say. A line for each run goes into sweep.csv and sweep.jsonl in the folder --out; where loads
differ, mean JCT over load is drawn in sweep-load.svg, and where money is spent, cost against
JCT in sweep-cost.svg. Stopped, it goes on where it was when it is called again: sweep.journal
there holds what has been done.`,
		Example: `  goodfleet simulate
  goodfleet simulate gavel-week --burn-cap "25 USD/h" --seed 7 -o json
  goodfleet simulate jobs.yaml --from 2023-03-06 --days 2 --baselines=false --out ""
  goodfleet simulate gavel-week --policy max-goodput --burn-cap "25 USD/h"
  goodfleet simulate gavel-week --budgets policies.yaml
  goodfleet simulate elastic --truth elastic --baselines=false
  goodfleet simulate --policy max_min_fairness --owned aws/us-east-1/use1-az1/p3.2xlarge=8 --baselines=false
  goodfleet simulate --workload trace.csv --cluster 8xV100,8xK80 --policy max_min_fairness
  goodfleet simulate --workload jobs.trace.gz --prices mine.csv --burn-cap "40 USD/h"
  goodfleet simulate --sweep sweep.yaml --out results
  goodfleet simulate --faults 7
  goodfleet simulate --faults out/faults.txt --baselines=false`,
		Args:              atMost(1, "FILE"),
		ValidArgsFunction: exampleCompletion,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if cfg.policy == policyList {
				return printNamed(s.out)
			}
			if cfg.settings, err = readSettings(cmd); err != nil {
				return err
			}
			cfg.file = cmp.Or(cfg.workload, weekExample)
			if len(args) == 1 {
				cfg.file = args[0]
			}
			switch {
			case cfg.sweep != "":
				if err := cfg.sweptBy(cmd, args); err != nil {
					return err
				}
			case cmd.Flags().Changed("parallel"):
				return fmt.Errorf("--parallel is of the runs of a sweep: want no --parallel without --sweep")
			case len(args) == 1 && cfg.workload != "":
				return fmt.Errorf("--workload %s: jobs come from there or from FILE, not from both", cfg.workload)
			case cfg.cluster != "" && len(cfg.owned) > 0:
				return fmt.Errorf("--cluster is all that there is: want no --owned beside it")
			case cfg.cluster != "" && (cfg.faults != "" || cfg.prices != ""):
				return fmt.Errorf("--cluster never fails and nothing is bought: want no --faults and no --prices beside it")
			case cfg.prices == "-" && cfg.file == "-":
				return fmt.Errorf("standard input is one file: want - once")
			}
			if cfg.cluster != "" && !cmd.Flags().Changed("policy") {
				cfg.policy = onClusters
			}
			if from != "" {
				if cfg.from, err = instant("from", from); err != nil {
					return err
				}
			}
			return runSimulate(cmd.Context(), s, cfg)
		},
	}
	addSettings(cmd, "budgets", "burnCap", "clouds", "regions", "markets", "round", "seed", "out", "output", "quarantine")
	addPolicy(cmd, &cfg.policy)
	cmd.Flags().StringArrayVar(&cfg.owned, "owned", nil, "machines that are there and paid for: cloud/region/zone/type=count; may be repeated")
	cmd.Flags().StringVar(&cfg.workload, "workload", "", "take the jobs from a trace: Gavel's, a CSV, or documents; also packed by gzip")
	cmd.Flags().Float64Var(&cfg.load, "load", 0, "jobs per hour, of a --workload that is a stream")
	cmd.Flags().StringVar(&cfg.cluster, "cluster", "", "machines that are all there is: "+strings.Join(sim.ClusterNames(), ", ")+`, or kinds as in "36xV100,16x4xT4"`)
	cmd.Flags().StringVar(&cfg.prices, "prices", "", "file of prices of your own, as prices check reads it; they go before the embedded ones")
	cmd.Flags().StringVar(&from, "from", "", "move the jobs in time so that the first comes at this day or instant")
	cmd.Flags().Float64Var(&cfg.days, "days", 0, "keep the jobs of the first days only (0: all)")
	cmd.Flags().StringVar(&cfg.truth, "truth", "", "a file of profiles, or an example's, that jobs really do as")
	cmd.Flags().StringVar(&cfg.faults, "faults", "", "let the clouds misbehave: a seed (a number), or a file of what happens and when")
	cmd.Flags().StringVar(&cfg.sweep, "sweep", "", "a file of kind Sweep: run each combination of what it lists")
	cmd.Flags().IntVar(&cfg.parallel, "parallel", 0, "runs of a --sweep side by side (0: as many as there are processors)")
	cmd.Flags().BoolVar(&cfg.baselines, "baselines", true, "simulate the baselines too")
	return cmd
}

func runSimulate(ctx context.Context, s streams, cfg simulateConfig) error {
	// Virtual weeks make garbage faster than it pays to collect; the live set is small.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	if cfg.sweep != "" {
		return runSweep(ctx, s, cfg)
	}
	world, setting, err := cfg.asked(s.in)
	if err != nil {
		return err
	}
	variants, err := world.variants(cfg, setting)
	if err != nil {
		return err
	}
	bar := progress(cfg.bar, int64(len(setting.Jobs)), "simulating")
	setting.Progress = func(p sim.Progress) {
		bar.ChangeMax(p.Jobs)
		_ = bar.Set(p.Done) // a bar that cannot be drawn is no reason to stop
	}
	outcomes, err := sim.Compare(ctx, setting, variants, sim.HazardScales())
	_ = bar.Finish()
	if err != nil {
		return err
	}
	return publish(s.out, cfg, setting, outcomes)
}

// asked is the simulation that was asked for, and the world that it is in.
func (cfg simulateConfig) asked(in io.Reader) (world, sim.Setting, error) {
	none := func(err error) (world, sim.Setting, error) { return world{}, sim.Setting{}, err }
	if !(cfg.days >= 0) {
		return none(fmt.Errorf("--days %g: want 0 or more", cfg.days))
	}
	world, err := newWorld(cfg.settings)
	if err != nil {
		return none(err)
	}
	if err := world.check(cfg.settings); err != nil {
		return none(err)
	}
	if cfg.prices != "" {
		if _, err := world.use(cfg.settings, cfg.prices, in, world.newest()); err != nil {
			return none(err)
		}
	}
	var jobs []*planner.Job
	if cfg.workload != "" {
		jobs, err = world.readWorkload(cfg, in)
	} else {
		jobs, err = world.readJobs(cfg.file, in)
	}
	if err != nil {
		return none(err)
	}
	start, jobs, err := schedule(cfg, jobs)
	if err != nil {
		return none(err)
	}
	setting, err := world.setting(cfg, start, jobs)
	if err != nil {
		return none(err)
	}
	if err := disturb(cfg.faults, &setting, world.names().Clouds); err != nil {
		return none(err)
	}
	return world, setting, believeOtherwise(cfg.truth, &setting)
}

// schedule is when the simulation starts, and the jobs that come in it. A job
// that does not say when it is handed in comes at the start.
func schedule(cfg simulateConfig, all []*planner.Job) (start time.Time, jobs []*planner.Job, err error) {
	for _, j := range all {
		if !j.Submitted.IsZero() && (start.IsZero() || j.Submitted.Before(start)) {
			start = j.Submitted
		}
	}
	shift := time.Duration(0)
	switch {
	case !cfg.from.IsZero() && start.IsZero():
		start = cfg.from
	case !cfg.from.IsZero():
		start, shift = cfg.from, cfg.from.Sub(start)
	case start.IsZero():
		return start, nil, fmt.Errorf("%s: no job says when it is submitted: say --from", cfg.file)
	}
	for _, j := range all {
		if j.Submitted.IsZero() {
			j.Submitted = start
		} else {
			j.Submitted = j.Submitted.Add(shift)
		}
		if !j.Deadline.IsZero() {
			j.Deadline = j.Deadline.Add(shift)
		}
		if cfg.days == 0 || j.Submitted.Sub(start).Hours() < 24*cfg.days {
			jobs = append(jobs, j)
		}
	}
	if len(jobs) == 0 {
		return start, nil, fmt.Errorf("--days %g: no job is submitted by then", cfg.days)
	}
	return start, jobs, nil
}

// publish prints what came out and writes the files.
func publish(w io.Writer, cfg simulateConfig, setting sim.Setting, outcomes []sim.Outcome) error {
	comparison, err := report.NewComparison(outcomes)
	if err != nil {
		return err
	}
	subject := outcomes[max(0, slices.IndexFunc(outcomes, func(o sim.Outcome) bool { return o.Variant == subjectName && o.HazardScale == 1 }))]
	cost := report.NewCost(report.CostConfig{Charges: subject.Charges, From: subject.From, To: subject.To, By: []ledger.Dimension{ledger.ByTeam, ledger.ByMarket}})
	var out bytes.Buffer
	if err = writeAs(&out, cfg.settings.output, comparison); err == nil && cfg.settings.output == asTable {
		fmt.Fprintf(&out, "\nCost report of %s at the measured rate of interruptions\n\n", subject.Variant)
		if err = cost.Table(&out); err == nil {
			err = writeCourses(&out, subject)
		}
		for _, line := range unanswered(setting.Policies, outcomes) {
			fmt.Fprintln(&out, line)
		}
	}
	if err != nil {
		return err
	}
	if folder := cfg.settings.out; folder != "" {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return fmt.Errorf("simulate: %w", err)
		}
		type output struct {
			name  string
			write func(io.Writer) error
		}
		files := []output{
			{"report.html", func(w io.Writer) error { return comparison.HTML(w, page(cfg, setting)) }},
			{"comparison.json", comparison.JSON},
			{workFile, report.NewWork(subject).JSON},
			{ledgerFile, func(w io.Writer) error { return ledger.Encode(w, subject.Charges...) }},
		}
		if cfg.faults != "" {
			files = append(files, output{faultsFile, func(w io.Writer) error { return writeFaults(w, subject.Script) }})
		}
		for _, file := range files {
			if err := writeFile(filepath.Join(folder, file.name), file.write); err != nil {
				return err
			}
		}
		if cfg.settings.output == asTable {
			beside := "comparison.json and " + ledgerFile
			if cfg.faults != "" {
				beside = "comparison.json, " + ledgerFile + " and " + faultsFile
			}
			fmt.Fprintf(&out, "\nWritten: %s, %s beside it\n", filepath.Join(folder, "report.html"), beside)
		}
	}
	_, err = w.Write(out.Bytes())
	return err
}

// unanswered says of policies that ask before a launch that nobody answers here, where jobs
// did not end.
func unanswered(policies budget.Policies, outcomes []sim.Outcome) (lines []string) {
	if !slices.ContainsFunc(outcomes, func(o sim.Outcome) bool { return o.Unfinished > 0 }) {
		return nil
	}
	for _, p := range policies {
		if p.Approval != nil && !p.DryRun {
			lines = append(lines, fmt.Sprintf("\nBudget policy %s asks %s about launches over %s USD/h, to be answered by goodfleet budget approve ID; in a simulation nobody answers, and these are not made. With mode: dry-run it shows what would be asked.", p.Name, p.Approval.Whom(), p.Approval.Above))
		}
	}
	return lines
}

// page is what the report says beside the outcomes.
func page(cfg simulateConfig, setting sim.Setting) report.Page {
	var regions []string
	for _, o := range setting.Offerings {
		regions = append(regions, o.Cloud+" "+o.Region)
	}
	slices.Sort(regions)
	where := report.Fact{Name: "Bought in", Value: strings.Join(slices.Compact(regions), ", ")}
	if cfg.cluster != "" {
		where = report.Fact{Name: "Cluster", Value: cfg.cluster + ", nothing is bought"}
	}
	wrong := "nothing but losses and shortages"
	if cfg.faults != "" {
		wrong = faultsOf(cfg.faults)
	}
	p := report.Page{
		Title: fmt.Sprintf("%d training jobs of %s", len(setting.Jobs), strings.TrimSuffix(filepath.Base(cfg.file), ".yaml")),
		Intro: "The same jobs, replayed against the same prices and the same weather of capacity, under different ways to buy.",
		Facts: []report.Fact{
			where,
			{Name: "Goes wrong", Value: wrong},
		},
		Sources: []string{"Jobs: " + filepath.Base(cfg.file) + "."},
	}
	reports, err := pricing.EmbeddedReports()
	if err != nil {
		return p
	}
	for _, r := range reports {
		p.Sources = append(p.Sources, fmt.Sprintf("Prices: %s, read %s.", r.Source, r.At.Format(time.DateOnly)))
	}
	return p
}
