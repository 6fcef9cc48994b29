package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goodfleet/goodfleet/autoscale/sim"
)

// better says which way a figure is good.
type better int8

const (
	neither better = iota // neither more nor less is better as such
	lower
	higher
)

// figure is one measure of an outcome: a column of every comparison.
type figure struct {
	key, head, unit string
	better          better
	decimals        int
	place           uint8                               // the narrowest place that has room for it: terminal, onPage, inFile
	of              func(o sim.Outcome) (float64, bool) // false: not known, or without meaning
}

func always(get func(o sim.Outcome) float64) func(o sim.Outcome) (float64, bool) {
	return func(o sim.Outcome) (float64, bool) { return get(o), true }
}

func withJobs(get func(o sim.Outcome) float64) func(o sim.Outcome) (float64, bool) {
	return func(o sim.Outcome) (float64, bool) { return get(o), o.Jobs > 0 }
}

func ofCost(get func(o sim.Outcome) float64) func(o sim.Outcome) (float64, bool) {
	return func(o sim.Outcome) (float64, bool) { return get(o), o.Cost > 0 }
}

// figures lists the columns of a comparison whose work is counted in hours of
// one reference accelerator.
func figures(reference string) []figure {
	return []figure{
		{"cost", "cost", "USD", lower, 2, terminal, always(func(o sim.Outcome) float64 { return o.Cost.Dollars() })},
		{"goodput_per_dollar", "goodput per USD", reference + "-h", higher, 3, terminal, ofCost(func(o sim.Outcome) float64 { return o.ReferencePerDollar })},
		{"avg_jct", "JCT mean", "h", lower, 2, terminal, withJobs(func(o sim.Outcome) float64 { return o.AvgJCTHours })},
		{"p95_jct", "JCT p95", "h", lower, 2, terminal, withJobs(func(o sim.Outcome) float64 { return o.P95JCTHours })},
		{"makespan", "makespan", "h", lower, 1, terminal, withJobs(func(o sim.Outcome) float64 { return o.MakespanHours })},
		{"queue", "queue mean", "h", lower, 2, onPage, withJobs(func(o sim.Outcome) float64 { return o.AvgQueueHours })},
		{"interruptions", "inter\u00adrupted", "machines", neither, 0, terminal, always(func(o sim.Outcome) float64 { return float64(o.Interruptions) })},
		{"restarts", "restarts", "", neither, 0, onPage, always(func(o sim.Outcome) float64 { return float64(o.Restarts) })},
		{"idle", "idle", "% of cost", lower, 1, terminal, ofCost(func(o sim.Outcome) float64 { return 100 * o.IdleShare })},
		{"boot", "boot", "% of cost", lower, 1, terminal, ofCost(func(o sim.Outcome) float64 { return 100 * o.BootShare })},
		{"waste", "waste", "% of cost", lower, 1, terminal, ofCost(func(o sim.Outcome) float64 { return 100 * o.WasteShare })},
		{"spot_saving", "spot saving", "USD", neither, 2, terminal, func(o sim.Outcome) (float64, bool) { return o.SpotSaving.Dollars(), o.SpotHours > 0 }},
		{"peak_burn", "peak burn", "USD/h", neither, 2, inFile, always(func(o sim.Outcome) float64 { return o.PeakBurn })},
		{"launches", "machines bought", "", neither, 0, inFile, always(func(o sim.Outcome) float64 { return float64(o.Launches) })},
		{"failed_launches", "launches refused", "", neither, 0, inFile, always(func(o sim.Outcome) float64 { return float64(o.FailedLaunches) })},
		{"deadline_misses", "deadlines missed", "", lower, 0, onPage, func(o sim.Outcome) (float64, bool) { return float64(o.DeadlineMisses), o.Deadlines > 0 }},
		{"unfinished", "un\u00adfinished", "jobs", lower, 0, terminal, always(func(o sim.Outcome) float64 { return float64(o.Unfinished + o.Failed) })},
	}
}

// places in which a figure is shown, from the narrowest on.
const (
	terminal = 1
	onPage   = 2
	inFile   = 3
)

// upTo lists the figures for a place that some outcome has a value of.
func (c Comparison) upTo(place uint8) []figure {
	var list []figure
	for _, f := range c.figures {
		has := func(o sim.Outcome) bool { _, ok := f.of(o); return ok }
		if f.place <= place && slices.ContainsFunc(c.outcomes, has) {
			list = append(list, f)
		}
	}
	return list
}

// title is the head of the column in running text.
func (f figure) title() string { return strings.ReplaceAll(f.head, "\u00ad", "") }

// text writes the value of a figure; a bound is marked as one.
func (f figure) text(o sim.Outcome) string {
	v, ok := f.of(o)
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		return unknown
	}
	text := number(v, f.decimals)
	if f.lowerBound(o) {
		return "≥ " + text
	}
	return text
}

