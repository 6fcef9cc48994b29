package planner

import (
	"fmt"
	"math"
	"slices"

	"github.com/goodfleet/goodfleet/planner/goodput"
	"github.com/goodfleet/goodfleet/planner/throughput"
)

// Beliefs is what is believed of the speeds of jobs: what they were handed in with,
// corrected by what was measured while they ran. Jobs of one family that were
// handed in with the same speeds share what is found out; the noise of its
// gradients, which changes in the course of training, each job has for itself.
//
// It is not safe for concurrent use, and neither are its jobs' curves.
type Beliefs struct {
	families map[string][]*familyBelief // by name: one for each profile that the family has
	jobs     map[JobID]*jobBelief
	tables   *goodput.Tables
	owned    []string
}

// familyBelief is what the jobs of a family have in common.
type familyBelief struct {
	tracker *throughput.Tracker // of a table; nil: the family adapts
	barred  []bar
	given   *goodput.Profile // as the first of them came with it
	profile *goodput.Profile // as it is believed; replaced, never changed
	version int              // counts what was found out
}

// bar is an accelerator on which jobs that cannot adapt ran out of memory.
type bar struct {
	accelerator string
	memGiB      float64 // 0: not known
}

// jobBelief is what is believed of one job.
type jobBelief struct {
	given     *Job
	family    *familyBelief
	took      map[MeasuredPlace]Measurement // by gang and place
	estimator *goodput.NoiseEstimator
	noise     *goodput.Noise // nil: as it was handed in with

	now     *Job // as believed, at version; nil: not made yet
	version int
}

// NewBeliefs begins with nothing found out.
func NewBeliefs() *Beliefs {
	return &Beliefs{families: map[string][]*familyBelief{}, jobs: map[JobID]*jobBelief{}, tables: goodput.NewTables(goodput.Clamp, nil)}
}

// Own tells of which accelerators there is no more than is owned: growth there
// costs nothing, so that what was not measured is taken to be nearly free.
func (b *Beliefs) Own(accelerators []string) {
	if slices.Equal(accelerators, b.owned) {
		return
	}
	b.owned = slices.Clone(accelerators)
	for _, jb := range b.jobs {
		jb.now = nil
	}
}

// NextRound forgets what plans did not ask for since it was last called.
func (b *Beliefs) NextRound() { b.tables.NextRound() }

// Forget lets go of a job that has ended. What it found out stays with its family.
func (b *Beliefs) Forget(id JobID) { delete(b.jobs, id) }

// Of is the job with its speeds as they are believed now. It is the same pointer
// until something is found out.
func (b *Beliefs) Of(j *Job) *Job {
	jb := b.of(j)
	if jb.family == nil {
		return j
	}
	if jb.now == nil || jb.version != jb.family.version {
		jb.now, jb.version = b.believed(jb), jb.family.version
	}
	return jb.now
}

// of finds what is believed of a job, beginning with what it was handed in with.
func (b *Beliefs) of(j *Job) *jobBelief {
	jb, ok := b.jobs[j.ID]
	if !ok || jb.given != j {
		jb = &jobBelief{given: j, family: b.family(j), took: map[MeasuredPlace]Measurement{}}
		b.jobs[j.ID] = jb
	}
	return jb
}

// family finds the belief that j shares; nil for a curve of which nothing can be
// found out.
func (b *Beliefs) family(j *Job) *familyBelief {
	name := "family " + j.Family
	if j.Family == "" {
		name = "job " + string(j.ID)
	}
	made := &familyBelief{}
	var same func(f *familyBelief) bool
	switch c := j.Curve.(type) {
	case profileCurve:
		same = func(f *familyBelief) bool { return f.tracker != nil && f.tracker.Profile().Equal(c.profile) }
		made.tracker = throughput.NewTracker(c.profile)
	case goodputCurve:
		same = func(f *familyBelief) bool {
			return f.tracker == nil && (f.given == c.profile || f.given.Equal(c.profile))
		}
		made.given, made.profile = c.profile, c.profile
	default:
		return nil
	}
	if i := slices.IndexFunc(b.families[name], same); i >= 0 {
		return b.families[name][i]
	}
	b.families[name] = append(b.families[name], made)
	return made
}

// believed makes the job as it is believed now.
func (b *Beliefs) believed(jb *jobBelief) *Job {
	f := jb.family
	job := *jb.given
	if f.tracker != nil {
		if f.version == 0 {
			return jb.given
		}
		job.Curve = newTrackedCurve(f.tracker, f.barred, jb.given.Curve)
		return &job
	}
	profile := *f.profile
	if profile.Noise = jb.given.Curve.(goodputCurve).profile.Noise; jb.noise != nil {
		profile.Noise = jb.noise
	}
	growth := jb.given.Curve.(goodputCurve).growth
	growth.Owned, growth.Tables = b.owned, b.tables
	curve, err := GoodputCurve(&profile, growth)
	if err != nil { // only a table fails, and this is none
		return jb.given
	}
	job.Curve = curve
	return &job
}

// Finding is what a measurement changed.
type Finding struct {
	Changed bool   // what is believed of some job is no longer the same
	Wrong   string // what was expected and what was seen, where these are far apart; "": they are not
}

// Measurements of a gang's place that differ by less than this say nothing new,
// and one that differs less from what was measured before confirms it.
const measuredAlike = 0.02

