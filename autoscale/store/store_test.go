package store

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

var at = time.Date(2026, 11, 29, 12, 0, 0, 123456789, time.UTC)

// flat is a curve that JSON can carry: the same speed everywhere.
type flat struct{ PerHour float64 }

func (f flat) Speed(string, int, int) (planner.Speed, bool) {
	return planner.Speed{Goodput: f.PerHour}, true
}

// testCodec carries a job as JSON with a flat curve.
var testCodec = Codec{
	Encode: func(j *planner.Job) ([]byte, error) { return json.Marshal(j) },
	Decode: func(text []byte) (*planner.Job, error) {
		j := &planner.Job{}
		curve := &flat{}
		j.Curve = curve
		if err := json.Unmarshal(text, j); err != nil {
			return nil, err
		}
		j.Curve = *curve
		return j, nil
	},
}

// stores are the fillers that the suite runs on. Each opens a new store, and opens
// it again after a restart where there is something to come back to.
var stores = map[string]func(t testing.TB) (open func() autoscale.Store){
	"memory": func(testing.TB) func() autoscale.Store {
		m := NewMemory("")
		return func() autoscale.Store { return m }
	},
	"sqlite": func(t testing.TB) func() autoscale.Store {
		path := filepath.Join(t.TempDir(), "fleet of 50% & more?#1.db")
		var last *SQLite
		shut := func() {
			if last != nil {
				if err := last.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}
		}
		t.Cleanup(shut)
		return func() autoscale.Store {
			shut()
			s, err := OpenSQLite(context.Background(), SQLiteConfig{Path: path, Jobs: testCodec})
			if err != nil {
				t.Fatal(err)
			}
			last = s
			return s
		}
	},
}

func onEach(t *testing.T, test func(t *testing.T, open func() autoscale.Store)) {
	for name, make := range stores {
		t.Run(name, func(t *testing.T) { test(t, make(t)) })
	}
}

func testOffering() provider.Offering {
	return provider.Offering{Cloud: "aws", Account: "111122223333", Region: "us-east-1", Zone: "use1-az1", Type: "p5.48xlarge", Market: provider.Spot}
}

func testJob(id planner.JobID) *planner.Job {
	return &planner.Job{
		ID: id, Team: "Vision", Family: "GPT", Submitted: at, Curve: flat{12.5},
		Work:      planner.Work{Samples: 1e9, Kind: planner.WorkExact},
		Resources: planner.Resources{Accelerators: []string{"H100"}, Replicas: planner.Replicas{Min: 8, Max: 64, MultipleOf: 8}},
		Markets:   []provider.Market{provider.Spot, provider.OnDemand},
	}
}

