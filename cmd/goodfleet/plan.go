package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
)

// planConfig is what the plan verb is asked.
type planConfig struct {
	askConfig
	diff   bool
	pareto bool
	job    string // of pareto; "": the queue
	plot   string // file of the drawing; "": none
}

func newPlan(s streams) *cobra.Command {
	var flags askFlags
	cfg := planConfig{}
	cmd := &cobra.Command{
		Use:   "plan FILE",
		Short: "Say what would be bought, kept, ended and placed for a file of jobs, and why",
		Long: `Plan for the jobs of a file (or an example by its name, or - for stdin): the config
that each gets, its rate, expected finish and cost, the next best and why it lost;
what is bought, kept and ended; the worth of the plan, a bound that no plan passes,
and the gap between the two. Nothing is bought. Jobs whose submit lies later are
left out. What runs now is told by --state; --diff prints only what would change.
Budget policies (--budgets) bind the plan as they bind a round, by what is spent in the
ledger that --ledger names.

--policy says what decides; --policy list prints all policies with a line each.

--pareto prints what each dollar buys in time, for all jobs together or for one
(--job), from the cheapest way to the fastest, with the knee; --plot draws it.

Exit code 2 if a job fits nothing that is sold, or rows of --prices are not used.`,
		Example: `  goodfleet plan five-jobs
  goodfleet plan jobs.yaml --burn-cap "40 USD/h" --regions us-east-1,us-central1
  goodfleet plan jobs.yaml --owned aws/us-east-1/use1-az1/p3.8xlarge=2 -o json
  goodfleet plan jobs.yaml --policy max-goodput --burn-cap "40 USD/h"
  goodfleet plan jobs.yaml --state fleet.yaml --diff
  goodfleet plan five-jobs --pareto --job GPT-L --plot front.png`,
		Args:              atMost(1, "FILE"),
		ValidArgsFunction: exampleCompletion,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if cfg.policy == policyList {
				return printNamed(s.out)
			}
			chosen := cfg.policy
			if len(args) == 0 && flags.state == "" {
				return exactlyOne("FILE")(cmd, args)
			}
			if cfg.askConfig, err = flags.config(cmd, strings.Join(args, "")); err != nil {
				return err
			}
			cfg.policy = chosen
			return runPlan(cmd.Context(), s, cfg)
		},
	}
	flags.add(cmd)
	addPolicy(cmd, &cfg.policy)
	cmd.Flags().BoolVar(&cfg.diff, "diff", false, "print only what would change against what runs (--state)")
	cmd.Flags().BoolVar(&cfg.pareto, "pareto", false, "print what each dollar buys in time, with the knee")
	cmd.Flags().StringVar(&cfg.job, "job", "", "job of --pareto (default: all of them)")
	cmd.Flags().StringVar(&cfg.plot, "plot", "", "file for the drawing of --pareto, .png or .svg")
	return cmd
}

func exampleCompletion(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return exampleNames(), cobra.ShellCompDirectiveDefault
}

func runPlan(ctx context.Context, s streams, cfg planConfig) error {
	switch {
	case cfg.diff && cfg.pareto:
		return fmt.Errorf("--diff and --pareto are two answers: want one of the two")
	case cfg.pareto && cfg.policy != policy.Default:
		return fmt.Errorf("--pareto asks what dollars buy in time, and --policy %s does not weigh the two: want %s", cfg.policy, policy.Default)
	case !cfg.pareto && (cfg.plot != "" || cfg.job != ""):
		return fmt.Errorf("--job and --plot belong to --pareto")
	case cfg.plot != "":
		if _, err := plotFormat("--plot", cfg.plot); err != nil {
			return err
		}
	}
	a, err := ask(ctx, cfg.askConfig, s.in)
	if err != nil {
		return err
	}
	switch {
	case cfg.diff:
		err = a.changes().print(s.out, cfg.settings.output)
	case cfg.pareto:
		err = a.front(s, cfg)
	default:
		data := newPlanAnswer(a)
		err = answer{data: data, grid: data.grid(), more: data.details}.print(s.out, cfg.settings.output)
	}
	if err != nil {
		return err
	}
	return a.findings()
}

// findings are the jobs of a plan that fit nothing, and prices that are not used.
func (a *asked) findings() error {
	var never []string
	for _, w := range a.plan.Waits {
		if w.Never {
			never = append(never, fmt.Sprintf("%s (%s)", w.Job, w.Reason))
		}
	}
	if len(never) > 0 {
		return found("fits nothing that is sold: %s", strings.Join(never, "; "))
	}
	return a.prices.unused()
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
		return readFile(name)
	}
}
