package throughput

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// gavelMeasurements are the speeds of the embedded table with model and batch apart.
func gavelMeasurements(t *testing.T) []Measurement {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(gavelCSV)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	table, err := Gavel()
	if err != nil {
		t.Fatal(err)
	}
	var list []Measurement
	seen := make(map[string]bool)
	for _, r := range rows[1:] {
		model, batch := r[0], 0
		job := model
		if r[1] != "" {
			batch, _ = strconv.Atoi(r[1])
			job = JobType(model, batch)
		}
		if seen[job] {
			continue
		}
		seen[job] = true
		p, ok := table.Profile(job)
		if !ok {
			t.Fatalf("no profile of %s", job)
		}
		for _, e := range p.Entries() {
			list = append(list, Measurement{Model: model, Batch: batch, Entry: e})
		}
	}
	slices.SortFunc(list, func(a, b Measurement) int {
		return cmp.Or(strings.Compare(a.Model, b.Model), cmp.Compare(a.Batch, b.Batch))
	})
	return list
}

// rowsAndColumns is the covariance of a table in which a speed is the product of a
// job's level and a place's, which is what a factorization of rank one gives.
func rowsAndColumns(known []Measurement, at Measurement) (float64, bool) {
	cov := func(a, b Measurement) float64 {
		sum := 0.0
		if a.Model == b.Model && a.Batch == b.Batch {
			sum += 9
		}
		if a.Accelerator == b.Accelerator && a.Replicas == b.Replicas && a.Nodes == b.Nodes {
			sum += 1
		}
		return sum
	}
	mean := 0.0
	for _, m := range known {
		mean += m.logEach() / float64(len(known))
	}
	values := make([]float64, len(known))
	for i, m := range known {
		values[i] = m.logEach() - mean
	}
	k, err := newKriging(values, func(i, j int) float64 { return cov(known[i], known[j]) }, func(int) float64 { return 0.05 })
	if err != nil {
		return 0, false
	}
	v, _ := k.at(10, func(i int) float64 { return cov(at, known[i]) })
	return math.Exp(v+mean) * float64(at.Replicas), true
}

func middle(list []float64, q float64) float64 {
	slices.Sort(list)
	return list[int(q*float64(len(list)-1)+0.5)]
}

// Shares of Gavel's table are drawn 20 times; the rest is estimated from them.
func TestCompletionOfTheTable(t *testing.T) {
	all := gavelMeasurements(t)
	for _, c := range []struct {
		share, median, p95 float64 // errors that are allowed
	}{{0.1, 0.30, 1.6}, {0.2, 0.19, 0.85}, {0.4, 0.12, 0.55}} {
		var ours, plain []float64
		within, n, missing := 0, 0, 0
		for seed := range uint64(20) {
			rng := rand.New(rand.NewPCG(seed, 11))
			order := rng.Perm(len(all))
			split := int(c.share * float64(len(all)))
			var known []Measurement
			for _, i := range order[:split] {
				known = append(known, all[i])
			}
			completion, err := Complete(known)
			if err != nil {
				t.Fatal(err)
			}
			for k, i := range order[split:] {
				m := all[i]
				got, sd, ok := completion.Estimate(m.Model, m.Batch, m.Accelerator, m.Nodes, m.Replicas)
				if !ok {
					missing++
					continue
				}
				ours = append(ours, math.Abs(got/m.SamplesPerSec-1))
				n++
				if math.Abs(math.Log(got/m.SamplesPerSec)) <= 2*sd {
					within++
				}
				if k%10 == 0 {
					if v, ok := rowsAndColumns(known, m); ok {
						plain = append(plain, math.Abs(v/m.SamplesPerSec-1))
					}
				}
			}
		}
		median, p95 := middle(ours, 0.5), middle(ours, 0.95)
		t.Logf("%2.0f %% known: error median %4.1f %%, p95 %5.1f %% (rows and columns alone: %4.1f %%, %5.1f %%); %.0f %% within two deviations; %d of %d without a known model or accelerator",
			100*c.share, 100*median, 100*p95, 100*middle(plain, 0.5), 100*middle(plain, 0.95), 100*float64(within)/float64(n), missing, missing+n)
		if median > c.median || p95 > c.p95 || median >= middle(plain, 0.5) {
			t.Errorf("%g known: errors %.3f and %.3f, want at most %.3f and %.3f", c.share, median, p95, c.median, c.p95)
		}
		if share := float64(within) / float64(n); share < 0.88 {
			t.Errorf("%g known: %.2f within two deviations", c.share, share)
		}
	}
}

// A job at a new batch is measured on one K80 and one V100 while the table is known.
func TestCompletionOfANewJobFromTwoMeasurements(t *testing.T) {
	all := gavelMeasurements(t)
	var errs []float64
	for i, m := range all {
		if i > 0 && all[i-1].Model == m.Model && all[i-1].Batch == m.Batch {
			continue
		}
		var known, held []Measurement
		for _, o := range all {
			switch {
			case o.Model != m.Model || o.Batch != m.Batch || o.Replicas == 1 && o.Accelerator != "P100":
				known = append(known, o)
			default:
				held = append(held, o)
			}
		}
		completion, err := Complete(known)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range held {
			got, _, ok := completion.Estimate(o.Model, o.Batch, o.Accelerator, o.Nodes, o.Replicas)
			if !ok {
				continue
			}
			errs = append(errs, math.Abs(got/o.SamplesPerSec-1))
		}
	}
	median, p95 := middle(errs, 0.5), middle(errs, 0.95)
	t.Logf("error median %.1f %%, p95 %.1f %% of %d", 100*median, 100*p95, len(errs))
	if median > 0.08 || p95 > 0.4 {
		t.Errorf("errors %.3f and %.3f", median, p95)
	}
}

