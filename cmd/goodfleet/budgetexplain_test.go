package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// storedJob is a job with data in one region.
const storedJob = `apiVersion: goodfleet/v1
kind: TrainingJob
metadata: {name: run, team: Vision}
spec:
  submit: 2026-08-01T00:00:00Z
  work: {samples: 8000000}
  resources: {accelerators: [V100], replicas: [1]}
  clouds: [aws]
  data: {cloud: aws, region: us-east-1, size: SIZE}
  checkpoint: {size: 2GiB, save: 30s, restore: 1m}
  throughput: {model: ResNet-50 (batch size 64)}
`

// storeFolder is a folder with a store, policies and jobs, in which budget explain is asked.
type storeFolder struct {
	t   *testing.T
	dir string
	now time.Time

	machines []autoscale.InstanceRecord // of the store
}

func newStoreFolder(t *testing.T, policies, size string) storeFolder {
	x := storeFolder{t: t, dir: t.TempDir(), now: time.Date(2026, 8, 1, 6, 0, 0, 0, time.UTC)}
	for file, text := range map[string]string{"policies.yaml": policies, "jobs.yaml": strings.Replace(storedJob, "SIZE", size, 1), "charges.jsonl": ""} {
		if err := os.WriteFile(x.path(file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

func (x storeFolder) path(file string) string { return filepath.Join(x.dir, file) }

// store makes the store: the job of the file, changed, and questions.
func (x storeFolder) store(change func(*autoscale.JobRecord), questions ...budget.Question) {
	world, err := newWorld(settings{})
	if err != nil {
		x.t.Fatal(err)
	}
	jobs, err := world.readJobs(x.path("jobs.yaml"), nil)
	if err != nil {
		x.t.Fatal(err)
	}
	record := autoscale.JobRecord{Job: jobs[0], Phase: autoscale.JobWaiting, Waiting: x.now.Add(-20 * time.Minute)}
	if change != nil {
		change(&record)
	}
	s, err := openStore(x.t.Context(), x.path("fleet.db"), false)
	if err == nil {
		err = errors.Join(s.Commit(x.t.Context(), autoscale.Change{Round: 1, Questions: questions, Jobs: []autoscale.JobRecord{record}, Instances: x.machines}), s.Close())
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

// says is what explain prints, as JSON or as text, on one line.
func (x storeFolder) says(words ...string) (code int, out string) {
	x.t.Helper()
	words = append([]string{"budget", "explain"}, words...)
	words = append(words, "--budgets", x.path("policies.yaml"), "--ledger", x.path("charges.jsonl"), "--now", x.now.Format(time.RFC3339))
	var stdout, stderr bytes.Buffer
	code = run(x.t.Context(), words, streams{strings.NewReader(""), &stdout, &stderr})
	if code == exitError {
		x.t.Fatalf("%v: %s", words, stderr.String())
	}
	return code, strings.Join(strings.Fields(stdout.String()), " ")
}

const onDemandOffering = "aws/use1-az1/p3.2xlarge/on-demand"

// What people answered to a question, by whom and until when, is what explain says of a launch:
// it is the answer that a round goes by.
func TestExplainKnowsWhatPeopleAnswered(t *testing.T) {
	now := time.Date(2026, 8, 1, 6, 0, 0, 0, time.UTC)
	p := &budget.Policy{Name: "big", Approval: &budget.Approval{Above: pricing.DollarPerHour, From: []string{"ada", "bob"}, Within: 2 * time.Hour}}
	question := func(job string, v budget.Verdict, burn float64, ago time.Duration) budget.Question {
		q := p.NewQuestion([]string{job}, pricing.RateOf(burn), now.Add(-ago))
		if v != budget.Open {
			if err := q.Answer(v, "ada", "the review", now.Add(-ago)); err != nil {
				t.Fatal(err)
			}
		}
		return q
	}
	open := question("run", budget.Open, 4, time.Hour)
	for name, c := range map[string]struct {
		questions []budget.Question
		code      int
		want      string
	}{
		"nobody was asked":       {nil, exitDone, "it may be bought, but not at once: big: it wants the yes of ada or bob first, over 1 USD/h"},
		"another was asked":      {[]budget.Question{question("walk", budget.Approved, 4, time.Hour)}, exitDone, "big: it wants the yes of ada or bob first"},
		"it is open":             {[]budget.Question{open}, exitDone, "big: question " + open.ID + " waits for the yes of ada or bob since 2026-08-01T05:00:00Z, and is refused at 2026-08-01T07:00:00Z"},
		"approved":               {[]budget.Question{question("run", budget.Approved, 4, time.Hour)}, exitDone, "approved by ada: the review, until 2026-08-02T05:00:00Z"},
		"approved for less":      {[]budget.Question{question("run", budget.Approved, 2, time.Hour)}, exitDone, "big: it wants the yes of ada or bob first"},
		"approved too long ago":  {[]budget.Question{question("run", budget.Approved, 4, 25*time.Hour)}, exitDone, "big: it wants the yes of ada or bob first"},
		"denied":                 {[]budget.Question{question("run", budget.Denied, 4, time.Hour)}, exitFound, "denied by ada: the review; it is asked anew at 2026-08-02T05:00:00Z"},
		"denied and asked again": {[]budget.Question{question("run", budget.Denied, 4, 25*time.Hour), open}, exitDone, "question " + open.ID + " waits"},
		"nobody answered":        {[]budget.Question{question("run", budget.Open, 4, 3*time.Hour)}, exitFound, "by 2026-08-01T05:00:00Z; it is asked anew at 2026-08-02T05:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newStoreFolder(t, `apiVersion: goodfleet/v1
kind: BudgetPolicy
metadata: {name: big, owner: o}
spec: {approval: {above: 1 USD/h, within: 2h, from: [ada, bob]}}
`, "10GiB")
			x.store(nil, c.questions...)
			for _, words := range [][]string{{onDemandOffering, "--job", "run"}, {"run", "--markets", "on-demand", "--regions", "us-east-1"}} {
				code, out := x.says(append(words, "--state", x.path("fleet.db"))...)
				if words[0] == "run" && c.code == exitFound {
					code = c.code // machines under 1 USD/h ask for nothing
				}
				if code != c.code || !strings.Contains(out, c.want) {
					t.Errorf("%v: exit code %d, %s\nwant %d, %q", words, code, out, c.code, c.want)
				}
				if tells := strings.Contains(out, "goodfleet budget approve "+open.ID+" --state "+x.path("fleet.db")); tells != strings.Contains(c.want, "waits for the yes") && tells != strings.Contains(c.want, " waits") {
					t.Errorf("%v: the command that answers is told: %v", words, tells)
				}
			}
			if _, out := x.says(onDemandOffering, "--state", x.path("fleet.db")); !strings.Contains(out, "it wants the yes of ada or bob first") {
				t.Errorf("of nobody's machine: %s", out)
			}
		})
	}
}

// How long a job has waited for spot, and when that ends, is said by what the store knows.
func TestExplainSaysHowLongAWaitForSpotLasts(t *testing.T) {
	onDemand := provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p3.2xlarge", Market: provider.OnDemand}
	spot := onDemand
	spot.Market = provider.Spot
	runs := func(o provider.Offering, since time.Duration) func(*autoscale.JobRecord) {
		return func(r *autoscale.JobRecord) {
			r.Waiting, r.Target = time.Time{}, &planner.Running{Offering: o, Machines: []provider.InstanceID{"i-1"}, Since: time.Date(2026, 8, 1, 6, 0, 0, 0, time.UTC).Add(-since), Config: planner.Config{Cloud: o.Cloud, Type: o.Type, Nodes: 1, Replicas: 1}}
		}
	}
	const may = "it may be bought."
	for name, c := range map[string]struct {
		change   func(*autoscale.JobRecord)
		offering provider.Offering
		want     string
		waits    bool
	}{
		"it waits":           {nil, onDemand, "on-demand after 45m0s without spot: 20m0s have passed since 2026-08-01T05:40:00Z, it ends at 2026-08-01T06:25:00Z", true},
		"it takes spot":      {nil, spot, may, false},
		"it has waited":      {func(r *autoscale.JobRecord) { r.Waiting = r.Waiting.Add(-time.Hour) }, onDemand, "on demand at once: it waits for spot since 2026-08-01T04:40:00Z", false},
		"it is on spot":      {runs(spot, time.Hour), onDemand, "on-demand after 45m0s without spot: it has what it runs on, and has not begun to wait", true},
		"it is on demand":    {runs(onDemand, time.Hour), onDemand, "on demand at once: it is on demand", false},
		"it cools down":      {runs(onDemand, 10*time.Minute), spot, "it goes back to spot at 2026-08-01T06:20:00Z: 10m0s have passed since 2026-08-01T05:50:00Z, it ends at 2026-08-01T06:20:00Z", true},
		"its deadline nears": {func(r *autoscale.JobRecord) { r.Job.Deadline = time.Date(2026, 8, 1, 7, 0, 0, 0, time.UTC) }, onDemand, "on demand at once: its deadline is at risk", false},
	} {
		t.Run(name, func(t *testing.T) {
			x := newStoreFolder(t, `apiVersion: goodfleet/v1
kind: BudgetPolicy
metadata: {name: spot-first, owner: o}
spec: {fallback: {after: 45m, deadlines: true}, cooldown: 30m}
`, "10GiB")
			x.store(c.change)
			_, out := x.says(c.offering.String(), "--job", "run", "--state", x.path("fleet.db"))
			if !strings.Contains(out, c.want) || c.waits != strings.Contains(out, "but not at once") {
				t.Errorf("got %s\nwant %q, and that it waits: %v", out, c.want, c.waits)
			}
			if _, out := x.says("run", "--jobs", x.path("jobs.yaml"), "--regions", "us-east-1"); !strings.Contains(out, "only after 45m0s without spot, or with a deadline at risk") {
				t.Errorf("of a job of a file: %s", out)
			}
		})
	}
}

// What a job takes to an offering is counted against each cap where it is known, and else it
// is said what is not.
func TestExplainCountsTheTrafficOfAMoveToAnOffering(t *testing.T) {
	ran := func(size planner.Size) func(*autoscale.JobRecord) {
		return func(r *autoscale.JobRecord) {
			r.Place, r.Safe, r.Job.Checkpoint.Size = provider.Offering{Cloud: "aws", Region: "eu-west-1", Zone: "euw1-az1", Type: "p3.2xlarge", Market: provider.Spot}, 1000, size
		}
	}
	west := "aws/usw2-az1/p3.2xlarge/on-demand"
	for name, c := range map[string]struct {
		size   string
		change func(*autoscale.JobRecord)
		words  []string
		store  bool
		code   int
		want   string
	}{
		"at home":                   {size: "500GiB", words: []string{onDemandOffering, "--job", "run"}, store: true, want: "it may be bought."},
		"data":                      {size: "100GiB", words: []string{west, "--job", "run"}, store: true, want: "What it takes there costs 2.147483648 USD at once."},
		"of a file":                 {size: "100GiB", words: []string{west, "--job", "run", "--jobs", "JOBS"}, want: "What it takes there costs 2.147483648 USD at once."},
		"more than the cap":         {size: "500GiB", words: []string{west, "--job", "run"}, store: true, code: exitFound, want: "refused. cap: 0 of 5 USD are spent, what is left lasts 15m0s at 20 USD/h"},
		"data and checkpoint":       {size: "100GiB", change: ran(planner.Size{GiB: 50, Known: true}), words: []string{west, "--job", "run"}, store: true, want: "What it takes there costs 3.2"},
		"a checkpoint of any size":  {size: "100GiB", change: ran(planner.Size{}), words: []string{west, "--job", "run"}, store: true, want: "What it takes there costs at least 2.147483648 USD at once: the size of its checkpoint in eu-west-1 is not given."},
		"a job that nobody tells":   {size: "100GiB", words: []string{west, "--job", "run"}, want: "What it takes there cannot be known: nothing describes the job: name --jobs or --state."},
		"for nobody":                {size: "100GiB", words: []string{west}, want: "for nobody yet: it may be bought."},
		"each offering of the file": {size: "100GiB", words: []string{"run", "--jobs", "JOBS", "--regions", "us-west-2"}, want: "it may be bought; what it takes there costs 2.147483648 USD at once"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newStoreFolder(t, `apiVersion: goodfleet/v1
kind: BudgetPolicy
metadata: {name: cap, owner: o}
spec: {budget: {amount: 5 USD, per: total}}
`, c.size)
			words := append([]string{}, c.words...)
			for i := range words {
				if words[i] == "JOBS" {
					words[i] = x.path("jobs.yaml")
				}
			}
			if c.store {
				x.store(c.change)
				words = append(words, "--state", x.path("fleet.db"))
			}
			code, out := x.says(words...)
			if code != c.code || !strings.Contains(out, c.want) || c.want == "it may be bought." && strings.Contains(out, "takes there") {
				t.Errorf("%v: exit code %d, %s\nwant %d, %q", words, code, out, c.code, c.want)
			}
		})
	}
}

// Of a job, what it cannot use is not listed: it is asked as a round asks, by all that the job
// wants of a machine. Where nothing is left, what it lacks is said.
func TestExplainListsWhatTheJobCanUse(t *testing.T) {
	const policies = `apiVersion: goodfleet/v1
kind: BudgetPolicy
metadata: {name: any, owner: o}
spec: {limits: {burn: 1000 USD/h}}
`
	const cloud = "clouds: [aws]"
	for name, c := range map[string]struct {
		from, to string // in the job's file
		has, not string // of what is listed; has "": nothing is
	}{
		"as it is":   {"", "", "p3.2xlarge/spot", "p2.xlarge"},
		"clouds":     {cloud, "clouds: [gcp]", "gcp/", "aws/"},
		"market":     {cloud, "markets: [on-demand]", "on-demand", "/spot"},
		"price":      {cloud, "maxPrice: 1 USD/h", "spot", "on-demand"},
		"its region": {cloud, "regions: [us-west-2]", "usw2-", "use1-"},
		"replicas":   {"replicas: [1]", "replicas: [8]", "p3.16xlarge", "p2."},
		"too much":   {"replicas: [1]", "replicas: [1], acceleratorMemory: 99GiB", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			x := newStoreFolder(t, policies, "10GiB")
			text := strings.Replace(strings.Replace(storedJob, "SIZE", "10GiB", 1), c.from, c.to, 1)
			if err := os.WriteFile(x.path("jobs.yaml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			words := []string{"budget", "explain", "run", "--jobs", x.path("jobs.yaml"), "--regions", "us-east-1,us-west-2,us-central1", "--budgets", x.path("policies.yaml"), "--ledger", x.path("charges.jsonl"), "--now", "2023-06-08T06:00:00Z"}
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), words, streams{strings.NewReader(""), &stdout, &stderr})
			if c.has == "" {
				if code != exitError || !strings.Contains(stderr.String(), "resources.acceleratorMemory: wants 99 GiB") {
					t.Errorf("exit code %d, %s", code, stderr.String())
				}
				return
			}
			if out := stdout.String(); code != exitDone || !strings.Contains(out, c.has) || strings.Contains(out, c.not) {
				t.Errorf("exit code %d, %s%s\nwant %q and no %q", code, out, stderr.String(), c.has, c.not)
			}
		})
	}
}

// For whom a machine is asked about is named in full, whatever letters a name begins and ends with.
func TestExplainNamesForWhom(t *testing.T) {
	x := newStoreFolder(t, "apiVersion: goodfleet/v1\nkind: BudgetPolicy\nmetadata: {name: any, owner: o}\nspec: {limits: {burn: 100 USD/h}}\n", "10GiB")
	for _, c := range []struct{ job, team, want string }{
		{"", "", "nobody yet"}, {"run", "", "run"}, {"", "Vision", "Vision"}, {"run", "Vision", "run of Vision"},
		{"foo", "", "foo"}, {"", "ops-off", "ops-off"}, {"offload", "of", "offload of of"}, {"o", "f", "o of f"},
	} {
		if _, out := x.says(onDemandOffering, "--job", c.job, "--team", c.team); !strings.Contains(out, " USD/h for "+c.want+": it may") {
			t.Errorf("job %q of team %q: %s", c.job, c.team, out)
		}
	}
}

// What runs by the store counts in each limit, as in a round: what it burns, what it holds of money
// that is left, and what it goes on to cost until it could be stopped.
func TestExplainCountsWhatRuns(t *testing.T) {
	machine := func(id string) autoscale.InstanceRecord {
		at := time.Date(2026, 8, 1, 6, 0, 0, 0, time.UTC)
		o := provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p3.2xlarge", Market: provider.OnDemand}
		return autoscale.InstanceRecord{
			Instance: provider.Instance{ID: provider.InstanceID(id), Offering: o, State: provider.Running, Launched: at.Add(-3 * time.Hour), Started: at.Add(-3 * time.Hour)},
			ReadyAt:  at.Add(-3 * time.Hour), Ready: true, Rate: pricing.RateOf(3.06), Seen: at, Booked: at.Add(-time.Hour),
		}
	}
	two := []autoscale.InstanceRecord{machine("i-1"), machine("i-2")}
	for name, c := range map[string]struct {
		spec string
		runs []autoscale.InstanceRecord
		want string // of the refusal; "": there is none
	}{
		"a burn cap":          {"limits: {burn: 7 USD/h}", two, "held 6.12 and reserved 0 of 7 USD/h, asked 3.06"},
		"a burn cap at rest":  {"limits: {burn: 7 USD/h}", nil, ""},
		"a wide burn cap":     {"limits: {burn: 10 USD/h}", two, ""},
		"a cap used up by it": {"budget: {amount: 6 USD, per: day}", two, "go on until all has stopped; room comes at 2026-08-02T00:00:00Z, as the day ends"},
		"a cap at rest":       {"budget: {amount: 6 USD, per: day}", nil, ""},
		"a step on committed": {"budget: {amount: 10 USD, per: day}\n  steps: [{at: 60%, measure: committed, do: no-new}]", two, "no-new at 60% committed; room comes"},
		"a step at rest":      {"budget: {amount: 10 USD, per: day}\n  steps: [{at: 60%, measure: committed, do: no-new}]", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			x := newStoreFolder(t, "apiVersion: goodfleet/v1\nkind: BudgetPolicy\nmetadata: {name: p, owner: o}\nspec:\n  "+c.spec+"\n", "10GiB")
			x.machines = c.runs
			x.store(nil)
			code, out := x.says(onDemandOffering, "--job", "run", "--state", x.path("fleet.db"))
			if refused := code == exitFound; refused != (c.want != "") || !strings.Contains(out, c.want) {
				t.Errorf("exit code %d, %s\nwant %q", code, out, c.want)
			}
		})
	}
}
