package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

func newBudgetExplain(s streams) *cobra.Command {
	cfg := budgetConfig{}
	cmd := &cobra.Command{
		Use:   "explain JOB|OFFERING",
		Short: "Which policy decides what for a job or an offering, and which is the strictest",
		Long: `Of an offering (cloud/zone/type/market): asks every policy about one machine of it, for a
job or for nobody yet, by the ledger up to --now and the prices at --at: what each says,
and which of those that limit it leaves the least room: that one answers. Of a job of
--jobs or --state: asks about one machine of each offering that it could run on, the
cheapest first, and names the policy that answers. Exit code 2 when nothing may be bought.

With --state it knows what people have answered to questions, and until when, how long a
job has waited for spot, and where it ran last. What a job takes to another region is counted
where --jobs or --state describes it.`,
		Example: `  goodfleet budget explain ResNet-50-1 --jobs gavel-week --budgets policies.yaml
  goodfleet budget explain aws/use1-az1/p3.16xlarge/spot --team Vision --budgets policies.yaml
  goodfleet budget explain aws/use1-az1/p3.16xlarge/on-demand --job ResNet-50 --state goodfleet.db --budgets policies.yaml`,
		Args: exactlyOne("JOB or OFFERING"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if cfg.settings, err = readSettings(cmd); err != nil {
				return err
			}
			return runBudgetExplain(cmd.Context(), s, cfg, args[0], time.Now())
		},
	}
	addSettings(cmd, "budgets", "clouds", "regions", "markets", "ledger", "out", "output", "quarantine")
	cmd.Flags().StringVar(&cfg.jobs, "jobs", "", "file of jobs, an example by its name, or - for stdin: where a JOB is described")
	cmd.Flags().StringVar(&cfg.state, "state", "", "store of what runs, in SQLite: where a JOB is described, with what people have answered")
	cmd.Flags().StringVar(&cfg.job, "job", "", "job that an offering is for")
	cmd.Flags().StringVar(&cfg.team, "team", "", "team of the job")
	cmd.Flags().StringVar(&cfg.project, "project", "", "project of the job")
	cmd.Flags().StringVar(&cfg.span.now, "now", "", "instant up to which charges are known (default now)")
	cmd.Flags().StringVar(&cfg.at, "at", "", "instant of the prices (default --now)")
	cfg.span.zone = "UTC"
	return cmd
}

// findOffering finds what is sold under a name.
func (w world) findOffering(name string) (provider.Offering, error) {
	var near []string
	for _, o := range w.history.Offerings() {
		if o.String() == name {
			return o, nil
		}
		near = append(near, o.String())
	}
	return provider.Offering{}, fmt.Errorf("nothing is sold as %q%s", name, suggestion(name, near))
}

// explainer asks policies about machines, as of one instant.
type explainer struct {
	world    world
	policies budget.Policies
	spends   []budget.Spend
	now, at  time.Time // of the ledger, of the prices
	store    *runningStore
	round    time.Duration
}

func runBudgetExplain(ctx context.Context, s streams, cfg budgetConfig, name string, now time.Time) error {
	policies, all, span, err := cfg.books(now)
	if err != nil {
		return err
	}
	world, err := newWorld(cfg.settings)
	if err != nil {
		return err
	}
	x := explainer{world: world, policies: policies, spends: all, now: span.now, at: world.newest(), round: cfg.settings.round}
	if span.now.Before(x.at) {
		x.at = span.now // what was not known yet decides nothing
	}
	if cfg.at != "" {
		if x.at, err = instant("at", cfg.at); err != nil {
			return err
		}
	}
	if cfg.state != "" {
		if x.store, err = x.readStore(ctx, cfg); err != nil {
			return err
		}
	}
	if !strings.Contains(name, "/") {
		record, err := cfg.jobNamed(world, x.store, name, s.in)
		if err != nil {
			return err
		}
		return x.ofJob(s.out, cfg.settings, record)
	}
	o, err := world.findOffering(name)
	if err != nil {
		return err
	}
	var record *autoscale.JobRecord
	if cfg.job != "" && (cfg.jobs != "" || cfg.state != "") {
		if record, err = cfg.jobNamed(world, x.store, cfg.job, s.in); err != nil {
			return err
		}
		cfg.team, cfg.project = cmp.Or(cfg.team, record.Job.Team), cmp.Or(cfg.project, record.Job.Project)
	}
	return x.ofOffering(s.out, cfg, o, record)
}

