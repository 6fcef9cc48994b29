package ledger_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// onAccounts sums charges by account.
func onAccounts(charges []ledger.Charge) map[ledger.Account]pricing.Money {
	sums := map[ledger.Account]pricing.Money{}
	for i := range charges {
		sums[charges[i].Account] += charges[i].Amount
	}
	return sums
}

// near reports whether two amounts differ by no more than each of n lines may be
// rounded by.
func near(a, b pricing.Money, n int) bool { return max(a-b, b-a) <= pricing.Money(n) }

// The run is 10:10 to 12:10, at 4 USD/h, from 10:30 at 6, 11:15 at 5, 11:40 at 5.5 and
// 12:00 at 9. Its first hour began at 4, so 40 minutes cost 2 USD/h more than that; its
// second began at 6, so only the last ten minutes do, 3 USD/h.
func TestSpotRateThatRisesWithinItsHourIsOverrun(t *testing.T) {
	rise := usd(t, "1.333333333") + usd(t, "0.5")
	tests := []struct {
		name  string
		o     provider.Offering
		rules ledger.Rules
		want  pricing.Money
	}{
		{"Google spot", gcpSpot, ledger.Rules{}, rise},
		{"TPU spot", tpuSpot, ledger.Rules{Types: catalogue(t)}, rise},
		{"at a discount of a half", gcpSpot, ledger.Rules{Discounts: []ledger.Discount{{Cloud: "gcp", Factor: factor(t, "0.5")}}}, rise / 2},
		{"Amazon spot, by the second", awsSpot, ledger.Rules{Spot: ledger.PerSecond}, rise},
		{"Amazon spot, fixed for the hour", awsSpot, ledger.Rules{}, 0},
		{"on demand", gcpOnDemand, ledger.Rules{}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := history(t, quoted(tt.o, day, "4"), quoted(tt.o, clock(10, 30, 0), "6"), quoted(tt.o, clock(11, 15, 0), "5"),
				quoted(tt.o, clock(11, 40, 0), "5.5"), quoted(tt.o, clock(12, 0, 0), "9"))
			inst := life("i-1", tt.o, clock(10, 10, 0), clock(12, 10, 0), provider.EndedByUs)
			for _, step := range []time.Duration{time.Minute, 7 * time.Minute, 3 * time.Hour} {
				m := ledger.NewMeter(h, tt.rules)
				charges := settled(m, inst, 8, step)
				for i := range charges {
					if err := charges[i].Check(); err != nil {
						t.Errorf("charge %s: %v", charges[i].ID, err)
					}
				}
				whole, on := amounts(t, charges), onAccounts(charges)
				if got := on[ledger.Overrun]; !near(got, tt.want, len(charges)) || on[ledger.ToJob] != whole-got {
					t.Errorf("booked every %v: %s of %s USD are overrun, want %s; the job bears %s", step, got, whole, tt.want, on[ledger.ToJob])
				}
				charges = append(charges, m.Transfer(ledger.Move{Out: ledger.ToJob, Into: ledger.ToWaste, Job: "GPT-L", From: inst.Started, To: inst.Ended, Round: 1000})...)
				if again := amounts(t, charges); again != whole {
					t.Errorf("with the work lost it costs %s USD, without %s", again, whole)
				}
				lost := onAccounts(charges)
				if !near(lost[ledger.Overrun], tt.want, len(charges)) || !near(lost[ledger.ToJob], 0, len(charges)) || !near(lost[ledger.ToWaste], whole-tt.want, len(charges)) {
					t.Errorf("with the work lost: %v, want %s USD of overrun, and the rest waste", lost, tt.want)
				}
			}
		})
	}
}

// What is taken back takes its rise with it.
func TestRiseGoesWithAnHourThatIsFree(t *testing.T) {
	h := history(t, quoted(awsSpot, day, "4"), quoted(awsSpot, clock(10, 30, 0), "6"))
	charges := settled(ledger.NewMeter(h, ledger.Rules{Spot: ledger.PerSecond}), life("i-1", awsSpot, clock(10, 10, 0), clock(11, 0, 0), provider.Interrupted), 8, 3*time.Minute)
	if got := amounts(t, charges); got != 0 {
		t.Errorf("a machine lost within its free hour costs %s USD", got)
	}
	risen := false
	for i := range charges {
		risen = risen || charges[i].Kind == ledger.Rise && charges[i].Amount > 0
	}
	if on := onAccounts(charges); !risen || !near(on[ledger.Overrun], 0, len(charges)) || !near(on[ledger.ToJob], 0, len(charges)) {
		t.Errorf("risen %v, and %v is left, want nothing", risen, on)
	}
}

// Whatever prices do, the overrun of a run is the sum over its minutes of what the
// rate lies above that at the start of the instance-hour.
func TestRiseIsTheSumOverMinutes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		minutes := rapid.IntRange(2, 200).Draw(rt, "minutes")
		at := clock(10, rapid.IntRange(0, 59).Draw(rt, "started"), 0)
		rates := make([]pricing.Rate, minutes)
		var quotes []pricing.Quote
		for n := range rates {
			if n == 0 || rapid.IntRange(0, 19).Draw(rt, "moves") == 0 {
				rates[n] = pricing.Rate(rapid.Int64Range(1, 20_000_000_000).Draw(rt, "rate"))
				quotes = append(quotes, pricing.Quote{Offering: gcpSpot, Rate: rates[n], At: at.Add(time.Duration(n) * time.Minute), Source: "test"})
				continue
			}
			rates[n] = rates[n-1]
		}
		var want pricing.Money
		for n, rate := range rates {
			if base := rates[n-n%60]; rate > base {
				want += (rate - base).Over(time.Minute)
			}
		}
		h := history(t, quotes...)
		inst := life("i-1", gcpSpot, at, at.Add(time.Duration(minutes)*time.Minute), provider.EndedByUs)
		step := time.Duration(rapid.IntRange(1, 90).Draw(rt, "step")) * time.Minute
		charges := settled(ledger.NewMeter(h, ledger.Rules{}), inst, 3, step)
		if err := ledger.Check(charges); err != nil {
			rt.Fatal(err)
		}
		if got := onAccounts(charges)[ledger.Overrun]; !near(got, want, minutes+len(charges)) {
			rt.Errorf("%s USD are overrun, want %s", got, want)
		}
	})
}
