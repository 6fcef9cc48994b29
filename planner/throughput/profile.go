package throughput

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
)

// Entry is one speed of a job.
type Entry struct {
	Accelerator string `json:"accelerator"`
	Replicas    int    `json:"replicas"`
	// Nodes says where it was measured: 1 on one machine, 2 or more spread over
	// several, 0 (left out) that it holds either way. Over how many machines a
	// spread gang runs makes no difference to a table.
	Nodes         int     `json:"nodes,omitempty"`
	SamplesPerSec float64 `json:"samplesPerSec"` // of the whole job, all replicas together
	Estimated     bool    `json:"estimated,omitempty"`
}

// EntryError is an entry that cannot be used.
type EntryError struct {
	Index  int    // of the entry, from 0
	Field  string // as in the JSON form
	Reason string
}

// Error names the entry, the field and the reason.
func (e *EntryError) Error() string {
	return fmt.Sprintf("throughput table, entry %d: %s: %s", e.Index, e.Field, e.Reason)
}

// Profile is the speeds of one job type: what was measured, and an estimate for
// the rest if it has one. It does not change once built; the zero value knows
// nothing.
type Profile struct {
	name     string
	cells    map[cell]speed
	roofline *Roofline
}

// cell is what a speed is looked up by.
type cell struct {
	accelerator string
	replicas    int
	spread      bool // over more than one machine
}

type speed struct {
	samplesPerSec float64
	estimated     bool
}

// ProfileConfig is what a profile is made of. One of Entries and Roofline may be
// left out; an entry goes before the roofline.
type ProfileConfig struct {
	Name     string
	Entries  []Entry
	Roofline *Roofline // speeds of what Entries lack; nil: they are unknown
}

// NewProfile builds a profile. It returns an *EntryError for the first entry that
// is not a speed (zero too: what does not fit is left out) or that says again
// what an earlier one said.
func NewProfile(cfg ProfileConfig) (Profile, error) {
	if len(cfg.Entries) == 0 && cfg.Roofline == nil {
		return Profile{}, fmt.Errorf("throughput of %q: neither a table nor an estimate", cfg.Name)
	}
	p := Profile{name: cfg.Name, cells: make(map[cell]speed, 2*len(cfg.Entries)), roofline: cfg.Roofline}
	for i, e := range cfg.Entries {
		refuse := func(field, format string, args ...any) (Profile, error) {
			return Profile{}, &EntryError{Index: i, Field: field, Reason: fmt.Sprintf(format, args...)}
		}
		switch {
		case e.Accelerator == "":
			return refuse("accelerator", "is empty")
		case e.Replicas < 1:
			return refuse("replicas", "%d: want at least 1", e.Replicas)
		case e.Nodes < 0 || e.Nodes > e.Replicas:
			return refuse("nodes", "%d: want 0 to the %d replicas", e.Nodes, e.Replicas)
		case math.IsNaN(e.SamplesPerSec) || math.IsInf(e.SamplesPerSec, 0) || e.SamplesPerSec <= 0:
			return refuse("samplesPerSec", "%g: want a positive number; leave out what does not fit", e.SamplesPerSec)
		}
		for _, spread := range e.spreads() {
			key := cell{e.Accelerator, e.Replicas, spread}
			if _, twice := p.cells[key]; twice {
				return refuse("nodes", "%d replicas on %s are given twice %s", e.Replicas, e.Accelerator, spreadWord(spread))
			}
			p.cells[key] = speed{e.SamplesPerSec, e.Estimated}
		}
	}
	return p, nil
}

// spreads lists the placements that an entry answers for.
func (e Entry) spreads() []bool {
	switch {
	case e.Nodes > 1:
		return []bool{true}
	case e.Nodes == 1 || e.Replicas == 1:
		return []bool{false}
	}
	return []bool{false, true}
}

func spreadWord(spread bool) string {
	if spread {
		return "over several machines"
	}
	return "on one machine"
}

// Name is the job type's name.
func (p Profile) Name() string { return p.name }

// Roofline is the estimate that fills what was not measured. ok is false when
// there is none.
func (p Profile) Roofline() (r *Roofline, ok bool) { return p.roofline, p.roofline != nil }

// Equal reports whether p and q say the same of every place.
func (p Profile) Equal(q Profile) bool {
	if (p.roofline == nil) != (q.roofline == nil) || !maps.Equal(p.cells, q.cells) {
		return false
	}
	return p.roofline == nil || p.roofline == q.roofline || reflect.DeepEqual(p.roofline.class, q.roofline.class)
}

// Guesses reports whether some speed of p is an estimate.
func (p Profile) Guesses() bool {
	if p.roofline != nil {
		return true
	}
	for _, s := range p.cells {
		if s.estimated {
			return true
		}
	}
	return false
}

// Measured reports whether some speed on an accelerator was measured.
func (p Profile) Measured(accelerator string) bool {
	for at, s := range p.cells {
		if at.accelerator == accelerator && !s.estimated {
			return true
		}
	}
	return false
}

// Speed is the samples per second of the job on replicas accelerators of that
// name, on nodes machines; estimated is true when the number was not measured.
// ok is false when nothing is known or the job does not fit. A spread that cannot
// be (no machine, more machines than replicas) is not known.
func (p Profile) Speed(accelerator string, nodes, replicas int) (samplesPerSec float64, estimated, ok bool) {
	if nodes < 1 || replicas < nodes {
		return 0, false, false
	}
	if s, ok := p.cells[cell{accelerator, replicas, nodes > 1}]; ok {
		return s.samplesPerSec, s.estimated, true
	}
	if p.roofline == nil {
		return 0, false, false
	}
	samplesPerSec, ok = p.roofline.Speed(accelerator, nodes, replicas)
	return samplesPerSec, ok, ok
}

// Entries lists what was given, not what is estimated by the roofline, by
// accelerator, replicas and nodes: an entry for both placements comes as two.
func (p Profile) Entries() []Entry {
	entries := make([]Entry, 0, len(p.cells))
	for key, s := range p.cells {
		e := Entry{Accelerator: key.accelerator, Replicas: key.replicas, Nodes: 1, SamplesPerSec: s.samplesPerSec, Estimated: s.estimated}
		if key.spread {
			e.Nodes = 2
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Accelerator, b.Accelerator), cmp.Compare(a.Replicas, b.Replicas), cmp.Compare(a.Nodes, b.Nodes))
	})
	return entries
}

// Accelerators lists, sorted, every accelerator of which some speed is known.
func (p Profile) Accelerators() []string {
	var names []string
	for key := range p.cells {
		names = append(names, key.accelerator)
	}
	if p.roofline != nil {
		names = append(names, p.roofline.Accelerators()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
