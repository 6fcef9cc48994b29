package pricing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

const (
	gcostsSource = "Cyclenerd gcosts fd66b26f pricing.yml, 2026-07-30"
	gpuSource    = "SkyPilot catalogue v5 gcp/vms.csv at 93d54022, 2024-04-30"
)

var (
	gcostsDay  = time.Date(2026, 7, 30, 0, 0, 0, 0, time.UTC)
	gpuDay     = time.Date(2024, 4, 30, 0, 0, 0, 0, time.UTC)
	regionsDay = time.Date(2026, 8, 17, 0, 0, 0, 0, time.UTC)
)

// markets are the two that the lists price, in the order of their columns.
var markets = [2]provider.Market{provider.OnDemand, provider.Spot}

// part is a price in both markets of something that is sold in a place.
type part struct {
	region, zone string
	line         int
	rate         [2]Rate // by market; 0: absent
}

// gcpParts are the pieces that GCP machines are priced from.
type gcpParts struct {
	gpus    map[string][]part // "V100x2" → zones
	devices map[string][]part // "V100" → zones of any count
	hosts   map[string][]part // "n1-standard-8" → regions
	sold    map[string]bool   // "V100 us-central1": the accelerator is on the newest list of regions
}

// readGCP reads the machines with built-in GPUs and joins N1 hosts with attached
// GPUs.
func (l *loader) readGCP() error {
	p := gcpParts{gpus: map[string][]part{}, devices: map[string][]part{}, hosts: map[string][]part{}, sold: map[string]bool{}}
	for _, read := range []func(*gcpParts) error{l.readGPUs, l.readHosts, l.readRegions} {
		if err := read(&p); err != nil {
			return err
		}
	}
	if err := l.readGCPMachines(&p); err != nil {
		return err
	}
	for _, t := range l.catalogue.Types() {
		if host, gpu, ok := strings.Cut(t.Name, "+"); ok && t.Cloud == "gcp" {
			if err := l.join(t, host, gpu, &p); err != nil {
				return err
			}
		}
	}
	return nil
}

// readGPUs reads the price of GPUs alone, by zone.
func (l *loader) readGPUs(p *gcpParts) error {
	const file = "gcp_gpu_only_2024-04-30.csv"
	t, err := embeddedTable(file, "accelerator_name,accelerator_count,region,zone,ondemand_usd_per_hour_gpu_only,spot_usd_per_hour_gpu_only")
	if err != nil {
		return err
	}
	report := FileReport{File: file, Source: gpuSource, At: gpuDay, Prices: 2 * len(t.rows)}
	for i, row := range t.rows {
		one := part{region: row[2], zone: row[3], line: i + 2}
		p.devices[row[0]] = append(p.devices[row[0]], one)
		if _, attached := attachedGPUs[row[0]]; attached {
			for m := range markets {
				one.rate[m], _ = t.use(&report, i, 4+m)
			}
		} else {
			report.LeftOut += 2 // GPUs that are built in: only their zones are used
		}
		key := row[0] + "x" + row[1]
		p.gpus[key] = append(p.gpus[key], one)
	}
	l.reports = append(l.reports, report)
	return nil
}

// attachedGPUs are those sold beside an N1 host, with their names in the list of
// regions.
var attachedGPUs = map[string]string{
	"K80": "nvidia-tesla-k80", "P100": "nvidia-tesla-p100", "V100": "nvidia-tesla-v100",
	"T4": "nvidia-tesla-t4", "P4": "nvidia-tesla-p4",
}

// readHosts reads the price of N1 hosts without GPU, by region.
func (l *loader) readHosts(p *gcpParts) error {
	const file = "gcp_n1_hosts_2026-07-30.csv"
	t, err := embeddedTable(file, "machine_type,vcpus,memory_gb,region,ondemand_usd_per_hour,spot_usd_per_hour")
	if err != nil {
		return err
	}
	report := FileReport{File: file, Source: gcostsSource, At: gcostsDay, Prices: 2 * len(t.rows)}
	for i, row := range t.rows {
		one := part{region: row[3], line: i + 2}
		for m := range markets {
			one.rate[m], _ = t.use(&report, i, 4+m)
		}
		p.hosts[row[0]] = append(p.hosts[row[0]], one)
	}
	l.reports = append(l.reports, report)
	return nil
}

