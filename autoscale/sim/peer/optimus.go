package peer

import (
	"container/heap"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
)

// Optimus is Optimus (EuroSys 2018) as the simulator of Pollux has it, with an oracle of
// the steps that are left: each job gets one accelerator in order of arrival, then one
// more goes, again and again, to the job that it saves most time by what is predicted,
// until it saves none. So a job stays on one machine when the first replica on a second
// one would slow it down, however fast eight would be. Total batches stay as they were
// asked for.
//
// Gangs lie evenly over machines here; the authors' need not. A job with a size that does
// not falls back to the next below that does, and what that frees is given out by the
// same rule, from size to size.
type Optimus struct {
	// Left is the steps that a job has still to make, as its scheduler is told.
	Left func(j *planner.JobState) float64

	// StepSec is the predicted time of a step on so many replicas, packed on machines of
	// perNode accelerators. ok is false where a job may not have as many.
	StepSec func(j *planner.JobState, accelerator string, perNode, replicas int) (sec float64, ok bool)
}

// grown is a job that may grow.
type grown struct {
	job, size, next int     // next size; 0: none
	gain            float64 // seconds less, for each accelerator more
}

// growth is a heap, the largest gain first, then the first to come.
type growth []grown

func (g growth) Len() int { return len(g) }
func (g growth) Less(a, b int) bool {
	return g[a].gain > g[b].gain || g[a].gain == g[b].gain && g[a].job < g[b].job
}
func (g growth) Swap(a, b int) { g[a], g[b] = g[b], g[a] }
func (g *growth) Push(x any)   { *g = append(*g, x.(grown)) }
func (g *growth) Pop() any {
	last := (*g)[len(*g)-1]
	*g = (*g)[:len(*g)-1]
	return last
}

// Plan makes the plan of a round, on the first kind of machines.
func (o Optimus) Plan(p planner.Problem) (planner.Plan, error) {
	f := newFloor(&p)
	k := &f.kinds[0]
	left := k.workers
	size := make([]int, len(p.Jobs))
	for i := range p.Jobs {
		if left > 0 {
			size[i] = 1
			left--
		}
	}
	left = o.spend(&p, k, size, left, func(_ *planner.JobState, n int) int { return n + 1 })
	lies := func(j *planner.JobState, n int) bool { return slices.Contains(j.Job.Resources.Replicas.Sizes(), n) }
	for i := range size {
		for size[i] > 1 && !lies(&p.Jobs[i], size[i]) {
			size[i]--
			left++
		}
	}
	o.spend(&p, k, size, left, func(j *planner.JobState, n int) int {
		for n++; n <= k.workers && !lies(j, n); n++ {
		}
		return n
	})
	var chosen []seat
	for i, n := range size {
		if n > 0 {
			chosen = append(chosen, seat{&p.Jobs[i], n, 0, true})
		}
	}
	f.seatAll(chosen)
	plan := f.finish("others come first")
	plan.NextDecision = p.Now.Add(minute)
	return plan, nil
}

// spend gives accelerators to the jobs that they save most time, from size to next size,
// and tells how many are left.
func (o Optimus) spend(p *planner.Problem, k *kind, size []int, left int, next func(j *planner.JobState, n int) int) int {
	var queue growth
	grow := func(i int) {
		j := &p.Jobs[i]
		g := grown{job: i, size: size[i], next: next(j, size[i])}
		now, _ := o.StepSec(j, k.typ.Accelerator, k.typ.Count, g.size)
		one, _ := o.StepSec(j, k.typ.Accelerator, k.typ.Count, g.size+1)
		then, ok := o.StepSec(j, k.typ.Accelerator, k.typ.Count, g.next)
		if g.gain = (now - then) * o.Left(j) / float64(g.next-g.size); ok && g.gain > 0 && one < now {
			heap.Push(&queue, g)
		}
	}
	for i, n := range size {
		if n > 0 {
			grow(i)
		}
	}
	for left > 0 && len(queue) > 0 {
		g := heap.Pop(&queue).(grown)
		if g.next-g.size > left {
			continue
		}
		left -= g.next - g.size
		size[g.job] = g.next
		grow(g.job)
	}
	return left
}
