package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/pricing"
)

func newPrices(s streams) *cobra.Command {
	prices := &cobra.Command{
		Use:   "prices",
		Short: "Check price files, and accept prices that were put aside",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	prices.AddCommand(newPricesCheck(s), newPricesAccept(s))
	return prices
}

// pricesConfig is what the verbs of prices are asked.
type pricesConfig struct {
	settings settings
	now      time.Time
	file     string // of check; "": the embedded lists
	ids      []string
	all      bool
}

func newPricesCheck(s streams) *cobra.Command {
	cfg := pricesConfig{}
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check a price file, or the embedded lists, row by row",
		Long: `Check a price file: CSV with the columns cloud, region, zone, type, market,
usd_per_hour and maybe currency and at. A row that is no price is refused; one that
is far from what is known is put aside until "goodfleet prices accept". Neither is
ever planned with or summed. Exit code 2 if there was any.

Without a file, account for the lists that the program carries, row by row.`,
		Example: `  goodfleet prices check
  goodfleet prices check spot.csv
  goodfleet prices check - -o json < spot.csv`,
		Args: atMost(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if cfg.settings, err = readSettings(cmd); err != nil {
				return err
			}
			cfg.now = time.Now()
			if len(args) == 0 {
				return runPricesEmbedded(cmd.Context(), s.out, cfg)
			}
			cfg.file = args[0]
			return runPricesCheck(cmd.Context(), s, cfg)
		},
	}
	addSettings(cmd, "output", "quarantine")
	return cmd
}

// pricesAnswer is the JSON of a check.
type pricesAnswer struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	File       string            `json:"file"`
	Usable     int               `json:"usable"`
	Suspects   []pricing.Suspect `json:"suspects"`
	Refused    []pricing.Refusal `json:"refused"`
}

func runPricesCheck(_ context.Context, s streams, cfg pricesConfig) error {
	world, err := newWorld(cfg.settings)
	if err != nil {
		return err
	}
	name, verdict, quarantine, err := world.judge(cfg.settings, cfg.file, s.in, cfg.now)
	if err != nil {
		return err
	}
	if len(verdict.Suspects) > 0 {
		if err := quarantine.Add(verdict.Suspects...); err != nil {
			return err
		}
	}
	if err := pricesVerdict(name, verdict).print(s.out, cfg.settings.output); err != nil {
		return err
	}
	if bad := len(verdict.Suspects) + len(verdict.Refused); bad > 0 {
		return found("%s: %s used: %d refused, %d put aside", name, fewOf(bad, bad+len(verdict.Accepted), "row"), len(verdict.Refused), len(verdict.Suspects))
	}
	return nil
}

// known splits the quotes of a file into those of machines and places that exist,
// as far as the catalogue and the price history tell, and the refused others.
func (world world) known(quotes []pricing.FileQuote) (kept []pricing.FileQuote, refused []pricing.Refusal) {
	regionOf := map[[2]string]string{} // of each zone of a cloud
	for _, o := range world.history.Offerings() {
		regionOf[[2]string{o.Cloud, o.Zone}] = o.Region
	}
	for _, q := range quotes {
		o := q.Offering
		refuse := func(field, text, detail string) {
			refused = append(refused, pricing.Refusal{File: q.File, Line: q.Line, Field: field, Text: text, Reason: pricing.BadOffering, Detail: detail})
		}
		region, seen := regionOf[[2]string{o.Cloud, o.Zone}]
		switch _, ok := world.catalogue.Lookup(o.Cloud, o.Type); {
		case !ok:
			refuse("type", o.Type, "the catalogue has no such type of "+o.Cloud)
		case seen && region != o.Region:
			refuse("zone", o.Zone, "it lies in "+region)
		default:
			kept = append(kept, q)
		}
	}
	return kept, refused
}

