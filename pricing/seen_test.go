package pricing

import (
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// A price that did not change for weeks was read all the time while the series of
// changes lasts; a list is as old as its day.
func TestSeenAtTellsSeriesFromLists(t *testing.T) {
	h, err := EmbeddedHistory()
	if err != nil {
		t.Fatal(err)
	}
	end := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		o      provider.Offering
		at     time.Time
		oldest time.Time
		newest time.Time
	}{
		{"within the series", provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p3.2xlarge", Market: provider.Spot},
			time.Date(2023, 6, 5, 0, 0, 0, 0, time.UTC), time.Date(2023, 6, 5, 0, 0, 0, 0, time.UTC), time.Date(2023, 6, 5, 0, 0, 0, 0, time.UTC)},
		{"after its end", provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p3.2xlarge", Market: provider.Spot},
			time.Date(2024, 8, 1, 0, 0, 0, 0, time.UTC), end.AddDate(0, 0, -1), end.AddDate(0, 0, 1)},
		{"a list", provider.Offering{Cloud: "gcp", Region: "europe-north1", Zone: "europe-north1", Type: "a3-highgpu-8g", Market: provider.Spot},
			time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 7, 30, 0, 0, 0, 0, time.UTC), time.Date(2026, 7, 31, 0, 0, 0, 0, time.UTC)},
	} {
		t.Run(c.name, func(t *testing.T) {
			book, err := h.Book(c.at)
			if err != nil {
				t.Fatal(err)
			}
			q, ok := book.Quote(c.o)
			if !ok {
				t.Fatalf("no quote of %s", c.o)
			}
			if got := SeenAt(q, c.at); got.Before(c.oldest) || got.After(c.newest) {
				t.Errorf("seen at %v, want from %v to %v (quote of %v)", got, c.oldest, c.newest, q.At)
			}
		})
	}
}
