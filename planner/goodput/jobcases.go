package goodput

import "sync"

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

// Fields of queries, samples and probes.
var (
	placeFields  = []string{"nodes", "replicas"}
	pointFields  = []string{"nodes", "replicas", "atomic_bsz", "accum_steps"}
	sampleFields = []string{"nodes", "replicas", "atomic_bsz", "accum_time", "optim_time"}
	probeFields  = []string{"nodes", "replicas", "atomic_bsz"}
)

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
	{"model", []string{"job", "queries"}, func(n node) func() (any, error) {
		m := readModel(n.need("job"))
		return each(n, pointFields, func(q node) place {
			p := readPlace(q, 1)
			p.atomic, p.accum = q.need("atomic_bsz").count(1), q.need("accum_steps").count(0)
			return p
		}, func(p place) any {
			v := m.At(p.nodes, p.replicas, p.atomic, p.accum)
			return pointAnswer{v.ComputeSec, v.SyncSec, v.StepSec, v.Throughput, v.Efficiency, v.Goodput}
		})
	}},
	{"optimize", []string{"job", "variant", "queries"}, func(n node) func() (any, error) {
		m, variant := readModel(n.need("job")), readVariant(n)
		return each(n, placeFields, func(q node) place { return readPlace(q, 1) }, func(p place) any {
			best, _ := m.Best(variant, p.nodes, p.replicas)
			return choiceAnswer{best.Goodput, best.Atomic, best.Accum, best.Batch}
		})
	}},
	{"speedup", []string{"job", "variant", "base", "queries"}, func(n node) func() (any, error) {
		m, variant, base := readModel(n.need("job")), readVariant(n), place{nodes: 1, replicas: 1}
		if b := n.get("base"); b.there() {
			b.only(placeFields...)
			base = readPlace(b, 1)
		}
		speedups := sync.OnceValues(func() (*Speedups, bool) { return NewSpeedups(m, variant, base.nodes, base.replicas) })
		return each(n, placeFields, func(q node) place { return readPlace(q, 0) }, func(p place) any {
			s, ok := speedups()
			if !ok {
				return nil // nothing to compare with
			}
			return s.Of(p.nodes, p.replicas)
		})
	}},
	{"fit", []string{"samples", "probes"}, readFit},
}

func readFit(n node) func() (any, error) {
	var samples []Sample
	list := n.need("samples").list()
	for _, s := range list {
		s.only(sampleFields...)
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
			q.only(probeFields...)
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
