package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// TestDeadlineIsShownWithItsNet: slack and net while there is one, how late and the
// cheapest end when there is none.
func TestDeadlineIsShownWithItsNet(t *testing.T) {
	at := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	o := provider.Offering{Cloud: "aws", Zone: "use1-az1", Type: "p3.2xlarge", Market: provider.OnDemand}
	course := &planner.Course{Config: planner.Config{Cloud: "aws", Type: "p3.2xlarge", Nodes: 1, Replicas: 1}, Offering: o, Finish: at, Cost: 5_000_000_000}
	for _, tc := range []struct {
		name    string
		promise planner.Promise
		says    string
		slack   float64 // s; < 0: null
	}{
		{"kept", planner.Promise{State: planner.PromiseKept, Deadline: at, Slack: 90 * time.Minute, Net: course, From: at.Add(-time.Hour)},
			"in time: 1h30m0s of slack, from 2026-08-01 11:00 it gets aws/use1-az1/p3.2xlarge/on-demand", 5400},
		{"net", planner.Promise{State: planner.PromiseNet, Deadline: at, Net: course, From: at.Add(-time.Hour), Finish: at},
			"no slack is left: it gets what surely runs, and ends at 2026-08-01 12:00", 0},
		{"open", planner.Promise{State: planner.PromiseOpen, Deadline: at, Reason: "quota P (on-demand) in us-east-1 is kept for a, which must start sooner"},
			"no net can be reserved: quota P (on-demand) in us-east-1 is kept for a, which must start sooner", -1},
		{"late", planner.Promise{State: planner.PromiseLate, Deadline: at, Soonest: at.Add(20 * time.Minute), Later: course},
			"late: nothing that surely runs meets the deadline, the fastest is 20m0s after it; the cheapest end is at 2026-08-01 12:00 for 5.00 USD", -1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := deadlineOf(at, nil)
			d.promised(tc.promise)
			if d.Promise != tc.name || d.Says != tc.says {
				t.Errorf("%s: %q, want %s: %q", d.Promise, d.Says, tc.name, tc.says)
			}
			if (d.Slack == nil) != (tc.slack < 0) || d.Slack != nil && *d.Slack != tc.slack {
				t.Errorf("slack %v, want %v", d.Slack, tc.slack)
			}
			if (d.Later != nil) != (tc.name == "late") || (d.Net != nil) != (tc.slack >= 0) {
				t.Errorf("net %+v, later %+v", d.Net, d.Later)
			}
			soon := at.Add(-3 * time.Hour)
			inTime := deadlineOf(at, &soon)
			inTime.promised(tc.promise)
			if says := inTime.text(); strings.HasPrefix(says, "no net, 3 h") != (tc.name == "open") {
				t.Errorf("expected three hours before it: %q", says)
			}
			if _, err := json.Marshal(d); err != nil {
				t.Error(err)
			}
		})
	}
}
