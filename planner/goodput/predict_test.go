package goodput

import (
	"math"
	"testing"
)

// published is hardware for tests: round numbers near those of the types.
func published(accelerator string) (Hardware, bool) {
	h, ok := map[string]Hardware{
		"T4":      {Kind: KindGPU, MemGiB: 16, MemBytesPerSec: 320e9, LinkBytesPerSec: 12e9, NetBytesPerSec: 1.5e9},
		"V100":    {Kind: KindGPU, MemGiB: 16, MemBytesPerSec: 900e9, LinkBytesPerSec: 150e9, NetBytesPerSec: 1.5e9},
		"A100":    {Kind: KindGPU, MemGiB: 40, MemBytesPerSec: 1555e9, LinkBytesPerSec: 300e9, NetBytesPerSec: 12e9},
		"TPU v5e": {Kind: KindTPU, MemGiB: 16, MemBytesPerSec: 819e9, LinkBytesPerSec: 200e9, NetBytesPerSec: 25e9},
	}[accelerator]
	return h, ok
}

// profileOf is a job measured on T4 with one and several accelerators.
func profileOf(t *testing.T, types ...TypeProfile) *Profile {
	t.Helper()
	m := imagenetOnT4()
	p := &Profile{Name: "resnet", Limits: m.Limits, Noise: &m.Noise, Types: types}
	if err := p.check(); err != nil {
		t.Fatal(err)
	}
	return p
}

