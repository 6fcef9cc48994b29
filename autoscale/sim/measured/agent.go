package measured

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/goodput"
)

// Agent is what runs beside one job that adapts: it chooses the job's batch, and tells
// its scheduler what has been seen of it so far, and no more. As Pollux's and Sia's it
// fits theta anew when a gang or a local batch was seen for the first time, knows the
// statistics of the last step, and chooses the batch anew at each epoch and each minute.
//
// It is not safe for concurrent use, and neither is its application beside it.
type Agent struct {
	of     *Application
	most   int // replicas at most
	batch  int // that it is held at; 0: it adapts
	blind  bool
	seen   map[string][]goodput.Sample
	ran    int // the most replicas so far, on any type
	noise  *goodput.Noise
	course []Part // of the present gang
	at     string // its accelerator
	taken  int    // parts that were taken into account
	ahead  *ahead // where its course is told up to; nil: it cannot run
	belief *Belief
}

// Part is a part of the course of a gang, at one batch in one epoch.
type Part struct {
	From, To float64 // progress, samples
	PerSec   float64
	Batch    Batch
	sample   goodput.Sample
	noise    goodput.Noise
}

// mostReplicas is how many Pollux's and Sia's simulators give a job at most.
const mostReplicas = 64

// NewAgent begins with nothing seen. A job whose batch is held has one replica.
func NewAgent(of *Application, heldAt int) *Agent {
	a := &Agent{of: of, most: mostReplicas, batch: heldAt, seen: map[string][]goodput.Sample{}}
	if heldAt > 0 {
		a.most = 1
	}
	return a
}

// NewBlindAgent is an agent that takes all accelerators for one type, as that of Pollux
// does where there are several: what was seen of a gang size and a batch first is what it
// knows of them.
func NewBlindAgent(of *Application, heldAt int) *Agent {
	a := NewAgent(of, heldAt)
	a.blind = true
	return a
}

// known is the name under which it keeps what it saw of an accelerator.
func (a *Agent) known(accelerator string) string {
	if a.blind {
		return ""
	}
	return accelerator
}

// Application is the program of its job.
func (a *Agent) Application() *Application { return a.of }

// minute is how often a batch is chosen anew.
const minute = time.Minute

// Begin is the course of a gang that starts now, at so much progress, and restores first;
// More is what comes after. It is empty where the gang cannot run. What the last gang did
// must have been told.
func (a *Agent) Begin(accelerator string, nodes, replicas int, done float64, restore time.Duration) []Part {
	a.at, a.course, a.taken = accelerator, nil, 0
	a.ahead = nil
	g := &ahead{knows: a.clone(), nodes: nodes, replicas: replicas, done: done, left: (minute - restore%minute).Seconds()}
	var ok bool
	if g.batch, ok = g.knows.choose(accelerator, nodes, replicas); ok {
		a.ahead = g
	}
	return a.More()
}

// ahead is where the course of the present gang is told up to.
type ahead struct {
	knows           *Agent // what it will have seen by then
	nodes, replicas int
	done            float64
	batch           Batch
	left            float64 // s until the batch is chosen anew
}

// aheadSec is how much of a course is told at a time: most gangs are soon changed.
const aheadSec = 300

// More is what comes after the parts of the present gang that were told: some minutes, and
// none at the end of the work.
func (a *Agent) More() []Part {
	first := len(a.course)
	for sec := 0.0; a.ahead != nil && a.ahead.done < a.of.Work() && sec < aheadSec; {
		p, ok := a.nextPart()
		if !ok {
			a.ahead = nil
			return nil
		}
		if p.To > p.From {
			a.course = append(a.course, p)
			sec += (p.To - p.From) / p.PerSec
		}
	}
	return a.course[first:]
}

// nextPart goes on to the end of the epoch, or of the time for which the batch is kept.
func (a *Agent) nextPart() (p Part, ok bool) {
	g, b := a.ahead, a.ahead.batch
	epoch := a.of.EpochAt(g.done)
	perSec, ok := a.of.PerSec(a.at, g.nodes, g.replicas, epoch, b)
	if !ok || !(perSec > 0) {
		return Part{}, false
	}
	step, accum, _ := a.of.Pass(a.at, g.nodes, g.replicas, b.Atomic)
	p = Part{From: g.done, To: a.of.End(epoch), PerSec: perSec, Batch: b, noise: a.of.Noise(b.Total(g.replicas), epoch)}
	p.sample = goodput.Sample{Nodes: g.nodes, Replicas: g.replicas, AtomicBatch: b.Atomic, AccumSec: accum, OptimSec: step}
	news := g.knows.take(a.at, p)
	next, ok := g.knows.choose(a.at, g.nodes, g.replicas)
	if !ok {
		return Part{}, false
	}
	if sec := (p.To - p.From) / perSec; (news || next != b) && sec > g.left {
		p.To, g.left = p.From+perSec*g.left, minute.Seconds()
	} else {
		for g.left -= sec; g.left <= 0; g.left += minute.Seconds() {
		}
	}
	g.done, g.batch = p.To, next
	return p, true
}

