package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/goccy/go-yaml"

	"github.com/goodfleet/goodfleet/pricing/budget"
)

// wholeDocuments have every field of their kinds.
var wholeDocuments = map[string]string{
	"TrainingJob": `{apiVersion: goodfleet/v1, kind: TrainingJob, metadata: {name: GPT-L, team: Vision, project: chat}, spec: {
		submit: "2026-06-01T00:00:00Z", family: GPT, work: {epochs: 3, datasetSamples: 1e6, kind: limit},
		resources: {accelerators: [V100], acceleratorMemory: 12 GiB, replicas: {min: 2, max: 8, multipleOf: 2}, cpu: 4, memory: 30 GiB, disk: 100 GiB, network: ethernet, shareNodes: true},
		data: {uri: "s3://bucket/set", cloud: aws, region: us-east-1, size: 80 GiB, access: stream},
		checkpoint: {uri: "s3://bucket/points", size: 2 GiB, save: 30s, restore: 60s, every: 20m},
		weight: 2, valueOfTime: 3 USD/h, deadline: "2026-06-08T00:00:00Z", budget: 12.50 USD, maxPrice: 40 USD/h, clouds: [aws], regions: [us-east-1], markets: [spot, on-demand],
		throughput: {table: [{accelerator: V100, replicas: 2, nodes: 1, samplesPerSec: 507.5}, {accelerator: V100, replicas: 4, samplesPerSec: 950, estimated: true}]}}}`,
	"TrainingJob of a model": `{apiVersion: goodfleet/v1, kind: TrainingJob, metadata: {name: a}, spec: {
		work: {samples: 5000000}, resources: {replicas: [1, 2, 4]}, checkpoint: {every: auto}, throughput: {estimate: {class: bert-large, batch: 32}}}}`,
	"TrainingJob with a profile": `{apiVersion: goodfleet/v1, kind: TrainingJob, metadata: {name: a}, spec: {
		work: {samples: 5000000}, resources: {replicas: {min: 1, max: 16}}, profile: {inline: ` + wholeProfile + `}}}`,
	"Profile": wholeProfile,
	"Fleet": `{apiVersion: goodfleet/v1, kind: Fleet, spec: {
		machines: [{id: i-1, cloud: aws, account: "1", region: us-east-1, zone: use1-az1, type: p3.8xlarge, market: reserved, reservation: r, launched: "2026-08-01T00:00:00Z", hinted: "2026-08-02T00:00:00Z"}],
		jobs: [{name: GPT-L, machines: [i-1], replicas: 4, done: 1e6, spent: 12.50 USD, since: "2026-08-01T00:00:00Z"}],
		overrides: [{kind: exclude, subject: "aws/*/p4d.24xlarge/spot", who: ada, why: driver bug, until: "2026-08-01T00:00:00Z"}],
		shortages: [{cloud: aws, region: us-east-1, zone: use1-az2, family: P, type: p3.8xlarge, market: spot, reason: no capacity, until: "2026-08-01T01:00:00Z"}],
		budgets: [{name: b, team: Vision, dollarCounts: 1.5}]}}`,
	"Sweep": `{apiVersion: goodfleet/v1, kind: Sweep, spec: {jobs: [gavel-week], loads: [2.5], policies: [value], clusters: [bought], prices: [embedded],
		valuesOfTime: [3 USD/h], burnCaps: [20 USD/h], hazardScales: [1.5], seeds: [1, 2]}}`,
	"Config": `{apiVersion: goodfleet/v1, kind: Config, spec: {
		burnCap: 25 USD/h, budgets: [policies.yaml], clouds: [aws], regions: [us-east-1], markets: [spot], round: 60s, seed: 7, output: json, out: out, ledger: charges.jsonl, quarantine: refused.json,
		quotas: [{cloud: aws, account: "1", region: us-east-1, family: P, market: spot, limit: 64}],
		owned: [{name: block-1, cloud: aws, region: us-east-1, zone: use1-az6, type: p4d.24xlarge, count: 2}],
		limits: [{name: l, team: Vision, burnCap: 9 USD/h}, {name: m, spotShare: 0.5}],
		windows: [{name: w, allow: [moves], start: "0 20 * * 1-5", for: 8h, zone: Europe/Berlin}], teams: [{name: Vision, maxValueOfTime: 5 USD/h, maxWeight: 2}],
		destinations: [{name: ops, url: "https://example.com/hook", secretFile: key, allowPrivate: true}, {name: web, url: "https://example.com/hook", secretVariable: HOOK_KEY, caFile: ca.pem}],
		billing: {spot: per-second, image: suse, discounts: [{cloud: aws, market: on-demand, factor: "0.91"}], disks: [{cloud: aws, type: gp3, gb: 100, perMonth: 0.08 USD}], addresses: [gcp],
			capacities: [{owned: block-1, kind: block, from: "2026-11-01T00:00:00Z", until: "2026-11-08T00:00:00Z", upfront: 700 USD, team: Vision}],
			controller: {cloud: aws, region: us-east-1, type: m7i.large, rate: 0.1 USD/h},
			credits: [{source: promo, cloud: aws, amount: 50 USD, from: "2026-11-01T00:00:00Z", to: "2026-12-01T00:00:00Z", came: "2026-11-03T00:00:00Z"}]}}}`,
}

