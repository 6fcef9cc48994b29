package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/goodput"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/planner/throughput"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// trueTheta is what a test's job really takes on a T4.
var trueTheta = goodput.Theta{AlphaC: 0.064, BetaC: 0.0045, AlphaN: 0.32, BetaN: 0.0062, AlphaR: 0.075, BetaR: 0.00087, Gamma: 2.5}

// elasticTruth has noise that grows a hundredfold in the course of samples.
func elasticTruth(samples float64) Elastic {
	noise := func(v float64) goodput.Noise { return goodput.Noise{Sqr: 1, Var: v} }
	first := noise(1)
	return Elastic{
		Profile: &goodput.Profile{
			Name: "resnet50", Noise: &first,
			Limits: goodput.Limits{InitialBatch: 200, MaxBatch: 12800, MinLocal: 20, MaxLocal: 200, Accumulation: true},
			Types:  []goodput.TypeProfile{{Accelerator: "T4", Kind: goodput.KindGPU, Theta: trueTheta}},
		},
		Stages: []Stage{{0, first}, {samples * 0.15, noise(20)}, {samples * 0.4, noise(100)}, {samples * 0.7, noise(0.2)}},
	}
}

// elasticSetting is one job that knows no more than two passes on one T4, and buys
// machines of one and four of them.
func elasticSetting(t testing.TB, samples float64) Setting {
	t.Helper()
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	s := Setting{
		Variant: "elastic", Seed: 3, Start: start, Catalogue: catalogue, Horizon: 96 * time.Hour, Check: true,
		Plan: func(p planner.Problem) (planner.Plan, error) { return policy.Value(p, policy.Settings{}) },
		Loop: autoscale.Settings{SkipUnchanged: true, Setup: time.Minute, Hold: time.Minute},
	}
	var quotes []pricing.Quote
	for name, usd := range map[string]float64{"g4dn.xlarge": 0.526, "g4dn.12xlarge": 3.912} {
		o := provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: name, Market: provider.OnDemand}
		s.Offerings = append(s.Offerings, o)
		quotes = append(quotes, pricing.Quote{Offering: o, Rate: pricing.RateOf(usd), At: start.Add(-time.Hour), Source: "test"})
	}
	slices.SortFunc(s.Offerings, provider.Offering.Compare)
	slices.SortFunc(quotes, func(a, b pricing.Quote) int { return a.Offering.Compare(b.Offering) })
	if s.Prices, err = pricing.NewHistory(quotes, nil); err != nil {
		t.Fatal(err)
	}
	truth := elasticTruth(samples)
	at, _, err := goodput.NewTypeProfile("T4", goodput.KindGPU, []goodput.Sample{
		{Nodes: 1, Replicas: 1, AtomicBatch: 50, AccumSec: trueTheta.ComputeSec(50), OptimSec: trueTheta.ComputeSec(50)},
		{Nodes: 1, Replicas: 1, AtomicBatch: 200, AccumSec: trueTheta.ComputeSec(200), OptimSec: trueTheta.ComputeSec(200)},
	})
	if err != nil {
		t.Fatal(err)
	}
	curve, err := planner.GoodputCurve(&goodput.Profile{
		Name: "resnet50", Limits: truth.Profile.Limits, Noise: truth.Profile.Noise, GradientBytes: 102e6, Types: []goodput.TypeProfile{at},
	}, planner.Growth{Bought: true, MinReplicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	s.Jobs = []*planner.Job{{
		ID: "resnet50-1", Family: "resnet50", Submitted: start, Curve: curve, ValueOfTime: 20 * pricing.DollarPerHour,
		Work:       planner.Work{Samples: samples, Kind: planner.WorkExact},
		Resources:  planner.Resources{Replicas: planner.Replicas{Min: 1, Max: 32}, Ethernet: true},
		Checkpoint: planner.Checkpoint{Save: 10 * time.Second, Restore: 30 * time.Second, Every: 30 * time.Minute},
	}}
	s.Truth = Truth{Elastic: func(*planner.Job) (Elastic, bool) { return truth, true }, Scatter: 0.01}
	return s
}

// course is the configs that a simulated job was given, and the events by kind.
type told struct {
	sizes, batches []int
	events         map[string][]autoscale.Event
	beliefs        *planner.Job // of the last plan that it was in
}

// watch runs a setting and notes what its first job was given by each plan.
func watch(t *testing.T, s Setting) (told, Outcome) {
	t.Helper()
	seen := told{events: map[string][]autoscale.Event{}}
	inner := s.Plan
	s.Plan = func(p planner.Problem) (planner.Plan, error) {
		plan, err := inner(p)
		for _, a := range plan.Allocations {
			if n := len(seen.sizes); n == 0 || seen.sizes[n-1] != a.Config.Replicas || seen.batches[n-1] != a.Config.Batch {
				seen.sizes, seen.batches = append(seen.sizes, a.Config.Replicas), append(seen.batches, a.Config.Batch)
			}
		}
		for _, j := range p.Jobs {
			seen.beliefs = j.Job
		}
		return plan, err
	}
	w, err := newWorld(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	events, err := w.store.Events(t.Context(), time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		seen.events[e.Kind] = append(seen.events[e.Kind], e)
	}
	out, err := w.outcome(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return seen, out
}

func TestElasticJobGrowsAndShrinksWithItsNoise(t *testing.T) {
	const samples = 4e7
	seen, out := watch(t, elasticSetting(t, samples))
	if out.Unfinished != 0 {
		t.Fatalf("the job is not done: %+v", out)
	}
	most := slices.Max(seen.sizes)
	if seen.sizes[0] > 2 {
		t.Errorf("sizes %v: began with %d, want at most twice the one that was measured", seen.sizes, seen.sizes[0])
	}
	for i := 1; i < len(seen.sizes); i++ {
		if profiled := slices.Max(seen.sizes[:i]); seen.sizes[i] > 2*profiled {
			t.Errorf("sizes %v: %d after at most %d, want growth that at most doubles", seen.sizes, seen.sizes[i], profiled)
		}
	}
	if most < 8 || seen.sizes[len(seen.sizes)-1] >= most {
		t.Errorf("sizes %v, batches %v: want it to grow with its noise, and to shrink when that falls", seen.sizes, seen.batches)
	}
	if distinct := len(slices.Compact(slices.Sorted(slices.Values(seen.batches)))); distinct < 4 || slices.Max(seen.batches) < 4*slices.Min(seen.batches) {
		t.Errorf("batches %v: want them chosen anew as the noise changes", seen.batches)
	}
	// What is believed in the end is what is true, at all that it ran on.
	p, _ := planner.GoodputProfileOf(seen.beliefs.Curve)
	at, _ := p.Type("T4")
	for _, s := range at.Samples {
		got, want := at.Theta.OptimSec(s.Nodes, s.Replicas, s.AtomicBatch), trueTheta.OptimSec(s.Nodes, s.Replicas, s.AtomicBatch)
		if math.Abs(got/want-1) > 0.05 {
			t.Errorf("a pass of %d on %d over %d: believed %g s, truly %g s", s.AtomicBatch, s.Replicas, s.Nodes, got, want)
		}
	}
}

func TestElasticSimulationIsTheSameTwice(t *testing.T) {
	run := func() string {
		var log bytes.Buffer
		s := elasticSetting(t, 1e7)
		s.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		seen, out := watch(t, s)
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintln(seen.sizes, seen.batches, string(text), log.String())
	}
	if a, b := run(), run(); a != b {
		t.Errorf("two runs of one seed differ:\n%s\n%s", a, b)
	}
}

func TestOutOfMemoryLowersTheLocalBatchUntilItFits(t *testing.T) {
	s := elasticSetting(t, 2e6)
	s.Truth.Fits = func(_ *planner.Job, _ string, local int) bool { return local <= 60 }
	seen, out := watch(t, s)
	if out.Unfinished != 0 {
		t.Fatalf("the job is not done: %+v", out)
	}
	failures := 0
	for _, e := range seen.events[autoscale.EventFailed] {
		if !strings.Contains(e.Text, "out of memory") {
			t.Errorf("failed: %s", e.Text)
		}
		failures++
	}
	if failures < 1 || failures > 3 {
		t.Errorf("%d gangs ran out of memory, want the bound found by halving: 200 to at most 60", failures)
	}
}

func TestRigidJobLeavesTheTypeThatItDoesNotFit(t *testing.T) {
	s := smallSetting(t, 5, 1)
	s.Jobs[0].Curve, s.Jobs[0].Resources.Replicas = tableOf(t, map[string]float64{"K80": 0.1, "P100": 0.4}), planner.Replicas{Set: []int{1}}
	s.Jobs[0].ValueOfTime, s.Jobs[0].Work.Samples = 50*pricing.DollarPerHour, 360 // so that it wants the faster one
	s.Truth.Fits = func(_ *planner.Job, accelerator string, _ int) bool {
		return accelerator != "K80" && accelerator != "P100"
	}
	seen, out := watch(t, s)
	if out.Unfinished != 1 || len(seen.events[autoscale.EventFailed]) == 0 {
		t.Fatalf("%d failures, unfinished %d; want a job that fits nothing to wait", len(seen.events[autoscale.EventFailed]), out.Unfinished)
	}
	if n := len(seen.events[autoscale.EventFailed]); n > 2 {
		t.Errorf("%d failures on two types", n)
	}

	s = smallSetting(t, 5, 1)
	s.Jobs[0].Curve, s.Jobs[0].Resources.Replicas = tableOf(t, map[string]float64{"K80": 0.1, "V100": 0.4}), planner.Replicas{Set: []int{1}}
	s.Jobs[0].Work.Samples = 360
	s.Truth.Fits = func(_ *planner.Job, accelerator string, _ int) bool { return accelerator != "K80" }
	if seen, out = watch(t, s); out.Unfinished != 0 || len(seen.events[autoscale.EventFailed]) > 1 {
		t.Errorf("unfinished %d after %d failures, want it done on V100", out.Unfinished, len(seen.events[autoscale.EventFailed]))
	}
}

func TestWrongTableIsCorrectedAndSaid(t *testing.T) {
	s := smallSetting(t, 5, 3)
	for _, j := range s.Jobs {
		j.Curve, j.Resources.Replicas, j.Family = tableOf(t, map[string]float64{"P100": 0.1, "V100": 0.4}), planner.Replicas{Set: []int{1}}, "wrong"
		j.Work.Samples = 3600
	}
	s.Truth.Speed = func(_ *planner.Job, _ planner.Config, accelerator string) (planner.Speed, bool) {
		return planner.Speed{Goodput: map[string]float64{"P100": 360, "V100": 480}[accelerator]}, true // V100 does a third of what was believed
	}
	seen, out := watch(t, s)
	if out.Unfinished != 0 {
		t.Fatalf("%d of 3 are not done", out.Unfinished)
	}
	corrected := seen.events[autoscale.EventCorrected]
	if len(corrected) == 0 || !strings.Contains(corrected[0].Text, "1 × V100 on 1 machines: expected 0.4 samples/s, saw 0.1333") {
		t.Errorf("corrections %v, want the first to say what was expected", corrected)
	}
	// A table is trusted, so each observation moves it by a part: but for all jobs of the family.
	if got, ok := seen.beliefs.Curve.Speed("V100", 1, 1); !ok || got.Goodput/480 < 0.99 || got.Goodput/480 > 1.2 {
		t.Errorf("V100 is believed to do %+v an hour in the end, in truth 480", got)
	}
}

// tableOf is a curve of measured samples per second on one accelerator.
func tableOf(t testing.TB, perSec map[string]float64) planner.Curve {
	t.Helper()
	cfg := throughput.ProfileConfig{Name: "table"}
	for name, v := range perSec {
		cfg.Entries = append(cfg.Entries, throughput.Entry{Accelerator: name, Replicas: 1, SamplesPerSec: v})
	}
	p, err := throughput.NewProfile(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return planner.TableCurve(p)
}
