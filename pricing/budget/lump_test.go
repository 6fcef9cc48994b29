package budget_test

import (
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// A launch whose job pays something at once is allowed if, and only if, what is left lasts
// for all rates and the money: reckoned here in exact fractions of amounts, not of rates.
func TestMoneyPaidAtOnceComesOffWhatIsLeft(t *testing.T) {
	o := provider.Offering{Cloud: "aws", Region: "r", Zone: "z", Type: "t", Market: provider.Spot}
	team := func(name string) budget.Facts {
		return budget.FactsOf(o, provider.InstanceType{Count: 4}).For("j", name, "")
	}
	rapid.Check(t, func(t *rapid.T) {
		usd := func(name string, least, most int) pricing.Money {
			return pricing.Money(rapid.IntRange(least, most).Draw(t, name)) * pricing.Dollar / 100
		}
		left := budget.Left{Spent: usd("spent", 0, 500), Amount: usd("amount", 500, 2000), Lasts: time.Duration(rapid.IntRange(1, 120).Draw(t, "lasts")) * time.Minute}
		ofTeam := rapid.Bool().Draw(t, "one team")
		limit := budget.Limit{Name: "p", Left: &left, Burn: left.Burn()}
		if ofTeam {
			limit.Over = func(f budget.Facts) bool { return f.Team == "a" }
		}
		held, asked := pricing.Rate(usd("held", 1, 2000)), pricing.Rate(usd("asked", 1, 2000))
		lumps := []budget.Lump{{Facts: team("a"), Amount: usd("once", 0, 1500)}, {Facts: team("b"), Amount: usd("of others", 0, 1500)}}
		under := usd("under way", 0, 300) // of a machine that is held for a job that has not started
		p := budget.NewPosition([]budget.Limit{limit}, []budget.Held{{
			Instance: "i", Offering: o, Rate: held, For: []budget.Part{{Facts: team("a"), Count: 4, Lumps: []budget.Lump{{Facts: team("a"), Amount: under}}}},
		}})
		err := p.Judge("", budget.Ask{Offering: o, Count: 1, Rate: asked, For: []budget.Part{{Facts: team("a"), Count: 4, Lumps: lumps}}})

		once := lumps[0].Amount + under
		if !ofTeam {
			once += lumps[1].Amount
		}
		needs := new(big.Rat).Mul(big.NewRat(int64(held+asked), 1), big.NewRat(int64(left.Lasts), int64(time.Hour)))
		needs.Add(needs, new(big.Rat).SetInt64(int64(once)))
		room := new(big.Rat).SetInt64(int64(left.Amount - left.Spent))
		near := new(big.Rat).Sub(needs, room)
		rounded := near.Abs(near).Cmp(big.NewRat(3*int64(left.Lasts), int64(time.Hour))) <= 0 // rates are: either answer will do
		if allowed := needs.Cmp(room) <= 0; allowed != (err == nil) && !rounded {
			t.Fatalf("needs %s of %s nano dollars: got %v", needs.FloatString(3), room.FloatString(3), err)
		}
	})
}

// A job that begins on a machine that is here, and covered already, pays what it brings.
func TestStartPaysWhatItBrings(t *testing.T) {
	o := provider.Offering{Cloud: "aws", Region: "r", Zone: "z", Type: "t", Market: provider.Spot}
	idle := budget.FactsOf(o, provider.InstanceType{Count: 4})
	left := budget.Left{Amount: 10 * pricing.Dollar, Lasts: time.Hour}
	for name, c := range map[string]struct {
		once pricing.Money
		ok   bool
	}{"fits": {6 * pricing.Dollar, true}, "too much": {6*pricing.Dollar + 1, false}, "nothing": {0, true}} {
		p := budget.NewPosition([]budget.Limit{{Name: "fleet", Left: &left, Burn: left.Burn()}, {Name: "rate", Burn: 5 * pricing.DollarPerHour}},
			[]budget.Held{{Instance: "i", Offering: o, Rate: 4 * pricing.DollarPerHour}})
		part := budget.Part{Facts: idle.For("j", "a", ""), Count: 4, Lumps: []budget.Lump{{Facts: idle.For("j", "a", ""), Amount: c.once}}}
		start := budget.Start{
			Job: part.Facts, Idle: idle, Rate: 4 * pricing.DollarPerHour, Once: part.Lumps,
			Before: []budget.Part{{Facts: idle, Count: 4}}, After: []budget.Part{part},
		}
		if err := p.JudgeStart(start); (err == nil) != c.ok {
			t.Errorf("%s: got %v", name, err)
		}
		p.TakeStart(start)
		if uses := p.Uses(); uses[0].Held != 4*pricing.DollarPerHour+pricing.Rate(c.once) || uses[1].Held != 4*pricing.DollarPerHour {
			t.Errorf("%s: held %s and %s", name, uses[0].Held, uses[1].Held)
		}
	}
}