// Observe takes over what was measured of a job. It returns an error, and learns
// nothing, for a measurement that cannot be.
func (b *Beliefs) Observe(j *Job, m Measurement) (Finding, error) {
	jb := b.of(j)
	if jb.family == nil {
		return Finding{}, nil
	}
	var found Finding
	key := m.Place()
	last, again := jb.took[key]
	if !again || !last.alike(m) {
		var err error
		if jb.family.tracker != nil {
			found, err = jb.family.observeTable(m)
		} else {
			found, err = jb.family.observeProfile(m, jb)
		}
		if err != nil {
			return Finding{}, fmt.Errorf("measurement of %s: %w", j.ID, err)
		}
		jb.took[key] = m
		if found.Changed {
			jb.family.version++
		}
	}
	if jb.family.tracker == nil && jb.observeNoise(m) {
		jb.now, found.Changed = nil, true
	}
	return found, nil
}

// alike reports whether two measurements of one place say the same.
func (m Measurement) alike(o Measurement) bool {
	near := func(a, b float64) bool { return a == b || math.Abs(math.Log(a/b)) < measuredAlike }
	return near(m.SamplesPerSec, o.SamplesPerSec) && near(m.AccumSec, o.AccumSec) && near(m.OptimSec, o.OptimSec)
}

// observeTable corrects the throughputs of a family.
func (f *familyBelief) observeTable(m Measurement) (found Finding, err error) {
	if m.OutOfMemory {
		f.barred = append(f.barred[:len(f.barred):len(f.barred)], bar{m.Accelerator, m.MemGiB})
		return Finding{Changed: true}, nil
	}
	if m.SamplesPerSec == 0 {
		return Finding{}, nil
	}
	believed, estimated, ok := f.tracker.Speed(m.Accelerator, m.Nodes, m.Replicas)
	if ok && !estimated && math.Abs(math.Log(m.SamplesPerSec/believed)) < measuredAlike {
		return Finding{}, nil
	}
	next := f.tracker.Clone() // curves keep the old one
	correction, wrong, err := next.Observe(throughput.Entry{
		Accelerator: m.Accelerator, Nodes: m.Nodes, Replicas: m.Replicas, SamplesPerSec: m.SamplesPerSec,
	})
	if err != nil {
		return Finding{}, err
	}
	f.tracker = next
	if wrong {
		found.Wrong = correction.String()
	}
	found.Changed = true
	return found, nil
}

// observeProfile refits the step times of a family.
func (f *familyBelief) observeProfile(m Measurement, jb *jobBelief) (found Finding, err error) {
	next := *f.profile
	next.Types = slices.Clone(f.profile.Types)
	batch := m.AtomicBatch
	if m.OutOfMemory {
		if batch == 0 {
			batch = max(1, next.Limits.MinLocal) // nothing at all fits
		}
		next.Memory = next.Memory.Observe(goodput.Try{MemGiB: m.MemGiB, Batch: batch})
		f.profile = &next
		return Finding{Changed: true}, nil
	}
	sample, ok := m.sample()
	if !ok {
		return Finding{}, nil
	}
	if fits, bounded := next.Memory.MaxLocal(m.MemGiB); bounded && m.MemGiB > 0 && batch > fits {
		next.Memory = next.Memory.Observe(goodput.Try{MemGiB: m.MemGiB, Batch: batch, Fits: true})
	}
	growth := jb.given.Curve.(goodputCurve).growth
	found.Wrong = unexpected(GoodputPredictor(f.profile, growth), m)
	fitted, known := next.Type(m.Accelerator)
	var refit goodput.TypeProfile
	if known {
		refit, _, err = fitted.Add(sample)
	} else {
		refit, _, err = goodput.NewTypeProfile(m.Accelerator, m.Kind, []goodput.Sample{sample})
	}
	if err != nil {
		return Finding{}, err
	}
	next.Put(refit)
	f.profile, found.Changed = &next, true
	return found, nil
}

// wrongDeviations is from how many standard deviations on a step time was wrong,
// and scatter the standard deviation of a measured one.
const (
	wrongDeviations = 2
	scatter         = 0.05
)

// unexpected says that a pass took another time than was expected; "": it did not.
func unexpected(r *goodput.Predictor, m Measurement) string {
	p, ok := r.At(m.Accelerator, m.Nodes, m.Replicas)
	model, known := r.Model(m.Accelerator, m.Nodes, m.Replicas)
	if !ok || !known {
		return ""
	}
	nodes := m.Nodes
	if m.Kind == goodput.KindTPU {
		nodes = 1
	}
	expected := model.Theta.OptimSec(nodes, m.Replicas, m.AtomicBatch)
	if math.Abs(math.Log(m.OptimSec/expected)) <= wrongDeviations*math.Hypot(p.LogSD, scatter) {
		return ""
	}
	return fmt.Sprintf("%d × %s on %d machines: expected %.4g s a pass of %d samples, saw %.4g s", m.Replicas, m.Accelerator, m.Nodes, expected, m.AtomicBatch, m.OptimSec)
}

// observeNoise takes over the gradient statistics, and reports whether they moved
// by so much that another batch may be the best.
func (jb *jobBelief) observeNoise(m Measurement) bool {
	seen, ok := goodput.Noise{}, false
	if m.Noise != nil {
		seen, ok = goodput.NewNoise(m.Noise.Sqr, m.Noise.Var)
	}
	if len(m.Steps) > 0 {
		next := goodput.NewNoiseEstimator(jb.family.profile.Limits.InitialBatch)
		if jb.estimator != nil {
			next = jb.estimator
		}
		for _, s := range m.Steps {
			next.Add(s)
		}
		jb.estimator = next
		seen, ok = next.Noise()
	}
	if !ok || jb.noise != nil && goodput.SameBucket(*jb.noise, seen) {
		return false
	}
	jb.noise = &seen
	return true
}

// Noise is the gradient statistics that were measured of a job. ok is false when
// none were.
func (b *Beliefs) Noise(id JobID) (n goodput.Noise, ok bool) {
	jb := b.jobs[id]
	if jb == nil || jb.noise == nil {
		return goodput.Noise{}, false
	}
	return *jb.noise, true
}
