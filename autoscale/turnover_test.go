package autoscale

import (
	"testing"
	"time"
)

func TestTurnoverIsTheTimeHeldOverTheRestarts(t *testing.T) {
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name     string
		held     time.Duration // of each of two jobs before the present gang
		running  time.Duration // of the first
		restarts [2]int
		want     time.Duration
	}{
		{"nothing was seen", 0, 0, [2]int{}, 0},
		{"too few restarts", 40 * time.Hour, 0, [2]int{10, 9}, 0},
		{"an hour and a half each", 15 * time.Hour, 0, [2]int{10, 10}, 80 * time.Minute},
		{"what runs counts", 5 * time.Hour, 20 * time.Hour, [2]int{10, 10}, 80 * time.Minute},
		{"just a step", 20 * 5 * time.Minute, 0, [2]int{20, 0}, 10 * time.Minute},
		{"below ten minutes", 2 * time.Hour, 0, [2]int{30, 18}, 5 * time.Minute},
		{"restarts without time", 0, 0, [2]int{30, 18}, 0},
	} {
		s := &State{Now: now, Jobs: []JobRecord{{Held: tt.held, Restarts: tt.restarts[0]}, {Held: tt.held, Restarts: tt.restarts[1]}}}
		if tt.running > 0 {
			s.Jobs[0].Gang, s.Jobs[0].Times.Started = &Gang{}, now.Add(-tt.running)
		}
		if got := s.turnover(); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
