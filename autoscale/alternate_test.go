package autoscale_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// nearWorld sells one machine in two zones whose prices differ by half a percent.
func nearWorld(t *testing.T, s setup) *world {
	s.offerings = []provider.Offering{smallSpot, smallSpotB}
	w := newWorld(t, s)
	w.prices.rates[smallSpotB] = pricing.DollarPerHour * 1005 / 1000
	return w
}

// A zone that is worth as much is left to the cloud: one call brings the machine from
// where there is one, and everything is told, planned and booked by what came.
func TestLaunchLeavesTheZoneToTheCloud(t *testing.T) {
	w := nearWorld(t, setup{})
	w.do("pool aws/use1-az1/small/spot down")
	w.submit(testJob("a", 2, 1))
	r := w.round(time.Minute)
	if calls := w.clouds[0].calls; len(calls) != 1 || calls[0].Offering != smallSpot || !slices.Equal(calls[0].Alternates, []provider.Offering{smallSpotB}) {
		t.Fatalf("calls %+v, want one for %s or %s", calls, smallSpot, smallSpotB)
	}
	if len(r.Bought) != 1 || r.Bought[0].Offering != smallSpotB {
		t.Fatalf("bought %+v", r.Bought)
	}
	if got := w.job("a").Target; got == nil || got.Offering != smallSpotB {
		t.Errorf("target %+v, want it in the zone that it came from", got)
	}
	if k := w.kinds(); k[autoscale.EventLaunchFailed]+k[autoscale.EventBackOff] != 0 {
		t.Errorf("events %v", k)
	}
	w.until(150, w.allEnded)
	for _, m := range w.records() {
		if m.Rate != w.prices.rates[smallSpotB] {
			t.Errorf("%s: rate %s, want that of %s", m.Instance.ID, m.Rate, smallSpotB)
		}
	}
	charges, err := w.store.Charges(context.Background(), time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var lived time.Duration
	var sum pricing.Money
	for _, c := range charges {
		if c.Offering != smallSpotB {
			t.Errorf("charged for %s", c.Offering)
		}
		sum += c.Amount
	}
	for _, m := range w.clouds[0].Cloud.Machines() {
		lived += m.Ended.Sub(m.Started)
	}
	if want := w.prices.rates[smallSpotB].Over(lived); (sum-want).Dollars() > 1e-6 || (want-sum).Dollars() > 1e-6 {
		t.Errorf("%s USD are booked for %v, want %s", sum, lived, want)
	}
	if k := w.kinds(); k[autoscale.EventMove] != 0 {
		t.Errorf("it moved afterwards: %v", k)
	}
}

func (w *world) records() []autoscale.InstanceRecord {
	w.t.Helper()
	list, err := w.store.Instances(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// A zone that costs more than the slack is no alternate.
func TestDearerZoneIsNoAlternate(t *testing.T) {
	w := nearWorld(t, setup{})
	w.prices.rates[smallSpotB] = pricing.DollarPerHour * 106 / 100
	w.submit(testJob("a", 2, 1))
	w.round(time.Minute)
	if calls := w.clouds[0].calls; len(calls) != 1 || len(calls[0].Alternates) != 0 {
		t.Errorf("calls %+v, want one without alternates", calls)
	}
}

// The budget holds back the rate of the dearest that may come. Where that is too much
// and the plan's own is not, the zone is not left to the cloud.
func TestBudgetReservesTheDearestAlternate(t *testing.T) {
	for _, tt := range []struct {
		milli pricing.Rate // of a dollar per hour, the cap
		want  int          // alternates in the call
		calls int
	}{{1005, 1, 1}, {1004, 0, 1}, {1000, 0, 1}, {999, 0, 0}} {
		w := nearWorld(t, setup{})
		w.guard(pricing.DollarPerHour * tt.milli / 1000)
		w.submit(testJob("a", 2, 1))
		w.round(time.Minute)
		calls := w.clouds[0].calls
		if len(calls) != tt.calls || len(calls) > 0 && len(calls[0].Alternates) != tt.want {
			t.Errorf("under a cap of %d/1000 USD/h: calls %+v, want %d with %d alternates", tt.milli, calls, tt.calls, tt.want)
		}
	}
}

// What may come in the place of one launch takes no money that another is planned with:
// all of a plan is bought under a cap that it keeps, and zones are left open by what is
// left.
func TestAlternatesLeaveTheMoneyOfThePlanAlone(t *testing.T) {
	for _, tt := range []struct {
		milli pricing.Rate // of a dollar per hour, the cap
		want  []int        // alternates in each call
	}{{3000, []int{0, 0}}, {3005, []int{1, 0}}, {3015, []int{1, 1}}} {
		w := nearWorld(t, setup{})
		w.guard(pricing.DollarPerHour * tt.milli / 1000)
		w.submit(testJob("a", 2, 1), testJob("b", 3, 2))
		w.round(time.Minute)
		var got []int
		for _, call := range w.clouds[0].calls {
			got = append(got, len(call.Alternates))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("under a cap of %d/1000 USD/h: calls with %v alternates, want %v", tt.milli, got, tt.want)
		}
	}
}

// The answer to a launch that left the zone open is lost, or the controller dies: the
// same request is sent again, and the job knows where its machine came from.
func TestLostAnswerOfALaunchWithAlternates(t *testing.T) {
	for _, dies := range []bool{false, true} {
		w := nearWorld(t, setup{})
		w.do("pool aws/use1-az1/small/spot down", "launch answer lost")
		w.submit(testJob("a", 2, 1))
		w.round(time.Minute)
		first := w.clouds[0].calls[0]
		if dies {
			w.restart()
		}
		w.round(time.Minute)
		if again := w.clouds[0].calls; len(again) != 1 || !again[0].Equal(first) {
			t.Errorf("sent again: %+v, want %+v", again, first)
		}
		if got := w.job("a").Target; got == nil || got.Offering != smallSpotB {
			t.Errorf("target %+v", got)
		}
		w.until(150, w.allEnded)
		if n := len(w.clouds[0].Cloud.Machines()); n != 1 {
			t.Errorf("%d machines were bought", n)
		}
	}
}

// What all zones refuse is left alone in all of them.
func TestRefusalMarksDownEveryAlternate(t *testing.T) {
	w := nearWorld(t, setup{})
	w.do("pool aws/use1-az1/small/spot down", "pool aws/use1-az2/small/spot down")
	w.submit(testJob("a", 2, 1))
	w.round(time.Minute)
	if k := w.kinds(); k[autoscale.EventBackOff] != 2 || len(w.clouds[0].calls) != 1 {
		t.Errorf("events %v after %d calls", k, len(w.clouds[0].calls))
	}
}

// Under budget policies the zone is left to the cloud wherever all that hold allow every
// zone, at the rate of the dearest.
func TestZoneIsLeftToTheCloudWherePoliciesAllowAll(t *testing.T) {
	vision, zoneB := selector(t, budget.Match{Team: "Vision"}), selector(t, budget.Match{Zone: "use1-az2"})
	milli := func(n pricing.Rate) pricing.Rate { return pricing.DollarPerHour * n / 1000 }
	for _, tt := range []struct {
		name   string
		policy budget.Policy
		want   int // alternates in the call
	}{
		{"a policy of another team", budget.Policy{Over: selector(t, budget.Match{Team: "NLP"}), Burn: milli(1)}, 1},
		{"a dry run that would allow nothing", budget.Policy{MaxRate: milli(1), DryRun: true}, 1},
		{"burn for the dearest", budget.Policy{Over: vision, Burn: milli(1005)}, 1},
		{"burn for the planned zone alone", budget.Policy{Over: vision, Burn: milli(1004)}, 0},
		{"a dearest machine", budget.Policy{MaxRate: milli(1005)}, 1},
		{"a dearest machine of the planned zone", budget.Policy{MaxRate: milli(1004)}, 0},
		{"burn of the other zone", budget.Policy{Over: zoneB, Burn: milli(1004)}, 0},
		{"burn of the other zone for one", budget.Policy{Over: zoneB, Burn: milli(1005)}, 1},
		{"money for the other zone that is all spent", budget.Policy{Over: zoneB, Cap: &budget.Cap{Amount: 1, Period: budget.Day}}, 0},
		{"money for all", budget.Policy{Over: vision, Cap: &budget.Cap{Amount: 100 * pricing.Dollar, Period: budget.Day}}, 1},
		{"a share of spot", budget.Policy{Spot: &budget.SpotShare{Max: 1, Min: 0.5}}, 1},
		{"a yes for more", budget.Policy{Approval: &budget.Approval{Above: milli(1004)}}, 0},
		{"a yes for more than the dearest", budget.Policy{Approval: &budget.Approval{Above: milli(1005)}}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := nearWorld(t, setup{})
			w.do("pool aws/use1-az1/small/spot down")
			tt.policy.Name, tt.policy.Owner = "p", "o"
			w.put(&tt.policy)
			w.submit(testJob("a", 2, 1))
			r := w.round(time.Minute)
			calls := w.clouds[0].calls
			if len(calls) == 0 || calls[0].Offering != smallSpot || len(calls[0].Alternates) != tt.want {
				t.Fatalf("calls %+v, want %d alternates\n%s", calls, tt.want, w.history())
			}
			if tt.want == 1 && (len(calls) != 1 || len(r.Bought) != 1 || r.Bought[0].Offering != smallSpotB) {
				t.Errorf("%d calls, bought %+v", len(calls), r.Bought)
			}
		})
	}
}

// A launch whose answer is lost may have come up in the dearest zone: what it may cost
// leaves no room for another until it is known.
func TestLostAnswerHoldsTheRateOfTheDearestZone(t *testing.T) {
	for _, tt := range []struct {
		milli pricing.Rate
		want  int // machines that are bought for the second job while the answer is out
	}{{2004, 0}, {2005, 1}} {
		w := nearWorld(t, setup{})
		w.put(&budget.Policy{Name: "p", Owner: "o", Over: selector(t, budget.Match{Team: "Vision"}), Burn: pricing.DollarPerHour * tt.milli / 1000})
		w.clouds[0].launch = func(provider.LaunchRequest) fault { return fault{before: true, err: errors.New("no answer")} }
		w.submit(testJob("a", 2, 1))
		w.round(time.Minute)
		if calls := w.clouds[0].calls; len(calls) != 1 || len(calls[0].Alternates) != 1 {
			t.Fatalf("calls %+v, want one with an alternate", calls)
		}
		w.clouds[0].launch = func(req provider.LaunchRequest) fault {
			if req.Token == "token-1" {
				return fault{before: true, err: errors.New("no answer")}
			}
			return fault{}
		}
		w.submit(testJob("b", 2, 1))
		r := w.round(time.Minute)
		if len(r.Bought) != tt.want || r.Replans != 0 || len(r.Diff.Deferred) != 1-tt.want {
			t.Errorf("under %d/1000 USD/h: bought %+v, put off %+v, want %d bought or it put off before anything is asked\n%s", tt.milli, r.Bought, r.Diff.Deferred, tt.want, w.history())
		}
	}
}
