package throughput

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
	"pgregory.net/rapid"
)

// slack allows for the rounding of a few divisions.
const slack = 1e-9

func rooflineOf(t testing.TB, c Class) *Roofline {
	t.Helper()
	r, err := NewRoofline(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func names(t testing.TB, kind string) []string {
	t.Helper()
	list, err := accelerators()
	if err != nil {
		t.Fatal(err)
	}
	var of []string
	for _, name := range list.names {
		if list.byName[name].Kind == kind {
			of = append(of, name)
		}
	}
	return of
}

func TestEachRegimeGainsWhatItsHardwareGains(t *testing.T) {
	both := []string{gpuKind, tpuKind}
	for _, c := range []struct {
		name  string
		class Class
		peak  func(Accelerator) float64
	}{
		{"bound by arithmetic", Class{FlopPerSample: 1e12, BytesPerSample: 1, Batch: 8, Kinds: both},
			func(a Accelerator) float64 { return a.PeakFlopPerSec }},
		{"bound by memory", Class{FlopPerSample: 1, BytesPerSample: 1e9, Batch: 8, Kinds: both},
			func(a Accelerator) float64 { return a.MemBytesPerSec }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rooflineOf(t, c.class)
			for _, kind := range both {
				of := names(t, kind)
				first, _ := LookupAccelerator(of[0])
				base, _ := r.Speed(of[0], 1, 1)
				for _, name := range of[1:] {
					a, _ := LookupAccelerator(name)
					got, _ := r.Speed(name, 1, 1)
					if want := c.peak(a) / c.peak(first); !scalar.EqualWithinAbsOrRel(got/base, want, 0, slack) {
						t.Errorf("%s over %s: %g, want %g", name, of[0], got/base, want)
					}
				}
			}
		})
	}
}

func TestModelsDifferInWhatATypeGainsThem(t *testing.T) {
	gain := func(class, from, to string) float64 {
		p, err := Estimate(class)
		if err != nil {
			t.Fatal(err)
		}
		a, _, okA := p.Speed(from, 1, 1)
		b, _, okB := p.Speed(to, 1, 1)
		if !okA || !okB {
			t.Fatalf("%s on %s and %s: not known", class, from, to)
		}
		return b / a
	}
	if got := gain("bert-large", "T4", "L4"); !scalar.EqualWithinAbsOrRel(got, 121.0/65, 0, slack) {
		t.Errorf("BERT gains %g from L4 over T4, want the ratio of their arithmetic", got)
	}
	for _, class := range []string{"resnet50", "recommendation"} {
		if got := gain(class, "T4", "L4"); !scalar.EqualWithinAbsOrRel(got, 300.0/320, 0, slack) {
			t.Errorf("%s gains %g from L4 over T4, want the ratio of their memories", class, got)
		}
	}
}

// TestEstimatesAreOfThePublishedOrder holds estimates within a factor of two of
// published measurements: what the doc comment promises, and no more.
func TestEstimatesAreOfThePublishedOrder(t *testing.T) {
	const factor = 2
	for _, c := range []struct {
		class, accelerator string
		replicas           int
		published          float64 // samples/s of the whole job
		source             string
	}{
		{"resnet50", "V100", 1, 1200, "NVIDIA DeepLearningExamples, PyTorch ResNet50 v1.5, DGX-1 16 GB, mixed precision"},
		{"resnet50", "V100", 8, 8322, "the same"},
		{"resnet50", "A100-80GB", 1, 2470, "the same, DGX A100"},
		{"resnet50", "A100-80GB", 8, 16621, "the same, DGX A100"},
		{"bert-large", "V100-32GB", 1, 171.5, "NVIDIA DeepLearningExamples, PyTorch BERT, pre-training, sequences of 128, DGX-1 32 GB"},
		{"bert-large", "V100-32GB", 8, 1305.6, "the same"},
		{"recommendation", "V100-32GB", 1, 875e3, "NVIDIA DeepLearningExamples, PyTorch DLRM, mixed precision"},
		{"gpt-1.3b", "H100", 8, 363645.0 / 2048, "MosaicML llm-foundry, 1b, sequences of 2048, bf16"},
		{"llm-7b", "H100", 8, 85144.0 / 2048, "MosaicML llm-foundry, 7b, sequences of 2048, bf16"},
		{"llm-7b", "A100-80GB", 8, 29472.0 / 2048, "MosaicML llm-foundry, 7b, the tokens of sequences of 4096, bf16"},
	} {
		t.Run(fmt.Sprintf("%s on %d %s", c.class, c.replicas, c.accelerator), func(t *testing.T) {
			p, err := Estimate(c.class)
			if err != nil {
				t.Fatal(err)
			}
			got, estimated, ok := p.Speed(c.accelerator, 1, c.replicas)
			if !ok || !estimated {
				t.Fatalf("ok %v, estimated %v; want an estimate", ok, estimated)
			}
			if got > factor*c.published || got < c.published/factor {
				t.Errorf("%.4g samples/s, published %.4g (%s)", got, c.published, c.source)
			}
		})
	}
}

func TestEverySpeedOfEveryClassIsFiniteAndEstimated(t *testing.T) {
	for _, class := range ClassNames() {
		p, err := Estimate(class)
		if err != nil {
			t.Fatal(err)
		}
		for _, accelerator := range p.Accelerators() {
			for _, nodes := range []int{1, 2, 8} {
				for _, each := range []int{1, 2, 4, 8} {
					got, estimated, ok := p.Speed(accelerator, nodes, nodes*each)
					if estimated != ok || ok && (!(got > 0) || math.IsInf(got, 0)) || !ok && got != 0 {
						t.Errorf("%s, %d on %d %s: %g, estimated %v, ok %v", class, nodes*each, nodes, accelerator, got, estimated, ok)
					}
				}
			}
		}
	}
}

func TestMemoryDecidesWhatFits(t *testing.T) {
	for _, c := range []struct {
		class, accelerator string
		replicas           int
		fits               bool
	}{
		{"gpt-1.3b", "T4", 8, false}, // 19.4 GiB of state in each of 16
		{"gpt-1.3b", "L4", 1, false}, // and no room for a sample in 24
		{"gpt-1.3b", "A100", 1, true},
		{"llm-7b", "H100", 1, false}, // 100 GiB of state
		{"llm-7b", "H100", 2, true},  // halved
		{"llm-7b", "H200", 1, true},
		{"llm-7b", "A100", 2, false},
		{"llm-7b", "A100", 4, true},
		{"recommendation", "TPU v6e", 8, false}, // a kind that the class says nothing of
		{"bert-large", "TPU v5e", 8, true},
		{"bert-large", "K80", 1, false}, // no published peak
	} {
		p, err := Estimate(c.class)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, ok := p.Speed(c.accelerator, 1, c.replicas); ok != c.fits {
			t.Errorf("%s on %d %s: fits %v, want %v", c.class, c.replicas, c.accelerator, ok, c.fits)
		}
	}
}

// drawClass draws a class that fits everywhere.
func drawClass(t *rapid.T) Class {
	return Class{
		Name:           "drawn",
		FlopPerSample:  rapid.Float64Range(1e6, 1e15).Draw(t, "flop"),
		BytesPerSample: rapid.Float64Range(1e3, 1e11).Draw(t, "bytes"),
		Batch:          rapid.IntRange(1, 4096).Draw(t, "batch"),
		Params:         rapid.Float64Range(0, 1e10).Draw(t, "params"),
		SwapPerSample:  rapid.Float64Range(0, 1e6).Draw(t, "swap"),
		Sharded:        rapid.Bool().Draw(t, "sharded"),
		Kinds:          []string{gpuKind, tpuKind},
	}
}

func TestMoreReplicasDoMoreInAllAndLessEach(t *testing.T) {
	all := append(names(t, gpuKind), names(t, tpuKind)...)
	rapid.Check(t, func(t *rapid.T) {
		r, err := NewRoofline(drawClass(t))
		if err != nil {
			t.Fatal(err)
		}
		accelerator := rapid.SampledFrom(all).Draw(t, "accelerator")
		each := rapid.IntRange(1, 8).Draw(t, "each")
		nodes := rapid.IntRange(1, 8).Draw(t, "nodes")
		speed := func(nodes, replicas int) float64 {
			got, ok := r.Speed(accelerator, nodes, replicas)
			if !ok {
				t.Fatalf("%d on %d %s: not known", replicas, nodes, accelerator)
			}
			return got
		}
		one := speed(1, 1)
		// From two on: the step from one to two may cost more in talk than it adds.
		if k := max(each, 2); speed(1, k+1) < speed(1, k)*(1-slack) {
			t.Errorf("%d do less than %d on one machine", k+1, k)
		}
		if k := nodes * each; k > 1 && nodes > 1 && speed(nodes+1, k+each) < speed(nodes, k)*(1-slack) {
			t.Errorf("%d machines do less than %d", nodes+1, nodes)
		}
		if speed(nodes, nodes*each) > float64(nodes*each)*one*(1+slack) {
			t.Errorf("%d do more than %d times one", nodes*each, nodes*each)
		}
		if nodes > 1 && speed(nodes, nodes*each) > speed(1, nodes*each)*(1+slack) {
			t.Errorf("%d spread over %d machines do more than together", nodes*each, nodes)
		}
	})
}

func TestNewRooflineRefusesWhatCannotBe(t *testing.T) {
	good := Class{Name: "c", FlopPerSample: 1, BytesPerSample: 1, Batch: 1, Kinds: []string{gpuKind}}
	rooflineOf(t, good)
	for name, change := range map[string]func(*Class){
		"no FLOP": func(c *Class) { c.FlopPerSample = 0 }, "NaN bytes": func(c *Class) { c.BytesPerSample = math.NaN() },
		"no batch": func(c *Class) { c.Batch = 0 }, "negative parameters": func(c *Class) { c.Params = -1 },
		"infinite state": func(c *Class) { c.StateGiB = math.Inf(1) }, "no kind": func(c *Class) { c.Kinds = nil },
	} {
		c := good
		change(&c)
		if _, err := NewRoofline(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := Estimate("resnet"); err == nil || !strings.Contains(err.Error(), "resnet50") {
		t.Errorf("unknown class: error %v, want the names that there are", err)
	}
}

func TestReadAcceleratorsNamesTheRowThatIsWrong(t *testing.T) {
	const header = "accelerator,kind,peak_tflops\n"
	for _, c := range []struct{ name, text, column string }{
		{"zero peak", header + "X,gpu,0\n", "peak_tflops"},
		{"NaN peak", header + "X,gpu,NaN\n", "peak_tflops"},
		{"unknown kind", header + "X,abacus,1\n", "kind"},
		{"twice", header + "X,gpu,1\nX,gpu,1\n", "accelerator"},
		{"unknown column", "accelerator,kind,colour\nX,gpu,red\n", "colour"},
	} {
		if _, err := readAccelerators("a.csv", strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.column) {
			t.Errorf("%s: error %v, want one that names %s", c.name, err, c.column)
		}
	}
}

func ExampleEstimate() {
	for _, class := range []string{"bert-large", "recommendation"} {
		p, err := Estimate(class)
		if err != nil {
			fmt.Println(err)
			return
		}
		t4, _, _ := p.Speed("T4", 1, 1)
		l4, estimated, _ := p.Speed("L4", 1, 1)
		fmt.Printf("%s: an L4 does %.2f times what a T4 does (estimated: %v)\n", class, l4/t4, estimated)
	}
	// Output:
	// bert-large: an L4 does 1.86 times what a T4 does (estimated: true)
	// recommendation: an L4 does 0.94 times what a T4 does (estimated: true)
}
