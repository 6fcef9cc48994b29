package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goodfleet/goodfleet/planner/share"
)

// allocated is the fixed format of an answer.
type allocated struct {
	Policy     string                        `json:"policy"`
	Status     string                        `json:"status"`
	Objective  *float64                      `json:"objective"`
	Unit       string                        `json:"unit,omitempty"`
	Bound      *float64                      `json:"bound"`
	Gap        *float64                      `json:"gap"`
	Allocation map[string]map[string]float64 `json:"allocation"`
	Pairs      []allocatedPair               `json:"pairs"`
	Vector     []float64                     `json:"vector,omitempty"`
	Conflict   []string                      `json:"conflict,omitempty"`
	LeftOut    []string                      `json:"left_out,omitempty"`
	Explain    *explained                    `json:"explain,omitempty"`
	order      []string
}

type allocatedPair struct {
	Jobs  [2]string `json:"jobs"`
	Type  string    `json:"type"`
	Share float64   `json:"share"`
}

type explained struct {
	PriceIs string                   `json:"price_is,omitempty"` // priceBound or priceRate; "": no price is known
	Types   map[string]explainedType `json:"types"`
	Jobs    map[string]explainedJob  `json:"jobs"`
}

// What price_per_worker is.
const (
	priceBound = "bound" // one more worker improves the objective by at most that
	priceRate  = "rate"  // the objective begins to improve at that rate; a whole worker may gain more
)

type explainedType struct {
	Used    float64  `json:"used"`
	Workers int      `json:"workers"`
	Binding bool     `json:"binding"`
	Price   *float64 `json:"price_per_worker"` // in units of the objective; null: not known
}

type explainedJob struct {
	StepsPerSec float64 `json:"steps_per_s"`
	Binding     bool    `json:"binding"`
	Limit       string  `json:"limited_by"`
}

