package autoscale_test

import (
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
)

func TestRoundBuysRunsAndEnds(t *testing.T) {
	w := newWorld(t, setup{})
	w.submit(testJob("GPT-L", 0.5, 1))
	w.until(60, w.allEnded)
	if got := w.job("GPT-L"); got.Phase != autoscale.JobDone {
		t.Errorf("the job is in phase %v, want done", got.Phase)
	}
	w.round(time.Minute)
	w.checkBooks()
	if testing.Verbose() {
		t.Log("\n" + w.history())
	}
}
