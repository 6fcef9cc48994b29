package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/store"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider/fake"
)

// draw is the scenario of a seed: one kind of fault again and again, or all kinds,
// rarely, often or all the time; and machines with our tag that nobody launched.
func draw(seed uint64) scenario {
	rng := rand.New(rand.NewPCG(seed, 3))
	s := scenario{seed: seed, store: store.NewMemory(fleetID)}
	if seed%3 == 2 {
		s.store = newSQLite()
	}
	if seed%3 != 0 { // room for the largest gang, and for little more
		s.cap = pricing.DollarPerHour * pricing.Rate(26+rng.IntN(14))
	}
	all := fake.AllFaults()
	switch seed % 4 {
	case 0:
		s.faults = fake.Faults{PerDay: map[fake.Fault]float64{all[int(seed/4)%len(all)]: 150}, Horizon: horizon}
	case 1:
		s.faults = fake.Hostile(12, horizon)
	case 2:
		s.faults = fake.Hostile(36, horizon)
	default:
		s.faults = fake.Hostile(72, horizon)
	}
	for range 1 + rng.IntN(2) {
		s.lines += fmt.Sprintf("at %dm on aws foreign 1 of aws/use1-az1/small/spot fleet %s\n", 1+rng.IntN(100), fleetID)
	}
	return s
}

// newSQLite is a store in SQL that goes with the scenario.
func newSQLite() autoscale.Store {
	s, err := store.OpenSQLite(context.Background(), store.SQLiteConfig{Path: ":memory:", Fleet: fleetID, Jobs: store.Codec{
		Encode: func(j *planner.Job) ([]byte, error) { return json.Marshal(j) },
		Decode: func(text []byte) (*planner.Job, error) {
			curve := speed{}
			j := &planner.Job{Curve: &curve}
			err := json.Unmarshal(text, j)
			j.Curve = curve
			return j, err
		},
	}})
	if err != nil {
		panic(err) // a store in memory opens
	}
	return s
}

// report is what came of one scenario.
type report struct {
	killed map[string]int
	kills  int
	rounds int
	found  []string
	tail   string
}

// run plays a scenario to its end and kills the loop points times on the way.
func run(t *testing.T, s scenario, points int) (r report, err error) {
	t.Helper()
	// In a bubble only a call that hangs passes its deadline, however slow the machine is.
	synctest.Test(t, func(*testing.T) { _, r, err = play(s, points) })
	return r, err
}

func play(s scenario, points int) (*world, report, error) {
	w, err := newWorld(s)
	if err != nil {
		return nil, report{}, err
	}
	if closer, ok := s.store.(io.Closer); ok {
		defer closer.Close()
	}
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(s.seed, 4))
	kills := 0
	arm := func() *killer {
		if kills >= points {
			return newKiller(-1, before)
		}
		return killAt(rng)
	}
	w.killer = arm()
	for !w.over() && w.now.Sub(start) < limit && len(w.found) == 0 {
		w.advance(w.now.Add(time.Duration(20+rng.IntN(80)) * time.Second))
		if err := w.round(ctx); err != nil {
			w.fail("round: %v", err)
		}
		if !w.killer.isDead() {
			continue
		}
		kills++
		w.killed[fmt.Sprintf("%s %v", w.killer.at, w.killer.when)]++
		if rng.IntN(3) == 0 {
			w.advance(w.now.Add(time.Duration(rng.IntN(300)) * time.Second)) // it was away for a while
		}
		if err := w.revive(arm()); err != nil {
			return nil, report{}, err
		}
	}
	if len(w.found) == 0 && !w.over() {
		w.fail("not everything has ended after %v%s", limit, w.left())
	}
	if len(w.found) == 0 {
		w.checkBooks()
	}
	r := report{killed: w.killed, kills: kills, rounds: w.rounds, found: w.found}
	if len(w.found) > 0 {
		r.tail = w.history(*tail)
	}
	return w, r, nil
}

// killAt draws where the next life of the loop ends: at any call, or at one of those
// that change something, which are rarer.
func killAt(rng *rand.Rand) *killer {
	k := newKiller(rng.IntN(90), moment(rng.IntN(int(moments))))
	if rare := []string{"launch", "launch", "terminate", "start", "stop", "commit"}; rng.IntN(2) == 0 {
		k.only, k.left = rare[rng.IntN(len(rare))], rng.IntN(3)
	}
	return k
}

// round is what the loop does at one instant of its life.
func (w *world) round(ctx context.Context) error {
	w.rounds++
	if err := w.submit(ctx); err != nil && !w.killer.isDead() {
		return fmt.Errorf("submit: %w", err)
	}
	if w.killer.isDead() {
		return nil
	}
	w.listed = nil
	r, err := w.loop.Round(ctx, w.now)
	w.noteLooks(r)
	w.halted = w.killer.isDead() || r.Halted != "" || len(r.Frozen) > 0
	w.checkRound()
	if w.killer.isDead() {
		return nil
	}
	if err != nil && !errors.Is(err, errKilled) {
		return err
	}
	if w.opened++; r.Breaker == "" {
		w.opened = 0
	}
	if w.opened > 1 { // somebody looks a round later
		if err := w.loop.Resume(ctx, w.now, "somebody", true); err != nil && !w.killer.isDead() {
			return err
		}
	}
	for _, e := range r.Events {
		if e.Kind == autoscale.EventFrozenStart {
			return fmt.Errorf("frozen start of a store that was never lost: %s", e.Text)
		}
	}
	return nil
}

// left says what has not ended.
func (w *world) left() string {
	var b strings.Builder
	jobs, _ := w.store.Jobs(context.Background())
	for _, r := range jobs {
		if r.Ended.IsZero() {
			fmt.Fprintf(&b, "; job %s, phase %d", r.Job.ID, r.Phase)
		}
	}
	records, _ := w.store.Store.Instances(context.Background())
	for _, r := range records {
		if !r.Settled {
			fmt.Fprintf(&b, "; record %+v", r)
		}
	}
	for _, m := range w.machines() {
		if m.Ended.IsZero() {
			fmt.Fprintf(&b, "; machine %s, %v", m.ID, m.State)
		}
	}
	return b.String()
}
