package planner

import (
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// What is left is reckoned forward only: a clock that was set back brings no money.
func TestLeftOfAPeriodWhereTheClockWasSetBack(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	b := BudgetPrice{Burn: 2 * pricing.DollarPerHour, At: at, Left: 10 * pricing.Dollar}
	for ago, want := range map[time.Duration]float64{0: 10, time.Hour: 8, -49 * time.Second: 10, -time.Hour: 10} {
		if got := b.LeftAt(at.Add(ago)); got != want {
			t.Errorf("%v after: %g USD are left, want %g", ago, got, want)
		}
	}
}
