package goodput

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const samplesText = `accelerator,nodes,replicas,atomic_bsz,accum_time,optim_time,count,kind
T4,1,1,32,0.5,0.51,10,
T4,2,8,32,0.5,0.7,,gpu
TPU v5e,1,4,64,0.2,0.25,3,tpu
`

func TestSamplesAreReadByType(t *testing.T) {
	got, err := ReadSamples("a.csv", strings.NewReader(samplesText))
	if err != nil {
		t.Fatal(err)
	}
	want := []TypeSamples{
		{"T4", KindGPU, []Sample{{1, 1, 32, 0.5, 0.51, 10}, {2, 8, 32, 0.5, 0.7, 0}}},
		{"TPU v5e", KindTPU, []Sample{{1, 4, 64, 0.2, 0.25, 3}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSampleFilesAreRefusedByRow(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		line           int
		column         string
	}{
		{"a missing column", "accum_time,", "", 1, "accum_time"},
		{"an unknown column", "count", "counts", 1, "counts"},
		{"a column twice", "count", "nodes", 1, "nodes"},
		{"no accelerator", "TPU v5e", "", 4, "accelerator"},
		{"an accelerator with a zero", "TPU v5e", "TPU\x00v5e", 4, "accelerator"},
		{"an unknown kind", "tpu", "cpu", 4, "kind"},
		{"two kinds of one type", "TPU v5e", "T4", 4, "kind"},
		{"a text", "0.51", "fast", 2, "optim_time"},
		{"a zero", "0.7", "0", 3, "optim_time"},
		{"not a number", "0.7", "NaN", 3, "optim_time"},
		{"infinite", "0.5,0.7", "+Inf,0.7", 3, "accum_time"},
		{"negative", "0.25", "-0.25", 4, "optim_time"},
		{"half a node", "T4,2,", "T4,2.5,", 3, "nodes"},
		{"more nodes than replicas", "T4,2,", "T4,9,", 3, "nodes"},
		{"a count of none", ",10,", ",0,", 2, "count"},
	} {
		if !strings.Contains(samplesText, c.old) {
			t.Fatalf("%s: %q is not in the file", c.name, c.old)
		}
		text := strings.Replace(samplesText, c.old, c.new, 1)
		_, err := ReadSamples("a.csv", strings.NewReader(text))
		var bad *RowError
		if !errors.As(err, &bad) || bad.Line != c.line || bad.Column != c.column || bad.File != "a.csv" {
			t.Errorf("%s: error %v, want line %d, %s", c.name, err, c.line, c.column)
		}
	}
	for _, text := range []string{"", "accelerator,nodes,replicas,atomic_bsz,accum_time,optim_time\n"} {
		if _, err := ReadSamples("a.csv", strings.NewReader(text)); !errors.Is(err, ErrNoSamples) {
			t.Errorf("%q: error %v, want %v", text, err, ErrNoSamples)
		}
	}
}