// Learn takes into account what the present gang has been seen to do by some progress.
func (a *Agent) Learn(done float64) {
	for a.taken < len(a.course) && a.course[a.taken].From < done {
		a.take(a.at, a.course[a.taken])
		a.taken++
		a.belief = nil
	}
}

// take adds what a part shows. It reports whether theta changes.
func (a *Agent) take(accelerator string, p Part) (news bool) {
	noise := p.noise
	a.noise, a.ran = &noise, max(a.ran, p.sample.Replicas)
	list := a.seen[a.known(accelerator)]
	at, found := slices.BinarySearchFunc(list, p.sample, func(x, y goodput.Sample) int {
		return cmp.Or(x.Nodes-y.Nodes, x.Replicas-y.Replicas, x.AtomicBatch-y.AtomicBatch)
	})
	if !found {
		a.seen[a.known(accelerator)] = slices.Insert(slices.Clone(list), at, p.sample)
	}
	return !found
}

// clone is what it knows, to go on with apart.
func (a *Agent) clone() *Agent {
	c := *a
	c.seen = make(map[string][]goodput.Sample, len(a.seen))
	for k, v := range a.seen {
		c.seen[k] = v
	}
	return &c
}

// choose is the batch of a gang by what is known now.
func (a *Agent) choose(accelerator string, nodes, replicas int) (Batch, bool) {
	l, ok := a.of.Limits(accelerator)
	if !ok {
		return Batch{}, false
	}
	if a.batch > 0 {
		return a.of.Fixed(accelerator, replicas, a.batch)
	}
	m, ok := a.model(accelerator)
	if !ok {
		return a.of.Fixed(accelerator, replicas, max(a.of.M0(), l.MinLocal*replicas))
	}
	if wide := a.of.Widest(accelerator, nodes, replicas); wide >= l.MinLocal {
		m.Limits.MaxLocal = min(m.Limits.MaxLocal, wide)
	}
	best, ok := m.Best(goodput.Reject, nodes, replicas)
	if !ok {
		return Batch{}, false
	}
	// Rounding up may go beyond the largest batch that was trained with.
	return Batch{Atomic: min(best.Atomic, a.of.Most()/(replicas*(best.Accum+1))), Accum: best.Accum}, true
}

// model is what is believed of an accelerator that the job has run on.
func (a *Agent) model(accelerator string) (m goodput.Model, ok bool) {
	samples := a.seen[a.known(accelerator)]
	l, known := a.of.Limits(accelerator)
	if !known || len(samples) == 0 || a.noise == nil {
		return m, false
	}
	return goodput.Model{Theta: a.of.fit(a.known(accelerator), samples), Noise: *a.noise, Limits: l}, true
}

// fit is theta of samples of an accelerator, as AdaptDL begins its search. All jobs of an
// application that saw the same have the same.
func (a *Application) fit(accelerator string, samples []goodput.Sample) goodput.Theta {
	var b strings.Builder
	b.WriteString(accelerator)
	for _, s := range samples {
		fmt.Fprintf(&b, " %d/%d/%d", s.Nodes, s.Replicas, s.AtomicBatch)
		if accelerator == "" { // it may be of any
			fmt.Fprintf(&b, "/%g", s.OptimSec)
		}
	}
	name := b.String()
	theta, ok := a.fits[name]
	if !ok {
		res, err := goodput.Fit(samples, goodput.FitOptions{Quick: true})
		if err != nil { // what was measured is positive and finite
			panic(err)
		}
		theta = res.Theta
		a.fits[name] = theta
	}
	return theta
}

// Belief is what a scheduler knows of the job now. It is the same pointer until
// something more is seen.
func (a *Agent) Belief() *Belief {
	if a.belief == nil {
		a.belief = newBelief(a)
	}
	return a.belief
}

// Most is how many replicas the job may be given: twice the most that it ran on.
func (a *Agent) Most() int {
	n := min(max(2*a.ran, 1), a.most)
	for accelerator := range a.of.types {
		l, _ := a.of.Limits(accelerator)
		if l.MinLocal*n <= l.MaxBatch {
			return n
		}
	}
	return 1
}

var _ planner.Curve = &Belief{}
