package ledger_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// TestHourIsSplitAmongItsHolders books one hour of one machine in one piece.
func TestHourIsSplitAmongItsHolders(t *testing.T) {
	job := func(name string, n int) ledger.Share {
		return ledger.Share{Job: name, Team: "Vision", Accelerators: n}
	}
	for _, c := range []struct {
		name   string
		rate   string
		of     int
		shares []ledger.Share
		want   map[string]string // by account and job
	}{
		{"four jobs of two accelerators", "21.957642", 8, []ledger.Share{job("a", 2), job("b", 2), job("c", 2), job("d", 2)},
			map[string]string{"job a": "5.4894105", "job b": "5.4894105", "job c": "5.4894105", "job d": "5.4894105"}},
		{"two halves of one accelerator, counted in halves", "1", 2, []ledger.Share{job("a", 1), job("b", 1)},
			map[string]string{"job a": "0.5", "job b": "0.5"}},
		{"three jobs share what does not divide", "10", 3, []ledger.Share{job("c", 1), job("a", 1), job("b", 1)},
			map[string]string{"job a": "3.333333334", "job b": "3.333333333", "job c": "3.333333333"}},
		{"the largest remainder gets the last nano dollar", "0.000000005", 8, []ledger.Share{job("a", 3), job("b", 5)},
			map[string]string{"job a": "0.000000002", "job b": "0.000000003"}}, // 1.875 and 3.125
		{"what nobody holds is idle, and his who is there", "8", 8, []ledger.Share{job("a", 3)},
			map[string]string{"job a": "3", "idle a": "5"}},
		{"what nobody holds is theirs who are there, as they hold", "8", 8, []ledger.Share{job("b", 2), job("a", 1)},
			map[string]string{"job a": "1", "idle a": "2", "job b": "2", "idle b": "3"}}, // 1.67 and 3.33 of five
		{"of equal remainders the first by name gets more", "4", 4, []ledger.Share{job("b", 1), job("c", 1), job("a", 1)},
			map[string]string{"job a": "1", "idle a": "1", "job b": "1", "job c": "1"}},
		{"bought for a team, whoever is there", "8", 8, []ledger.Share{job("a", 3), {Account: ledger.ToIdle, Team: "NLP"}},
			map[string]string{"job a": "3", "idle ": "5"}},
		{"nobody", "8", 8, nil, map[string]string{"idle ": "8"}},
		{"not ready", "8", 8, []ledger.Share{{Account: ledger.ToBoot, Accelerators: 8}}, map[string]string{"boot ": "8"}},
		{"a restart is waste of its job", "8", 8, []ledger.Share{job("a", 4), {Job: "a", Account: ledger.ToWaste, Accelerators: 4}},
			map[string]string{"job a": "4", "waste a": "4"}},
		{"seen twice, once without its label", "8", 8, []ledger.Share{{Accelerators: 8}, job("a", 8)},
			map[string]string{"job a": "8"}},
		{"one job in two parts", "8", 8, []ledger.Share{job("a", 1), job("a", 2)}, map[string]string{"job a": "3", "idle a": "5"}},
		{"a machine without accelerators", "8", 0, nil, map[string]string{"idle ": "8"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := ledger.NewMeter(history(t, quoted(awsOnDemand, day, c.rate)), ledger.Rules{})
			charges := m.Settle(life("i", awsOnDemand, clock(1, 0, 0), clock(2, 0, 0), provider.EndedByUs), c.of, c.shares, clock(2, 0, 0), 1)
			got := map[string]string{}
			for _, r := range ledger.Total(charges, ledger.ByAccount, ledger.ByJob).Rows {
				got[r.Key[0]+" "+r.Key[1]] = r.Amount.String()
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if got, want := amounts(t, charges), usd(t, c.rate); got != want {
				t.Errorf("got %s USD in all, want %s", got, want)
			}
		})
	}
}

func TestLabelSeenOnceIsKept(t *testing.T) {
	m := ledger.NewMeter(history(t, quoted(awsOnDemand, day, "1")), ledger.Rules{})
	shares := []ledger.Share{{Job: "a", Accelerators: 1}, {Job: "a", Team: "Vision", Accelerators: 1}}
	charges := m.Settle(life("i", awsOnDemand, clock(1, 0, 0), clock(2, 0, 0), provider.EndedByUs), 2, shares, clock(2, 0, 0), 1)
	if len(charges) != 1 || charges[0].Team != "Vision" {
		t.Errorf("got %v, want one charge of team Vision", charges)
	}
}

func TestMoreHeldThanThereIsCostsTheMachineAndIsNamed(t *testing.T) {
	m := ledger.NewMeter(history(t, quoted(awsOnDemand, day, "10")), ledger.Rules{})
	shares := []ledger.Share{{Job: "a", Accelerators: 8}, {Job: "b", Accelerators: 8}}
	charges := m.Settle(life("i-7", awsOnDemand, clock(1, 0, 0), clock(2, 0, 0), provider.EndedByUs), 8, shares, clock(2, 0, 0), 1)
	totals := ledger.Total(charges, ledger.ByAccount)
	if got, want := totals.Sum.Amount, usd(t, "10"); got != want || len(totals.Rows) != 1 {
		t.Errorf("got %s USD by %v, want %s to jobs and no idle", got, totals.Rows, want)
	}
	checkNames(t, charges, "instance i-7 of aws", "16 of 8 accelerators")
}

// TestSharesSumToTheMachine draws shares and one rate: the parts are whole, never
// negative, and within a nano dollar of their proportion.
func TestSharesSumToTheMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.IntRange(1, 12_288).Draw(t, "of")
		rate := rapid.Int64Range(1, 60_000_000_000_000).Draw(t, "nano dollars per hour")
		var shares []ledger.Share
		for left := of; left > 0 && len(shares) < 6; {
			n := rapid.IntRange(1, left).Draw(t, "accelerators")
			shares = append(shares, ledger.Share{Job: string(rune('a' + len(shares))), Accelerators: n})
			left -= n
		}
		h := historyOf(t, awsOnDemand, rate)
		m := ledger.NewMeter(h, ledger.Rules{})
		charges := m.Settle(life("i", awsOnDemand, clock(1, 0, 0), clock(2, 0, 0), provider.EndedByUs), of, shares, clock(2, 0, 0), 1)
		var sum int64
		for _, c := range charges {
			sum += int64(c.Amount)
			exact := float64(rate) * float64(c.Share) / float64(of)
			// One nano dollar, and what a float64 of up to 6e13 leaves out.
			if off := float64(c.Amount) - exact; off > 1.1 || off < -1.1 {
				t.Fatalf("%d of %d at %d: got %d, want %f", c.Share, of, rate, c.Amount, exact)
			}
		}
		if sum != rate {
			t.Fatalf("got %d, want %d", sum, rate)
		}
	})
}
