package scenario

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/placement"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("scenarios: %d, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			// In a bubble only a call that hangs passes its deadline, however slow the machine is.
			synctest.Test(t, func(t *testing.T) { play(t, file) })
		})
	}
}

// expectation is a line of the section expect.
type expectation struct {
	line string
	at   time.Duration // when it is looked at; 0: at the end
	look func(f *fleet) error
}

func play(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	catalogue, err := provider.NewCatalogue(types)
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t, start: monday, now: monday, every: time.Minute, boot: 90 * time.Second, catalogue: catalogue, policy: policy.Value, told: map[provider.InstanceID]bool{}}
	var cloud string
	var expected []expectation
	for _, section := range archive.Files {
		for line := range strings.Lines(string(section.Data)) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
			switch {
			case line == "" || line[0] == '#':
			case section.Name == "cloud":
				cloud += line + "\n"
			case section.Name == "expect":
				e, err := parse(line)
				if err != nil {
					t.Fatal(err)
				}
				expected = append(expected, e)
			default:
				if err := f.read(section.Name, line); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if len(archive.Comment) == 0 || len(expected) == 0 {
		t.Fatal("a scenario says what happened and what must be seen")
	}
	if err := f.begin(cloud); err != nil {
		t.Fatal(err)
	}
	var end time.Duration
	for _, e := range expected {
		end = max(end, e.at)
	}
	for at := time.Duration(0); at <= end; at = f.now.Sub(f.start) {
		for i := range expected {
			if e := &expected[i]; e.look != nil && e.at <= at && e.at > 0 {
				f.expect(e)
				e.look = nil
			}
		}
		f.step()
	}
	for i := range expected {
		if expected[i].look != nil {
			f.expect(&expected[i])
		}
	}
	if t.Failed() {
		t.Log(f.history())
	}
}

func (f *fleet) expect(e *expectation) {
	f.t.Helper()
	if err := e.look(f); err != nil {
		f.t.Errorf("%s: %v", e.line, err)
	}
}

// parse reads one line of the section expect.
func parse(line string) (expectation, error) {
	e := expectation{line: line}
	w := strings.Fields(line)
	bad := fmt.Errorf("expect: %q is no line of it", line)
	if len(w) > 2 && w[0] == "at" {
		var err error
		if e.at, err = time.ParseDuration(w[1]); err != nil {
			return e, bad
		}
		w = w[2:]
	}
	switch {
	case w[0] == "machines" && (len(w) == 2 || len(w) == 4):
		want, err := strconv.Atoi(w[1])
		if err != nil {
			return e, bad
		}
		pattern := ""
		if len(w) == 4 {
			pattern = w[3]
		}
		e.look = func(f *fleet) error {
			got := 0
			for _, m := range f.live() {
				if yes, _ := path.Match(pattern, m.Offering.String()); yes || pattern == "" {
					got++
				}
			}
			return unless(got == want, "there are %d", got)
		}
	case (w[0] == "running" || w[0] == "waiting") && len(w) == 2:
		e.look = func(f *fleet) error {
			runs := slices.ContainsFunc(f.runner.Gangs(), func(g autoscale.Gang) bool { return string(g.Job) == w[1] })
			return unless(runs == (w[0] == "running"), "it is not")
		}
	case w[0] == "override" && len(w) >= 2:
		e.look = func(f *fleet) error {
			o := autoscale.Override{OverrideKey: autoscale.OverrideKey{Kind: autoscale.OverrideKind(w[1]), Subject: f.subject(w[2:])}, Who: "Ada", Why: "the scenario says so"}
			return f.loop.Set(context.Background(), f.now, o)
		}
	case strings.HasPrefix(line, "never more than ") && len(w) == 5:
		most, err := strconv.Atoi(w[3])
		if err != nil {
			return e, bad
		}
		e.look = func(f *fleet) error { return unless(f.most <= most, "there were %d", f.most) }
	case w[0] == "events" && len(w) >= 3:
		want, err := strconv.Atoi(w[len(w)-1])
		if err != nil {
			return e, bad
		}
		e.look = func(f *fleet) error {
			got := 0
			for _, x := range f.events() {
				if x.Kind == w[1] {
					got++
				}
			}
			switch strings.Join(w[2:len(w)-1], " ") {
			case "at least":
				return unless(got >= want, "there are %d", got)
			case "at most":
				return unless(got <= want, "there are %d", got)
			}
			return unless(got == want, "there are %d", got)
		}
	case w[0] == "said" && len(w) >= 3:
		text := strings.Join(w[2:], " ")
		e.look = func(f *fleet) error {
			found := slices.ContainsFunc(f.events(), func(x autoscale.Event) bool { return x.Kind == w[1] && strings.Contains(x.Text, text) })
			return unless(found, "no event says so")
		}
	case w[0] == "done" && len(w) == 4:
		var err error
		if e.at, err = time.ParseDuration(w[3]); err != nil {
			return e, bad
		}
		e.look = func(f *fleet) error {
			jobs, err := f.store.Jobs(context.Background())
			if err != nil {
				return err
			}
			for _, r := range jobs {
				if yes, _ := path.Match(w[1], string(r.Job.ID)); yes && r.Phase != autoscale.JobDone {
					return fmt.Errorf("job %s is in phase %d", r.Job.ID, r.Phase)
				}
			}
			return nil
		}
	case line == "booked":
		e.look = booked
	default:
		if e.look = parseDecision(w); e.look == nil {
			return e, bad
		}
	}
	return e, nil
}

func unless(holds bool, format string, args ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// booked proves that charges add up, that the life of every machine that is gone is
// booked once, and that no accelerator is held twice.
func booked(f *fleet) error {
	charges, err := f.store.Charges(context.Background(), time.Time{}, time.Time{})
	if err != nil {
		return err
	}
	if err := ledger.Check(charges); err != nil {
		return err
	}
	got := map[provider.InstanceID]pricing.Money{}
	for _, c := range charges {
		got[c.Instance] += c.Amount
	}
	var all []placement.Machine
	for _, m := range f.machines() {
		t, _ := f.catalogue.Lookup(m.Offering.Cloud, m.Offering.Type)
		all = append(all, placement.Machine{ID: m.ID, Offering: m.Offering, Accelerators: t.Count})
		if m.State != provider.Ended || f.now.Sub(m.Ended) < 2*f.every {
			continue
		}
		var want pricing.Money
		for _, c := range ledger.NewMeter(f.prices, ledger.Rules{}).Settle(m, 1, nil, f.now, 0) {
			want += c.Amount
		}
		if got[m.ID] != want {
			return fmt.Errorf("machine %s: %s of %s USD", m.ID, got[m.ID], want)
		}
	}
	var gangs []placement.Gang
	for _, g := range f.runner.Gangs() {
		p := placement.Gang{Job: planner.JobID(g.Job)}
		for _, n := range g.Nodes {
			p.Nodes = append(p.Nodes, placement.Node{Instance: n.Instance, Accelerators: n.Accelerators})
		}
		gangs = append(gangs, p)
	}
	return placement.Check(all, gangs)
}

func (f *fleet) events() []autoscale.Event {
	list, err := f.store.Events(context.Background(), time.Time{}, time.Time{})
	if err != nil {
		f.t.Fatal(err)
	}
	return list
}

func (f *fleet) history() string {
	var b strings.Builder
	for _, e := range f.events() {
		fmt.Fprintf(&b, "%8v #%-3d %-13s %s %s %s\n", e.At.Sub(f.start), e.Round, e.Kind, e.Job, e.Instance, e.Text)
	}
	return b.String()
}
