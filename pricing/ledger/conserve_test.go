package ledger_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// drawn is an instance with its price and its runs, as it truly lived.
type drawn struct {
	id    provider.InstanceID
	o     provider.Offering
	of    int
	steps []slowStep
	runs  []*drawnRun
}

type drawnRun struct {
	start, end time.Time // end: true, or the last moment of the test
	cause      provider.EndCause
	ended      bool
	seenAfter  time.Duration // the end is listed so much later
	booked     time.Time     // usage booked up to here, as the test saw it
	known      bool          // something of it was booked
	seen       bool          // its end was settled
	held       []drawnHold
}

// drawnHold is who held the machine between two bookings.
type drawnHold struct {
	from, to time.Time
	shares   []ledger.Share
}

// drawPrices draws steps of price, some of them the end of what is known.
func drawPrices(t *rapid.T, o provider.Offering, from time.Time) (steps []slowStep, quotes []pricing.Quote, ends []pricing.End) {
	at := from
	for range rapid.IntRange(1, 8).Draw(t, "steps of price") {
		if rapid.IntRange(0, 5).Draw(t, "no price") == 0 {
			steps = append(steps, slowStep{at, nil})
			ends = append(ends, pricing.End{Offering: o, At: at, Source: "test"})
		} else {
			rate := rapid.Int64Range(1, 40_000_000_000).Draw(t, "nano dollars per hour")
			steps = append(steps, slowStep{at, new(big.Rat).SetInt64(rate)})
			quotes = append(quotes, pricing.Quote{Offering: o, Rate: pricing.Rate(rate), At: at, Source: "test"})
		}
		at = at.Add(time.Duration(rapid.IntRange(1, 4*3600).Draw(t, "seconds to the next price")) * time.Second)
	}
	return steps, quotes, ends
}

// drawSpan draws a length of time that is now and then very short.
func drawSpan(t *rapid.T, label string, most time.Duration) time.Duration {
	if rapid.Bool().Draw(t, label+" short") {
		most = min(most, 2*time.Minute)
	}
	return time.Duration(rapid.Int64Range(0, int64(most)).Draw(t, label))
}

func drawLife(t *rapid.T, d *drawn, from, last time.Time) {
	at := from.Add(drawSpan(t, "first start", 2*time.Hour))
	for range rapid.IntRange(1, 4).Draw(t, "runs") {
		r := &drawnRun{start: at, booked: at}
		r.end = at.Add(drawSpan(t, "lived", 3*time.Hour))
		r.cause = rapid.SampledFrom([]provider.EndCause{provider.EndedByUs, provider.Interrupted, provider.Failed}).Draw(t, "cause")
		r.seenAfter = drawSpan(t, "seen after", 20*time.Minute)
		r.ended = true
		d.runs = append(d.runs, r)
		at = r.end.Add(time.Second + drawSpan(t, "stopped", time.Hour))
		if at.Sub(r.start) < 2*time.Second {
			at = r.start.Add(2 * time.Second)
		}
		if !at.Before(last) {
			break
		}
	}
	if r := d.runs[len(d.runs)-1]; rapid.Bool().Draw(t, "goes on") || !r.end.Before(last) {
		r.end, r.ended = last, false
	}
}

// listed is the instance as a cloud that is somewhat late lists it.
func (d *drawn) listed(now time.Time) (inst provider.Instance, r *drawnRun) {
	inst = provider.Instance{ID: d.id, Offering: d.o, State: provider.Pending}
	for i, run := range d.runs {
		if now.Before(run.start) {
			break
		}
		r = d.runs[i]
		inst.State, inst.Started, inst.Ended, inst.Cause = provider.Running, run.start, time.Time{}, provider.NotEnded
		if run.ended && !now.Before(run.end.Add(run.seenAfter)) {
			inst.State, inst.Ended, inst.Cause = provider.Ended, run.end, run.cause
		}
	}
	return inst, r
}

func drawShares(t *rapid.T, of int) []ledger.Share {
	var shares []ledger.Share
	if rapid.IntRange(0, 5).Draw(t, "not ready") == 0 {
		return []ledger.Share{{Account: ledger.ToBoot, Accelerators: of}}
	}
	left := of
	for _, job := range []string{"a", "GPT-L", "c"} {
		n := rapid.IntRange(0, left).Draw(t, "accelerators of "+job)
		if n > 0 {
			account := rapid.SampledFrom([]ledger.Account{"", ledger.ToJob, ledger.ToWaste}).Draw(t, "account")
			shares = append(shares, ledger.Share{Job: job, Team: "Vision", Accelerators: n, Account: account})
		}
		left -= n
	}
	return shares
}

