package goodput

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// Names of the profile document, in the form that all documents of the project
// share.
const (
	profileVersion = "goodfleet/v1"
	profileKind    = "Profile"
)

// ProfileDocument is a profile as it is written down. Parse makes a Profile of one;
// a Profile writes itself as one.
type ProfileDocument struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Metadata   metadataForm `json:"metadata"`
	Spec       profileForm  `json:"spec"`
}

type metadataForm struct {
	Name string `json:"name"`
}

type profileForm struct {
	Batch         *batchForm  `json:"batch,omitempty"`
	Noise         *noiseForm  `json:"noise,omitempty"`
	GradientBytes float64     `json:"gradientBytes,omitempty"`
	Memory        *memoryForm `json:"memory,omitempty"`
	Types         []typeForm  `json:"types,omitempty"`
	Table         []entryForm `json:"table,omitempty"`
}

type batchForm struct {
	Initial      int  `json:"initial"`
	Max          int  `json:"max,omitempty"`
	MinLocal     int  `json:"minLocal,omitempty"`
	MaxLocal     int  `json:"maxLocal,omitempty"`
	Accumulation bool `json:"accumulation,omitempty"`
}

type noiseForm struct {
	Sqr    float64     `json:"sqr"`
	Var    float64     `json:"var"`
	Course []phaseForm `json:"course,omitempty"`
}

type phaseForm struct {
	From float64 `json:"from"`
	Sqr  float64 `json:"sqr"`
	Var  float64 `json:"var"`
}

type memoryForm struct {
	StateGiB  float64   `json:"stateGiB,omitempty"`
	SampleGiB float64   `json:"sampleGiB,omitempty"`
	Tried     []tryForm `json:"tried,omitempty"`
}

type tryForm struct {
	MemGiB float64 `json:"memGiB"`
	Batch  int     `json:"batch"`
	Fits   bool    `json:"fits"`
}

type typeForm struct {
	Accelerator string       `json:"accelerator"`
	Kind        string       `json:"kind,omitempty"`
	MaxLocal    int          `json:"maxLocal,omitempty"`
	MaxReplicas int          `json:"maxReplicas,omitempty"`
	Theta       *thetaForm   `json:"theta,omitempty"`
	Samples     []sampleForm `json:"samples,omitempty"`
}

type thetaForm struct {
	AlphaC float64 `json:"alpha_c"`
	BetaC  float64 `json:"beta_c"`
	AlphaN float64 `json:"alpha_n"`
	BetaN  float64 `json:"beta_n"`
	AlphaR float64 `json:"alpha_r"`
	BetaR  float64 `json:"beta_r"`
	Gamma  float64 `json:"gamma"`
}

type sampleForm struct {
	Nodes       int     `json:"nodes"`
	Replicas    int     `json:"replicas"`
	AtomicBatch int     `json:"atomic_bsz"`
	AccumSec    float64 `json:"accum_time"`
	OptimSec    float64 `json:"optim_time"`
	Count       int     `json:"count,omitempty"`
}

type entryForm struct {
	Accelerator   string  `json:"accelerator"`
	Replicas      int     `json:"replicas"`
	Nodes         int     `json:"nodes,omitempty"`
	SamplesPerSec float64 `json:"samplesPerSec"`
	Estimated     bool    `json:"estimated,omitempty"`
}

// MarshalJSON writes the profile as a document of kind Profile.
func (p *Profile) MarshalJSON() ([]byte, error) {
	d, err := p.Document()
	if err != nil {
		return nil, err
	}
	return json.Marshal(d)
}

