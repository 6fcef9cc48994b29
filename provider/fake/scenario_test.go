package fake

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/goodfleet/goodfleet/provider"
)

var updateScenarios = flag.Bool("update-scenarios", false, "write what the scenarios of testdata/scenario show")

// A file of testdata/scenario has three parts: faults (a scenario), calls (what a
// caller does, and when) and want (what it sees). Machines are named by the order
// of their launches, #1 and so on. Calls are
//
//	TIME launch TOKEN N [min N] OFFERING
//	TIME list | notices | quotas | prices | pool OFFERING
//	TIME terminate N ...
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/scenario/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string]string{}
			for _, f := range archive.Files {
				parts[f.Name] = string(f.Data)
			}
			got := perform(t, file, parts["faults"], parts["calls"])
			if *updateScenarios {
				archive.Files = archive.Files[:2]
				archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(parts["want"], got); diff != "" {
				t.Errorf("what a caller sees (-want +got):\n%s", diff)
			}
		})
	}
}

var (
	block1   = reserved("cr-1")
	block2   = reserved("cr-2")
	tpuSlice = offering("gcp", "us-central1-a", "v5e-32", provider.Spot)
)

func reserved(id string) provider.Offering {
	o := offering("aws", "use1-az1", "p5.48xlarge", provider.Reserved)
	o.Reservation = id
	return o
}

// theatre is a calm cloud for scenarios: of TPUs if they are named, else of GPUs.
func theatre(t testing.TB, file, faults string) *Cloud {
	s, err := ParseScenario(file, faults)
	if err != nil {
		t.Fatal(err)
	}
	climate := calm()
	climate.Boot = func(provider.InstanceType) Boot { return Boot{Mean: 30 * time.Second} }
	climate.Notice = Notice{Lead: 2 * time.Minute}
	climate.Depth = func(provider.InstanceType) Depth { return Depth{Median: 100} }
	return newCloud(t, climate, func(cfg *Config) {
		cfg.Scenario = s
		cfg.Offerings = append(cfg.Offerings, block1, block2)
		if strings.Contains(faults, "gcp/") {
			cfg.Name, cfg.Offerings = "gcp", []provider.Offering{tpuSlice}
		}
	})
}

// perform plays the calls against the faults and returns what the caller sees.
func perform(t *testing.T, file, faults, calls string) string {
	c := theatre(t, file, faults)
	var out strings.Builder
	for call := range strings.Lines(calls) {
		l := newLine(call)
		if len(l.words) == 0 {
			continue
		}
		at := l.duration("the time", false)
		c.Advance(start.Add(at))
		fmt.Fprintf(&out, "%s\n", strings.TrimSpace(call))
		for _, seen := range caller(t, c, l) {
			fmt.Fprintf(&out, "\t%s\n", seen)
		}
		if l.err != nil {
			t.Fatalf("%s: calls: %q: %v", file, call, l.err)
		}
	}
	return out.String()
}

// caller makes one call and returns what it sees.
func caller(t *testing.T, c *Cloud, l *line) []string {
	ctx := context.Background()
	offered := func() provider.Offering {
		name := l.word("an offering")
		for _, o := range c.Offerings() {
			if o.String() == name {
				return o
			}
		}
		t.Fatalf("calls: %s is not sold", name)
		return provider.Offering{}
	}
	switch verb := l.word("a call"); verb {
	case "launch":
		token, count, least := l.word("a token"), l.count("a count"), 1
		if l.has("min") {
			least = l.count("a min")
		}
		got, err := c.Launch(ctx, request(token, offered(), count, least))
		return append(rows(c, got), said(err)...)
	case "list":
		got, err := c.Instances(ctx)
		return append(rows(c, got), said(err)...)
	case "notices":
		got, err := c.Interruptions(ctx)
		var list []string
		for _, n := range got {
			word := "noticed"
			if n.Hint {
				word = "hinted at"
			}
			list = append(list, fmt.Sprintf("%s %s %v loss %v", label(c, n.Instance), word, since(n.Noticed), since(n.Loss)))
		}
		return append(list, said(err)...)
	case "terminate":
		var ids []provider.InstanceID
		for len(l.words) > 0 {
			n, err := strconv.Atoi(l.word("a machine"))
			if err != nil || n < 1 || n > len(c.Machines()) {
				t.Fatalf("calls: terminate: machine %d of %d", n, len(c.Machines()))
			}
			ids = append(ids, c.Machines()[n-1].ID)
		}
		return said(c.Terminate(ctx, ids...))
	case "quotas":
		got, err := c.Quotas(ctx)
		var list []string
		for _, q := range got {
			list = append(list, fmt.Sprintf("%s/%s/%s %d %s", q.Class.Region, q.Class.Family, q.Class.Market, q.Limit, q.Unit))
		}
		return append(list, said(err)...)
	case "prices":
		var list []string
		for _, p := range c.PriceChanges() {
			list = append(list, fmt.Sprintf("%v %s perhour=%q times=%g unknown=%v", since(p.At), p.Offering, p.PerHour, p.Times, p.Unknown))
		}
		return list
	case "pool":
		truth, _ := c.Truth(offered().Pool(), c.Now())
		return []string{fmt.Sprintf("up=%v holds %d", truth.Up, truth.Depth)}
	default:
		t.Fatalf("calls: %q", verb)
		return nil
	}
}

// said is an error as its kind and text.
func said(err error) []string {
	if err == nil {
		return nil
	}
	word, _ := KindWord(err)
	return []string{fmt.Sprintf("error %s: %v", word, err)}
}

func since(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Sub(start).String()
}

// label names a machine by the order of its launch.
func label(c *Cloud, id provider.InstanceID) string {
	for n, i := range c.Machines() {
		if i.ID == id {
			return fmt.Sprint("#", n+1)
		}
	}
	return strconv.Quote(string(id))
}

func rows(c *Cloud, list []provider.Instance) []string {
	var out []string
	for _, i := range list {
		s := fmt.Sprintf("%s %v", label(c, i.ID), i.State)
		for _, f := range []struct {
			name string
			at   time.Time
		}{{"launched", i.Launched}, {"started", i.Started}, {"home", i.CalledHome}, {"ended", i.Ended}} {
			if !f.at.IsZero() {
				s += " " + f.name + " " + since(f.at)
			}
		}
		if !i.CalledHome.IsZero() {
			s += fmt.Sprintf(" counts %d", i.Accelerators)
		}
		if i.Cause != provider.NotEnded {
			s += " " + i.Cause.String()
		}
		if i.Tags.Fleet != "f" {
			s += fmt.Sprintf(" of fleet %q", i.Tags.Fleet)
		}
		out = append(out, s)
	}
	return out
}
