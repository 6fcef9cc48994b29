package autoscale

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/provider"
)

var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

func TestFirstSightPutsALaunchWhereItCanBe(t *testing.T) {
	decided, now := noon.Add(-10*time.Second), noon
	for _, tt := range []struct {
		name   string
		listed time.Time
		want   time.Time
	}{
		{"in between", noon.Add(-3 * time.Second), noon.Add(-3 * time.Second)},
		{"in the future", noon.Add(2 * time.Minute), noon},
		{"before it was decided", noon.Add(-2 * time.Minute), decided},
		{"not told", time.Time{}, noon},
	} {
		if got := firstSight(provider.Instance{Launched: tt.listed}, decided, now).Launched; !got.Equal(tt.want) {
			t.Errorf("%s: launched at %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestHeardGoesForwardOnly(t *testing.T) {
	running := provider.Instance{ID: "i-1", State: provider.Running, Launched: noon, Started: noon.Add(time.Minute), CalledHome: noon.Add(2 * time.Minute), Accelerators: 8}
	ended := running
	ended.State, ended.Ended, ended.Cause = provider.Ended, noon.Add(time.Hour), provider.Interrupted
	pending := provider.Instance{ID: "i-1", State: provider.Pending, Launched: noon}
	now := noon.Add(2 * time.Hour)
	for _, tt := range []struct {
		name             string
		known, row, want provider.Instance
	}{
		{"a lagging row takes nothing back", running, pending, running},
		{"an end stays", ended, running, ended},
		{"all is taken over", pending, ended, ended},
		{"a host fails", running, func() provider.Instance { r := running; r.Accelerators = 4; return r }(), func() provider.Instance { r := running; r.Accelerators = 4; return r }()},
		{"an end before the start cannot be", running,
			func() provider.Instance { r := ended; r.Ended = noon.Add(-time.Hour / 2); return r }(),
			func() provider.Instance { r := ended; r.Ended = running.Started; return r }()},
		{"a cause that is none", running,
			func() provider.Instance { r := ended; r.Cause = 77; return r }(),
			func() provider.Instance { r := ended; r.Cause = provider.Failed; return r }()},
		{"an end without a time is now", running,
			func() provider.Instance { r := ended; r.Ended = time.Time{}; return r }(),
			func() provider.Instance { r := ended; r.Ended = now; return r }()},
		{"a launch of another century is nonsense", running,
			func() provider.Instance { r := ended; r.Launched = noon.AddDate(-100, 0, 0); return r }(), ended},
	} {
		if got := heard(tt.known, tt.row, now); got != tt.want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", tt.name, got, tt.want)
		}
	}
}

// Each answer is by another wrong clock, and every length is exact.
func TestLengthsAreExactByWrongClocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		off := func(name string) time.Duration {
			return time.Duration(rapid.IntRange(-1800, 1800).Draw(t, name)) * time.Second
		}
		after := func(name string) time.Duration { return time.Duration(rapid.IntRange(1, 1<<40).Draw(t, name)) }
		truth := provider.Instance{ID: "i-1", State: provider.Pending, Launched: noon}
		tell := func(off time.Duration) provider.Instance {
			row := truth
			for _, stamp := range []*time.Time{&row.Launched, &row.Started, &row.Ended} {
				if !stamp.IsZero() {
					*stamp = stamp.Add(off)
				}
			}
			return row
		}
		known := firstSight(tell(off("at launch")), noon, noon)
		truth.State, truth.Started = provider.Running, truth.Launched.Add(after("boot"))
		known = heard(known, tell(off("when it runs")), truth.Started.Add(time.Second))
		truth.State, truth.Ended, truth.Cause = provider.Ended, truth.Started.Add(after("life")), provider.EndedByUs
		known = heard(known, tell(off("when it ended")), truth.Ended.Add(time.Second))
		if got, want := known.Ended.Sub(known.Started), truth.Ended.Sub(truth.Started); got != want {
			t.Errorf("it lived %v, want %v", got, want)
		}
		if !known.Launched.Equal(noon) {
			t.Errorf("launched at %v, want %v: it was decided and heard of then", known.Launched, noon)
		}
	})
}

func TestDeadlineIsLearnedWithinBounds(t *testing.T) {
	o := provider.Offering{Cloud: "aws", Type: "p5"}
	for _, tt := range []struct {
		name  string
		boots []time.Duration
		want  time.Duration
	}{
		{"nothing is known", nil, 30 * time.Minute},
		{"too little is known", []time.Duration{time.Minute, time.Minute}, 30 * time.Minute},
		{"fast ones have a floor", []time.Duration{time.Minute, time.Minute, time.Minute}, 10 * time.Minute},
		{"half as long again as the slowest", []time.Duration{time.Minute, 12 * time.Minute, time.Minute}, 18 * time.Minute},
		{"slow ones have a ceiling", []time.Duration{25 * time.Minute, 25 * time.Minute, 25 * time.Minute}, 30 * time.Minute},
	} {
		l := &Loop{boots: bootTimes{}, cfg: Config{Settings: DefaultSettings()}}
		for _, took := range tt.boots {
			l.boots.learn(provider.InstanceType{Cloud: "aws", Name: "p5"}, took)
		}
		if got := l.upBy(o); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestNineLaunchesInTenComeWithinTheGrant draws boots: nine in ten of the last fifty came
// within the boot that is expected and the grant, and by less than that fewer did.
func TestNineLaunchesInTenComeWithinTheGrant(t *testing.T) {
	o := provider.Offering{Cloud: "aws", Type: "p5"}
	rapid.Check(t, func(t *rapid.T) {
		l := &Loop{boots: bootTimes{}, cfg: Config{Settings: DefaultSettings(), Catalogue: &provider.Catalogue{}}}
		took := rapid.SliceOfN(rapid.Int64Range(int64(time.Second), int64(20*time.Minute)), 0, 70).Draw(t, "boots")
		for _, b := range took {
			l.boots.learn(provider.InstanceType{Cloud: "aws", Name: "p5"}, time.Duration(b))
		}
		grant := l.grantOf(o)
		if len(took) < 3 {
			if want := l.bootOf(o); grant != want {
				t.Fatalf("%v after %d boots: want %v, as long again as a boot", grant, len(took), want)
			}
			return
		}
		last := took[max(0, len(took)-50):]
		within := func(limit time.Duration) (n int) {
			for _, b := range last {
				if time.Duration(b) <= limit {
					n++
				}
			}
			return n
		}
		limit := l.bootOf(o) + grant
		if got := within(limit); 10*got < 9*len(last) {
			t.Errorf("%d of %d boots came within %v: fewer than nine in ten", got, len(last), limit)
		}
		if got := within(limit - 1); grant > 0 && 10*got >= 9*len(last) {
			t.Errorf("%d of %d boots came within less than %v", got, len(last), limit)
		}
	})
}
