package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
)

//go:embed experiments/*.json
var experimentFiles embed.FS

// experiment is one figure or table of a paper.
type experiment struct {
	Name      string `json:"name"`
	Title     string `json:"title"`
	Cluster   string `json:"cluster"`
	Stream    string `json:"stream"`    // gavel/generated/continuous_STREAM_seedN.csv.gz
	Workloads string `json:"workloads"` // or pollux/WORKLOADS/workload-SEED.csv.gz, or of sia/workloads: "sia/FOLDER", in which LOAD stands for that of a point
	Window    []int  `json:"window"`    // numbers of the jobs that count, the last excluded; none: all
	Measure   string `json:"measure"`

	Scheduler scheduler   `json:"scheduler"`
	Spot      *spotGround `json:"spot"` // machines are bought at recorded prices, in place of a cluster; nil: they are not
	Week      *weekGround `json:"week"` // or so

	Source     string    `json:"source"`     // of the published numbers
	PeerSource string    `json:"peerSource"` // of what the authors' own simulator says, where points have it
	Shown      bool      `json:"shown"`      // nothing was published that it could be held against
	Tolerance  tolerance `json:"tolerance"`  // of the difference from the published numbers
	Why        string    `json:"why"`        // that tolerance
	Beside     []further `json:"beside"`     // more measures of the same runs
	Points     []point   `json:"points"`
	Ablations  []ablation
	Cause      string `json:"cause"` // of differences beyond the tolerance, as the ablations show it
}

// scheduler is one of package peer.
type scheduler struct {
	Peer     string `json:"peer"` // "": Gavel's rounds of Rule
	Rule     string `json:"rule"` // of package share
	Aware    bool   `json:"aware"`
	Blind    bool   `json:"blind"`
	FIFO     bool   `json:"fifo"`
	Interior bool   `json:"interior"`
	Embedded bool   `json:"embedded"` // max-min fairness is solved as its authors did, see peer.GavelConfig
	Ever     bool   `json:"ever"`     // Gavel's accounts go on for ever, see peer.GavelConfig
	Packed   string `json:"packed"`   // two jobs may share workers, in Gavel's rounds: "fair", "fifo" or "gandiva", see peer.Packing
	Unknown  bool   `json:"unknown"`  // it is not told how much work jobs have
	Mixed    bool   `json:"mixed"`    // of Pollux, see peer.Pollux
	NoBound  bool   `json:"noBound"`  // of ours: no bound on plans is worked out, and none is searched exactly

	Accelerator string `json:"accelerator"` // of its machines, where it buys them of one kind
}

// further is one more measure of the runs of an experiment, with what is published of it
// at each of its points, in their order.
type further struct {
	Measure   string    `json:"measure"`
	Published []float64 `json:"published"` // none, or a negative one: it is only shown
	Tolerance tolerance `json:"tolerance"`
	Why       string    `json:"why"` // that tolerance, and whose number it is
}

// tolerance is absolute, in the unit of the measure, or relative; one-sided where less
// is better and may be.
type tolerance struct {
	Abs        float64 `json:"abs"`
	Rel        float64 `json:"rel"`
	BetterFree bool    `json:"betterFree"`
}

// holds reports whether a number of ours is near enough to the published one.
func (t tolerance) holds(ours, published float64) bool {
	slack := max(t.Abs, t.Rel*math.Abs(published)) + 1e-9*math.Abs(published)
	return ours-published <= slack && (t.BetterFree || published-ours <= slack)
}

func (t tolerance) String() string {
	text := fmt.Sprintf("%g", t.Abs)
	if t.Rel > 0 {
		text = fmt.Sprintf("%g %%", 100*t.Rel)
	}
	if t.BetterFree {
		return "≤ +" + text
	}
	return "± " + text
}

// point is one number of an experiment.
type point struct {
	Load      float64 `json:"load"`      // jobs per hour; 0: all jobs come at once
	Jobs      int     `json:"jobs"`      // the first so many; 0: all
	Model     string  `json:"model"`     // that all jobs train, on spot machines
	Value     float64 `json:"value"`     // USD that an hour of each is worth there; 0: a cent
	Parameter float64 `json:"parameter"` // of a rule that has one
	Seeds     []int   `json:"seeds"`     // the mean over them; none: 0
	Scale     string  `json:"scale"`     // in words, of a cluster and workloads of the point's own
	Cluster   string  `json:"cluster"`
	Workloads string  `json:"workloads"`
	Published float64 `json:"published"`
	Peer      float64 `json:"peer"`  // by the authors' own simulator; 0: it is what was published, or not known
	Quick     bool    `json:"quick"` // part of the quick set
	Drawn     bool    `json:"drawn"` // spend and fleet over time, of the first seed

	rule *scheduler // of an ablation
}

// ablation is a point again under another scheduler.
type ablation struct {
	What      string    `json:"what"`
	Scheduler scheduler `json:"scheduler"`
	Points    []point   `json:"points"`
}

// seeds of a point.
func (p point) seeds() []int {
	if len(p.Seeds) == 0 {
		return []int{0}
	}
	return p.Seeds
}

// at is the point in words.
func (p point) at() string {
	var words []string
	if p.Load > 0 {
		words = append(words, fmt.Sprintf("%g jobs/h", p.Load))
	}
	if p.Scale != "" {
		words = append(words, p.Scale)
	}
	if p.Model != "" {
		words = append(words, p.Model)
	}
	if p.Value > 0 {
		words = append(words, fmt.Sprintf("an hour worth %g USD", p.Value))
	}
	if p.Parameter > 0 {
		words = append(words, fmt.Sprintf("parameter %g", p.Parameter))
	}
	if p.Jobs > 0 {
		words = append(words, fmt.Sprintf("%d jobs", p.Jobs))
	}
	switch {
	case len(p.Seeds) == 1:
		return strings.Join(append(words, fmt.Sprintf("workload %d", p.Seeds[0])), ", ")
	case len(words) == 0:
		return fmt.Sprintf("%d workloads", len(p.seeds()))
	}
	return strings.Join(words, ", ")
}

