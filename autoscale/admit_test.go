package autoscale_test

import (
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/schedule"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// buyOne is a plan that looks at no limit: it gives up whatever is held and buys a machine
// for the job.
func buyOne(p planner.Problem) (planner.Plan, error) {
	plan := planner.Plan{
		Machines: []planner.PlannedMachine{{Offering: smallSpot, Rate: pricing.DollarPerHour, Reason: "for a"}},
		Allocations: []planner.Allocation{{
			Job: "a", Config: planner.Config{Cloud: "aws", Type: "small", Nodes: 1, Replicas: 1}, Offering: smallSpot, Machines: []planner.MachineRef{0},
		}},
	}
	for _, m := range p.Machines {
		plan.Releases = append(plan.Releases, planner.Release{Instance: m.ID, Offering: m.Offering, Reason: "no longer wanted"})
	}
	return plan, nil
}

// bare is a state in which a job waits and a machine of a dollar an hour is sold.
func bare(t *testing.T, change func(*autoscale.State)) autoscale.State {
	catalogue := testCatalogue(t)
	small, _ := catalogue.Lookup("aws", "small")
	s := autoscale.State{
		Now: start.Add(24 * time.Hour), Round: time.Minute, Hold: 10 * time.Minute, Catalogue: catalogue,
		Jobs:   []autoscale.JobRecord{{Job: testJob("a", 2, 1), Phase: autoscale.JobWaiting, Waiting: start}},
		Offers: []planner.Offer{{Offering: smallSpot, Type: small, Rate: pricing.DollarPerHour, Booked: pricing.DollarPerHour, Boot: 2 * time.Minute}},
	}
	change(&s)
	return s
}

// here is a machine of a dollar an hour that was launched long ago.
func here(state provider.InstanceState) autoscale.InstanceRecord {
	m := autoscale.InstanceRecord{Rate: pricing.DollarPerHour, Ready: state == provider.Running, ReadyAt: start.Add(time.Hour)}
	m.Instance = provider.Instance{ID: "old", Offering: smallSpot, State: state, Launched: start, Started: start}
	return m
}

// lost is a launch of a dollar an hour whose answer is out.
func lost(o provider.Offering) autoscale.Intent {
	return autoscale.Intent{Token: "t", Offering: o, Count: 1, Min: 1, Rate: pricing.DollarPerHour, Created: start, State: autoscale.IntentOpen}
}

// TestAdmissionTrustsNoPlan: what is here, on its way in or out, counts against the cap
// and the quotas until it is gone, and what may not be bought is not, whatever a plan says.
func TestAdmissionTrustsNoPlan(t *testing.T) {
	usd := pricing.DollarPerHour
	quota := func(vcpu int) []provider.Quota {
		return []provider.Quota{{Class: provider.QuotaClass{Cloud: "aws", Region: "us-east-1", Family: "P", Market: provider.Spot}, Unit: provider.VCPUs, Limit: vcpu}}
	}
	nights, err := schedule.ParseCron("0 1 * * *")
	if err != nil {
		t.Fatal(err)
	}
	night, err := schedule.NewWindow(nights, time.Hour, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		change func(s *autoscale.State)
		want   string // in the reason why it is put off; "": it is bought
	}{
		{"nothing here, under the cap", func(s *autoscale.State) { s.BurnCap = usd }, ""},
		{"nothing here, over the cap", func(s *autoscale.State) { s.BurnCap = usd - 1 }, "burn cap"},
		{"a machine that runs", func(s *autoscale.State) {
			s.BurnCap, s.Machines = 2*usd-1, []autoscale.InstanceRecord{here(provider.Running)}
		}, "burn cap"},
		{"a machine that comes up", func(s *autoscale.State) {
			s.BurnCap, s.Machines = 2*usd-1, []autoscale.InstanceRecord{here(provider.Pending)}
		}, "burn cap"},
		{"a machine that is ending", func(s *autoscale.State) {
			s.BurnCap, s.Machines = 2*usd-1, []autoscale.InstanceRecord{here(provider.Ending)}
		}, "burn cap"},
		{"a machine that runs, and room", func(s *autoscale.State) {
			s.BurnCap, s.Machines = 2*usd, []autoscale.InstanceRecord{here(provider.Running)}
		}, ""},
		{"a launch without an answer", func(s *autoscale.State) { s.BurnCap, s.Intents = 2*usd-1, []autoscale.Intent{lost(smallSpot)} }, "burn cap"},
		{"a launch without an answer, and room", func(s *autoscale.State) { s.BurnCap, s.Intents = 2*usd, []autoscale.Intent{lost(smallSpot)} }, ""},
		{"a launch of a cloud that cannot be listed", func(s *autoscale.State) {
			s.BurnCap, s.Intents = 2*usd-1, []autoscale.Intent{lost(slowSpot)}
			s.Frozen = []autoscale.Frozen{{Cloud: "gcp", Reason: "it does not answer"}}
		}, "burn cap"},
		{"a quota that is free", func(s *autoscale.State) { s.Quotas = quota(8) }, ""},
		{"a quota that is too small", func(s *autoscale.State) { s.Quotas = quota(7) }, "quota"},
		{"a quota that a machine holds", func(s *autoscale.State) {
			s.Quotas, s.Machines = quota(15), []autoscale.InstanceRecord{here(provider.Ending)}
		}, "quota"},
		{"a quota that a launch holds", func(s *autoscale.State) { s.Quotas, s.Intents = quota(15), []autoscale.Intent{lost(smallSpot)} }, "quota"},
		{"an offering that was refused", func(s *autoscale.State) {
			s.Shortages = []autoscale.Shortage{{Scope: autoscale.Scope{Cloud: "aws", Zone: "use1-az1"}, Kind: "no capacity", Until: s.Now.Add(1), Streak: 1}}
		}, "no capacity"},
		{"an offering that was refused before", func(s *autoscale.State) {
			s.Shortages = []autoscale.Shortage{{Scope: autoscale.Scope{Cloud: "aws", Zone: "use1-az1"}, Kind: "no capacity", Until: s.Now, Streak: 1}}
		}, ""},
		{"a class that is denied", func(s *autoscale.State) {
			s.Shortages = []autoscale.Shortage{{Scope: autoscale.Scope{Cloud: "aws", Region: "us-east-1", Family: "P", Market: provider.Spot}, Kind: "denied", Until: s.Now.Add(1), Streak: 1}}
		}, "denied"},
		{"an offering that a person excludes", func(s *autoscale.State) {
			s.Overrides = []autoscale.Override{{OverrideKey: autoscale.OverrideKey{Kind: autoscale.Exclude, Subject: smallSpot.String()}, Who: "ada", Since: start}}
		}, "ada"},
		{"a cloud that throttles", func(s *autoscale.State) { s.Busy = []string{"aws"} }, "throttles"},
		{"a cloud that cannot be listed", func(s *autoscale.State) {
			s.Frozen = []autoscale.Frozen{{Cloud: "aws", Reason: "it does not answer"}}
		}, "does not answer"},
		{"a round in which nothing more is bought", func(s *autoscale.State) { s.NoBuying = "the budget is refused" }, "refused"},
		{"a window for launches that is shut", func(s *autoscale.State) {
			s.Windows = []autoscale.Window{{Name: "night", Launches: true, Time: night}}
		}, "night"},
		{"what is not sold", func(s *autoscale.State) { s.Offers = nil }, "not sold"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			diff, _, err := autoscale.Decide(bare(t, tt.change), buyOne)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				if len(diff.Launches) != 1 || len(diff.Deferred) != 0 {
					t.Errorf("launches %+v, put off %+v, want it bought", diff.Launches, diff.Deferred)
				}
				return
			}
			if len(diff.Launches) != 0 || len(diff.Deferred) != 1 || !strings.Contains(diff.Deferred[0].Reason, tt.want) {
				t.Errorf("launches %+v, put off %+v, want it put off for %q", diff.Launches, diff.Deferred, tt.want)
			}
		})
	}
}