const wholeProfile = `{apiVersion: goodfleet/v1, kind: Profile, metadata: {name: ResNet-50}, spec: {
	batch: {initial: 128, max: 4096, minLocal: 2, maxLocal: 128, accumulation: true}, noise: {sqr: 1, var: 117}, gradientBytes: 102e6,
	memory: {sampleGiB: 0.1, tried: [{memGiB: 16, batch: 256, fits: false}]},
	types: [{accelerator: T4, maxReplicas: 16, theta: {alpha_c: 0.064, beta_c: 0.0045, alpha_n: 0.32, beta_n: 0.0062, alpha_r: 0.075, beta_r: 0.00087, gamma: 2.5}},
		{accelerator: V100, samples: [{nodes: 1, replicas: 1, atomic_bsz: 50, accum_time: 0.1, optim_time: 0.1}, {nodes: 1, replicas: 1, atomic_bsz: 100, accum_time: 0.18, optim_time: 0.19, count: 40}]}]}}`

// junk is what may stand where a value belongs.
var junk = []string{
	`.nan`, `.inf`, `-.inf`, `NaN`, `1e400`, `-1e400`, `1e308`, `1e-400`, `-1`, `0`, `-0.0`, `0.5`, `9223372036854775807`, `9223372036854775808`, `-9223372036854775809`, `1_000`, `0x10`,
	`""`, `" "`, `"\u0000"`, `"a\u001b[31mb"`, `"\u202eabc"`, `"\u009b"`, `"` + strings.Repeat("x", 5000) + `"`, `"` + strings.Repeat("9", 400) + ` USD"`, `"1e400 USD/h"`, `"-5 USD"`, `"NaN USD/h"`, `"-1s"`, `"1e9h"`, `"-3 GiB"`, `"1e300 GiB"`,
	`"0001-01-01T00:00:00Z"`, `"9999-12-31T23:59:59Z"`, `2026-13-45`, `"../../etc/passwd"`,
	`null`, `true`, `[]`, `[[]]`, `[1, 2]`, `{}`, `{a: 1}`, `"*"`, `"%s%n"`,
}

// everywhere are those of junk that are tried in each field; of the others, a third is, in
// turns.
var everywhere = []string{`.nan`, `1e400`, `-1`, `0`, `""`, `"\u0000"`, junk[slices.Index(junk, `"\u009b"`)+1], `true`, `{a: 1}`}

// eachLeaf calls visit with each value of a tree that holds no others, and with a function that
// puts another in its place.
func eachLeaf(value any, path string, put func(any), visit func(path string, put func(any))) {
	switch v := value.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			eachLeaf(v[k], path+"."+k, func(x any) { v[k] = x }, visit)
		}
	case []any:
		for i := range v {
			eachLeaf(v[i], path+"["+strconv.Itoa(i)+"]", func(x any) { v[i] = x }, visit)
		}
	default:
		visit(path, put)
		put(value)
	}
}

// Whatever stands in whichever field: a file is read, and then holds nothing that is no number,
// or refused in one short line that names file, place and field.
func TestJunkInAnyFieldIsRefusedByName(t *testing.T) {
	for name, text := range wholeDocuments {
		t.Run(name, func(t *testing.T) {
			if err := readWhole(text); err != nil {
				t.Fatalf("as it stands: %v", err)
			}
			var tree any
			if err := yaml.Unmarshal([]byte(text), &tree); err != nil {
				t.Fatal(err)
			}
			const here = "here-the-junk-stands"
			fields, tried := 0, 0
			eachLeaf(tree, "", func(x any) { tree = x }, func(path string, put func(any)) {
				put(here)
				fields++
				whole, err := json.Marshal(tree)
				if err != nil {
					t.Fatal(err)
				}
				for i, value := range junk {
					if (i+fields)%3 > 0 && !slices.Contains(everywhere, value) {
						continue
					}
					tried++
					judge(t, path, value, readWhole(strings.Replace(string(whole), `"`+here+`"`, value, 1)))
				}
			})
			if tried < 18*fields || fields < 10 {
				t.Errorf("%d values were tried in %d fields", tried, fields)
			}
		})
	}
}

// judge judges an error about a value at a path.
func judge(t *testing.T, path, value string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	value = Brief(value)
	var refused *Error
	if !errors.As(err, &refused) {
		t.Errorf("%s: %s: %v is no error of a file", path, value, err)
		return
	}
	said := Brief(err.Error())
	if refused.File != "whole.yaml" || refused.Line < 1 || refused.Path == "" {
		t.Errorf("%s: %s: %q names no field", path, value, said)
	}
	if strings.ContainsFunc(said, unicode.IsControl) || len(said) > 1000 {
		t.Errorf("%s: %s: %q is no short line", path, value, said)
	}
}

// readWhole reads a file as the commands do, and writes it again.
func readWhole(text string) error {
	const file = "whole.yaml"
	docs, err := Decode(file, []byte(text))
	if err != nil {
		return err
	}
	for _, d := range docs {
		switch {
		case d.TrainingJob != nil:
			jobs, err := Jobs(file, []byte(text), Sold{})
			if err != nil {
				return err
			}
			for _, j := range jobs {
				if _, err := EncodeJob(j); err != nil {
					return fmt.Errorf("a job that was read cannot be written: %w", err)
				}
			}
		case d.BudgetPolicy != nil:
			if _, err := Policies(file, []byte(text), budget.FromFile); err != nil {
				return err
			}
		case d.Config != nil:
			if err := d.checkConfig(); err != nil {
				return err
			}
		}
		for _, v := range []any{d.TrainingJob, d.Config, d.Fleet, d.Sweep} {
			if _, err := json.Marshal(v); err != nil {
				return fmt.Errorf("what was read cannot be written: %w", err)
			}
		}
	}
	return nil
}
