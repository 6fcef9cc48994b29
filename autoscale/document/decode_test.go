package document

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sold is what the tests' jobs may name.
var sold = Sold{
	Accelerators: []string{"A100-40GB", "A100-80GB", "K80", "P100", "V100"},
	Clouds:       []string{"aws", "gcp"},
	Regions:      []string{"eu-west-1", "us-east-1", "us-west-2"},
}

// job is a document that is right, line by line; edits of it are wrong in one way.
const job = `apiVersion: goodfleet/v1
kind: TrainingJob
metadata:
  name: GPT-L
  team: Vision
spec:
  submit: 2023-06-01T00:00:00Z
  work: {samples: 5000000}
  resources:
    accelerators: [V100]
    replicas: {min: 1, max: 8, multipleOf: 2}
  data: {cloud: aws, region: us-east-1, size: 80GiB}
  checkpoint: {size: 2 GiB, save: 30s, restore: 1m, every: auto}
  valueOfTime: 3 USD/h
  deadline: 2023-06-08T00:00:00Z
  budget: 12.50 USD
  markets: [spot, on-demand]
  throughput:
    table:
      - {accelerator: V100, replicas: 2, samplesPerSec: 507.5}
      - {accelerator: V100, replicas: 4, samplesPerSec: 950, estimated: true}
`

