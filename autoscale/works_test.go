package autoscale

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/planner"
)

// What jobs took that were done tells of those of their family whose work is not known,
// the latest of them only, and of no others.
func TestWorkOfAFamilyIsRemembered(t *testing.T) {
	c := &cache{works: map[string]works{}}
	ended := func(family string, kind planner.WorkKind, declared, seen float64, phase JobPhase) {
		c.learnWork(&JobRecord{
			Job: &planner.Job{Family: family, Work: planner.Work{Kind: kind, Samples: declared}}, Phase: phase, Seen: seen, Ended: time.Unix(1, 0),
		})
	}
	ended("a", planner.WorkExact, 30, 29.9, JobDone) // to its end, whatever the last report said
	ended("a", planner.WorkUnknown, 0, 10, JobDone)
	ended("a", planner.WorkUnknown, 0, 5, JobFailed)
	ended("", planner.WorkUnknown, 0, 7, JobDone)
	ended("b", planner.WorkLimit, 99, 20, JobDone)
	unknown := func(family string) *planner.Job {
		return &planner.Job{Family: family, Work: planner.Work{Kind: planner.WorkUnknown}}
	}
	if diff := cmp.Diff([]float64{10, 30}, c.alike(unknown("a"))); diff != "" {
		t.Error(diff)
	}
	if got := c.alike(unknown("")); got != nil {
		t.Errorf("jobs of no family are judged by %v", got)
	}
	if got := c.alike(&planner.Job{Family: "a", Work: planner.Work{Kind: planner.WorkExact, Samples: 1}}); got != nil {
		t.Errorf("a job of known work is judged by %v", got)
	}
	before := c.alike(unknown("a"))
	for i := range worksKept {
		ended("a", planner.WorkUnknown, 0, float64(1000+i), JobDone)
	}
	if got := c.alike(unknown("a")); len(got) != worksKept || slices.Min(got) != 1000 || before[0] != 10 {
		t.Errorf("%d are remembered, the least %g; what was told before begins with %g", len(got), slices.Min(got), before[0])
	}
}