// pricesVerdict shows the bad rows by line.
func pricesVerdict(name string, v pricing.Verdict) answer {
	data := pricesAnswer{
		APIVersion: document.APIVersion, Kind: "PriceCheck", File: name, Usable: len(v.Accepted),
		Suspects: append([]pricing.Suspect{}, v.Suspects...), Refused: append([]pricing.Refusal{}, v.Refused...),
	}
	type bad struct {
		line  int
		cells []string
	}
	var rows []bad
	for _, r := range v.Refused {
		reason := string(r.Reason)
		if r.Detail != "" {
			reason += ": " + r.Detail
		}
		rows = append(rows, bad{r.Line, []string{fmt.Sprintf("%s:%d", r.File, r.Line), "refused", r.Field + " " + strconv.Quote(r.Text), reason, unknown}})
	}
	for _, q := range v.Suspects {
		what := q.Quote.Offering.String() + " at " + q.Quote.Rate.String() + " USD/h"
		rows = append(rows, bad{q.Line, []string{fmt.Sprintf("%s:%d", q.File, q.Line), "put aside", what, q.Reason, q.ID}})
	}
	slices.SortStableFunc(rows, func(a, b bad) int { return cmp.Compare(a.line, b.line) })
	g := grid{head: []string{"row", "verdict", "what", "why", "id to accept"}}
	for _, r := range rows {
		g.rows = append(g.rows, r.cells)
	}
	g.notes = []string{counted(len(v.Accepted), "row") + " can be used"}
	return answer{data: data, grid: g}
}

func runPricesEmbedded(_ context.Context, w io.Writer, cfg pricesConfig) error {
	reports, err := pricing.EmbeddedReports()
	if err != nil {
		return err
	}
	g := grid{
		head:  []string{"file", "read", "prices", "kept", "not sold", "left out", "refused"},
		right: []bool{false, false, true, true, true, true, true},
	}
	refused := 0
	for _, r := range reports {
		refused += len(r.Refused)
		g.rows = append(g.rows, []string{
			r.File, r.At.Format(time.DateOnly), strconv.Itoa(r.Prices), strconv.Itoa(r.Kept), strconv.Itoa(r.Absent), strconv.Itoa(r.LeftOut), strconv.Itoa(len(r.Refused)),
		})
		for _, bad := range r.Refused {
			g.notes = append(g.notes, "refused: "+bad.Error())
		}
	}
	data := struct {
		APIVersion string               `json:"apiVersion"`
		Kind       string               `json:"kind"`
		Files      []pricing.FileReport `json:"files"`
	}{document.APIVersion, "PriceReport", reports}
	g.notes = append(g.notes, counted(refused, "price")+" of the lists cannot be used: that is known, and no finding.")
	return answer{data: data, grid: g}.print(w, cfg.settings.output)
}

func newPricesAccept(s streams) *cobra.Command {
	cfg := pricesConfig{}
	cmd := &cobra.Command{
		Use:   "accept ID... | --all",
		Short: "Take prices that were put aside for real",
		Long: `Take prices that were put aside for real: from then on they are planned with.
Without an id, and without --all, list what waits.`,
		Example: `  goodfleet prices accept
  goodfleet prices accept 3f9a01c2b4d5
  goodfleet prices accept --all`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if cfg.settings, err = readSettings(cmd); err != nil {
				return err
			}
			cfg.now, cfg.ids = time.Now(), args
			return runPricesAccept(cmd.Context(), s.out, cfg)
		},
	}
	addSettings(cmd, "output", "quarantine")
	cmd.Flags().BoolVar(&cfg.all, "all", false, "take all of them")
	return cmd
}

// acceptAnswer is the JSON of accept.
type acceptAnswer struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Accepted   []pricing.Quote   `json:"accepted"`
	Waiting    []pricing.Suspect `json:"waiting"`
}

func runPricesAccept(_ context.Context, w io.Writer, cfg pricesConfig) error {
	quarantine, err := pricing.OpenQuarantine(cfg.settings.refused)
	if err != nil {
		return err
	}
	var accepted []pricing.Quote
	switch {
	case cfg.all && len(cfg.ids) > 0:
		return errors.New("prices accept: want ids or --all, not both")
	case cfg.all:
		accepted, err = quarantine.AcceptAll(cfg.now)
	case len(cfg.ids) > 0:
		accepted, err = quarantine.Accept(cfg.now, cfg.ids...)
	}
	if err != nil {
		return err
	}
	data := acceptAnswer{
		APIVersion: document.APIVersion, Kind: "PriceAcceptance",
		Accepted: append([]pricing.Quote{}, accepted...), Waiting: append([]pricing.Suspect{}, quarantine.Suspects()...),
	}
	g := grid{head: []string{"id", "state", "offering", "USD/h", "why it was put aside"}, right: []bool{false, false, false, true, false}}
	for _, q := range data.Accepted {
		g.rows = append(g.rows, []string{unknown, "accepted", q.Offering.String(), q.Rate.String(), unknown})
	}
	for _, q := range data.Waiting {
		g.rows = append(g.rows, []string{q.ID, "waits", q.Quote.Offering.String(), q.Quote.Rate.String(), q.Reason})
	}
	return answer{data: data, grid: g}.print(w, cfg.settings.output)
}
