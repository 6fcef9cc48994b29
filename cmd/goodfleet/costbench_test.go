package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// millionCharges hands out at least n charges as a fleet makes them: machines of
// eight accelerators in four zones, on demand and spot, one after the other, each
// carrying two of 1,000 jobs of ten teams for a day, with a spot price that moves.
func millionCharges(tb testing.TB, n int, each func([]ledger.Charge)) {
	begin := time.Date(2026, 1, 1, 0, 10, 0, 0, time.UTC)
	var quotes []pricing.Quote
	offering := func(zone int, market provider.Market) provider.Offering {
		return provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: fmt.Sprintf("use1-az%d", zone), Type: "p4d.24xlarge", Market: market}
	}
	for zone := 1; zone <= 4; zone++ {
		quotes = append(quotes, pricing.Quote{Offering: offering(zone, provider.OnDemand), Rate: 21_957_642_000, At: begin.Add(-time.Hour), Source: "test"})
		for h := range 24 * 40 {
			rate := pricing.Rate(8_000_000_000 + (h*7919+zone*31)%1000*1_000_000)
			quotes = append(quotes, pricing.Quote{Offering: offering(zone, provider.Spot), Rate: rate, At: begin.Add(time.Duration(h-1) * time.Hour), Source: "test"})
		}
	}
	h, err := pricing.NewHistory(quotes, nil)
	if err != nil {
		tb.Fatal(err)
	}
	meter := ledger.NewMeter(h, ledger.Rules{})
	for made, machine := 0, 0; made < n; machine++ {
		market := provider.Spot
		if machine%8 == 0 {
			market = provider.OnDemand
		}
		started := begin.Add(time.Duration(machine%(24*30)) * time.Hour)
		inst := provider.Instance{ID: provider.InstanceID(fmt.Sprintf("i-%017x", machine)), Offering: offering(1+machine%4, market), State: provider.Running, Started: started}
		for round := 1; round <= 24; round++ {
			job := func(i int) ledger.Share {
				j := (machine*2 + i) % 1000
				return ledger.Share{Job: fmt.Sprintf("train-%d", j), Team: fmt.Sprintf("team-%d", j%10), Project: fmt.Sprintf("project-%d", j%37), Accelerators: 4}
			}
			now := started.Add(time.Duration(round) * time.Hour)
			if round == 24 {
				inst.State, inst.Ended, inst.Cause = provider.Ended, now, provider.EndedByUs
			}
			charges := meter.Settle(inst, 8, []ledger.Share{job(0), job(1)}, now, int64(round))
			made += len(charges)
			each(charges)
		}
	}
}

// writeMillion writes a ledger of n charges.
func writeMillion(tb testing.TB, path string, n int) {
	file, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	w := bufio.NewWriterSize(file, 1<<20)
	millionCharges(tb, n, func(charges []ledger.Charge) {
		if err := ledger.Encode(w, charges...); err != nil {
			tb.Fatal(err)
		}
	})
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	if err := file.Close(); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkCostReportOfAMillionCharges runs the command by three dimensions on a
// ledger of a million lines. It prints CPU seconds of a report and the most memory
// that the process had.
func BenchmarkCostReportOfAMillionCharges(b *testing.B) {
	path := filepath.Join(b.TempDir(), "charges.jsonl")
	writeMillion(b, path, 1_000_000)
	benchReport(b, path)
}

// BenchmarkCostReportOfAMillionStored is the same of a store in SQLite.
func BenchmarkCostReportOfAMillionStored(b *testing.B) {
	path := filepath.Join(b.TempDir(), "goodfleet.db")
	storeMillion(b, path, 1_000_000)
	benchReport(b, path)
}

// storeMillion writes a store of n charges.
func storeMillion(tb testing.TB, path string, n int) {
	s, err := openStore(tb.Context(), path, false)
	if err != nil {
		tb.Fatal(err)
	}
	version := int64(0)
	var batch []ledger.Charge
	commit := func() {
		if err := s.Commit(tb.Context(), autoscale.Change{Version: version, Charges: batch}); err != nil {
			tb.Fatal(err)
		}
		version, batch = version+1, batch[:0]
	}
	millionCharges(tb, n, func(charges []ledger.Charge) {
		if batch = append(batch, charges...); len(batch) >= 20_000 {
			commit()
		}
	})
	commit()
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
}

// benchReport runs the command on a ledger; the peak of memory is that of the reports, and
// not of making the ledger.
func benchReport(b *testing.B, path string) {
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		b.Log("the peak holds what the ledger took to make: ", err)
	}
	before := cpuSeconds(b)
	for b.Loop() {
		var out bytes.Buffer
		cfg := costConfig{by: "team,market,day", span: spanFlags{zone: "UTC"}, settings: settings{ledger: path, output: asCSV}}
		if err := runCostReport(b.Context(), &out, cfg, time.Time{}); err != nil {
			b.Fatal(err)
		}
		if rows := strings.Count(out.String(), "\n"); rows < 10*2*28 {
			b.Fatalf("%d rows, want at least 560", rows)
		}
	}
	b.ReportMetric((cpuSeconds(b)-before)/float64(b.N), "CPU-s/op")
	b.ReportMetric(peakMB(b), "MB-peak")
}

// cpuSeconds is what the process has used of the processors so far.
func cpuSeconds(tb testing.TB) float64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		tb.Fatal(err)
	}
	return float64(use.Utime.Nano()+use.Stime.Nano()) / 1e9
}

// peakMB is the most memory that the process had, as Linux counts it.
func peakMB(tb testing.TB) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Skip(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.SplitN(rest, "\n", 2)[0], "kB")), 64)
	if err != nil {
		tb.Fatal(err)
	}
	return kb * 1024 / 1e6
}
