package pricing

import (
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/provider"
	"github.com/google/go-cmp/cmp"
)

func TestChangesOfListsOnlyInstantsAtWhichTheRateIsAnother(t *testing.T) {
	o := provider.Offering{Cloud: "gcp", Region: "us-central1", Zone: "us-central1-a", Type: "a2-highgpu-1g", Market: provider.Spot}
	at := func(minute int) time.Time { return time.Date(2026, 11, 1, 10, minute, 0, 0, time.UTC) }
	quote := func(minute int, rate Rate) Quote {
		return Quote{Offering: o, Rate: rate, At: at(minute), Source: "test"}
	}
	h, err := NewHistory(
		[]Quote{quote(0, DollarPerHour), quote(10, DollarPerHour), quote(20, 2*DollarPerHour), quote(40, 2*DollarPerHour)},
		[]End{{Offering: o, At: at(30)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		from, to time.Time
		want     []time.Time
	}{
		{"all", at(0).Add(-time.Hour), at(59), []time.Time{at(0), at(20), at(30), at(40)}},
		{"both ends left out", at(20), at(40), []time.Time{at(30)}},
		{"part of a second before", at(20).Add(-time.Nanosecond), at(21), []time.Time{at(20)}},
		{"nothing new", at(41), at(59), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			account := o
			account.Account = "project" // price data name no account
			if diff := cmp.Diff(c.want, h.ChangesOf(account, c.from, c.to)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := h.ChangesOf(provider.Offering{}, at(0), at(59)); got != nil {
		t.Errorf("unknown offering: got %v, want none", got)
	}
}
