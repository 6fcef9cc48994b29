package share

import (
	"strings"
	"testing"
)

func TestParseNamesWhatItRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no cluster", `{"jobs":[]}`, "cluster: is missing"},
		{"half a worker", `{"cluster":{"a":1.5},"jobs":[]}`, "cluster.a: 1.5: want a whole number"},
		{"text for workers", `{"cluster":{"a":"1"},"jobs":[]}`, "cluster.a: string: want a number"},
		{"price of nothing", `{"cluster":{"a":1},"prices":{"b":1},"jobs":[]}`, "prices.b: there is no such type"},
		{"no jobs", `{"cluster":{"a":1}}`, "jobs: is missing"},
		{"no id", `{"cluster":{"a":1},"jobs":[{"steps_left":1,"throughput":{}}]}`, "jobs[0].id: is missing"},
		{"id twice", `{"cluster":{"a":1},"jobs":[{"id":1,"steps_left":1,"throughput":{}},{"id":"1","steps_left":1,"throughput":{}}]}`, `jobs[1].id: "1" is also the id of jobs[0]`},
		{"unknown type", `{"cluster":{"a":1},"jobs":[{"id":1,"steps_left":1,"throughput":{"z":1}}]}`, "jobs[0].throughput.z: there is no such type"},
		{"negative speed", `{"cluster":{"a":1},"jobs":[{"id":1,"steps_left":1,"throughput":{"a":-1}}]}`, "jobs[0].throughput.a: -1: want at least 0"},
		{"no weight", `{"cluster":{"a":1},"jobs":[{"id":1,"steps_left":1,"weight":0,"throughput":{}}]}`, "jobs[0].weight: 0: want more than 0"},
		{"job in two entities", `{"cluster":{"a":1},"jobs":[{"id":1,"steps_left":1,"throughput":{}}],"entities":{"e":{"jobs":[1]},"f":{"jobs":[1]}}}`, `entities.f.jobs[0]: job "1" is already in entity e`},
		{"pair of different scale", `{"cluster":{"a":1},"jobs":[{"id":1,"steps_left":1,"throughput":{}},{"id":2,"scale_factor":2,"steps_left":1,"throughput":{}}],"pairs":[{"jobs":[1,2],"throughput":{}}]}`, "pairs[0].jobs: scale factors 1 and 2"},
		{"half a document", `{"cluster":`, "the document ends early"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