// lowerBound reports whether the true value may be higher than the one known.
func (f figure) lowerBound(o sim.Outcome) bool {
	switch f.key {
	case "avg_jct", "p95_jct", "makespan", "queue":
		return o.Unfinished > 0
	case "cost":
		return o.UnknownHours > 0
	}
	return false
}

// shown is the value as it is printed, so that what looks equal is equal.
func (f figure) shown(o sim.Outcome) (float64, bool) {
	v, ok := f.of(o)
	scale := math.Pow10(f.decimals)
	return math.Round(v*scale) / scale, ok
}

// beats reports whether a is better than b by this figure, as printed.
func (f figure) beats(a, b sim.Outcome) bool {
	x, okX := f.shown(a)
	y, okY := f.shown(b)
	switch {
	case !okX || !okY:
		return false
	case f.better == lower:
		return x < y
	case f.better == higher:
		return x > y
	}
	return false
}

// Comparison is outcomes of one trace laid side by side. The variant of the
// first is the one that the others are held against.
type Comparison struct {
	outcomes []sim.Outcome
	figures  []figure
}

// NewComparison compares outcomes, the subject's first. It fails when there is none.
func NewComparison(outcomes []sim.Outcome) (Comparison, error) {
	if len(outcomes) == 0 {
		return Comparison{}, fmt.Errorf("comparison: no outcome")
	}
	return Comparison{outcomes: outcomes, figures: figures(outcomes[0].Reference)}, nil
}

// subject is the outcome that o is held against in its own row: of the first
// variant, under the same interruptions. ok is false for the first variant itself.
func (c Comparison) subject(o sim.Outcome) (s sim.Outcome, ok bool) {
	if o.Variant == c.outcomes[0].Variant {
		return sim.Outcome{}, false
	}
	for _, s := range c.outcomes {
		if s.Variant == c.outcomes[0].Variant && s.HazardScale == o.HazardScale {
			return s, true
		}
	}
	return sim.Outcome{}, false
}

// Loss is a figure in which the subject is worse than another variant under the
// same interruptions.
type Loss struct {
	Figure      string  `json:"figure"`
	Variant     string  `json:"variant"`
	HazardScale float64 `json:"hazard_scale"`
	Subject     string  `json:"subject"`
	Other       string  `json:"other"`
	Unit        string  `json:"unit,omitempty"`
}

// Losses lists every figure in which the subject loses, as printed. A variant
// that buys no spot is the same under all interruptions: every outcome of the
// subject is held against it.
func (c Comparison) Losses() []Loss {
	var losses []Loss
	for _, s := range c.outcomes {
		if s.Variant != c.outcomes[0].Variant {
			continue
		}
		for _, o := range c.outcomes {
			if o.Variant == s.Variant || o.UsesSpot && o.HazardScale != s.HazardScale {
				continue
			}
			for _, f := range c.figures {
				if f.beats(o, s) {
					losses = append(losses, Loss{
						Figure: f.title(), Variant: o.Variant, HazardScale: s.HazardScale,
						Subject: f.text(s), Other: f.text(o), Unit: f.unit,
					})
				}
			}
		}
	}
	return losses
}

// Sentences says in words where the subject loses: one line for each of its
// outcomes and each variant.
func (c Comparison) Sentences() []string {
	var lines []string
	losses := c.Losses()
	for i := 0; i < len(losses); {
		first := losses[i]
		var parts []string
		for ; i < len(losses) && losses[i].Variant == first.Variant && losses[i].HazardScale == first.HazardScale; i++ {
			l := losses[i]
			part := fmt.Sprintf("%s (%s against %s", l.Figure, l.Subject, l.Other)
			if l.Unit != "" {
				part += " " + l.Unit
			}
			parts = append(parts, part+")")
		}
		lines = append(lines, fmt.Sprintf("At interruptions %s, %s loses to %s in %s.",
			timesText(first.HazardScale), c.outcomes[0].Variant, first.Variant, strings.Join(parts, ", ")))
	}
	return lines
}

// scenario names the interruptions under which an outcome came about.
func scenario(o sim.Outcome) string {
	if !o.UsesSpot {
		return "no spot"
	}
	return timesText(o.HazardScale)
}

// timesText writes a multiple of the interruption rate: "× 1/3", "× 1", "× 3".
func timesText(scale float64) string {
	if scale > 0 && scale < 1 {
		if whole := math.Round(1 / scale); math.Abs(whole*scale-1) < 1e-3 {
			return fmt.Sprintf("× 1/%g", whole)
		}
	}
	return fmt.Sprintf("× %.4g", scale)
}
