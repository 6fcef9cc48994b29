package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/report"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// drawLedger draws charges of every kind that add up, each machine with a few of them.
func drawLedger(t *rapid.T) (charges []ledger.Charge) {
	pick := func(name string, words ...string) string { return rapid.SampledFrom(words).Draw(t, name) }
	begin := time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC) // clocks skip an hour in Europe, and did in America three weeks before
	for machine := range rapid.IntRange(0, 12).Draw(t, "machines") {
		of := rapid.SampledFrom([]int{1, 3, 8}).Draw(t, "of")
		minutes := rapid.IntRange(1, 3000)
		from := begin.Add(time.Duration(minutes.Draw(t, "from")) * time.Minute)
		c := ledger.Charge{
			ID: fmt.Sprintf("%d/use", machine), Kind: ledger.Usage, Instance: provider.InstanceID(fmt.Sprintf("i-%d", machine)), Run: 1,
			Offering: provider.Offering{
				Cloud: pick("cloud", "aws", "gcp"), Region: pick("region", "r1", "r2"), Zone: pick("zone", "z1", "z2"), Type: pick("type", "a", "b"),
				Market: rapid.SampledFrom([]provider.Market{provider.OnDemand, provider.Spot}).Draw(t, "market"),
			},
			From: from, To: from.Add(time.Duration(minutes.Draw(t, "time")) * time.Minute),
			Account: ledger.ToJob, Job: pick("job", "j1", "j2"), Team: pick("team", "", "red", "blue"), Project: pick("project", "", "p"),
			Share: rapid.IntRange(1, of).Draw(t, "share"), Of: of,
			Rate: pricing.Rate(rapid.Int64Range(0, 40_000_000_000).Draw(t, "rate")), List: pricing.Rate(rapid.SampledFrom([]int64{0, 1, 32_772_600_000}).Draw(t, "list")),
			Known: rapid.IntRange(0, 5).Draw(t, "known") > 0, Prepaid: rapid.IntRange(0, 5).Draw(t, "prepaid") == 0,
			Round: rapid.Int64Range(0, 12).Draw(t, "round"),
		}
		if rapid.IntRange(0, 3).Draw(t, "discounted") == 0 {
			c.Public = c.Rate + 1_000
		}
		if rapid.IntRange(0, 4).Draw(t, "item") == 0 {
			c.Item, c.Quantity, c.Per = ledger.Disk, 200, 744*time.Hour
		}
		cost := float64(c.Rate) * float64(c.Share) / float64(of) * float64(c.To.Sub(c.From)) / float64(max(c.Per, time.Hour))
		if c.Known {
			c.Amount = pricing.Money(cost)
		}
		charges = append(charges, c)
		id := func(d ledger.Charge, name string) ledger.Charge {
			d.ID, d.Note = fmt.Sprintf("%d/%s", machine, name), name
			return d
		}
		switch pick("then", "", "moved", "taken back", "corrected", "credited", "bought ahead") {
		case "moved":
			out, into := id(c, "out"), id(c, "in")
			out.Kind, out.Share, out.Amount = ledger.Transfer, -c.Share, -c.Amount
			into.Kind, into.Account = ledger.Transfer, ledger.ToWaste
			charges = append(charges, out, into)
		case "taken back":
			back := id(c, "back")
			back.Kind, back.Share, back.Amount = ledger.Reversal, -c.Share, -c.Amount
			charges = append(charges, back)
		case "corrected":
			bill := id(c, "bill")
			bill.Kind, bill.Share, bill.Known, bill.Invoiced = ledger.Correction, 0, true, begin.AddDate(0, 1, 0)
			bill.Amount = pricing.Money(rapid.Int64Range(0, 1_000_000_000).Draw(t, "correction"))
			charges = append(charges, bill)
		case "credited":
			gift := id(c, "gift")
			gift.Kind, gift.Account, gift.Known, gift.Amount = ledger.Credit, ledger.Credits, true, -1-c.Amount/3
			charges = append(charges, gift)
		case "bought ahead":
			paid := id(c, "paid")
			paid.Kind, paid.Amount, paid.Price, paid.Known = ledger.Purchase, 0, 7_000_000_000, true
			charges = append(charges, paid)
		}
	}
	return charges
}

