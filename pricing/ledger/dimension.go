package ledger

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Dimension is what charges can be summed by.
type Dimension uint8

const (
	ByJob Dimension = iota + 1
	ByTeam
	ByProject
	ByCloud
	ByRegion
	ByZone
	ByType
	ByMarket
	ByAccount // what bears it: job, idle, ...
	ByInstance
	ByItem // what was paid for: machine, disk, ...
	ByRound
	ByDay   // of a time zone
	ByMonth // of a time zone
)

var dimensionNames = [...]string{ByJob: "job", ByTeam: "team", ByProject: "project", ByCloud: "cloud", ByRegion: "region", ByZone: "zone",
	ByType: "type", ByMarket: "market", ByAccount: "account", ByInstance: "instance",
	ByItem: "item", ByRound: "round", ByDay: "day", ByMonth: "month"}

// Dimensions lists all, in the order above.
func Dimensions() []Dimension {
	var all []Dimension
	for d := ByJob; d <= ByMonth; d++ {
		all = append(all, d)
	}
	return all
}

// String returns the dimension's word.
func (d Dimension) String() string {
	if d < ByJob || d > ByMonth {
		return fmt.Sprintf("dimension(%d)", uint8(d))
	}
	return dimensionNames[d]
}

// ParseDimension reads the word that String writes.
func ParseDimension(text string) (Dimension, error) {
	for _, d := range Dimensions() {
		if d.String() == text {
			return d, nil
		}
	}
	return 0, fmt.Errorf("dimension %q: want one of %s", text, strings.Join(dimensionNames[1:], ", "))
}

// OfJobs reports whether a job falls under one value of d, so that what it got done
// can be put beside what it cost.
func (d Dimension) OfJobs() bool { return d == ByJob || d == ByTeam || d == ByProject }

// calendar names days and months of a zone.
type calendar struct {
	zone   *time.Location
	quarts map[int64]string // by quarter hour since 1970, the finest step of any zone: its day
	last   [2]quart         // the last two that were asked for, which mostly come again
}

type quart struct {
	at  int64
	day string
}

func newCalendar(zone *time.Location) *calendar {
	return &calendar{zone: zone, quarts: map[int64]string{}}
}

func (k *calendar) day(at time.Time) string {
	now := at.Unix() / 900
	for i := range k.last {
		if k.last[i].at == now && k.last[i].day != "" {
			return k.last[i].day
		}
	}
	day, ok := k.quarts[now]
	if !ok {
		day = at.In(k.zone).Format(time.DateOnly)
		k.quarts[now] = day
	}
	k.last[0], k.last[1] = quart{now, day}, k.last[0]
	return day
}

// append adds to key where a charge falls, which lies in one day of the calendar.
func (d Dimension) append(key []byte, c *Charge, k *calendar) []byte {
	switch d {
	case ByJob:
		return append(key, c.Job...)
	case ByTeam:
		return append(key, c.Team...)
	case ByProject:
		return append(key, c.Project...)
	case ByCloud:
		return append(key, c.Offering.Cloud...)
	case ByRegion:
		return append(key, c.Offering.Region...)
	case ByZone:
		return append(key, c.Offering.Zone...)
	case ByType:
		return append(key, c.Offering.Type...)
	case ByMarket:
		return append(key, c.Item.market(c.Offering.Market).String()...) // an older ledger may say one of what has none
	case ByAccount:
		return append(key, c.Account...)
	case ByInstance:
		return append(key, c.Instance...)
	case ByItem:
		return append(key, c.Item.String()...)
	case ByRound:
		return strconv.AppendInt(key, c.Round, 10)
	case ByDay:
		return append(key, k.day(c.From)...)
	case ByMonth:
		return append(key, k.day(c.From)[:len("2006-01")]...)
	}
	panic(fmt.Sprintf("ledger: %s is not set", d))
}
