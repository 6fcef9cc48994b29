package pricing

import (
	"slices"
	"sync"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// FileReport accounts for the prices of one embedded file: every price cell is
// kept, absent (empty: not sold that way), left out on purpose, or refused.
type FileReport struct {
	File    string    `json:"file"`
	Source  string    `json:"source"`
	At      time.Time `json:"at"` // when the source was read
	Prices  int       `json:"prices"`
	Kept    int       `json:"kept"`
	Absent  int       `json:"absent"`
	LeftOut int       `json:"left_out"`
	Refused []Refusal `json:"refused"`
}

// embedded is the history that goodfleet carries and how it came about.
type embedded struct {
	history  *History
	reports  []FileReport
	unpriced []Refusal // sums that lack a part
}

var loadEmbedded = sync.OnceValues(func() (*embedded, error) {
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		return nil, err
	}
	l := &loader{set: newSeriesSet(), catalogue: catalogue}
	for _, read := range []func() error{
		l.readSpotHistory, l.readAWS2024, l.readAWSv8, l.readKarpenter, l.readGCP, l.readTPU,
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return &embedded{history: l.set.history(), reports: l.reports, unpriced: l.unpriced}, nil
})

// EmbeddedHistory is the price history that goodfleet carries: AWS spot prices
// from December 2022 to May 2024, and the list prices and spot prices of AWS and
// GCP that are known for single days (pricing/data says which). It is read once.
//
// A list price is known from the day of its list on. Of types and accelerators
// that were on sale before, and listed in spring 2024, it is taken to have held
// before too; the source of such a quote says "assumed before".
func EmbeddedHistory() (*History, error) {
	e, err := loadEmbedded()
	if err != nil {
		return nil, err
	}
	return e.history, nil
}

// EmbeddedBook is the newest known quote of every offering of EmbeddedHistory, at
// the instant of its last change.
func EmbeddedBook() (*Book, error) {
	history, err := EmbeddedHistory()
	if err != nil {
		return nil, err
	}
	_, last, _ := history.Span()
	return history.Book(last)
}

// EmbeddedReports accounts for every price of the embedded files.
func EmbeddedReports() ([]FileReport, error) {
	e, err := loadEmbedded()
	if err != nil {
		return nil, err
	}
	return e.reports, nil
}

// EmbeddedUnpriced lists the machines whose price is a sum of which a part is not
// known. They are not quoted.
func EmbeddedUnpriced() ([]Refusal, error) {
	e, err := loadEmbedded()
	if err != nil {
		return nil, err
	}
	return e.unpriced, nil
}

// loader reads the embedded files, oldest list first.
type loader struct {
	set       *seriesSet
	catalogue *provider.Catalogue
	reports   []FileReport
	unpriced  []Refusal

	start       time.Time            // of the spot history
	firstType   map[string]time.Time // first price of an AWS type in any zone
	firstDevice map[string]time.Time // first price of an accelerator on AWS
}

const assumedBefore = " (assumed before)"

func (l *loader) readSpotHistory() error {
	data, err := openEmbedded(spotFile)
	if err != nil {
		return err
	}
	count, err := readSpotSeries(data, l.set)
	if err != nil {
		return err
	}
	l.firstType, l.firstDevice = map[string]time.Time{}, map[string]time.Time{}
	first := func(seen map[string]time.Time, name string, at time.Time) {
		if known, ok := seen[name]; !ok || at.Before(known) {
			seen[name] = at
		}
	}
	var last time.Time
	for _, s := range l.set.all {
		at := moment(s.steps[0].at)
		if l.start.IsZero() || at.Before(l.start) {
			l.start = at
		}
		if at := moment(s.steps[len(s.steps)-1].at); at.After(last) {
			last = at
		}
		first(l.firstType, s.offering.Type, at)
		if t, ok := l.catalogue.Lookup("aws", s.offering.Type); ok {
			first(l.firstDevice, t.Accelerator, at)
		}
	}
	l.reports = append(l.reports, FileReport{
		File: spotFile, Source: spotSource, At: last,
		Prices: count.events, Kept: count.kept, Absent: count.ended, Refused: count.refused,
	})
	return nil
}

// list adds a quote of a price list read at an instant. With from set, the price
// is taken to have held since then.
func (l *loader) list(o provider.Offering, rate Rate, source string, at, from time.Time) {
	if !from.IsZero() && from.Before(at) {
		l.set.add(o, from, rate, source+assumedBefore)
	}
	l.set.add(o, at, rate, source)
}

// zones lists the zones of a region in which an AWS type has any price, or the
// region itself where none is known.
func (l *loader) zones(region, typ string) []string {
	var zones []string
	for i := range l.set.all {
		if o := &l.set.all[i].offering; o.Cloud == "aws" && o.Type == typ && o.Region == region && o.Zone != region {
			zones = append(zones, o.Zone)
		}
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}
