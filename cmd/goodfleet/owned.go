package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/provider"
)

// mostOwned is how many machines one row may hold, in the settings file too.
const mostOwned = 100_000

// ownedRow is machines that are owned, and where they were named.
type ownedRow struct {
	document.Owned
	key  string // in the settings file
	flag string // or as a flag
}

func (row ownedRow) offering() provider.Offering {
	return provider.Offering{Cloud: row.Cloud, Region: row.Region, Zone: row.Zone, Type: row.Type, Market: provider.Reserved, Reservation: row.Name}
}

// fail is an error at a field of the row.
func (row ownedRow) fail(s settings, field, format string, args ...any) error {
	if row.flag != "" {
		return fmt.Errorf("%s: "+format, append([]any{row.flag}, args...)...)
	}
	return s.configDoc.Fail(row.key+"."+field, format, args...)
}

// ownedRows lists the rows of the settings file and of --owned.
func (world world) ownedRows(s settings, owned []string) ([]ownedRow, error) {
	var rows []ownedRow
	if s.config != nil {
		for i, row := range s.config.Spec.Owned {
			rows = append(rows, ownedRow{Owned: row, key: fmt.Sprintf("spec.owned[%d]", i)})
		}
	}
	for i, text := range owned {
		name, count, ok := strings.Cut(text, "=")
		parts := strings.Split(name, "/")
		n, err := strconv.Atoi(count)
		if !ok || err != nil || n < 1 || len(parts) != 4 {
			return nil, fmt.Errorf(`--owned %q: want cloud/region/zone/type=count, as in "aws/us-east-1/use1-az1/p3.8xlarge=2"`, text)
		}
		if n > mostOwned {
			return nil, fmt.Errorf("--owned %q: want at most %d machines", text, mostOwned)
		}
		rows = append(rows, ownedRow{
			Owned: document.Owned{Name: fmt.Sprintf("owned-%d", i+1), Cloud: parts[0], Region: parts[1], Zone: parts[2], Type: parts[3], Count: n},
			flag:  fmt.Sprintf("--owned %q", text),
		})
	}
	for _, row := range rows {
		if bad := world.exists(row.offering()); bad != nil {
			return nil, row.fail(s, bad.field, "%s", bad.reason)
		}
	}
	return rows, nil
}

// reservations are what is owned, as a simulation has it: capacity of one offering a
// row, that costs nothing more and does not end.
func (world world) reservations(cfg simulateConfig) ([]autoscale.Reservation, error) {
	rows, err := world.ownedRows(cfg.settings, cfg.owned)
	if err != nil {
		return nil, err
	}
	var list []autoscale.Reservation
	for _, row := range rows {
		list = append(list, autoscale.Reservation{Offering: row.offering(), Count: row.Count})
	}
	return list, nil
}

// owned lists the machines of the settings file and of --owned.
func (world world) owned(cfg askConfig) ([]autoscale.InstanceRecord, error) {
	rows, err := world.ownedRows(cfg.settings, cfg.owned)
	if err != nil {
		return nil, err
	}
	var machines []autoscale.InstanceRecord
	for _, row := range rows {
		for i := range row.Count {
			machines = append(machines, autoscale.InstanceRecord{
				Instance: provider.Instance{
					ID:       provider.InstanceID(fmt.Sprintf("%s/%d", row.Name, i)),
					Offering: row.offering(),
					State:    provider.Running, Launched: cfg.now, Started: cfg.now,
				},
				ReadyAt: cfg.now, Seen: cfg.now,
			})
		}
	}
	return machines, nil
}
