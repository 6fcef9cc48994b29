package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/pricing/focus"
	"github.com/goodfleet/goodfleet/provider"
)

// focusConfig is what focus export is asked.
type focusConfig struct {
	settings settings
	version  string
	span     spanFlags
	billing  focus.Account
	sub      focus.Account
	all      bool
	created  string
}

func newFocus(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "focus",
		Short: "Write the ledger as a bill in the FOCUS standard; check such files",
		Example: `  goodfleet focus export --billing-account 111122223333
  goodfleet focus validate out/focus-1.2.csv`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newFocusExport(s), newFocusValidate(s))
	return cmd
}

func newFocusExport(s streams) *cobra.Command {
	cfg := focusConfig{}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the ledger as FOCUS 1.2 or 1.3, with its metadata",
		Long: `Write the ledger into the folder --out as focus-VERSION.csv, and beside it the metadata
that the standard wants. Billed and effective costs are exact to the nano dollar.
What has no known rate is left out and counted: the exit code is then 2.`,
		Example: `  goodfleet focus export --billing-account 111122223333
  goodfleet focus export --billing-account 111122223333 --focus-version 1.3 --from last-month`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if cfg.settings, err = readSettings(cmd); err != nil {
				return err
			}
			return runFocusExport(s.out, cfg, time.Now())
		},
	}
	addSettings(cmd, "ledger", "out")
	cmd.Flags().StringVar(&cfg.version, "focus-version", string(focus.V12), "version of the standard: 1.2 or 1.3")
	cmd.Flags().StringVar(&cfg.billing.ID, "billing-account", "", "id of the account that pays")
	cmd.Flags().StringVar(&cfg.billing.Name, "billing-account-name", "", "its name")
	cmd.Flags().StringVar(&cfg.sub.ID, "sub-account", "", "id of the account that the machines are in (default as the ledger says)")
	cmd.Flags().StringVar(&cfg.sub.Name, "sub-account-name", "", "its name")
	cmd.Flags().BoolVar(&cfg.all, "all-columns", false, "write columns too that no row fills")
	cmd.Flags().StringVar(&cfg.created, "created", "", "instant that the metadata name (default now)")
	cfg.span.add(cmd)
	return cmd
}

func runFocusExport(w io.Writer, cfg focusConfig, now time.Time) error {
	version, err := focus.ParseVersion(cfg.version)
	if err != nil {
		return fmt.Errorf("--focus-version: %w", err)
	}
	if cfg.billing.ID == "" {
		return fmt.Errorf("--billing-account is missing: the standard wants it in each row")
	}
	created := now
	if cfg.created != "" {
		if created, err = instant("created", cfg.created); err != nil {
			return err
		}
	}
	span, err := cfg.span.read(now)
	if err != nil {
		return err
	}
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		return err
	}
	charges, err := chargesIn(cfg.settings.ledger, span)
	if err != nil {
		return err
	}
	cfg.billing.Type, cfg.sub.Type = "Management Account", "Member Account"
	if cfg.sub.ID == "" {
		cfg.sub.Type = ""
	}
	names := focus.Names{BillingAccount: cfg.billing, SubAccount: cfg.sub, Types: catalogue}
	var data, meta bytes.Buffer
	sum, err := focus.Export(&data, charges, focus.Config{Version: version, Names: names, All: cfg.all})
	if err != nil {
		return err
	}
	if err := sum.Metadata(&meta, version, created); err != nil {
		return err
	}
	path := filepath.Join(cfg.settings.out, "focus-"+string(version)+".csv")
	if err := os.MkdirAll(cfg.settings.out, 0o755); err != nil {
		return fmt.Errorf("focus export: %w", err)
	}
	for _, file := range []struct {
		path string
		data *bytes.Buffer
	}{{path, &data}, {filepath.Join(cfg.settings.out, "focus-"+string(version)+".metadata.json"), &meta}} {
		if err := writeFile(file.path, func(w io.Writer) error { _, err := file.data.WriteTo(w); return err }); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(w, "%s: %s, %s USD billed, %s USD effective\n", path, counted(sum.Rows, "row"), sum.Billed, sum.Borne); err != nil {
		return err
	}
	if sum.Unknown > 0 {
		return found("%s no known rate: without, the sums are lower bounds", numbered(sum.Unknown, "row has", "rows have"))
	}
	return nil
}

func newFocusValidate(s streams) *cobra.Command {
	var version, output string
	cmd := &cobra.Command{
		Use:   "validate FILE",
		Short: "Check a file in FOCUS row by row: ours or another's",
		Long: `Check a CSV file against the rules of FOCUS for the dataset Cost and Usage, row by
row. Exit code 0: no rule is broken; 2: rules are, each told with its row and column; 1: the
file cannot be read, or is no bill at all: no text in UTF-8, no CSV, not one column of FOCUS.
A row is the line of the file that it begins at. A head without rows breaks no rule: a
month without costs looks so. What the standard only recommends (SHOULD) is told too, as of
units, and is no reason for exit code 2. Sums over invoices and amortization are not checked.`,
		Example: `  goodfleet focus validate out/focus-1.2.csv
  goodfleet focus validate bill.csv --focus-version 1.3 -o json`,
		Args: exactlyOne("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := readSettings(cmd); err != nil {
				return err
			}
			return runFocusValidate(s, args[0], version, output)
		},
	}
	cmd.Flags().StringVar(&version, "focus-version", string(focus.V12), "version of the standard: 1.2 or 1.3")
	cmd.Flags().StringVarP(&output, "output", "o", asTable, "form of the answer: table, json, yaml or csv")
	return cmd
}

func runFocusValidate(s streams, path, version, output string) error {
	if err := checkFormat(output, asTable, asJSON, asYAML, asCSV); err != nil {
		return err
	}
	v, err := focus.ParseVersion(version)
	if err != nil {
		return fmt.Errorf("--focus-version: %w", err)
	}
	in := s.in
	if path != "-" {
		file, err := openInput(path)
		if err != nil {
			return fmt.Errorf("focus validate: %w", err)
		}
		defer file.Close()
		in = file
	}
	report, err := focus.Validate(in, v)
	if err != nil {
		return fmt.Errorf("focus validate %s: %w", path, err)
	}
	g := grid{head: []string{"row", "level", "column", "value", "rule"}, right: []bool{true, false, false, false, false}}
	for _, f := range report.Findings {
		row := strconv.Itoa(f.Row)
		if f.Row == 0 {
			row = ""
		}
		g.rows = append(g.rows, []string{row, string(f.Level), f.Column, f.Value, f.Rule})
	}
	broken := report.Broken()
	note := fmt.Sprintf("%s, %s, FOCUS %s", counted(report.Rows, "row"), counted(broken, "finding"), v)
	if n := len(report.Findings) - broken; n > 0 {
		note += fmt.Sprintf("; %d more of what it only recommends", n)
	}
	g.notes = []string{"", note}
	if err := (answer{data: report, grid: g}).print(s.out, output); err != nil {
		return err
	}
	if broken > 0 {
		return found("%s: %s", path, counted(broken, "finding"))
	}
	return nil
}
