package planner

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/planner/goodput"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// flat is a curve that knows some accelerators at any size.
type flat map[string]float64

func (f flat) Speed(accelerator string, nodes, replicas int) (Speed, bool) {
	g, ok := f[accelerator]
	return Speed{Goodput: g * float64(replicas)}, ok
}

func offer(cloud, region, name, accelerator string, kind provider.AcceleratorKind, count, vcpu int, mem, accMem float64, market provider.Market, rate string) Offer {
	r, err := pricing.ParseRate(rate)
	if err != nil {
		panic(err)
	}
	return Offer{
		Offering: provider.Offering{Cloud: cloud, Region: region, Zone: region + "-a", Type: name, Market: market},
		Type: provider.InstanceType{Cloud: cloud, Name: name, Accelerator: accelerator, Kind: kind, Count: count, VCPU: vcpu,
			MemGiB: mem, AcceleratorMemGiB: accMem, Hosts: 1},
		Rate: r, Booked: r, Cap: -1,
	}
}

var sold = []Offer{
	offer("aws", "us-east-1", "p3.2xlarge", "V100", provider.GPU, 1, 8, 61, 16, provider.OnDemand, "3.06"),
	offer("aws", "us-east-1", "p3.16xlarge", "V100", provider.GPU, 8, 64, 488, 16, provider.Spot, "9.8"),
	offer("gcp", "us-central1", "v5e-8", "TPU v5e", provider.TPU, 8, 112, 192, 16, provider.OnDemand, "9.6"),
}

func TestLacksNamesWhatIsMissing(t *testing.T) {
	job := func(change func(*Job)) *Job {
		j := &Job{ID: "GPT-L", Family: "gpt", Curve: flat{"V100": 100, "TPU v5e": 80}, Resources: Resources{Replicas: Replicas{Min: 1, Max: 8}}}
		change(j)
		return j
	}
	tests := map[string]struct {
		change func(*Job)
		want   []string // all in the reason; none: it fits
	}{
		"fits":                   {func(j *Job) {}, nil},
		"memory per accelerator": {func(j *Job) { j.Resources.AcceleratorMemGiB = 80 }, []string{"acceleratorMemory", "80 GiB", "16 GiB (V100)"}},
		"accelerator not sold":   {func(j *Job) { j.Resources.Accelerators = []string{"H100"} }, []string{"accelerators", "H100"}},
		"type not sold":          {func(j *Job) { j.Types = []string{"p9.large"} }, []string{"types", "p9.large"}},
		"unknown throughput":     {func(j *Job) { j.Resources.Accelerators = []string{"V100"}; j.Curve = flat{} }, []string{"throughput", "gpt", "V100"}},
		"region":                 {func(j *Job) { j.Regions = []string{"mars-1"} }, []string{"regions", "mars-1"}},
		"cloud and market": {func(j *Job) {
			j.Clouds = []string{"gcp"}
			j.Markets = []provider.Market{provider.Spot}
			j.Resources.Accelerators = []string{"TPU v5e"}
		}, []string{"markets", "spot"}},
		"data of unknown size":           {func(j *Job) { j.Data = Data{Region: "eu-west-1"} }, []string{"data", "eu-west-1"}},
		"price limit":                    {func(j *Job) { j.MaxPrice = pricing.DollarPerHour }, []string{"maxPrice", "1 USD/h"}},
		"host memory":                    {func(j *Job) { j.Resources.MemGiB = 1000 }, []string{"memory", "1000 GiB"}},
		"host cpu":                       {func(j *Job) { j.Resources.VCPU = 65 }, []string{"cpu", "65"}},
		"no valid size":                  {func(j *Job) { j.Resources.Replicas = Replicas{Min: 5, Max: 7, MultipleOf: 8} }, []string{"replicas", "8"}},
		"disk":                           {func(j *Job) { j.Resources.DiskGiB = 500 }, []string{"disk", "500 GiB"}},
		"several machines over Ethernet": {func(j *Job) { j.Resources.Replicas, j.Clouds = Replicas{Set: []int{16}}, []string{"aws"} }, []string{"resources.network", "16 replicas", "ethernet"}},
		"tpu needs whole slice": {func(j *Job) {
			j.Resources.Accelerators = []string{"TPU v5e"}
			j.Resources.Replicas = Replicas{Set: []int{4}}
		}, []string{"4 replicas", "TPU v5e"}},
		"tpu must be named": {func(j *Job) { j.Clouds = []string{"gcp"} }, []string{"accelerators", "GPU"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, lacks := Lacks(job(tt.change), sold)
			if lacks != (tt.want != nil) {
				t.Fatalf("lacks %v: %q", lacks, got)
			}
			for _, word := range tt.want {
				if !strings.Contains(got, word) {
					t.Errorf("reason %q does not say %q", got, word)
				}
			}
			if strings.Contains(got, "\n") {
				t.Errorf("reason %q has several lines", got)
			}
		})
	}
}

