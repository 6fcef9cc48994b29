package main

import (
	"math"
	"testing"

	"github.com/goodfleet/goodfleet/planner/share"
	"pgregory.net/rapid"
)

// TestSharesAsTheyAreToldGiveWhatIsSaid: however little time a job has on a type, what is told
// of it adds up to the job's progress.
func TestSharesAsTheyAreToldGiveWhatIsSaid(t *testing.T) {
	policies := share.Policies()
	rapid.Check(t, func(t *rapid.T) {
		p := &share.Problem{Types: []share.Type{{Name: "a", Workers: rapid.IntRange(1, 9).Draw(t, "workers"), Price: 1}, {Name: "b", Workers: 1, Price: 2}}}
		for j := range rapid.IntRange(1, 4).Draw(t, "jobs") {
			far := func(what string) float64 { return math.Pow(10, rapid.Float64Range(-6, 9).Draw(t, what)) }
			p.Jobs = append(p.Jobs, share.Job{ID: string(rune('x' + j)), Scale: 1, Weight: 1, Steps: far("steps"), Deadline: 1000, Throughput: []float64{far("a"), far("b")}})
		}
		y := policies[rapid.IntRange(0, len(policies)-1).Draw(t, "policy")]
		a, err := y.Share(p, share.Options{})
		if err != nil || a.Status == "infeasible" {
			return
		}
		out := newAllocated(p, &a, false)
		for j, job := range p.Jobs {
			got := 0.0
			for w, v := range job.Throughput {
				got += v * out.Allocation[job.ID][p.Types[w].Name]
			}
			if math.Abs(got-a.Theta[j]) > 1e-8*a.Theta[j] {
				t.Fatalf("%s: job %s has %g steps/s, and is told shares of %g", y.Name, job.ID, a.Theta[j], got)
			}
		}
	})
}
