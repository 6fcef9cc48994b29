package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// planConfig is what the plan verb is asked.
type planConfig struct {
	settings settings
	file     string
	now      time.Time
	owned    []string
}

func newPlan(s streams) *cobra.Command {
	cfg := planConfig{}
	var at string
	cmd := &cobra.Command{
		Use:   "plan FILE",
		Short: "Say what would be bought and placed for a file of jobs, and why",
		Long: `Plan for the jobs of a file (or an example by its name, or - for stdin): the config
that each gets, its rate, expected finish and cost, the next best and why it lost;
what is bought; the worth of the plan, a bound that no plan passes, and the gap
between the two. Nothing is bought. Jobs whose submit lies later are left out.

Exit code 2 if a job fits nothing that is sold; what it lacks is said.`,
		Example: `  goodfleet plan five-jobs
  goodfleet plan jobs.yaml --burn-cap "40 USD/h" --regions us-east-1,us-central1
  goodfleet plan jobs.yaml --owned aws/us-east-1/use1-az1/p3.8xlarge=2 -o json`,
		Args:              exactlyOne("FILE"),
		ValidArgsFunction: exampleCompletion,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if cfg.settings, err = readSettings(cmd); err != nil {
				return err
			}
			cfg.file, cfg.now = args[0], time.Now().UTC().Truncate(time.Second)
			if at != "" {
				if cfg.now, err = instant("at", at); err != nil {
					return err
				}
			}
			return runPlan(cmd.Context(), s, cfg)
		},
	}
	addSettings(cmd, "burnCap", "clouds", "regions", "markets", "output", "quarantine")
	cmd.Flags().StringVar(&at, "at", "", "instant or day to plan for, at the prices of then (default: now)")
	cmd.Flags().StringArrayVar(&cfg.owned, "owned", nil, "machines that are there and paid for: cloud/region/zone/type=count; may be repeated")
	return cmd
}

func exampleCompletion(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return exampleNames(), cobra.ShellCompDirectiveDefault
}

func runPlan(_ context.Context, s streams, cfg planConfig) error {
	world, err := newWorld(cfg.settings)
	if err != nil {
		return err
	}
	if err := world.check(cfg.settings); err != nil {
		return err
	}
	jobs, err := world.readJobs(cfg.file, s.in)
	if err != nil {
		return err
	}
	state, later, err := world.state(cfg, jobs)
	if err != nil {
		return err
	}
	_, plan, err := autoscale.Decide(state, func(p planner.Problem) (planner.Plan, error) { return policy.Value(p, policy.Settings{}) })
	if err != nil {
		return err
	}
	book, err := world.history.Book(cfg.now)
	if err != nil {
		return err
	}
	data := newPlanAnswer(state, book, plan)
	data.Later = later
	if err := (answer{data: data, grid: planGrid(data), more: data.details}).print(s.out, cfg.settings.output); err != nil {
		return err
	}
	var never []string
	for _, w := range plan.Waits {
		if w.Never {
			never = append(never, fmt.Sprintf("%s (%s)", w.Job, w.Reason))
		}
	}
	if len(never) > 0 {
		return found("fits nothing that is sold: %s", strings.Join(never, "; "))
	}
	return nil
}

// readJobs reads a jobs file and checks what its jobs name against what is sold.
func (world world) readJobs(name string, in io.Reader) ([]*planner.Job, error) {
	file, text, err := readJobsFile(name, in)
	if err != nil {
		return nil, err
	}
	sold := world.names()
	sold.ReadFile = besides(name)
	return document.Jobs(file, text, sold)
}

// besides reads files that a file names, from its own folder.
func besides(file string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(file), name)
		}
		return os.ReadFile(name)
	}
}

