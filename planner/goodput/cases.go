package goodput

import (
	"encoding/json"
	"fmt"
	"math"
	"sync"
)

// Cases are questions to this package in the fixed format of examples: model,
// optimize, speedup and fit of one job, and the rules for clusters.
type Cases struct {
	cases, clusterCases []question
}

// question is one case, checked, with what computes its answer.
type question struct {
	id     string
	answer func() (any, error)
}

// Answers are the answers to Cases by their id, each in the shape of the case's
// expectation. An entry that has no answer is nil.
type Answers struct {
	Cases        map[string]any `json:"cases"`
	ClusterCases map[string]any `json:"cluster_cases"`
}

// casesVersion is the only version of the format.
const casesVersion = 1

// ParseCases reads the fixed format. It returns an *InputError with the path of
// the first value that is missing, of the wrong kind or out of range. Fields that
// only describe a case, and its expectation, are passed over.
func ParseCases(text []byte) (*Cases, error) {
	root, t := parseTree(text)
	if t.err == nil {
		root.keys()
	}
	if v := root.get("version"); v.there() && v.count(0) != casesVersion {
		t.fail(v.path, "want %d", casesVersion)
	}
	if !root.get("cases").there() && !root.get("cluster_cases").there() {
		t.fail("", "has neither cases nor cluster_cases")
	}
	c := &Cases{
		cases:        parseQuestions(root.get("cases"), jobKinds),
		clusterCases: parseQuestions(root.get("cluster_cases"), clusterKinds),
	}
	if err := t.error(); err != nil {
		return nil, err
	}
	return c, nil
}

// kind reads one kind of case.
type kind struct {
	name string
	read func(n node) func() (any, error)
}

func parseQuestions(n node, kinds []kind) []question {
	if !n.there() {
		return nil
	}
	var list []question
	seen := make(map[string]bool)
	for _, c := range n.list() {
		id := c.need("id").text()
		if seen[id] {
			c.tree.fail(c.get("id").path, "%q: is given twice", id)
		}
		seen[id] = true
		name := c.need("kind").text()
		if c.tree.err != nil {
			return nil
		}
		known := false
		for _, k := range kinds {
			if k.name == name {
				list = append(list, question{id, k.read(c)})
				known = true
			}
		}
		if !known {
			c.tree.fail(c.get("kind").path, "%q: unknown kind", name)
		}
	}
	return list
}

// Answer computes all answers.
func (c *Cases) Answer() (Answers, error) {
	a := Answers{Cases: map[string]any{}, ClusterCases: map[string]any{}}
	for _, part := range []struct {
		name string
		list []question
		to   map[string]any
	}{{"cases", c.cases, a.Cases}, {"cluster_cases", c.clusterCases, a.ClusterCases}} {
		for i, q := range part.list {
			answer, err := q.answer()
			if err == nil {
				_, err = json.Marshal(answer) // fails on what is not finite
			}
			if err != nil {
				return Answers{}, &InputError{fmt.Sprintf("%s[%d]", part.name, i), err.Error()}
			}
			part.to[q.id] = answer
		}
	}
	return a, nil
}

// each reads the queries of a case and answers them one by one.
func each[Q any](n node, read func(q node) Q, answer func(q Q) any) func() (any, error) {
	var queries []Q
	for _, q := range n.need("queries").list() {
		queries = append(queries, read(q))
	}
	return func() (any, error) {
		answers := make([]any, len(queries))
		for i, q := range queries {
			answers[i] = answer(q)
		}
		return answers, nil
	}
}

func readTheta(n node) Theta {
	list := n.list()
	if len(list) != 7 && n.tree.err == nil {
		n.tree.fail(n.path, "has %d numbers: want the 7 from alpha_c to gamma", len(list))
	}
	if n.tree.err != nil {
		return Theta{}
	}
	var a [7]float64
	for i, v := range list {
		a[i] = v.number()
	}
	t := thetaOf(a)
	if field, reason := t.check(); field != "" {
		for i, name := range thetaNames {
			if name == field {
				n.tree.fail(list[i].path, "%s: %s", field, reason)
			}
		}
	}
	return t
}