// full is a change with every field of every record set.
func full() autoscale.Change {
	o := testOffering()
	config := planner.Config{Cloud: "aws", Type: "p5.48xlarge", Nodes: 2, Replicas: 16, Batch: 512}
	return autoscale.Change{
		Round: 7,
		Jobs: []autoscale.JobRecord{{
			Job: testJob("GPT-L"), Phase: autoscale.JobStarted, Generation: 3,
			Gang: &autoscale.Gang{Job: "GPT-L", Generation: 3, Config: config, Offering: o, Nodes: []autoscale.GangNode{
				{Instance: "i-1", Accelerators: []int{0, 1}}, {Instance: "i-2", Accelerators: []int{2, 3}},
			}},
			Times:    autoscale.GangTimes{Started: at, Running: at.Add(1), Stopping: at.Add(2)},
			Stopping: autoscale.StopSave,
			Target:   &planner.Running{Config: config, Offering: o, Machines: []provider.InstanceID{"i-3", "intent/t/1"}, Since: at},
			Safe:     0.1, Seen: 1e300, SeenAt: at, Waiting: at, Held: 5 * time.Nanosecond, Started: at, Restarts: 4, Losses: 5, Failures: 6, Spent: -7,
			Claims: []planner.Claim{{Kind: "aws/p3.2xlarge", Share: 0.25, Due: time.Hour, Had: 3}}, ClaimedAt: at, Lease: at.Add(time.Minute),
		}},
		Intents: []autoscale.Intent{{
			Token: "t", Epoch: 3, Round: 7, Offering: o, Count: 3, Min: 2, Rate: 98_320_000_001, Reason: "why", Created: at,
			State: autoscale.IntentOpen, Instances: []provider.InstanceID{"i-1"}, Error: "outcome unknown", Alternates: []provider.Offering{o},
		}},
		Instances: []autoscale.InstanceRecord{{
			Instance: provider.Instance{
				ID: "i-1", Offering: o, State: provider.Running, Tags: provider.Tags{Fleet: "f", Epoch: 1, Round: 2, Intent: "t"},
				Launched: at, Started: at.Add(1), Ended: at.Add(2), Cause: provider.Interrupted,
				CalledHome: at, Accelerators: 7, MemGiB: 58.5,
			},
			ReadyAt: at, Draining: true, Reason: "why", Ready: true, Rate: 1, Booked: at, Seen: at, Noticed: at, Loss: at, EndAsked: at, Denied: at,
			Gone: true, Missed: at, Silent: true, Quarantined: at, Orphan: at, Astray: at, Hinted: at,
		}},
		Overrides: []autoscale.Override{
			{OverrideKey: autoscale.OverrideKey{Kind: autoscale.Pause, Subject: "team/'; --"}, Who: "Ada", Why: "talk", Since: at, Until: at.Add(time.Hour)},
			{OverrideKey: autoscale.OverrideKey{Kind: autoscale.Pin, Subject: "GPT-L"}, Config: &config, Who: "Ada", Since: at},
		},
		Budgets: []autoscale.BudgetRecord{
			{Name: "'; --", Price: budget.Price{At: at, Log: 0.1, Left: -3, Burn: 98_320_000_001}},
			{Name: "month", Team: "NLP", Price: budget.Price{Left: 5}},
		},
		Shortages: []autoscale.Shortage{
			{Scope: autoscale.Scope{Cloud: "aws", Region: "us-east-1", Family: "P", Market: provider.Spot}, Kind: "quota reached", Since: at, Until: at.Add(1), Streak: 2},
			{Scope: autoscale.Scope{Cloud: "gcp"}, Kind: "denied", Since: at, Until: at, Streak: 1},
		},
		Charges: []ledger.Charge{testCharge("c-1"), {ID: "c-2", Kind: ledger.Reversal, Offering: o, Amount: -5, From: at.Add(time.Hour), To: at.Add(2 * time.Hour)}},
		Events: []autoscale.Event{
			{At: at, Round: 7, Kind: autoscale.EventStart, Job: "GPT-L", Instance: "i-1", Offering: &o, Text: "'; DROP TABLE jobs; --"},
			{At: at.Add(time.Hour), Round: 7, Kind: autoscale.EventFrozen},
		},
	}
}

func testCharge(id string) ledger.Charge {
	return ledger.Charge{
		ID: id, Kind: ledger.Usage, Item: ledger.Disk, Instance: "i-1", Run: 1, Offering: testOffering(), From: at, To: at.Add(time.Minute),
		Account: ledger.ToJob, Job: "GPT-L", Team: "Vision", Project: "clip", Share: 3, Of: 8, Rate: 98_320_000_001, Per: 744 * time.Hour, Public: 5,
		Known: true, Prepaid: true, List: 2, Quantity: 500, Price: 6, Amount: 1_638_666_667, Invoiced: at.Add(time.Hour), Note: "why", Round: 7,
	}
}

// contents is all that a store holds.
type contents struct {
	Snapshot  autoscale.Snapshot
	Jobs      []autoscale.JobRecord
	Instances []autoscale.InstanceRecord
	Charges   []ledger.Charge
	Events    []autoscale.Event
}

func read(t testing.TB, s autoscale.Store) (c contents) {
	t.Helper()
	ctx := context.Background()
	var errs [5]error
	c.Snapshot, errs[0] = s.Load(ctx)
	c.Jobs, errs[1] = s.Jobs(ctx)
	c.Instances, errs[2] = s.Instances(ctx)
	c.Charges, errs[3] = s.Charges(ctx, time.Time{}, time.Time{})
	c.Events, errs[4] = s.Events(ctx, time.Time{}, time.Time{})
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return c
}

