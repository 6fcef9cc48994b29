package budget_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

const usd = pricing.DollarPerHour

var (
	aws = provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p4d.24xlarge", Market: provider.Spot}
	gcp = provider.Offering{Cloud: "gcp", Region: "us-central1", Zone: "us-central1-a", Type: "a2-highgpu-8g", Market: provider.OnDemand}
)

// machines are n machines of 1 USD/h that a launch brought.
func machines(token string, n int) []budget.Held {
	var held []budget.Held
	for i := range n {
		held = append(held, budget.Held{Instance: provider.InstanceID(fmt.Sprintf("%s-%d", token, i)), Offering: aws, Rate: usd, Token: token})
	}
	return held
}

// refused checks that an answer is a refusal with these words.
func refused(t *testing.T, err error, want string) *budget.Refused {
	t.Helper()
	var r *budget.Refused
	if !errors.Is(err, budget.ErrRefused) || !errors.As(err, &r) {
		t.Fatalf("got %v, want a refusal", err)
	}
	if r.Error() != want {
		t.Errorf("got %q, want %q", r, want)
	}
	return r
}

func accepted(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("got %v, want it admitted", err)
	}
}

func TestTwoLaunchesThatDoNotFitTogether(t *testing.T) {
	g := budget.NewGuard(10 * usd)
	accepted(t, g.Reserve("a", budget.Ask{Offering: aws, Count: 6, Rate: usd}))
	err := g.Reserve("b", budget.Ask{Offering: aws, Count: 6, Rate: usd})
	got := refused(t, err, "fleet-burn: reserved 6 of 10 USD/h, asked 6")
	want := &budget.Refused{Policy: budget.FleetBurn, Asked: 6 * usd, Reserved: 6 * usd, Limit: 10 * usd}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	accepted(t, g.Reserve("b", budget.Ask{Offering: aws, Count: 4, Rate: usd})) // a refusal holds nothing
}

func TestPendingMachinesCount(t *testing.T) {
	g := budget.NewGuard(4 * usd)
	g.Observe(machines("old", 4)) // three running, one pending: the guard does not ask
	refused(t, g.Reserve("a", budget.Ask{Offering: aws, Count: 1, Rate: usd}), "fleet-burn: held 4 and reserved 0 of 4 USD/h, asked 1")
	g.Observe(machines("old", 3))
	accepted(t, g.Reserve("a", budget.Ask{Offering: aws, Count: 1, Rate: usd}))
	refused(t, g.Reserve("b", budget.Ask{Offering: aws, Count: 1, Rate: usd}), "fleet-burn: held 3 and reserved 1 of 4 USD/h, asked 1")
}

func TestManyLaunchesAtOnce(t *testing.T) {
	t.Run("in order, the first ones pass", func(t *testing.T) {
		g := budget.NewGuard(100 * usd)
		for i := range 20 {
			err := g.Reserve(fmt.Sprintf("t%02d", i), budget.Ask{Offering: aws, Count: 10, Rate: usd})
			if passed := err == nil; passed != (i < 10) {
				t.Errorf("launch %d: %v", i+1, err)
			}
		}
	})
	t.Run("at once, as many pass as fit", func(t *testing.T) {
		g := budget.NewGuard(100 * usd)
		answers := make([]error, 20)
		var group sync.WaitGroup
		for i := range answers {
			group.Go(func() {
				answers[i] = g.Reserve(fmt.Sprintf("t%02d", i), budget.Ask{Offering: aws, Count: 10, Rate: usd})
			})
		}
		group.Wait()
		passed := 0
		for _, err := range answers {
			if err == nil {
				passed++
			}
		}
		if passed != 10 || len(g.Tokens()) != 10 {
			t.Errorf("got %d passed, %d tokens, want 10", passed, len(g.Tokens()))
		}
	})
}

func TestStrictestLimitAnswers(t *testing.T) {
	user := budget.Limit{Name: "user", Burn: 50 * usd}
	onlyGCP := budget.Limit{Name: "gcp", Burn: 5 * usd, Over: func(f budget.Facts) bool { return f.Cloud == "gcp" }}
	g := budget.NewGuard(40*usd, user, onlyGCP)
	refused(t, g.Reserve("a", budget.Ask{Offering: aws, Count: 45, Rate: usd}), "fleet-burn: reserved 0 of 40 USD/h, asked 45")
	refused(t, g.Reserve("b", budget.Ask{Offering: gcp, Count: 45, Rate: usd}), "gcp: reserved 0 of 5 USD/h, asked 45")
	refused(t, g.Reserve("c", budget.Ask{Offering: gcp, Count: 6, Rate: usd}), "gcp: reserved 0 of 5 USD/h, asked 6")
	accepted(t, g.Reserve("d", budget.Ask{Offering: aws, Count: 6, Rate: usd}))
	accepted(t, g.Reserve("e", budget.Ask{Offering: gcp, Count: 5, Rate: usd}))
}