// buyer is for whom one machine is asked about.
type buyer struct {
	job, team, project string
	record             *autoscale.JobRecord // nil: nobody yet, or a job that nothing describes
}

// ask asks about one machine for somebody, who takes along what is paid at once.
func (x *explainer) ask(o provider.Offering, who buyer) (rate pricing.Rate, verdicts []budget.PolicyVerdict, err error) {
	t, ok := x.world.catalogue.Lookup(o.Cloud, o.Type)
	if !ok {
		return 0, nil, fmt.Errorf("%s: the catalogue lacks its type", o)
	}
	rate, _ = x.world.history.RateAt(o, x.at)
	list, _ := x.world.history.ListRate(o, x.at)
	part := budget.Part{Facts: budget.FactsOf(o, t).For(who.job, who.team, who.project), Count: t.Count}
	if who.record != nil {
		part.Lumps = who.record.Lumps(o, 1)
	}
	ask := budget.Ask{Offering: o, Count: 1, Rate: rate, List: list, For: []budget.Part{part}}
	verdicts, err = budget.Explain(x.policies, x.spends, ask, x.known(o, who), x.now)
	return rate, verdicts, err
}

// offer is an offering as a job looks at it.
func (x *explainer) offer(o provider.Offering) planner.Offer {
	t, _ := x.world.catalogue.Lookup(o.Cloud, o.Type)
	rate, _ := x.world.history.RateAt(o, x.at)
	return planner.Offer{Offering: o, Type: t, Rate: rate}
}

// ofJob tells what may be bought for a job.
func (x *explainer) ofJob(w io.Writer, s settings, record *autoscale.JobRecord) error {
	job := record.Job
	if len(s.regions) == 0 {
		s.regions = homes([]*planner.Job{job})
	}
	type row struct {
		Offering string `json:"offering"`
		Rate     string `json:"rate"`
		Refused  string `json:"refused,omitempty"`
		Policy   string `json:"policy,omitempty"`  // that decides
		Waits    string `json:"waits,omitempty"`   // what is wanted before
		Allowed  string `json:"allowed,omitempty"` // by whom, who was asked
		traffic

		rate pricing.Rate
	}
	rows, may, late := []row{}, 0, 0
	var alone, asks []string
	var offers []planner.Offer
	for _, o := range x.world.sold(s, x.at, []*planner.Job{job}) {
		offer := x.offer(o)
		offers = append(offers, offer)
		if _, lacks := planner.Lacks(job, []planner.Offer{offer}); lacks {
			continue // the job cannot use it, whatever the policies say
		}
		rate, verdicts, err := x.ask(o, buyer{string(job.ID), job.Team, job.Project, record})
		if err != nil && !errors.Is(err, budget.ErrRefused) {
			return err
		}
		r := row{Offering: o.String(), Rate: rate.String(), rate: rate, traffic: trafficOf(record, o)}
		var waits, allowed []string
		for _, v := range verdicts {
			if v.Decides {
				r.Policy = v.Policy
			}
			if v.Waits != "" && err == nil {
				waits = append(waits, v.Policy+": "+v.Waits)
			}
			if v.Allows != "" && err == nil {
				allowed = append(allowed, v.Policy+": "+v.Allows)
			}
			if text := v.Policy + ": " + v.Alone; v.Alone != "" && !slices.Contains(alone, text) {
				alone = append(alone, text)
			}
			if v.Asks != "" && !slices.Contains(asks, v.Asks) {
				asks = append(asks, v.Asks)
			}
		}
		r.Allowed = strings.Join(allowed, "; ")
		switch r.Waits = strings.Join(waits, "; "); {
		case err != nil:
			r.Refused = err.Error()
		case r.Waits != "":
			late++
		default:
			may++
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		reason, _ := planner.Lacks(job, offers)
		return fmt.Errorf("%s: nothing that it could run on has a known price: %s", job.ID, reason)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.rate, b.rate), cmp.Compare(a.Offering, b.Offering)) })
	g := grid{head: []string{"offering", "USD/h", "decides", "says"}, right: []bool{false, true}, wrap: 4}
	for _, r := range rows {
		says := cmp.Or(r.Refused, "it may be bought")
		if r.Waits != "" {
			says += ", but not at once: " + r.Waits
		}
		if r.Allowed != "" {
			says += "; " + r.Allowed
		}
		if text := r.traffic.says(); text != "" {
			says += "; " + text
		}
		g.rows = append(g.rows, []string{r.Offering, r.Rate, cmp.Or(r.Policy, "no policy"), says})
	}
	note := fmt.Sprintf("%s of %s could run on %s; a machine of %d of them may be bought", job.ID, cmp.Or(job.Team, "no team"), counted(len(rows), "offering"), may)
	if late > 0 {
		note += fmt.Sprintf(", and one of %d more, but not at once", late)
	}
	g.notes = []string{"", note + "."}
	for _, text := range alone {
		g.notes = append(g.notes, "By "+text+".")
	}
	g.notes = append(g.notes, x.answers(asks)...)
	data := struct {
		Job       string   `json:"job"`
		Offerings []row    `json:"offerings"`
		Alone     []string `json:"alone,omitempty"` // what policies make of it with nothing beside it
	}{string(job.ID), rows, alone}
	if err := (answer{data: data, grid: g}).print(w, s.output); err != nil {
		return err
	}
	if may+late == 0 {
		return found("nothing may be bought for %s", job.ID)
	}
	return nil
}

