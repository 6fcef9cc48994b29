//go:build data

package goodput

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"
)

// siaTypes are the measured GPU types of Sia's artifact with what is published of
// them, and the accelerators of a machine.
var siaTypes = []struct {
	name     string
	perNode  int
	hardware Hardware
}{
	{"aws", 4, Hardware{KindGPU, 16, 320e9, 12e9, 50e9 / 8 / 4}},         // g4dn.12xlarge: T4
	{"rtx", 8, Hardware{KindGPU, 11, 616e9, 12e9, 50e9 / 8 / 8}},         // RTX 2080 Ti, 50 Gbit/s
	{"dgx-ext", 8, Hardware{KindGPU, 40, 1555e9, 300e9, 1600e9 / 8 / 8}}, // DGX A100, 1.6 Tbit/s
	{"quad", 4, Hardware{KindGPU, 24, 672e9, 12e9, 200e9 / 8 / 4}},       // Quadro RTX 6000, 200 Gbit/s
	{"azure", 8, Hardware{KindGPU, 32, 900e9, 150e9, 100e9 / 8 / 8}},     // ND40rs_v2: V100, 100 Gbit/s
}

var siaApps = []string{"bert", "cifar10", "deepspeech2", "imagenet", "ncf", "yolov3"}

func siaHardware(accelerator string) (Hardware, bool) {
	for _, s := range siaTypes {
		if s.name == accelerator {
			return s.hardware, true
		}
	}
	return Hardware{}, false
}

func siaSamples(t testing.TB, app, name string) []Sample {
	return MergeSamples(traceSamples(t, dataDir(t, "sia", "profiles", app), "-"+name))
}

func TestFitsOfAllMeasuredTypes(t *testing.T) {
	for _, app := range siaApps {
		for _, name := range []string{"aws", "rtx", "dgx-ext", "dgx", "quad", "azure"} {
			samples := siaSamples(t, app, name)
			res, err := Fit(samples, FitOptions{})
			if err != nil {
				t.Fatal(err)
			}
			published, _ := Objective(publishedStart, samples)
			t.Logf("%-12s %-8s rows %4d  J %.4f  mean error %4.1f %%  %v", app, name, len(samples), res.Objective, 100*res.MeanError, res.Status)
			if math.IsNaN(res.Objective) || res.Objective >= published || res.Status != FitConverged {
				t.Errorf("%s on %s: objective %g from %g at the start, %v", app, name, res.Objective, published, res.Status)
			}
		}
	}
}

// pipelines are the types on which Sia's hybrid job was measured: GPT of 2.8 billion
// parameters, whose replica is a pipeline over some GPUs.
var pipelines = []struct {
	name   string
	stages int // GPUs of one pipeline
}{{"dgx-ext", 2}, {"rtx", 8}}

// Sia's hybrid job takes 48 microbatches a step. Its files hold the forward time of
// one of them on one stage; the backward pass takes twice as long.
const (
	microbatches    = 48
	forwardsAndBack = 3
)

// pipelineSamples reads a pipelined job as an ordinary one: a step of M microbatches
// of b samples over S stages takes 3·(M + S − 1) forward passes and a synchronization.
// A GPU of a pipeline counts as a replica of M·b/S samples, which makes the batch of
// all GPUs what it is.
func pipelineSamples(t testing.TB, name string, stages int) []Sample {
	t.Helper()
	dir := dataDir(t, "sia", "profiles", "gpt_pmp")
	var samples []Sample
	for _, row := range readColumns(t, filepath.Join(dir, "scalability-"+name+".csv.gz")) {
		pass := forwardsAndBack * float64(microbatches+stages-1) * row["step_time"]
		samples = append(samples, Sample{
			Nodes: int(row["num_nodes"]), Replicas: int(row["num_replicas"]), AtomicBatch: microbatches * int(row["local_bsz"]) / stages,
			AccumSec: pass, OptimSec: pass + row["sync_time"],
		})
	}
	return samples
}

