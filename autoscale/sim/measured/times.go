package measured

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"

	"github.com/goodfleet/goodfleet/planner/goodput"
)

// times are the measured passes of an application on one accelerator type.
type times struct {
	curves   map[place]*curve
	along    map[int][]int // numbers of machines that were measured, by replicas on each, ascending
	each     int           // the most replicas on one machine
	minLocal int
	maxLocal int
}

// place is a gang that is packed: so many replicas on each of so many machines, and the
// rest, fewer, on one more. A gang without a rest lies evenly.
type place struct{ nodes, each, rest int }

// curve is the times at one place by local batch.
type curve struct {
	local      []float64
	step, sync []float64 // s, of a pass with synchronization, and what of it that takes
}

// readTimes reads placements and scalability. Only gangs that are packed are looked at: no
// other is ever started or thought of. A place of both files is that of the placements.
func readTimes(files fs.FS, folder, suffix string, maxLocal int) (*times, error) {
	t := &times{curves: map[place]*curve{}, along: map[int][]int{}}
	add := func(p place, v []float64) error {
		local, step, sync := v[0], v[1], v[2]
		if local < 1 || local != math.Trunc(local) || !(step > 0) || sync < 0 || sync >= step {
			return fmt.Errorf("local_bsz %g, step_time %g, sync_time %g: want a whole batch, and less synchronization than the step", local, step, sync)
		}
		c := t.curves[p]
		if c == nil {
			c = &curve{}
			t.curves[p] = c
		}
		at, twice := slices.BinarySearch(c.local, local)
		if twice {
			return nil // measured again: the first counts
		}
		c.local, c.step, c.sync = slices.Insert(c.local, at, local), slices.Insert(c.step, at, step), slices.Insert(c.sync, at, sync)
		return nil
	}
	columns := []string{"local_bsz", "step_time", "sync_time"}
	name := path.Join(folder, "placements"+suffix+".csv.gz")
	err := eachRow(files, name, append([]string{"placement"}, columns...), func(v []float64) error {
		p, ok := packedPlace(int(v[0]))
		if !ok {
			return nil
		}
		return add(p, v[1:])
	})
	if err != nil {
		return nil, err
	}
	measured := map[place]bool{}
	for p := range t.curves {
		measured[p] = true
	}
	name = path.Join(folder, "scalability"+suffix+".csv.gz")
	err = eachRow(files, name, append([]string{"num_nodes", "num_replicas"}, columns...), func(v []float64) error {
		nodes, replicas := int(v[0]), int(v[1])
		p := place{nodes: nodes}
		if nodes < 1 || replicas%nodes != 0 {
			return nil
		}
		if p.each = replicas / nodes; measured[p] {
			return nil
		}
		return add(p, v[2:])
	})
	if err != nil {
		return nil, err
	}
	if len(t.curves) == 0 {
		return nil, fmt.Errorf("%s: no placement is packed", name)
	}
	t.minLocal = math.MaxInt
	for p, c := range t.curves {
		t.each = max(t.each, p.each)
		if p.rest == 0 {
			at, _ := slices.BinarySearch(t.along[p.each], p.nodes)
			t.along[p.each] = slices.Insert(t.along[p.each], at, p.nodes)
		}
		t.minLocal = min(t.minLocal, int(c.local[0]))
		t.maxLocal = max(t.maxLocal, int(c.local[len(c.local)-1]))
	}
	if maxLocal > 0 {
		t.maxLocal = min(t.maxLocal, maxLocal)
	}
	return t, nil
}

// packedPlace reads the digits of a placement, one a machine, the rest first. ok is false for a
// gang that lies otherwise.
func packedPlace(digits int) (p place, ok bool) {
	if digits <= 0 {
		return place{}, false
	}
	for p.each = digits % 10; digits > 0 && digits%10 == p.each; digits /= 10 {
		p.nodes++
	}
	p.rest = digits
	return p, p.each > 0 && p.rest < p.each
}

// Limits are the batches of an application on an accelerator. ok is false when it was
// not measured there.
func (a *Application) Limits(accelerator string) (l goodput.Limits, ok bool) {
	t, ok := a.types[accelerator]
	if !ok {
		return goodput.Limits{}, false
	}
	return goodput.Limits{InitialBatch: a.M0(), MaxBatch: a.Most(), MinLocal: t.minLocal, MaxLocal: t.maxLocal, Accumulation: true}, true
}

