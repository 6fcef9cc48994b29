package report

import (
	"math"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// Day is what one day of a zone cost.
type Day struct {
	Start  time.Time
	Length time.Duration // 23 to 25 hours
	Amount pricing.Money
}

// Days sums charges by the days of a zone, without a gap from the first that has a
// charge to the last.
func Days(charges []ledger.Charge, zone *time.Location) []Day {
	sums := map[time.Time]pricing.Money{}
	var first, last time.Time
	for i := range charges {
		day := midnight(charges[i].From, zone)
		sums[day] += charges[i].Amount
		if first.IsZero() || day.Before(first) {
			first = day
		}
		if day.After(last) {
			last = day
		}
	}
	var days []Day
	for day := first; len(sums) > 0 && !day.After(last); {
		next := day.AddDate(0, 0, 1)
		days = append(days, Day{Start: day, Length: next.Sub(day), Amount: sums[day]})
		day = next
	}
	return days
}

func midnight(at time.Time, zone *time.Location) time.Time {
	at = at.In(zone)
	return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, zone)
}

const (
	forecastDays = 28 // whole days that a forecast looks back on
	fewestDays   = 3  // fewer say nothing of the spread
	p90          = 1.2815515655446004
)

// Forecast is what a month will have cost at its end.
type Forecast struct {
	Month     time.Time // its first instant
	Until     time.Time // its end, excluded
	At        time.Time // what is known lies before
	Spent     pricing.Money
	P50, P90  pricing.Money
	Known     bool // there were enough whole days to look back on
	Days      int  // that it looked back on
	PerDay    pricing.Money
	Deviation pricing.Money // standard deviation of a day
}

// NewForecast foretells the month of an instant: what is spent, and for the rest of
// the month the mean of up to 28 whole days before, by their length; P90 adds 1.28
// standard deviations of a day times the root of the days left, as if days were
// independent. It knows of no queue and of no plan. Nothing spent and no day to
// look back on is no error: the rest is then not known.
func NewForecast(charges []ledger.Charge, at time.Time, zone *time.Location) Forecast {
	local := at.In(zone)
	f := Forecast{Month: time.Date(local.Year(), local.Month(), 1, 0, 0, 0, 0, zone), At: at}
	f.Until = f.Month.AddDate(0, 1, 0)
	var before []ledger.Charge
	for _, c := range charges {
		if c.From.Before(at) {
			before = append(before, c)
			if !c.From.Before(f.Month) {
				f.Spent += c.Amount
			}
		}
	}
	days := Days(before, zone)
	for len(days) > 0 { // days that cost nothing, up to now
		next := days[len(days)-1].Start.AddDate(0, 0, 1)
		if !next.Before(at) {
			break
		}
		days = append(days, Day{Start: next, Length: next.AddDate(0, 0, 1).Sub(next)})
	}
	whole := slices.DeleteFunc(days, func(d Day) bool { return d.Start.Add(d.Length).After(at) })
	if len(whole) > 0 { // the day on which it all began is seldom whole
		whole = whole[1:]
	}
	whole = whole[max(0, len(whole)-forecastDays):]
	f.Days = len(whole)
	if f.Days < fewestDays {
		return f
	}
	sum, squares := 0.0, 0.0
	for _, d := range whole {
		perHour := d.Amount.Dollars() / d.Length.Hours()
		sum += perHour
		squares += perHour * perHour
	}
	n := float64(f.Days)
	mean := sum / n
	deviation := math.Sqrt(max(0, squares/n-mean*mean) * n / (n - 1))
	left := f.Until.Sub(at).Hours()
	usd := func(v float64) pricing.Money { return pricing.Money(math.Round(v * 1e9)) }
	f.Known, f.PerDay, f.Deviation = true, usd(24*mean), usd(24*deviation)
	f.P50 = f.Spent + usd(mean*left)
	f.P90 = f.P50 + usd(p90*24*deviation*math.Sqrt(left/24))
	return f
}
