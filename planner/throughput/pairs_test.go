package throughput

import (
	"strings"
	"testing"
)

const twoJobs = `{
"v100": {
  "('LM (batch size 10)', 1)": {"null": 80, "('A3C', 1)": [40, 3], "('LM (batch size 10)', 1)": [0, 0]},
  "('A3C', 1)": {"null": 5, "('LM (batch size 10)', 1)": [3, 40]}
},
"v100_unconsolidated": {"('A3C', 1)": {"null": 5, "('A3C', 1)": [1, 1]}}
}`

func TestPairsAreReadAsSamplesOfBoth(t *testing.T) {
	p, err := ReadPairs("x.json", strings.NewReader(twoJobs))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		job, with, accelerator string
		replicas               int
		want                   float64
	}{
		{"LM (batch size 10)", "A3C", "V100", 1, 400},
		{"A3C", "LM (batch size 10)", "V100", 1, 3},
		{"LM (batch size 10)", "LM (batch size 10)", "V100", 1, 0}, // does not fit
		{"A3C", "A3C", "V100", 1, 0},                               // only spread
		{"A3C", "LM (batch size 10)", "V100", 2, 0},
		{"A3C", "LM (batch size 10)", "K80", 1, 0},
	} {
		got, ok := p.Beside(c.job, c.with, c.accelerator, c.replicas)
		if got != c.want || ok != (c.want > 0) {
			t.Errorf("%+v: %g samples/s, ok %v", c, got, ok)
		}
	}
	var none *Pairs
	if _, ok := none.Beside("A3C", "A3C", "V100", 1); ok {
		t.Error("no table knows a pair")
	}
}

func TestReadPairsNamesWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		`{"v100": {"A3C": {"('A3C', 1)": [1, 1]}}}`:                                          "x.json: v100, A3C, ('A3C', 1): want job types like",
		`{"v100": {"('A3C', 2)": {"('A3C', 1)": [1, 1]}}}`:                                   "gangs of 2 and of 1: want two of one size",
		`{"v100": {"('A3C', 1)": {"('A3C', 1)": [1]}}}`:                                      "[1]: want the steps per second of both",
		`{"v100": {"('A3C', 1)": {"('A3C', 1)": "1"}}}`:                                      `"1": want the steps per second of both`,
		`{"v100": {"('A3C', 1)": {"('A3C', 1)": [-1, 1]}}}`:                                  "[-1, 1]: want speeds of at least 0",
		`{"v100": {"('X (batch size 999999999)', 1)": {"('A3C', 1)": [1e300, 1]}}}`:          "[1e300, 1]: want speeds of at least 0, in range",
		`{"v100": {"('A3C', 1)": {"('B', 1)": [1, 2]}, "('B', 1)": {"('A3C', 1)": [1, 2]}}}`: "[1, 2]: another entry of these two says otherwise",
		`{"v100": {"('A3C', 1)": {"('A3C', 1)": [1, 2]}}}`:                                   "[1, 2]: another entry of these two says otherwise",
		`[]`: "x.json: json:",
	} {
		_, err := ReadPairs("x.json", strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
