package placement

import (
	"fmt"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
)

// couples are the allocations of a plan that share with another, by job.
type couples map[planner.JobID]int

func couplesOf(plan planner.Plan) couples {
	var list couples
	for i := range plan.Allocations {
		if a := &plan.Allocations[i]; a.Config.With != "" {
			if list == nil {
				list = couples{}
			}
			list[a.Job] = i
		}
	}
	return list
}

// first reports whether allocation i shares with none, or comes before the one that it shares
// with. It fails where the two do not say the same of each other and of what they hold.
func (c couples) first(plan planner.Plan, i int) (bool, error) {
	a := &plan.Allocations[i]
	if a.Config.With == "" {
		return true, nil
	}
	at, runs := c[a.Config.With]
	if !runs || at == i {
		return false, fmt.Errorf("shares with %s, which shares with nobody", a.Config.With)
	}
	b := &plan.Allocations[at]
	switch {
	case b.Config.With != a.Job:
		return false, fmt.Errorf("shares with %s, which shares with %s", b.Job, b.Config.With)
	case a.Offering != b.Offering || a.Config.Nodes != b.Config.Nodes || a.Config.Replicas != b.Config.Replicas || !slices.Equal(a.Machines, b.Machines):
		return false, fmt.Errorf("shares with %s, but not all that both hold", b.Job)
	}
	return i < at, nil
}