// Document is the written form of the profile.
func (p *Profile) Document() (ProfileDocument, error) {
	if err := p.check(); err != nil {
		return ProfileDocument{}, fmt.Errorf("profile %q: %w", p.Name, err)
	}
	d := ProfileDocument{APIVersion: profileVersion, Kind: profileKind, Metadata: metadataForm{p.Name}}
	for _, e := range p.Table {
		d.Spec.Table = append(d.Spec.Table, entryForm(e))
	}
	if len(p.Table) > 0 {
		return d, nil
	}
	l := p.Limits
	d.Spec.Batch = &batchForm{l.InitialBatch, l.MaxBatch, l.MinLocal, l.MaxLocal, l.Accumulation}
	if p.Noise != nil {
		form := noiseForm{Sqr: p.Noise.Sqr, Var: p.Noise.Var}
		for _, f := range p.Course {
			form.Course = append(form.Course, phaseForm{f.From, f.Noise.Sqr, f.Noise.Var})
		}
		d.Spec.Noise = &form
	}
	d.Spec.GradientBytes = p.GradientBytes
	if m := p.Memory; m.StateGiB > 0 || m.SampleGiB > 0 || len(m.Tried) > 0 {
		form := memoryForm{StateGiB: m.StateGiB, SampleGiB: m.SampleGiB}
		for _, t := range m.Tried {
			form.Tried = append(form.Tried, tryForm(t))
		}
		d.Spec.Memory = &form
	}
	for _, t := range p.Types {
		theta := thetaForm(t.Theta)
		form := typeForm{Accelerator: t.Accelerator, Kind: t.Kind, MaxLocal: t.MaxLocal, MaxReplicas: t.MaxReplicas, Theta: &theta}
		for _, s := range t.Samples {
			form.Samples = append(form.Samples, sampleForm(s))
		}
		d.Spec.Types = append(d.Spec.Types, form)
	}
	return d, nil
}

// Parse makes a profile of a document, with the errors of ParseProfile.
func (d ProfileDocument) Parse() (*Profile, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	return ParseProfile(text)
}

// ParseProfile reads a document of kind Profile. It returns an *InputError with
// the path of the first value that is missing, unknown, of the wrong kind or out
// of range. A type that has samples and no theta is fitted.
func ParseProfile(text []byte) (*Profile, error) {
	root, t := parseTree(text)
	root.only("apiVersion", "kind", "metadata", "spec")
	for _, f := range [][2]string{{"apiVersion", profileVersion}, {"kind", profileKind}} {
		if n := root.need(f[0]); n.text() != f[1] {
			t.fail(n.path, "want %q", f[1])
		}
	}
	metadata := root.need("metadata")
	metadata.only("name")
	p := &Profile{Name: metadata.need("name").text()}
	spec := root.need("spec")
	spec.only("batch", "noise", "gradientBytes", "memory", "types", "table")
	if n := spec.get("table"); n.there() {
		p.Table = readTable(n)
		for _, other := range []string{"batch", "noise", "gradientBytes", "memory", "types"} {
			if o := spec.get(other); o.there() {
				t.fail(o.path, "does not go with a table")
			}
		}
	} else {
		p.read(spec)
	}
	if err := t.error(); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		if bad, ok := err.(*InputError); ok {
			bad.Field = "spec." + bad.Field
		}
		return nil, err
	}
	return p, nil
}

// optional reads a whole number of at least 1 that may be absent.
func (n node) optional(name string) int {
	if f := n.get(name); f.there() {
		return f.count(1)
	}
	return 0
}

func (p *Profile) read(spec node) {
	batch := spec.need("batch")
	batch.only("initial", "max", "minLocal", "maxLocal", "accumulation")
	p.Limits = Limits{
		InitialBatch: batch.need("initial").count(1), MaxBatch: batch.optional("max"),
		MinLocal: batch.optional("minLocal"), MaxLocal: batch.optional("maxLocal"),
	}
	if f := batch.get("accumulation"); f.there() {
		p.Limits.Accumulation = f.flag()
	}
	if n := spec.get("noise"); n.there() {
		n.only("sqr", "var", "course")
		p.Noise = &Noise{Sqr: n.need("sqr").atLeast(0), Var: n.need("var").atLeast(0)}
		p.Course = readCourse(n.get("course"))
	}
	if n := spec.get("gradientBytes"); n.there() {
		p.GradientBytes = n.atLeast(0)
	}
	if n := spec.get("memory"); n.there() {
		n.only("stateGiB", "sampleGiB", "tried")
		for _, f := range []struct {
			name string
			to   *float64
		}{{"stateGiB", &p.Memory.StateGiB}, {"sampleGiB", &p.Memory.SampleGiB}} {
			if v := n.get(f.name); v.there() {
				*f.to = v.atLeast(0)
			}
		}
		if list := n.get("tried"); list.there() {
			for _, v := range list.list() {
				v.only("memGiB", "batch", "fits")
				p.Memory.Tried = append(p.Memory.Tried, Try{v.need("memGiB").atLeast(0), v.need("batch").count(1), v.need("fits").flag()})
			}
		}
	}
	for _, n := range spec.need("types").list() {
		p.Types = append(p.Types, readType(n))
	}
	slices.SortFunc(p.Types, func(a, b TypeProfile) int { return cmp.Compare(a.Accelerator, b.Accelerator) })
}

