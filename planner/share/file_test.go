package share

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseNamesWhatItRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"cluster": {"a": 1}, "price": {"a": 1}, "jobs": []}`, `price: unknown field: want one of cluster, prices, jobs, `},
		{`{"cluster": {"a": 1}, "jobs": [{"id": 1, "wieght": 2, "steps_left": 10, "throughput": {"a": 1}}]}`, `jobs[0].wieght: unknown field: want one of id, scale_factor, weight, `},
		{`{"cluster": {"a": 1}, "jobs": [{"id": 1, "weight": 2, "weight": 3, "steps_left": 10, "throughput": {"a": 1}}]}`, `jobs[0].weight: is there twice`},
		{`{"cluster": {"a": 1}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1}}], "pairs": [{"jobs": [1, 2], "thruput": {}}]}`, `pairs[0].thruput: unknown field: want one of jobs, throughput`},
		{`{"cluster": {"a": 1}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1}}], "entities": {"x": {"jobs": [1], "wheight": 2}}}`, `entities.x.wheight: unknown field: want one of weight, policy, jobs`},
		{`{"cluster": {"a\u001b": 1}, "jobs": []}`, `cluster: "a\x1b": want one line of text without control characters`},
		{`{"cluster": {"a": 1}, "jobs": [{"id": "x\u2028", "steps_left": 1, "throughput": {"a": 1}}]}`, `jobs[0].id: "x\u2028": want one line of text`},
		{`{"cluster": {"a": 1}, "jobs": [{"id": "x", "steps_left": 1, "throughput": {"a": 1}}], "entities": {"t\u0000": {"jobs": ["x"]}}}`, `entities: "t\x00": want one line of text`},
		{`{"cluster": {"a": 1}, "jobs": [{"id": "x", "steps_left": 1, "throughput": {"a": 5e-324}}]}`, `jobs[0].throughput.a: 5e-324: want 0, or 1e-9 to 1e12 steps/s`},
		{`{"cluster": {"a": 1}, "jobs": [{"id": "x", "steps_left": 1, "throughput": {"a": 1}, "slo_left_s": 1e300}]}`, `jobs[0].slo_left_s: 1e+300: want at most 1e12 s, or none`},
		{`{"cluster": {"a": 1}, "prices": {"a": 1e-300}, "jobs": []}`, `prices.a: 1e-300: want 0, or 1e-6 to 1e6 USD/h`},
		{`{"cluster": null, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `cluster: is missing`},
		{`{"cluster": "x", "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `cluster: string: want an object`},
		{`{"cluster": [], "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `cluster: array: want an object`},
		{`{"cluster": 1, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `cluster: number: want an object`},
		{`{"cluster": true, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `cluster: bool: want an object`},
		{`{"cluster": {"a": -1, "b": 1}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `cluster.a: -1: want a whole number of workers, 0 to 1e9`},
		{`{"cluster": {"a": "1", "b": 1}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `cluster.a: string: want a number`},
		{`{"cluster": {"a": null, "b": 1}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `cluster.a: null: want a number`},
		{`{"cluster": {"a": [], "b": 1}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `cluster.a: array: want a number`},
		{`{"cluster": {"a": {}, "b": 1}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `cluster.a: object: want a number`},
		{`{"cluster": {"a": true, "b": 1}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `cluster.a: bool: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": -1}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `prices.a: -1: want 0, or 1e-6 to 1e6 USD/h`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": "1"}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `prices.a: string: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": []}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `prices.a: array: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": {}}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `prices.a: object: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": true}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `prices.a: bool: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"z": 1}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `prices.z: there is no such type in cluster`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": [1], "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `prices: array: want an object`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": null}`, `jobs: is missing`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": {}}`, `jobs: object: want a list`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": "x"}`, `jobs: string: want a list`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": 1}`, `jobs: number: want a list`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [1]}`, `jobs[0]: number: want an object`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": ["x"]}`, `jobs[0]: string: want an object`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [null]}`, `jobs[0].id: is missing`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [[]]}`, `jobs[0]: array: want an object`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "throughput": {"a": 1, "b": 2}}]}`, `jobs[0].steps_left: is missing`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10}]}`, `jobs[0].throughput: is missing`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": null, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `jobs[0].id: null: want a number or a text`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": [], "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `jobs[0].id: []: want a number or a text`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": {}, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `jobs[0].id: {}: want a number or a text`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": true, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `jobs[0].id: true: want a number or a text`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": "", "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `jobs[0].id: "": want a name`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": -1, "throughput": {"a": 1, "b": 2}}]}`, `jobs[0].steps_left: -1: want 0, or 1e-6 to 1e18 steps`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": "1", "throughput": {"a": 1, "b": 2}}]}`, `jobs[0].steps_left: string: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": [], "throughput": {"a": 1, "b": 2}}]}`, `jobs[0].steps_left: array: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": true, "throughput": {"a": 1, "b": 2}}]}`, `jobs[0].steps_left: bool: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}, "scale_factor": 0}]}`, `jobs[0].scale_factor: 0: want a whole number of workers, 1 to 1e9`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}, "scale_factor": "1"}]}`, `jobs[0].scale_factor: string: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}, "scale_factor": []}]}`, `jobs[0].scale_factor: array: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}, "scale_factor": true}]}`, `jobs[0].scale_factor: bool: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}, "weight": 0}]}`, `jobs[0].weight: 0: want 1e-9 to 1e9`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}, "weight": "1"}]}`, `jobs[0].weight: string: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}, "weight": []}]}`, `jobs[0].weight: array: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}, "weight": true}]}`, `jobs[0].weight: bool: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}, "elapsed_s": -1}]}`, `jobs[0].elapsed_s: -1: want 0, or 1e-6 to 1e12 s`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}, "elapsed_s": "1"}]}`, `jobs[0].elapsed_s: string: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}, "elapsed_s": []}]}`, `jobs[0].elapsed_s: array: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}, "isolated_elapsed_s": -1}]}`, `jobs[0].isolated_elapsed_s: -1: want 0, or 1e-6 to 1e12 s`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}, "isolated_elapsed_s": "1"}]}`, `jobs[0].isolated_elapsed_s: string: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}, "slo_left_s": "1"}]}`, `jobs[0].slo_left_s: string: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}, "slo_left_s": []}]}`, `jobs[0].slo_left_s: array: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": []}]}`, `jobs[0].throughput: array: want an object`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": 1}]}`, `jobs[0].throughput: number: want an object`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": "x"}]}`, `jobs[0].throughput: string: want an object`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"z": 1}}]}`, `jobs[0].throughput.z: there is no such type in cluster`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": -1}}]}`, `jobs[0].throughput.a: -1: want 0, or 1e-9 to 1e12 steps/s`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": "1"}}]}`, `jobs[0].throughput.a: string: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": []}}]}`, `jobs[0].throughput.a: array: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": true}}]}`, `jobs[0].throughput.a: bool: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": {}}}]}`, `jobs[0].throughput.a: object: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "pairs": 1}`, `pairs: number: want a list`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "pairs": [1]}`, `pairs[0]: number: want an object`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "pairs": [{}]}`, `pairs[0].jobs: 0 in all: want two jobs`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "pairs": [{"jobs": 1}]}`, `pairs[0].jobs: number: want a list`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "pairs": [{"jobs": [1, 1]}]}`, `pairs[0].jobs: a job with itself`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "pairs": [{"jobs": [1, 2], "throughput": {"a": [1, 1], "b": [1, 1], "a": [2, 2]}}]}`, `pairs[0].throughput.a: is there twice`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "pairs": [{"jobs": [1, 3]}]}`, `pairs[0].jobs[1]: there is no job "3"`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "pairs": [{"jobs": [1, null]}]}`, `pairs[0].jobs[1]: null: want a number or a text`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "pairs": [{"jobs": [1, 2], "throughput": {"z": [1, 1]}}]}`, `pairs[0].throughput.z: there is no such type in cluster`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "pairs": [{"jobs": [1, 2], "throughput": {"a": 1}}]}`, `pairs[0].throughput.a: want a list of two numbers`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "pairs": [{"jobs": [1, 2], "throughput": {"a": [1, -1]}}]}`, `pairs[0].throughput.a[1]: -1: want 0, or 1e-9 to 1e12 steps/s`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "pairs": [{"jobs": [1, 2], "throughput": {"a": [1, "1"]}}]}`, `pairs[0].throughput.a[1]: string: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "pairs": [{"jobs": [1, 2], "throughput": {"a": [1, null]}}]}`, `pairs[0].throughput.a[1]: null: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "pairs": [{"jobs": [1, 2]}, {"jobs": [2, 1]}]}`, `pairs[1].jobs: the same two jobs as an earlier pair`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "pairs": [{"jobs": [1, 2], "throughput": []}]}`, `pairs[0].throughput: array: want an object`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}, "scale_factor": 2}], "pairs": [{"jobs": [1, 2], "throughput": {"a": [1, 1]}}]}`, `pairs[0].jobs: scale factors 1 and 2: want equal ones`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "entities": 1}`, `entities: number: want an object`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "entities": []}`, `entities: array: want an object`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "entities": {"x": 1}}`, `entities.x: number: want an object`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "entities": {"x": {}}}`, `entities: job "1" is in no entity`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "entities": {"x": {"jobs": 1}}}`, `entities.x.jobs: number: want a list`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "entities": {"x": {"jobs": [1, 2, 3]}}}`, `entities.x.jobs[2]: there is no job "3"`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "entities": {"x": {"jobs": [1, 1, 2]}}}`, `entities.x.jobs[1]: job "1" is already in entity x`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "entities": {"x": {"jobs": [1], "weight": 1}, "y": {"jobs": [1, 2]}}}`, `entities.y.jobs[0]: job "1" is already in entity x`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "entities": {"x": {"jobs": [1, 2], "weight": 0}}}`, `entities.x.weight: 0: want 1e-9 to 1e9`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "entities": {"x": {"jobs": [1, 2], "weight": "1"}}}`, `entities.x.weight: string: want a number`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "entities": {"x": {"jobs": [1, 2], "policy": "lifo"}}}`, `entities.x.policy: "lifo": want fairness or fifo`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 2, "steps_left": 10, "throughput": {"a": 1, "b": 2}}], "entities": {"x": {"jobs": [1, 2], "policy": 1}}}`, `entities.x.policy: number: want a text`},
		{`{"cluster": {"a": 1, "b": 2}, "prices": {"a": 1, "b": 2}, "jobs": [{"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}, {"id": 1, "steps_left": 10, "throughput": {"a": 1, "b": 2}}]}`, `jobs[1].id: "1" is also the id of jobs[0]`},
		{``, `is empty: want a JSON document`},
		{`{`, `line 1: no JSON: unexpected end of JSON input`},
		{`[]`, `array: want an object`},
		{`1`, `number: want an object`},
		{`"x"`, `string: want an object`},
		{`{"cluster":{"a":1},}`, `line 1: no JSON: invalid character '}' looking for beginning of object key string`},
		{`{"cluster":{"a":NaN},"jobs":[]}`, `line 1: no JSON: invalid character 'N' looking for beginning of value`},
		{`{"cluster":{"a":1},"jobs":[]} x`, `line 1: no JSON: invalid character 'x' after top-level value`},
		{`{"cluster":{"a":1},"jobs":[]}{}`, `line 1: no JSON: invalid character '{' after top-level value`},
		{`cluster: {a: 1}`, `line 1: no JSON: invalid character 'c' looking for beginning of value`},
		{`{"cluster":{"a":1,"a":2},"jobs":[]}`, `cluster.a: is there twice`},
		{`{"cluster":{"a":1},"jobs":[{"id":1,"steps_left":1e999,"throughput":{"a":1}}]}`, `jobs[0].steps_left: 1e999: want a number below 1.8e308`},
		{`{"cluster":{"a":1},"jobs":[{"id":1,"steps_left":1,"throughput":{"a":1e999}}]}`, `jobs[0].throughput.a: 1e999: want a number below 1.8e308`},
		{`{"cluster":{"a":1},"jobs":[{"id":1,"steps_left":1e-400,"throughput":{"a":1}}]}`, `jobs[0].steps_left: 1e-400: is out of range: it is so near to 0 that it would be read as 0`},
		{`{"cluster":{"a":1},"jobs":[{"id":1,"steps_left":1,"throughput":{"a":0.1e-330}}]}`, `jobs[0].throughput.a: 0.1e-330: is out of range: it is so near to 0`},
		{`{"cluster":{"a":1e999},"jobs":[]}`, `cluster.a: 1e999: want a number below 1.8e308`},
		{`{"cluster":{"a":1},"jobs":[{"id":1,"steps_left":1,"throughput":{"a":1,"a":2}}]}`, `jobs[0].throughput.a: is there twice`},
		{`{"cluster":{"a":1},
"jobs":[{"id":1,
"steps_left":1,,"throughput":{"a":1}}]}`, `line 3: no JSON: invalid character ',' looking for beginning of object key string`},
		{`{"cluster":{"":1},"jobs":[]}`, `cluster: has a type without a name`},
	} {
		if _, err := Parse([]byte(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s\ngot %v, want %s", c.text, err, c.want)
		}
	}
}

func TestParseAssignmentNamesWhatItRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"p": 0, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}]}]}`, `p: 0: want another number; the sum of logarithms is no power`},
		{`{"p": null, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}]}]}`, `p: is missing`},
		{`{"p": "1", "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}]}]}`, `p: string: want a number`},
		{`{"p": [], "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}]}]}`, `p: array: want a number`},
		{`{"p": 1e999, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}]}]}`, `p: 1e999: want a number below 1.8e308`},
		{`{"p": 20, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}, {"type": "a", "gpus": 2, "goodput": 1e11}]}]}`, `jobs[0].options[1].goodput: 1e+11: by min_gpus and the least of the options that is 1e+11; want at most 1e200 of it to the power p, 20`},
		{`{"p": 1, "capacity": {"a\n": 2}, "jobs": []}`, `capacity: "a\n": want one line of text`},
		{`{"p": 1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1e-300}]}]}`, `jobs[0].options[0].goodput: 1e-300: want 0 (unusable), or 1e-9 to 1e12`},
		{`{"p": 1, "lambda": -1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}]}]}`, `lambda: -1: want 0 to 1e12`},
		{`{"p": 1, "lambda": "1", "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}]}]}`, `lambda: string: want a number`},
		{`{"p": 1, "lambda": [], "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}]}]}`, `lambda: array: want a number`},
		{`{"p": 1, "lambda": 1.1, "capacity": null, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}]}]}`, `capacity: is missing`},
		{`{"p": 1, "lambda": 1.1, "capacity": [], "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}]}]}`, `capacity: array: want an object`},
		{`{"p": 1, "lambda": 1.1, "capacity": 1, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}]}]}`, `capacity: number: want an object`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": -1}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}]}]}`, `capacity.a: -1: want a whole number of accelerators, 0 to 1e9`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": "1"}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}]}]}`, `capacity.a: string: want a number`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": null}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}]}]}`, `capacity.a: null: want a number`},
		{`{"p": 1, "lamda": 1.1, "capacity": {"a": 2}, "jobs": []}`, `lamda: unknown field: want one of name, p, lambda, capacity, jobs`},
		{`{"p": 1, "capacity": {"a": 2}, "p": 2, "jobs": []}`, `p: is there twice`},
		{`{"p": NaN, "capacity": {"a": 2}, "jobs": []}`, `line 1: no JSON: invalid character 'N'`},
		{`{"p": 1, "capacity": {"a": 2}, "jobs": [{"id": 1, "min_gpu": 2, "options": []}]}`, `jobs[0].min_gpu: unknown field: want one of id, `},
		{`{"p": 1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [], "restart": {"age": 2}}]}`, `jobs[0].restart.age: unknown field: want one of age_s, count, cost_s`},
		{`{"p": 1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1}, {"type": "a", "gpus": 2, "throughput": 3}]}]}`, `jobs[0].options[1].throughput: unknown field: want one of type, gpus, goodput`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": null}`, `jobs: is missing`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": {}}`, `jobs: object: want a list`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": 1}`, `jobs: number: want a list`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [1]}`, `jobs[0]: number: want an object`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [null]}`, `jobs[0].id: is missing`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": null, "options": [{"type": "a", "gpus": 1, "goodput": 1}]}]}`, `jobs[0].id: null: want a number or a text`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": [], "options": [{"type": "a", "gpus": 1, "goodput": 1}]}]}`, `jobs[0].id: []: want a number or a text`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": true, "options": [{"type": "a", "gpus": 1, "goodput": 1}]}]}`, `jobs[0].id: true: want a number or a text`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}], "min_gpus": 0}]}`, `jobs[0].min_gpus: 0: want 1e-6 to 1e9`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}], "min_gpus": "1"}]}`, `jobs[0].min_gpus: string: want a number`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": null}]}`, `jobs[0].options: is missing`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": 1}]}`, `jobs[0].options: number: want a list`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": {}}]}`, `jobs[0].options: object: want a list`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [1]}]}`, `jobs[0].options[0]: number: want an object`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [null]}]}`, `jobs[0].options[0].type: is missing`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}], "current": -1}]}`, `jobs[0].current: -1: want an index into options, of which there are 1, or null`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}], "current": "0"}]}`, `jobs[0].current: string: want a number`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}], "restart": 1}]}`, `jobs[0].restart: number: want an object`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}], "restart": []}]}`, `jobs[0].restart: array: want an object`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}], "restart": {"age_s": -1}}]}`, `jobs[0].restart.age_s: -1: want 0, or 1e-6 to 1e12 s`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}], "restart": {"count": -1}}]}`, `jobs[0].restart.count: -1: want 0 to 1e12`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}], "restart": {"cost_s": -1}}]}`, `jobs[0].restart.cost_s: -1: want 0, or 1e-6 to 1e12 s`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}], "restart": {"age_s": "1"}}]}`, `jobs[0].restart.age_s: string: want a number`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}], "pinned": 1}]}`, `jobs[0].pinned: number: want true or false`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}], "pinned": "yes"}]}`, `jobs[0].pinned: string: want true or false`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": 1}], "pinned": true}]}`, `jobs[0].pinned: true, but current names no usable option`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "z", "gpus": 1, "goodput": 1}]}]}`, `jobs[0].options[0].type: there is no type "z" in capacity`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": 1, "gpus": 1, "goodput": 1}]}]}`, `jobs[0].options[0].type: number: want a text`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": null, "goodput": 1}]}]}`, `jobs[0].options[0].gpus: is missing`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 0, "goodput": 1}]}]}`, `jobs[0].options[0].gpus: 0: want a whole number of accelerators, 1 to 1e9`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": "1", "goodput": 1}]}]}`, `jobs[0].options[0].gpus: string: want a number`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": "1"}]}]}`, `jobs[0].options[0].goodput: string: want a number`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": [{"type": "a", "gpus": 1, "goodput": []}]}]}`, `jobs[0].options[0].goodput: array: want a number`},
		{`{"p": 1, "lambda": 1.1, "capacity": {"a": 2}, "jobs": [{"id": 1, "options": []}, {"id": "1", "options": []}]}`, `jobs[1].id: "1" is also the id of jobs[0]`},
	} {
		if _, err := ParseAssignment([]byte(c.text), Sia); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s\ngot %v, want %s", c.text, err, c.want)
		}
	}
	if _, err := ParseAssignment([]byte(`{"p":-3,"capacity":{"a":1},"jobs":[]}`), Pollux); err == nil || err.Error() != "p: -3: want -2 to 1" {
		t.Errorf("p of pollux: %v", err)
	}
}

func TestFilesOfWindowsAreRead(t *testing.T) {
	if _, err := Parse([]byte("\ufeff{\"cluster\":{\"a\":1},\r\n\"jobs\":[]}\r\n")); err != nil {
		t.Error(err)
	}
}

// FuzzFields holds the taking apart of objects to encoding/json.
func FuzzFields(f *testing.F) {
	for _, text := range []string{`{}`, ` { "a" : 1 , "b":[1, {"c":"}"}] } `, `{"a\n\"":null,"":"x\\"}`, `{"a":{"b":{}}}`, `null`, `[1]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &want) != nil {
			return
		}
		var got fields
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		members := make(map[string]json.RawMessage)
		for _, m := range got {
			members[string(m.name)] = json.RawMessage(m.value)
		}
		if want == nil {
			want = map[string]json.RawMessage{}
		}
		if diff := cmp.Diff(want, members); diff != "" && strings.ToValidUTF8(text, "") == text {
			t.Errorf("%q (-encoding/json +fields)\n%s", text, diff)
		}
	})
}

// FuzzParse: a document is a problem, or an error with a reason.
func FuzzParse(f *testing.F) {
	f.Add(twoJobs)
	f.Add(`{"cluster":{"a":1},"jobs":[null]}`)
	f.Add(`{"cl\u0075ster":{"a":1},"jobs":[{"id":"x","steps_left":1,"throughput":{"a":null},"note":{"a":[1,"]"]}}],"pairs":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse([]byte(text))
		var field *FieldError
		switch {
		case err == nil && !json.Valid([]byte(strings.TrimPrefix(text, "\ufeff"))):
			t.Errorf("%q is taken, and no JSON", text)
		case err == nil && len(p.Types) == 0:
			t.Errorf("%q is taken, and has no types", text)
		case err != nil && (!errors.As(err, &field) || field.Reason == ""):
			t.Errorf("%q: %v is no place with a reason", text, err)
		}
	})
}