// TestFitsOfPipelines: step times of a pipelined job have the model's form, so what is
// left is no more than what the objective's priors pull.
func TestFitsOfPipelines(t *testing.T) {
	for _, p := range pipelines {
		samples := pipelineSamples(t, p.name, p.stages)
		for _, s := range samples {
			if s.Replicas%p.stages != 0 || s.AtomicBatch*p.stages%microbatches != 0 {
				t.Fatalf("%s: %+v is no number of pipelines of %d stages", p.name, s, p.stages)
			}
		}
		res, err := Fit(samples, FitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-12s %-8s rows %4d  J %.5f  mean error %5.3f %%  %v  theta %.4g", "gpt_pmp", p.name, len(samples), res.Objective, 100*res.MeanError, res.Status, res.Theta)
		if !(res.Objective <= 1e-3) || !(res.MeanError <= 1e-3) {
			t.Errorf("gpt_pmp on %s: objective %g, mean error %g; want the exact form found", p.name, res.Objective, res.MeanError)
		}
	}
}

// errorsOf collects |ln| errors by the name of a predictor.
type errorsOf map[string][]float64

func (e errorsOf) add(name string, predicted, measured float64) {
	e[name] = append(e[name], math.Abs(math.Log(predicted/measured)))
}

func quantile(list []float64, q float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[int(q*float64(len(list)-1)+0.5)]
}

// TestTransferBeatsIdealScaling fits a job on one GPU type, takes single-GPU
// samples of another, and predicts the step times of several GPUs there; next to
// what Sia does (the ratio of single-GPU speeds) and to "doubling GPUs doubles
// throughput".
func TestTransferBeatsIdealScaling(t *testing.T) {
	all := errorsOf{}
	within1, within2, n := 0, 0, 0
	for _, app := range siaApps {
		for _, from := range siaTypes {
			source, _, err := NewTypeProfile(from.name, KindGPU, siaSamples(t, app, from.name))
			if err != nil {
				t.Fatal(err)
			}
			for _, to := range siaTypes {
				if to.name == from.name {
					continue
				}
				rows := siaSamples(t, app, to.name)
				target, _, err := NewTypeProfile(to.name, KindGPU, slices.DeleteFunc(slices.Clone(rows), func(s Sample) bool { return s.Replicas > 1 }))
				if err != nil {
					t.Fatal(err)
				}
				p := &Profile{Name: app, Limits: Limits{InitialBatch: 1, MaxBatch: maxCount / 2}, Types: []TypeProfile{source, target}}
				r := NewPredictor(p, PredictorConfig{Hardware: siaHardware})
				pair := errorsOf{}
				for _, s := range rows {
					if s.Replicas == 1 || s.Nodes > 1 && !source.knows(true) {
						continue
					}
					nodes := s.Nodes
					hardware, _ := siaHardware(to.name)
					e, _ := r.theta(&p.Types[1], KindGPU, hardware, nodes, s.Replicas)
					compute := target.Theta.ComputeSec(s.AtomicBatch)
					onSource := (s.Replicas + from.perNode - 1) / from.perNode
					for name, predicted := range map[string]float64{
						"ideal": compute,
						"ratio": source.Theta.OptimSec(onSource, s.Replicas, s.AtomicBatch) * compute / source.Theta.ComputeSec(s.AtomicBatch),
						"ours":  e.theta.OptimSec(nodes, s.Replicas, s.AtomicBatch),
					} {
						pair.add(name, predicted, s.OptimSec)
						all.add(name, predicted, s.OptimSec)
					}
					z := math.Abs(math.Log(e.theta.OptimSec(nodes, s.Replicas, s.AtomicBatch)/s.OptimSec)) / e.logSD(nodes, s.Replicas, s.AtomicBatch)
					n++
					if z <= 1 {
						within1++
					}
					if z <= 2 {
						within2++
					}
				}
				t.Logf("%-12s %7s to %-7s  %s", app, from.name, to.name, pair)
			}
		}
	}
	t.Logf("all: %s", all)
	t.Logf("within one standard deviation %.0f %%, two %.0f %%, of %d", 100*float64(within1)/float64(n), 100*float64(within2)/float64(n), n)
	// A normal error is within one in 68 % and within two in 95 % of all cases; these
	// have longer tails.
	if one, two := float64(within1)/float64(n), float64(within2)/float64(n); one < 0.6 || two < 0.85 {
		t.Errorf("predictions claim to be better than they are: %.2f, %.2f", one, two)
	}
	for _, other := range []string{"ideal", "ratio"} {
		for _, q := range []float64{0.5, 0.9} {
			if got, than := quantile(all["ours"], q), quantile(all[other], q); got >= than {
				t.Errorf("quantile %g: error %.3f, that of %s is %.3f", q, got, other, than)
			}
		}
	}
}

// String lists the median and the 90 % quantile of each predictor.
func (e errorsOf) String() string {
	text := ""
	for _, name := range []string{"ideal", "ratio", "ours"} {
		text += fmt.Sprintf("%s %.2f/%.2f  ", name, quantile(e[name], 0.5), quantile(e[name], 0.9))
	}
	return text
}