// whom is for whom an offering is asked about.
func (cfg *budgetConfig) whom() string {
	if cfg.job != "" && cfg.team != "" {
		return cfg.job + " of " + cfg.team
	}
	return cmp.Or(cfg.job, cfg.team, "nobody yet")
}

// ofOffering tells what each policy says of a machine.
func (x *explainer) ofOffering(w io.Writer, cfg budgetConfig, o provider.Offering, record *autoscale.JobRecord) error {
	rate, verdicts, refused := x.ask(o, buyer{cfg.job, cfg.team, cfg.project, record})
	if refused != nil && !errors.Is(refused, budget.ErrRefused) {
		return refused
	}
	type row struct {
		Policy  string `json:"policy"`
		Covers  bool   `json:"covers"`
		Says    string `json:"says"`
		Decides bool   `json:"decides"`
	}
	data := struct {
		Offering string   `json:"offering"`
		Rate     string   `json:"rate"`
		Refused  string   `json:"refused,omitempty"`
		Waits    []string `json:"waits,omitempty"` // what is wanted before
		Policies []row    `json:"policies"`
		Strict   []string `json:"strictest"`
		traffic
	}{Offering: o.String(), Rate: rate.String(), Policies: []row{}, Strict: []string{}}
	if cfg.job != "" {
		data.traffic = trafficOf(record, o)
	}
	var asks []string
	g := grid{head: []string{"policy", "covers", "says", ""}, wrap: 3}
	for _, v := range verdicts {
		data.Policies = append(data.Policies, row{v.Policy, v.Covers, v.Says, v.Decides})
		mark := ""
		if v.Decides {
			mark = "decides"
			data.Strict = append(data.Strict, v.Policy)
		}
		if v.Waits != "" && refused == nil {
			data.Waits = append(data.Waits, v.Policy+": "+v.Waits)
		}
		if v.Asks != "" {
			asks = append(asks, v.Asks)
		}
		g.rows = append(g.rows, []string{v.Policy, map[bool]string{true: "yes", false: "no"}[v.Covers], v.Says, mark})
	}
	g.notes = []string{"", fmt.Sprintf("One %s at %s USD/h for %s: ", o, rate, cfg.whom())}
	switch {
	case refused == nil && len(data.Waits) > 0:
		g.notes[1] += "it may be bought, but not at once: " + strings.Join(data.Waits, "; ") + "."
	case refused == nil:
		g.notes[1] += "it may be bought."
	default:
		data.Refused = refused.Error()
		g.notes[1] += "refused. " + data.Refused
	}
	if text := data.traffic.says(); text != "" {
		g.notes = append(g.notes, strings.ToUpper(text[:1])+text[1:]+".")
	}
	g.notes = append(g.notes, x.answers(asks)...)
	if err := (answer{data: data, grid: g}).print(w, cfg.settings.output); err != nil {
		return err
	}
	if refused != nil {
		return found("%v", refused)
	}
	return nil
}