// Pass is the time of a pass with synchronization, and of one without: linear in the
// local batch; between numbers of machines that were not measured, linear along gangs of
// as many replicas on each. ok is false beyond what was measured.
func (a *Application) Pass(accelerator string, nodes, replicas, local int) (stepSec, accumSec float64, ok bool) {
	t, known := a.types[accelerator]
	if !known || nodes < 1 || replicas%nodes != 0 {
		return 0, 0, false
	}
	each := replicas / nodes
	if c := t.curves[place{nodes, each, 0}]; c != nil {
		step, sync := c.at(local)
		return step, step - sync, true
	}
	along := t.along[each]
	if len(along) == 0 || nodes < along[0] || nodes > along[len(along)-1] {
		return 0, 0, false
	}
	xs := make([]float64, len(along))
	for i, n := range along {
		xs[i] = float64(n)
	}
	at := func(sync bool) float64 {
		return between(xs, float64(nodes), func(i int) float64 {
			step, waits := t.curves[place{along[i], each, 0}].at(local)
			if sync {
				return waits
			}
			return step
		})
	}
	step := at(false)
	return step, step - at(true), true
}

// PackedPass is Pass for a gang of any size on as few machines of so many accelerators as
// hold it, all but one of them full. Where that was not measured it lies between the gangs
// that lie evenly on as many machines and on one less, linear in the replicas. No such gang
// is ever started: it is what some schedulers believe of sizes between.
func (a *Application) PackedPass(accelerator string, perNode, replicas, local int) (stepSec, accumSec float64, ok bool) {
	t, known := a.types[accelerator]
	if !known || perNode < 1 || replicas < 1 {
		return 0, 0, false
	}
	full, rest := replicas/perNode, replicas%perNode
	switch {
	case full == 0:
		return a.Pass(accelerator, 1, replicas, local)
	case rest == 0:
		return a.Pass(accelerator, full, replicas, local)
	}
	if c := t.curves[place{full, perNode, rest}]; c != nil {
		step, sync := c.at(local)
		return step, step - sync, true
	}
	step, accum, ok := a.Pass(accelerator, full, full*perNode, local)
	moreStep, moreAccum, larger := a.Pass(accelerator, full+1, (full+1)*perNode, local)
	f := float64(rest) / float64(perNode)
	return (1-f)*step + f*moreStep, (1-f)*accum + f*moreAccum, ok && larger
}

// OnePerSec is the throughput of one replica at its largest local batch, samples a second:
// what types are compared by before a job has run on them. ok is false where it was not
// measured.
func (a *Application) OnePerSec(accelerator string) (perSec float64, ok bool) {
	t := a.types[accelerator]
	if t == nil {
		return 0, false
	}
	c := t.curves[place{1, 1, 0}]
	if c == nil {
		return 0, false
	}
	return c.local[len(c.local)-1] / slices.Max(c.step), true
}

// Widest is the largest local batch that was measured of a gang that lies evenly; 0: none
// was. Between numbers of machines it is that of the type.
func (a *Application) Widest(accelerator string, nodes, replicas int) int {
	t := a.types[accelerator]
	if t == nil || nodes < 1 || replicas%nodes != 0 {
		return 0
	}
	if c := t.curves[place{nodes, replicas / nodes, 0}]; c != nil {
		return min(t.maxLocal, int(c.local[len(c.local)-1]))
	}
	return t.maxLocal
}

// at is the times at a local batch.
func (c *curve) at(local int) (step, sync float64) {
	return between(c.local, float64(local), func(i int) float64 { return c.step[i] }),
		between(c.local, float64(local), func(i int) float64 { return c.sync[i] })
}

// Samples are all that was measured on an accelerator of gangs that lie evenly, as a fit
// takes them, in order.
func (a *Application) Samples(accelerator string) []goodput.Sample {
	t := a.types[accelerator]
	if t == nil {
		return nil
	}
	var list []goodput.Sample
	for p, c := range t.curves {
		if p.rest > 0 {
			continue
		}
		for i, local := range c.local {
			list = append(list, goodput.Sample{Nodes: p.nodes, Replicas: p.nodes * p.each, AtomicBatch: int(local), OptimSec: c.step[i], AccumSec: c.step[i] - c.sync[i]})
		}
	}
	slices.SortFunc(list, func(x, y goodput.Sample) int {
		return cmp.Or(x.Nodes-y.Nodes, x.Replicas-y.Replicas, x.AtomicBatch-y.AtomicBatch)
	})
	return list
}
