package planner

import (
	"fmt"
	"slices"

	"github.com/goodfleet/goodfleet/planner/goodput"
	"github.com/goodfleet/goodfleet/planner/throughput"
)

// goodputCurve is a goodput profile as a Curve.
type goodputCurve struct {
	profile   *goodput.Profile
	predictor *goodput.Predictor
	owned     *goodput.Predictor // on accelerators of growth.Owned
	growth    Growth
}

// Growth says how a curve judges what its job has not measured.
type Growth struct {
	Bought      bool            // growth costs money: see goodput.PredictorConfig
	Owned       []string        // accelerators of which there is no more than is owned: there it does not
	MinReplicas int             // that the job runs on anyway
	Tables      *goodput.Tables // that keep what was searched; nil: nothing is kept
}

// GoodputCurve makes a curve of a goodput profile, which must not change any more:
// at each allocation the job takes its best batch. What was not measured on a type
// is carried over from others and from the published hardware; such speeds are
// marked as estimated and say how far off they may be. A profile that holds a table
// becomes a TableCurve.
func GoodputCurve(p *goodput.Profile, g Growth) (Curve, error) {
	if len(p.Table) > 0 {
		cfg := throughput.ProfileConfig{Name: p.Name}
		for _, e := range p.Table {
			cfg.Entries = append(cfg.Entries, throughput.Entry{
				Accelerator: e.Accelerator, Replicas: e.Replicas, Nodes: e.Nodes, SamplesPerSec: e.SamplesPerSec, Estimated: e.Estimated,
			})
		}
		table, err := throughput.NewProfile(cfg)
		if err != nil {
			return nil, fmt.Errorf("profile %q: %w", p.Name, err)
		}
		return TableCurve(table), nil
	}
	c := goodputCurve{profile: p, predictor: GoodputPredictor(p, g), growth: g}
	free := g
	free.Bought = false
	c.owned = GoodputPredictor(p, free)
	return c, nil
}

// GoodputPredictor predicts by a goodput profile and the published hardware. The
// profile must not change any more.
func GoodputPredictor(p *goodput.Profile, g Growth) *goodput.Predictor {
	return goodput.NewPredictor(p, goodput.PredictorConfig{Hardware: publishedHardware, Bought: g.Bought, MinReplicas: g.MinReplicas, Tables: g.Tables})
}

// publishedHardware looks an accelerator up in the embedded list.
func publishedHardware(accelerator string) (goodput.Hardware, bool) {
	a, ok := throughput.LookupAccelerator(accelerator)
	if !ok {
		return goodput.Hardware{}, false
	}
	return goodput.Hardware{
		Kind: a.Kind, MemGiB: a.MemGiB, MemBytesPerSec: a.MemBytesPerSec, LinkBytesPerSec: a.LinkBytesPerSec, NetBytesPerSec: a.NetBytesPerSec,
	}, true
}

// Speed turns samples of progress per second into samples per hour.
func (c goodputCurve) Speed(accelerator string, nodes, replicas int) (Speed, bool) {
	predictor := c.predictor
	if slices.Contains(c.growth.Owned, accelerator) {
		predictor = c.owned
	}
	p, ok := predictor.At(accelerator, nodes, replicas)
	if !ok {
		return Speed{}, false
	}
	return Speed{Goodput: p.Goodput * 3600, Batch: p.Batch, MaxLocal: p.MaxLocal, Estimated: p.Basis != goodput.FromFit, LogSD: p.LogSD}, true
}

// knows reports whether the job was measured on an accelerator, or its speed there given.
func (c goodputCurve) knows(accelerator string) bool {
	_, ok := c.profile.Type(accelerator)
	return ok
}

// GoodputProfileOf is the profile behind a curve of GoodputCurve. ok is false for
// any other curve, such as that of a table.
func GoodputProfileOf(c Curve) (p *goodput.Profile, ok bool) {
	for hidden, ok := c.(hiddenCurve); ok; hidden, ok = c.(hiddenCurve) {
		c = hidden.Curve
	}
	curve, ok := c.(goodputCurve)
	return curve.profile, ok
}
