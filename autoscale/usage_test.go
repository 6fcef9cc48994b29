package autoscale_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// booked is the time that is booked for a machine, by account, and up to when.
func (w *world) booked(id provider.InstanceID) (byAccount map[ledger.Account]time.Duration, until time.Time) {
	charges, err := w.store.Charges(context.Background(), time.Time{}, time.Time{})
	if err != nil {
		w.t.Fatal(err)
	}
	byAccount = map[ledger.Account]time.Duration{}
	for i := range charges {
		if c := &charges[i]; c.Instance == id {
			byAccount[c.Account] += c.Time()
			if c.To.After(until) {
				until = c.To
			}
		}
	}
	return byAccount, until
}

// truth is a machine as it really is.
func (w *world) truth(id provider.InstanceID) provider.Instance {
	for _, c := range w.clouds {
		for _, m := range c.Machines() {
			if m.ID == id {
				return m
			}
		}
	}
	w.t.Fatalf("there never was a machine %s", id)
	return provider.Instance{}
}

// A machine that listings lack is booked to where it was first missed, and no
// further. When it comes back after it was given up, it is ended, nothing runs on
// it, and what it cost since is nobody's wish: overrun.
func TestMachineOutOfContactIsBookedAsOverrun(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	w.submit(testJob("a", 5, 1))
	for range 10 {
		w.round(time.Minute)
	}
	id := w.live()[0].ID
	w.clouds[0].hidden = id
	w.round(time.Minute)
	missed := w.now
	for range 8 {
		w.round(time.Minute)
		if _, until := w.booked(id); until.After(missed) {
			t.Fatalf("it is booked until %v, and was missed at %v", until.Sub(start), missed.Sub(start))
		}
	}
	w.clouds[0].hidden = ""
	w.submit(testJob("b", 1, 1)) // which could use a machine
	for range 4 {
		w.round(time.Minute)
	}
	if n := len(w.live()); n != 2 || w.truth(id).Live() {
		t.Errorf("machines %v, want the one that was bought instead and that of b", w.live())
	}
	w.until(500, w.allEnded)
	w.round(time.Minute)
	w.checkBooks()
	m := w.truth(id)
	accounts, _ := w.booked(id)
	if got, want := accounts[ledger.Overrun], m.Ended.Sub(missed); got != want {
		t.Errorf("%v are booked as overrun, want %v\n%s", got, want, w.history())
	}
	sum := time.Duration(0)
	for _, d := range accounts {
		sum += d
	}
	if want := m.Ended.Sub(m.Started); sum != want {
		t.Errorf("%v are booked in all, want its whole life of %v", sum, want)
	}
}

// A cloud has the grace to confirm an end. What it takes beyond is overrun.
func TestEndThatIsNotConfirmedIsBookedAsOverrun(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	w.submit(testJob("a", 0.5, 1))
	w.until(60, func() bool { return w.kinds()[autoscale.EventReady] == 1 })
	id := w.live()[0].ID
	w.do("terminate ignored for 1h")
	w.until(60, func() bool { return w.kinds()[autoscale.EventRelease] == 1 })
	asked := w.now
	w.until(120, w.allEnded)
	w.round(time.Minute)
	w.checkBooks()
	accounts, _ := w.booked(id)
	want := w.truth(id).Ended.Sub(asked.Add(autoscale.DefaultSettings().Grace))
	if got := accounts[ledger.Overrun]; got != want || want < 5*time.Minute {
		t.Errorf("%v are booked as overrun, want %v\n%s", got, want, w.history())
	}
}

