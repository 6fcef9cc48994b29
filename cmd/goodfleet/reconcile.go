package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/focus"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// reconcileConfig is what cost-report reconcile is asked.
type reconcileConfig struct {
	settings settings
	rates    []string
	worst    int
	apply    bool
	came     string
}

func newCostReconcile(s streams) *cobra.Command {
	cfg := reconcileConfig{}
	cmd := &cobra.Command{
		Use:   "reconcile FILE",
		Short: "Hold the ledger against a bill or a spot feed, and correct it",
		Long: `Hold the ledger against FILE, a bill in FOCUS 1.0 to 1.2 (CSV) or a file of the EC2 spot
data feed, either of them also compressed by gzip: the error of the estimate for each
account, and the worst lines. With --apply, lines that correct it are appended to the
ledger. The same bill again, under any name, changes nothing; a changed one replaces what it
said. A row that stands twice in it, alike in every column, counts once.

A row is matched by what it is of and its resource: a machine by its id, also at the end of an
ARN or a path; disks, addresses and traffic by the names that the ledger has for them, as
i-1/disk-gp3, which only focus export writes. A cloud's own disk (vol-...) or traffic under its
network service matches nothing: it is booked to overhead, and what the ledger estimated of
disks and traffic stays, counted as on no line of the bill. Keep one of the two: leave disks
and addresses out of the settings, or such rows out of the bill. Traffic that a bill files
under compute with a machine's id is added to that machine, and borne by who holds it.`,
		Example: `  goodfleet cost-report reconcile bill.csv
  goodfleet cost-report reconcile 111122223333.2026-11-03-19.001.gz --apply
  goodfleet cost-report reconcile bill.csv --rate EUR=1.0870@2026-11-30 --worst 20 -o json`,
		Args: exactlyOne("FILE"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if cfg.settings, err = readSettings(cmd); err != nil {
				return err
			}
			return runCostReconcile(s.out, cfg, args[0], time.Now())
		},
	}
	addSettings(cmd, "ledger", "out", "output")
	cmd.Flags().StringArrayVar(&cfg.rates, "rate", nil, "what another currency is worth in USD, and of which day: EUR=1.0870@2026-11-30")
	cmd.Flags().IntVar(&cfg.worst, "worst", 5, "how many lines to show, largest error first")
	cmd.Flags().BoolVar(&cfg.apply, "apply", false, "append the corrections to the ledger")
	cmd.Flags().StringVar(&cfg.came, "came", "", "day or instant at which the bill came (default now)")
	return cmd
}

func runCostReconcile(w io.Writer, cfg reconcileConfig, path string, now time.Time) error {
	if cfg.worst < 0 {
		return fmt.Errorf("--worst %d: want 0 or more", cfg.worst)
	}
	var conversions []focus.Conversion
	for _, text := range cfg.rates {
		c, err := focus.ParseConversion(text)
		if err != nil {
			return fmt.Errorf("--rate: %w", err)
		}
		conversions = append(conversions, c)
	}
	if cfg.came != "" {
		var err error
		if now, err = instant("came", cfg.came); err != nil {
			return err
		}
	}
	charges, err := readLedger(cfg.settings.ledger)
	if err != nil {
		return err
	}
	facts, skipped, err := readBill(path, conversions)
	if err != nil {
		return err
	}
	r := ledger.Reconcile(charges, facts, now, filepath.Base(path))
	if err := reconciled(cfg, r, skipped).print(w, cfg.settings.output); err != nil {
		return err
	}
	if !cfg.apply || len(r.Corrections) == 0 {
		return nil
	}
	for i := range r.Corrections { // what is appended can be read again
		if err := r.Corrections[i].Check(); err != nil {
			return fmt.Errorf("a correction of %s cannot be booked: %w", r.Corrections[i].Instance, err)
		}
	}
	if err := ledger.Check(append(charges, r.Corrections...)); err != nil {
		return fmt.Errorf("the bill would leave the ledger unsound: %w", err)
	}
	return appendLedger(cfg.settings.ledger, r.Corrections)
}

// readBill reads either kind of file.
func readBill(path string, conversions []focus.Conversion) (facts []ledger.Fact, skipped int, err error) {
	file, err := openInput(path)
	if err != nil {
		return nil, 0, fmt.Errorf("bill: %w", err)
	}
	defer file.Close()
	in := bufio.NewReader(file)
	if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
		packed, err := gzip.NewReader(in)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", path, err)
		}
		in = bufio.NewReader(packed)
	}
	head, _ := in.Peek(64)
	if ledger.IsSpotFeed(head) {
		facts, err = ledger.ReadSpotFeed(in)
	} else {
		facts, skipped, err = focus.Read(in, conversions...)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	return facts, skipped, nil
}

