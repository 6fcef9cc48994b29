package budget

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing"
)

// lastsTo reports whether a burn that begins where a pace stands goes on through three
// periods, by the rule of the stop, looked at each second.
func lastsTo(p Pace, burn, dearer float64) bool {
	left, until := p.Left.Dollars(), p.Ends
	for range 3 {
		for at := time.Duration(0); at < until; at += 10 * time.Second {
			if left-burn*at.Hours()-dearer*burn*p.Lasts.Hours() < -1e-6 {
				return false
			}
		}
		if left-burn*until.Hours()-dearer*burn*p.Lasts.Hours() < -1e-6 {
			return false
		}
		left, until = p.Amount.Dollars(), p.Length
	}
	return true
}

// TestBurnAtThePaceIsNeverStopped holds the formula against the rule that stops, played
// through: of what the machines could come to cost, a burn at the pace goes on from
// period to period, and one that is a little more is stopped in one of them.
func TestBurnAtThePaceIsNeverStopped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dearer := rapid.Float64Range(1, 6).Draw(t, "dearer")
		p := Pace{
			Amount: pricing.Money(rapid.Int64Range(1, 100).Draw(t, "usd")) * pricing.Dollar, Length: time.Hour,
			Ends:   time.Duration(rapid.IntRange(1, 60).Draw(t, "ends")) * time.Minute,
			Lasts:  time.Duration(rapid.IntRange(0, 20).Draw(t, "lasts")) * time.Minute,
			Dearer: dearer,
		}
		p.Left = pricing.Money(rapid.Float64Range(0.01, 1).Draw(t, "left") * float64(p.Amount))
		burn := p.Burn().Dollars() / p.Counts(dearer)
		if !lastsTo(p, 0.999*burn, dearer) {
			t.Fatalf("%+v: a burn of %g is stopped", p, burn)
		}
		if lastsTo(p, 1.01*burn, dearer) {
			t.Fatalf("%+v: a burn of more than %g goes on", p, burn)
		}
	})
}

func TestPaceWhileNothingRuns(t *testing.T) {
	p := Pace{Amount: 10 * pricing.Dollar, Left: 10 * pricing.Dollar, Length: time.Hour, Ends: 15 * time.Minute, Lasts: 0, Dearer: 1}
	for _, tt := range []struct {
		name string
		idle bool
		want float64 // USD/h
	}{
		{"what runs is held to what lasts from hour to hour", false, 10},
		{"a job that is too large for that may begin late in an hour", true, 40},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p.Idle = tt.idle
			if got := p.Burn().Dollars(); got < 0.999*tt.want || got > tt.want {
				t.Errorf("%g USD/h, want %g", got, tt.want)
			}
		})
	}
	// 10 USD last for 40 USD/h in a quarter of an hour; for a quarter more in 12 minutes.
	if in, ok := p.Grows(0.25); !ok || in != 3*time.Minute {
		t.Errorf("it grows by a quarter in %v (%v), want 3m", in, ok)
	}
	if p.Left = 0; p.Burn() != 0 {
		t.Errorf("nothing is left and %s USD/h may burn", p.Burn())
	}
}