func TestJobsNameTheFirstMistake(t *testing.T) {
	for _, tc := range []struct {
		name     string
		old, new string // the edit
		want     string
	}{
		{"required key misspelt", "  resources:", "  resorces:", `9:3: spec.resorces: unknown key; did you mean "resources"?`},
		{"unknown key", "    accelerators:", "    acclerators:", `10:5: spec.resources.acclerators: unknown key; did you mean "accelerators"?`},
		{"unknown key of another case", "  valueOfTime", "  valueoftime", `14:3: spec.valueoftime: unknown key; did you mean "valueOfTime"?`},
		{"unknown key in a list", "replicas: 4,", "replicas: 4, gpus: 1,", `21:42: spec.throughput.table[1].gpus: unknown key; known: accelerator, estimated, nodes, replicas, samplesPerSec`},
		{"unknown key that is no word", "  budget", "  \"a b\"", `16:3: spec["a b"]: unknown key`},
		{"key twice", "  budget: 12.50 USD", "  submit: 2023-06-01T00:00:00Z", `16:3: key "submit" is given twice`},
		{"duration without unit", "save: 30s", "save: 30", `13:35: spec.checkpoint.save: 30 has no unit: want a number and its unit, such as 30m`},
		{"duration with unknown unit", "save: 30s", "save: 30 sec", `13:35: spec.checkpoint.save: "30 sec" is no duration: want a number and a unit, as in "30m" or "2d12h"`},
		{"negative duration", "save: 30s", "save: -30s", `13:35: spec.checkpoint.save: "-30s" is no duration: it is negative`},
		{"interval of nothing", "every: auto", "every: 0s", `13:60: spec.checkpoint.every: "0s": want a positive duration, or "auto"`},
		{"size without unit", "size: 80GiB", `size: "80"`, `12:47: spec.data.size: "80" is no size: want a number and a unit, as in "80GiB" or "1.5 TB"`},
		{"size with a sign", "size: 80GiB", `size: -80GiB`, `12:47: spec.data.size: "-80GiB" is no size: want a plain decimal number before the unit`},
		{"negative samples", "samples: 5000000", "samples: -5", `8:19: spec.work.samples: -5: want more than 0`},
		{"no samples", "samples: 5000000", "samples: 0", `8:19: spec.work.samples: 0: want more than 0`},
		{"vanishing samples", "samples: 5000000", "samples: 1e-999", `8:19: spec.work.samples: 1e-999: is out of range: it is so near to 0 that it would be read as 0`},
		{"a size that would be read as 0", "size: 80GiB", "size: 0." + strings.Repeat("0", 400) + "1GiB", `is so near to 0 that it would be read as 0`},
		{"endless samples", "samples: 5000000", "samples: 1e999", `8:19: spec.work.samples: 1e999: want at most 1000000000000000000`},
		{"NaN", "samples: 5000000", "samples: .nan", `8:19: spec.work.samples: .nan is no number that can be used`},
		{"NaN as text", "samples: 5000000", "samples: NaN", `8:19: spec.work.samples: want a number, got "NaN"`},
		{"infinity", "samples: 5000000", "samples: -.inf", `8:19: spec.work.samples: -.inf is no number that can be used`},
		{"octal", "samples: 5000000", "samples: 0o17", `8:19: spec.work.samples: 0o17: write a number in plain decimal, or text in quotes`},
		{"number with separators", "samples: 5000000", "samples: 5_000_000", `8:19: spec.work.samples: 5_000_000: write a number in plain decimal, or text in quotes`},
		{"samples and epochs", "samples: 5000000", "samples: 5, epochs: 2, datasetSamples: 5", `8:30: spec.work.epochs: samples are given too: want one of the two`},
		{"epochs of what", "samples: 5000000", "epochs: 2", `8:9: spec.work.datasetSamples: is required beside epochs`},
		{"no work", "{samples: 5000000}", "{}", `8:9: spec.work: want samples, or epochs and datasetSamples, or kind: unknown`},
		{"known unknown", "samples: 5000000", "samples: 5, kind: unknown", `8:28: spec.work.kind: unknown work has no samples and no epochs`},
		{"kind of work", "samples: 5000000", "samples: 5, kind: limits", `8:28: spec.work.kind: "limits": want exact, limit, unknown; did you mean "limit"?`},
		{"zero replicas", "min: 1", "min: 0", `11:21: spec.resources.replicas.min: 0: want at least 1`},
		{"half a replica", "min: 1", "min: 1.5", `11:21: spec.resources.replicas.min: want a whole number, got 1.5`},
		{"range turned round", "max: 8", "max: 0", `11:29: spec.resources.replicas.max: 0: want at least 1`},
		{"range that is empty", "min: 1", "min: 9", `11:29: spec.resources.replicas.max: 8: want at least min, 9`},
		{"range without a multiple", "multipleOf: 2", "multipleOf: 9", `11:44: spec.resources.replicas.multipleOf: 9: no multiple lies from min, 1, to max, 8`},
		{"range without end", ", max: 8", "", `11:15: spec.resources.replicas.max: is required`},
		{"replicas one by one", "{min: 1, max: 8, multipleOf: 2}", "[1, 4, 2]", `11:22: spec.resources.replicas[2]: 2: want ascending sizes`},
		{"replicas twice", "{min: 1, max: 8, multipleOf: 2}", "[1, 4, 4]", `11:22: spec.resources.replicas: 4 is given twice`},
		{"replicas of a word", "{min: 1, max: 8, multipleOf: 2}", "many", `11:15: spec.resources.replicas: want a list or a mapping, got "many"`},
		{"no list of replicas", "{min: 1, max: 8, multipleOf: 2}", "[]", `11:15: spec.resources.replicas: is empty`},
		{"unknown market", "[spot, on-demand]", "[spot, ondemand]", `17:19: spec.markets[1]: "ondemand": want on-demand, spot, reserved, queued; did you mean "on-demand"?`},
		{"market twice", "[spot, on-demand]", "[spot, spot]", `17:19: spec.markets: "spot" is given twice`},
		{"unknown accelerator", "[V100]", "[V10]", `10:20: spec.resources.accelerators[0]: unknown accelerator "V10"; did you mean "V100"?`},
		{"unknown accelerator of a table", "accelerator: V100, replicas: 4", "accelerator: TPU, replicas: 4", `21:23: spec.throughput.table[1].accelerator: unknown accelerator "TPU"; known: A100-40GB, A100-80GB, K80, P100, V100`},
		{"unknown cloud", "cloud: aws", "cloud: AWS", `12:17: spec.data.cloud: unknown cloud "AWS"; did you mean "aws"?`},
		{"region that is not sold", "region: us-east-1", "region: us-east-9", `12:30: spec.data.region: unknown region "us-east-9"; did you mean "us-east-1"?`},
		{"amount without currency", "12.50 USD", `"12.50"`, `16:11: spec.budget: not an amount: "12.50": want a decimal number and the currency, as in "12.50 USD"`},
		{"amount of nothing", "12.50 USD", `0 USD`, `16:11: spec.budget: "0 USD": want more than 0`},
		{"amount in another currency", "12.50 USD", `12.50 EUR`, `16:11: spec.budget: not an amount: "12.50 EUR": want a decimal number and the currency, as in "12.50 USD"`},
		{"rate without time", "3 USD/h", "3 USD", `14:16: spec.valueOfTime: not an amount: "3 USD": want a decimal number and the unit, as in "900 USD/h"`},
		{"time of day alone", "2023-06-08T00:00:00Z", "2023-06-08", `15:13: spec.deadline: "2023-06-08" is no time: want RFC 3339, as in "2026-12-24T18:00:00Z"`},
		{"deadline before submission", "2023-06-08T00:00:00Z", "2023-05-08T00:00:00Z", `15:13: spec.deadline: 2023-05-08T00:00:00Z is not after submit, 2023-06-01T00:00:00Z`},
		{"wrong version", "goodfleet/v1", "goodfleet/v2", `1:13: apiVersion: "goodfleet/v2": want goodfleet/v1`},
		{"no version", "apiVersion: goodfleet/v1\n", "", `1:1: apiVersion: is required: goodfleet/v1`},
		{"version mistyped", "apiVersion:", "apiversion:", `1:1: apiversion: unknown key; did you mean "apiVersion"?`},
		{"unknown kind", "TrainingJob", "TrainingJobs", `2:7: kind: unknown kind "TrainingJobs"; did you mean "TrainingJob"?`},
		{"kind of another document", "TrainingJob", "Config", `3:1: metadata: unknown key; known: apiVersion, kind, spec`},
		{"no name", "  name: GPT-L\n", "", `4:3: metadata.name: is required`},
		{"empty name", "name: GPT-L", "name:", `4:8: metadata.name: is empty: want text`},
		{"name that is a number", "name: GPT-L", "name: 007", `4:9: metadata.name: 007: write a number in plain decimal, or text in quotes`},
		{"name that is a truth", "name: GPT-L", "name: true", `4:9: metadata.name: want text, got true: put it in quotes`},
		{"name that no tag may hold", "name: GPT-L", `name: "${jndi:ldap}"`, `4:9: metadata.name: "${jndi:ldap}": want letters, digits, spaces and _.:/=+-@, beginning with a letter or digit`},
		{"name of two lines", "name: GPT-L", `name: "a\nb"`, `4:9: metadata.name: "a\nb": want letters, digits, spaces and _.:/=+-@, beginning with a letter or digit`},
		{"long name", "name: GPT-L", "name: " + strings.Repeat("x", 300), `4:9: metadata.name: has 300 letters, more than 128`},
		{"truth of YAML 1.1", "estimated: true", "estimated: yes", `21:73: spec.throughput.table[1].estimated: want true or false, got "yes"`},
		{"speed of zero", "samplesPerSec: 950", "samplesPerSec: 0", `21:57: spec.throughput.table[1].samplesPerSec: 0: want more than 0`},
		{"speed given twice", "replicas: 4", "replicas: 2", `21:9: spec.throughput.table[1].nodes: 2 replicas on V100 are given twice on one machine`},
		{"merge key", "  budget: 12.50 USD", "  <<: {}", `16:3: spec: key <<: want text; merge keys, tags and other keys are not used here`},
		{"tag", "budget: 12.50 USD", "budget: !!str 12", `16:11: spec.budget: tag !!str: tags are not used here`},
		{"alias of nothing", "budget: 12.50 USD", "budget: *amount", `16:11: spec.budget: alias *amount has no anchor before it`},
		{"alias of itself", "budget: 12.50 USD", "budget: &a [*a]", `is nested too deep, or repeated too often`},
		{"no YAML", "work: {samples: 5000000}", "work: {samples: 5000000", `is no YAML: `},
		{"a list in place of a text", "name: GPT-L", "name: [GPT-L]", `4:9: metadata.name: want text, got a list`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := strings.Replace(job, tc.old, tc.new, 1)
			if text == job {
				t.Fatalf("edit of %q changes nothing", tc.old)
			}
			jobs, err := Jobs("jobs.yaml", []byte(text), sold)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if jobs != nil {
				t.Error("jobs are returned beside the error")
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q has more than one line", err)
			}
			if !strings.HasPrefix(err.Error(), "jobs.yaml:") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got  %s\nwant jobs.yaml:%s", err, tc.want)
			}
		})
	}
}

