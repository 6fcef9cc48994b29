package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/autoscale/report"
	"github.com/goodfleet/goodfleet/pricing"
)

// unknown stands for what is not known: unknown is not zero.
const unknown = "—"

// Formats of an answer.
const (
	asTable = "table"
	asJSON  = "json"
	asYAML  = "yaml"
	asCSV   = "csv"
)

// grid is an answer as rows of text, for tables and CSV.
type grid struct {
	head  []string
	right []bool // columns of numbers
	wrap  int    // column of long texts, from 1, that a table breaks into lines; 0: none
	rows  [][]string
	exact [][]string // rows for CSV, where tables round; nil: the same
	notes []string   // lines below a table
}

// add appends a row of texts and of money: in cents in a table, and as it is in CSV.
func (g *grid) add(cells ...any) {
	var row, exact []string
	for _, cell := range cells {
		switch c := cell.(type) {
		case pricing.Money:
			row, exact = append(row, cents(c.Dollars())), append(exact, c.String())
		case *pricing.Money:
			if c != nil {
				row, exact = append(row, cents(c.Dollars())), append(exact, c.String())
			} else {
				row, exact = append(row, unknown), append(exact, unknown)
			}
		case string:
			row, exact = append(row, c), append(exact, c)
		}
	}
	g.rows, g.exact = append(g.rows, row), append(g.exact, exact)
}

// answer is what a verb found out: as data, and as a grid.
type answer struct {
	data any // marshals to JSON
	grid grid
	more func(w io.Writer) error // what a table is followed by; nil: nothing
}

// checkFormat checks a format against those that a verb can print.
func checkFormat(format string, can ...string) error {
	if !slices.Contains(can, format) {
		return fmt.Errorf("output %q: want %s%s", format, strings.Join(can, ", "), suggestion(format, can))
	}
	return nil
}

// print writes an answer at once: what cannot be written as a whole is not begun.
func (a answer) print(w io.Writer, format string) error {
	var out bytes.Buffer
	var err error
	switch format {
	case asJSON:
		err = document.JSON(&out, a.data, "  ")
	case asYAML:
		var text []byte
		text, err = document.YAML(a.data)
		out.Write(text)
	case asCSV:
		rows := a.grid.rows
		if a.grid.exact != nil {
			rows = a.grid.exact
		}
		err = report.WriteCSV(&out, append([][]string{a.grid.head}, rows...))
	default:
		a.grid.table(&out)
		if a.more != nil {
			var more bytes.Buffer
			err = a.more(&more)
			out.WriteString(document.Lines(more.String()))
		}
	}
	if err != nil {
		return fmt.Errorf("print as %s: %w", format, err)
	}
	_, err = w.Write(out.Bytes())
	return err
}

// wrapAt is the width of a column of long texts, in letters.
const wrapAt = 100

func (g grid) table(w io.Writer) {
	t := report.NewTable()
	row := func(cells []string) table.Row {
		r := make(table.Row, len(cells))
		for i, cell := range cells {
			r[i] = cell
		}
		return r
	}
	var columns []table.ColumnConfig
	for i, right := range g.right {
		if right {
			columns = append(columns, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	if g.wrap > 0 {
		columns = append(columns, table.ColumnConfig{Number: g.wrap, WidthMax: wrapAt, WidthMaxEnforcer: text.WrapSoft})
	}
	t.SetColumnConfigs(columns)
	t.AppendHeader(row(g.head))
	for _, cells := range g.rows {
		t.AppendRow(row(cells))
	}
	fmt.Fprintln(w, report.Rendered(t))
	for _, note := range g.notes {
		for line := range strings.SplitSeq(note, "\n") {
			fmt.Fprintln(w, document.OneLine(line))
		}
	}
}

// progress is a bar on a terminal, and nothing anywhere else.
func progress(w io.Writer, steps int64, what string) *progressbar.ProgressBar {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return progressbar.DefaultSilent(steps)
	}
	return progressbar.NewOptions64(steps,
		progressbar.OptionSetWriter(file), progressbar.OptionSetDescription(what), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100_000_000), progressbar.OptionEnableColorCodes(false))
}

// atMost refuses more words than a verb takes.
func atMost(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return fmt.Errorf("%s takes one %s, got %q too; see %s --help", cmd.CommandPath(), what, args[n], cmd.CommandPath())
		}
		return nil
	}
}

// exactlyOne wants the one word that a verb takes.
func exactlyOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s wants a %s; see %s --help", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return atMost(1, what)(cmd, args)
	}
}

// flagNames lists every flag that a command knows.
func flagNames(cmd *cobra.Command) []string {
	var names []string
	add := func(f *pflag.Flag) { names = append(names, f.Name) }
	cmd.Flags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	return names
}

// writeFile writes a file of an answer as a whole or not at all.
func writeFile(path string, write func(w io.Writer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	next := path + ".new"
	if err := os.WriteFile(next, text.Bytes(), 0o644); err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return errors.Join(err, os.Remove(next))
	}
	return nil
}

// told is what package report knows how to write.
type told interface {
	Table(w io.Writer) error
	JSON(w io.Writer) error
	CSV(w io.Writer) error
}

// writeAs writes a report in a format. YAML is the JSON in other letters.
func writeAs(w io.Writer, format string, r told) error {
	switch format {
	case asJSON:
		return r.JSON(w)
	case asCSV:
		return r.CSV(w)
	case asYAML:
		var text bytes.Buffer
		if err := r.JSON(&text); err != nil {
			return err
		}
		out, err := document.YAML(json.RawMessage(text.Bytes()))
		if err != nil {
			return err
		}
		_, err = w.Write(out)
		return err
	}
	return r.Table(w)
}