func typeOf(t *testing.T, accelerator string, samples ...Sample) TypeProfile {
	t.Helper()
	p, _, err := NewTypeProfile(accelerator, KindGPU, samples)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func measuredT4(t *testing.T) TypeProfile {
	return typeOf(t, "T4", drawSamples(imagenetOnT4().Theta, 60, 0.02, 1)...)
}

// faster is a sample of a type that computes four times as fast as T4.
func faster(atomic int) Sample {
	s := sampleAt(1, 1, atomic)
	s.AccumSec, s.OptimSec = s.AccumSec/4, s.OptimSec/4
	return s
}

func TestPredictionOfAMeasuredTypeIsThatOfItsFit(t *testing.T) {
	own := measuredT4(t)
	r := NewPredictor(profileOf(t, own), PredictorConfig{Hardware: published})
	got, ok := r.At("T4", 2, 8)
	want, _ := (&Model{own.Theta, imagenetOnT4().Noise, imagenetOnT4().Limits}).Best(Clamp, 2, 8)
	if !ok || got.Choice != want || got.Basis != FromFit {
		t.Errorf("%+v, ok %v; want %+v", got, ok, want)
	}
	if got.LogSD < 0.01 || got.LogSD > 0.1 {
		t.Errorf("standard deviation %g, the samples have noise of 0.02", got.LogSD)
	}
}

func TestSynchronizationIsCarriedOverBetweenGPUs(t *testing.T) {
	r := NewPredictor(profileOf(t, measuredT4(t), typeOf(t, "V100", faster(50), faster(100), faster(200))), PredictorConfig{Hardware: published})
	one, ok := r.At("V100", 1, 1)
	if !ok || one.Basis != FromFit {
		t.Fatalf("one V100: %+v, ok %v", one, ok)
	}
	many, ok := r.At("V100", 4, 16)
	if !ok || many.Basis != FromTransfer {
		t.Fatalf("16 V100: %+v, ok %v; want a transfer", many, ok)
	}
	if many.LogSD <= 2*one.LogSD {
		t.Errorf("standard deviation %g of a transfer, %g of a fit", many.LogSD, one.LogSD)
	}
	t4, _ := r.At("T4", 4, 16)
	slow, _ := r.At("T4", 1, 1)
	// The links of V100 are faster, so that it scales at least as well.
	if many.Goodput/one.Goodput < t4.Goodput/slow.Goodput*0.99 || many.Goodput > 16*one.Goodput {
		t.Errorf("16 V100 are %g times one, 16 T4 %g times", many.Goodput/one.Goodput, t4.Goodput/slow.Goodput)
	}
}

func TestTypeThatNeverRanIsAGuess(t *testing.T) {
	r := NewPredictor(profileOf(t, measuredT4(t)), PredictorConfig{Hardware: published})
	guess, ok := r.At("A100", 1, 1)
	if !ok || guess.LogSD < 0.4 {
		t.Fatalf("%+v, ok %v; want a guess", guess, ok)
	}
	t4, _ := r.At("T4", 1, 1)
	if ratio := guess.Goodput / t4.Goodput; ratio < 1.5 || ratio > 5 {
		t.Errorf("A100 is %g times T4: memory bandwidths are as 4.9, and its root is 2.2", ratio)
	}
	if _, ok := r.At("A9000", 1, 1); ok {
		t.Error("a type that nothing is published of was predicted")
	}
	if _, ok := NewPredictor(profileOf(t, measuredT4(t)), PredictorConfig{}).At("A100", 1, 1); ok {
		t.Error("predicted without hardware")
	}
}

func TestNothingIsCarriedOverToTPU(t *testing.T) {
	p := profileOf(t, measuredT4(t))
	for _, bought := range []bool{false, true} {
		r := NewPredictor(p, PredictorConfig{Hardware: published, Bought: bought})
		if got, ok := r.At("TPU v5e", 1, 4); ok {
			t.Errorf("bought %v: %+v from measurements on T4", bought, got)
		}
	}
	tpu, _, err := NewTypeProfile("TPU v5e", KindTPU, []Sample{sampleAt(1, 1, 50), sampleAt(1, 1, 100)})
	if err != nil {
		t.Fatal(err)
	}
	p.Put(tpu)
	r := NewPredictor(p, PredictorConfig{Hardware: published})
	if got, ok := r.At("TPU v5e", 1, 4); !ok || got.Basis == FromTransfer {
		t.Errorf("four chips %+v, ok %v: synchronization came from T4", got, ok)
	}
}

func TestGrowthIsOptimisticUnlessBought(t *testing.T) {
	p := profileOf(t, typeOf(t, "T4", sampleAt(1, 1, 50), sampleAt(1, 1, 100)))
	p.GradientBytes = 2e9
	owned, ok := NewPredictor(p, PredictorConfig{Hardware: published}).At("T4", 2, 2)
	if !ok || owned.Basis != FromOptimism || owned.LogSD < 0.2 {
		t.Fatalf("owned: %+v, ok %v; want optimism that is not sure", owned, ok)
	}
	bought, ok := NewPredictor(p, PredictorConfig{Hardware: published, Bought: true}).At("T4", 2, 2)
	if !ok || bought.Basis != FromRing || bought.Goodput >= owned.Goodput {
		t.Fatalf("bought: %+v, ok %v; want a ring, and less than %g", bought, ok, owned.Goodput)
	}
	// 2·(K−1)/K·bytes over the network of one accelerator of each machine.
	h, _ := published("T4")
	if sec, ok := h.ringSec(2e9, 2, 2); !ok || math.Abs(sec-2e9/1.5e9) > 1e-9 {
		t.Errorf("ring of %g s, ok %v", sec, ok)
	}
	if _, ok := h.ringSec(0, 2, 2); ok {
		t.Error("a ring of unknown bytes has a time")
	}
	p.GradientBytes = 0
	if got, _ := NewPredictor(p, PredictorConfig{Hardware: published, Bought: true}).At("T4", 2, 2); got.Basis != FromOptimism {
		t.Errorf("without the size of gradients: %v", got.Basis)
	}
}

func TestAtMostTwiceWhatWasMeasured(t *testing.T) {
	p := profileOf(t, typeOf(t, "T4", sampleAt(1, 1, 50), sampleAt(1, 4, 100)), typeOf(t, "V100", faster(50)))
	r := NewPredictor(p, PredictorConfig{Hardware: published})
	for _, c := range []struct {
		accelerator string
		replicas    int
		ok          bool
	}{{"T4", 8, true}, {"T4", 9, false}, {"V100", 8, true}, {"V100", 9, false}, {"A100", 8, true}, {"A100", 9, false}} {
		if _, ok := r.At(c.accelerator, 3, c.replicas); ok != c.ok {
			t.Errorf("%d %s: ok %v, want %v: four were measured", c.replicas, c.accelerator, ok, c.ok)
		}
	}
	if _, ok := NewPredictor(p, PredictorConfig{Hardware: published, MinReplicas: 12}).At("T4", 3, 12); !ok {
		t.Error("a job cannot run at its own least size")
	}
	given := TypeProfile{Accelerator: "V100", Kind: KindGPU, Theta: imagenetOnT4().Theta}
	p.Put(given)
	if _, ok := NewPredictor(p, PredictorConfig{Hardware: published}).At("V100", 8, 64); !ok {
		t.Error("a theta that was given without a limit has none")
	}
}

func TestMemoryAndLimitsBoundPredictions(t *testing.T) {
	p := profileOf(t, measuredT4(t))
	p.Memory = Memory{StateGiB: 2, SampleGiB: 0.1} // (0.9·16 − 2)/0.1 = 124
	r := NewPredictor(p, PredictorConfig{Hardware: published})
	if got, ok := r.At("T4", 1, 1); !ok || got.Atomic > 124 {
		t.Errorf("%+v, ok %v: want at most 124 samples a pass", got, ok)
	}
	p.Memory.StateGiB = 14
	if got, ok := NewPredictor(p, PredictorConfig{Hardware: published}).At("T4", 1, 1); ok {
		t.Errorf("%+v: less than the least local batch of 20 fits", got)
	}
	p.Memory = Memory{}
	p.Types[0].MaxLocal = 60
	if got, ok := NewPredictor(p, PredictorConfig{}).At("T4", 1, 1); !ok || got.Atomic > 60 {
		t.Errorf("%+v, ok %v: want at most 60 samples a pass", got, ok)
	}
	for _, c := range [][2]int{{0, 1}, {2, 1}, {1, 0}} {
		if _, ok := r.At("T4", c[0], c[1]); ok {
			t.Errorf("%d replicas on %d nodes were predicted", c[1], c[0])
		}
	}
}

func TestBatchStaysWhereNoiseIsNotKnown(t *testing.T) {
	p := profileOf(t, measuredT4(t))
	p.Noise = nil
	got, ok := NewPredictor(p, PredictorConfig{}).At("T4", 1, 4)
	if !ok || got.Batch != 200 {
		t.Errorf("%+v, ok %v; want the initial batch of 200", got, ok)
	}
}

func TestSynchronizationThatIsGivenAsFreeHasACertainty(t *testing.T) {
	p := &Profile{
		Name: "free", Limits: Limits{InitialBatch: 24, MaxBatch: 24},
		Types: []TypeProfile{{Accelerator: "T4", Kind: KindGPU, Theta: Theta{AlphaC: 1, Gamma: 6}}},
	}
	for _, places := range []Place{{1, 1}, {1, 4}, {2, 4}} {
		got, ok := NewPredictor(p, PredictorConfig{}).At("T4", places.Nodes, places.Replicas)
		if !ok || !(got.LogSD > 0) || !(got.Goodput > 0) {
			t.Errorf("%+v: %+v, %t; want a standard deviation", places, got, ok)
		}
	}
}
