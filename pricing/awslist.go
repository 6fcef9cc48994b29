package pricing

import (
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

const awsColumns = "instance_type,accelerator_name,accelerator_count,accelerator_memory_mib,vcpus,memory_gib,region,zone_id,ondemand_usd_per_hour,spot_usd_per_hour"

// Columns of the AWS lists.
const (
	awsTypeColumn     = 0
	awsRegionColumn   = 6
	awsZoneColumn     = 7
	awsOnDemandColumn = 8
	awsSpotColumn     = 9
)

var (
	awsListDay = time.Date(2024, 5, 1, 14, 14, 0, 0, time.UTC)

	// The commit of the newer list is known, its day is not: its prices are later
	// than those of June 2025 and earlier than July 2026.
	awsListV8Day = time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC)

	karpenterDay = time.Date(2026, 7, 20, 13, 44, 30, 0, time.UTC)
)

// readAWS2024 reads the list of all zones on the last day of the spot history. Its
// spot prices count where the history has none.
func (l *loader) readAWS2024() error {
	return l.readAWSList("aws_vms_2024-05-01.csv.gz", "SkyPilot catalogue v5 aws/vms.csv at 0922fecb, 2024-05-01", awsListDay, true)
}

// readAWSv8 reads the newer list of the large types.
func (l *loader) readAWSv8() error {
	return l.readAWSList("aws_vms_v8_partial.csv", "SkyPilot catalogue v8 aws/vms.csv at 00148f2a, day not known, taken as 2025-12-31", awsListV8Day, false)
}

func (l *loader) readAWSList(file, source string, at time.Time, onHistory bool) error {
	t, err := embeddedTable(file, awsColumns)
	if err != nil {
		return err
	}
	report := FileReport{File: file, Source: source, At: at, Prices: 2 * len(t.rows)}
	for i, row := range t.rows {
		typ, known := l.catalogue.Lookup("aws", row[awsTypeColumn])
		if !known {
			report.LeftOut += 2
			continue
		}
		o := provider.Offering{Cloud: "aws", Region: row[awsRegionColumn], Zone: row[awsZoneColumn], Type: row[awsTypeColumn], Market: provider.OnDemand}
		if rate, ok := t.use(&report, i, awsOnDemandColumn); ok {
			var from time.Time
			if onHistory {
				from = l.awsSince(typ)
			}
			l.list(o, rate, source, at, from)
		}
		o.Market = provider.Spot
		if _, replayed := l.set.index[o]; onHistory && replayed {
			report.LeftOut++ // the history ends with this very price
			continue
		}
		if rate, ok := t.use(&report, i, awsSpotColumn); ok {
			l.list(o, rate, source, at, time.Time{})
		}
	}
	l.reports = append(l.reports, report)
	return nil
}

// awsSince is when a type was first seen on sale: in the spot history itself, or
// at the first price of its accelerator. Zero: not before its list.
func (l *loader) awsSince(t provider.InstanceType) time.Time {
	if at, ok := l.firstType[t.Name]; ok {
		return at
	}
	return l.firstDevice[t.Accelerator]
}

// readKarpenter reads on-demand prices by region. The partition of the US
// government is left out (it takes accounts of its own); China's prices are in
// yuan and are refused.
func (l *loader) readKarpenter() error {
	const file = "aws_ondemand_karpenter_2026-07.csv"
	const source = "karpenter-provider-aws 1d927085 zz_generated.pricing, 2026-07-20"
	t, err := embeddedTable(file, "region,instance_type,ondemand_per_hour,currency,generated_at")
	if err != nil {
		return err
	}
	report := FileReport{File: file, Source: source, At: karpenterDay, Prices: len(t.rows)}
	for i, row := range t.rows {
		region, name := row[0], row[1]
		if row[3] != currency {
			report.Refused = append(report.Refused, Refusal{File: file, Line: i + 2, Field: "currency", Text: row[3], Reason: Foreign, Detail: name + " in " + region})
			continue
		}
		if _, known := l.catalogue.Lookup("aws", name); !known || strings.HasPrefix(region, "us-gov-") {
			report.LeftOut++
			continue
		}
		rate, ok := t.use(&report, i, 2)
		if !ok {
			continue
		}
		o := provider.Offering{Cloud: "aws", Region: region, Type: name, Market: provider.OnDemand}
		zones := l.zones(region, name)
		for _, o.Zone = range zones {
			l.list(o, rate, source, karpenterDay, time.Time{})
		}
		if len(zones) == 0 {
			o.Zone = region
			l.list(o, rate, source+"; zone not known", karpenterDay, time.Time{})
		}
	}
	l.reports = append(l.reports, report)
	return nil
}

// use reads a price and books in the report what became of it.
func (t *table) use(report *FileReport, row, column int) (rate Rate, ok bool) {
	rate, refusal := t.price(row, column)
	switch {
	case refusal == nil:
		report.Kept++
		return rate, true
	case refusal.Reason == Empty:
		report.Absent++
	default:
		report.Refused = append(report.Refused, *refusal)
	}
	return 0, false
}
