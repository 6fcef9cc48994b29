package main

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// priceUse is what became of a file of prices that a plan was to use.
type priceUse struct {
	File   string `json:"file"`
	Used   int    `json:"used"`
	Unused int    `json:"unused"` // refused, or put aside
}

// judge reads a price file and says which of its rows can be used, after the
// prices that are known at now. A row without a time holds from now on.
func (world world) judge(s settings, file string, in io.Reader, now time.Time) (name string, v pricing.Verdict, q *pricing.Quarantine, err error) {
	name = file
	if file == "-" {
		name = "stdin"
	}
	text, err := readInput(streams{in: in}, file)
	if err != nil {
		return name, v, nil, fmt.Errorf("prices: %w", err)
	}
	quotes, refused, err := pricing.ReadPrices(name, bytes.NewReader(text), now)
	if err != nil {
		return name, v, nil, err
	}
	if q, err = pricing.OpenQuarantine(s.refused); err != nil {
		return name, v, nil, err
	}
	last, err := world.history.Book(now)
	if err != nil {
		return name, v, nil, err
	}
	embedded, err := pricing.EmbeddedBook()
	if err != nil {
		return name, v, nil, err
	}
	quotes, unknown := world.known(quotes)
	v = pricing.NewChecker(pricing.CheckerConfig{Last: last, Embedded: embedded, Accepted: q.Accepted}).Check(quotes)
	v.Refused = append(append(refused, unknown...), v.Refused...)
	return name, v, q, nil
}

// use puts the usable prices of a file before those that are known. What cannot be
// used is counted, and put aside nowhere: prices check does that.
func (world *world) use(s settings, file string, in io.Reader, now time.Time) (*priceUse, error) {
	name, v, _, err := world.judge(s, file, in, now)
	if err != nil {
		return nil, err
	}
	if world.history, err = world.history.With(v.Accepted); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &priceUse{File: name, Used: len(v.Accepted), Unused: len(v.Refused) + len(v.Suspects)}, nil
}

// unused is the finding that rows of a price file are not used; nil when all are.
func (u *priceUse) unused() error {
	if u == nil || u.Unused == 0 {
		return nil
	}
	return found("%s: %s used; goodfleet prices check %s tells why", u.File, fewOf(u.Unused, u.Unused+u.Used, "row"), u.File)
}

// fewOf is "2 of 5 rows are not" and "1 of 1 row is not".
func fewOf(n, of int, noun string) string {
	verb := "are"
	if n == 1 {
		verb = "is"
	}
	return fmt.Sprintf("%d of %s %s not", n, counted(of, noun), verb)
}

// counted is a number and its noun: "1 row", "2 rows".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// numbered is a count with words that go with one, and with any other number.
func numbered(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// absent says which field of an offering names nothing that exists.
type absent struct{ field, reason string }

// exists reports what of an offering the catalogue and the prices know nothing of;
// nil when it could be a machine.
func (world world) exists(o provider.Offering) *absent {
	if _, ok := world.catalogue.Lookup(o.Cloud, o.Type); !ok {
		var types []string
		for _, t := range world.catalogue.Types() {
			if t.Cloud == o.Cloud {
				types = append(types, t.Name)
			}
		}
		if len(types) == 0 {
			return &absent{"cloud", fmt.Sprintf("nothing is sold in cloud %q%s", o.Cloud, suggestion(o.Cloud, world.names().Clouds))}
		}
		return &absent{"type", fmt.Sprintf("the catalogue has no %s of cloud %q%s", o.Type, o.Cloud, suggestion(o.Type, types))}
	}
	var regions, zones []string
	for _, x := range world.history.Offerings() {
		if x.Cloud != o.Cloud {
			continue
		}
		if regions = append(regions, x.Region); x.Region == o.Region {
			if x.Zone == o.Zone {
				return nil
			}
			zones = append(zones, x.Zone)
		}
	}
	if len(zones) == 0 {
		return &absent{"region", fmt.Sprintf("nothing is sold in region %q of %s%s", o.Region, o.Cloud, suggestion(o.Region, regions))}
	}
	return &absent{"zone", fmt.Sprintf("nothing is sold in zone %q of %s%s", o.Zone, o.Region, suggestion(o.Zone, zones))}
}