// A spot rate that rises between two hours of a run is the price of the second. What
// it adds to the hour that it rises in is overrun, and of the job all the same.
func TestSpotRateThatRisesWithinItsHourIsBookedAsOverrun(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, gcp: true, offerings: []provider.Offering{slowSpot}})
	w.prices.later = map[provider.Offering]pricing.Rate{slowSpot: 2 * w.prices.rates[slowSpot]}
	w.prices.turn = start.Add(40 * time.Minute)
	job := testJob("a", 0.5, 2) // an hour on two K80s
	w.submit(job)
	w.until(200, w.allEnded)
	w.round(time.Minute)
	w.checkBooks()
	charges, err := w.store.Charges(t.Context(), time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var overrun, ofJob pricing.Money
	var m provider.Instance
	for _, c := range charges {
		m = w.truth(c.Instance)
		if c.Account == ledger.Overrun {
			overrun += c.Amount
		}
		if c.Job == "a" {
			ofJob += c.Amount
		}
	}
	hour := m.Started.Add(time.Hour)
	if !hour.After(w.prices.turn) || !m.Ended.After(hour) {
		t.Fatalf("it ran from %v to %v: want the rise at %v in its first hour, and a second one", m.Started.Sub(start), m.Ended.Sub(start), w.prices.turn.Sub(start))
	}
	want := w.prices.rates[slowSpot].Over(hour.Sub(w.prices.turn))
	if off := overrun - want; off < -nanos || off > nanos {
		t.Errorf("%s USD are booked as overrun, want %s: the first rate again, from the rise to the end of the hour\n%s", overrun, want, w.history())
	}
	if got := w.job("a").Spent; got != ofJob {
		t.Errorf("the job has spent %s USD by its record and %s by its charges", got, ofJob)
	}
}

// nanos is what rounding each charge of an hour to whole nano dollars may come to.
const nanos pricing.Money = 1000

// A round whose act fails books what there is all the same.
func TestFailedActIsBooked(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	w.submit(testJob("a", 5, 1))
	for range 6 {
		w.round(time.Minute)
	}
	id := w.live()[0].ID
	w.submit(testJob("b", 5, 1))
	w.runner.fail = func(call string) error {
		if call == "start" {
			return errors.New("no such image")
		}
		return nil
	}
	for range 10 {
		if _, err := w.tryRound(time.Minute); err != nil {
			if _, until := w.booked(id); !until.Equal(w.now) {
				t.Errorf("the round at %v failed, and its machine is booked until %v", w.now.Sub(start), until.Sub(start))
			}
			return
		}
	}
	t.Fatal("no round failed")
}

// The answer to a launch is stored even when the round is being broken off.
func TestAnswerIsStoredWhenTheRoundIsBrokenOff(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	w.submit(testJob("a", 5, 1))
	w.advance(w.now.Add(time.Minute))
	ctx, cancel := context.WithCancel(t.Context())
	w.clouds[0].launch = func(provider.LaunchRequest) fault { return fault{then: cancel} }
	_, _ = w.loop.Round(ctx, w.now) // what follows the launch may fail
	snap, err := w.store.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(snap.Intents) != 0 || len(snap.Instances) != 1 {
		t.Errorf("the store has open intents %+v and machines %+v, want the machine and its answer", snap.Intents, snap.Instances)
	}
}

// A round that is broken off while its calls are under way, as by a shutdown, books what
// there is all the same.
func TestRoundThatIsBrokenOffIsBooked(t *testing.T) {
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
	w.submit(testJob("a", 5, 1))
	for range 6 {
		w.round(time.Minute)
	}
	id := w.live()[0].ID
	ctx, cancel := context.WithCancel(t.Context())
	w.runner.fail = func(call string) error {
		if call == "stop" {
			cancel()
		}
		return nil
	}
	if err := w.loop.Cancel(ctx, w.now, "a"); err != nil {
		t.Fatal(err)
	}
	w.advance(w.now.Add(time.Minute))
	_, _ = w.loop.Round(ctx, w.now) // it may say that it was broken off
	if ctx.Err() == nil {
		t.Fatal("no gang was stopped")
	}
	if _, until := w.booked(id); !until.Equal(w.now) {
		t.Errorf("the machine is booked until %v, want %v", until.Sub(start), w.now.Sub(start))
	}
}
