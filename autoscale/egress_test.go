package autoscale_test

import (
	"context"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// farJob has 100 GiB of data on Google Cloud and runs on AWS alone: to bring them costs
// 100 times 0.12 USD at once.
func farJob(hours float64) *planner.Job {
	job := testJob("far", hours, 1)
	job.ValueOfTime = 30 * pricing.DollarPerHour
	job.Clouds = []string{"aws"}
	job.Data = planner.Data{Cloud: "gcp", Region: "us-west1", Size: planner.Size{GiB: 100, Known: true}}
	job.Checkpoint.Size = planner.Size{GiB: 10, Known: true}
	return job
}

// moved are the charges of the account of moves.
func (w *world) moved() (list []ledger.Charge, sum pricing.Money) {
	w.t.Helper()
	charges, err := w.store.Charges(context.Background(), time.Time{}, time.Time{})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := ledger.Check(charges); err != nil {
		w.t.Errorf("%v", err)
	}
	for _, c := range charges {
		if c.Account == ledger.ToTraffic {
			list, sum = append(list, c), sum+c.Amount
		}
	}
	return list, sum
}

// What a job brings along is booked to it when it starts there, as the job's money; not
// again when it starts again in the region, nor after a crash.
func TestMoveToAnotherCloudIsBookedOnce(t *testing.T) {
	w := newWorld(t, setup{offerings: []provider.Offering{smallOnDemand}})
	w.submit(farJob(3))
	w.until(30, func() bool { return w.runs() == 1 })
	w.restart()
	w.round(time.Minute)
	list, sum := w.moved()
	if len(list) != 1 || sum != 12*pricing.Dollar {
		t.Fatalf("%d charges of %s USD, want one of 12", len(list), sum)
	}
	c := list[0]
	if c.Job != "far" || c.Team != "Vision" || c.Item != ledger.Traffic || c.Kind != ledger.Usage || c.Offering.Cloud != "gcp" || c.Offering.Region != "us-west1" || c.Offering.Market != provider.NoMarket || !c.Known || c.Note != "data to aws/us-east-1" {
		t.Errorf("booked as %+v", c)
	}
	snap, err := w.store.Load(context.Background())
	if err != nil || snap.Jobs[0].Spent < sum || snap.Jobs[0].Place != smallOnDemand {
		t.Fatalf("spent %s at %s, %v: want the move in it", snap.Jobs[0].Spent, snap.Jobs[0].Place, err)
	}
	w.take(smallOnDemand)
	w.until(40, func() bool { return w.kinds()[autoscale.EventStart] > 1 && w.runs() == 1 })
	if list, _ := w.moved(); len(list) != 1 {
		t.Errorf("%d charges after it started in the region again, want one", len(list))
	}
}

// A cap counts what a move takes: before the launch, and not only when it is booked.
func TestMoveThatACapCannotPayIsNotBegun(t *testing.T) {
	for name, c := range map[string]struct {
		amount pricing.Money
		runs   bool
	}{
		"too little": {12 * pricing.Dollar, false},
		"enough":     {30 * pricing.Dollar, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, setup{offerings: []provider.Offering{smallOnDemand}})
			w.put(&budget.Policy{Name: "day", Owner: "o", Cap: &budget.Cap{Amount: c.amount, Period: budget.Day}})
			w.submit(farJob(3))
			for range 30 {
				w.round(time.Minute)
			}
			_, sum := w.moved()
			if spent := w.spentBetween("", start, start.Add(24*time.Hour)); spent > c.amount || c.runs != (sum > 0) {
				t.Errorf("%s of %s USD are spent, %s of them on moving: want moves %v\n%s", spent, c.amount, sum, c.runs, w.history())
			}
		})
	}
}

// Whichever write to the store fails, with nothing or all of it kept, the start and its move
// are stored together: the move is booked once.
func TestMoveIsBookedOnceWhicheverWriteFails(t *testing.T) {
	for _, how := range []storeFault{nothingStored, allStored} {
		for at := range 12 {
			w := newWorld(t, setup{offerings: []provider.Offering{smallOnDemand}})
			w.submit(farJob(3))
			n, failed := 0, false
			w.store.fail = func() storeFault {
				if n++; n == at+1 {
					failed = true
					return how
				}
				return noFault
			}
			for range 15 {
				if _, err := w.tryRound(time.Minute); err != nil {
					w.restart()
				}
			}
			w.store.fail = nil
			if list, sum := w.moved(); !failed || len(list) != 1 || sum != 12*pricing.Dollar || w.runs() != 1 {
				t.Errorf("write %d, fault %d (%v): %d charges of %s USD, %d gangs run", at, how, failed, len(list), sum, w.runs())
			}
		}
	}
}