// Sums that are collected while a file or a store is read, without what they do not need, are
// those of all charges at once: every column, by any dimensions, of any window.
func TestSumsOfAReaderAreThoseOfAllCharges(t *testing.T) {
	folder := t.TempDir()
	draws := 0
	rapid.Check(t, func(t *rapid.T) {
		charges := drawLedger(t)
		for i := range charges {
			if err := charges[i].Check(); err != nil {
				t.Fatalf("drawn charge: %v", err)
			}
		}
		draws++
		file, database := filepath.Join(folder, fmt.Sprint(draws, ".jsonl")), filepath.Join(folder, fmt.Sprint(draws, ".db"))
		var text bytes.Buffer
		if err := ledger.Encode(&text, charges...); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		storeCharges(t, database, charges)

		zone := rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu"}).Draw(t, "reader's zone")
		window := rapid.SampledFrom([]spanFlags{{}, {from: "2026-03-29"}, {to: "2026-03-30"}, {from: "2026-03-29T01:07:00Z", to: "2026-03-30T00:00:01Z"}}).Draw(t, "window")
		window.zone = zone
		by := rapid.SliceOfNDistinct(rapid.SampledFrom(ledger.Dimensions()), 0, 4, func(d ledger.Dimension) ledger.Dimension { return d }).Draw(t, "by")
		form := rapid.SampledFrom([]string{asCSV, asJSON, asTable}).Draw(t, "form")
		want := reportOfAll(t, charges, window, by, form)
		var words []string
		for _, d := range by {
			words = append(words, d.String())
		}
		for _, path := range []string{file, database} {
			var out bytes.Buffer
			cfg := costConfig{by: strings.Join(words, ","), span: window, settings: settings{ledger: path, output: form}}
			if err := runCostReport(t.Context(), &out, cfg, time.Time{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, out.String()); diff != "" {
				t.Fatalf("%s by %v: all at once (-), read (+):\n%s", path, by, diff)
			}
		}
	})
}

// reportOfAll is a report that holds all charges.
func reportOfAll(t *rapid.T, charges []ledger.Charge, window spanFlags, by []ledger.Dimension, form string) string {
	span, err := window.read(time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	config := report.CostConfig{From: span.from, To: span.to, Zone: span.zone, By: by}
	for i := range charges {
		if part, ok := charges[i].Within(span.from, span.to); ok {
			config.Charges = append(config.Charges, part)
		}
	}
	var out bytes.Buffer
	if err := writeAs(&out, form, report.NewCost(config)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// storeCharges writes a store.
func storeCharges(t interface{ Fatal(args ...any) }, path string, charges []ledger.Charge) {
	ctx := context.Background()
	s, err := openStore(ctx, path, false)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := s.Load(ctx)
	if err == nil {
		err = s.Commit(ctx, autoscale.Change{Version: snap.Version, Charges: charges})
	}
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
}

// A store is no less held to what a charge can be than a file, and says which it is.
func TestStoredChargesAreChecked(t *testing.T) {
	var charges []ledger.Charge
	millionCharges(t, 100, func(c []ledger.Charge) { charges = append(charges, c...) })
	for _, tt := range []struct {
		name  string
		spoil func(c *ledger.Charge)
		want  string
	}{
		{"kind that does not exist", func(c *ledger.Charge) { c.Kind = "gift" }, `kind: "gift"`},
		{"amount that is not its rate", func(c *ledger.Charge) { c.Amount += 5000 }, "amount: "},
		{"negative rate", func(c *ledger.Charge) { c.Rate = -c.Rate }, "rate: "},
		{"time that ends before it begins", func(c *ledger.Charge) { c.To = c.From.Add(-time.Hour) }, "to: "},
		{"instance without a name", func(c *ledger.Charge) { c.Instance = "" }, "instance: is missing"},
		{"more accelerators than there are", func(c *ledger.Charge) { c.Share, c.Amount = 2*c.Share, 2*c.Amount }, "accelerators are held"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spoilt := append([]ledger.Charge(nil), charges...)
			tt.spoil(&spoilt[7])
			path := filepath.Join(t.TempDir(), "goodfleet.db")
			storeCharges(t, path, spoilt)
			for _, by := range []string{"team,day", "round"} {
				var out bytes.Buffer
				err := runCostReport(t.Context(), &out, costConfig{by: by, span: spanFlags{zone: "UTC"}, settings: settings{ledger: path, output: asCSV}}, time.Time{})
				if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) || out.Len() > 0 {
					t.Errorf("by %s: %v, want the file and %q", by, err, tt.want)
				}
				if err != nil && !strings.Contains(err.Error(), spoilt[7].ID) && !strings.Contains(err.Error(), "instance i-") {
					t.Errorf("by %s: %v does not name the charge", by, err)
				}
			}
		})
	}
}
