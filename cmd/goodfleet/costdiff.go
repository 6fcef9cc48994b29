package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/autoscale/report"
)

func newCostDiff(s streams) *cobra.Command {
	cfg := costConfig{}
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Two ledgers, or two spans of one, side by side",
		Long: `Sum two ledgers by the same dimensions, largest change first. BEFORE and AFTER are
files of charges, or spans of --ledger such as 2026-10-01..2026-11-01 (the end is not in it).
A change that lacks a rate on either side is not known: a missing price is no saving.`,
		Example: `  goodfleet cost-report diff old/charges.jsonl out/charges.jsonl
  goodfleet cost-report diff 2023-06-05..2023-06-07 2023-06-07..2023-06-09 --by team`,
		Args: cobra.MatchAll(twoFiles),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if cfg.settings, err = readSettings(cmd); err != nil {
				return err
			}
			return runCostDiff(s.out, cfg, args[0], args[1])
		},
	}
	addSettings(cmd, "ledger", "out", "output")
	cmd.Flags().StringVar(&cfg.by, "by", "team,market", byUsage)
	cmd.Flags().StringVar(&cfg.span.zone, "zone", "UTC", "time zone of days and months, such as Europe/Berlin")
	return cmd
}

func twoFiles(cmd *cobra.Command, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%s wants BEFORE and AFTER; see %s --help", cmd.CommandPath(), cmd.CommandPath())
	}
	return nil
}

func runCostDiff(w io.Writer, cfg costConfig, before, after string) error {
	by, err := dimensions(cfg.by)
	if err != nil {
		return err
	}
	sides := make([]report.CostConfig, 2)
	for i, side := range []string{before, after} {
		path, flags := side, spanFlags{zone: cfg.span.zone}
		if from, to, ok := strings.Cut(side, ".."); ok && !strings.ContainsAny(side, "/\\") {
			path, flags.from, flags.to = cfg.settings.ledger, from, to
		} else if _, err := os.Stat(side); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: no such file, and no span such as 2026-10-01..2026-11-01", side)
		}
		span, err := flags.read(time.Time{})
		if err != nil {
			return fmt.Errorf("%s: %w", side, err)
		}
		if sides[i].Charges, err = chargesIn(path, span); err != nil {
			return err
		}
		sides[i].Zone, sides[i].By = span.zone, by
	}
	var out bytes.Buffer
	if err := writeAs(&out, cfg.settings.output, report.NewCostDiff(sides[0], sides[1])); err != nil {
		return err
	}
	_, err = w.Write(out.Bytes())
	return err
}