// TestPlansLeaveTheRateOfWhatIsSetAside: machines that a plan cannot use still burn, so
// its cap and the rows over everything are smaller by them.
func TestPlansLeaveTheRateOfWhatIsSetAside(t *testing.T) {
	machine := func(change func(m *autoscale.InstanceRecord)) func(*autoscale.State) {
		return func(s *autoscale.State) {
			m := here(provider.Running)
			change(&m)
			s.Machines = append(s.Machines, m)
		}
	}
	for _, tt := range []struct {
		name    string
		change  func(s *autoscale.State)
		aside   bool // it is not in the problem, and its dollar is taken off
		leaving bool // and will be gone in a moment
	}{
		{"a machine that runs", machine(func(*autoscale.InstanceRecord) {}), false, false},
		{"a launch without an answer", func(s *autoscale.State) { s.Intents = []autoscale.Intent{lost(smallSpot)} }, false, false},
		{"one that is drained", machine(func(m *autoscale.InstanceRecord) { m.Draining = true }), true, true},
		{"one that is taken back", machine(func(m *autoscale.InstanceRecord) { m.Noticed = start }), true, true},
		{"one that is unfit", machine(func(m *autoscale.InstanceRecord) { m.Quarantined = start }), true, true},
		{"one that is to end", machine(func(m *autoscale.InstanceRecord) { m.EndAsked = start }), true, true},
		{"one that is ending", machine(func(m *autoscale.InstanceRecord) { m.Instance.State = provider.Ending }), true, true},
		{"one of a type that the catalogue lacks", machine(func(m *autoscale.InstanceRecord) { m.Instance.Offering.Type = "unheard-of" }), true, false},
		{"one on which nobody's gang runs", func(s *autoscale.State) {
			s.Machines, s.Used = []autoscale.InstanceRecord{here(provider.Running)}, map[provider.InstanceID]bool{"old": true}
		}, true, false},
		{"one of a cloud that cannot be listed", func(s *autoscale.State) {
			m := here(provider.Running)
			m.Instance.Offering = slowSpot
			s.Machines, s.Frozen = []autoscale.InstanceRecord{m}, []autoscale.Frozen{{Cloud: "gcp", Reason: "it does not answer"}}
		}, true, false},
		{"a launch of a cloud that cannot be listed", func(s *autoscale.State) {
			s.Intents, s.Frozen = []autoscale.Intent{lost(slowSpot)}, []autoscale.Frozen{{Cloud: "gcp", Reason: "it does not answer"}}
		}, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := bare(t, tt.change)
			s.BurnCap = 5 * pricing.DollarPerHour
			s.Rows = []planner.Row{
				{Name: "all", Kind: planner.BurnRow, Most: 4 * pricing.DollarPerHour},
				{Name: "team", Kind: planner.BurnRow, Team: "Vision", Most: 4 * pricing.DollarPerHour},
			}
			var got planner.Problem
			if _, _, err := autoscale.Decide(s, func(p planner.Problem) (planner.Plan, error) {
				got = p
				return buyOne(p)
			}); err != nil {
				t.Fatal(err)
			}
			var off, leaving pricing.Rate
			if tt.aside {
				off = pricing.DollarPerHour
			}
			if tt.leaving {
				leaving = pricing.DollarPerHour
			}
			if got.BurnCap != s.BurnCap-off || got.Rows[0].Most != s.Rows[0].Most-off || got.Rows[1].Most != s.Rows[1].Most || got.Aside != leaving {
				t.Errorf("cap %s, rows %s and %s, aside %s USD/h, want %s off cap and first row, %s aside", got.BurnCap, got.Rows[0].Most, got.Rows[1].Most, got.Aside, off, leaving)
			}
			if there := len(got.Machines) == 1; there == tt.aside {
				t.Errorf("machines %+v", got.Machines)
			}
			if s.Rows[0].Most != 4*pricing.DollarPerHour {
				t.Error("the rows of the state were changed")
			}
		})
	}
}
