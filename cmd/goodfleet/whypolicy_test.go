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
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
)

const askedPolicy = `apiVersion: goodfleet/v1
kind: BudgetPolicy
metadata: {name: big, owner: o}
spec: {approval: {above: 1 USD/h, from: [ada]}}
`

const askedJob = `apiVersion: goodfleet/v1
kind: TrainingJob
metadata: {name: run, team: Vision}
spec:
  work: {samples: 8000000}
  resources: {accelerators: [V100], replicas: [4]}
  clouds: [aws]
  throughput: {model: ResNet-50 (batch size 64)}
`

// A launch that somebody has to allow is told of in plan and why, as the round that begins
// now would decide: it asks, waits, buys or leaves it.
func TestPlanAndWhyKnowWhoHasToAllowALaunch(t *testing.T) {
	now := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	p := &budget.Policy{Name: "big", Approval: &budget.Approval{Above: pricing.DollarPerHour, From: []string{"ada"}}}
	question := func(job string, v budget.Verdict, at time.Time) []budget.Question {
		q := p.NewQuestion([]string{job}, pricing.RateOf(90), at)
		if v != budget.Open {
			if err := q.Answer(v, "ada", "the review", at); err != nil {
				t.Fatal(err)
			}
		}
		return []budget.Question{q}
	}
	open := question("run", budget.Open, now)
	for name, c := range map[string]struct {
		questions []budget.Question
		want      string // "": it is not put off
	}{
		"nobody was asked":      {nil, "waits for the yes of ada, whom the next round asks"},
		"another job was asked": {question("walk", budget.Approved, now), "whom the next round asks"},
		"asked":                 {open, "waits for the yes of ada: goodfleet budget approve " + open[0].ID + " --state "},
		"allowed":               {question("run", budget.Approved, now), ""},
		"refused":               {question("run", budget.Denied, now), "denied by ada: the review"},
		"allowed too long ago":  {question("run", budget.Approved, now.Add(-25*time.Hour)), "whom the next round asks"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := func(file string) string { return filepath.Join(dir, file) }
			for file, text := range map[string]string{"policy.yaml": askedPolicy, "jobs.yaml": askedJob} {
				if err := os.WriteFile(path(file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s, err := openStore(t.Context(), path("fleet.db"), false)
			if err == nil {
				err = errors.Join(s.Commit(t.Context(), autoscale.Change{Round: 1, Questions: c.questions}), s.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, words := range [][]string{{"plan", path("jobs.yaml")}, {"plan", path("jobs.yaml"), "--diff"}, {"why", "run", "--jobs", path("jobs.yaml"), "-o", "json"}} {
				words = append(words, "--state", path("fleet.db"), "--budgets", path("policy.yaml"), "--at", now.Format(time.RFC3339))
				var out, errs bytes.Buffer
				if code := run(t.Context(), words, streams{strings.NewReader(""), &out, &errs}); code != exitDone {
					t.Fatalf("%v: exit code %d: %s", words, code, errs.String())
				}
				said := strings.Contains(out.String(), "budget policy big: a launch of ")
				if said != (c.want != "") || !strings.Contains(out.String(), c.want) {
					t.Errorf("%v says\n%s\nwant %q", words, out.String(), c.want)
				}
			}
		})
	}
}
