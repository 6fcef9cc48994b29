package pricing

import (
	"fmt"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// Columns of the TPU list.
const (
	tpuVersion = iota
	tpuRegion
	tpuZone
	tpuUnit
	tpuOnDemand
	tpuSpot
	tpuSourceColumn
)

// The day of the newer TPU list is as little known as that of the AWS one.
var tpuV8Day = awsListV8Day

// readTPU reads TPU prices: per chip, or per slice of 8 or 32 TensorCores. Prices
// of slices hold for a pod's larger slices by the chip, as Google bills them; the
// single host of 8 cores (a "device") has a price of its own.
//
// Rows without a zone come from another list: each of its regions is covered by
// zones here, and its spot prices of v2, v3 and v4 lie above its on-demand prices.
// They are left out.
func (l *loader) readTPU() error {
	const file = "gcp_tpu_prices.csv"
	t, err := embeddedTable(file, "tpu_version,region,zone,unit,ondemand_usd_per_hour,spot_usd_per_hour,source")
	if err != nil {
		return err
	}
	report := FileReport{File: file, Source: "SkyPilot catalogue v5 2024-04-30 and v8 at 006059e0", At: tpuV8Day, Prices: 2 * len(t.rows)}
	seen := map[string]bool{}
	for i, row := range t.rows {
		if row[tpuZone] == "" {
			report.LeftOut += 2
			continue
		}
		key := strings.Join(row, "\x00")
		if seen[key] {
			for _, price := range []int{tpuOnDemand, tpuSpot} {
				report.Refused = append(report.Refused, Refusal{
					File: file, Line: i + 2, Field: t.columns[price], Text: row[price], Reason: Repeated, Detail: row[tpuVersion] + " in " + row[tpuZone],
				})
			}
			continue
		}
		seen[key] = true
		at, from, source := tpuV8Day, time.Time{}, row[tpuSourceColumn]+", day not known, taken as 2025-12-31"
		if strings.HasSuffix(row[tpuSourceColumn], "2024-04-30") {
			at, from, source = gpuDay, l.start, row[tpuSourceColumn]
		}
		for m, market := range markets {
			rate, ok := t.use(&report, i, tpuOnDemand+m)
			if !ok {
				continue
			}
			for _, typ := range l.catalogue.WithAccelerator("TPU " + row[tpuVersion]) {
				total, ok, err := tpuSliceRate(rate, row[tpuUnit], typ)
				if err != nil {
					return fmt.Errorf("data/%s:%d: %w", file, i+2, err)
				}
				if ok {
					o := provider.Offering{Cloud: "gcp", Region: row[tpuRegion], Zone: row[tpuZone], Type: typ.Name, Market: market}
					l.list(o, total, source, at, from)
				}
			}
		}
	}
	l.reports = append(l.reports, report)
	return nil
}

// tpuSliceRate is the price of a whole slice of a type, from a price per unit. ok
// is false when the unit does not price that slice.
func tpuSliceRate(rate Rate, unit string, t provider.InstanceType) (total Rate, ok bool, err error) {
	const deviceChips, podChips = 4, 16 // of 8 and 32 TensorCores
	switch unit {
	case "chip":
		return rate.Times(t.Count), true, nil
	case "slice-8":
		return rate, t.Count == deviceChips, nil
	case "slice-32":
		if t.Count < podChips {
			return 0, false, nil
		}
		if rate%podChips != 0 {
			return 0, false, fmt.Errorf("%s is no whole number of nano dollars a chip", rate)
		}
		return (rate / podChips).Times(t.Count), true, nil
	}
	return 0, false, fmt.Errorf("unit %q: want chip, slice-8 or slice-32", unit)
}
