package throughput

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNewProfileNamesTheEntryThatIsWrong(t *testing.T) {
	good := Entry{Accelerator: "V100", Replicas: 2, SamplesPerSec: 10}
	with := func(change func(*Entry)) Entry {
		e := good
		e.Accelerator = "K80"
		change(&e)
		return e
	}
	for _, c := range []struct {
		name  string
		entry Entry
		field string
	}{
		{"no accelerator", with(func(e *Entry) { e.Accelerator = "" }), "accelerator"},
		{"no replica", with(func(e *Entry) { e.Replicas = 0 }), "replicas"},
		{"more nodes than replicas", with(func(e *Entry) { e.Nodes = 3 }), "nodes"},
		{"negative nodes", with(func(e *Entry) { e.Nodes = -1 }), "nodes"},
		{"zero", with(func(e *Entry) { e.SamplesPerSec = 0 }), "samplesPerSec"},
		{"negative", with(func(e *Entry) { e.SamplesPerSec = -1 }), "samplesPerSec"},
		{"NaN", with(func(e *Entry) { e.SamplesPerSec = math.NaN() }), "samplesPerSec"},
		{"infinite", with(func(e *Entry) { e.SamplesPerSec = math.Inf(1) }), "samplesPerSec"},
		{"what the first says of one machine", with(func(e *Entry) { e.Accelerator, e.Nodes = "V100", 1 }), "nodes"},
		{"what the first says of several", with(func(e *Entry) { e.Accelerator, e.Nodes = "V100", 2 }), "nodes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewProfile(ProfileConfig{Name: "j", Entries: []Entry{good, c.entry}})
			var bad *EntryError
			if !errors.As(err, &bad) {
				t.Fatalf("error %v, want an *EntryError", err)
			}
			if bad.Index != 1 || bad.Field != c.field {
				t.Errorf("error %+v, want entry 1, field %s", bad, c.field)
			}
		})
	}
	if _, err := NewProfile(ProfileConfig{Name: "j"}); err == nil {
		t.Error("a profile that knows nothing was built")
	}
}

func TestProfileKeepsOneMachineAndSeveralApart(t *testing.T) {
	p, err := NewProfile(ProfileConfig{Name: "j", Entries: []Entry{
		{Accelerator: "T4", Replicas: 1, SamplesPerSec: 1},
		{Accelerator: "T4", Replicas: 4, Nodes: 1, SamplesPerSec: 4},
		{Accelerator: "T4", Replicas: 4, Nodes: 2, SamplesPerSec: 3, Estimated: true},
		{Accelerator: "T4", Replicas: 8, SamplesPerSec: 7},
		{Accelerator: "T4", Replicas: 16, Nodes: 4, SamplesPerSec: 9},
	}})
	if err != nil {
		t.Fatal(err)
	}
	type answer struct {
		PerSec        float64
		Estimated, OK bool
	}
	for _, c := range []struct {
		accelerator     string
		nodes, replicas int
		want            answer
	}{
		{"T4", 1, 1, answer{1, false, true}},
		{"T4", 2, 1, answer{}},
		{"T4", 0, 1, answer{}},
		{"T4", 1, 4, answer{4, false, true}},
		{"T4", 2, 4, answer{3, true, true}},
		{"T4", 4, 4, answer{3, true, true}},
		{"T4", 1, 8, answer{7, false, true}},
		{"T4", 2, 8, answer{7, false, true}},
		{"T4", 1, 16, answer{}},
		{"T4", 2, 16, answer{9, false, true}},
		{"L4", 1, 1, answer{}},
	} {
		var got answer
		got.PerSec, got.Estimated, got.OK = p.Speed(c.accelerator, c.nodes, c.replicas)
		if got != c.want {
			t.Errorf("%d on %d %s: %+v, want %+v", c.replicas, c.nodes, c.accelerator, got, c.want)
		}
	}
}

func TestProfileSurvivesItsEntries(t *testing.T) {
	table, err := Gavel()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range table.Names() {
		p, _ := table.Profile(name)
		again, err := NewProfile(ProfileConfig{Name: name, Entries: p.Entries()})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p.Entries(), again.Entries()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestMeasuredGoesBeforeEstimated(t *testing.T) {
	c, err := ClassNamed("bert-large")
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRoofline(c)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewProfile(ProfileConfig{Name: "j", Roofline: r, Entries: []Entry{{Accelerator: "T4", Replicas: 1, SamplesPerSec: 99}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, estimated, ok := p.Speed("T4", 1, 1); got != 99 || estimated || !ok {
		t.Errorf("measured: %g, estimated %v, ok %v", got, estimated, ok)
	}
	want, _ := r.Speed("T4", 1, 2)
	if got, estimated, ok := p.Speed("T4", 1, 2); got != want || !estimated || !ok {
		t.Errorf("not measured: %g, estimated %v, ok %v; want %g, estimated", got, estimated, ok, want)
	}
}

func ExampleGavel() {
	table, err := Gavel()
	if err != nil {
		fmt.Println(err)
		return
	}
	p, _ := table.Profile(JobType("ResNet-50", 64))
	for _, accelerator := range p.Accelerators() {
		one, _, _ := p.Speed(accelerator, 1, 1)
		eight, _, _ := p.Speed(accelerator, 1, 8)
		fmt.Printf("%-4s %4.0f images/s alone, %5.0f by eight on one machine\n", accelerator, one, eight)
	}
	_, _, ok := p.Speed("H100", 1, 1)
	fmt.Println("H100 known:", ok)
	// Output:
	// K80    40 images/s alone,   292 by eight on one machine
	// P100  168 images/s alone,  1166 by eight on one machine
	// V100  281 images/s alone,  1107 by eight on one machine
	// H100 known: false
}
