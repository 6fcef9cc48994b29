package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/goodput"
)

// profile is a document that is right; edits of it are wrong in one way.
const profile = `apiVersion: goodfleet/v1
kind: Profile
metadata: {name: ResNet-50}
spec:
  batch: {initial: 128, max: 4096, maxLocal: 128, accumulation: true}
  noise: {sqr: 1, var: 117}
  gradientBytes: 102e6
  memory: {sampleGiB: 0.1, tried: [{memGiB: 16, batch: 256, fits: false}]}
  types:
    - accelerator: T4
      maxReplicas: 16
      theta: {alpha_c: 0.064, beta_c: 0.0045, alpha_n: 0.32, beta_n: 0.0062, alpha_r: 0.075, beta_r: 0.00087, gamma: 2.5}
    - accelerator: V100
      samples:
        - {nodes: 1, replicas: 1, atomic_bsz: 50, accum_time: 0.1, optim_time: 0.1}
        - {nodes: 1, replicas: 1, atomic_bsz: 100, accum_time: 0.18, optim_time: 0.19, count: 40}
`

// elastic is a job with that profile, in a file or inline.
func elastic(of string) string {
	return `apiVersion: goodfleet/v1
kind: TrainingJob
metadata: {name: a}
spec:
  work: {samples: 5000000}
  resources: {replicas: {min: 1, max: 16}}
  profile: ` + of
}

