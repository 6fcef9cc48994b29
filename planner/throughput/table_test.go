package throughput

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats/scalar"
)

// relTol allows for the one multiplication by the batch size.
const relTol = 1e-12

func TestGavelHoldsEveryPublishedJobType(t *testing.T) {
	table, err := Gavel()
	if err != nil {
		t.Fatal(err)
	}
	jobs := table.Names()
	if len(jobs) != 26 {
		t.Fatalf("%d job types, want the 26 of the paper", len(jobs))
	}
	cells := 0
	for _, job := range jobs {
		p, ok := table.Profile(job)
		if !ok || p.Name() != job {
			t.Fatalf("profile of %q: name %q, ok %v", job, p.Name(), ok)
		}
		if diff := cmp.Diff([]string{"K80", "P100", "V100"}, p.Accelerators()); diff != "" {
			t.Errorf("%s: accelerators (-want +got)\n%s", job, diff)
		}
		cells += len(p.Entries())
	}
	// 492 rows, less 78 single replicas "spread" and 3 that do not fit on a K80.
	if want := 492 - 78 - 3; cells != want {
		t.Errorf("%d speeds, want %d", cells, want)
	}
}

func TestGavelSpeeds(t *testing.T) {
	simulated, err := Gavel()
	if err != nil {
		t.Fatal(err)
	}
	physical, err := GavelPhysical()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name            string
		table           *Table
		job, accel      string
		nodes, replicas int
		want            float64 // samples/s; 0: unknown
	}{
		{"steps times batch size", simulated, "LM (batch size 5)", "V100", 1, 8, 698.773292956699 * 5},
		{"spread over machines it is another number", simulated, "LM (batch size 5)", "V100", 2, 8, 73.11997842291213 * 5},
		{"over how many makes no difference", simulated, "LM (batch size 5)", "V100", 8, 8, 73.11997842291213 * 5},
		{"a step of A3C is one sample", simulated, "A3C", "K80", 1, 1, 3.4387678290723933},
		{"measured anew on the physical cluster", physical, "A3C", "K80", 1, 1, 3.5357143756878346},
		{"does not fit", simulated, "ResNet-50 (batch size 128)", "K80", 1, 2, 0},
		{"fits alone in the simulation's table", simulated, "ResNet-50 (batch size 128)", "K80", 1, 1, 0.3472236920519382 * 128},
		{"but not in the physical one", physical, "ResNet-50 (batch size 128)", "K80", 1, 1, 0},
		{"an odd size was not measured", simulated, "LM (batch size 5)", "V100", 1, 3, 0},
		{"an accelerator that nobody measured", simulated, "LM (batch size 5)", "H100", 1, 1, 0},
		{"one replica cannot be spread", simulated, "LM (batch size 5)", "V100", 2, 1, 0},
		{"a model that runs on one replica only", simulated, "Recommendation (batch size 512)", "V100", 1, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, ok := c.table.Profile(c.job)
			if !ok {
				t.Fatalf("no profile of %s", c.job)
			}
			got, estimated, ok := p.Speed(c.accel, c.nodes, c.replicas)
			if estimated || ok != (c.want > 0) {
				t.Fatalf("speed %g, estimated %v, ok %v; want %g, measured", got, estimated, ok, c.want)
			}
			if !scalar.EqualWithinAbsOrRel(got, c.want, 0, relTol) {
				t.Errorf("speed %g, want %g", got, c.want)
			}
		})
	}
}

const tableHeader = "model,batch_size,scale_factor,worker_type,steps_per_s\n"

func TestReadTableNamesTheRowThatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name, text, value string
		line              int
		column            string
	}{
		{"NaN", tableHeader + "LM,5,1,v100,3\nLM,5,1,k80,NaN\n", "steps_per_s", 3, "steps_per_s"},
		{"infinite", tableHeader + "LM,5,1,v100,+Inf\n", "steps_per_s", 2, "steps_per_s"},
		{"infinite as samples", tableHeader + "LM,500,1,v100,1e308\n", "steps_per_s", 2, "steps_per_s"},
		{"negative", tableHeader + "LM,5,1,v100,-1\n", "steps_per_s", 2, "steps_per_s"},
		{"no number", tableHeader + "LM,5,1,v100,fast\n", "steps_per_s", 2, "steps_per_s"},
		{"no batch", tableHeader + "LM,0,1,v100,3\n", "steps_per_s", 2, "batch_size"},
		{"no replica", tableHeader + "LM,5,0,v100,3\n", "steps_per_s", 2, "scale_factor"},
		{"no model", tableHeader + ",5,1,v100,3\n", "steps_per_s", 2, "model"},
		{"no accelerator", tableHeader + "LM,5,1,_unconsolidated,3\n", "steps_per_s", 2, "worker_type"},
		{"twice", tableHeader + "LM,5,2,v100,3\nLM,5,2,v100,3\n", "steps_per_s", 3, "worker_type"},
		{"twice, once not fitting", tableHeader + "LM,5,2,v100,0\nLM,5,2,v100,3\n", "steps_per_s", 3, "worker_type"},
		{"unknown unit", "model,batch_size,scale_factor,worker_type,furlongs\n", "furlongs", 1, "furlongs"},
		{"missing column", tableHeader, "samples_per_s", 1, "samples_per_s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadTable("t.csv", strings.NewReader(c.text), c.value)
			var row *RowError
			if !errors.As(err, &row) {
				t.Fatalf("error %v, want a *RowError", err)
			}
			if row.Line != c.line || row.Column != c.column || row.Reason == "" {
				t.Errorf("error %+v, want line %d, column %s", row, c.line, c.column)
			}
		})
	}
}

func TestReadTableLeavesOutWhatDoesNotFit(t *testing.T) {
	text := tableHeader + "LM,5,1,v100,0\nLM,5,2,v100,\nLM,5,4,v100,2\n"
	table, err := ReadTable("t.csv", strings.NewReader(text), "steps_per_s")
	if err != nil {
		t.Fatal(err)
	}
	p, _ := table.Profile("LM (batch size 5)")
	want := []Entry{{Accelerator: "V100", Replicas: 4, Nodes: 1, SamplesPerSec: 10}}
	if diff := cmp.Diff(want, p.Entries()); diff != "" {
		t.Errorf("entries (-want +got)\n%s", diff)
	}
}

func TestReadTableTakesSamplesAsTheyAre(t *testing.T) {
	text := "model,batch_size,scale_factor,worker_type,samples_per_s\nLM,5,1,v100,7\n"
	table, err := ReadTable("t.csv", strings.NewReader(text), "samples_per_s")
	if err != nil {
		t.Fatal(err)
	}
	p, _ := table.Profile("LM (batch size 5)")
	if got, _, ok := p.Speed("V100", 1, 1); !ok || got != 7 {
		t.Errorf("speed %g, ok %v; want 7", got, ok)
	}
}

func FuzzReadTable(f *testing.F) {
	f.Add(tableHeader + "LM,5,1,v100,3\n")
	f.Add(tableHeader + "A3C,,8,k80_unconsolidated,1e308\n")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := ReadTable("t.csv", strings.NewReader(text), "steps_per_s")
		if err != nil {
			return
		}
		for _, name := range table.Names() {
			p, _ := table.Profile(name)
			for _, e := range p.Entries() {
				if !(e.SamplesPerSec > 0) || math.IsInf(e.SamplesPerSec, 0) {
					t.Fatalf("%s: speed %g came through", name, e.SamplesPerSec)
				}
			}
		}
	})
}
