package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// Anomaly is something in a ledger that a person should look at.
type Anomaly struct {
	Kind   string        `json:"kind"` // day, disk, machine
	What   string        `json:"what"`
	From   time.Time     `json:"from"`
	To     time.Time     `json:"to"`
	Amount pricing.Money `json:"amount"`
	Why    string        `json:"why"`
}

const (
	usualDays   = 28  // days before that say what is usual
	fewestUsual = 7   // fewer say nothing
	unusual     = 3.5 // robust deviations from the median; Iglewicz and Hoaglin, 1993
	lonely      = time.Hour
	orphaned    = 24 * time.Hour
)

// Anomalies lists days out of their usual range (by the median of up to 28 days
// before, and the median distance from it), disks that no job has borne for a day
// or more, and machines that ran for an hour or more without ever carrying a job,
// dearest first.
func Anomalies(charges []ledger.Charge, zone *time.Location) []Anomaly {
	list := slices.Concat(oddDays(Days(charges, zone)), lonelyThings(charges))
	slices.SortStableFunc(list, func(a, b Anomaly) int {
		return cmp.Or(cmp.Compare(b.Amount, a.Amount), cmp.Compare(a.What, b.What))
	})
	return list
}

func oddDays(days []Day) []Anomaly {
	var list []Anomaly
	for i := fewestUsual; i < len(days)-1; i++ { // the last day is not over
		before := days[max(0, i-usualDays):i]
		amounts := make([]pricing.Money, len(before))
		for k, d := range before {
			amounts[k] = d.Amount
		}
		mid := median(amounts)
		for k, a := range amounts {
			amounts[k] = max(a-mid, mid-a)
		}
		// 1.4826 makes the median distance a standard deviation where days are normal; a
		// twentieth of the median keeps days that hardly differ from being odd.
		spread := max(1.4826*median(amounts).Dollars(), 0.05*mid.Dollars(), 0.01)
		off := (days[i].Amount - mid).Dollars() / spread
		if off > unusual || off < -unusual {
			list = append(list, Anomaly{
				Kind: "day", What: days[i].Start.Format(time.DateOnly), From: days[i].Start, To: days[i].Start.Add(days[i].Length), Amount: days[i].Amount,
				Why: fmt.Sprintf("%s usual: the %d days before cost %s USD in the median", map[bool]string{true: "more than", false: "less than"}[off > 0], len(before), dollars(mid)),
			})
		}
	}
	return list
}

// median is the middle of amounts, the lower one of two.
func median(amounts []pricing.Money) pricing.Money {
	sorted := slices.Sorted(slices.Values(amounts))
	return sorted[(len(sorted)-1)/2]
}

func lonelyThings(charges []ledger.Charge) []Anomaly {
	type key struct {
		item  ledger.Item
		cloud string
		id    string
		run   int
	}
	type thing struct {
		from, to   time.Time
		carried    bool
		since      time.Time // of a disk: the end of the last time that a job bore
		amount     pricing.Money
		sinceAlone pricing.Money
	}
	things := map[key]*thing{}
	for i := range charges {
		c := &charges[i]
		if c.Item != ledger.Machine && c.Item != ledger.Disk || c.Kind != ledger.Usage {
			continue
		}
		k := key{c.Item, c.Offering.Cloud, string(c.Instance), c.Run}
		x := things[k]
		if x == nil {
			x = &thing{from: c.From, to: c.To}
			things[k] = x
		}
		if c.From.Before(x.from) {
			x.from = c.From
		}
		if c.To.After(x.to) {
			x.to = c.To
		}
		x.amount += c.Amount
		if c.Job != "" {
			x.carried = true
			if c.To.After(x.since) {
				x.since = c.To
			}
		}
	}
	for i := range charges {
		c := &charges[i]
		if x := things[key{c.Item, c.Offering.Cloud, string(c.Instance), c.Run}]; x != nil && c.Kind == ledger.Usage && c.Job == "" && !c.From.Before(x.since) {
			x.sinceAlone += c.Amount
		}
	}
	var list []Anomaly
	keys := slices.SortedFunc(maps.Keys(things), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.item, b.item), cmp.Compare(a.cloud, b.cloud), cmp.Compare(a.id, b.id), cmp.Compare(a.run, b.run))
	})
	for _, k := range keys {
		x := things[k]
		alone := x.from
		if x.carried {
			alone = x.since
		}
		switch {
		case k.item == ledger.Disk && x.to.Sub(alone) >= orphaned:
			list = append(list, Anomaly{Kind: "disk", What: k.id, From: alone, To: x.to, Amount: x.sinceAlone, Why: "no job has borne it for " + number(x.to.Sub(alone).Hours(), 1) + " h"})
		case k.item == ledger.Machine && !x.carried && x.to.Sub(x.from) >= lonely:
			list = append(list, Anomaly{Kind: "machine", What: k.id, From: x.from, To: x.to, Amount: x.amount, Why: "ran for " + number(x.to.Sub(x.from).Hours(), 1) + " h and never carried a job"})
		}
	}
	return list
}
