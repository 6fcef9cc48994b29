package goodput

import (
	"bytes"
	"math"
	"os"
	"testing"
)

// FuzzProfile reads any bytes as a profile: an error, or a profile that survives
// being written, and whose predictions are numbers.
func FuzzProfile(f *testing.F) {
	f.Add([]byte(profileText))
	f.Add([]byte(`{"apiVersion":"goodfleet/v1","kind":"Profile","metadata":{"name":"t"},"spec":{"table":[{"accelerator":"T4","replicas":1,"samplesPerSec":3}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.Count(text, []byte("nodes")) > 8 {
			return // a fit of many samples takes long
		}
		p, err := ParseProfile(text)
		if err != nil {
			return
		}
		written, err := p.MarshalJSON()
		if err != nil {
			t.Fatalf("read and not written: %v", err)
		}
		if _, err := ParseProfile(written); err != nil {
			t.Fatalf("written and not read: %v\n%s", err, written)
		}
		for _, bought := range []bool{false, true} {
			r := NewPredictor(p, PredictorConfig{Hardware: published, Bought: bought})
			for _, accelerator := range []string{"T4", "V100", "TPU v5e"} {
				for _, at := range []Place{{1, 1}, {1, 4}, {3, 9}} {
					got, ok := r.At(accelerator, at.Nodes, at.Replicas)
					if ok && (math.IsNaN(got.Goodput) || math.IsInf(got.Goodput, 0) || got.Goodput <= 0 || math.IsNaN(got.LogSD) || got.Batch < 1) {
						t.Fatalf("%s %+v: %+v", accelerator, at, got)
					}
				}
			}
		}
	})
}

// FuzzFit reads any bytes as a file of samples and fits what can be used.
func FuzzFit(f *testing.F) {
	f.Add([]byte(samplesText))
	f.Add([]byte("accelerator,nodes,replicas,atomic_bsz,accum_time,optim_time\na,1,1,1,1e-9,1e9\na,1,2,1000000000,1e9,1e-9\na,5,9,3,1,1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.Count(text, []byte("\n")) > 8 {
			return // a fit of many samples takes long
		}
		types, err := ReadSamples("f.csv", bytes.NewReader(text))
		if err != nil {
			return
		}
		for _, s := range types {
			p, res, err := NewTypeProfile(s.Accelerator, s.Kind, s.Samples)
			if err != nil {
				t.Fatalf("read and not fitted: %v", err)
			}
			if field, reason := p.Theta.check(); field != "" {
				t.Fatalf("theta %+v: %s: %s", p.Theta, field, reason)
			}
			for _, v := range []float64{res.Objective, res.MeanError, p.uncertainty.LogSD(p.Theta, 2, 8, 64)} {
				if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
					t.Fatalf("result %+v with %g", res, v)
				}
			}
		}
	})
}

// FuzzCases reads any bytes as questions and answers what can be answered.
func FuzzCases(f *testing.F) {
	text, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"cluster_cases": [{"id": "c", "kind": "power_mean", "queries": [{"values": [1, 2], "p": -3, "floor": 0.1}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.Count(text, []byte("accum_time")) > 30 || bytes.Contains(text, []byte("paper_autoscale")) && bytes.Contains(text, []byte("e")) && len(text) > 1<<15 {
			return // takes long
		}
		c, err := ParseCases(text)
		if err != nil {
			return
		}
		if _, err := c.Answer(); err != nil {
			t.Logf("no answer: %v", err)
		}
	})
}
