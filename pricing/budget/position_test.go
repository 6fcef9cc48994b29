package budget_test

import (
	"errors"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

var p4d = provider.InstanceType{Name: "p4d.24xlarge", Accelerator: "A100", Count: 8}

// of is a launch of machines for a team, on so many of their accelerators.
func of(team string, machines, accelerators int, rate pricing.Rate) budget.Ask {
	f := budget.FactsOf(aws, p4d)
	a := budget.Ask{Offering: aws, Count: machines, Rate: rate, For: []budget.Part{{Facts: f.For("j", team, ""), Count: accelerators}}}
	if rest := machines*p4d.Count - accelerators; rest > 0 {
		a.For = append(a.For, budget.Part{Facts: f, Count: rest})
	}
	return a
}

func TestLimitCountsTheTeamsPartOfMachines(t *testing.T) {
	vision := selector(t, budget.Match{Team: "vision"})
	at := budget.NewPosition([]budget.Limit{{Name: "vision", Over: vision.Covers, Burn: 10 * usd}}, nil)
	accepted(t, at.Judge("", of("vision", 2, 8, 10*usd)))
	refused(t, at.Judge("", of("vision", 2, 9, 10*usd)), "vision: reserved 0 of 10 USD/h, asked 11.25")
	accepted(t, at.Judge("", of("speech", 2, 16, 10*usd)))
	at.Take("a", of("vision", 2, 4, 10*usd))
	refused(t, at.Judge("", of("vision", 1, 8, 10*usd)), "vision: reserved 5 of 10 USD/h, asked 10")
}

func TestOfTwoPoliciesTheStricterAnswers(t *testing.T) {
	vision := selector(t, budget.Match{Team: "vision"})
	spot := selector(t, budget.Match{Market: "spot"})
	at := budget.NewPosition([]budget.Limit{
		{Name: "vision-burn", Over: vision.Covers, Burn: 40 * usd},
		{Name: "spot-burn", Over: spot.Covers, Burn: 30 * usd},
		{Name: "spot-price", Over: spot.Covers, Burn: budget.Unlimited, MaxRate: 15 * usd},
	}, nil)
	refused(t, at.Judge("", of("vision", 5, 40, 10*usd)), "spot-burn: reserved 0 of 30 USD/h, asked 50")
	refused(t, at.Judge("", of("vision", 1, 8, 20*usd)), "spot-price: 20 USD/h is more than the 15 that a machine may cost")
	accepted(t, at.Judge("", of("vision", 3, 24, 10*usd)))
}

func TestMoneyLeftIsALimitOnRates(t *testing.T) {
	left := budget.Left{Spent: 90 * pricing.Dollar, Amount: 100 * pricing.Dollar, Lasts: 15 * time.Minute}
	if got := left.Burn(); got != 40*usd {
		t.Fatalf("10 USD over a quarter of an hour: %s USD/h, want 40", got)
	}
	at := budget.NewPosition([]budget.Limit{{Name: "month", Burn: left.Burn(), Left: &left}}, machines("old", 30))
	accepted(t, at.Judge("", budget.Ask{Offering: aws, Count: 10, Rate: usd}))
	refused(t, at.Judge("", budget.Ask{Offering: aws, Count: 11, Rate: usd}),
		"month: 90 of 100 USD are spent, what is left lasts 15m0s at 40 USD/h: held 30 and reserved 0, asked 11")
	for _, none := range []budget.Left{{Spent: 5, Amount: 5, Lasts: 1}, {Spent: 9, Amount: 5, Lasts: 1}} {
		if got := none.Burn(); got != 0 {
			t.Errorf("nothing left: %s USD/h", got)
		}
	}
	if got := (budget.Left{Amount: 1 << 62, Lasts: time.Second}).Burn(); got != budget.Unlimited {
		t.Errorf("more than a rate holds: %s", got)
	}
}

func TestShareOfOnDemandNeedsItsRate(t *testing.T) {
	at := budget.NewPosition([]budget.Limit{{Name: "half", Burn: budget.Unlimited, OfList: 0.5}}, nil)
	ask := of("vision", 1, 8, 10*usd)
	refused(t, at.Judge("", ask), "half: the on-demand rate is not known, of which it may cost 50%")
	ask.List = 20 * usd
	accepted(t, at.Judge("", ask))
	ask.List -= 1
	refused(t, at.Judge("", ask), "half: 10 USD/h is more than 50% of the on-demand rate, 19.999999999")
}

func TestStartOnAHeldMachineCountsForTheTeamAlone(t *testing.T) {
	vision := selector(t, budget.Match{Team: "vision"})
	idle := budget.FactsOf(aws, p4d)
	ours, theirs := idle.For("j", "vision", ""), idle.For("k", "speech", "")
	nobody := []budget.Part{{Facts: idle, Count: 8}}
	half := []budget.Part{{Facts: ours, Count: 4}, {Facts: theirs, Count: 4}}
	at := budget.NewPosition([]budget.Limit{
		{Name: "fleet", Burn: 10 * usd},
		{Name: "vision", Over: vision.Covers, Burn: 6 * usd},
	}, []budget.Held{{Instance: "i-1", Offering: aws, Rate: 10 * usd, For: []budget.Part{{Facts: idle, Count: 8}}}})
	start := budget.Start{Job: ours, Idle: idle, Rate: 10 * usd, Before: nobody, After: half}
	accepted(t, at.JudgeStart(start))
	at.TakeStart(start)
	refused(t, at.JudgeStart(start), "vision: held 5 and reserved 0 of 6 USD/h, asked 5")

	// A second job of the team takes what the team bears already, and one of another takes
	// some of it once it is there.
	again := budget.Start{Job: ours, Idle: idle, Rate: 10 * usd, Before: half, After: half}
	accepted(t, at.JudgeStart(again))
	other := budget.Start{Job: theirs, Idle: idle, Rate: 10 * usd, Before: half,
		After: []budget.Part{{Facts: ours, Count: 2}, {Facts: theirs, Count: 6}}}
	accepted(t, at.JudgeStart(other))
	at.TakeStart(other)
	if got, want := at.Uses()[1].Held, 5*usd; got != want {
		t.Errorf("vision holds %s USD/h, want %s", got, want)
	}
	at.DropStart(start)
	if got := at.Uses()[1].Held; got != 0 {
		t.Errorf("vision holds %s USD/h, want nothing", got)
	}
}

// The limits of one policy have names of their own, by which a refusal says which it was.
func TestRefusalNamesTheLimitOfThePolicy(t *testing.T) {
	p := &budget.Policy{Name: "vision", Owner: "o", Burn: 30 * usd, MaxRate: 15 * usd}
	for _, c := range []struct {
		name string
		ask  budget.Ask
		want string
	}{
		{"burn", of("vision", 4, 32, 10*usd), p.BurnName()},
		{"price", of("vision", 1, 8, 20*usd), p.PriceName()},
	} {
		_, err := budget.Explain(budget.Policies{p}, nil, c.ask, budget.Known{}, time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC))
		var refusal *budget.Refused
		if !errors.As(err, &refusal) || refusal.Policy != c.want || c.want == p.Name {
			t.Errorf("%s: got %v, want a refusal by %q", c.name, err, c.want)
		}
	}
}