// TestBookingAddsUpHoweverItIsDone draws lives of machines (starts, stops,
// interruptions, ends seen late, steps of price, times without a price) and books
// them at random instants with changing shares, settles repeated, work lost, and
// crashes before and after the charges were kept.
func TestBookingAddsUpHoweverItIsDone(t *testing.T) {
	rules := ledger.Rules{Types: catalogue(t), Beside: []ledger.Beside{
		{Item: ledger.Disk, Cloud: "aws", Type: "gp3", Size: 100, Unit: 80_000_000},
		{Item: ledger.Address, Cloud: "gcp", Market: provider.Spot, Type: "ipv4", Size: 1, Unit: ledger.GCPSpotAddress},
	}}
	rapid.Check(t, func(t *rapid.T) {
		from := day.Add(time.Duration(rapid.Int64Range(0, int64(24*time.Hour)).Draw(t, "from")))
		last := from.Add(20 * time.Hour)
		var quotes []pricing.Quote
		var ends []pricing.End
		prices := map[provider.Offering][]slowStep{}
		for _, o := range []provider.Offering{awsSpot, awsOnDemand, gcpSpot, tpuSpot} {
			s, q, e := drawPrices(t, o, from.Add(-time.Hour).Truncate(time.Second))
			prices[o], quotes, ends = s, append(quotes, q...), append(ends, e...)
		}
		h, err := pricing.NewHistory(quotes, ends)
		if err != nil {
			t.Fatal(err)
		}
		var machines []*drawn
		for i := range rapid.IntRange(1, 3).Draw(t, "machines") {
			o := rapid.SampledFrom([]provider.Offering{awsSpot, awsSpot, awsOnDemand, gcpSpot, tpuSpot}).Draw(t, "offering")
			d := &drawn{id: provider.InstanceID(fmt.Sprintf("i-%d", i)), o: o, of: rapid.SampledFrom([]int{1, 3, 8}).Draw(t, "of"), steps: prices[o]}
			drawLife(t, d, from, last)
			machines = append(machines, d)
		}
		m := ledger.NewMeter(h, rules)
		var book ledger.Ledger
		now := from
		for round := range rapid.Int64Range(1, 25).Draw(t, "rounds") {
			now = now.Add(drawSpan(t, "round", 40*time.Minute))
			for _, d := range machines {
				settleDrawn(t, m, &book, d, now, round, h, rules)
			}
			moveDrawn(t, m, &book, from, now, round, h, rules)
			if rapid.IntRange(0, 3).Draw(t, "crash") == 0 {
				m = ledger.Resume(h, rules, shuffled(t, book.Charges()))
			}
		}
		for _, d := range machines {
			checkDrawn(t, d, book.Charges())
		}
		for _, c := range book.Charges() {
			if err := c.Check(); err != nil {
				t.Fatalf("charge %s: %v", c.ID, err)
			}
		}
		if err := ledger.Check(book.Charges()); err != nil {
			t.Fatal(err)
		}
	})
}

// settleDrawn settles one machine, checks that a meter made of the charges so far
// would have said the same, and keeps what was said, unless a crash prevents it.
func settleDrawn(t *rapid.T, m *ledger.Meter, book *ledger.Ledger, d *drawn, now time.Time, round int64, h *pricing.History, rules ledger.Rules) {
	inst, r := d.listed(now)
	shares := drawShares(t, d.of)
	resumed := ledger.Resume(h, rules, shuffled(t, book.Charges()))
	replayed := resumed.Settle(inst, d.of, shares, now, round)
	got := m.Settle(inst, d.of, shares, now, round)
	if diff := cmp.Diff(got, replayed); diff != "" {
		t.Fatalf("%s at %s: the resumed meter differs:\n%s", inst.ID, now, diff)
	}
	if again := m.Settle(inst, d.of, shares, now, round+1); len(again) != 0 {
		t.Fatalf("%s at %s: settled twice, got %v", inst.ID, now, again)
	}
	for range 2 { // the second time, as after a lost answer of the store
		if _, err := book.Append(got...); err != nil {
			t.Fatal(err)
		}
	}
	if r == nil {
		return
	}
	for _, before := range d.runs { // a stop that was not seen is the next start
		if before.start.Before(r.start) && before.known && !before.seen {
			before.seen = true
			if before.booked.After(r.start) {
				before.booked = r.start
			}
			before.end, before.cause = before.booked, provider.EndedByUs
		}
	}
	r.known = r.known || slices.ContainsFunc(got, func(c ledger.Charge) bool {
		return c.Item == ledger.Machine && c.Kind != ledger.Reversal && !c.From.Before(r.start)
	})
	to := now
	if !inst.Ended.IsZero() {
		to = inst.Ended
	}
	if r.booked.Before(to) && !r.seen {
		r.held = append(r.held, drawnHold{r.booked, to, shares})
		r.booked = to
	}
	if !inst.Ended.IsZero() {
		r.seen = true
	}
}

