package measured

import (
	"maps"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/goodput"
)

// Belief is the speeds of a job as its agent tells of them at an instant. It is carried
// over to types that the job never ran on as Sia does it: by the ratio of what one
// replica does there (Application.OnePerSec), from the first type, by name, that it ran
// on. A job that never ran has the throughput of one replica, at a batch of M0.
type Belief struct {
	of     *Application
	most   int
	batch  int
	models map[string]goodput.Model
	from   string // accelerator that others are carried over from; "": it never ran
	known  map[gang]planner.Speed
}

type gang struct {
	accelerator     string
	nodes, replicas int
}

func newBelief(a *Agent) *Belief {
	b := &Belief{of: a.of, most: a.Most(), batch: a.batch, models: map[string]goodput.Model{}, known: map[gang]planner.Speed{}}
	for _, accelerator := range slices.Sorted(maps.Keys(a.of.types)) {
		if m, ok := a.model(accelerator); ok {
			b.models[accelerator] = m
			if b.from == "" {
				b.from = accelerator
			}
		}
	}
	return b
}

// Ran reports whether the job has run.
func (b *Belief) Ran() bool { return b.from != "" }

// Most is how many replicas the job may be given.
func (b *Belief) Most() int { return b.most }

// Speed is Goodput within what the job may be given, samples an hour.
func (b *Belief) Speed(accelerator string, nodes, replicas int) (planner.Speed, bool) {
	if replicas > b.most {
		return planner.Speed{}, false
	}
	return b.Goodput(accelerator, nodes, replicas)
}

// Goodput is what is believed of a gang of any size, samples an hour. ok is false where
// it cannot run, or was not measured that it can, and for gangs that are neither a power
// of two of one machine nor whole machines: for these there is always a placement (Sia,
// section 3).
func (b *Belief) Goodput(accelerator string, nodes, replicas int) (s planner.Speed, ok bool) {
	at := gang{accelerator, nodes, replicas}
	s, told := b.known[at]
	if !told {
		s = b.goodput(accelerator, nodes, replicas)
		s.Goodput *= 3600 / b.of.slow
		b.known[at] = s
	}
	return s, s.Goodput > 0
}

func (b *Belief) goodput(accelerator string, nodes, replicas int) planner.Speed {
	l, ok := b.of.Limits(accelerator)
	if !ok {
		return planner.Speed{}
	}
	if _, _, can := b.of.Pass(accelerator, nodes, replicas, l.MinLocal); !can || l.MinLocal*replicas > l.MaxBatch || !b.of.whole(accelerator, nodes, replicas) {
		return planner.Speed{}
	}
	if b.batch > 0 {
		perSec, _ := b.of.PerSec(accelerator, nodes, replicas, 0, fixed(b.of.Fixed(accelerator, replicas, b.batch)))
		return planner.Speed{Goodput: perSec * b.of.slow, Batch: b.batch}
	}
	one, _ := b.of.OnePerSec(accelerator)
	if b.from == "" {
		return planner.Speed{Goodput: one * float64(replicas), Batch: b.of.M0(), Estimated: true}
	}
	if m, own := b.models[accelerator]; own {
		best, ok := m.Best(goodput.Reject, nodes, replicas)
		if !ok {
			return planner.Speed{}
		}
		return planner.Speed{Goodput: best.Goodput, Batch: best.Batch}
	}
	m := b.models[b.from]
	there, _ := b.of.OnePerSec(b.from)
	best, ok := m.Best(goodput.Reject, b.of.machines(b.from, replicas), replicas)
	if !ok {
		return planner.Speed{}
	}
	return planner.Speed{Goodput: best.Goodput * one / there, Batch: best.Batch, Estimated: true}
}

func fixed(b Batch, _ bool) Batch { return b }

// machines is over how many machines of an accelerator a gang lies that is packed, by the
// most that one of them was measured with.
func (a *Application) machines(accelerator string, replicas int) int {
	each := a.types[accelerator].each
	return (replicas + each - 1) / each
}

// whole reports whether a gang is a power of two of one machine, or whole machines.
func (a *Application) whole(accelerator string, nodes, replicas int) bool {
	return nodes == 1 && replicas&(replicas-1) == 0 || replicas == nodes*a.types[accelerator].each
}
