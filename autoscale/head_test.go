package autoscale_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// TestMeekGangStartsInTheLoopUnderEndlessOverload: teams whose work is worth a thousand
// times as much hand in a job whenever one ends, and three more wait. A gang that needs
// the whole cap starts when it has waited for as long as any has to, what runs has given
// way and the machines are up; it runs its first run, nothing is bought beyond the cap,
// and no breaker asks a person.
func TestMeekGangStartsInTheLoopUnderEndlessOverload(t *testing.T) {
	for _, skip := range []bool{false, true} {
		w := newWorld(t, setup{offerings: []provider.Offering{smallOnDemand}, settings: func(s *autoscale.Settings) {
			s.BurnCap, s.SkipUnchanged = 12*pricing.DollarPerHour, skip
		}})
		w.watchful = true
		next := 0
		submit := func() {
			job := testJob(planner.JobID(fmt.Sprintf("greedy-%d", next)), 1+float64(next%3), 1)
			job.Team, job.Submitted, job.ValueOfTime = fmt.Sprintf("team-%d", next%10), w.now, 1000*pricing.DollarPerHour
			w.submit(job)
			next++
		}
		ended := func() (n int) {
			for _, id := range w.submitted {
				if !w.job(id).Ended.IsZero() {
					n++
				}
			}
			return n
		}
		for range 7 {
			submit()
		}
		w.round(time.Minute)
		meek := testJob("meek", 40, 4)
		meek.Team, meek.Submitted, meek.ValueOfTime = "meek", w.now, pricing.DollarPerHour/1000
		meek.Resources.Ethernet = true
		meek.Work.Samples /= 40 // alone it takes a quarter of an hour
		w.submit(meek)
		came, ran := w.now, 0
		limit := 6*60 + 10 + 10 // the wait, a minimum run time, and rounds to save, end and boot
		for n := 0; n < limit && w.job("meek").Started.IsZero(); n++ {
			for next-ended() < 7 {
				submit()
			}
			if r := w.round(time.Minute); r.Burn > w.cfg.Settings.BurnCap || r.Breaker != "" {
				t.Fatalf("burns %s USD/h, breaker %q", r.Burn, r.Breaker)
			}
		}
		if w.job("meek").Started.IsZero() {
			t.Fatalf("it never started in %d minutes\n%s", limit, w.history())
		}
		t.Logf("skip %v: it started %v after it came, beside %d jobs", skip, w.job("meek").Started.Sub(came), next)
		for w.job("meek").Gang != nil {
			w.round(time.Minute)
			ran++
		}
		if r := w.job("meek"); r.Ended.IsZero() && ran < 10 {
			t.Errorf("it was stopped after %d minutes\n%s", ran, w.history())
		}
		if !strings.Contains(w.history(), "never ran: the first of those") {
			t.Errorf("nothing says why it started")
		}
	}
}
