package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/pricing/budget"
)

// answerConfig is how a question is answered.
type answerConfig struct {
	id, state, who, why string
	verdict             budget.Verdict
}

func newBudgetAnswer(s streams, v budget.Verdict) *cobra.Command {
	cfg := answerConfig{verdict: v}
	verb, what := "approve", "Let a launch be made that waits for a yes"
	if v == budget.Denied {
		verb, what = "deny", "Refuse a launch that waits for a yes"
	}
	cmd := &cobra.Command{
		Use:     verb + " ID",
		Short:   what,
		Example: "  goodfleet budget " + verb + ` 3f2a9c01d4 --state goodfleet.db --who ada --why "the review is on Friday"`,
		Args:    exactlyOne("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg.id = args[0]
			return runBudgetAnswer(cmd.Context(), s.out, cfg, time.Now().UTC())
		},
	}
	cmd.Flags().StringVar(&cfg.state, "state", "", "store that the question is in, in SQLite")
	cmd.Flags().StringVar(&cfg.who, "who", "", "who answers")
	cmd.Flags().StringVar(&cfg.why, "why", "", "why")
	return cmd
}

func runBudgetAnswer(ctx context.Context, w io.Writer, cfg answerConfig, now time.Time) (err error) {
	switch {
	case cfg.state == "":
		return errors.New("--state: the store is missing that the question is in")
	case cfg.who == "":
		return errors.New("--who: it is missing who answers")
	case cfg.why == "":
		return errors.New("--why: a reason is missing")
	}
	if _, err := os.Stat(cfg.state); err != nil {
		return fmt.Errorf("--state: %s: %w", cfg.state, bare(err)) // a store is not made by looking for one
	}
	s, err := openStore(ctx, cfg.state, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	q, err := autoscale.Answer(ctx, s, now, cfg.id, cfg.verdict, cfg.who, cfg.why)
	if err != nil {
		return fmt.Errorf("%s: %w", cfg.state, err)
	}
	_, err = fmt.Fprintf(w, "%s: %s %s by %s until %s\n", q.Policy, q.ID, q.Verdict, q.Who, now.Add(q.Valid).Format(time.RFC3339))
	return err
}