// readModel reads the job of a case.
func readModel(n node) Model {
	n.only("theta", "sqr", "var", "m0", "max_batch", "min_local", "max_local", "accumulation")
	m := Model{Theta: readTheta(n.need("theta")), Noise: UnknownNoise}
	if n.get("sqr").there() || n.get("var").there() {
		m.Noise = Noise{Sqr: n.need("sqr").atLeast(0), Var: n.need("var").atLeast(0)}
	}
	m.Limits.InitialBatch = n.need("m0").count(1)
	for _, f := range []struct {
		name string
		to   *int
	}{{"max_batch", &m.Limits.MaxBatch}, {"min_local", &m.Limits.MinLocal}, {"max_local", &m.Limits.MaxLocal}} {
		if v := n.get(f.name); v.there() {
			*f.to = v.count(1)
		}
	}
	if v := n.get("accumulation"); v.there() {
		m.Limits.Accumulation = v.flag()
	}
	if field, reason := m.Limits.check(); field != "" {
		n.tree.fail(n.get(field).path, "%s", reason)
	}
	return m
}

func readVariant(n node) Variant {
	v := n.need("variant")
	variant, err := ParseVariant(v.text())
	if err != nil {
		n.tree.fail(v.path, "%v", err)
	}
	return variant
}

// place is an allocation, and a batch where a query has one.
type place struct{ nodes, replicas, atomic, accum int }

// readPlace reads an allocation; least is 0 where none at all may stand.
func readPlace(n node, least int) place {
	p := place{nodes: n.need("nodes").count(least), replicas: n.need("replicas").count(least)}
	if p.nodes > p.replicas || p.nodes == 0 && p.replicas > 0 {
		n.tree.fail(n.get("nodes").path, "%d: want 1 to the %d replicas", p.nodes, p.replicas)
	}
	return p
}

type pointAnswer struct {
	TGrad      float64 `json:"t_grad"`
	TSync      float64 `json:"t_sync"`
	TIter      float64 `json:"t_iter"`
	Throughput float64 `json:"throughput"`
	Efficiency float64 `json:"efficiency"`
	Goodput    float64 `json:"goodput"`
}

type choiceAnswer struct {
	Goodput    float64 `json:"goodput"`
	AtomicBsz  int     `json:"atomic_bsz"`
	AccumSteps int     `json:"accum_steps"`
	BatchSize  int     `json:"batch_size"`
}

type fitAnswer struct {
	Theta     [7]float64         `json:"theta"`
	Objective float64            `json:"objective"`
	Held      map[string]float64 `json:"held"`
	Probes    []float64          `json:"probe_t_optim"`
}

// jobKinds are the kinds of cases about one job.
var jobKinds = []kind{
	{"model", func(n node) func() (any, error) {
		m := readModel(n.need("job"))
		return each(n, func(q node) place {
			p := readPlace(q, 1)
			p.atomic, p.accum = q.need("atomic_bsz").count(1), q.need("accum_steps").count(0)
			return p
		}, func(p place) any {
			v := m.At(p.nodes, p.replicas, p.atomic, p.accum)
			return pointAnswer{v.ComputeSec, v.SyncSec, v.StepSec, v.Throughput, v.Efficiency, v.Goodput}
		})
	}},
	{"optimize", func(n node) func() (any, error) {
		m, variant := readModel(n.need("job")), readVariant(n)
		return each(n, func(q node) place { return readPlace(q, 1) }, func(p place) any {
			best, _ := m.Best(variant, p.nodes, p.replicas)
			return choiceAnswer{best.Goodput, best.Atomic, best.Accum, best.Batch}
		})
	}},
	{"speedup", func(n node) func() (any, error) {
		m, variant, base := readModel(n.need("job")), readVariant(n), place{nodes: 1, replicas: 1}
		if b := n.get("base"); b.there() {
			base = readPlace(b, 1)
		}
		speedups := sync.OnceValues(func() (*Speedups, bool) { return NewSpeedups(m, variant, base.nodes, base.replicas) })
		return each(n, func(q node) place { return readPlace(q, 0) }, func(p place) any {
			s, ok := speedups()
			if !ok {
				return nil // nothing to compare with
			}
			return s.Of(p.nodes, p.replicas)
		})
	}},
	{"fit", readFit},
}

