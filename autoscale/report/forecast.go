package report

import (
	"math"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// Day is what one day of a zone cost.
type Day struct {
	Start  time.Time
	Length time.Duration // 23 to 25 hours
	Amount pricing.Money
}

// Days sums charges by the days of a zone, without a gap from the first that has a
// charge to the last. What straddles midnight counts to each day by its time there.
func Days(charges []ledger.Charge, zone *time.Location) []Day {
	sums := map[time.Time]pricing.Money{}
	var first, last time.Time
	for i := range charges {
		c := &charges[i]
		for from := c.From; ; {
			day, next := dayOf(from, zone)
			if part, ok := c.Within(from, next); ok {
				sums[day] += part.Amount
				if first.IsZero() || day.Before(first) {
					first = day
				}
				if day.After(last) {
					last = day
				}
			}
			if from = next; !from.Before(c.To) {
				break
			}
		}
	}
	var days []Day
	for day := first; len(sums) > 0 && !day.After(last); {
		_, next := dayOf(day, zone)
		days = append(days, Day{Start: day, Length: next.Sub(day), Amount: sums[day]})
		day = next
	}
	return days
}

// dayOf is the day of a zone that an instant lies in, from its first instant on.
func dayOf(at time.Time, zone *time.Location) (start, next time.Time) {
	y, m, d := at.In(zone).Date()
	return budget.StartOfDay(y, m, d, zone).In(zone), budget.StartOfDay(y, m, d+1, zone).In(zone)
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
	Lower     bool          // something of it has no known rate: all amounts are lower bounds
}

// NewForecast foretells the month of an instant: what is spent, and for the rest of
// the month the mean of up to 28 whole days before, by their length; P90 adds 1.28
// standard deviations of a day times the root of the days left, as if days were
// independent. It knows of no queue and of no plan. Nothing spent and no day to
// look back on is no error: the rest is then not known.
func NewForecast(charges []ledger.Charge, at time.Time, zone *time.Location) Forecast {
	local := at.In(zone)
	f := Forecast{Month: budget.StartOfDay(local.Year(), local.Month(), 1, zone).In(zone), At: at}
	f.Until = budget.StartOfDay(local.Year(), local.Month()+1, 1, zone).In(zone)
	var before []ledger.Charge
	var began time.Time
	for i := range charges {
		if known, ok := charges[i].Within(time.Time{}, at); ok {
			before = append(before, known)
			if began.IsZero() || known.From.Before(began) {
				began = known.From
			}
			if part, ok := known.Within(f.Month, at); ok {
				f.Spent += part.Amount
				f.Lower = f.Lower || !part.Known && part.Share > 0
			}
		}
	}
	days := Days(before, zone)
	for len(days) > 0 { // days that cost nothing, up to now
		_, next := dayOf(days[len(days)-1].Start, zone)
		if !next.Before(at) {
			break
		}
		_, after := dayOf(next, zone)
		days = append(days, Day{Start: next, Length: after.Sub(next)})
	}
	whole := slices.DeleteFunc(days, func(d Day) bool { return d.Start.Add(d.Length).After(at) })
	if len(whole) > 0 && began.After(whole[0].Start) { // the day on which it all began is not whole
		whole = whole[1:]
	}
	whole = whole[max(0, len(whole)-forecastDays):]
	f.Days = len(whole)
	for i := range before {
		f.Lower = f.Lower || f.Days > 0 && !before[i].Known && before[i].Share > 0 && before[i].To.After(whole[0].Start)
	}
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
