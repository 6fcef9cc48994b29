package peer

import (
	"cmp"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
)

// Numbers of Tiresias as Pollux's authors ran it: two queues, the second for jobs that
// had 16 GPU-hours, and a round a minute.
const (
	tiresiasHours = 16.0
	minute        = time.Minute
)

// Tiresias is Tiresias (NSDI 2019) as the simulator of Pollux has it: jobs of a fixed
// size in two queues, by the accelerator time that they had; within a queue by arrival.
// Nobody comes back into the first. The first in line get machines as long as there are
// accelerators; one that does not fit is passed over.
//
// Gangs lie evenly over machines here; the authors' need not.
type Tiresias struct{}

// Plan makes the plan of a round.
func (Tiresias) Plan(p planner.Problem) (planner.Plan, error) {
	f := newFloor(&p)
	type place struct{ job, queue int }
	var line []place
	for i := range p.Jobs {
		j := &p.Jobs[i]
		q := 0
		if j.Held.Hours()*float64(sizeOf(j)) >= tiresiasHours {
			q = 1
		}
		line = append(line, place{i, q})
	}
	slices.SortStableFunc(line, func(a, b place) int { return cmp.Compare(a.queue, b.queue) })
	left := 0
	for i := range f.kinds {
		left += f.kinds[i].workers
	}
	var chosen []seat
	for _, x := range line {
		if n := sizeOf(&p.Jobs[x.job]); n <= left {
			left -= n
			chosen = append(chosen, seat{&p.Jobs[x.job], n})
		}
	}
	f.seatAll(chosen)
	plan := f.finish("others come first")
	plan.NextDecision = p.Now.Add(minute)
	return plan, nil
}

// seat is a job and the number of its replicas.
type seat struct {
	*planner.JobState
	n int
}

// seatAll seats jobs: those who run stay, then the others, large ones first. If somebody
// finds no place, all are seated anew, large ones first.
func (f *floor) seatAll(chosen []seat) {
	free, jobs := slices.Clone(f.free), f.shares()
	bySize := slices.Clone(chosen)
	slices.SortStableFunc(bySize, func(a, b seat) int { return b.n - a.n })
	for _, keep := range []bool{true, false} {
		missed := false
		seated := map[planner.JobID]bool{}
		for _, j := range bySize {
			for w := range f.kinds {
				if keep && !seated[j.Job.ID] && f.keeps(j.JobState, &f.kinds[w], j.n) {
					seated[j.Job.ID] = true
				}
			}
		}
		for _, j := range bySize {
			for w := range f.kinds {
				if !seated[j.Job.ID] && f.place(j.JobState, &f.kinds[w], j.n) {
					seated[j.Job.ID] = true
				}
			}
			missed = missed || !seated[j.Job.ID]
		}
		if !missed || !keep {
			return
		}
		f.free, f.plan.Allocations = slices.Clone(free), nil
		f.unshare(jobs)
	}
}

// shares counts the gangs on each machine; unshare takes off those that came since.
func (f *floor) shares() []int {
	n := make([]int, len(f.plan.Machines))
	for i := range n {
		n[i] = len(f.plan.Machines[i].Jobs)
	}
	return n
}

func (f *floor) unshare(n []int) {
	for i := range n {
		f.plan.Machines[i].Jobs = f.plan.Machines[i].Jobs[:n[i]]
	}
}