// moveDrawn now and then moves a job's money of a random time to waste, or back.
func moveDrawn(t *rapid.T, m *ledger.Meter, book *ledger.Ledger, from, now time.Time, round int64, h *pricing.History, rules ledger.Rules) {
	if rapid.IntRange(0, 2).Draw(t, "work lost") != 0 {
		return
	}
	mv := ledger.Move{Out: ledger.ToJob, Into: ledger.ToWaste, Round: round}
	if rapid.IntRange(0, 3).Draw(t, "back") == 0 {
		mv.Out, mv.Into = mv.Into, mv.Out
	}
	mv.Job = rapid.SampledFrom([]string{"a", "GPT-L"}).Draw(t, "whose")
	mv.From = from.Add(drawSpan(t, "lost from", now.Sub(from)))
	mv.To = mv.From.Add(drawSpan(t, "lost for", time.Hour))
	replayed := ledger.Resume(h, rules, shuffled(t, book.Charges())).Transfer(mv)
	got := m.Transfer(mv)
	if diff := cmp.Diff(got, replayed); diff != "" {
		t.Fatalf("transfer at %s: the resumed meter differs:\n%s", now, diff)
	}
	if again := m.Transfer(mv); len(again) != 0 {
		t.Fatalf("transfer at %s: moved twice: %v", now, again)
	}
	if _, err := book.Append(got...); err != nil {
		t.Fatal(err)
	}
}

// checkDrawn compares a machine's charges with the reference.
func checkDrawn(t *rapid.T, d *drawn, charges []ledger.Charge) {
	number := 0
	for _, r := range d.runs {
		if !r.known {
			continue // it came and went between two rounds
		}
		number++
		var own []ledger.Charge
		for _, c := range charges {
			if c.Instance == d.id && c.Run == number {
				own = append(own, c)
			}
		}
		end := r.booked
		if r.seen && r.ended {
			end = r.end
		}
		want := slowCost(slowRules[d.o], d.steps, r.start, end, r.cause, r.seen)
		if got := ledger.Total(own).Sum.Amount; got != want {
			t.Fatalf("%s run %d of %s, %s to %s (%s): got %s USD, want %s", d.id, number, d.o, r.start, end, r.cause, got, want)
		}
		checkBearers(t, d, r, own, end)
	}
}

// checkBearers compares what each job, and each account without a job, pays for
// the time of a run with its exact part: off by less than a nano dollar for each
// line and each cut.
func checkBearers(t *rapid.T, d *drawn, r *drawnRun, own []ledger.Charge, end time.Time) {
	rule := slowRules[d.o]
	exact := map[string]*big.Rat{}
	for _, h := range r.held {
		if h.to.After(end) {
			h.to = end
		}
		if !h.from.Before(h.to) || r.seen && r.cause == provider.Interrupted && end.Sub(r.start) < rule.free {
			continue
		}
		for _, s := range slowBear(d.of, h.shares) {
			name := bearerOf(s.Account, s.Job)
			if exact[name] == nil {
				exact[name] = new(big.Rat)
			}
			exact[name].Add(exact[name], slowShare(rule, d.steps, r.start, h.from, h.to, s.Accelerators, d.of))
		}
	}
	paid, lines := map[string]pricing.Money{}, int64(0)
	for _, c := range own {
		if c.Kind != ledger.Minimum && c.Kind != ledger.Rise { // a rise is paid by Overrun for whoever held the machine
			paid[bearerOf(c.Account, c.Job)] += c.Amount
			lines++
		}
	}
	for name, amount := range paid {
		off := new(big.Rat).SetInt64(int64(amount))
		if exact[name] != nil {
			off.Sub(off, exact[name])
		}
		if off.Abs(off).Cmp(new(big.Rat).SetInt64(2*lines)) > 0 {
			t.Fatalf("%s: %s pays %s USD, off by %s nano dollars in %d lines", d.id, name, amount, off.FloatString(3), lines)
		}
	}
}

// slowBear adds what is idle to the shares of jobs, one accelerator after the other: each
// goes to the job that lacks most of its exact part, once none lacks a whole one.
func slowBear(of int, shares []ledger.Share) []ledger.Share {
	bear := slices.Clone(shares)
	idle, whole := of, 0
	for _, s := range shares {
		idle -= s.Accelerators
		if s.Job != "" {
			whole += s.Accelerators
		}
	}
	if whole == 0 {
		return append(bear, ledger.Share{Account: ledger.ToIdle, Accelerators: idle})
	}
	for range idle {
		at, most := -1, new(big.Rat)
		for i, s := range shares {
			if s.Job == "" {
				continue
			}
			lacks := big.NewRat(int64(idle*s.Accelerators), int64(whole))
			lacks.Sub(lacks, big.NewRat(int64(bear[i].Accelerators-s.Accelerators), 1))
			if c := lacks.Cmp(most); at < 0 || c > 0 || c == 0 && s.Job < shares[at].Job {
				at, most = i, lacks
			}
		}
		bear[at].Accelerators++
	}
	return bear
}

// bearerOf is the job, or the account of what no job bears.
func bearerOf(account ledger.Account, job string) string {
	if job != "" {
		return job
	}
	return string(account)
}

// shuffled is charges in another order, some of them twice.
func shuffled(t *rapid.T, charges []ledger.Charge) []ledger.Charge {
	if len(charges) == 0 {
		return nil
	}
	all := append(slices.Clone(charges), charges[:rapid.IntRange(0, len(charges)).Draw(t, "twice")]...)
	k := rapid.IntRange(0, len(all)-1).Draw(t, "turn")
	slices.Reverse(all[:k])
	slices.Reverse(all[k:])
	return all
}
