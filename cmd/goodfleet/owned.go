package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/provider"
)

// mostOwned is how many machines one row may hold, in the settings file too.
const mostOwned = 100_000

// owned lists the machines of the settings file and of --owned.
func (world world) owned(cfg planConfig) ([]autoscale.InstanceRecord, error) {
	var rows []document.Owned
	if cfg.settings.config != nil {
		rows = append(rows, cfg.settings.config.Spec.Owned...)
	}
	for i, text := range cfg.owned {
		name, count, ok := strings.Cut(text, "=")
		parts := strings.Split(name, "/")
		n, err := strconv.Atoi(count)
		if !ok || err != nil || n < 1 || len(parts) != 4 {
			return nil, fmt.Errorf(`--owned %q: want cloud/region/zone/type=count, as in "aws/us-east-1/use1-az1/p3.8xlarge=2"`, text)
		}
		if n > mostOwned {
			return nil, fmt.Errorf("--owned %q: want at most %d machines", text, mostOwned)
		}
		rows = append(rows, document.Owned{Name: fmt.Sprintf("owned-%d", i+1), Cloud: parts[0], Region: parts[1], Zone: parts[2], Type: parts[3], Count: n})
	}
	var machines []autoscale.InstanceRecord
	for _, row := range rows {
		if _, ok := world.catalogue.Lookup(row.Cloud, row.Type); !ok {
			var types []string
			for _, t := range world.catalogue.Types() {
				if t.Cloud == row.Cloud {
					types = append(types, t.Name)
				}
			}
			return nil, fmt.Errorf("owned %s: the catalogue has no %s of cloud %q%s", row.Name, row.Type, row.Cloud, suggestion(row.Type, types))
		}
		if err := world.checkZone(row); err != nil {
			return nil, err
		}
		for i := range row.Count {
			machines = append(machines, autoscale.InstanceRecord{
				Instance: provider.Instance{
					ID:       provider.InstanceID(fmt.Sprintf("%s/%d", row.Name, i)),
					Offering: provider.Offering{Cloud: row.Cloud, Region: row.Region, Zone: row.Zone, Type: row.Type, Market: provider.Reserved, Reservation: row.Name},
					State:    provider.Running, Launched: cfg.now, Started: cfg.now,
				},
				ReadyAt: cfg.now, Seen: cfg.now,
			})
		}
	}
	return machines, nil
}

// checkZone refuses a zone in which nothing is or was sold: it is where machines
// can talk to each other, and has to be meant.
func (world world) checkZone(row document.Owned) error {
	var zones []string
	for _, o := range world.history.Offerings() {
		if o.Cloud == row.Cloud && o.Region == row.Region {
			zones = append(zones, o.Zone)
		}
	}
	if slices.Contains(zones, row.Zone) {
		return nil
	}
	if len(zones) == 0 {
		return fmt.Errorf("owned %s: nothing is sold in region %q of %s%s", row.Name, row.Region, row.Cloud, suggestion(row.Region, world.names().Regions))
	}
	slices.Sort(zones)
	return fmt.Errorf("owned %s: nothing is sold in zone %q of %s%s", row.Name, row.Zone, row.Region, suggestion(row.Zone, slices.Compact(zones)))
}