func TestLoweredCapStopsLaunchesOnly(t *testing.T) {
	g := budget.NewGuard(400 * usd)
	g.Observe(machines("old", 850))
	refused(t, g.Reserve("a", budget.Ask{Offering: aws, Count: 1, Rate: usd}), "fleet-burn: held 850 and reserved 0 of 400 USD/h, asked 1")
	want := []budget.Use{{Policy: budget.FleetBurn, Held: 850 * usd, Limit: 400 * usd}}
	got := g.Uses()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	if got[0].Over() != 450*usd {
		t.Errorf("got %s USD/h over, want 450", got[0].Over())
	}
}

func TestTokenCountsOnce(t *testing.T) {
	g := budget.NewGuard(10 * usd)
	for range 3 {
		accepted(t, g.Reserve("a", budget.Ask{Offering: aws, Count: 6, Rate: usd}))
	}
	if r := g.Uses()[0].Reserved; r != 6*usd {
		t.Errorf("got %s USD/h reserved, want 6", r)
	}
	accepted(t, g.Reserve("a", budget.Ask{Offering: aws, Count: 6, Rate: usd + usd/2})) // the price rose before it was sent again
	if r := g.Uses()[0].Reserved; r != 9*usd {
		t.Errorf("got %s USD/h reserved, want 9", r)
	}
	refused(t, g.Reserve("a", budget.Ask{Offering: aws, Count: 6, Rate: 2 * usd}), "fleet-burn: reserved 0 of 10 USD/h, asked 12")
	if err := g.Reserve("a", budget.Ask{Offering: aws, Count: 5, Rate: usd}); err == nil || errors.Is(err, budget.ErrRefused) {
		t.Errorf("another launch under the same token: got %v, want an error of its own", err)
	}
}

// A launch that is asked for again is judged by what is held by then, and keeps the
// money that may be spent already when it is refused.
func TestReservedTokenIsJudgedAnew(t *testing.T) {
	g := budget.NewGuard(10 * usd)
	accepted(t, g.Reserve("a", budget.Ask{Offering: aws, Count: 6, Rate: usd}))
	g.Observe(machines("late", 5))
	refused(t, g.Reserve("a", budget.Ask{Offering: aws, Count: 6, Rate: usd}), "fleet-burn: held 5 and reserved 0 of 10 USD/h, asked 6")
	if r := g.Uses()[0].Reserved; r != 6*usd {
		t.Errorf("got %s USD/h reserved after the refusal, want 6 as before", r)
	}
	g.Observe(machines("a", 6)) // its own machines are no reason against it
	accepted(t, g.Reserve("a", budget.Ask{Offering: aws, Count: 6, Rate: usd}))
}

func TestPartialSuccessFreesTheRest(t *testing.T) {
	g := budget.NewGuard(10 * usd)
	accepted(t, g.Reserve("a", budget.Ask{Offering: aws, Count: 10, Rate: usd}))
	g.Commit("a", 4)
	g.Commit("a", 9) // an answer told twice changes nothing
	g.Release("a")   // nor does giving back what is here
	accepted(t, g.Reserve("b", budget.Ask{Offering: aws, Count: 6, Rate: usd}))
	refused(t, g.Reserve("c", budget.Ask{Offering: aws, Count: 1, Rate: usd}), "fleet-burn: reserved 10 of 10 USD/h, asked 1")
	accepted(t, g.Reserve("a", budget.Ask{Offering: aws, Count: 10, Rate: usd})) // sent again, it buys nothing more
	g.Observe(machines("a", 4))
	g.Release("b")
	accepted(t, g.Reserve("d", budget.Ask{Offering: aws, Count: 6, Rate: usd}))
	g.Commit("d", 0)
	accepted(t, g.Reserve("e", budget.Ask{Offering: aws, Count: 6, Rate: usd}))
	g.Commit("unknown", 100)
	g.Release("unknown")
	if diff := cmp.Diff([]string{"e"}, g.Tokens()); diff != "" {
		t.Error(diff)
	}
}

func TestLostAnswerStaysReservedLessWhatIsHere(t *testing.T) {
	g := budget.NewGuard(10 * usd)
	accepted(t, g.Reserve("a", budget.Ask{Offering: aws, Count: 6, Rate: usd}))
	g.Observe(machines("a", 2)) // two of them are listed already
	if u := g.Uses()[0]; u.Held != 2*usd || u.Reserved != 4*usd {
		t.Errorf("got %+v, want 2 held and 4 reserved", u)
	}
	refused(t, g.Reserve("b", budget.Ask{Offering: aws, Count: 5, Rate: usd}), "fleet-burn: held 2 and reserved 4 of 10 USD/h, asked 5")
	g.Observe(nil) // the machines are gone, the launch may still bring its six
	if u := g.Uses()[0]; u.Held != 0 || u.Reserved != 6*usd {
		t.Errorf("got %+v, want 6 reserved", u)
	}
}

