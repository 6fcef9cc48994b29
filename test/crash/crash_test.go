package crash

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

var (
	points = flag.Int("crash.points", 60, "how often the loop is killed, over all seeds")
	each   = flag.Int("crash.each", 20, "how often in one scenario")
	tail   = flag.Int("crash.tail", 60, "how many events a failure shows")
	first  = flag.Uint64("crash.seed", 1, "seed of the first scenario")
)

func TestLoopSurvivesACrashAtAnyCall(t *testing.T) {
	killed, kills, rounds, scenarios, failed := map[string]int{}, 0, 0, 0, 0
	for seed := *first; kills < *points; seed++ {
		r, err := run(t, draw(seed), min(*each, *points-kills))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if len(r.found) > 0 {
			t.Errorf("seed %d, after %d kills:\n%s\n%s", seed, r.kills, strings.Join(r.found, "\n"), r.tail)
			if failed++; failed == 3 {
				t.FailNow()
			}
		}
		for at, n := range r.killed {
			killed[at] += n
		}
		kills, rounds, scenarios = kills+r.kills, rounds+r.rounds, scenarios+1
	}
	t.Logf("%d kills in %d scenarios from seed %d, %d rounds", kills, scenarios, *first, rounds)
	for _, at := range slices.Sorted(maps.Keys(killed)) {
		t.Logf("%6d  %s", killed[at], at)
	}
}

// A mistake of each of three kinds is found within a few kills, by what it does to
// the fleet.
func TestHarnessFindsMistakes(t *testing.T) {
	for _, tt := range []struct {
		name string
		bug  bug
		want string
	}{
		{"a token derived from the round", roundToken, "token "},
		{"an intent written after the call", lateIntent, "no intent is in the store"},
		{"a sweep without grace", gracelessEnd, "nothing accounted for it for"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for seed := uint64(1); seed <= 40; seed++ {
				s := draw(seed)
				s.bug = tt.bug
				r, err := run(t, s, 20)
				if err != nil {
					t.Fatal(err)
				}
				for _, found := range r.found {
					if strings.Contains(found, tt.want) {
						t.Logf("seed %d, after %d kills: %s", seed, r.kills, found)
						return
					}
				}
			}
			t.Errorf("it is not found in 40 scenarios")
		})
	}
}

// The same seed makes the same calls, kills and history.
func TestRunsRepeat(t *testing.T) {
	history := func() (text string) {
		synctest.Test(t, func(t *testing.T) {
			w, r, err := play(draw(7), 20)
			if err != nil {
				t.Fatal(err)
			}
			text = fmt.Sprint(r.killed, r.kills, r.rounds) + w.history(1<<30)
		})
		return text
	}
	if a, b := history(), history(); a != b {
		t.Errorf("one seed made two histories of %d and %d bytes", len(a), len(b))
	}
}
