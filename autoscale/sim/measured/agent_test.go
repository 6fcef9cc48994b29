package measured

import (
	"math"
	"testing"
	"testing/fstest"
	"time"

	"github.com/goodfleet/goodfleet/planner/goodput"
)

// twoTypes is the toy on T4, machines of two, and on a type twice as fast.
func twoTypes(t *testing.T) *Application {
	t.Helper()
	fast := "placement,local_bsz,step_time,sync_time\n1,10,0.5,0\n1,20,1.0,0\n2,10,0.75,0.25\n2,20,1.2,0.25\n"
	a, err := Read(fstest.MapFS{
		"toy/placements-x.csv.gz": packed(t, placements), "toy/scalability-x.csv.gz": packed(t, scalability),
		"toy/placements-y.csv.gz": packed(t, fast), "toy/scalability-y.csv.gz": packed(t, "num_nodes,num_replicas,local_bsz,step_time,sync_time\n9,9,10,4,3\n"),
		"toy/validation-10.csv.gz": packed(t, small), "toy/validation-40.csv.gz": packed(t, large),
	}, Spec{Name: "toy", Epochs: 2, Types: map[string]string{"T4": "-x", "V100": "-y"}, Slow: 2, Restore: 90 * time.Second, Restart: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// An agent tells nothing but what its job has come through.
func TestAgentKnowsWhatRan(t *testing.T) {
	app := twoTypes(t)
	a := NewAgent(app, 0)
	b := a.Belief()
	if b.Ran() || b.Most() != 1 {
		t.Errorf("ran %v, may have %d replicas before it ran", b.Ran(), b.Most())
	}
	one, _ := b.Speed("T4", 1, 1)
	fast, _ := b.Speed("V100", 1, 1)
	if one.Goodput != 10*3600/2 || fast.Goodput != 20*3600/2 || !one.Estimated {
		t.Errorf("%+v and %+v before it ran, want 20 samples in 2 and in 1 s, half as fast", one, fast)
	}
	if _, ok := b.Speed("T4", 1, 2); ok {
		t.Error("two replicas before one was seen")
	}

	parts := a.Begin("T4", 1, 1, 0, app.Restore())
	if a.Learn(0); a.Belief() != b {
		t.Error("something was learnt before the gang got on")
	}
	a.Learn(parts[0].From + 1)
	b = a.Belief()
	if !b.Ran() || b.Most() != 2 || len(a.seen["T4"]) != 1 || a.seen["V100"] != nil {
		t.Errorf("ran %v, may have %d, saw %v", b.Ran(), b.Most(), a.seen)
	}
	// What was not run on is carried over by the ratio of single replicas.
	on, _ := b.Speed("T4", 1, 2)
	there, ok := b.Speed("V100", 1, 2)
	if !ok || math.Abs(there.Goodput-2*on.Goodput) > 1e-9*on.Goodput || on.Estimated || !there.Estimated {
		t.Errorf("%+v on T4, %+v on V100: want twice as much", on, there)
	}
	// It is the goodput of the fit to what was seen, at the statistics seen last.
	l, _ := app.Limits("T4")
	fit, err := goodput.Fit(a.seen["T4"], goodput.FitOptions{Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	m := goodput.Model{Theta: fit.Theta, Noise: app.Noise(parts[0].Batch.Total(1), 0), Limits: l}
	if best, _ := m.Best(goodput.Reject, 1, 2); on.Goodput != best.Goodput*3600/2 {
		t.Errorf("%g samples/h, the fit has %g", on.Goodput, best.Goodput*1800)
	}
}

// The course of a gang goes through all epochs to the end of the work, each part at the
// speed of its batch, and a batch is chosen anew at the turn of the first minute.
func TestCourseOfAGang(t *testing.T) {
	app := twoTypes(t)
	a := NewAgent(app, 0)
	parts := a.Begin("V100", 1, 2, 500, app.Restore())
	for more := a.More(); len(more) > 0; more = a.More() {
		parts = append(parts, more...)
	}
	at, sec := 500., 0.
	for i, p := range parts {
		want, ok := app.PerSec("V100", 1, 2, app.EpochAt(p.From), p.Batch)
		if p.From != at || p.To <= p.From || !ok || p.PerSec != want {
			t.Errorf("part %d of %+v", i, parts)
		}
		at, sec = p.To, sec+(p.To-p.From)/p.PerSec
	}
	if at != app.Work() {
		t.Errorf("ends at %g of %g", at, app.Work())
	}
	if first := (parts[0].To - parts[0].From) / parts[0].PerSec; math.Abs(first-30) > 1e-9 { // 90 s of restoring leave half a minute
		t.Errorf("the first batch is kept for %g s of %g, want 30", first, sec)
	}
	if parts[0].Batch != (Batch{10, 0}) || parts[1].Batch == parts[0].Batch {
		t.Errorf("batches %+v and %+v: want the least first, then the best that is known", parts[0].Batch, parts[1].Batch)
	}
	if none := a.Begin("T4", 7, 14, 0, 0); none != nil {
		t.Errorf("a gang that was not measured has the course %+v", none)
	}
	if held := NewAgent(app, 40).Begin("T4", 1, 1, 0, 0); len(held) < 1 || held[0].Batch.Total(1) != 40 {
		t.Errorf("held at 40 it has the course %+v", held)
	}
}

// A blind agent knows one type: what it saw of a size on the first is what it believes of
// all, and a second does not change it.
func TestBlindAgentTakesAllTypesForOne(t *testing.T) {
	app := twoTypes(t)
	a := NewBlindAgent(app, 0)
	parts := a.Begin("V100", 1, 1, 0, 0)
	a.Learn(parts[0].From + 1)
	slow, _ := a.Belief().Speed("T4", 1, 1)
	fast, _ := a.Belief().Speed("V100", 1, 1)
	if slow.Goodput != fast.Goodput || slow.Estimated {
		t.Errorf("%+v on T4, %+v on V100: want the same", slow, fast)
	}
	seen := len(a.seen[""])
	parts = a.Begin("T4", 1, 1, parts[0].To, 0)
	a.Learn(parts[0].From + 1)
	if len(a.seen[""]) < seen || a.seen["T4"] != nil || a.seen["V100"] != nil {
		t.Errorf("it keeps types apart: %v", a.seen)
	}
	first := a.seen[""][0]
	if step, _, _ := app.Pass("V100", 1, 1, first.AtomicBatch); step != first.OptimSec {
		t.Errorf("a step takes %g s to it, want the %g s that it saw first", first.OptimSec, step)
	}
}
