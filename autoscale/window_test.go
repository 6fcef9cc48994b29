package autoscale_test

import (
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/schedule"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// hours is a window of every day, from one hour to another.
func hours(t *testing.T, w autoscale.Window, start string, lasts time.Duration) autoscale.Window {
	t.Helper()
	c, err := schedule.ParseCron("0 " + start + " * * *")
	if err != nil {
		t.Fatal(err)
	}
	if w.Time, err = schedule.NewWindow(c, lasts, ""); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestWindowsSayWhenMachinesAreBought submits a job at midnight and looks when its
// machine is bought.
func TestWindowsSayWhenMachinesAreBought(t *testing.T) {
	deny, allow := autoscale.Window{Deny: true, Launches: true}, autoscale.Window{Launches: true}
	for _, tt := range []struct {
		name    string
		windows []autoscale.Window
		want    int    // minutes since midnight
		why     string // of the wait
	}{
		{"none", nil, 1, ""},
		{"denied for an hour", []autoscale.Window{hours(t, deny, "0", time.Hour)}, 60, "window w0 denies it until 2026-11-02T01:00:00Z: 0 0 * * * for 1h0m0s (UTC)"},
		{"allowed from two on", []autoscale.Window{hours(t, allow, "2", time.Hour)}, 120, "window w0 allows it from 2026-11-02T02:00:00Z on: 0 2 * * * for 1h0m0s (UTC)"},
		{"allowed by one of two", []autoscale.Window{hours(t, allow, "2", time.Hour), hours(t, allow, "1", time.Hour)}, 60, "window w1 allows it from"},
		{"allowed by the second now", []autoscale.Window{hours(t, allow, "2", time.Hour), hours(t, allow, "0", time.Hour)}, 1, ""},
		{"a denial goes before what is allowed", []autoscale.Window{hours(t, allow, "0", 5*time.Hour), hours(t, deny, "0", 90*time.Minute)}, 90, "window w1 denies it until 2026-11-02T01:30:00Z"},
		{"of moves alone", []autoscale.Window{hours(t, autoscale.Window{Deny: true, Moves: true}, "0", 5*time.Hour)}, 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for i := range tt.windows {
				tt.windows[i].Name = "w" + string(rune('0'+i))
			}
			blocked := "" // why the offer was blocked last
			plan := func(p planner.Problem) (planner.Plan, error) {
				if why := p.Offers[0].Blocked; why != "" {
					blocked = why
				}
				return thrifty(p)
			}
			w := newWorld(t, setup{plan: plan, offerings: []provider.Offering{smallSpot}, settings: func(s *autoscale.Settings) { s.Windows, s.SkipUnchanged = tt.windows, true }})
			w.submit(testJob("GPT-L", 1, 1))
			for range 150 {
				if r := w.round(time.Minute); len(r.Bought) > 0 {
					break
				}
			}
			if !strings.HasPrefix(blocked, tt.why) || (blocked == "") != (tt.why == "") {
				t.Errorf("blocked: %q, want %q", blocked, tt.why)
			}
			if got := int(w.now.Sub(start) / time.Minute); got != tt.want {
				t.Errorf("bought after %d minutes, want %d", got, tt.want)
			}
		})
	}
}

// TestWindowsHoldMovesAndNotWhatHasToBe: a better place is left alone outside the
// window, and a machine that is drained is left at any time.
func TestWindowsHoldMovesAndNotWhatHasToBe(t *testing.T) {
	allow := hours(t, autoscale.Window{Name: "nights", Moves: true}, "1", time.Hour)
	w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot, smallOnDemand}, settings: func(s *autoscale.Settings) { s.Windows = []autoscale.Window{allow} }})
	w.prices.rates[smallSpot], w.prices.rates[smallOnDemand] = 9*w.prices.rates[smallSpot], 8*w.prices.rates[smallSpot]
	w.submit(testJob("GPT-L", 10, 1))
	w.until(10, func() bool { return w.runs() == 1 })
	w.prices.rates[smallSpot] /= 100
	said := ""
	for w.now.Before(start.Add(59 * time.Minute)) {
		for _, d := range w.round(time.Minute).Diff.Deferred {
			said = d.Reason
		}
	}
	if w.kinds()[autoscale.EventMove] != 0 || !strings.HasPrefix(said, "window nights allows it from 2026-11-02T01:00:00Z on") {
		t.Errorf("%d moves, and the plan says %q", w.kinds()[autoscale.EventMove], said)
	}
	w.round(time.Minute)
	if w.kinds()[autoscale.EventMove] != 1 {
		t.Errorf("no move when the window opens: %v", w.kinds())
	}
	for w.now.Before(start.Add(2*time.Hour + time.Minute)) {
		w.round(time.Minute)
	}
	w.set(autoscale.DrainMachine, string(w.live()[0].ID))
	w.until(20, func() bool { return w.kinds()[autoscale.EventRelease] == 2 })
	if w.runs() != 1 {
		t.Errorf("the job of a drained machine does not run")
	}
}

func TestWindowsThatMakeNoSenseAreRefused(t *testing.T) {
	good := hours(t, autoscale.Window{Name: "a", Moves: true}, "1", time.Hour)
	nameless, idle := good, good
	nameless.Name, idle.Moves = "", false
	for want, list := range map[string][]autoscale.Window{
		"has no name":    {nameless},
		"is of nothing":  {idle},
		"has no time":    {{Name: "a", Moves: true}},
		"is given twice": {good, good},
	} {
		w := newWorld(t, setup{})
		w.cfg.Settings.Windows = list
		if _, err := autoscale.New(w.cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
