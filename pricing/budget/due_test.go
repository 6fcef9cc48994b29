package budget

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing"
)

var november = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// spendAt is an amount that is spent within an hour.
func spendAt(at time.Time, dollars int64) Spend {
	return Spend{At: at, To: at.Add(time.Hour), Amount: pricing.Money(dollars) * pricing.Dollar, Facts: Facts{Job: "a", Team: "Vision"}}
}

// dueTexts are the texts of what is due, in order.
func dueTexts(p *Policy, spends []Spend, look Look) []string {
	list := []string{}
	for _, n := range Due(Policies{p}, spends, look) {
		list = append(list, n.To+": "+n.Text)
	}
	return list
}

func TestDueTellsEachDestinationOfWhatIsReached(t *testing.T) {
	monthly := func(steps ...Step) *Policy {
		return &Policy{Name: "p", Cap: &Cap{Amount: 100 * pricing.Dollar, Period: Month}, Steps: steps, Notify: []string{"ops"}}
	}
	warn := Step{At: 0.5, Measure: Actual, Do: Warn}
	noNew := Step{At: 0.9, Measure: Committed, Do: NoNew}
	day := november.AddDate(0, 0, 9)
	tail := func(dollars int64) func(*Standing) pricing.Money {
		return func(*Standing) pricing.Money { return pricing.Money(dollars) * pricing.Dollar }
	}
	two := monthly(warn)
	two.Notify = []string{"ops", "finance"}
	trial := monthly(warn)
	trial.DryRun = true
	silent := monthly(warn)
	silent.Notify = nil
	window := &Policy{Name: "w", Cap: &Cap{Amount: 100 * pricing.Dollar, Period: Dated, From: november, Until: november.AddDate(0, 0, 5)}, Steps: []Step{warn}, Notify: []string{"ops"}}
	each := &Policy{Name: "e", Cap: &Cap{Amount: 50 * pricing.Dollar, Period: Always, Each: PerJob}, Notify: []string{"ops"}}
	for name, c := range map[string]struct {
		p      *Policy
		spends []Spend
		look   Look
		want   []string
	}{
		"nothing below the share": {monthly(warn), []Spend{spendAt(november, 49)}, Look{Now: day}, nil},
		"at the share":            {monthly(warn), []Spend{spendAt(november, 50)}, Look{Now: day}, []string{"ops: p: warn at 50% actual: 50 USD of 100 until 2026-12-01T00:00:00Z"}},
		"both destinations": {two, []Spend{spendAt(november, 60)}, Look{Now: day}, []string{
			"ops: p: warn at 50% actual: 60 USD of 100 until 2026-12-01T00:00:00Z", "finance: p: warn at 50% actual: 60 USD of 100 until 2026-12-01T00:00:00Z"}},
		"no destination":             {silent, []Spend{spendAt(november, 60)}, Look{Now: day}, nil},
		"a dry run says so":          {trial, []Spend{spendAt(november, 60)}, Look{Now: day}, []string{"ops: dry run: p: warn at 50% actual: 60 USD of 100 until 2026-12-01T00:00:00Z"}},
		"what is committed at least": {monthly(noNew), []Spend{spendAt(november, 95)}, Look{Now: day}, []string{"ops: p: no-new at 90% committed: at least 95 USD of 100 until 2026-12-01T00:00:00Z"}},
		"what is committed":          {monthly(noNew), []Spend{spendAt(november, 85)}, Look{Now: day, Tail: tail(6)}, []string{"ops: p: no-new at 90% committed: 91 USD of 100 until 2026-12-01T00:00:00Z"}},
		"the stop": {monthly(warn), []Spend{spendAt(november, 98)}, Look{Now: day, Tail: tail(3)}, []string{
			"ops: p: warn at 50% actual: 98 USD of 100 until 2026-12-01T00:00:00Z", "ops: p: stop as the amount ends: 101 USD of 100 until 2026-12-01T00:00:00Z"}},
		"reached in the last hour of the period before": {monthly(warn, noNew), []Spend{spendAt(november.Add(-time.Hour), 60), spendAt(november, 1)}, Look{Now: day, Tail: tail(90)}, []string{
			"ops: p: warn at 50% actual: 60 USD of 100 until 2026-11-01T00:00:00Z", "ops: p: no-new at 90% committed: 91 USD of 100 until 2026-12-01T00:00:00Z"}},
		"two periods before":  {monthly(warn), []Spend{spendAt(november.Add(-time.Hour), 60)}, Look{Now: day.AddDate(0, 1, 0)}, nil},
		"before the window":   {window, nil, Look{Now: november.Add(-1)}, nil},
		"in the window":       {window, []Spend{spendAt(november, 60)}, Look{Now: november.AddDate(0, 0, 3)}, []string{"ops: w: warn at 50% actual: 60 USD of 100 until 2026-11-06T00:00:00Z"}},
		"after the window":    {window, []Spend{spendAt(november, 60), spendAt(day, 90)}, Look{Now: day.AddDate(0, 0, 3), Tail: tail(90)}, []string{"ops: w: warn at 50% actual: 60 USD of 100 until 2026-11-06T00:00:00Z"}},
		"each job, for good":  {each, []Spend{spendAt(november, 50)}, Look{Now: day}, []string{"ops: e/a: stop as the amount ends: at least 50 USD of 50"}},
		"not for some rounds": {monthly(Step{At: 0.5, Measure: Actual, Rounds: 3, Do: Warn}), []Spend{spendAt(day.Add(-time.Hour), 50)}, Look{Now: day.Add(time.Minute), Round: time.Minute}, nil},
		"for three rounds": {monthly(Step{At: 0.5, Measure: Actual, Rounds: 3, Do: Warn}), []Spend{spendAt(day.Add(-time.Hour), 50)}, Look{Now: day.Add(2 * time.Minute), Round: time.Minute}, []string{
			"ops: p: warn at 50% actual for 3 rounds: 50 USD of 100 until 2026-12-01T00:00:00Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want == nil {
				c.want = []string{}
			}
			if diff := cmp.Diff(c.want, dueTexts(c.p, c.spends, c.look)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDueForecastAgreesWithStanding(t *testing.T) {
	p := &Policy{Name: "p", Cap: &Cap{Amount: 100 * pricing.Dollar, Period: Month}, Notify: []string{"ops"}, Steps: []Step{{At: 1, Measure: Foretold, Quantile: 0.5, Do: Warn}}}
	var spends []Spend
	first := 0
	for day := range 20 {
		now := november.AddDate(0, 0, day)
		s := Standings(Policies{p}, spends, now)[0]
		got, want := len(Due(Policies{p}, spends, Look{Now: now})) > 0, s.Forecast.Known && s.Forecast.P50 >= 100*pricing.Dollar
		if got != want {
			t.Errorf("day %d: due %t, forecast %v", day+1, got, s.Forecast)
		}
		if got && first == 0 {
			first = day + 1
		}
		spends = append(spends, spendAt(now.Add(time.Hour), int64(day)))
	}
	if first < 3 || first > 10 { // as 1, 2, 3 ... USD a day come to 30 times their mean
		t.Errorf("first due on day %d", first)
	}
}

// An event keeps its id from look to look while money goes on; another period, another step
// and an amount that people changed have ids of their own.
func TestIDOfAnEventStays(t *testing.T) {
	p := &Policy{Name: "p", Cap: &Cap{Amount: 100 * pricing.Dollar, Period: Month}, Notify: []string{"ops"}, Steps: []Step{{At: 0.5, Measure: Actual, Do: Warn}}}
	spends := []Spend{spendAt(november, 60), spendAt(november.AddDate(0, 0, 20), 10), spendAt(november.AddDate(0, 1, 1), 70)}
	id := func(now time.Time) string {
		t.Helper()
		list := Due(Policies{p}, spends, Look{Now: now})
		if len(list) == 0 {
			t.Fatalf("nothing is due at %s", now)
		}
		return list[len(list)-1].ID()
	}
	first := id(november.AddDate(0, 0, 2))
	if later := id(november.AddDate(0, 0, 25)); later != first {
		t.Errorf("id %s, later in the month %s", first, later)
	}
	if over := Due(Policies{p}, spends, Look{Now: november.AddDate(0, 1, 5)}); len(over) != 2 || over[0].ID() != first {
		t.Errorf("after the month it is not the same: %+v, want %s first", over, first)
	}
	if next := id(november.AddDate(0, 1, 5)); next == first {
		t.Errorf("another month has the same id")
	}
	p.Exceptions = []Exception{{Until: november.AddDate(0, 0, 28), Add: 5 * pricing.Dollar, Owner: "ada", Reason: "review"}}
	if more := id(november.AddDate(0, 0, 2)); more == first {
		t.Errorf("with 5 USD more it has the same id")
	}
	p.Exceptions, p.DryRun = nil, true
	if trial := id(november.AddDate(0, 0, 2)); trial == first {
		t.Errorf("a dry run has the same id")
	}
}

// What is due of a day, and of the day before, is what a replay of the same ledger finds in
// them: two ways through the same charges.
func TestDueAgreesWithReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &Policy{Name: "p", Cap: &Cap{Amount: 20 * pricing.Dollar, Period: Day}, Notify: []string{"ops"}}
		for range rapid.IntRange(0, 3).Draw(t, "steps") {
			p.Steps = append(p.Steps, Step{At: float64(rapid.IntRange(1, 150).Draw(t, "at")) / 100, Measure: rapid.SampledFrom([]Measure{Actual, Committed}).Draw(t, "measure"), Do: Warn})
		}
		var spends []Spend
		for range rapid.IntRange(0, 12).Draw(t, "spends") {
			at := november.Add(time.Duration(rapid.IntRange(0, 46).Draw(t, "hour")) * time.Hour)
			spends = append(spends, spendAt(at, rapid.Int64Range(0, 9).Draw(t, "dollars")))
		}
		now := november.AddDate(0, 0, 2).Add(-1)
		var got, want []string
		for _, n := range Due(Policies{p}, spends, Look{Now: now}) {
			day, what, _ := strings.Cut(n.Event, "\n")
			what, _, _ = strings.Cut(what, "\n")
			got = append(got, day+" "+what)
		}
		for _, f := range Replay(Policies{p}, spends) {
			want = append(want, f.From.Format(time.RFC3339)+" "+f.What)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("due %q, replayed %q", got, want)
		}
	})
}

// TestAWindowThatIsOverStandsAsItEnded: an exception that held at its end counts, so that what
// was allowed is no overrun afterwards.
func TestAWindowThatIsOverStandsAsItEnded(t *testing.T) {
	until := november.AddDate(0, 0, 27)
	p := &Policy{Name: "w", Notify: []string{"ops"}, Steps: []Step{{At: 0.8, Measure: Actual, Do: Warn}},
		Cap:        &Cap{Amount: 50 * pricing.Dollar, Period: Dated, From: november, Until: until},
		Exceptions: []Exception{{From: november.AddDate(0, 0, 4), Until: until, Add: 30 * pricing.Dollar, Owner: "ada", Reason: "r"}}}
	spends := []Spend{spendAt(november.AddDate(0, 0, 10), 63)}
	for _, now := range []time.Time{until.Add(-time.Minute), until, until.AddDate(0, 0, 1), until.AddDate(1, 0, 0)} {
		if got := dueTexts(p, spends, Look{Now: now}); len(got) > 0 {
			t.Errorf("%s: due is %v", now, got)
		}
		s := Standings(Policies{p}, spends, now)[0]
		if s.Amount != 80*pricing.Dollar || s.Spent != 63*pricing.Dollar {
			t.Errorf("%s: %s of %s USD", now, s.Spent, s.Amount)
		}
		if what, _ := s.Next(now); s.Over(now) != (what == "the window is over") || s.Over(now) != !now.Before(until) {
			t.Errorf("%s: next is %q", now, what)
		}
	}
	late := append(spends, spendAt(until.Add(-2*time.Hour), 20))
	if got := dueTexts(p, late, Look{Now: until.AddDate(0, 0, 1)}); len(got) != 2 {
		t.Errorf("after a window that was used up, due is %v", got)
	}
}