func mustCommit(t testing.TB, s autoscale.Store, c autoscale.Change) {
	t.Helper()
	snap, err := s.Load(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	c.Version = snap.Version
	if err := s.Commit(context.Background(), c); err != nil {
		t.Fatal(err)
	}
}

func TestReloadIsEqual(t *testing.T) {
	onEach(t, func(t *testing.T, open func() autoscale.Store) {
		s := open()
		born, err := s.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if born.Fleet == "" || born.Epoch != 1 || born.Version != 0 {
			t.Errorf("a new store is %+v, want an id, epoch 1 and version 0", born)
		}
		change := full()
		mustCommit(t, s, change)
		want := contents{
			Snapshot: autoscale.Snapshot{
				Fleet: born.Fleet, Epoch: 1, Round: 7, Version: 1,
				Jobs: change.Jobs, Intents: change.Intents, Instances: change.Instances, Shortages: change.Shortages, Overrides: change.Overrides, Budgets: change.Budgets,
			},
			Jobs: change.Jobs, Instances: change.Instances, Charges: change.Charges, Events: change.Events,
		}
		if diff := cmp.Diff(want, read(t, open())); diff != "" {
			t.Errorf("stored (-), loaded after a restart (+):\n%s", diff)
		}
	})
}

// A store that keeps no events keeps all else, and its copies do so too.
func TestMemoryWithoutEventsKeepsAllElse(t *testing.T) {
	loud, silent := NewMemory("fleet"), NewMemory("fleet")
	silent.KeepNoEvents()
	mustCommit(t, loud, full())
	mustCommit(t, silent, full())
	want := read(t, loud)
	want.Events = nil
	for _, s := range []*Memory{silent, silent.Copy()} {
		if diff := cmp.Diff(want, read(t, s)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestCommitReplacesRowsOfTheSameKey(t *testing.T) {
	onEach(t, func(t *testing.T, open func() autoscale.Store) {
		s := open()
		mustCommit(t, s, full())
		later := full()
		later.Charges, later.Events = nil, nil
		later.Jobs[0].Gang, later.Jobs[0].Target, later.Jobs[0].Phase = nil, nil, autoscale.JobDone
		later.Jobs[0].Ended = at.Add(time.Hour)
		later.Intents[0].State = autoscale.IntentFilled
		later.Instances[0].Settled = true
		later.Shortages[0].Streak = 0
		mustCommit(t, s, later)
		got := read(t, open())
		if n := len(got.Snapshot.Jobs) + len(got.Snapshot.Intents) + len(got.Snapshot.Instances); n != 0 {
			t.Errorf("%d records of what is over are loaded with the running fleet", n)
		}
		if diff := cmp.Diff(later.Shortages[1:], got.Snapshot.Shortages); diff != "" {
			t.Errorf("shortages, the first is forgotten (-want, +got):\n%s", diff)
		}
		if diff := cmp.Diff(later.Jobs, got.Jobs); diff != "" {
			t.Errorf("the job that ended is kept (-want, +got):\n%s", diff)
		}
		if diff := cmp.Diff(later.Instances, got.Instances); diff != "" {
			t.Errorf("the machine that ended is kept (-want, +got):\n%s", diff)
		}
	})
}

func TestCommitOfAnOldVersionStoresNothing(t *testing.T) {
	onEach(t, func(t *testing.T, open func() autoscale.Store) {
		s := open()
		mustCommit(t, s, full())
		before := read(t, s)
		change := full()
		change.Jobs[0].Safe = 99
		change.Charges[0].ID = "another"
		for _, version := range []int64{0, 2} {
			change.Version = version
			if err := s.Commit(t.Context(), change); !errors.Is(err, autoscale.ErrStale) {
				t.Errorf("commit on version %d of a store at 1: got %v, want ErrStale", version, err)
			}
		}
		if diff := cmp.Diff(before, read(t, open())); diff != "" {
			t.Errorf("a refused change left traces:\n%s", diff)
		}
	})
}

// What was launched under a later epoch may be there: none is ever gone back to.
func TestEpochIsKeptAndOnlyGrows(t *testing.T) {
	onEach(t, func(t *testing.T, open func() autoscale.Store) {
		for n, tt := range []struct{ epoch, want int64 }{{0, 1}, {7, 7}, {0, 7}, {3, 7}, {8, 8}} {
			mustCommit(t, open(), autoscale.Change{Epoch: tt.epoch})
			if snap, err := open().Load(t.Context()); err != nil || snap.Epoch != tt.want {
				t.Errorf("change %d, to epoch %d: loaded epoch %d and %v, want %d", n, tt.epoch, snap.Epoch, err, tt.want)
			}
		}
	})
}

func TestCommitIsAtomic(t *testing.T) {
	s := stores["sqlite"](t)()
	before := read(t, s)
	change := full()
	change.Events[1].Offering = &provider.Offering{Cloud: "aws"} // the market is not set: the last row fails
	if err := s.Commit(t.Context(), change); err == nil {
		t.Fatal("an offering without a market was stored")
	}
	if diff := cmp.Diff(before, read(t, s)); diff != "" {
		t.Errorf("a change that failed left traces:\n%s", diff)
	}
}

func TestChargesCountOnce(t *testing.T) {
	onEach(t, func(t *testing.T, open func() autoscale.Store) {
		rapid.Check(t, func(rt *rapid.T) {
			s := stores[filepath.Base(t.Name())](t)()
			seen := map[string]bool{}
			var want pricing.Money
			for range rapid.IntRange(1, 6).Draw(rt, "commits") {
				var change autoscale.Change
				for _, id := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}), 0, 6).Draw(rt, "ids") {
					change.Charges = append(change.Charges, testCharge(id))
					if !seen[id] {
						seen[id], want = true, want+testCharge(id).Amount
					}
				}
				mustCommit(t, s, change)
			}
			var got pricing.Money
			for _, c := range read(t, s).Charges {
				got += c.Amount
			}
			if got != want {
				rt.Errorf("total %s, want %s", got, want)
			}
		})
	})
}

func TestChargesAndEventsOfATime(t *testing.T) {
	onEach(t, func(t *testing.T, open func() autoscale.Store) {
		s := open()
		mustCommit(t, s, full())
		for _, tt := range []struct {
			name     string
			from, to time.Time
			want     int
			events   int
		}{
			{"open", time.Time{}, time.Time{}, 2, 2},
			{"from is included", at, time.Time{}, 2, 2},
			{"to is excluded", time.Time{}, at.Add(time.Hour), 1, 1},
			{"before all", time.Time{}, at, 0, 0},
			{"in the midst of a charge, after an event", at.Add(30 * time.Second), time.Time{}, 2, 1},
			{"after the first", at.Add(time.Minute), time.Time{}, 1, 1},
		} {
			charges, err := s.Charges(t.Context(), tt.from, tt.to)
			if err != nil || len(charges) != tt.want {
				t.Errorf("%s: %d charges and %v, want %d", tt.name, len(charges), err, tt.want)
			}
			events, err := s.Events(t.Context(), tt.from, tt.to)
			if err != nil || len(events) != tt.events {
				t.Errorf("%s: %d events and %v, want %d", tt.name, len(events), err, tt.events)
			}
		}
	})
}

func TestJobsAreInOrderOfSubmission(t *testing.T) {
	onEach(t, func(t *testing.T, open func() autoscale.Store) {
		s := open()
		var change autoscale.Change
		for _, x := range []struct {
			id    planner.JobID
			after time.Duration
		}{{"b", 0}, {"c", -time.Hour}, {"a", 0}} {
			job := testJob(x.id)
			job.Submitted = at.Add(x.after)
			change.Jobs = append(change.Jobs, autoscale.JobRecord{Job: job, Phase: autoscale.JobWaiting})
		}
		mustCommit(t, s, change)
		var got []planner.JobID
		for _, r := range read(t, open()).Jobs {
			got = append(got, r.Job.ID)
		}
		if diff := cmp.Diff([]planner.JobID{"c", "a", "b"}, got); diff != "" {
			t.Errorf("order (-want, +got):\n%s", diff)
		}
	})
}

func TestOpenRefusesAnotherSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fleet.db")
	cfg := SQLiteConfig{Path: path, Jobs: testCodec}
	s, err := OpenSQLite(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.ExecContext(t.Context(), "PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err := OpenSQLite(t.Context(), cfg); err == nil {
		s.Close()
		t.Error("a store of schema 99 was opened")
	}
}

func TestStoresAreBornWithIDsOfTheirOwn(t *testing.T) {
	onEach(t, func(t *testing.T, open func() autoscale.Store) {
		other := stores[filepath.Base(t.Name())](t)
		if a, b := read(t, open()).Snapshot.Fleet, read(t, other()).Snapshot.Fleet; a == b {
			t.Errorf("two stores have the id %s", a)
		}
		if a, b := read(t, open()).Snapshot.Fleet, read(t, open()).Snapshot.Fleet; a != b {
			t.Errorf("the id changed from %s to %s", a, b)
		}
	})
}
