package budget_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
)

var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

// walk goes through measures, a minute apart, and lists the rounds in which a step
// turned: positive when it was done, negative when it was armed again.
func walk(p *budget.Policy, percents ...float64) (turned []int, level budget.Action) {
	var m budget.Mark
	for i, share := range percents {
		var turns []budget.Turn
		x := budget.Measures{Amount: 100 * pricing.Dollar, Spent: pricing.Money(share * float64(pricing.Dollar))}
		m, level, turns = p.Walk(m, x, noon.Add(time.Duration(i)*time.Minute))
		for _, t := range turns {
			if t.Done {
				turned = append(turned, i+1)
			} else {
				turned = append(turned, -i-1)
			}
		}
	}
	return turned, level
}

func TestStepIsDoneOnceUntilItFallsByTheMargin(t *testing.T) {
	p := &budget.Policy{Margin: 0.03, Steps: []budget.Step{{At: 0.8, Measure: budget.Actual, Do: budget.Warn}}}
	if got, _ := walk(p, 79, 81, 79, 81, 79, 81, 79, 81, 79, 81); !slices.Equal(got, []int{2}) {
		t.Errorf("turned in rounds %v, want 2 alone", got)
	}
	if got, _ := walk(p, 81, 77, 76.9, 81); !slices.Equal(got, []int{1, -3, 4}) {
		t.Errorf("turned in rounds %v, want done in 1, armed in 3, done in 4", got)
	}
	p.Cooldown = 5 * time.Minute
	if got, _ := walk(p, 81, 70, 70, 70, 70, 70, 81, 81, 81, 81, 81, 81); !slices.Equal(got, []int{1, -6, 11}) {
		t.Errorf("turned in rounds %v, want five rounds between", got)
	}
}

func TestStepWaitsForItsRoundsInARow(t *testing.T) {
	p := &budget.Policy{Steps: []budget.Step{{At: 0.8, Measure: budget.Committed, Rounds: 3, Do: budget.NoNew}}}
	if got, level := walk(p, 81, 81, 79, 81, 81, 81); !slices.Equal(got, []int{6}) || level != budget.NoNew {
		t.Errorf("turned in rounds %v, level %s", got, level)
	}
}

func TestMostSevereStepIsInForce(t *testing.T) {
	p := &budget.Policy{Steps: []budget.Step{
		{At: 0.5, Measure: budget.Actual, Do: budget.Drain}, {At: 0.4, Measure: budget.Actual, Do: budget.Warn},
		{At: 0.1, Measure: budget.Foretold, Quantile: 0.5, Do: budget.Stop}, // not known: it does not turn
	}}
	if _, level := walk(p, 60); level != budget.Drain {
		t.Errorf("level %q, want drain", level)
	}
}

