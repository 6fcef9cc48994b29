package autoscale_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// A job of one that waits for spot before it may go on demand does not take a machine of
// four on spot meanwhile that costs more than going on demand will; several that fill it
// do, and so does one for which the wait would cost more.
func TestWaitForOnDemandIsNotSpentOnDearerSpot(t *testing.T) {
	for _, c := range []struct {
		name  string
		jobs  int
		hours float64
		value pricing.Rate
		what  provider.Offering
		after time.Duration
	}{
		{"a long job of one", 1, 20, pricing.DollarPerHour, smallOnDemand, 45 * time.Minute},
		{"four of them, that fill the machine", 4, 20, pricing.DollarPerHour, largeSpot, time.Minute},
		{"a short one, for which the wait is dearer", 1, 0.5, 30 * pricing.DollarPerHour, largeSpot, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, setup{offerings: []provider.Offering{smallOnDemand, largeSpot}})
			w.put(&budget.Policy{Name: "p", Owner: "o", Fallback: &budget.Fallback{After: 45 * time.Minute}})
			for n := range c.jobs {
				job := testJob(planner.JobID(fmt.Sprintf("job-%d", n)), c.hours, 1)
				job.ValueOfTime = c.value
				w.submit(job)
			}
			for range 60 {
				r := w.round(time.Minute)
				if len(r.Bought) == 0 {
					if len(r.Plan.Waits) > 0 && !strings.Contains(r.Plan.Waits[0].Reason, "it waits for "+smallOnDemand.String()) {
						t.Fatalf("waits: %+v", r.Plan.Waits)
					}
					continue
				}
				if got := w.now.Sub(start); got != c.after || r.Bought[0].Offering != c.what {
					t.Errorf("%s is bought after %v, want %s after %v", r.Bought[0].Offering, got, c.what, c.after)
				}
				return
			}
			t.Errorf("nothing is bought\n%s", w.history())
		})
	}
}