func TestUnknownRateIsRefused(t *testing.T) {
	refused(t, budget.NewGuard(0).Reserve("a", budget.Ask{Offering: aws, Count: 1, Rate: 0}), "budget: the rate of aws/use1-az1/p4d.24xlarge/spot is not known")
	g := budget.NewGuard(10 * usd)
	refused(t, g.Reserve("a", budget.Ask{Offering: aws, Count: 1, Rate: 0}), "fleet-burn: the rate of aws/use1-az1/p4d.24xlarge/spot is not known")
	g.Observe([]budget.Held{{Instance: "i-7", Offering: aws}})
	refused(t, g.Reserve("a", budget.Ask{Offering: aws, Count: 1, Rate: usd}), "fleet-burn: the rate of i-7 is not known")
	if !g.Uses()[0].Unpriced {
		t.Error("want the use marked as a lower bound")
	}
}

func TestRateTooLargeToAddIsOverTheCap(t *testing.T) {
	g := budget.NewGuard(math.MaxInt64 - 1)
	if err := g.Reserve("a", budget.Ask{Offering: aws, Count: 100, Rate: math.MaxInt64 / 10}); !errors.Is(err, budget.ErrRefused) {
		t.Errorf("got %v, want a refusal", err)
	}
	accepted(t, g.Reserve("b", budget.Ask{Offering: aws, Count: 1, Rate: math.MaxInt64 - 1}))
	if err := g.Reserve("c", budget.Ask{Offering: aws, Count: 1, Rate: 2}); !errors.Is(err, budget.ErrRefused) {
		t.Errorf("got %v, want a refusal", err)
	}
}

func TestWithoutCapEverythingPriceable(t *testing.T) {
	accepted(t, budget.NewGuard(0).Reserve("a", budget.Ask{Offering: aws, Count: 1_000_000, Rate: 1_000 * usd}))
}

func TestWrongCallsAreErrors(t *testing.T) {
	g := budget.NewGuard(usd)
	for _, err := range []error{g.Reserve("", budget.Ask{Offering: aws, Count: 1, Rate: usd}), g.Reserve("a", budget.Ask{Offering: aws, Count: 0, Rate: usd}), g.Reserve("a", budget.Ask{Offering: aws, Count: 1, Rate: -usd})} {
		if err == nil || errors.Is(err, budget.ErrRefused) || !strings.Contains(err.Error(), "are required") {
			t.Errorf("got %v, want an error about the call", err)
		}
	}
}

// TestLaunchesAtOnceNeverPassTheCap lets launches run at the same time, each of
// which reserves, brings some of its machines and commits, or fails and releases,
// while the machines are observed. The test keeps its own account of what exists.
func TestLaunchesAtOnceNeverPassTheCap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		burn := rapid.IntRange(1, 60).Draw(t, "cap")
		g := budget.NewGuard(pricing.Rate(burn) * usd)
		type launch struct{ count, got int }
		var launches []launch
		for range rapid.IntRange(1, 24).Draw(t, "launches") {
			n := rapid.IntRange(1, 12).Draw(t, "count")
			launches = append(launches, launch{n, rapid.IntRange(0, n).Draw(t, "got")})
		}
		var mu sync.Mutex // guards here and the order of bringing and observing
		here, most := []budget.Held{}, 0
		var group sync.WaitGroup
		for i, l := range launches {
			group.Go(func() {
				token := fmt.Sprint("t", i)
				if g.Reserve(token, budget.Ask{Offering: aws, Count: l.count, Rate: usd}) != nil {
					return
				}
				mu.Lock()
				here = append(here, machines(token, l.got)...)
				most = max(most, len(here))
				mu.Unlock()
				if l.got == 0 {
					g.Release(token)
				} else {
					g.Commit(token, l.got)
				}
				mu.Lock()
				if i%3 == 0 && len(here) > 0 {
					here = here[1:] // one ends
				}
				if i%2 == 0 {
					g.Observe(here)
				}
				mu.Unlock()
			})
		}
		group.Wait()
		if most > burn {
			t.Fatalf("%d machines at once, cap %d", most, burn)
		}
		g.Observe(here)
		if u := g.Uses()[0]; u.Held != pricing.Rate(len(here))*usd || u.Reserved != 0 {
			t.Fatalf("at the end: got %+v, want %d held and nothing reserved", u, len(here))
		}
	})
}

func ExampleGuard() {
	g := budget.NewGuard(10 * pricing.DollarPerHour)
	spot := provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p3.2xlarge", Market: provider.Spot}
	fmt.Println(g.Reserve("first", budget.Ask{Offering: spot, Count: 6, Rate: pricing.DollarPerHour}))
	fmt.Println(g.Reserve("second", budget.Ask{Offering: spot, Count: 6, Rate: pricing.DollarPerHour}))
	g.Commit("first", 4) // two did not come up
	fmt.Println(g.Reserve("second", budget.Ask{Offering: spot, Count: 6, Rate: pricing.DollarPerHour}))
	// Output:
	// <nil>
	// fleet-burn: reserved 6 of 10 USD/h, asked 6
	// <nil>
}
