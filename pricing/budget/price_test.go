package budget

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing"
)

// drawPrice draws a total and a price within its period.
func drawPrice(t *rapid.T) (Total, Price) {
	total := Total{Name: "b", Amount: pricing.Money(rapid.Int64Range(1, 100_000).Draw(t, "USD")) * pricing.Dollar, Period: rapid.SampledFrom([]Period{Day, Month}).Draw(t, "period")}
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(rapid.Int64Range(0, int64(29*24*time.Hour)).Draw(t, "at")))
	return total, Price{
		At: at, Log: rapid.Float64Range(0, 3).Draw(t, "log"),
		Left: pricing.Money(rapid.Float64Range(0.001, 1).Draw(t, "left") * float64(total.Amount)),
		Burn: pricing.RateOf(rapid.Float64Range(0, 0.02).Draw(t, "burn") * total.Amount.Dollars()),
	}
}

// TestPriceIsTheUpdateOfEachRound holds the closed form against the update written
// down for rounds, with rounds of a second.
func TestPriceIsTheUpdateOfEachRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total, p := drawPrice(t)
		_, until := total.Span(p.At)
		end := until.Add(total.Reserve(p.At))
		times, left, at := math.Exp(p.Log), p.Left.Dollars(), p.At
		const round = time.Second
		for range 1800 {
			// As it is in the middle of the round: near the end of the money a second is long.
			rho := (left - p.Burn.Dollars()*round.Hours()/2) / (end.Sub(at).Hours() - round.Hours()/2)
			if left <= 0.05*p.Left.Dollars() || !at.Before(until.Add(-round)) {
				break
			}
			times = max(1, times*math.Exp(round.Hours()/Reaction.Hours()*(p.Burn.Dollars()/rho-1)))
			left -= p.Burn.Dollars() * round.Hours()
			at = at.Add(round)
		}
		got, want := p.To(total, at).Log, min(math.Log(times), mostLog)
		if math.Abs(got-want) > 1e-3*(1+math.Abs(want-p.Log)) {
			t.Fatalf("ln(1 + mu) %.6f after %v, by rounds %.6f", got, at.Sub(p.At), want)
		}
	})
}

// TestPriceDoesNotDependOnLooks cuts a stretch of time in pieces, over the ends of
// periods too.
func TestPriceDoesNotDependOnLooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total, p := drawPrice(t)
		to := p.At.Add(time.Duration(rapid.Int64Range(1, int64(40*24*time.Hour)).Draw(t, "long")))
		want := p.To(total, to)
		got := p
		for got.At.Before(to) {
			next := got.At.Add(time.Duration(rapid.Int64Range(int64(time.Hour), int64(20*24*time.Hour)).Draw(t, "piece")))
			if next.After(to) {
				next = to
			}
			got = got.To(total, next)
		}
		// Money is whole nano dollars at each look; near the last of them it shows.
		if math.Abs(got.Log-want.Log) > 1e-5 {
			t.Fatalf("ln(1 + mu) %.12f at once, %.12f in pieces", want.Log, got.Log)
		}
	})
}

// TestNextStepIsTheFirstAtAnotherLevel looks just before and at the time told.
func TestNextStepIsTheFirstAtAnotherLevel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total, p := drawPrice(t)
		_, until := total.Span(p.At)
		next := p.Next(total)
		if next.IsZero() || !next.Before(until) {
			if got := p.To(total, until.Add(-time.Second)); p.Left > p.Burn.Over(until.Sub(p.At)) && (got.Level() > p.Level() && got.Log < mostLog || got.Level() < p.Level()) {
				t.Fatalf("no step in the period, but level %d at its end, from %d", got.Level(), p.Level())
			}
			return
		}
		if got := p.To(total, next.Add(time.Second)).Level(); got == p.Level() {
			t.Fatalf("level %d a second after %v, where it was to change", got, next.Sub(p.At))
		}
		if before := next.Add(-time.Second); before.After(p.At) {
			if got := p.To(total, before).Level(); got != p.Level() {
				t.Fatalf("level %d already a second before %v, from %d", got, next.Sub(p.At), p.Level())
			}
		}
	})
}

// TestSteadyBurnEndsWithTheReserve spends at rho all month.
func TestSteadyBurnEndsWithTheReserve(t *testing.T) {
	total := Total{Name: "b", Amount: 1000 * pricing.Dollar, Period: Month}
	from, until := total.Span(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
	p := Price{At: from, Log: 0.5, Left: total.Amount, Burn: pricing.RateOf(1000 / (until.Sub(from) + total.Reserve(from)).Hours())}
	got := p.To(total, until.Add(-time.Nanosecond))
	if math.Abs(got.Log-0.5) > 1e-6 || math.Abs(got.Left.Dollars()-1000/121.0) > 0.01 {
		t.Errorf("ln(1 + mu) %.9f with %s left, want 0.5 with %.3f", got.Log, got.Left, 1000/121.0)
	}
}