// readCourse reads the noise later in training.
func readCourse(n node) (course []Phase) {
	if !n.there() {
		return nil
	}
	last := 0.0
	for _, v := range n.list() {
		v.only("from", "sqr", "var")
		f := Phase{v.need("from").atLeast(0), Noise{Sqr: v.need("sqr").atLeast(0), Var: v.need("var").atLeast(0)}}
		if !(f.From > last) && n.tree.err == nil {
			n.tree.fail(v.get("from").path, "%g: want more than the %g before", f.From, last)
		}
		last = f.From
		course = append(course, f)
	}
	return course
}

func readType(n node) TypeProfile {
	n.only("accelerator", "kind", "maxLocal", "maxReplicas", "theta", "samples")
	t := TypeProfile{Accelerator: n.need("accelerator").text(), Kind: KindGPU, MaxLocal: n.optional("maxLocal"), MaxReplicas: n.optional("maxReplicas")}
	if k := n.get("kind"); k.there() {
		if t.Kind = k.text(); t.Kind != KindGPU && t.Kind != KindTPU {
			n.tree.fail(k.path, "%q: want gpu or tpu", t.Kind)
		}
	}
	if list := n.get("samples"); list.there() {
		for _, v := range list.list() {
			v.only("nodes", "replicas", "atomic_bsz", "accum_time", "optim_time", "count")
			s := Sample{
				Nodes: v.need("nodes").count(1), Replicas: v.need("replicas").count(1), AtomicBatch: v.need("atomic_bsz").count(1),
				AccumSec: v.need("accum_time").number(), OptimSec: v.need("optim_time").number(), Count: v.optional("count"),
			}
			if field, reason := s.check(); field != "" {
				n.tree.fail(v.get(field).path, "%s", reason)
			}
			t.Samples = append(t.Samples, s)
		}
	}
	theta := n.get("theta")
	if !theta.there() && len(t.Samples) == 0 {
		n.tree.fail(theta.path, "is missing, and there are no samples to fit it to")
	}
	if n.tree.err != nil {
		return t
	}
	if !theta.there() {
		if _, err := t.refit(t.Samples, FitOptions{}); err != nil {
			n.tree.fail(n.path, "%v", err)
		}
		return t
	}
	theta.only(thetaNames[:]...)
	var a [7]float64
	for i, name := range thetaNames {
		a[i] = theta.need(name).number()
	}
	t.Theta = thetaOf(a)
	if field, reason := t.Theta.check(); field != "" {
		n.tree.fail(theta.get(field).path, "%s", reason)
	}
	if len(t.Samples) > 0 && n.tree.err == nil {
		t.learn()
	}
	return t
}

func readTable(n node) []TableEntry {
	var table []TableEntry
	for _, v := range n.list() {
		v.only("accelerator", "replicas", "nodes", "samplesPerSec", "estimated")
		e := TableEntry{
			Accelerator: v.need("accelerator").text(), Replicas: v.need("replicas").count(1), Nodes: v.optional("nodes"),
			SamplesPerSec: v.need("samplesPerSec").number(),
		}
		if f := v.get("estimated"); f.there() {
			e.Estimated = f.flag()
		}
		switch {
		case e.Accelerator == "":
			n.tree.fail(v.get("accelerator").path, "is empty")
		case e.Nodes > e.Replicas:
			n.tree.fail(v.get("nodes").path, "%d: want at most the %d replicas", e.Nodes, e.Replicas)
		case e.SamplesPerSec <= 0:
			n.tree.fail(v.get("samplesPerSec").path, "%g: want a positive number", e.SamplesPerSec)
		}
		table = append(table, e)
	}
	if len(table) == 0 {
		n.tree.fail(n.path, "is empty")
	}
	return table
}
