package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/provider"
)

func newWhy(s streams) *cobra.Command {
	var flags askFlags
	var jobs string
	var quota bool
	cmd := &cobra.Command{
		Use:   "why JOB|INSTANCE|OFFERING --jobs FILE",
		Short: "Say why a plan is as it is, and what would change it",
		Long: `Plan as "goodfleet plan" would, and say of one thing why it is as it is.

Of a job: why it runs where it does, up to which rate it would stay there, the next
best and the rate at which it would be chosen, what stands in the way of a cheaper
way (its own limits, a word of a person, a quota, a shortage), and what running
elsewhere would cost with egress. Of a job that waits: the row that binds, and the
cap and the value of time with which it would start. Of an instance or an offering
("aws/use1-az1/p3.8xlarge/spot", or an instance type for the cheapest of it): what
one machine more or less would be worth against its rate, at which rate it would be
bought or left, and what stands in the way. --quota tells what more of each quota
would save in a month, with its code for the increase request.

Every price is found by planning again at that price.`,
		Example: `  goodfleet why GPT-L --jobs five-jobs
  goodfleet why p5.48xlarge --jobs jobs.yaml --state fleet.yaml
  goodfleet why --quota --jobs jobs.yaml --config fleet-settings.yaml`,
		Args: atMost(1, "JOB, INSTANCE or OFFERING"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case quota && len(args) > 0:
				return fmt.Errorf("--quota tells of all quotas: want no %q beside it", args[0])
			case !quota && len(args) == 0:
				return exactlyOne("JOB, INSTANCE or OFFERING")(cmd, args)
			case jobs == "" && flags.state == "":
				return errors.New("--jobs: want the file of jobs that is planned for, or --state with a store")
			}
			cfg, err := flags.config(cmd, jobs)
			if err != nil {
				return err
			}
			if quota {
				return runWhyQuota(cmd.Context(), s, cfg)
			}
			return runWhy(cmd.Context(), s, cfg, args[0])
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&jobs, "jobs", "", "file of jobs that is planned for, an example by its name, or - for stdin")
	cmd.Flags().BoolVar(&quota, "quota", false, "tell what one more unit of each quota would save in a month")
	return cmd
}

// whyAnswer is the JSON of why: one of its parts is there.
type whyAnswer struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	At         time.Time    `json:"at"`
	Currency   string       `json:"currency"`
	Job        *whyJob      `json:"job,omitempty"`
	Instance   *whyMachine  `json:"instance,omitempty"`
	Offering   *whyOffering `json:"offering,omitempty"`
}

func (a *asked) newWhyAnswer() whyAnswer {
	return whyAnswer{APIVersion: document.APIVersion, Kind: "Why", At: a.state.Now, Currency: "USD"}
}

func runWhy(ctx context.Context, s streams, cfg askConfig, name string) error {
	a, err := ask(ctx, cfg, s.in)
	if err != nil {
		return err
	}
	out, err := a.why(name)
	if err != nil {
		return err
	}
	if err := out.print(s.out, cfg.settings.output); err != nil {
		return err
	}
	return a.prices.unused()
}

// why answers for whatever has the name: a job, an instance, an offering.
func (a *asked) why(name string) (answer, error) {
	for i := range a.state.Jobs {
		if string(a.state.Jobs[i].Job.ID) == name {
			return a.whyJob(&a.state.Jobs[i])
		}
	}
	for i := range a.state.Machines {
		if string(a.state.Machines[i].Instance.ID) == name {
			return a.whyMachine(&a.state.Machines[i])
		}
	}
	o, unsold, err := a.offeringNamed(name)
	switch {
	case err != nil:
		return answer{}, err
	case unsold != "":
		data := a.newWhyAnswer()
		data.Offering = &whyOffering{Offering: o, Unsold: unsold}
		g := aboutGrid(name)
		g.row("in the plan", "no: %s", unsold)
		return answer{data: data, grid: g.grid}, nil
	}
	return a.whyOffering(o)
}