func readFit(n node) func() (any, error) {
	var samples []Sample
	list := n.need("samples").list()
	for _, s := range list {
		p := readPlace(s, 1)
		samples = append(samples, Sample{
			Nodes: p.nodes, Replicas: p.replicas, AtomicBatch: s.need("atomic_bsz").count(1),
			AccumSec: s.need("accum_time").number(), OptimSec: s.need("optim_time").number(),
		})
		if field, reason := samples[len(samples)-1].check(); field != "" {
			n.tree.fail(s.get(field).path, "%s", reason)
		}
	}
	if len(list) == 0 {
		n.tree.fail(n.get("samples").path, "%v", ErrNoSamples)
	}
	var probes []place
	if q := n.get("probes"); q.there() {
		for _, q := range q.list() {
			p := readPlace(q, 1)
			p.atomic = q.need("atomic_bsz").count(1)
			probes = append(probes, p)
		}
	}
	return func() (any, error) {
		res, err := Fit(samples, FitOptions{})
		if err != nil {
			return nil, err
		}
		a := fitAnswer{Theta: res.Theta.Array(), Objective: res.Objective, Held: map[string]float64{}, Probes: []float64{}}
		for _, h := range res.Held {
			a.Held[h.Name] = h.Value
		}
		for _, p := range probes {
			a.Probes = append(a.Probes, res.Theta.OptimSec(p.nodes, p.replicas, p.atomic))
		}
		return a, nil
	}
}

// numbers reads a list of numbers of at least least.
func numbers(n node, least float64) []float64 {
	var list []float64
	for _, v := range n.list() {
		list = append(list, v.atLeast(least))
	}
	return list
}

// clusterKinds are the kinds of cases about several jobs, or a cluster.
var clusterKinds = []kind{
	{"power_mean", func(n node) func() (any, error) {
		type query struct {
			values   []float64
			p, floor float64
		}
		return each(n, func(q node) query {
			read := query{values: numbers(q.need("values"), 0), p: q.need("p").number()}
			if len(read.values) == 0 {
				q.tree.fail(q.get("values").path, "is empty")
			}
			if f := q.get("floor"); f.there() {
				read.floor = f.atLeast(0)
			}
			return read
		}, func(q query) any { return PowerMean(q.values, q.p, q.floor) })
	}},
	{"realloc_factor", func(n node) func() (any, error) {
		type query struct {
			age, delay float64
			restarts   int
		}
		return each(n, func(q node) query {
			return query{age: q.need("age").atLeast(0), restarts: q.need("restarts").count(0), delay: q.need("delay").atLeast(0)}
		}, func(q query) any { return RestartFactor(q.age, q.restarts, q.delay) })
	}},
	{"utility", func(n node) func() (any, error) {
		type query struct {
			speedups []float64
			gpus     int
		}
		return each(n, func(q node) query {
			return query{numbers(q.need("speedups"), 0), q.need("active_gpus").count(0)}
		}, func(q query) any { return Utility(q.speedups, q.gpus) })
	}},
	{"desired_nodes", func(n node) func() (any, error) {
		type query struct {
			front   []FrontPoint
			current int
		}
		return each(n, func(q node) query {
			read := query{current: q.need("current").count(0)}
			for _, p := range q.need("front").list() {
				values := p.list()
				if len(values) != 3 {
					q.tree.fail(p.path, "want performance, nodes and utility")
					continue
				}
				read.front = append(read.front, FrontPoint{values[0].number(), values[1].count(0), values[2].number()})
			}
			return read
		}, func(q query) any { return DesiredNodes(q.front, q.current, PublishedBand) })
	}},
	{"paper_autoscale", func(n node) func() (any, error) {
		type query struct {
			model                Model
			perNode, nodes, most int
		}
		type sizeAnswer struct {
			Nodes    int     `json:"nodes"`
			Fraction float64 `json:"fraction_now"`
		}
		return each(n, func(q node) query {
			read := query{readModel(q.need("job")), q.need("gpus_per_node").count(1), q.need("nodes").count(1), q.need("max_nodes").count(1)}
			if total := math.Max(float64(read.nodes), float64(read.most)) * float64(read.perNode); total > maxCount || read.most > mostNodes {
				q.tree.fail(q.get("max_nodes").path, "%d: is more than can be searched", read.most)
			}
			return read
		}, func(q query) any {
			nodes, fraction, ok := q.model.PaperNodes(Clamp, PublishedGrowth, q.perNode, q.nodes, q.most)
			if !ok {
				return nil
			}
			return sizeAnswer{nodes, fraction}
		})
	}},
}

// mostNodes bounds the sizes that are tried one by one.
const mostNodes = 1 << 16
