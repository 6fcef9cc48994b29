//go:build data

package policy

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/goodput"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// ImageNet on nodes of four T4 (g4dn.12xlarge), as the authors of Pollux measured it.
const (
	imagenetBatch = 200   // M0
	imagenetMost  = 12800 // largest batch
	nodeT4        = 4
	changeSec     = 30 // without progress at each change of size
)

// imagenet is the measured job: step times by nodes and local batch, and statistics by
// epoch and batch.
type imagenet struct {
	theta  goodput.Theta
	steps  map[int][][3]float64 // by nodes: local batch, step, sync; seconds
	batch  []int                // measured batches, ascending
	stats  map[int][]goodput.Noise
	border []float64 // progress at which each epoch ends, in steps of M0
}

func numbers(t *testing.T, parts ...string) []map[string]float64 {
	t.Helper()
	root := os.Getenv("GOODFLEET_DATA")
	if root == "" {
		t.Fatal("GOODFLEET_DATA is not set: it names the folder that the public data were fetched to")
	}
	f, err := os.Open(filepath.Join(append([]string{root}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(z).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]float64
	for _, record := range records[1:] {
		row := map[string]float64{}
		for i, column := range records[0] {
			if row[column], err = strconv.ParseFloat(record[i], 64); err != nil {
				t.Fatal(err)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func readImagenet(t *testing.T) *imagenet {
	t.Helper()
	j := &imagenet{steps: map[int][][3]float64{}, stats: map[int][]goodput.Noise{}}
	var samples []goodput.Sample
	for _, row := range numbers(t, "pollux", "traces", "imagenet", "placements.csv.gz") {
		nodes, replicas := 0, 0
		whole := true
		for digits := int(row["placement"]); digits > 0; digits /= 10 {
			nodes++
			replicas += digits % 10
			whole = whole && digits%10 == nodeT4
		}
		if whole {
			j.steps[nodes] = append(j.steps[nodes], [3]float64{row["local_bsz"], row["step_time"], row["sync_time"]})
		}
		samples = append(samples, goodput.Sample{Nodes: nodes, Replicas: replicas, AtomicBatch: int(row["local_bsz"]), OptimSec: row["step_time"], AccumSec: row["step_time"] - row["sync_time"]})
	}
	for _, row := range numbers(t, "pollux", "traces", "imagenet", "scalability.csv.gz") {
		nodes, replicas := int(row["num_nodes"]), int(row["num_replicas"])
		if replicas == nodes*nodeT4 {
			j.steps[nodes] = append(j.steps[nodes], [3]float64{row["local_bsz"], row["step_time"], row["sync_time"]})
		}
		samples = append(samples, goodput.Sample{Nodes: nodes, Replicas: replicas, AtomicBatch: int(row["local_bsz"]), OptimSec: row["step_time"], AccumSec: row["step_time"] - row["sync_time"]})
	}
	fit, err := goodput.Fit(samples, goodput.FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	j.theta = fit.Theta
	for _, b := range []int{200, 400, 800, 1600, 3200, 6400, 12800} {
		j.batch = append(j.batch, b)
		for epoch, row := range numbers(t, "pollux", "traces", "imagenet", fmt.Sprintf("validation-%d.csv.gz", b)) {
			j.stats[b] = append(j.stats[b], goodput.Noise{Sqr: row["grad_sqr"], Var: row["grad_var"]})
			if epoch == len(j.border) {
				j.border = append(j.border, math.Inf(1))
			}
			j.border[epoch] = min(j.border[epoch], row["progress"])
		}
	}
	return j
}

// between is linear in x between the two nearest of ascending xs.
func between(xs []float64, x float64, y func(n int) float64) float64 {
	n := slices.IndexFunc(xs, func(v float64) bool { return v >= x })
	switch {
	case n < 0:
		return y(len(xs) - 1)
	case n == 0:
		return y(0)
	}
	f := (x - xs[n-1]) / (xs[n] - xs[n-1])
	return (1-f)*y(n-1) + f*y(n)
}

// noise is the statistics at a batch and epoch.
func (j *imagenet) noise(batch, epoch int) goodput.Noise {
	xs := make([]float64, len(j.batch))
	for i, b := range j.batch {
		xs[i] = float64(b)
	}
	at := func(pick func(goodput.Noise) float64) float64 {
		return between(xs, float64(batch), func(n int) float64 {
			list := j.stats[j.batch[n]]
			return pick(list[min(epoch, len(list)-1)])
		})
	}
	return goodput.Noise{Sqr: at(func(n goodput.Noise) float64 { return n.Sqr }), Var: at(func(n goodput.Noise) float64 { return n.Var })}
}

// step is the measured time of a pass and of its synchronization on whole nodes.
func (j *imagenet) step(nodes, local int) (step, sync float64) {
	var counts []float64
	for n := range j.steps {
		counts = append(counts, float64(n))
	}
	slices.Sort(counts)
	at := func(k int) float64 {
		return between(counts, float64(nodes), func(n int) float64 {
			rows := j.steps[int(counts[n])]
			locals := make([]float64, len(rows))
			for i := range rows {
				locals[i] = rows[i][0]
			}
			return between(locals, float64(local), func(i int) float64 { return rows[i][k] })
		})
	}
	return at(1), at(2)
}

// model is what a scheduler knows while the job runs at batch in an epoch.
func (j *imagenet) model(batch, epoch int) goodput.Model {
	return goodput.Model{Theta: j.theta, Noise: j.noise(batch, epoch), Limits: goodput.Limits{InitialBatch: imagenetBatch, MaxBatch: imagenetMost, MinLocal: 20, MaxLocal: 200, Accumulation: true}}
}

// train runs the job to its end: size says how many nodes it should have, each minute.
// It returns hours and node-hours.
func (j *imagenet) train(size func(m goodput.Model, nodes int, since, left float64) int) (hours, nodeHours float64) {
	nodes, epoch, progress, stopped := 1, 0, 0.0, 0.0
	first := j.model(imagenetBatch, 0)
	choice, _ := first.Best(goodput.Reject, nodes, nodes*nodeT4)
	total := j.border[len(j.border)-1]
	sec, nodeSec, changed := 0.0, 0.0, 0.0
	const round = 60.0
	for progress < total && sec < 1e6 {
		m := j.model(choice.Batch, epoch)
		if want := size(m, nodes, (sec-changed)/3600, total-progress); want != nodes {
			nodes, stopped, changed = want, changeSec, sec
			choice, _ = m.Best(goodput.Reject, nodes, nodes*nodeT4)
		}
		for left := round; left > 1e-9 && progress < total; {
			dt := left
			if stopped > 0 {
				dt = min(dt, stopped)
				stopped -= dt
			} else {
				step, sync := j.step(nodes, choice.Atomic)
				iter := step + float64(choice.Accum)*(step-sync)
				rate := j.noise(choice.Batch, epoch).Gain(float64(choice.Batch)/imagenetBatch) / iter
				if toEnd := (j.border[epoch] - progress) / rate; toEnd <= dt {
					dt = toEnd
					progress = j.border[epoch]
					if epoch < len(j.border)-1 {
						epoch++
						next := j.model(choice.Batch, epoch)
						choice, _ = next.Best(goodput.Reject, nodes, nodes*nodeT4)
					}
				} else {
					progress += rate * dt
				}
			}
			left -= dt
			sec += dt
			nodeSec += dt * float64(nodes)
		}
	}
	return sec / 3600, nodeSec / 3600
}

// asKnown is the curve of a model on T4 nodes.
type asKnown struct{ m goodput.Model }

func (c asKnown) Speed(_ string, nodes, replicas int) (planner.Speed, bool) {
	if replicas != nodes*nodeT4 {
		return planner.Speed{}, false
	}
	best, ok := c.m.Best(goodput.Reject, nodes, replicas)
	return planner.Speed{Goodput: best.Goodput * 3600, Batch: best.Batch}, ok
}

// byValue sizes the job by the plan of Value at a value of time, on at most nodes
// machines on demand at rate.
func byValue(t *testing.T, most int, rate, v pricing.Rate) func(goodput.Model, int, float64, float64) int {
	now := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	kind := provider.InstanceType{Cloud: "aws", Name: "g4dn.12xlarge", Accelerator: "T4", Kind: provider.GPU, Count: nodeT4, AcceleratorMemGiB: 16, VCPU: 48, MemGiB: 192, Hosts: 1, QuotaFamily: "G", Interconnect: "efa"}
	offer := planner.Offer{Offering: provider.Offering{Cloud: "aws", Region: "r", Zone: "z", Type: kind.Name, Market: provider.OnDemand}, Type: kind, Rate: rate, Booked: rate}
	var sizes []int
	for n := 1; n <= most; n++ {
		sizes = append(sizes, n*nodeT4)
	}
	return func(m goodput.Model, nodes int, since, left float64) int {
		now = now.Add(time.Minute)
		job := &planner.Job{
			ID: "imagenet", Submitted: now, ValueOfTime: v, Curve: asKnown{m},
			Work:       planner.Work{Samples: left * imagenetBatch, Kind: planner.WorkExact},
			Resources:  planner.Resources{Replicas: planner.Replicas{Set: sizes}},
			Checkpoint: planner.Checkpoint{Restore: changeSec * time.Second},
		}
		p := planner.Problem{Now: now}
		o := offer
		o.Cap = most - nodes
		p.Offers = []planner.Offer{o}
		run := &planner.Running{Config: planner.Config{Cloud: "aws", Type: kind.Name, Nodes: nodes, Replicas: nodes * nodeT4}, Offering: o.Offering, Since: now.Add(-time.Duration(since * float64(time.Hour)))}
		for n := range nodes {
			id := provider.InstanceID(fmt.Sprint("i-", n))
			run.Machines = append(run.Machines, id)
			p.Machines = append(p.Machines, planner.Machine{ID: id, Offering: o.Offering, Rate: rate, ReadyAt: now.Add(-time.Hour)})
		}
		p.Jobs = []planner.JobState{{Job: job, Running: run}}
		plan, err := Value(p, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Allocations) != 1 {
			t.Fatalf("the job waits: %+v", plan.Waits)
		}
		return plan.Allocations[0].Config.Nodes
	}
}

// TestImagenetGrowsForLessThanByTheGoodputRule trains ImageNet alone, at four limits
// of nodes: by the published rule (its figures as an independent program has them),
// and by the plan of Value, at the value of time that costs least of those with which it
// is no slower than the rule.
func TestImagenetGrowsForLessThanByTheGoodputRule(t *testing.T) {
	j := readImagenet(t)
	const rate = 3.912 // USD/h of g4dn.12xlarge on demand in us-east-1
	t.Logf("fixed sizes with the best batch:")
	for _, n := range []int{1, 2, 4, 8, 12, 16} {
		h, nh := j.train(func(goodput.Model, int, float64, float64) int { return n })
		t.Logf("  %2d nodes: %5.2f h, %5.1f node-h, %6.2f USD", n, h, nh, rate*nh)
	}
	for _, tt := range []struct {
		most        int
		hours, node float64 // published re-run of the goodput rule
	}{{8, 7.35, 52.9}, {10, 6.35, 54.6}, {12, 5.86, 55.2}, {16, 5.28, 56.8}} {
		rule := func(m goodput.Model, nodes int, _, _ float64) int {
			want, _, _ := m.PaperNodes(goodput.Reject, goodput.PublishedGrowth, nodeT4, nodes, tt.most)
			return want
		}
		h, nh := j.train(rule)
		t.Logf("limit %2d: rule %5.2f h, %5.1f node-h, %6.2f USD (known: %5.2f h, %5.1f node-h)", tt.most, h, nh, rate*nh, tt.hours, tt.node)
		oursH, oursN, v := math.Inf(1), math.Inf(1), 0.0
		for value := 16.0; value <= 64; value *= 1.06 {
			a, b := j.train(byValue(t, tt.most, pricing.RateOf(rate), pricing.RateOf(value)))
			t.Logf("   %.2f %.3f %.3f", value, a, b)
			if a <= h && b < oursN {
				oursH, oursN, v = a, b, value
			}
		}
		t.Logf("          ours %5.2f h, %5.1f node-h, %6.2f USD, an hour valued at %.2f USD: %.1f %% fewer node-hours", oursH, oursN, rate*oursN, v, 100*(1-oursN/nh))
		if oursN > nh || oursH > h || v == 0 {
			t.Errorf("limit %d: %.2f h and %.1f node-h, the rule %.2f and %.1f", tt.most, oursH, oursN, h, nh)
		}
	}
}
