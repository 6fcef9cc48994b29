package document

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestYAMLKeepsOrderAndQuotesWhatCouldBeMistaken(t *testing.T) {
	value := struct {
		Name  string           `json:"name"`
		Words []string         `json:"words"`
		Rows  []map[string]int `json:"rows"`
		Deep  [][]int          `json:"deep"`
		None  []int            `json:"none"`
		Empty struct{}         `json:"empty"`
		Nil   *int             `json:"nil"`
		Yes   bool             `json:"yes"`
	}{
		Name: "GPT-L", Words: []string{"no", "1e3", "", "a: b", " x", "ResNet-50 (batch size 64)", "#1", "nan", "é"},
		Rows: []map[string]int{{"a": 1, "b": 2}, {}}, Deep: [][]int{{1, 2}, {}}, None: []int{}, Yes: true,
	}
	got, err := YAML(value)
	if err != nil {
		t.Fatal(err)
	}
	want := `name: GPT-L
words:
  - "no"
  - "1e3"
  - ""
  - "a: b"
  - " x"
  - ResNet-50 (batch size 64)
  - "#1"
  - "nan"
  - "é"
rows:
  - a: 1
    b: 2
  - {}
deep:
  -
    - 1
    - 2
  - []
none: []
empty: {}
nil: null
"yes": true
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("YAML (-want +got):\n%s", diff)
	}
}

// TestYAMLReadsBackAsTheSameJSON writes random values and reads them with the
// reader of documents.
func TestYAMLReadsBackAsTheSameJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]any{"v": drawValue(t, 3)}
		text, err := YAML(want)
		if err != nil {
			t.Fatal(err)
		}
		roots, err := readTree("v.yaml", text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		a, errA := json.Marshal(want)
		b, errB := json.Marshal(roots[0].plain())
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if string(a) != string(b) {
			t.Fatalf("wrote %s\nread  %s\nfrom\n%s", a, b, text)
		}
	})
}

func drawValue(t *rapid.T, depth int) any {
	switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case kind == 0 && depth > 0:
		return rapid.Map(rapid.IntRange(0, 3), func(n int) []int { return make([]int, n) }).Draw(t, "zeros")
	case kind == 1 && depth > 0:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			list = append(list, drawValue(t, depth-1))
		}
		return list
	case kind == 2 && depth > 0:
		m := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "fields") {
			m[rapid.String().Draw(t, "key")] = drawValue(t, depth-1)
		}
		return m
	case kind == 3:
		return rapid.IntRange(-1000, 1000).Draw(t, "number")
	case kind == 4:
		return rapid.SampledFrom([]any{true, false, nil}).Draw(t, "word")
	}
	return rapid.String().Draw(t, "text")
}
