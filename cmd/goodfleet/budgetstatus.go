package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
)

// budgetConfig is what a verb of budget is asked.
type budgetConfig struct {
	settings settings
	span     spanFlags
	state    string
	jobs     string // file of jobs
	job      string
	team     string
	project  string
	at       string
	notify   notifyFlags
}

func newBudgetStatus(s streams) *cobra.Command {
	cfg := budgetConfig{}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "How far each cap is used, what it will come to, and what happens next and when",
		Long: `How far each cap of the policies is used at --now, by the ledger: spent; committed, which
adds what the machines of --state go on to cost until they could be stopped; the end of
the period, P50 and P90, from what was spent before; and what the policy does next, and
when, if money goes on at the P50. Exit code 2 when a cap is used up.

Policies may name destinations of the settings in notify: these are told by --notify of
steps that are reached, of stops and of open questions, each once. What was sent is kept in
a file beside the ledger; what cannot be sent is due again. Without --notify, what is due is
listed and nothing is sent.`,
		Example: `  goodfleet budget status --budgets policies.yaml
  goodfleet budget status --budgets policies.yaml --state goodfleet.db -o json
  goodfleet budget status --budgets policies.yaml --config goodfleet.yaml --notify`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if cfg.settings, err = readSettings(cmd); err != nil {
				return err
			}
			return runBudgetStatus(cmd.Context(), s.out, cfg, time.Now())
		},
	}
	addSettings(cmd, "budgets", "ledger", "out", "output")
	cmd.Flags().StringVar(&cfg.span.now, "now", "", "instant up to which charges are known (default now)")
	cmd.Flags().StringVar(&cfg.state, "state", "", "store of what runs, in SQLite: for what is committed, and for open questions")
	cfg.notify.add(cmd)
	cfg.span.zone = "UTC"
	return cmd
}

// standing is a cap as it is printed.
type standing struct {
	Policy    string         `json:"policy"`
	Origin    budget.Origin  `json:"origin"` // where the policy is written, and changed
	Per       string         `json:"per"`
	From      *time.Time     `json:"from"`  // null: it has no start
	Until     *time.Time     `json:"until"` // null: it has no end
	Amount    pricing.Money  `json:"amount"`
	Carried   pricing.Money  `json:"carried"`
	Spent     pricing.Money  `json:"spent"`
	Overrun   pricing.Money  `json:"overrun"`
	Committed *pricing.Money `json:"committed"` // null: nothing is known of what runs
	P50       *pricing.Money `json:"p50"`
	P90       *pricing.Money `json:"p90"`
	Next      string         `json:"next"`
	At        *time.Time     `json:"at"`
}

func runBudgetStatus(ctx context.Context, w io.Writer, cfg budgetConfig, now time.Time) error {
	policies, all, span, err := cfg.books(now)
	if err != nil {
		return err
	}
	var snap *autoscale.Snapshot
	if cfg.state != "" {
		if snap, err = readStore(ctx, cfg.state); err != nil {
			return err
		}
	}
	notices, err := cfg.notices(ctx, policies, all, snap, span.now)
	if err != nil {
		return err
	}
	type status struct {
		At        time.Time         `json:"at"`
		Caps      []standing        `json:"caps"`
		Questions []budget.Question `json:"questions"`
		Notices   []noticed         `json:"notices"` // due, or sent just now
	}
	data := status{At: span.now.UTC(), Caps: []standing{}, Questions: []budget.Question{}, Notices: notices}
	g := grid{
		head:  []string{"cap", "until", "amount USD", "spent", "%", "committed", "P50", "P90", "next", "at"},
		right: []bool{false, false, true, true, true, true, true, true},
	}
	used := 0
	standings := budget.Standings(policies, all, span.now)
	var tails []pricing.Money
	if snap != nil {
		if tails, err = cfg.settings.tails(policies, standings, snap, span.now); err != nil {
			return err
		}
	}
	for i, s := range standings {
		row := standing{Policy: s.Name(), Origin: s.Policy.Origin, Per: s.Policy.Cap.Period.String(), Amount: s.Amount, Carried: s.Carried, Spent: s.Spent, Overrun: s.Overrun}
		at := unknown
		ends := "no end"
		if !s.Policy.Cap.Period.Endless() {
			row.From, row.Until, ends = &s.From, &s.Until, s.Until.Format("2006-01-02 15:04")
		}
		if snap != nil {
			sum := s.Spent + tails[i]
			row.Committed = &sum
		}
		if s.Forecast.Known && !s.Policy.Cap.Period.Endless() {
			row.P50, row.P90 = &s.Forecast.P50, &s.Forecast.P90
		}
		what, when := s.Next(span.now)
		row.Next = what
		if !when.IsZero() {
			when = when.UTC()
			row.At, at = &when, when.Format("2006-01-02 15:04")
		}
		if s.Spent >= s.Amount && !s.Over(span.now) {
			used++
		}
		data.Caps = append(data.Caps, row)
		share := unknown
		if s.Amount > 0 {
			share = fmt.Sprintf("%.1f", 100*float64(s.Spent)/float64(s.Amount))
		}
		g.add(row.Policy, ends, s.Amount, s.Spent, share, row.Committed, row.P50, row.P90, what, at)
	}
	if snap != nil {
		for _, q := range snap.Questions {
			if v, _, _ := q.Stands(span.now); v == budget.Open {
				data.Questions = append(data.Questions, q)
				g.notes = append(g.notes, "", fmt.Sprintf("Question %s of %s: may %v burn %s USD/h more? goodfleet budget approve %s --state %s --who YOU --why WHY", q.ID, q.Policy, q.Jobs, q.Burn, q.ID, cfg.state))
			}
		}
	}
	for i, n := range notices {
		if i == 0 {
			g.notes = append(g.notes, "")
		}
		word := "Due for"
		if n.Sent {
			word = "Sent to"
		}
		g.notes = append(g.notes, fmt.Sprintf("%s %s: %s", word, n.To, n.Text))
	}
	g.notes = append(g.notes, "", "Times are UTC. Next and its time are what comes if money goes on at the P50.")
	if err := (answer{data: data, grid: g}).print(w, cfg.settings.output); err != nil {
		return err
	}
	if used > 0 {
		return found("%s used up", numbered(used, "cap is", "caps are"))
	}
	return nil
}

// tails are what the machines of a store go on to cost against caps, as a round would count
// it that begins now: by rounds of the settings.
func (s settings) tails(policies budget.Policies, standings []budget.Standing, snap *autoscale.Snapshot, now time.Time) ([]pricing.Money, error) {
	world, err := newWorld(s)
	if err != nil {
		return nil, err
	}
	state := autoscale.State{Now: now, Catalogue: world.catalogue}
	(&running{store: snap}).fromStore(&state)
	reckoned := autoscale.DefaultSettings()
	reckoned.Round = s.round
	return state.Tails(policies, standings, world.history, reckoned)
}