func TestThroughputIsNamedOneWay(t *testing.T) {
	const head = `{"apiVersion": "goodfleet/v1", "kind": "TrainingJob", "metadata": {"name": "a"}, "spec": {"work": {"samples": 5}, "resources": {"replicas": [1]}, "throughput": `
	for _, tc := range []struct{ name, throughput, want string }{
		{"not at all", `{}`, `spec.throughput: want estimate or model or table`},
		{"two ways", `{"model": "LM (batch size 80)", "estimate": {"class": "bert-large"}}`, `spec.throughput: want only one of estimate, model, table`},
		{"unknown model", `{"model": "LM (batch size 800)"}`, `spec.throughput.model: no measurements of "LM (batch size 800)"; did you mean "LM (batch size 80)"?`},
		{"unknown class", `{"estimate": {"class": "bert"}}`, `spec.throughput.estimate.class: unknown class "bert"; known: `},
		{"spread over more machines than replicas", `{"table": [{"accelerator": "V100", "replicas": 1, "nodes": 2, "samplesPerSec": 3}]}`, `spec.throughput.table[0].nodes: 2: want 0 to the 1 replicas`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Jobs("a.json", []byte(head+tc.throughput+"}}"), Sold{})
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "a.json:1:") {
				t.Errorf("got  %v\nwant a.json:1:…: %s", err, tc.want)
			}
		})
	}
}

