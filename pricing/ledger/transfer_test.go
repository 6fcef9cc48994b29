package ledger_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// gang books two machines of 12 USD an hour from 10:00 to 10:30 by the minute, to
// one job on all of the first and on half of the second.
func gang(t *testing.T, o provider.Offering) (*ledger.Meter, []ledger.Charge) {
	t.Helper()
	m := ledger.NewMeter(history(t, quoted(o, day, "12")), ledger.Rules{})
	var charges []ledger.Charge
	for minute := 1; minute <= 30; minute++ {
		for i, id := range []string{"i-1", "i-2"} {
			shares := []ledger.Share{{Job: "GPT-L", Team: "Vision", Accelerators: 8 >> i}}
			charges = append(charges, m.Settle(life(id, o, clock(10, 0, 0), time.Time{}, 0), 8, shares, clock(10, minute, 0), int64(minute))...)
		}
	}
	return m, charges
}

func byAccount(charges []ledger.Charge) map[string]string {
	sums := map[string]string{}
	for _, r := range ledger.Total(charges, ledger.ByAccount).Rows {
		sums[r.Key[0]] = r.Amount.String()
	}
	return sums
}

func TestLostWorkBecomesWaste(t *testing.T) {
	lost := ledger.Move{Out: ledger.ToJob, Into: ledger.ToWaste, Job: "GPT-L", From: clock(10, 20, 0), To: clock(10, 30, 0), Round: 31}
	for _, c := range []struct {
		name string
		edit func(*ledger.Move)
		want map[string]string
	}{
		{"ten minutes of the gang", func(*ledger.Move) {}, map[string]string{"idle": "3", "job": "6", "waste": "3"}},
		{"an instant between two bookings", func(mv *ledger.Move) { mv.From = clock(10, 20, 30) }, map[string]string{"idle": "3", "job": "6.15", "waste": "2.85"}},
		{"one machine", func(mv *ledger.Move) { mv.Instances = []provider.InstanceID{"i-2"} }, map[string]string{"idle": "3", "job": "8", "waste": "1"}},
		{"more than was booked", func(mv *ledger.Move) { mv.From, mv.To = clock(0, 0, 0), clock(23, 0, 0) }, map[string]string{"idle": "3", "job": "0", "waste": "9"}},
		{"another job", func(mv *ledger.Move) { mv.Job = "gpt-l" }, map[string]string{"idle": "3", "job": "9"}},
		{"what is idle of its machines", func(mv *ledger.Move) { mv.Out, mv.Into = ledger.ToIdle, ledger.Overhead }, map[string]string{"idle": "2", "job": "9", "overhead": "1"}},
		{"what no job bears", func(mv *ledger.Move) { mv.Out, mv.Into, mv.Job = ledger.ToIdle, ledger.Overhead, "" }, map[string]string{"idle": "3", "job": "9"}},
		{"no time", func(mv *ledger.Move) { mv.To = mv.From }, map[string]string{"idle": "3", "job": "9"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, charges := gang(t, awsOnDemand)
			mv := lost
			c.edit(&mv)
			moved := m.Transfer(mv)
			if again := m.Transfer(mv); len(again) != 0 {
				t.Errorf("moved again: %v", again)
			}
			var sum, out time.Duration
			for _, line := range moved {
				sum += line.Time()
				if line.Share < 0 {
					out++
				}
			}
			if sum != 0 || int(out)*2 != len(moved) {
				t.Errorf("got %v accelerator-time in %d lines, %d of them out; want pairs that sum to zero", sum, len(moved), out)
			}
			charges = append(charges, moved...)
			amounts(t, charges)
			if diff := cmp.Diff(c.want, byAccount(charges)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A machine in its first hour is taken by the cloud after some of the job's money
// went to waste: each account gets back what it bears.
func TestReversalFollowsWhatWasMoved(t *testing.T) {
	m, charges := gang(t, awsSpot)
	charges = append(charges, m.Transfer(ledger.Move{Out: ledger.ToJob, Into: ledger.ToWaste, Job: "GPT-L",
		From: clock(10, 20, 30), To: clock(10, 30, 0), Round: 31})...)
	gone := life("i-1", awsSpot, clock(10, 0, 0), clock(10, 30, 0), provider.Interrupted)
	charges = append(charges, m.Settle(gone, 8, nil, clock(10, 31, 0), 32)...)
	amounts(t, charges)
	want := map[string]string{"idle": "3", "job": "2.05", "waste": "0.95"} // what i-2 cost
	if diff := cmp.Diff(want, byAccount(charges)); diff != "" {
		t.Error(diff)
	}
	for _, r := range ledger.Total(charges, ledger.ByInstance).Rows {
		if r.Key[0] == "i-1" && (r.Amount != 0 || r.Hours != 0) {
			t.Errorf("interrupted machine: got %s USD for %g accelerator-hours, want none", r.Amount, r.Hours)
		}
	}
}

func TestEndSeenLateTakesBackFromWhoeverHeldItLast(t *testing.T) {
	m := ledger.NewMeter(history(t, quoted(awsOnDemand, day, "6")), ledger.Rules{})
	running := life("i", awsOnDemand, clock(10, 0, 0), time.Time{}, 0)
	job := []ledger.Share{{Job: "a", Accelerators: 8}}
	charges := slices.Concat(
		m.Settle(running, 8, job, clock(10, 30, 0), 1),
		m.Settle(running, 8, nil, clock(10, 50, 0), 2),
		m.Settle(life("i", awsOnDemand, clock(10, 0, 0), clock(10, 40, 0), provider.Failed), 8, nil, clock(10, 55, 0), 3))
	amounts(t, charges)
	if diff := cmp.Diff(map[string]string{"idle": "1", "job": "3"}, byAccount(charges)); diff != "" {
		t.Error(diff)
	}
}

func TestLongRunIsRememberedForReach(t *testing.T) {
	m := ledger.NewMeter(history(t, quoted(awsOnDemand, day, "1")), ledger.Rules{})
	job := []ledger.Share{{Job: "a", Accelerators: 8}}
	var charges []ledger.Charge
	for hour := 1; hour <= 72; hour++ {
		charges = append(charges, m.Settle(life("i", awsOnDemand, clock(0, 0, 0), time.Time{}, 0), 8, job, clock(hour, 0, 0), int64(hour))...)
	}
	mv := ledger.Move{Out: ledger.ToJob, Into: ledger.ToWaste, Job: "a", From: clock(0, 0, 0), To: clock(40, 0, 0), Round: 73}
	for name, m := range map[string]*ledger.Meter{"live": m, "resumed": ledger.Resume(history(t), ledger.Rules{}, charges)} {
		if moved := m.Transfer(mv); len(moved) != 0 {
			t.Errorf("%s: got %d lines, want none: too long ago", name, len(moved))
		}
		within := mv
		within.To = clock(72, 0, 0)
		if moved := m.Transfer(within); len(moved) < 2*24 || len(moved) > 2*26 {
			t.Errorf("%s: got %d lines, want pairs for a day and at most two hours", name, len(moved))
		}
	}
}

func TestClosedRunIsForgottenAfterReach(t *testing.T) {
	m, _ := gang(t, awsOnDemand)
	for i, id := range []string{"i-1", "i-2"} {
		m.Settle(life(id, awsOnDemand, clock(10, 0, 0), clock(10, 30, 0), provider.EndedByUs), 8, nil, clock(10, 31+i, 0), 31)
	}
	later := clock(10, 31, 0).Add(ledger.Reach)
	other := life("i-3", awsOnDemand, later, time.Time{}, 0)
	m.Settle(other, 8, nil, later.Add(time.Minute), 32)
	moved := m.Transfer(ledger.Move{Out: ledger.ToJob, Into: ledger.ToWaste, Job: "GPT-L", From: clock(10, 0, 0), To: clock(11, 0, 0), Round: 33})
	if len(moved) != 0 {
		t.Errorf("got %d lines, want none: too long ago", len(moved))
	}
	again := m.Settle(life("i-1", awsOnDemand, clock(10, 0, 0), clock(10, 30, 0), provider.EndedByUs), 8, nil, later, 34)
	if len(again) != 0 {
		t.Errorf("got %v, want nothing: it is known to have ended", again)
	}
}