func TestLacksNamesTheNearestFirst(t *testing.T) {
	offers := []Offer{
		offer("aws", "r", "a", "K80", provider.GPU, 1, 4, 61, 12, provider.OnDemand, "0.9"),
		offer("aws", "r", "b", "H200", provider.GPU, 8, 96, 2000, 141, provider.OnDemand, "39.8"),
		offer("aws", "r", "c", "T4", provider.GPU, 1, 4, 16, 16, provider.OnDemand, "0.526"),
	}
	j := &Job{Curve: flat{"K80": 1}, Resources: Resources{AcceleratorMemGiB: 200, Replicas: Replicas{Min: 1, Max: 1}}}
	if got, _ := Lacks(j, offers); !strings.Contains(got, "offers 141 GiB (H200), 16 GiB (T4), 12 GiB (K80)") {
		t.Errorf("memory: %s", got)
	}
	j.Resources.AcceleratorMemGiB, j.MaxPrice = 0, pricing.DollarPerHour/2
	if got, _ := Lacks(j, offers); !strings.Contains(got, "offers 0.526 USD/h") {
		t.Errorf("price: %s", got)
	}
}

func TestSpreadsLieEvenlyOnWholeMachines(t *testing.T) {
	j := &Job{Curve: flat{"V100": 1}, Resources: Resources{Replicas: Replicas{Min: 1, Max: 24}}}
	eight := &sold[1].Type
	for _, w := range spreads(j, eight.Accelerator, eight.Kind, eight.Count) {
		if w.perNode*w.nodes != w.replicas || w.perNode > eight.Count {
			t.Errorf("%d replicas on %d machines of %d", w.replicas, w.nodes, eight.Count)
		}
		if w.replicas <= 8 && w.nodes != 1 {
			t.Errorf("%d replicas spread over %d machines though one has room", w.replicas, w.nodes)
		}
	}
}

// elasticJob adapts on any GPU and TPU of these tests.
func elasticJob(t *testing.T, replicas Replicas) *Job {
	t.Helper()
	theta := goodput.Theta{AlphaC: 0.05, BetaC: 0.01, AlphaN: 0.1, BetaN: 0.01, AlphaR: 0.05, BetaR: 0.01, Gamma: 2}
	curve, err := GoodputCurve(&goodput.Profile{
		Name: "elastic", Limits: goodput.Limits{InitialBatch: 64, MaxBatch: 4096},
		Types: []goodput.TypeProfile{{Accelerator: "TPU v5e", Kind: goodput.KindTPU, Theta: theta}, {Accelerator: "V100", Kind: goodput.KindGPU, Theta: theta}},
	}, Growth{})
	if err != nil {
		t.Fatal(err)
	}
	return &Job{Curve: curve, Resources: Resources{Replicas: replicas}}
}

