package pricing

import (
	"slices"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

func TestNewBookRefusesWhatCannotBeAQuote(t *testing.T) {
	o := gcp("a2-highgpu-1g", provider.Spot)
	good := Quote{Offering: o, Rate: 1, At: hazardStart}
	with := func(change func(*Quote)) []Quote {
		q := good
		change(&q)
		return []Quote{q}
	}
	for name, quotes := range map[string][]Quote{
		"zero":             with(func(q *Quote) { q.Rate = 0 }),
		"negative":         with(func(q *Quote) { q.Rate = -1 }),
		"from the future":  with(func(q *Quote) { q.At = hazardStart.Add(time.Second) }),
		"no zone":          with(func(q *Quote) { q.Offering.Zone = "" }),
		"market unset":     with(func(q *Quote) { q.Offering.Market = 0 }),
		"the same twice":   {good, good},
		"of another price": {good, {Offering: o, Rate: 2, At: hazardStart}},
	} {
		if _, err := NewBook(hazardStart, quotes); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestBookIsOrderedAndUnknownIsNotZero(t *testing.T) {
	one, two, three := gcp("a", provider.Spot), gcp("a", provider.OnDemand), gcp("b", provider.Spot)
	one.Account = "project" // a price of this account alone
	given := []Quote{{Offering: three, Rate: 3, At: hazardStart}, {Offering: one, Rate: 1, At: hazardStart}, {Offering: two, Rate: 2, At: hazardStart.Add(-time.Hour)}}
	b, err := NewBook(hazardStart, given)
	if err != nil {
		t.Fatal(err)
	}
	given[0].Rate = 99 // the book keeps its own copy
	if !slices.IsSortedFunc(b.Quotes(), func(p, q Quote) int { return p.Offering.Compare(q.Offering) }) || len(b.Quotes()) != 3 {
		t.Errorf("quotes %v are not in order", b.Quotes())
	}
	if age, ok := b.Age(two); !ok || age != time.Hour {
		t.Errorf("age %v %v, want 1h", age, ok)
	}
	for _, test := range []struct {
		name string
		o    provider.Offering
		want Rate // 0: unknown
	}{
		{"of an account", one, 1},
		{"that account's price is not everybody's", gcp("a", provider.Spot), 0},
		{"a price of all accounts", func() provider.Offering { o := three; o.Account = "project"; return o }(), 3},
		{"another market", gcp("b", provider.OnDemand), 0},
		{"a reservation is an offering of its own", func() provider.Offering { o := three; o.Reservation = "r1"; return o }(), 0},
	} {
		rate, ok := b.Rate(test.o)
		if rate != test.want || ok != (test.want != 0) {
			t.Errorf("%s: %d %v, want %d", test.name, rate, ok, test.want)
		}
		if _, known := b.Age(test.o); known != ok {
			t.Errorf("%s: age known %v", test.name, known)
		}
	}
}