// readRegions reads which region has which accelerator.
func (l *loader) readRegions(p *gcpParts) error {
	t, err := embeddedTable("gcp_accelerator_regions_2026-08.csv", "accelerator_type,region")
	if err != nil {
		return err
	}
	for _, row := range t.rows {
		p.sold[row[0]+" "+row[1]] = true
	}
	return nil
}

// readGCPMachines reads the machines with built-in GPUs. The list is by region:
// each of its zones that holds the accelerator gets the price, and where none is
// known the region stands for its zones.
func (l *loader) readGCPMachines(p *gcpParts) error {
	const file = "gcp_accel_vms_2026-07-30.csv"
	t, err := embeddedTable(file, "cloud,machine_type,accelerator_name,accelerator_count,accelerator_memory_mib,vcpus,memory_gb,local_ssd_gb,region,ondemand_usd_per_hour,spot_usd_per_hour,flag")
	if err != nil {
		return err
	}
	report := FileReport{File: file, Source: gcostsSource, At: gcostsDay, Prices: 2 * len(t.rows)}
	for i, row := range t.rows {
		name, device, count, region := row[1], row[2], row[3], row[8]
		if _, known := l.catalogue.Lookup("gcp", name); !known {
			report.LeftOut += 2 // parts of a GPU
			continue
		}
		for m, market := range markets {
			rate, ok := t.use(&report, i, 9+m)
			if !ok {
				continue
			}
			source := gcostsSource
			if market == provider.Spot && row[11] != "" {
				source += "; low spot price, not confirmed"
			}
			o := provider.Offering{Cloud: "gcp", Region: region, Type: name, Market: market}
			var zones []string
			for _, z := range p.devices[device] {
				if z.region == region && !slices.Contains(zones, z.zone) {
					zones = append(zones, z.zone)
				}
			}
			for _, o.Zone = range zones {
				l.list(o, rate, source, gcostsDay, l.gcpSince(p, device, count, o.Zone))
			}
			if len(zones) == 0 {
				o.Zone = region
				l.list(o, rate, source+"; zone not known", gcostsDay, time.Time{})
			}
		}
	}
	l.reports = append(l.reports, report)
	return nil
}

// gcpSince is from when on a machine with built-in GPUs is taken to have been sold
// in a zone: if the list of spring 2024 has it there, from the first price of its
// accelerator on.
func (l *loader) gcpSince(p *gcpParts, device, count, zone string) time.Time {
	for _, z := range p.gpus[device+"x"+count] {
		if z.zone == zone {
			if at, ok := l.firstDevice[device]; ok {
				return at
			}
			return gpuDay
		}
	}
	return time.Time{}
}

// join prices a type "HOST+GPUxN" in each zone that has the GPU, as the sum of
// both in the same region and market. Without one of the two there is no price.
// Where the newest list of regions lacks the GPU, the quote ends on its day.
func (l *loader) join(t provider.InstanceType, host, gpu string, p *gcpParts) error {
	device, n, ok := strings.Cut(strings.ToUpper(gpu), "X")
	if count, err := strconv.Atoi(n); !ok || err != nil || count != t.Count || device != t.Accelerator {
		return fmt.Errorf("catalogue: %s: want HOST+GPUxN with its %d × %s", t.Name, t.Count, t.Accelerator)
	}
	source := gcostsSource + " (host) + " + gpuSource + " (GPU)"
	for _, g := range p.gpus[device+"x"+n] {
		var found part
		if i := slices.IndexFunc(p.hosts[host], func(h part) bool { return h.region == g.region }); i >= 0 {
			found = p.hosts[host][i]
		}
		for m, market := range markets {
			switch {
			case g.rate[m] == 0:
			case found.rate[m] == 0:
				l.unpriced = append(l.unpriced, Refusal{
					File: "gcp_gpu_only_2024-04-30.csv", Line: g.line, Field: "zone", Text: g.zone, Reason: MissingPart,
					Detail: fmt.Sprintf("%s %s: no price of %s in %s", t.Name, market, host, g.region),
				})
			default:
				o := provider.Offering{Cloud: "gcp", Region: g.region, Zone: g.zone, Type: t.Name, Market: market}
				// The age of a sum is that of its oldest part.
				l.list(o, found.rate[m]+g.rate[m], source, gpuDay, l.start)
				if !p.sold[attachedGPUs[device]+" "+g.region] {
					l.set.add(o, regionsDay, 0, "Cyclenerd gcosts dac31281, 2026-08-17: no longer in the region")
				}
			}
		}
	}
	return nil
}
