package ledger_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// Whom a machine was booked to is told once each, of the time that is asked about, and
// of no other machine.
func TestBearersOfAStretchOfTime(t *testing.T) {
	m := ledger.NewMeter(history(t, quoted(awsOnDemand, day, "12")), ledger.Rules{})
	book := func(id string, minute int, shares ...ledger.Share) {
		m.Settle(life(id, awsOnDemand, clock(10, 0, 0), time.Time{}, 0), 8, shares, clock(10, minute, 0), int64(minute))
	}
	a, b := ledger.Share{Job: "a", Team: "Vision", Project: "x", Accelerators: 8}, ledger.Share{Job: "b", Accelerators: 4}
	book("i-1", 10, a)
	book("i-1", 15, a)
	book("i-1", 20, b)
	book("i-2", 20, ledger.Share{Job: "c", Accelerators: 8})
	bearerA, bearerB := ledger.Bearer{Job: "a", Team: "Vision", Project: "x"}, ledger.Bearer{Job: "b"}
	for _, c := range []struct {
		from, to int // minutes
		want     []ledger.Bearer
	}{
		{0, 15, []ledger.Bearer{bearerA}},
		{14, 16, []ledger.Bearer{bearerA, bearerB}},
		{15, 20, []ledger.Bearer{bearerB}},
		{20, 30, nil},
	} {
		got := m.Bearers(provider.InstanceID("i-1"), clock(10, c.from, 0), clock(10, c.to, 0))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("from minute %d to %d (-want +got):\n%s", c.from, c.to, diff)
		}
	}
}

func TestRateAtIsThePriceAtAnInstant(t *testing.T) {
	m := ledger.NewMeter(history(t, quoted(awsSpot, clock(9, 0, 0), "12"), quoted(awsSpot, clock(11, 5, 0), "15")), ledger.Rules{})
	for at, want := range map[time.Time]string{clock(11, 4, 59): "12", clock(11, 5, 0): "15"} {
		if got, ok := m.RateAt(awsSpot, at); !ok || got.String() != want {
			t.Errorf("at %v: %s, known %t, want %s", at, got, ok, want)
		}
	}
	if got, ok := m.RateAt(awsOnDemand, clock(11, 5, 0)); ok {
		t.Errorf("a price that nobody quoted is %s", got)
	}
}