// placesText is a share to four places, or what is less than those in two digits.
func placesText(x float64) string {
	if x > 0 && x < 5e-5 {
		return strconv.FormatFloat(x, 'e', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 4, 64)
}

// leastShare is the smallest share of time that is told, unless it is more than that part of
// the job's progress: on a type that is a billion times faster, little time is much.
const leastShare = 1e-9

func counts(x, throughput, theta float64) bool {
	return x > leastShare || x > 0 && x*throughput > leastShare*theta
}

func newAllocated(p *share.Problem, a *share.Answer, explain bool) allocated {
	out := allocated{Policy: a.Policy, Status: a.Status, Allocation: make(map[string]map[string]float64), Pairs: []allocatedPair{}, Vector: a.Vector}
	for _, j := range a.Conflict {
		out.Conflict = append(out.Conflict, p.Jobs[j].ID)
	}
	for _, j := range a.Left {
		out.LeftOut = append(out.LeftOut, p.Jobs[j].ID)
	}
	if a.Status == "infeasible" {
		return out
	}
	out.Objective, out.Bound, out.Gap, out.Unit = finite(a.Objective), finite(a.Bound), finite(a.Gap), a.Unit
	for j, job := range p.Jobs {
		out.order = append(out.order, job.ID)
		shares := make(map[string]float64)
		for w, x := range a.Share[j] {
			if counts(x, job.Throughput[w], a.Theta[j]) {
				shares[p.Types[w].Name] = x
			}
		}
		out.Allocation[job.ID] = shares
	}
	for i, x := range a.PairShare {
		q := p.Pairs[i/len(p.Types)]
		if v := q.Throughput[i%len(p.Types)]; counts(x, v[0], a.Theta[q.A]) || counts(x, v[1], a.Theta[q.B]) {
			out.Pairs = append(out.Pairs, allocatedPair{[2]string{p.Jobs[q.A].ID, p.Jobs[q.B].ID}, p.Types[i%len(p.Types)].Name, x})
		}
	}
	if explain {
		out.Explain = newExplained(p.Explain(a))
	}
	return out
}

func newExplained(e share.Explanation) *explained {
	out := &explained{Types: explainedTypes(e.Types), Jobs: make(map[string]explainedJob)}
	switch priced := slices.ContainsFunc(e.Types, func(t share.TypeLimit) bool { return t.Priced }); {
	case priced && e.Rates:
		out.PriceIs = priceRate
	case priced:
		out.PriceIs = priceBound
	}
	for _, j := range e.Jobs {
		out.Jobs[j.Job] = explainedJob{j.Theta, j.Binding, j.Reason}
	}
	return out
}

func explainedTypes(types []share.TypeLimit) map[string]explainedType {
	out := make(map[string]explainedType)
	for _, t := range types {
		entry := explainedType{t.Used, t.Workers, t.Binding, nil}
		if t.Priced {
			entry.Price = &t.Price
		}
		out[t.Type] = entry
	}
	return out
}

// finite is a number that JSON can hold, or null.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func figure(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// grid lists the shares, a row for each job and type, and jobs that get nothing.
func (o allocated) grid() grid {
	g := grid{head: []string{"job", "with", "type", "share"}, right: []bool{false, false, false, true}}
	if o.Explain != nil {
		g.head, g.right = append(g.head, "limited by"), append(g.right, false)
	}
	row := func(job, with, kind string, x float64) {
		cells := []string{job, with, kind, placesText(x)}
		if o.Explain != nil {
			cells = append(cells, o.Explain.Jobs[job].Limit)
		}
		g.rows = append(g.rows, cells)
	}
	paired := make(map[string]bool)
	for _, q := range o.Pairs {
		paired[q.Jobs[0]], paired[q.Jobs[1]] = true, true
	}
	for _, id := range o.order {
		for _, kind := range sortedNames(o.Allocation[id]) {
			row(id, "", kind, o.Allocation[id][kind])
		}
		if len(o.Allocation[id]) == 0 && !paired[id] {
			row(id, "", unknown, 0)
		}
	}
	for _, q := range o.Pairs {
		row(q.Jobs[0], q.Jobs[1], q.Type, q.Share)
	}
	g.notes = o.notes()
	return g
}

// notes say how good the answer is and, if asked, what workers are worth.
func (o allocated) notes() []string {
	unit := ""
	if o.Unit != "" {
		unit = " " + o.Unit
	}
	notes := []string{fmt.Sprintf("%s: %s", o.Policy, o.Status)}
	if o.Objective != nil {
		notes[0] += fmt.Sprintf(", objective %s%s, bound %s, gap %s", figure(*o.Objective), unit, known(o.Bound, 6), known(o.Gap, 2))
	}
	if len(o.LeftOut) > 0 {
		notes = append(notes, fmt.Sprintf("left out, for they can run nowhere: %s", strings.Join(o.LeftOut, ", ")))
	}
	if o.Explain == nil {
		return notes
	}
	price := "one more is worth at most"
	if o.Explain.PriceIs == priceRate {
		price = "a part of one more is worth that part of"
	}
	return append(notes, typeNotes(o.Explain.Types, "worker", price, unit)...)
}

// typeNotes say what is in use of each type, and its price, which is said to be what.
func typeNotes(types map[string]explainedType, what, price, unit string) []string {
	var notes []string
	for _, kind := range sortedNames(types) {
		t := types[kind]
		line := fmt.Sprintf("%s: %s of %s in use", kind, figure(t.Used), counted(t.Workers, what))
		if t.Binding {
			line += ", full"
		}
		switch {
		case t.Price != nil:
			line += fmt.Sprintf("; %s %s%s of the objective", price, known(t.Price, 6), unit)
		case t.Workers == 0:
			line += "; what the first would be worth is not known: the program leaves the type out"
		default:
			line += "; what one more is worth is not known, for the answer is not that of one program"
		}
		notes = append(notes, line)
	}
	return notes
}

// known is a number, or the sign for what is not known.
func known(v *float64, digits int) string {
	if v == nil {
		return unknown
	}
	return strconv.FormatFloat(*v, 'g', digits, 64)
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