// offeringNamed finds what may be bought by its name, or the cheapest of an instance
// type. unsold says why a name that could be one is not sold.
func (a *asked) offeringNamed(name string) (o provider.Offering, unsold string, err error) {
	offers := a.reasons.Problem().Offers
	best := -1
	var known []string
	for i := range offers {
		x := offers[i].Offering
		if x.String() == name {
			return x, "", nil
		}
		if x.Type == name && (best < 0 || offers[i].Rate < offers[best].Rate) {
			best = i
		}
		known = append(known, x.String(), x.Type)
	}
	if best >= 0 {
		return offers[best].Offering, "", nil
	}
	for i := range a.state.Jobs {
		known = append(known, string(a.state.Jobs[i].Job.ID))
	}
	for i := range a.state.Machines {
		known = append(known, string(a.state.Machines[i].Instance.ID))
	}
	if o, unsold = a.world.unsold(a.cfg, name); unsold != "" {
		return o, unsold, nil
	}
	return o, "", fmt.Errorf("why %q: there is no such job, instance or offering%s", name, suggestion(name, known))
}

// unsold says why an offering that could be one by its name is not among those
// that are planned with; "" when no machine has such a name.
func (world world) unsold(cfg askConfig, name string) (o provider.Offering, why string) {
	parts := strings.Split(name, "/")
	typeName := name
	if len(parts) == 4 {
		typeName = parts[2]
	}
	for _, t := range world.catalogue.Types() {
		if t.Name != typeName || len(parts) == 4 && t.Cloud != parts[0] {
			continue
		}
		o.Cloud, o.Type = t.Cloud, t.Name
		if len(parts) != 4 {
			return o, soldElsewhere(world, cfg, o)
		}
		market, err := provider.ParseMarket(parts[3])
		if err != nil {
			return o, ""
		}
		o.Zone, o.Market = parts[1], market
		for _, x := range world.history.Offerings() {
			if x.Cloud == o.Cloud && x.Zone == o.Zone {
				o.Region = x.Region
			}
		}
		if o.Region == "" {
			return o, ""
		}
		if bad := world.exists(o); bad != nil {
			return o, ""
		}
		return o, soldElsewhere(world, cfg, o)
	}
	return o, ""
}

// soldElsewhere says how a type that is not offered is sold instead.
func soldElsewhere(world world, cfg askConfig, o provider.Offering) string {
	what := o.Type
	if o.Market != 0 {
		what += " " + o.Market.String() + " in " + o.Zone
	}
	refused, markets := 0, map[provider.Market]int{}
	needless := false
	for _, x := range world.places(cfg.now) {
		if x.Cloud != o.Cloud || x.Type != o.Type {
			continue
		}
		if !cfg.settings.allows(x) {
			refused++
			continue
		}
		needless = needless || x == o
		markets[x.Market]++
	}
	switch {
	case needless:
		return "it is a larger host of the same accelerators, dearer in the same zone than one that carries all the jobs: it is not looked at"
	case refused > 0 && len(markets) == 0:
		return "the clouds, regions and markets of the settings leave it out"
	case len(markets) == 0:
		return what + ": not sold, or no price is known; unknown is not zero, so it is never planned with"
	}
	var words []string
	for m := provider.OnDemand; m <= provider.Queued; m++ {
		if n := markets[m]; n > 0 {
			words = append(words, fmt.Sprintf("%s in %s", m, counted(n, "place")))
		}
	}
	return what + ": not sold, or no price is known; " + o.Type + " has prices " + strings.Join(words, ", ")
}

// about is an answer of a few lines: what is told, and the text.
type about struct{ grid }

func aboutGrid(name string) about {
	return about{grid{head: []string{name, "answer"}, wrap: 2}}
}

func (g *about) row(what, format string, args ...any) {
	g.rows = append(g.rows, []string{what, fmt.Sprintf(format, args...)})
}

// thresholdRate is a rate at which a plan changes, as data; nil: at none.
func thresholdRate(t policy.Threshold) *string {
	if !t.OK {
		return nil
	}
	text := t.Rate.String()
	return &text
}

// fourDigits is an amount with four digits that matter, at least cents.
func fourDigits(usd float64) string {
	switch {
	case usd < 5e-5:
		return "0"
	case usd >= 10:
		return fmt.Sprintf("%.2f", usd)
	case usd >= 1:
		return fmt.Sprintf("%.3f", usd)
	}
	return fmt.Sprintf("%.4f", usd)
}

// gangText is a config in words: "8 × H100 on p5.48xlarge".
func (a *asked) gangText(c planner.Config) string {
	t, _ := a.state.Catalogue.Lookup(c.Cloud, c.Type)
	return planJob{Config: &c, accelerator: t.Accelerator}.gang()
}
