package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/pricing"
)

// beaten marks a cell in which another variant is better than the subject.
const beaten = "▲"

// textTable is a table for people: what stands in its cells steers no terminal.
type textTable struct{ table.Writer }

// AppendHeader adds a row to the head.
func (t textTable) AppendHeader(row table.Row, config ...table.RowConfig) {
	t.Writer.AppendHeader(plainRow(row), config...)
}

// AppendRow adds a row.
func (t textTable) AppendRow(row table.Row, config ...table.RowConfig) {
	t.Writer.AppendRow(plainRow(row), config...)
}

// AppendFooter adds a row to the foot.
func (t textTable) AppendFooter(row table.Row, config ...table.RowConfig) {
	t.Writer.AppendFooter(plainRow(row), config...)
}

func plainRow(row table.Row) table.Row {
	plain := make(table.Row, len(row))
	for i, cell := range row {
		plain[i] = document.OneLine(fmt.Sprint(cell))
	}
	return plain
}

// WriteCSV writes rows whose cells hold no control characters and begin no formula: a
// terminal that shows the file is not steered by a name in it, and a spreadsheet does not
// reckon with one. A cell that would be a formula gets an apostrophe before it.
func WriteCSV(w io.Writer, rows [][]string) error {
	plain := make([][]string, len(rows))
	for i, row := range rows {
		plain[i] = make([]string, len(row))
		for k, cell := range row {
			plain[i][k] = noFormula(document.OneLine(cell))
		}
	}
	return csv.NewWriter(w).WriteAll(plain)
}

// noFormula is a cell as a spreadsheet takes it for text, or for the number that it is.
func noFormula(cell string) string {
	if cell == "" || !strings.ContainsRune("=+-@", rune(cell[0])) {
		return cell
	}
	if _, err := strconv.ParseFloat(strings.TrimSuffix(cell, " %"), 64); err == nil {
		return cell
	}
	return "'" + cell
}

// NewTable is an empty table in the one style that all tables have.
func NewTable() table.Writer {
	t := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	style.Format.Footer = text.FormatDefault
	style.Options.DrawBorder = false
	style.Options.SeparateColumns = false
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	t.SetStyle(style)
	return textTable{t}
}

// Rendered is a table without blanks at the ends of its lines.
func Rendered(t table.Writer) string {
	lines := strings.Split(t.Render(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// Table writes a comparison for a terminal, with the figures in which the subject
// loses marked and said in words.
func (c Comparison) Table(w io.Writer) error {
	t := NewTable()
	heads, units := table.Row{"", "interruptions"}, table.Row{"", ""}
	align := []table.ColumnConfig{{Number: 2, Align: text.AlignRight, AlignHeader: text.AlignRight}}
	for i, f := range c.upTo(terminal) {
		heads, units = append(heads, f.title()), append(units, f.unit)
		align = append(align, table.ColumnConfig{Number: i + 3, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.AppendHeader(heads)
	t.AppendHeader(units)
	t.SetColumnConfigs(align)
	marked := false
	for i, o := range c.outcomes {
		if i > 0 && o.Variant != c.outcomes[i-1].Variant {
			t.AppendSeparator()
		}
		name := ""
		if i == 0 || o.Variant != c.outcomes[i-1].Variant {
			name = o.Variant
		}
		row := table.Row{name, scenario(o)}
		for _, f := range c.upTo(terminal) {
			cell := f.text(o)
			if s, held := c.subject(o); held && f.beats(o, s) {
				cell, marked = beaten+" "+cell, true
			}
			row = append(row, cell)
		}
		t.AppendRow(row)
	}
	lines := []string{Rendered(t)}
	if marked {
		lines = append(lines, "", fmt.Sprintf("%s better than %s under the same interruptions", beaten, c.outcomes[0].Variant))
	}
	lines = append(lines, "")
	lines = append(lines, c.Sentences()...)
	lines = append(lines, c.Notes()...)
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return fmt.Errorf("comparison table: %w", err)
		}
	}
	return nil
}

// Notes says how the figures are meant.
func (c Comparison) Notes() []string {
	first := c.outcomes[0]
	notes := []string{fmt.Sprintf(
		"Goodput per USD: work done, in hours that it takes on one %s at each job's smallest gang, over all that was paid (idle, boot and waste included).", first.Reference)}
	unfinished, unknownRate, estimated, egress := false, false, false, pricing.Money(0)
	for _, o := range c.outcomes {
		unfinished = unfinished || o.Unfinished > 0
		unknownRate = unknownRate || o.UnknownHours > 0
		egress = max(egress, o.Egress)
		estimated = estimated || o.EstimatedThroughput
	}
	if unfinished {
		notes = append(notes, "≥: jobs that had not ended count with their age so far, so the true figure is higher.")
	}
	if unknownRate {
		notes = append(notes, "Some machine-hours have no known rate: their cost is a lower bound.")
	}
	if egress > 0 {
		notes = append(notes, fmt.Sprintf("Cost has moving data and checkpoints between regions in it, at list prices: up to %s USD.", dollars(egress)))
	}
	if estimated {
		notes = append(notes, "Throughputs are estimated: derived from peak speed and memory bandwidth of the hardware, not measured.")
	}
	return notes
}

// comparisonJSON is the form in which programs read a comparison.
type comparisonJSON struct {
	APIVersion string        `json:"apiVersion"`
	Kind       string        `json:"kind"`
	Currency   string        `json:"currency"`
	Losses     []Loss        `json:"losses"`
	Outcomes   []sim.Outcome `json:"outcomes"`
}

// JSON writes the whole comparison: money as exact decimal text, unknown as null
// or left out.
func (c Comparison) JSON(w io.Writer) error {
	losses := c.Losses()
	if losses == nil {
		losses = []Loss{}
	}
	if err := document.JSON(w, comparisonJSON{"goodfleet/v1", "Comparison", "USD", losses, c.outcomes}, " "); err != nil {
		return fmt.Errorf("comparison: %w", err)
	}
	return nil
}

// CSV writes one line for each outcome with every figure, unrounded; a value
// that is not known is empty.
func (c Comparison) CSV(w io.Writer) error {
	head := []string{"variant", "hazard_scale"}
	for _, f := range c.figures {
		head = append(head, f.key)
	}
	rows := [][]string{head}
	for _, o := range c.outcomes {
		row := []string{o.Variant, strconv.FormatFloat(o.HazardScale, 'g', -1, 64)}
		for _, f := range c.figures {
			cell := ""
			if v, ok := f.of(o); ok {
				cell = strconv.FormatFloat(v, 'f', -1, 64)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	if err := WriteCSV(w, rows); err != nil {
		return fmt.Errorf("comparison: %w", err)
	}
	return nil
}