// reconciledAccount is the error of one account, for programs.
type reconciledAccount struct {
	Account ledger.Account `json:"account"`
	Booked  pricing.Money  `json:"booked"`
	Billed  pricing.Money  `json:"billed"`
	Error   pricing.Money  `json:"error"`
}

type reconciledLine struct {
	Line     int           `json:"line"`
	Resource string        `json:"resource"`
	From     time.Time     `json:"from"`
	Booked   pricing.Money `json:"booked"`
	Known    bool          `json:"known"`
	Billed   pricing.Money `json:"billed"`
	Error    pricing.Money `json:"error"`
	Says     string        `json:"says"`
}

// reconciled is the answer: accounts, then the worst lines.
func reconciled(cfg reconcileConfig, r ledger.Reconciliation, skipped int) answer {
	data := struct {
		Accounts    []reconciledAccount `json:"accounts"`
		Worst       []reconciledLine    `json:"worst"`
		Lines       int                 `json:"lines"`
		Skipped     int                 `json:"skipped"`
		Unbilled    int                 `json:"unbilled_lines"`
		Corrections int                 `json:"corrections"`
		Applied     bool                `json:"applied"`
	}{[]reconciledAccount{}, []reconciledLine{}, len(r.Differences), skipped, len(r.Unbilled), len(r.Corrections), cfg.apply}
	g := grid{head: []string{"account", "booked USD", "billed USD", "error USD", "error %"}, right: []bool{false, true, true, true, true}}
	var booked, billed, unbilled pricing.Money
	row := func(name string, booked, billed pricing.Money) []string {
		share := unknown
		if billed != 0 {
			share = fmt.Sprintf("%.2f", 100*(booked-billed).Dollars()/billed.Dollars())
		}
		return []string{name, booked.String(), billed.String(), (booked - billed).String(), share}
	}
	for _, a := range r.Accounts {
		data.Accounts = append(data.Accounts, reconciledAccount{a.Account, a.Booked, a.Billed, a.Booked - a.Billed})
		g.rows = append(g.rows, row(string(a.Account), a.Booked, a.Billed))
		booked, billed = booked+a.Booked, billed+a.Billed
	}
	g.rows = append(g.rows, row("all", booked, billed))
	for _, d := range r.Differences[:min(len(r.Differences), cfg.worst)] {
		if d.Error() != 0 || !d.Known {
			data.Worst = append(data.Worst, reconciledLine{d.Line, string(d.Instance), d.From.UTC(), d.Booked, d.Known, d.Amount, -d.Error(), d.Says})
		}
	}
	for _, c := range r.Unbilled {
		unbilled += c.Amount
	}
	g.notes = []string{""}
	for _, l := range data.Worst {
		was := l.Booked.String()
		if !l.Known {
			was = "not known"
		}
		g.notes = append(g.notes, strings.TrimRight(fmt.Sprintf("line %d: %s from %s: booked %s, billed %s  %s", l.Line, l.Resource, l.From.Format("2006-01-02 15:04:05"), was, l.Billed, l.Says), " "))
	}
	g.notes = append(g.notes, fmt.Sprintf("%s of usage; %s left out; on no line of the bill: %s (%s USD).", counted(len(r.Differences), "line"), numbered(skipped, "other was", "others were"), counted(len(r.Unbilled), "line")+" of the ledger", unbilled))
	switch {
	case len(r.Corrections) == 0:
		g.notes = append(g.notes, "Nothing to correct.")
	case cfg.apply:
		g.notes = append(g.notes, fmt.Sprintf("%s appended to the ledger.", numbered(len(r.Corrections), "correction was", "corrections were")))
	default:
		g.notes = append(g.notes, fmt.Sprintf("%s; --apply appends to the ledger.", counted(len(r.Corrections), "correction")))
	}
	return answer{data: data, grid: g}
}

// appendLedger adds charges to the end of a ledger. Its lines are written at once:
// one that was cut would be refused by the next reading, and can be taken off.
func appendLedger(path string, charges []ledger.Charge) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	if isStore(file) {
		return errors.Join(file.Close(), appendStored(path, charges))
	}
	var text strings.Builder
	if err := ledger.Encode(&text, charges...); err != nil {
		file.Close()
		return err
	}
	_, err = io.WriteString(file, text.String())
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}