// Measures of an outcome.
const (
	meanJCT  = "mean JCT, h"
	makespan = "makespan, h" // and costShare, of spot machines; weekCost, of a week; lateShare and worstRho, of jobs that adapt
)

// readExperiments reads all of experiments/, by name of file.
func readExperiments() ([]experiment, error) {
	names, err := fs.Glob(experimentFiles, "experiments/*.json")
	if err != nil {
		return nil, err
	}
	var list []experiment
	for _, name := range names {
		text, err := experimentFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var e experiment
		strict := json.NewDecoder(bytes.NewReader(text))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&e); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := e.validate(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if slices.ContainsFunc(list, func(x experiment) bool { return x.Name == e.Name }) {
			return nil, fmt.Errorf("%s: name %q is given twice", name, e.Name)
		}
		list = append(list, e)
	}
	return list, nil
}

// validate reports the first thing that is wrong.
func (e *experiment) validate() error {
	for _, f := range []struct{ name, value string }{
		{"name", e.Name}, {"title", e.Title}, {"cluster", e.Cluster}, {"source", e.Source}, {"why", e.Why},
	} {
		if f.value == "" {
			return fmt.Errorf("%s is empty", f.name)
		}
	}
	if e.Spot != nil {
		if err := e.Spot.validate(); err != nil {
			return err
		}
	}
	if e.Week != nil {
		if err := e.Week.validate(); err != nil {
			return err
		}
	}
	switch {
	case (e.Stream != "") == (e.Workloads != "") && e.Spot == nil && e.Week == nil:
		return fmt.Errorf("want a stream, or workloads, or spot, or a week")
	case e.Measure != meanJCT && e.Measure != makespan && (e.Measure != costShare || e.Spot == nil) && (e.Measure != weekCost || e.Week == nil):
		return fmt.Errorf("measure %q: want %q, %q or, of spot machines, %q, of a week, %q", e.Measure, meanJCT, makespan, costShare, weekCost)
	case len(e.Window) != 0 && (len(e.Window) != 2 || e.Window[0] < 0 || e.Window[1] <= e.Window[0]):
		return fmt.Errorf("window %v: want the first job and the one after the last", e.Window)
	case len(e.Points) == 0:
		return fmt.Errorf("no points")
	case e.Shown:
	case e.Tolerance.Abs < 0 || e.Tolerance.Rel < 0 || e.Tolerance.Abs+e.Tolerance.Rel == 0:
		return fmt.Errorf("tolerance %+v: want one of more than 0", e.Tolerance)
	}
	if err := e.validatePoints("points", e.Points); err != nil {
		return err
	}
	if err := e.validateBeside(); err != nil {
		return err
	}
	whats := map[string]bool{"": true}
	for i, a := range e.Ablations {
		if whats[a.What] {
			return fmt.Errorf("ablations[%d]: %q: want words of its own", i, a.What)
		}
		whats[a.What] = true
		if err := e.validatePoints(fmt.Sprintf("ablations[%d].points", i), a.Points); err != nil {
			return err
		}
	}
	return nil
}

// validateBeside reports the first thing that is wrong with the measures beside.
func (e *experiment) validateBeside() error {
	told := map[string]bool{e.Measure: true}
	for i, b := range e.Beside {
		switch {
		case b.Measure != makespan && (b.Measure != lateShare && b.Measure != worstRho || e.Workloads == ""):
			return fmt.Errorf("beside[%d].measure %q: want %q or, of jobs that adapt, %q or %q", i, b.Measure, makespan, lateShare, worstRho)
		case told[b.Measure]:
			return fmt.Errorf("beside[%d].measure %q is given twice", i, b.Measure)
		case len(b.Published) != 0 && len(b.Published) != len(e.Points):
			return fmt.Errorf("beside[%d].published: %d numbers of %d points: want one of each, or none", i, len(b.Published), len(e.Points))
		case len(b.Published) != 0 && (b.Tolerance.Abs < 0 || b.Tolerance.Rel < 0 || b.Tolerance.Abs+b.Tolerance.Rel == 0):
			return fmt.Errorf("beside[%d].tolerance %+v: want one of more than 0", i, b.Tolerance)
		case b.Why == "":
			return fmt.Errorf("beside[%d].why is empty", i)
		}
		told[b.Measure] = true
	}
	return nil
}

// validatePoints reports the first thing that is wrong with the points of a field.
func (e *experiment) validatePoints(field string, points []point) error {
	told := map[string]bool{}
	for i, p := range points {
		switch {
		case !(p.Published > 0) != e.Shown || p.Value < 0 || p.Load < 0 || p.Jobs < 0 || p.Peer < 0:
			return fmt.Errorf("%s[%d]: %+v: want a published number, unless it is only shown, and no negative load, jobs, value or peer", field, i, p)
		case (p.Scale != "") != (p.Cluster != "") || (p.Scale != "") != (p.Workloads != ""):
			return fmt.Errorf("%s[%d]: scale %q, cluster %q, workloads %q: want all or none", field, i, p.Scale, p.Cluster, p.Workloads)
		case told[p.at()]:
			return fmt.Errorf("%s[%d]: %s is given twice", field, i, p.at())
		}
		told[p.at()] = true
	}
	return nil
}
