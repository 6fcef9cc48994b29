package document

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/throughput"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

func TestJobsBecomeThePlanners(t *testing.T) {
	jobs, err := Jobs("jobs.yaml", []byte(job), sold)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := throughput.NewProfile(throughput.ProfileConfig{Name: "GPT-L", Entries: []throughput.Entry{
		{Accelerator: "V100", Replicas: 2, SamplesPerSec: 507.5},
		{Accelerator: "V100", Replicas: 4, SamplesPerSec: 950, Estimated: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := &planner.Job{
		ID: "GPT-L", Team: "Vision", Submitted: time.Date(2023, 6, 1, 0, 0, 0, 0, time.UTC),
		Work:        planner.Work{Samples: 5e6, Kind: planner.WorkExact},
		Resources:   planner.Resources{Accelerators: []string{"V100"}, Replicas: planner.Replicas{Min: 1, Max: 8, MultipleOf: 2}},
		Data:        planner.Data{Cloud: "aws", Region: "us-east-1", Size: planner.Size{GiB: 80, Known: true}},
		Checkpoint:  planner.Checkpoint{Size: planner.Size{GiB: 2, Known: true}, Save: 30 * time.Second, Restore: time.Minute},
		Curve:       planner.TableCurve(profile),
		ValueOfTime: 3 * pricing.DollarPerHour, Deadline: time.Date(2023, 6, 8, 0, 0, 0, 0, time.UTC), Budget: pricing.Dollar * 25 / 2,
		Markets: []provider.Market{provider.Spot, provider.OnDemand},
	}
	if diff := cmp.Diff(want, jobs[0], equalCurves, equalTimes); diff != "" {
		t.Errorf("job (-want +got):\n%s", diff)
	}
}

func TestEpochsAreSamplesOfTheDataset(t *testing.T) {
	text := `{"apiVersion": "goodfleet/v1", "kind": "TrainingJob", "metadata": {"name": "a"},
		"spec": {"work": {"epochs": 2.5, "datasetSamples": 1000, "kind": "limit"}, "resources": {"replicas": [1]}, "throughput": {"model": "LM (batch size 80)"}}}`
	jobs, err := Jobs("a.json", []byte(text), Sold{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := jobs[0].Work, (planner.Work{Samples: 2500, Kind: planner.WorkLimit}); got != want {
		t.Errorf("work %+v, want %+v", got, want)
	}
	if got, want := jobs[0].Family, "LM (batch size 80)"; got != want {
		t.Errorf("family %q, want the model, %q", got, want)
	}
	if s, ok := jobs[0].Curve.Speed("V100", 1, 1); !ok || s.Estimated {
		t.Errorf("speed on one V100 %+v, %t, want a measured one", s, ok)
	}
}

func TestEstimatesAreMarked(t *testing.T) {
	text := `{"apiVersion": "goodfleet/v1", "kind": "TrainingJob", "metadata": {"name": "a"},
		"spec": {"work": {"samples": 1}, "resources": {"replicas": [1, 8]}, "throughput": {"estimate": {"class": "bert-large", "batch": 32}}}}`
	jobs, err := Jobs("a.json", []byte(text), Sold{})
	if err != nil {
		t.Fatal(err)
	}
	s, ok := jobs[0].Curve.Speed("A100-80GB", 1, 8)
	if !ok || !s.Estimated {
		t.Errorf("speed on eight A100 %+v, %t, want one marked as estimated", s, ok)
	}
}

// TestJobSurvivesItsDocument writes random jobs as JSON and as YAML and reads them
// again: a store and a person must both get back what they put in.
func TestJobSurvivesItsDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawJob(t)
		encoded, err := EncodeJob(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeJob(encoded)
		if err != nil {
			t.Fatalf("%v in\n%s", err, encoded)
		}
		if diff := cmp.Diff(want, got, equalCurves, equalTimes); diff != "" {
			t.Fatalf("from JSON (-want +got):\n%s\n%s", diff, encoded)
		}
		doc, err := FromJob(want)
		if err != nil {
			t.Fatal(err)
		}
		text, err := YAML(doc)
		if err != nil {
			t.Fatal(err)
		}
		fromYAML, err := Jobs("job.yaml", text, Sold{})
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if diff := cmp.Diff(want, fromYAML[0], equalCurves, equalTimes); diff != "" {
			t.Fatalf("from YAML (-want +got):\n%s\n%s", diff, text)
		}
	})
}

func TestJobsThatNoDocumentDescribesAreRefused(t *testing.T) {
	class, err := throughput.ClassNamed("bert-large")
	if err != nil {
		t.Fatal(err)
	}
	class.Params *= 2
	roofline, err := throughput.NewRoofline(class)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := throughput.NewProfile(throughput.ProfileConfig{Name: "mine", Roofline: roofline})
	if err != nil {
		t.Fatal(err)
	}
	for name, curve := range map[string]planner.Curve{"none": nil, "class of its own": planner.TableCurve(profile)} {
		if text, err := EncodeJob(&planner.Job{ID: "a", Curve: curve}); err == nil {
			t.Errorf("%s: written as %s, want an error", name, text)
		}
	}
}

// equalCurves compares curves by what they are made of. A profile's own name is
// written only as far as it is the job's family.
var equalCurves = cmp.Comparer(func(a, b planner.Curve) bool {
	p, okP := planner.ProfileOf(a)
	q, okQ := planner.ProfileOf(b)
	if !okP || !okQ || !slices.Equal(p.Entries(), q.Entries()) {
		return false
	}
	r, okR := p.Roofline()
	s, okS := q.Roofline()
	return okR == okS && (!okR || cmp.Equal(r.Class(), s.Class()))
})

var equalTimes = cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })

// drawJob draws a job of which every field may be set or absent.
func drawJob(t *rapid.T) *planner.Job {
	name := rapid.OneOf(
		rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9 _.:/=+@-]{0,20}[A-Za-z0-9]`),
		rapid.SampledFrom([]string{"GPT-L", "p5.48xlarge", "Vision", "no", "y", "on", "NULL", "true", "007", "1e3", "0x1F", "1_000", "2026-11-29", "12:30:00", "Größe 2"}),
	)
	word := rapid.StringMatching(`[a-z0-9-]{1,12}`)
	words := rapid.OneOf(rapid.Just([]string(nil)), rapid.SliceOfNDistinct(word, 1, 3, rapid.ID[string]))
	size := rapid.Custom(func(t *rapid.T) planner.Size {
		if rapid.Bool().Draw(t, "unknown") {
			return planner.Size{}
		}
		return planner.Size{GiB: rapid.Float64Range(0, 1e6).Draw(t, "GiB"), Known: true}
	})
	need := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-3, 1e4))
	length := rapid.Map(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, math.MaxInt64)), func(n int64) time.Duration { return time.Duration(n) })
	instant := rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "no time") {
			return time.Time{}
		}
		return time.Unix(rapid.Int64Range(1e9, 2e9).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanos")).UTC()
	})
	nano := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, math.MaxInt64))
	j := &planner.Job{
		ID: planner.JobID(name.Draw(t, "name")), Team: rapid.OneOf(rapid.Just(""), name).Draw(t, "team"), Project: rapid.OneOf(rapid.Just(""), name).Draw(t, "project"),
		Submitted: instant.Draw(t, "submit"),
		Resources: planner.Resources{
			Accelerators: words.Draw(t, "accelerators"), AcceleratorMemGiB: need.Draw(t, "accelerator memory"), Replicas: drawReplicas(t),
			VCPU: need.Draw(t, "cpu"), MemGiB: need.Draw(t, "memory"), DiskGiB: need.Draw(t, "disk"), Ethernet: rapid.Bool().Draw(t, "ethernet"), ShareNodes: rapid.Bool().Draw(t, "shareNodes"),
		},
		Data: planner.Data{
			URI: rapid.SampledFrom([]string{"", "s3://bucket/a b", "gs://x#y: z"}).Draw(t, "uri"), Cloud: rapid.OneOf(rapid.Just(""), word).Draw(t, "cloud"),
			Region: rapid.OneOf(rapid.Just(""), word).Draw(t, "region"), Size: size.Draw(t, "data"), Stream: rapid.Bool().Draw(t, "stream"),
		},
		Checkpoint: planner.Checkpoint{
			Size: size.Draw(t, "checkpoint"), Save: length.Draw(t, "save"), Restore: length.Draw(t, "restore"), Every: length.Draw(t, "every"),
		},
		Weight: need.Draw(t, "weight"), ValueOfTime: pricing.Rate(nano.Draw(t, "value of time")), Budget: pricing.Money(nano.Draw(t, "budget")),
		MaxPrice: pricing.Rate(nano.Draw(t, "max price")), Clouds: words.Draw(t, "clouds"), Regions: words.Draw(t, "regions"),
		Markets: rapid.OneOf(rapid.Just([]provider.Market(nil)), rapid.Just([]provider.Market{provider.Spot, provider.OnDemand})).Draw(t, "markets"),
	}
	j.Work = planner.Work{Samples: rapid.Float64Range(1e-3, 1e15).Draw(t, "samples"), Kind: planner.WorkKind(rapid.IntRange(1, 3).Draw(t, "kind"))}
	if j.Work.Kind == planner.WorkUnknown {
		j.Work.Samples = 0
	}
	if deadline := instant.Draw(t, "deadline"); deadline.After(j.Submitted) {
		j.Deadline = deadline
	}
	var profile throughput.Profile
	profile, j.Family = drawProfile(t)
	if rapid.Bool().Draw(t, "own family") {
		j.Family = name.Draw(t, "family")
	}
	j.Curve = planner.TableCurve(profile)
	return j
}

func drawReplicas(t *rapid.T) planner.Replicas {
	if rapid.Bool().Draw(t, "list") {
		set := rapid.SliceOfNDistinct(rapid.IntRange(1, 64), 1, 4, rapid.ID[int]).Draw(t, "sizes")
		slices.Sort(set)
		return planner.Replicas{Set: set}
	}
	step := rapid.IntRange(0, 4).Draw(t, "multipleOf")
	least := rapid.IntRange(1, 16).Draw(t, "min")
	return planner.Replicas{Min: least, Max: least + max(step, 1) + rapid.IntRange(0, 16).Draw(t, "more"), MultipleOf: step}
}

// drawProfile draws speeds of each written form, and the family that they imply.
func drawProfile(t *rapid.T) (throughput.Profile, string) {
	fail := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	switch rapid.IntRange(0, 2).Draw(t, "throughput") {
	case 0:
		table, err := throughput.Gavel()
		fail(err)
		model := rapid.SampledFrom(table.Names()).Draw(t, "model")
		p, _ := table.Profile(model)
		return p, model
	case 1:
		class := rapid.SampledFrom(throughput.ClassNames()).Draw(t, "class")
		p, err := throughput.Estimate(class)
		fail(err)
		return p, class
	}
	var entries []throughput.Entry
	for i := range rapid.IntRange(1, 5).Draw(t, "rows") {
		entries = append(entries, throughput.Entry{
			Accelerator: fmt.Sprintf("type %d", i), Replicas: rapid.IntRange(2, 64).Draw(t, "replicas"), Nodes: rapid.IntRange(0, 2).Draw(t, "nodes"),
			SamplesPerSec: rapid.Float64Range(1e-6, 1e9).Draw(t, "speed"), Estimated: rapid.Bool().Draw(t, "estimated"),
		})
	}
	p, err := throughput.NewProfile(throughput.ProfileConfig{Name: "own", Entries: entries})
	fail(err)
	return p, ""
}