func TestOneFileHoldsManyJobs(t *testing.T) {
	second := strings.Replace(job, "GPT-L", "gpt-l", 1) // another name: names differ by case
	list := "- " + strings.ReplaceAll(strings.TrimSpace(job), "\n", "\n  ") + "\n- " + strings.ReplaceAll(strings.TrimSpace(second), "\n", "\n  ") + "\n"
	for _, tc := range []struct{ name, text string }{
		{"separated", job + "---\n" + second},
		{"separated, with comments and empty ones", "# mine\n---\n" + job + "---\n# nothing\n---\n" + second + "---\n"},
		{"as a list", list},
	} {
		t.Run(tc.name, func(t *testing.T) {
			jobs, err := Jobs("jobs.yaml", []byte(tc.text), sold)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, j := range jobs {
				names = append(names, string(j.ID)+" of "+j.Team)
			}
			if diff := cmp.Diff([]string{"GPT-L of Vision", "gpt-l of Vision"}, names); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJobsRefuseNamesGivenTwice(t *testing.T) {
	_, err := Jobs("jobs.yaml", []byte(job+"---\n"+job), sold)
	want := `jobs.yaml:26:9: metadata.name: "GPT-L" is given twice, first in line 4`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestEmptyFilesAreRefused(t *testing.T) {
	for _, text := range []string{"", "\n\n", "# nothing\n", "---\n---\n", "null"} {
		_, err := Jobs("jobs.yaml", []byte(text), sold)
		if want := "jobs.yaml:1:1: holds no document"; err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestByteOrderMarksAndCarriageReturnsAreRead(t *testing.T) {
	for _, text := range []string{"\ufeff" + job, strings.ReplaceAll(job, "\n", "\r\n")} {
		if jobs, err := Jobs("jobs.yaml", []byte(text), sold); err != nil || len(jobs) != 1 {
			t.Errorf("got %d jobs and %v, want one", len(jobs), err)
		}
	}
}

func TestDeepAndRepeatedFilesAreRefused(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 12; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i-1, i-1, i-1, i-1, i-1, i-1)
	}
	var indented strings.Builder
	for i := range 1500 {
		indented.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	for name, text := range map[string]string{
		"brackets": strings.Repeat("[", 200_000),
		"braces":   strings.Repeat("{a: ", 100_000),
		"dashes":   strings.Repeat("- ", 100_000),
		"keys":     strings.Repeat("? ", 100_000),
		"indents":  indented.String(),
		"aliases":  bomb,
	} {
		_, err := Decode("deep.yaml", []byte(text))
		var e *Error
		if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 {
			t.Errorf("%s: got %.200v, want an *Error with its place", name, err)
		}
	}
}

func TestAnchorsStandForTheirValue(t *testing.T) {
	text := strings.Replace(job, "[V100]", "&types [V100]", 1) + "---\n" + strings.Replace(job, "GPT-L", "b", 1)
	if _, err := Jobs("jobs.yaml", []byte(text), sold); err != nil {
		t.Errorf("anchor: %v", err)
	}
	text = strings.Replace(strings.Replace(job, "submit: 2023-06-01T00:00:00Z", "maxPrice: &r 3 USD/h", 1), "valueOfTime: 3 USD/h", "valueOfTime: *r", 1)
	jobs, err := Jobs("jobs.yaml", []byte(text), sold)
	if err != nil {
		t.Fatal(err)
	}
	if jobs[0].ValueOfTime != jobs[0].MaxPrice || jobs[0].MaxPrice == 0 {
		t.Errorf("alias gives %s, its anchor %s", jobs[0].ValueOfTime, jobs[0].MaxPrice)
	}
}

func TestNearestFindsTheWordThatWasMeant(t *testing.T) {
	known := []string{"spot", "on-demand", "reserved", "V100", "A100-40GB", "A100-80GB"}
	for _, tc := range []struct{ word, want string }{
		{"spto", "spot"}, {"SPOT", "spot"}, {"ondemand", "on-demand"}, {"v100", "V100"}, {"A100-80", "A100-80GB"}, {"A100-8GB", "A100-80GB"},
		{"preemptible", ""}, {"", ""}, {"x", ""},
	} {
		if got, ok := Nearest(tc.word, known); got != tc.want || ok != (tc.want != "") {
			t.Errorf("Nearest(%q) = %q, %t, want %q", tc.word, got, ok, tc.want)
		}
	}
}

// FuzzDecode holds that no file breaks the reader, that every error has a place
// and one line, and that what was read can be written and read again.
func FuzzDecode(f *testing.F) {
	f.Add(job)
	f.Add("[" + `{"apiVersion":"goodfleet/v1","kind":"Config","spec":{"burnCap":"40 USD/h","owned":[]}}` + "]")
	f.Add("a: &a [*a]\n--- !!x\n? [1]\n: |\n  text\n")
	f.Add("*\n\xb2\n\n\xb2") // a name with line ends
	examples, err := filepath.Glob(filepath.Join("..", "..", "cmd", "goodfleet", "examples", "*.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range examples {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if len(text) < 1<<12 {
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		jobs, err := Jobs("f.yaml", []byte(text), Sold{})
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.File != "f.yaml" || e.Reason == "" {
				t.Fatalf("%q: error %v has no place", text, err)
			}
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("%q: error %q has more than one line", text, err)
			}
			return
		}
		for _, j := range jobs {
			encoded, err := EncodeJob(j)
			if err != nil {
				t.Fatalf("%q: write: %v", text, err)
			}
			if _, err := DecodeJob(encoded); err != nil {
				t.Fatalf("%q: read again: %v", text, err)
			}
		}
	})
}
