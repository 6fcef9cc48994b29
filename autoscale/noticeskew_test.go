package autoscale_test

import (
	"testing"
	"time"
)

// A cloud whose clock is off tells of a loss by that clock. What the records and the
// stop go by is ours: the machines that are listed beside the notice say how far off it is.
func TestNoticeIsReadByOurClock(t *testing.T) {
	for _, skew := range []time.Duration{-5 * time.Minute, 0, 5 * time.Minute} {
		w := newWorld(t, setup{notice: 2 * time.Minute})
		w.submit(testJob("a", 20, 1), testJob("b", 20, 1))
		w.until(10, func() bool { return !w.job("a").Times.Running.IsZero() && !w.job("b").Times.Running.IsZero() })
		if skew != 0 {
			w.do("skew " + skew.String())
		}
		w.do("at 2m take 1 of aws/use1-az1/*/spot notice 2m")
		loss := w.now.Add(2 * time.Minute)
		w.round(30 * time.Second)
		told := 0
		for _, m := range w.records() {
			if m.Noticed.IsZero() {
				continue
			}
			told++
			if !m.Loss.Equal(loss) || m.Noticed.After(w.now) {
				t.Errorf("clock %v ahead: noticed %v, loss %v, want %v", skew, m.Noticed.Sub(start), m.Loss.Sub(start), loss.Sub(start))
			}
		}
		if told != 1 {
			t.Errorf("clock %v ahead: %d notices", skew, told)
		}
		w.until(5, func() bool { return w.kinds()["stopped"] == 1 })
		if k := w.kinds(); k["lost"] != 0 {
			t.Errorf("clock %v ahead: events %v: the notice covers the save", skew, k)
		}
	}
}