func TestCarriedOver(t *testing.T) {
	const usd = pricing.Dollar
	for _, c := range []struct {
		name      string
		unused    float64
		overdraft bool
		before    []budget.Before
		want      pricing.Money
	}{
		{"nothing is known of before", 0.2, true, nil, 0},
		{"all was left: the share alone", 0.2, true, []budget.Before{{}}, 20 * usd},
		{"a little was left", 0.2, true, []budget.Before{{Spent: 95 * usd}}, 5 * usd},
		{"what was carried into it was used first", 0.2, true, []budget.Before{{Spent: 115 * usd}, {}}, 5 * usd},
		{"a debt", 0.2, true, []budget.Before{{Spent: 130 * usd}, {Spent: 100 * usd}}, -30 * usd},
		{"a debt after a debt", 0.2, true, []budget.Before{{Spent: 100 * usd}, {Spent: 110 * usd}}, -10 * usd},
		{"no overdraft, no debt", 0.2, false, []budget.Before{{Spent: 130 * usd}}, 0},
		{"what an exception added is no debt", 0.2, true, []budget.Before{{Spent: 130 * usd, Added: 30 * usd}}, 0},
		{"what passed it is", 0.2, true, []budget.Before{{Spent: 135 * usd, Added: 30 * usd}}, -5 * usd},
		{"and is not carried over unused", 0.2, true, []budget.Before{{Spent: 110 * usd, Added: 30 * usd}}, 0},
		{"nothing is carried", 0, false, []budget.Before{{}}, 0},
	} {
		limit := budget.Cap{Amount: 100 * usd, Unused: c.unused, Overdraft: c.overdraft}
		if got := limit.Carried(c.before...); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// An exception that ends within its period has added its money there too.
func TestExceptionIsNoDebtOfTheNextPeriod(t *testing.T) {
	day := time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)
	over, err := budget.NewSelector(budget.Match{})
	if err != nil {
		t.Fatal(err)
	}
	p := &budget.Policy{
		Name: "day", Owner: "o", Over: over,
		Cap:        &budget.Cap{Amount: 10 * pricing.Dollar, Period: budget.Day, Overdraft: true},
		Exceptions: []budget.Exception{{From: day.Add(6 * time.Hour), Until: day.Add(12 * time.Hour), Add: 5 * pricing.Dollar, Owner: "o", Reason: "r"}},
	}
	spends := []budget.Spend{{At: day.Add(7 * time.Hour), To: day.Add(10 * time.Hour), Amount: 16 * pricing.Dollar}}
	s := budget.Standings(budget.Policies{p}, spends, day.Add(30*time.Hour))
	if len(s) != 1 || s[0].Carried != -pricing.Dollar {
		t.Errorf("%+v, want one dollar of 16 to be a debt", s)
	}
}

func TestForecastOfASteadySpendingIsItsLine(t *testing.T) {
	tally := budget.NewTally(budget.Month)
	day := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for d := range 10 {
		tally.Add(day.AddDate(0, 0, d).Add(time.Hour), day.AddDate(0, 0, d).Add(2*time.Hour), 30*pricing.Dollar)
	}
	f := tally.Forecast(300*pricing.Dollar, day.AddDate(0, 0, 10), day.AddDate(0, 1, 0))
	if want := 900 * pricing.Dollar; !f.Known || f.P50 != want || f.P90 != want {
		t.Errorf("got %+v, want %s for both", f, want)
	}
	if f := tally.Forecast(0, day.AddDate(0, 0, 3), day.AddDate(0, 1, 0)); f.Known {
		t.Errorf("two whole days: %+v, want nothing known", f)
	}
}

// Of many months of days drawn at random, nine in ten end below P90, and half below P50.
func TestQuantilesOfForecastsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	below50, below90, months := 0, 0, 2000
	for range months {
		tally := budget.NewTally(budget.Month)
		spent, all := pricing.Money(0), pricing.Money(0)
		for d := -20; d < 30; d++ {
			v := pricing.Money((20 + 10*r.Float64()) * float64(pricing.Dollar))
			if d < 10 {
				tally.Add(noon.AddDate(0, 0, d), noon.AddDate(0, 0, d).Add(time.Hour), v)
			}
			if d >= 0 {
				all += v
			}
			if d >= 0 && d < 10 {
				spent += v
			}
		}
		now := time.Date(2026, 11, 12, 0, 0, 0, 0, time.UTC)
		f := tally.Forecast(spent, now, now.AddDate(0, 0, 20))
		if all <= f.P50 {
			below50++
		}
		if all <= f.P90 {
			below90++
		}
	}
	// The mean itself is estimated, of 28 days: the spread of what is left is wider than
	// P90 knows by the root of 1 + 20/28.
	if p := float64(below50) / float64(months); math.Abs(p-0.5) > 0.05 {
		t.Errorf("%.3f of the months end below P50", p)
	}
	if p := float64(below90) / float64(months); p < 0.8 || p > 0.92 {
		t.Errorf("%.3f of the months end below P90", p)
	}
}
