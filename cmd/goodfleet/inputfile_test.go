package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// Every command that reads a file refuses a folder, and a device that never ends, by its
// name, once, and at once.
func TestWhatIsNoFileIsRefusedByName(t *testing.T) {
	f := newHookFolder(t)
	f.write("policies.yaml", hookPolicy)
	ledger, policies := f.path("charges.jsonl"), f.path("policies.yaml")
	commands := map[string][]string{
		"policies": {"budget", "check", "FILE"}, "budgets": {"budget", "status", "--budgets", "FILE", "--ledger", ledger},
		"ledger": {"budget", "status", "--budgets", policies, "--ledger", "FILE"}, "report": {"cost-report", "--ledger", "FILE"},
		"diff": {"cost-report", "diff", ledger, "FILE"}, "bill": {"cost-report", "reconcile", "FILE", "--ledger", ledger},
		"focus": {"focus", "validate", "FILE"}, "prices": {"prices", "check", "FILE"}, "own prices": {"plan", "five-jobs", "--prices", "FILE"},
		"jobs": {"plan", "FILE"}, "jobs of why": {"why", "x", "--jobs", "FILE"}, "state": {"plan", "five-jobs", "--state", "FILE"},
		"settings": {"plan", "five-jobs", "--config", "FILE"}, "simulated jobs": {"simulate", "FILE"}, "workload": {"simulate", "--workload", "FILE"},
		"sweep": {"simulate", "--sweep", "FILE"}, "shares": {"allocate", "FILE", "--policy", "max_min_fairness"}, "choices": {"assign", "FILE"},
		"questions": {"goodput", "FILE"},
	}
	files := map[string]string{f.dir: "is a folder, want a file"}
	if runtime.GOOS != "windows" {
		files["/dev/zero"] = "is a device, want a file or a pipe"
	}
	for name, words := range commands {
		for file, why := range files {
			t.Run(name+" "+filepath.Base(why[:11]), func(t *testing.T) {
				args := make([]string, len(words))
				for i, w := range words {
					args[i] = strings.Replace(w, "FILE", file, 1)
				}
				var out, errs bytes.Buffer
				code := run(t.Context(), args, streams{strings.NewReader(""), &out, &errs})
				said := errs.String()
				if code != exitError || out.Len() > 0 || !isOneLine(said) || !strings.HasSuffix(said, file+": "+why+"\n") || strings.Count(said, file) != 1 {
					t.Errorf("exit code %d, %q and %q", code, out.String(), said)
				}
			})
		}
	}
}

// A pipe is read as a file is, and the device that is empty is an empty one.
func TestPipesAreRead(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		out.WriteString(hookPolicy)
		out.Close()
	}()
	defer in.Close()
	if text, err := readAll(in, "pipe", mostDocument); err != nil || string(text) != hookPolicy {
		t.Errorf("got %q, %v", text, err)
	}
	if text, err := readFile(os.DevNull); err != nil || len(text) > 0 {
		t.Errorf("got %q, %v", text, err)
	}
	if _, err := readAll(strings.NewReader("12345"), "pipe", 4); err == nil || err.Error() != "pipe: is larger than 0 MiB" {
		t.Errorf("got %v", err)
	}
}

// What is committed goes on for as many rounds as the settings say they last.
func TestCommittedFollowsTheRoundOfTheSettings(t *testing.T) {
	o := provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p3.2xlarge", Market: provider.OnDemand}
	snap := &autoscale.Snapshot{
		Instances: []autoscale.InstanceRecord{{Instance: provider.Instance{ID: "i-1", Offering: o, State: provider.Running}, Rate: 6 * pricing.DollarPerHour}},
		Jobs: []autoscale.JobRecord{{
			Job: &planner.Job{ID: "a", Checkpoint: planner.Checkpoint{Save: 4 * time.Minute}}, Gang: &autoscale.Gang{Offering: o, Nodes: []autoscale.GangNode{{Instance: "i-1", Accelerators: []int{0}}}},
		}},
	}
	policies := budget.Policies{{Name: "p", Cap: &budget.Cap{Amount: pricing.Dollar, Period: budget.Day}}}
	now := time.Date(2026, 8, 1, 6, 0, 0, 0, time.UTC)
	history, err := pricing.EmbeddedHistory()
	if err != nil {
		t.Fatal(err)
	}
	rate, ok := history.RateAt(o, now)
	if !ok {
		t.Fatalf("no rate of %s is known", o)
	}
	grace := autoscale.DefaultSettings().Grace
	for _, round := range []time.Duration{time.Minute, 5 * time.Minute} {
		want := rate.Over(4*time.Minute + 3*round + grace)
		got, err := settings{round: round}.tails(policies, budget.Standings(policies, nil, now), snap, now)
		if err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("rounds of %v: got %v, %v, want %s", round, got, err, want)
		}
	}
}
