package autoscale_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
	"github.com/goodfleet/goodfleet/provider/fake"
)

// What a store says is committed of a cap is what a round counts that begins then: of machines
// on demand and on spot, shared or not, idle, and paid ahead, whether the reservation is in the
// settings of whoever asks or not.
func TestAStoreSaysTheCommittedSumOfARound(t *testing.T) {
	for name, c := range map[string]struct {
		sold     []provider.Offering
		about    budget.Match
		each     budget.Each
		reserved bool
	}{
		"all on demand":                 {sold: []provider.Offering{smallOnDemand}},
		"all on spot":                   {sold: []provider.Offering{smallSpot, largeSpot}},
		"a team":                        {sold: []provider.Offering{smallOnDemand, largeSpot}, about: budget.Match{Team: "Vision"}},
		"each job on a shared machine":  {sold: []provider.Offering{largeSpot}, each: budget.PerJob},
		"a market":                      {sold: []provider.Offering{smallOnDemand, largeSpot}, about: budget.Match{Market: "spot"}},
		"all, with a reservation":       {sold: []provider.Offering{smallOnDemand}, reserved: true},
		"each team, with a reservation": {sold: []provider.Offering{smallOnDemand}, each: budget.PerTeam, reserved: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := setup{offerings: c.sold}
			if c.reserved {
				s.offerings = append(s.offerings, block)
				s.blocks = []fake.Block{{Offering: block, Count: 1, From: start, Until: start.Add(48 * time.Hour)}}
			}
			w := newWorld(t, s)
			if c.reserved {
				w.cfg.Reservations = []autoscale.Reservation{{Offering: block, Count: 1, From: start, Until: start.Add(48 * time.Hour)}}
				w.prices.rates[block] = 2 * pricing.DollarPerHour // it has a price, and was paid
				w.restart()
			}
			var quotes []pricing.Quote
			for o, rate := range w.prices.rates {
				quotes = append(quotes, pricing.Quote{Offering: o, Rate: rate, At: start.Add(-time.Hour), Source: "test"})
			}
			prices, err := pricing.NewHistory(quotes, nil)
			if err != nil {
				t.Fatal(err)
			}
			teams := []string{"Vision", "Vision", "Speech"}
			if c.reserved {
				teams = append(teams, "Speech", "Vision", "Speech") // four of them fill it
			}
			for i, team := range teams {
				job := testJob(planner.JobID("job-"+string(rune('a'+i))), 30, 1)
				job.Team, job.ValueOfTime, job.Checkpoint.Save = team, 50*pricing.DollarPerHour, time.Duration(i)*time.Minute
				w.submit(job)
			}
			w.until(40, func() bool { return w.runs() == len(teams) })
			for range 7 {
				w.round(5 * time.Minute)
			}
			// A step that is reached at once tells what the round counts.
			p := &budget.Policy{
				Name: "p", Owner: "o", Over: selector(t, c.about), Cap: &budget.Cap{Amount: 100 * pricing.Dollar, Period: budget.Day, Each: c.each},
				Steps: []budget.Step{{At: 0.001, Measure: budget.Committed, Do: budget.Warn}},
			}
			w.put(p)
			w.round(90 * time.Second)
			snap, err := w.store.Load(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			charges, err := w.store.Charges(context.Background(), time.Time{}, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			var spends []budget.Spend
			for _, x := range charges {
				if x.Budgeted() {
					kind, _ := w.catalogue.Lookup(x.Offering.Cloud, x.Offering.Type)
					spends = append(spends, budget.Spend{Facts: budget.FactsOf(x.Offering, kind).For(x.Job, x.Team, x.Project), At: x.From, To: x.To, Amount: x.Amount})
				}
			}
			if c.reserved != slices.ContainsFunc(snap.Instances, func(m autoscale.InstanceRecord) bool { return m.Instance.Offering == block }) {
				t.Fatalf("a reservation is used: want %v\n%s", c.reserved, w.history())
			}
			policies := budget.Policies{p}
			standings := budget.Standings(policies, spends, w.now)
			state := autoscale.State{Now: w.now, Catalogue: w.catalogue, Jobs: snap.Jobs, Machines: snap.Instances, Intents: snap.Intents}
			tails, err := state.Tails(policies, standings, prices, w.cfg.Settings)
			if err != nil {
				t.Fatal(err)
			}
			if len(standings) == 0 {
				t.Fatal("nothing is spent")
			}
			told := 0
			for i, x := range standings {
				want := x.Name() + ": warn at 0.1% committed: " + (x.Spent + tails[i]).String() + " USD of 100"
				if told++; !w.says(want) {
					t.Errorf("by the store it is %q; the loop says\n%s", want, lines(w.history(), "committed: "))
				}
				if tails[i] <= 0 {
					t.Errorf("%s: nothing goes on", x.Name())
				}
			}
			if got := strings.Count(w.history(), "committed: "); got < told {
				t.Errorf("%d sums of the loop, %d of the store", got, told)
			}
		})
	}
}

// lines are those of a text that hold a word.
func lines(text, word string) string {
	var list []string
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, word) {
			list = append(list, line)
		}
	}
	return strings.Join(list, "\n")
}