func TestProfilesNameTheFirstMistake(t *testing.T) {
	for _, tc := range []struct {
		name     string
		old, new string
		want     string
	}{
		{"unknown key", "gradientBytes", "gradientbytes", `7:3: spec.gradientbytes: unknown key; did you mean "gradientBytes"?`},
		{"missing key", "initial: 128, ", "", `5:10: spec.batch.initial: is required`},
		{"a table beside batches", "  types:", "  table:", `5:10: spec.batch: does not go with the keys beside it`},
		{"gamma below 1", "gamma: 2.5", "gamma: 0.5", `12:118: spec.types[0].theta.gamma: 0.5: want at least 1`},
		{"time of zero", "optim_time: 0.1}", "optim_time: 0}", `15:80: spec.types[1].samples[0].optim_time: 0: want more than 0`},
		{"time that is no number", "optim_time: 0.1}", "optim_time: .nan}", `15:80: spec.types[1].samples[0].optim_time: .nan is no number that can be used`},
		{"more nodes than replicas", "- {nodes: 1, replicas: 1, atomic_bsz: 50", "- {nodes: 2, replicas: 1, atomic_bsz: 50", `15:19: spec.types[1].samples[0].nodes: 2: want at most the 1 replicas`},
		{"max below initial", "max: 4096", "max: 64", `5:30: spec.batch.max: 64: is below the initial batch of 128`},
		{"type twice", "accelerator: V100", "accelerator: T4", `13:20: spec.types[1].accelerator: "T4": is given twice`},
		{"kind of another maker", "maxReplicas: 16", "kind: npu", `11:13: spec.types[0].kind: "npu": want gpu, tpu; did you mean "gpu"?`},
		{"course that goes back", "{sqr: 1, var: 117}", "{sqr: 1, var: 117, course: [{from: 5, sqr: 1, var: 1}, {from: 5, sqr: 1, var: 2}]}", `6:72: spec.noise.course[1].from: 5: want more than the 5 before`},
		{"negative noise", "sqr: 1", "sqr: -1", `6:16: spec.noise.sqr: -1: want at least 0`},
		{"memory of nothing", "memGiB: 16", "memGiB: 0", `8:45: spec.memory.tried[0].memGiB: 0: want more than 0`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := strings.Replace(profile, tc.old, tc.new, 1)
			if text == profile {
				t.Fatalf("%q is not in the document", tc.old)
			}
			_, err := Decode("p.yaml", []byte(text))
			if got, want := fmt.Sprint(err), "p.yaml:"+tc.want; got != want {
				t.Errorf("error\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestJobTakesItsProfileFromAFileOrAsItStands(t *testing.T) {
	docs, err := Decode("p.yaml", []byte(profile))
	if err != nil {
		t.Fatal(err)
	}
	inline, err := json.Marshal(docs[0].Profile)
	if err != nil {
		t.Fatal(err)
	}
	files := Sold{ReadFile: func(name string) ([]byte, error) {
		if name != "sub/p.yaml" {
			return nil, fs.ErrNotExist
		}
		return []byte(profile), nil
	}}
	for _, of := range []string{"{file: sub/p.yaml}", "{inline: " + string(inline) + "}"} {
		jobs, err := Jobs("a.yaml", []byte(elastic(of)), files)
		if err != nil {
			t.Fatal(err)
		}
		p, ok := planner.GoodputProfileOf(jobs[0].Curve)
		if !ok || jobs[0].Family != "ResNet-50" {
			t.Fatalf("%s: elastic: %v, family %q", of, ok, jobs[0].Family)
		}
		if diff := cmp.Diff(written(t, docs[0].Profile), written(t, p)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", of, diff)
		}
		if s, ok := jobs[0].Curve.Speed("V100", 1, 1); !ok || s.Estimated || s.Batch < 128 {
			t.Errorf("%s: speed %+v, %t", of, s, ok)
		}
	}
}

func TestJobSaysItsSpeedInOneWay(t *testing.T) {
	files := Sold{ReadFile: func(name string) ([]byte, error) {
		switch name {
		case "job.yaml":
			return []byte(job), nil
		case "bad.yaml":
			return []byte(strings.Replace(profile, "gamma: 2.5", "gamma: 25", 1)), nil
		}
		return nil, errors.New("no such file")
	}}
	for _, tc := range []struct {
		name, of string
		sold     Sold
		want     string
	}{
		{"neither", "{}", files, `a.yaml:7:12: spec.profile: want file or inline`},
		{"both", "{file: bad.yaml, inline: {}}", files, `a.yaml:7:12: spec.profile: want only one of file, inline`},
		{"throughput too", "{file: p.yaml}\n  throughput: {model: LM (batch size 80)}", files, `a.yaml:8:15: spec.throughput: does not go with the keys beside it`},
		{"no file", "{file: p.yaml}", files, `a.yaml:7:19: spec.profile.file: no such file`},
		{"files from elsewhere", "{file: p.yaml}", Sold{}, `a.yaml:7:19: spec.profile.file: files cannot be read from here: give the profile inline`},
		{"a file of another kind", "{file: job.yaml}", files, `job.yaml:2:7: kind: want one document of kind Profile here`},
		{"a mistake in the file", "{file: bad.yaml}", files, `bad.yaml:12:118: spec.types[0].theta.gamma: 25: want at most 10`},
		{"a mistake inline", `{inline: {apiVersion: goodfleet/v1, kind: Profile, metadata: {name: x}, spec: {batch: {initial: 1, mx: 2}, types: []}}}`, files,
			`a.yaml:7:111: spec.profile.inline.spec.batch.mx: unknown key; did you mean "max"?`},
		{"values that do not go together inline", `{inline: {apiVersion: goodfleet/v1, kind: Profile, metadata: {name: x}, spec: {batch: {initial: 4, max: 2}, types: [{accelerator: T4, samples: [{nodes: 1, replicas: 1, atomic_bsz: 1, accum_time: 1, optim_time: 1}]}]}}}`, files,
			`a.yaml:7:116: spec.profile.inline.spec.batch.max: 2: is below the initial batch of 4`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Jobs("a.yaml", []byte(elastic(tc.of)), tc.sold)
			if got := fmt.Sprint(err); got != tc.want {
				t.Errorf("error\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
	text := strings.Replace(elastic("{file: x}"), "  profile: {file: x}", "", 1)
	if _, err := Jobs("a.yaml", []byte(text), files); fmt.Sprint(err) != "a.yaml:5:3: spec.throughput: is required" {
		t.Errorf("a job without speed: %v", err)
	}
}

// written is a profile as its document, for comparison.
func written(t interface{ Fatal(...any) }, p *goodput.Profile) string {
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// drawElastic draws a profile of every written form.
func drawElastic(t *rapid.T) *goodput.Profile {
	small := rapid.Float64Range(0, 10)
	p := &goodput.Profile{
		Name:   rapid.SampledFrom([]string{"ResNet-50", "no", "1e3"}).Draw(t, "profile name"),
		Limits: goodput.Limits{InitialBatch: rapid.IntRange(8, 1<<20).Draw(t, "initial"), MinLocal: rapid.IntRange(0, 4).Draw(t, "min local"), Accumulation: rapid.Bool().Draw(t, "accumulation")},
	}
	if rapid.Bool().Draw(t, "grows") {
		p.Limits.MaxBatch = p.Limits.InitialBatch + rapid.IntRange(0, 1000).Draw(t, "more")
		p.Limits.MaxLocal = 4 + rapid.IntRange(0, 1000).Draw(t, "max local")
	}
	if rapid.Bool().Draw(t, "noise known") {
		p.Noise = &goodput.Noise{Sqr: small.Draw(t, "sqr"), Var: small.Draw(t, "var")}
		if rapid.Bool().Draw(t, "course") {
			p.Course = []goodput.Phase{{From: 1e6, Noise: goodput.Noise{Sqr: 1, Var: small.Draw(t, "later var")}}, {From: 2e6, Noise: goodput.Noise{Sqr: 1, Var: 3}}}
		}
		p.GradientBytes = rapid.Float64Range(0, 1e12).Draw(t, "gradient")
		p.Memory = goodput.Memory{SampleGiB: small.Draw(t, "sample"), Tried: []goodput.Try{{MemGiB: 16, Batch: 3, Fits: true}, {MemGiB: 16, Batch: 9}}}
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "types") {
		kind := rapid.SampledFrom([]string{goodput.KindGPU, goodput.KindTPU}).Draw(t, "kind")
		at := goodput.TypeProfile{
			Accelerator: fmt.Sprintf("type %d", i), Kind: kind, MaxReplicas: rapid.IntRange(0, 8).Draw(t, "profiled"), MaxLocal: rapid.IntRange(0, 9).Draw(t, "fits"),
			Theta: goodput.Theta{AlphaC: small.Draw(t, "alpha"), BetaC: 1e-3, AlphaN: small.Draw(t, "net"), Gamma: rapid.Float64Range(1, 10).Draw(t, "gamma")},
		}
		if rapid.Bool().Draw(t, "measured") {
			var samples []goodput.Sample
			for k := range rapid.IntRange(1, 4).Draw(t, "samples") {
				samples = append(samples, goodput.Sample{
					Nodes: 1, Replicas: 1 + k, AtomicBatch: rapid.IntRange(1, 64).Draw(t, "batch"), Count: rapid.IntRange(0, 3).Draw(t, "count"),
					AccumSec: rapid.Float64Range(1e-3, 10).Draw(t, "accum"), OptimSec: rapid.Float64Range(1e-3, 10).Draw(t, "optim"),
				})
			}
			var err error
			if at, _, err = goodput.NewTypeProfile(at.Accelerator, kind, samples); err != nil {
				t.Fatal(err)
			}
		}
		p.Put(at)
	}
	return p
}

// TestElasticJobSurvivesItsDocument is TestJobSurvivesItsDocument for jobs with a
// profile; predictions too are the same after it.
func TestElasticJobSurvivesItsDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawElastic(t)
		curve, err := planner.GoodputCurve(p, planner.Growth{Bought: true, MinReplicas: 1})
		if err != nil {
			t.Fatal(err)
		}
		want := &planner.Job{
			ID: "a", Family: p.Name, Work: planner.Work{Samples: 1, Kind: planner.WorkExact}, Resources: planner.Resources{Replicas: planner.Replicas{Min: 1, Max: 8}},
			Curve: curve,
		}
		encoded, err := EncodeJob(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeJob(encoded)
		if err != nil {
			t.Fatalf("%v in\n%s", err, encoded)
		}
		form, err := FromJob(want)
		if err != nil {
			t.Fatal(err)
		}
		text, err := YAML(form)
		if err != nil {
			t.Fatal(err)
		}
		fromYAML, err := Jobs("job.yaml", text, Sold{})
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		for name, job := range map[string]*planner.Job{"JSON": got, "YAML": fromYAML[0]} {
			back, ok := planner.GoodputProfileOf(job.Curve)
			if !ok {
				t.Fatalf("%s: the profile did not come back", name)
			}
			if diff := cmp.Diff(written(t, p), written(t, back)); diff != "" {
				t.Fatalf("from %s (-want +got):\n%s", name, diff)
			}
			for _, at := range p.Types {
				for k := 1; k <= 8; k *= 2 {
					a, okA := want.Curve.Speed(at.Accelerator, 1, k)
					b, okB := job.Curve.Speed(at.Accelerator, 1, k)
					if a != b || okA != okB {
						t.Fatalf("%s: %d × %s: %+v, %t; want %+v, %t", name, k, at.Accelerator, b, okB, a, okA)
					}
				}
			}
		}
	})
}