func TestCompletionKeepsWhatWasMeasured(t *testing.T) {
	all := gavelMeasurements(t)[:60]
	c, err := Complete(all)
	if err != nil {
		t.Fatal(err)
	}
	m := all[0]
	places := []Entry{{Accelerator: "K80", Replicas: 1}, {Accelerator: "K80", Replicas: 2, Nodes: 2}, {Accelerator: "V100", Replicas: 16, Nodes: 2}, {Accelerator: "H100", Replicas: 1}}
	p, err := c.Profile(m.Model, m.Batch, places)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		if o.Model != m.Model || o.Batch != m.Batch {
			continue
		}
		if got, estimated, ok := p.Speed(o.Accelerator, o.Nodes, o.Replicas); !ok || estimated || got != o.SamplesPerSec {
			t.Errorf("%+v: %g, estimated %v, ok %v", o, got, estimated, ok)
		}
	}
	if got, estimated, ok := p.Speed("V100", 2, 16); !ok || !estimated || got <= 0 {
		t.Errorf("16 V100: %g, estimated %v, ok %v", got, estimated, ok)
	}
	if _, _, ok := p.Speed("H100", 1, 1); ok {
		t.Error("an accelerator that nothing ran on was estimated")
	}
	if _, _, ok := c.Estimate("unheard of", 1, "K80", 1, 1); ok {
		t.Error("a model that nobody measured was estimated")
	}
}

func TestMeasurementsAreRefused(t *testing.T) {
	good := Measurement{Model: "m", Batch: 8, Entry: Entry{Accelerator: "K80", Replicas: 1, SamplesPerSec: 3}}
	if _, err := Complete(nil); err == nil {
		t.Error("a completion of nothing")
	}
	for field, spoil := range map[string]func(m *Measurement){
		"model":         func(m *Measurement) { m.Model = "" },
		"batch":         func(m *Measurement) { m.Batch = -1 },
		"accelerator":   func(m *Measurement) { m.Accelerator = "" },
		"replicas":      func(m *Measurement) { m.Replicas = 0 },
		"nodes":         func(m *Measurement) { m.Nodes = 2 },
		"samplesPerSec": func(m *Measurement) { m.SamplesPerSec = math.NaN() },
	} {
		bad := good
		spoil(&bad)
		var refused *EntryError
		if _, err := Complete([]Measurement{good, bad}); !errors.As(err, &refused) || refused.Index != 1 || refused.Field != field {
			t.Errorf("error %v, want entry 1, %s", err, field)
		}
	}
}

func TestTrackerMovesEstimatesTowardWhatIsSeen(t *testing.T) {
	var entries []Entry
	for _, a := range []string{"V100", "T4", "TPU v5e"} {
		for _, n := range []int{1, 4} {
			entries = append(entries, Entry{Accelerator: a, Replicas: n, Nodes: 1, SamplesPerSec: 100 * float64(n), Estimated: true})
		}
	}
	entries = append(entries, Entry{Accelerator: "P100", Replicas: 1, SamplesPerSec: 50})
	p, err := NewProfile(ProfileConfig{Name: "job", Entries: entries})
	if err != nil {
		t.Fatal(err)
	}
	tr := NewTracker(p)
	speed := func(a string, n int) float64 {
		v, _, ok := tr.Speed(a, 1, n)
		if !ok {
			t.Fatalf("%d %s are not known", n, a)
		}
		return v
	}
	if speed("V100", 4) != 400 {
		t.Fatalf("speed %g before anything was seen", speed("V100", 4))
	}
	c, wrong, err := tr.Observe(Entry{Accelerator: "V100", Replicas: 4, Nodes: 1, SamplesPerSec: 130})
	if err != nil || !wrong || c.Believed != 400 || c.Seen != 130 || c.Now > 160 || c.Now < 130 {
		t.Fatalf("correction %+v, wrong %v, error %v", c, wrong, err)
	}
	for _, part := range []string{"4 × V100", "expected 400", "saw 130"} {
		if !strings.Contains(c.String(), part) {
			t.Errorf("%q lacks %q", c, part)
		}
	}
	near, far := speed("V100", 1)/100, speed("T4", 1)/100
	if !(near < far && far < 1) {
		t.Errorf("one V100 moved to %g, one T4 to %g of what was believed", near, far)
	}
	if speed("TPU v5e", 1) != 100 || speed("P100", 1) != 50 {
		t.Errorf("a TPU moved to %g, a measured speed to %g", speed("TPU v5e", 1), speed("P100", 1))
	}
	if _, estimated, _ := tr.Speed("V100", 1, 4); estimated {
		t.Error("what was seen is still an estimate")
	}
	for range 20 {
		if c, wrong, err = tr.Observe(Entry{Accelerator: "V100", Replicas: 4, Nodes: 1, SamplesPerSec: 130}); err != nil || wrong {
			t.Fatalf("correction %+v, wrong %v, error %v: it is as expected by now", c, wrong, err)
		}
	}
	if got := speed("V100", 4); math.Abs(got/130-1) > 0.01 {
		t.Errorf("believes %g after 21 times 130", got)
	}
	for _, e := range []Entry{{Accelerator: "H100", Replicas: 1, SamplesPerSec: 3}, {Accelerator: "V100", Replicas: 4, SamplesPerSec: 0}, {Accelerator: "V100", Replicas: 4, SamplesPerSec: math.Inf(1)}} {
		if _, _, err := tr.Observe(e); err == nil {
			t.Errorf("%+v was taken", e)
		}
	}
}