// state is a fleet that holds what is owned and nothing else, and jobs that have
// just come in. later counts the jobs that come after now.
func (world world) state(cfg planConfig, jobs []*planner.Job) (state autoscale.State, later int, err error) {
	defaults := autoscale.DefaultSettings()
	state = autoscale.State{Now: cfg.now, BurnCap: cfg.settings.burnCap, Hold: defaults.Hold, Recheck: defaults.DeniedWait, Catalogue: world.catalogue}
	if state.Windows, err = cfg.settings.windows(); err != nil {
		return state, 0, err
	}
	for _, j := range jobs {
		if j.Submitted.After(cfg.now) {
			later++
			continue
		}
		j.Submitted = cfg.now // when a job of a trace came says nothing of how long it waits here
		state.Jobs = append(state.Jobs, autoscale.JobRecord{Job: j, Phase: autoscale.JobWaiting, Waiting: j.Submitted})
	}
	if len(state.Jobs) == 0 {
		return state, later, fmt.Errorf("%s: no job is submitted by %s: choose a later --at", cfg.file, cfg.now.Format(time.RFC3339))
	}
	if state.Offers, err = world.offers(cfg.settings, cfg.now, world.withoutNeedlessShapes(world.places(cfg.now), cfg.now, jobs)); err != nil {
		return state, later, err
	}
	if state.Quotas, err = world.quotas(cfg.settings); err != nil {
		return state, later, err
	}
	state.Machines, err = world.owned(cfg)
	return state, later, err
}

// planGrid is the table of jobs.
func planGrid(data planAnswer) grid {
	g := grid{
		head:  []string{"job", "team", "runs on", "where", "USD/h", "finish (UTC)", "cost USD"},
		right: []bool{false, false, false, false, true, true, true},
	}
	for _, j := range data.Jobs {
		row := []string{j.Job, orUnknown(j.Team), unknown, unknown, unknown, unknown, unknown}
		if j.Config != nil {
			row[2], row[3], row[4] = j.gang(), j.Offering.Zone+" "+j.Offering.Market.String(), cents(j.Rate.Dollars())
		}
		if j.Finish != nil {
			row[5], row[6] = j.Finish.Format("2006-01-02 15:04"), cents(j.Cost.Dollars())
		}
		g.rows = append(g.rows, row)
	}
	return g
}

func orUnknown(text string) string {
	if text == "" {
		return unknown
	}
	return text
}

func cents(dollars float64) string { return strconv.FormatFloat(dollars, 'f', 2, 64) }

// details is what follows the table: reasons, purchases, worth.
func (data planAnswer) details(w io.Writer) error {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	add("")
	add("Why")
	for _, j := range data.Jobs {
		estimated := ""
		if j.Estimated {
			estimated = " (speed estimated)"
		}
		add("  %s%s: %s", j.Job, estimated, j.Reason)
		if r := j.RunnerUp; r != nil {
			add("    next best: %d × %s on %s at %s USD/h: %s", r.Config.Replicas, r.accelerator, r.Offering, cents(r.Rate.Dollars()), r.Reason)
		}
	}
	add("")
	add("Buy")
	for _, b := range data.purchases() {
		add("  %s", b)
	}
	if len(data.purchases()) == 0 {
		add("  nothing")
	}
	add("")
	limit := "no burn cap"
	if data.BurnCap != nil {
		limit = "burn cap " + data.BurnCap.String() + " USD/h"
	}
	add("Burn %s USD/h (%s). Worth %s USD/h; no plan is worth more than %s (%s bound): gap %s %%.",
		cents(data.Burn.Dollars()), limit, cents(data.Value), cents(data.Bound.Value), data.Bound.Kind, strconv.FormatFloat(100*data.Gap, 'f', 2, 64))
	prices := ""
	if oldest, newest := data.quotes(); !oldest.IsZero() {
		prices = fmt.Sprintf(", at prices read from %s to %s", oldest.Format(time.DateOnly), newest.Format(time.DateOnly))
	}
	add("Planned for %s%s.", data.At.Format(time.RFC3339), prices)
	if data.Later > 0 {
		add("%d jobs come later and are left out.", data.Later)
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// purchases lists what is bought, one line an offering, dearest first as planned.
func (data planAnswer) purchases() []string {
	type purchase struct {
		offering provider.Offering
		count    int
		rate     pricing.Rate
		jobs     []string
	}
	var list []*purchase
	for _, m := range data.Machines {
		if !m.Buy {
			continue
		}
		i := slices.IndexFunc(list, func(p *purchase) bool { return p.offering == m.Offering })
		if i < 0 {
			list = append(list, &purchase{offering: m.Offering, rate: m.Rate})
			i = len(list) - 1
		}
		list[i].count++
		for _, share := range m.Jobs {
			if !slices.Contains(list[i].jobs, share.Job) {
				list[i].jobs = append(list[i].jobs, share.Job)
			}
		}
	}
	var lines []string
	for _, p := range list {
		lines = append(lines, fmt.Sprintf("%d × %s at %s USD/h each, for %s", p.count, p.offering, p.rate, strings.Join(p.jobs, ", ")))
	}
	return lines
}
