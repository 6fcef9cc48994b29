package planner_test

import (
	"math"
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/goodput"
	"github.com/goodfleet/goodfleet/planner/throughput"
)

// elasticJob is a job with the profile of resnet.
func elasticJob(t *testing.T, id planner.JobID, p *goodput.Profile) *planner.Job {
	t.Helper()
	curve, err := planner.GoodputCurve(p, planner.Growth{Bought: true})
	if err != nil {
		t.Fatal(err)
	}
	return &planner.Job{ID: id, Family: "resnet50", Curve: curve}
}

// tableJob is a job of which one T4 was measured, and the rest is estimated.
func tableJob(t *testing.T, id planner.JobID) *planner.Job {
	t.Helper()
	p, err := throughput.NewProfile(throughput.ProfileConfig{Name: "lm", Entries: []throughput.Entry{
		{Accelerator: "T4", Replicas: 1, SamplesPerSec: 100},
		{Accelerator: "L4", Replicas: 1, SamplesPerSec: 200, Estimated: true},
		{Accelerator: "A100", Replicas: 1, SamplesPerSec: 800, Estimated: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return &planner.Job{ID: id, Family: "lm", Curve: planner.TableCurve(p)}
}

func observe(t *testing.T, b *planner.Beliefs, j *planner.Job, m planner.Measurement) planner.Finding {
	t.Helper()
	found, err := b.Observe(j, m)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func speedOf(t *testing.T, j *planner.Job, accelerator string, nodes, replicas int) planner.Speed {
	t.Helper()
	s, ok := j.Curve.Speed(accelerator, nodes, replicas)
	if !ok {
		t.Fatalf("nothing is known of %d × %s on %d", replicas, accelerator, nodes)
	}
	return s
}

func TestTableMovesTowardWhatIsSeenForTheWholeFamily(t *testing.T) {
	b := planner.NewBeliefs()
	first, second := tableJob(t, "a"), tableJob(t, "b")
	if b.Of(first) != first {
		t.Error("a job of which nothing was found out is no longer itself")
	}
	found := observe(t, b, first, planner.Measurement{Gang: 1, Accelerator: "L4", Kind: "gpu", Nodes: 1, Replicas: 1, SamplesPerSec: 50})
	if !found.Changed || !strings.Contains(found.Wrong, "expected 200 samples/s, saw 50") {
		t.Errorf("found %+v, want a correction from 200 to 50", found)
	}
	for _, j := range []*planner.Job{first, second} {
		got := speedOf(t, b.Of(j), "L4", 1, 1)
		if perSec := got.Goodput / 3600; perSec < 49 || perSec > 60 || got.Estimated || !(got.LogSD < 0.1) {
			t.Errorf("%s on L4: %+v, want nearly 50 samples/s, measured", j.ID, got)
		}
		if got := speedOf(t, b.Of(j), "A100", 1, 1); got.Goodput/3600 > 600 || !got.Estimated {
			t.Errorf("%s on A100: %+v, want less than what was estimated, and still an estimate", j.ID, got)
		}
		if got := speedOf(t, b.Of(j), "T4", 1, 1); got.Goodput != 360000 {
			t.Errorf("%s on T4: %+v, want what was measured there", j.ID, got)
		}
		if !planner.Knows(b.Of(j).Curve, "L4") || planner.Knows(b.Of(j).Curve, "A100") {
			t.Error("one of L4 and A100 has been seen: L4")
		}
	}
	now := b.Of(first)
	if again := observe(t, b, first, planner.Measurement{Gang: 1, Accelerator: "L4", Kind: "gpu", Nodes: 1, Replicas: 1, SamplesPerSec: 50.5}); again.Changed {
		t.Errorf("the same again: %+v, want nothing new", again)
	}
	if b.Of(first) != now {
		t.Error("the job changed though nothing was found out")
	}
}

func TestMeasuredSpeedThatIsMetChangesNothing(t *testing.T) {
	b, j := planner.NewBeliefs(), tableJob(t, "a")
	if found := observe(t, b, j, planner.Measurement{Gang: 1, Accelerator: "T4", Kind: "gpu", Nodes: 1, Replicas: 1, SamplesPerSec: 100}); found != (planner.Finding{}) || b.Of(j) != j {
		t.Errorf("found %+v", found)
	}
}

func TestJobThatRanOutOfMemoryIsKeptFromTheType(t *testing.T) {
	b, j := planner.NewBeliefs(), tableJob(t, "a")
	observe(t, b, j, planner.Measurement{Gang: 1, Accelerator: "L4", Kind: "gpu", MemGiB: 24, Nodes: 1, Replicas: 1, OutOfMemory: true})
	for accelerator, want := range map[string]bool{"T4": false, "L4": false, "A100": true} { // T4 has 16 GiB
		if _, ok := b.Of(j).Curve.Speed(accelerator, 1, 1); ok != want {
			t.Errorf("%s: may run: %t, want %t", accelerator, ok, want)
		}
	}

	e := elasticJob(t, "e", resnet(t))
	before := speedOf(t, e, "T4", 1, 4)
	found := observe(t, b, e, planner.Measurement{Gang: 1, Accelerator: "T4", Kind: "gpu", MemGiB: 16, Nodes: 1, Replicas: 4, AtomicBatch: 200, OutOfMemory: true})
	after := speedOf(t, b.Of(e), "T4", 1, 4)
	if !found.Changed || after.MaxLocal != 100 || !(after.Goodput < before.Goodput) {
		t.Errorf("after 200 did not fit: %+v, %+v; want at most 100 samples a pass", found, after)
	}
	if got := speedOf(t, b.Of(e), "V100", 1, 1); got.MaxLocal != 100 {
		t.Errorf("V100 of as much memory: %+v, want the same bound", got)
	}
	// Down to nothing: the type is out, which ends a chain of failures.
	for batch := 100; batch >= 20; batch /= 2 {
		observe(t, b, e, planner.Measurement{Gang: 2, Accelerator: "T4", Kind: "gpu", MemGiB: 16, Nodes: 1, Replicas: 4, AtomicBatch: batch, OutOfMemory: true})
	}
	if got, ok := b.Of(e).Curve.Speed("T4", 1, 4); ok {
		t.Errorf("nothing of at least 20 fits, and yet %+v", got)
	}
}

func TestPassTimesRefitTheCurve(t *testing.T) {
	b := planner.NewBeliefs()
	job, brother := elasticJob(t, "a", resnet(t)), elasticJob(t, "b", resnet(t))
	truth := goodput.Theta{AlphaC: 0.1, BetaC: 0.006, AlphaN: 0.6, BetaN: 0.01, AlphaR: 0.15, BetaR: 0.002, Gamma: 2}
	wrong := 0
	for gang, p := range []goodput.Place{{Nodes: 1, Replicas: 1}, {Nodes: 1, Replicas: 4}, {Nodes: 2, Replicas: 8}, {Nodes: 4, Replicas: 16}} {
		for _, m := range []int{50, 200} {
			found := observe(t, b, job, planner.Measurement{
				Gang: int64(gang + 1), Accelerator: "T4", Kind: "gpu", MemGiB: 16, Nodes: p.Nodes, Replicas: p.Replicas, AtomicBatch: m,
				AccumSec: truth.ComputeSec(m), OptimSec: truth.OptimSec(p.Nodes, p.Replicas, m),
			})
			if found.Wrong != "" {
				wrong++
			}
		}
	}
	if wrong == 0 {
		t.Error("passes took half as long again as expected, and nobody said so")
	}
	for _, j := range []*planner.Job{job, brother} {
		p, _ := planner.GoodputProfileOf(b.Of(j).Curve)
		at, _ := p.Type("T4")
		for _, q := range []goodput.Place{{Nodes: 1, Replicas: 2}, {Nodes: 2, Replicas: 4}, {Nodes: 3, Replicas: 12}} {
			got, want := at.Theta.OptimSec(q.Nodes, q.Replicas, 100), truth.OptimSec(q.Nodes, q.Replicas, 100)
			if math.Abs(got/want-1) > 0.05 {
				t.Errorf("%s: a pass on %+v takes %g s by the fit, %g s in truth", j.ID, q, got, want)
			}
		}
	}
}

func TestOneSampleCorrectsAGivenThetaAndKeepsItsShape(t *testing.T) {
	b, job := planner.NewBeliefs(), elasticJob(t, "a", resnet(t))
	given, _ := resnet(t).Type("T4")
	m := 100
	observe(t, b, job, planner.Measurement{
		Gang: 1, Accelerator: "T4", Kind: "gpu", Nodes: 1, Replicas: 4, AtomicBatch: m,
		AccumSec: given.Theta.ComputeSec(m), OptimSec: given.Theta.OptimSec(1, 4, m),
	})
	p, _ := planner.GoodputProfileOf(b.Of(job).Curve)
	at, _ := p.Type("T4")
	for _, q := range []goodput.Place{{Nodes: 1, Replicas: 1}, {Nodes: 1, Replicas: 4}, {Nodes: 2, Replicas: 8}, {Nodes: 4, Replicas: 16}} {
		got, want := at.Theta.OptimSec(q.Nodes, q.Replicas, m), given.Theta.OptimSec(q.Nodes, q.Replicas, m)
		if math.Abs(got/want-1) > 0.03 {
			t.Errorf("a pass on %+v takes %g s after a sample that agrees, %g s before", q, got, want)
		}
	}
	if at.MaxReplicas != 16 {
		t.Errorf("it has run on %d, want the 16 that were given", at.MaxReplicas)
	}
}

func TestNoiseIsEachJobsOwn(t *testing.T) {
	b := planner.NewBeliefs()
	job, brother := elasticJob(t, "a", resnet(t)), elasticJob(t, "b", resnet(t))
	before := speedOf(t, b.Of(job), "T4", 4, 16)
	found := observe(t, b, job, planner.Measurement{Gang: 1, Accelerator: "T4", Kind: "gpu", Nodes: 1, Replicas: 1, Noise: &goodput.Noise{Sqr: 0.35, Var: 2000}})
	after := speedOf(t, b.Of(job), "T4", 4, 16)
	if !found.Changed || after.Batch <= before.Batch {
		t.Errorf("with a hundred times the noise: batch %d, before %d", after.Batch, before.Batch)
	}
	if got := speedOf(t, b.Of(brother), "T4", 4, 16); got != before {
		t.Errorf("its brother: %+v, want %+v", got, before)
	}
	now := b.Of(job)
	observe(t, b, job, planner.Measurement{Gang: 1, Accelerator: "T4", Kind: "gpu", Nodes: 1, Replicas: 1, Noise: &goodput.Noise{Sqr: math.NaN(), Var: 1}})
	if b.Of(job) != now {
		t.Error("statistics that are not finite were taken for news")
	}
	// The same from the gradients themselves: 16 of 50 samples, 1000 steps.
	perSample := 20. * 200 / 50
	observe(t, b, brother, planner.Measurement{Gang: 1, Accelerator: "T4", Kind: "gpu", Nodes: 1, Replicas: 1, Steps: []goodput.Step{{
		Replicas: 16, AtomicBatch: 50, Steps: 1000, SqrOfMean: 0.35 + perSample/16, MeanOfSqr: 0.35 + perSample,
	}}})
	if n, ok := b.Noise("b"); !ok || math.Abs(n.Sqr/0.35-1) > 1e-9 || math.Abs(n.Var/20-1) > 1e-9 {
		t.Errorf("noise from steps %+v, %t; want 0.35 and 20", n, ok)
	}
}

func TestNothingIsCarriedFromGPUToTPU(t *testing.T) {
	b, job := planner.NewBeliefs(), elasticJob(t, "a", resnet(t))
	observe(t, b, job, planner.Measurement{Gang: 1, Accelerator: "TPU v5e", Kind: "tpu", MemGiB: 16, Nodes: 2, Replicas: 8, AtomicBatch: 50, AccumSec: 0.2, OptimSec: 0.25})
	p, _ := planner.GoodputProfileOf(b.Of(job).Curve)
	at, ok := p.Type("TPU v5e")
	if !ok || at.Samples[0].Nodes != 1 {
		t.Fatalf("the slice: %+v, %t; want one node", at, ok)
	}
	if a, c := speedOf(t, job, "A100", 1, 1), speedOf(t, b.Of(job), "A100", 1, 1); math.Abs(a.Goodput/c.Goodput-1) > 0.01 {
		t.Errorf("a TPU changed what is believed of a GPU: %+v, then %+v", a, c)
	}
	if s, ok := b.Of(job).Curve.Speed("TPU v6e", 1, 8); ok {
		t.Errorf("another TPU: %+v, want nothing", s)
	}
}

func TestMeasurementsThatCannotBeAreRefused(t *testing.T) {
	b, table, elastic := planner.NewBeliefs(), tableJob(t, "t"), elasticJob(t, "e", resnet(t))
	for name, tc := range map[string]struct {
		job *planner.Job
		m   planner.Measurement
	}{
		"negative speed":       {table, planner.Measurement{Accelerator: "T4", Nodes: 1, Replicas: 1, SamplesPerSec: -1}},
		"speed that is no one": {table, planner.Measurement{Accelerator: "T4", Nodes: 1, Replicas: 1, SamplesPerSec: math.NaN()}},
		"place of no belief":   {table, planner.Measurement{Accelerator: "T4", Nodes: 1, Replicas: 2, SamplesPerSec: 1}},
		"infinite pass":        {elastic, planner.Measurement{Accelerator: "T4", Kind: "gpu", Nodes: 1, Replicas: 1, AtomicBatch: 1, AccumSec: 1, OptimSec: math.Inf(1)}},
		"pass of no batch":     {elastic, planner.Measurement{Accelerator: "T4", Kind: "gpu", Nodes: 1, Replicas: 1, AccumSec: 1, OptimSec: 1}},
		"half a pass":          {elastic, planner.Measurement{Accelerator: "T4", Kind: "gpu", Nodes: 1, Replicas: 1, AtomicBatch: 1, AccumSec: 1}},
	} {
		if found, err := b.Observe(tc.job, tc.m); err == nil || found.Changed {
			t.Errorf("%s: %+v, %v; want it refused", name, found, err)
		}
	}
	before, after := speedOf(t, elastic, "T4", 1, 1), speedOf(t, b.Of(elastic), "T4", 1, 1)
	if math.Abs(before.Goodput/after.Goodput-1) > 0.01 {
		t.Errorf("and yet T4 went from %+v to %+v", before, after)
	}
}

func TestGrowthIsFreeOnlyOnWhatIsOwned(t *testing.T) {
	p, err := goodput.ParseProfile([]byte(`{"apiVersion": "goodfleet/v1", "kind": "Profile", "metadata": {"name": "big"}, "spec": {
		"batch": {"initial": 64, "max": 1024}, "noise": {"sqr": 1, "var": 100}, "gradientBytes": 4e9,
		"types": [{"accelerator": "V100", "samples": [{"nodes": 1, "replicas": 1, "atomic_bsz": 16, "accum_time": 0.1, "optim_time": 0.1},
			{"nodes": 1, "replicas": 1, "atomic_bsz": 64, "accum_time": 0.3, "optim_time": 0.3}]}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	b, job := planner.NewBeliefs(), elasticJob(t, "a", p)
	bought := speedOf(t, b.Of(job), "V100", 2, 2)
	b.Own([]string{"V100"})
	owned := speedOf(t, b.Of(job), "V100", 2, 2)
	if !(owned.Goodput > 1.2*bought.Goodput) {
		t.Errorf("owned %+v, bought %+v: want the network to cost only what is bought", owned, bought)
	}
	if s, ok := b.Of(job).Curve.Speed("V100", 1, 4); ok {
		t.Errorf("four at once after one: %+v, want at most twice what was measured", s)
	}
}
