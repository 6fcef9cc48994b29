package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/autoscale/report"
	"github.com/goodfleet/goodfleet/pricing/focus"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// ledgerFile is the name of the charges in the folder that simulate writes.
const ledgerFile = "charges.jsonl"

// workFile is the name of what the jobs got done, beside the charges.
const workFile = "work.json"

// Formats of cost-report alone.
const (
	asHTML     = "html"
	asMarkdown = "markdown"
)

var costForms = []string{asTable, asJSON, asYAML, asCSV, asHTML, asMarkdown}

// costConfig is what cost-report is asked.
type costConfig struct {
	settings settings
	by       string
	span     spanFlags
	top      int
	work     string
	output   string
	currency string
}

const byUsage = "dimensions, separated by commas: job, team, project, cloud, region, zone, type, market, account, instance, item, round, day, month"

func newCostReport(s streams) *cobra.Command {
	cfg := costConfig{}
	cmd := &cobra.Command{
		Use:   "cost-report",
		Short: "Sum the ledger by team, job, cloud, market, account, day, ...",
		Long: `Sum the ledger by any dimensions. Sums are exact to the nano dollar; a table shows
cents: costs are rounded so that they add up to their total to the nearest cent, what is
the same amount looks the same, and list cost is shown as what cost, spot saving and
discounts, less credits, come to, so that each row adds up as each column does. The window is from --from up to, and without, --to;
days begin at midnight of --zone; a charge that straddles an edge counts to each side by
its time there. What the jobs got done is read from --work, so that
there is a cost for each unit of it.`,
		Example: `  goodfleet cost-report
  goodfleet cost-report --by team,market
  goodfleet cost-report --by job --top 10 -o markdown
  goodfleet cost-report --by day --from last-month --zone America/New_York -o html > november.html
  goodfleet cost-report --ledger out/charges.jsonl --by day --from 2023-06-05 --to 2023-06-08 -o csv`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			// A page and a table for comments are forms of this verb alone, and no setting.
			if form := cmd.Flags().Lookup("output"); form.Changed {
				own := cfg.output
				if err := checkFormat(own, costForms...); err != nil {
					return fmt.Errorf("--%w", err)
				}
				if err := form.Value.Set(asTable); err != nil {
					return err
				}
				if cfg.settings, err = readSettings(cmd); err != nil {
					return err
				}
				cfg.output = own
			} else if cfg.settings, err = readSettings(cmd); err != nil {
				return err
			}
			return runCostReport(cmd.Context(), s.out, cfg, time.Now())
		},
	}
	addSettings(cmd, "ledger", "out")
	cmd.Flags().StringVarP(&cfg.output, "output", "o", "", "form of the answer: table, json, yaml, csv, html or markdown (default as set, table)")
	cmd.Flags().StringVar(&cfg.by, "by", "team,market", byUsage)
	cmd.Flags().IntVar(&cfg.top, "top", 0, "show the dearest rows and sum the others in one (0: all)")
	cmd.Flags().StringVar(&cfg.work, "work", "", "file of what the jobs got done (default work.json beside the ledger, if there)")
	cmd.Flags().StringVar(&cfg.currency, "currency", "", "show amounts in another currency, at a rate of a day: EUR=1.0870@2026-11-30 (what one EUR is worth in USD)")
	cfg.span.add(cmd)
	cmd.AddCommand(newCostDiff(s), newCostReconcile(s), newCostForecast(s), newCostAnomalies(s))
	return cmd
}

func runCostReport(_ context.Context, w io.Writer, cfg costConfig, now time.Time) error {
	by, err := dimensions(cfg.by)
	if err != nil {
		return err
	}
	if cfg.top < 0 {
		return fmt.Errorf("--top %d: want 0 or more", cfg.top)
	}
	output := cmp.Or(cfg.output, cfg.settings.output)
	if err := checkFormat(output, costForms...); err != nil {
		return err
	}
	span, err := cfg.span.read(now)
	if err != nil {
		return err
	}
	config := report.CostConfig{From: span.from, To: span.to, Zone: span.zone, By: by, Top: cfg.top}
	if cfg.currency != "" {
		rate, err := focus.ParseConversion(cfg.currency)
		if err != nil {
			return fmt.Errorf("--currency: %w", err)
		}
		config.Currency = &report.Conversion{Code: rate.Currency, Says: rate.String(), Of: rate.From}
	}
	if config.Work, err = readWork(cfg.work, cfg.settings.ledger); err != nil {
		return err
	}
	cost, err := costOf(cfg.settings.ledger, span, config, output == asHTML)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	switch output {
	case asHTML:
		err = cost.HTML(&out)
	case asMarkdown:
		err = cost.Markdown(&out)
	default:
		err = writeAs(&out, output, cost)
	}
	if err != nil {
		return err
	}
	_, err = w.Write(out.Bytes())
	return err
}

// costOf sums the charges of a window while they are read, or all at once for a page
// that draws them.
func costOf(path string, s span, config report.CostConfig, drawn bool) (cost report.Cost, err error) {
	if drawn {
		if config.Charges, err = chargesIn(path, s); err != nil {
			return cost, err
		}
		return report.NewCost(config), nil
	}
	var costing *report.Costing
	var part ledger.Charge // one for all
	err = eachCharge(path, !slices.Contains(config.By, ledger.ByRound), func() func(c *ledger.Charge) {
		costing = report.NewCosting(config)
		if s.from.IsZero() && s.to.IsZero() {
			return costing.Add
		}
		return func(c *ledger.Charge) {
			var ok bool
			if part, ok = c.Within(s.from, s.to); ok {
				costing.Add(&part)
			}
		}
	})
	if err != nil {
		return cost, err
	}
	return costing.Cost(), nil
}

// readWork reads what the jobs got done: the file that is named, or the one beside
// the ledger if it is there.
func readWork(path, ledgerPath string) (*report.Work, error) {
	named := path != ""
	if !named {
		path = filepath.Join(filepath.Dir(ledgerPath), workFile)
	}
	data, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil, nil
	}
	if err == nil {
		data, err = document.Text(path, data)
	}
	if err != nil {
		return nil, fmt.Errorf("work: %w", err)
	}
	work, err := report.ReadWork(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("work %s: %w", path, err)
	}
	return &work, nil
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
		if slices.Contains(by, d) {
			return nil, fmt.Errorf("--by: %s is named twice", d)
		}
		by = append(by, d)
	}
	return by, nil
}