func TestJobsThatAdaptTakePowersOfTwoAndWholeMachines(t *testing.T) {
	for _, c := range []struct {
		name        string
		accelerator string
		kind        provider.AcceleratorKind
		count       int
		replicas    Replicas
		want        [][2]int // machines, replicas
	}{
		{"up to three machines of eight", "V100", provider.GPU, 8, Replicas{Min: 1, Max: 24}, [][2]int{{1, 1}, {1, 2}, {1, 4}, {1, 8}, {2, 16}, {3, 24}}},
		{"machines of six", "V100", provider.GPU, 6, Replicas{Min: 1, Max: 13}, [][2]int{{1, 1}, {1, 2}, {1, 4}, {1, 6}, {2, 12}}},
		{"a set of sizes is taken as it is", "V100", provider.GPU, 8, Replicas{Set: []int{3, 16}}, [][2]int{{1, 3}, {2, 16}}},
		{"multiples of three have no power of two", "V100", provider.GPU, 8, Replicas{Min: 3, Max: 9, MultipleOf: 3}, [][2]int{{1, 3}, {1, 6}}},
		{"multiples of two", "V100", provider.GPU, 8, Replicas{Min: 2, Max: 16, MultipleOf: 2}, [][2]int{{1, 2}, {1, 4}, {1, 8}, {2, 16}}},
		{"a slice is one and whole", "TPU v5e", provider.TPU, 8, Replicas{Min: 1, Max: 16}, [][2]int{{1, 8}}},
	} {
		var got [][2]int
		for _, w := range spreads(elasticJob(t, c.replicas), c.accelerator, c.kind, c.count) {
			got = append(got, [2]int{w.nodes, w.replicas})
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestRemainingOfUnknownWork(t *testing.T) {
	const reference = 1000.0 // samples per hour: the median job is 1000 samples
	at := func(done float64) (float64, float64) {
		return Remaining(&JobState{Job: &Job{Work: Work{Kind: WorkUnknown}}, Done: done}, reference)
	}
	p50, p80 := at(0)
	if math.Abs(p50-reference) > 1e-6*reference {
		t.Errorf("median %.3f, want %.0f", p50, reference)
	}
	if want := reference * math.Exp(1.5*0.8416212335729143); math.Abs(p80-want) > 1e-6*want {
		t.Errorf("P80 %.3f, want %.3f", p80, want)
	}
	// What has lasted long goes on longer: the rest of a heavy tail grows.
	last := p50
	for _, done := range []float64{3000, 10000, 30000} {
		p50, p80 := at(done)
		if p50 <= last*0.99 && done > 3000 || p80 <= p50 {
			t.Errorf("done %.0f: P50 %.0f, P80 %.0f", done, p50, p80)
		}
		last = p50
		// By simulation of the law: half of what outlives done ends within p50.
		if got := (normalTail((math.Log(done+p50) - math.Log(reference)) / 1.5)) / normalTail((math.Log(done)-math.Log(reference))/1.5); math.Abs(got-0.5) > 1e-9 {
			t.Errorf("done %.0f: %.4f of the survivors outlive the median", done, got)
		}
	}
	exact, _ := Remaining(&JobState{Job: &Job{Work: Work{Samples: 50, Kind: WorkExact}}, Done: 20}, reference)
	if exact != 30 {
		t.Errorf("exact work: %g left, want 30", exact)
	}
	limit, _ := Remaining(&JobState{Job: &Job{Work: Work{Samples: 500, Kind: WorkLimit}}}, reference)
	if limit != 500 {
		t.Errorf("limited work: %g left, want at most 500", limit)
	}
}

// normalTail is P(Z > z) by integration, apart from the code under test.
func normalTail(z float64) float64 {
	const steps, end = 200000, 12.0
	sum, h := 0.0, (end-z)/steps
	for i := range steps {
		x := z + (float64(i)+0.5)*h
		sum += math.Exp(-x*x/2) * h
	}
	return sum / math.Sqrt(2*math.Pi)
}

func TestColumnMoneyAndTime(t *testing.T) {
	o := sold[1]
	o.Hazard = pricing.Hazard{PoolPerHour: 0.2, OnePerHour: 0.01, Down: 2 * time.Hour}
	s := &JobState{Job: &Job{Curve: flat{"V100": 100}, Checkpoint: Checkpoint{Save: 20 * time.Second, Restore: time.Minute}}}
	c := newColumn(s, &o, 0, spread{nodes: 2, perNode: 8, replicas: 16, speed: Speed{Goodput: 1600}}, DefaultTransfer())
	if want := 19.6; math.Abs(c.Alone-want) > 1e-9 {
		t.Errorf("alone %.3f USD/h, want %.3f", c.Alone, want)
	}
	if want := 0.22; math.Abs(c.Loss-want) > 1e-12 {
		t.Errorf("%.3f losses per hour, want %.3f", c.Loss, want)
	}
	if got, want := c.WallHours(3200)/c.PaidHours(3200), 1+0.22*2; math.Abs(got-want) > 1e-9 {
		t.Errorf("wall over paid %.4f, want %.4f", got, want)
	}
	if got, want := c.CostOfWork(3)*1600*c.Useful, 19.6+3*1.44; math.Abs(got-want) > 1e-9 {
		t.Errorf("an hour costs %.4f USD, want %.4f", got, want)
	}
}

func TestMovingDataCostsOnlyBetweenPlaces(t *testing.T) {
	tr := DefaultTransfer()
	known := Size{GiB: 100, Known: true}
	for _, tt := range []struct {
		name                                     string
		fromCloud, fromRegion, toCloud, toRegion string
		size                                     Size
		want                                     float64
	}{
		{"same region", "aws", "us-east-1", "aws", "us-east-1", known, 0},
		{"other region", "aws", "us-east-1", "aws", "us-west-2", known, 2 * 1.073741824}, // AWS counts GB, Google GiB
		{"other cloud", "aws", "us-east-1", "gcp", "us-central1", known, 9 * 1.073741824},
		{"out of the other cloud", "gcp", "us-central1", "aws", "us-east-1", known, 12},
		{"from anywhere", "", "", "aws", "us-east-1", known, 0},
		{"nothing", "aws", "us-east-1", "gcp", "us-central1", Size{Known: true}, 0},
	} {
		if got, _ := tr.Move(tt.size, tt.fromCloud, tt.fromRegion, tt.toCloud, tt.toRegion); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %.2f USD, want %.2f", tt.name, got, tt.want)
		}
	}
}
