package ledger

import (
	"fmt"
	"strings"
	"time"
)

// Dimension is what charges can be summed by.
type Dimension uint8

const (
	ByJob Dimension = iota + 1
	ByTeam
	ByCloud
	ByRegion
	ByZone
	ByType
	ByMarket
	ByAccount // what bears it: job, idle, ...
	ByInstance
	ByDay // of UTC
)

var dimensionNames = [...]string{ByJob: "job", ByTeam: "team", ByCloud: "cloud", ByRegion: "region", ByZone: "zone",
	ByType: "type", ByMarket: "market", ByAccount: "account", ByInstance: "instance", ByDay: "day"}

// Dimensions lists all, in the order above.
func Dimensions() []Dimension {
	var all []Dimension
	for d := ByJob; d <= ByDay; d++ {
		all = append(all, d)
	}
	return all
}

// String returns the dimension's word.
func (d Dimension) String() string {
	if d < ByJob || d > ByDay {
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

// append adds to key where a charge falls. A charge lies within one hour of the
// clock, so the day of its start is its day; only the rest of a minimum may reach
// into the next.
func (d Dimension) append(key []byte, c *Charge) []byte {
	switch d {
	case ByJob:
		return append(key, c.Job...)
	case ByTeam:
		return append(key, c.Team...)
	case ByCloud:
		return append(key, c.Offering.Cloud...)
	case ByRegion:
		return append(key, c.Offering.Region...)
	case ByZone:
		return append(key, c.Offering.Zone...)
	case ByType:
		return append(key, c.Offering.Type...)
	case ByMarket:
		return append(key, c.Offering.Market.String()...)
	case ByAccount:
		return append(key, c.Account...)
	case ByInstance:
		return append(key, c.Instance...)
	case ByDay:
		return c.From.UTC().AppendFormat(key, time.DateOnly)
	}
	panic(fmt.Sprintf("ledger: %s is not set", d))
}
