package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/autoscale/report"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// ledgerFile is the name of the charges in the folder that simulate writes.
const ledgerFile = "charges.jsonl"

// costConfig is what cost-report is asked.
type costConfig struct {
	settings settings
	by       string
	from, to string
	top      int
}

func newCostReport(s streams) *cobra.Command {
	cfg := costConfig{}
	cmd := &cobra.Command{
		Use:   "cost-report",
		Short: "Sum the ledger by team, job, cloud, market, account, day, ...",
		Long: `Sum the ledger by any dimension. Sums are exact to the nano dollar; a table shows
cents, rounded so that they add up. The window is from --from up to, and without, --to.`,
		Example: `  goodfleet cost-report
  goodfleet cost-report --by team,market
  goodfleet cost-report --ledger out/charges.jsonl --by day --from 2023-06-05 --to 2023-06-08 -o csv`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if cfg.settings, err = readSettings(cmd); err != nil {
				return err
			}
			return runCostReport(cmd.Context(), s.out, cfg)
		},
	}
	addSettings(cmd, "ledger", "output")
	cmd.Flags().StringVar(&cfg.by, "by", "team,market", "dimensions, separated by commas: job, team, cloud, region, zone, type, market, account, instance, day")
	cmd.Flags().StringVar(&cfg.from, "from", "", "first day or instant")
	cmd.Flags().StringVar(&cfg.to, "to", "", "day or instant that is no longer in it")
	cmd.Flags().IntVar(&cfg.top, "top", 0, "show the dearest rows and sum the others in one (0: all)")
	return cmd
}

func runCostReport(_ context.Context, w io.Writer, cfg costConfig) error {
	by, err := dimensions(cfg.by)
	if err != nil {
		return err
	}
	if cfg.top < 0 {
		return fmt.Errorf("--top %d: want 0 or more", cfg.top)
	}
	from, to, err := window(cfg.from, cfg.to)
	if err != nil {
		return err
	}
	charges, err := readLedger(cfg.settings.ledger)
	if err != nil {
		return err
	}
	kept := charges[:0]
	for _, c := range charges {
		if (from.IsZero() || !c.From.Before(from)) && (to.IsZero() || c.From.Before(to)) {
			kept = append(kept, c)
		}
	}
	cost := report.NewCost(kept, from, to, by...).Top(cfg.top)
	var out bytes.Buffer
	if err := writeAs(&out, cfg.settings.output, cost); err != nil {
		return err
	}
	_, err = w.Write(out.Bytes())
	return err
}

func dimensions(text string) ([]ledger.Dimension, error) {
	var words []string
	for _, d := range ledger.Dimensions() {
		words = append(words, d.String())
	}
	var by []ledger.Dimension
	for _, word := range commas(text) {
		d, err := ledger.ParseDimension(word)
		if err != nil {
			return nil, fmt.Errorf("--by: %w%s", err, suggestion(word, words))
		}
		by = append(by, d)
	}
	return by, nil
}

// window reads both ends; an end that is not given is open.
func window(fromText, toText string) (from, to time.Time, err error) {
	if fromText != "" {
		if from, err = instant("from", fromText); err != nil {
			return from, to, err
		}
	}
	if toText != "" {
		if to, err = instant("to", toText); err != nil {
			return from, to, err
		}
	}
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		return from, to, fmt.Errorf("--from %s is not before --to %s", fromText, toText)
	}
	return from, to, nil
}

// readLedger reads charges, one JSON object a line. A charge given twice counts
// once; two that contradict each other, and any that do not add up, are an error.
func readLedger(path string) ([]ledger.Charge, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("ledger %s: no such file; goodfleet simulate writes one into its --out folder", path)
	}
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	defer file.Close()
	var book ledger.Ledger
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		c, err := readCharge(lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("ledger %s:%d: %w", path, n, err)
		}
		if _, err := book.Append(c); err != nil {
			return nil, fmt.Errorf("ledger %s:%d: %w", path, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("ledger %s: %w", path, err)
	}
	if err := ledger.Check(book.Charges()); err != nil {
		return nil, fmt.Errorf("ledger %s: %w", path, err)
	}
	return book.Charges(), nil
}

// readCharge reads the one charge of a line.
func readCharge(line []byte) (c ledger.Charge, err error) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&c)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return c, errors.New("the line ends within a charge")
	case errors.As(err, &wrong):
		return c, fmt.Errorf("%s: a %s does not belong here", cmp.Or(wrong.Field, "charge"), wrong.Value)
	case err != nil:
		return c, err
	case decoder.More():
		return c, errors.New("more than one charge on a line")
	}
	return c, c.Check()
}

// writeLedger writes charges as readLedger reads them.
func writeLedger(w io.Writer, charges []ledger.Charge) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	for i := range charges {
		if err := encoder.Encode(&charges[i]); err != nil {
			return fmt.Errorf("charge %s: %w", charges[i].ID, err)
		}
	}
	return nil
}
