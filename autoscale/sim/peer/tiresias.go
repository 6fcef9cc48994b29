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
// accelerators; one that does not fit is passed over, as is one that no kind of them serves.
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
		s := seat{&p.Jobs[x.job], sizeOf(&p.Jobs[x.job]), -1, true}
		if s.n <= left && len(f.kindsOf(s)) > 0 {
			left -= s.n
			chosen = append(chosen, s)
		}
	}
	f.seatAll(chosen)
	plan := f.finish("others come first")
	plan.NextDecision = p.Now.Add(minute)
	return plan, nil
}
