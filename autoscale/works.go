package autoscale

import (
	"slices"

	"github.com/goodfleet/goodfleet/planner"
)

// works are the samples that jobs of a family took that were done.
type works struct {
	latest []float64 // in the order in which they ended
	sorted []float64 // ascending; replaced, never changed
}

// worksKept is how many jobs of a family are remembered: training changes with time.
const worksKept = 200

// learnWork takes up what a job took that has ended.
func (c *cache) learnWork(r *JobRecord) {
	took := r.Seen
	if r.Job.Work.Kind == planner.WorkExact {
		took = r.Job.Work.Samples
	}
	if r.Phase != JobDone || r.Job.Family == "" || !(took > 0) {
		return
	}
	w := c.works[r.Job.Family]
	w.latest = append(w.latest[max(0, len(w.latest)-worksKept+1):], took)
	w.sorted = slices.Sorted(slices.Values(w.latest))
	c.works[r.Job.Family] = w
}

// alike are the works by which a job's own is judged, where it is not known.
func (c *cache) alike(j *planner.Job) []float64 {
	if j.Work.Kind == planner.WorkExact {
		return nil
	}
	return c.works[j.Family].sorted
}
