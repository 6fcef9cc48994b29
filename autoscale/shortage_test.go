package autoscale

import (
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// TestWaitStaysTheLongestHoweverOftenItWasRefused: a wait doubles up to the longest and
// stays there, though the doubles of a streak of weeks fit in no length of time.
func TestWaitStaysTheLongestHoweverOftenItWasRefused(t *testing.T) {
	for _, tt := range []struct {
		name  string
		least time.Duration
		want  time.Duration // from the tenth refusal on
	}{
		{"of an offering", DefaultSettings().BackOffMin, DefaultSettings().BackOffMax},
		{"of what is not asked for again for longer than that", 6 * time.Hour, 6 * time.Hour},
	} {
		l := &Loop{cfg: Config{Settings: DefaultSettings()}}
		l.cache.dirtyShortages = map[Scope]bool{}
		scope := Scope{Cloud: "aws", Region: "us-east-1", Market: provider.Spot}
		now, before := noon, time.Duration(0)
		for n := range 400 {
			l.markDown(scope, provider.ErrCapacity, tt.least, now)
			s := l.cache.shortage(scope)
			wait := s.Until.Sub(now)
			if wait < before || n >= 10 && wait != tt.want {
				t.Fatalf("%s: %v after %d refusals, %v after one less; want %v in the end", tt.name, wait, n+1, before, tt.want)
			}
			now, before = s.Until, wait
		}
	}
}
