package share

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/planner/whole"
	"pgregory.net/rapid"
)

// magnitudes draws the numbers of a document: inside the spans, from end to end and at both ends,
// or any that JSON can hold.
type magnitudes struct {
	t   *rapid.T
	any bool
}

func (m magnitudes) number(s span) float64 {
	kinds := []string{"one", "ordinary", "least", "most", "inside", "nothing"}
	if m.any && m.coin(15) {
		kinds = []string{"any", "denormal", "huge", "negative", "nothing"}
	}
	least := max(s.least, 1e-12)
	switch rapid.SampledFrom(kinds).Draw(m.t, "kind") {
	case "one":
		return max(s.least, 1)
	case "ordinary":
		return max(s.least, float64(rapid.IntRange(1, 20).Draw(m.t, "ordinary")))
	case "most":
		return s.most
	case "inside":
		return max(s.least, min(s.most, least*math.Pow(s.most/least, rapid.Float64Range(0, 1).Draw(m.t, "inside"))))
	case "nothing":
		if s.zero || m.any {
			return 0
		}
	case "any":
		return rapid.Float64().Draw(m.t, "any")
	case "denormal":
		return 5e-324
	case "huge":
		return 1e308
	case "negative":
		return -rapid.Float64Range(0, 1e300).Draw(m.t, "negative")
	}
	return s.least
}

// whole draws a count.
func (m magnitudes) whole(least float64) float64 {
	v := m.number(span{least: least, most: most, zero: least == 0})
	if m.any && m.coin(20) {
		return v
	}
	return math.Trunc(v)
}

// coin is true once in n draws.
func (m magnitudes) coin(n int) bool { return rapid.IntRange(1, n).Draw(m.t, "coin") == 1 }

type object map[string]any

// problem draws a document of allocate.
func (m magnitudes) problem() []byte {
	types := rapid.IntRange(1, 3).Draw(m.t, "types")
	cluster, prices := object{}, object{}
	speed := func() object {
		list := object{}
		for w := range types {
			list[fmt.Sprint("t", w)] = m.number(speeds)
		}
		return list
	}
	for w := range types {
		cluster[fmt.Sprint("t", w)], prices[fmt.Sprint("t", w)] = m.whole(0), m.number(dollars)
	}
	jobs, pairs, teams := []object{}, []object{}, [2][]int{{}, {}}
	for j := range rapid.IntRange(0, 5).Draw(m.t, "jobs") {
		job := object{"id": j, "weight": m.number(weights), "steps_left": m.number(works), "throughput": speed(),
			"elapsed_s": m.number(spells), "isolated_elapsed_s": m.number(spells)}
		if m.coin(3) {
			job["scale_factor"] = m.whole(1)
		}
		if m.coin(2) {
			job["slo_left_s"] = m.number(spells)
		}
		jobs, teams[j%2] = append(jobs, job), append(teams[j%2], j)
		for a := range j {
			if jobs[a]["scale_factor"] == job["scale_factor"] && m.coin(2) {
				both := object{}
				for kind, v := range speed() {
					both[kind] = []any{v, m.number(speeds)}
				}
				pairs = append(pairs, object{"jobs": []int{a, j}, "throughput": both})
			}
		}
	}
	doc := object{"cluster": cluster, "prices": prices, "jobs": jobs, "pairs": pairs}
	if m.coin(3) {
		doc["entities"] = object{"fair": object{"jobs": teams[0], "weight": m.number(weights)}, "first": object{"jobs": teams[1], "weight": m.number(weights), "policy": "fifo"}}
	}
	text, err := json.Marshal(doc)
	if err != nil {
		m.t.Fatal(err)
	}
	return text
}

// round draws a document of assign.
func (m magnitudes) round(rule Rule) []byte {
	types := rapid.IntRange(1, 3).Draw(m.t, "types")
	capacity := object{}
	for w := range types {
		capacity[fmt.Sprint("t", w)] = m.whole(0)
	}
	jobs := []object{}
	for j := range rapid.IntRange(0, 5).Draw(m.t, "jobs") {
		options := []object{}
		for range rapid.IntRange(0, 4).Draw(m.t, "options") {
			options = append(options, object{"type": fmt.Sprint("t", rapid.IntRange(0, types-1).Draw(m.t, "type")), "gpus": m.whole(1), "goodput": m.number(goodputs)})
		}
		job := object{"id": j, "min_gpus": m.number(fewest), "options": options,
			"restart": object{"age_s": m.number(spells), "count": m.number(restarts), "cost_s": m.number(spells)}}
		if len(options) > 0 && m.coin(2) {
			job["current"] = rapid.IntRange(0, len(options)-1).Draw(m.t, "current")
			job["pinned"] = m.coin(4) && options[job["current"].(int)]["goodput"].(float64) > 0
		}
		jobs = append(jobs, job)
	}
	p := rapid.SampledFrom([]float64{-2, -1, -0.5, -1e-300, 1e-300, 0.5, 1}).Draw(m.t, "p")
	if rule == Sia && m.coin(4) {
		p = rapid.SampledFrom([]float64{-20, 20, 3, -7}).Draw(m.t, "far p")
	}
	if m.any && m.coin(8) {
		p = m.number(span{1, 1, true, ""})
	}
	text, err := json.Marshal(object{"p": p, "lambda": m.number(lambdas), "capacity": capacity, "jobs": jobs})
	if err != nil {
		m.t.Fatal(err)
	}
	return text
}

// refused reports whether a document was refused, and wants a field and a reason.
func refused(t *rapid.T, err error) bool {
	var field *FieldError
	if err != nil && (!errors.As(err, &field) || field.Field == "" || field.Reason == "") {
		t.Fatalf("%v names no field and reason", err)
	}
	return err != nil
}

// plainNumbers wants each to be finite, and no zero to have a sign.
func plainNumbers(t *rapid.T, what string, lists ...[]float64) {
	t.Helper()
	for _, list := range lists {
		for _, v := range list {
			if math.IsNaN(v) || math.IsInf(v, 0) || v == 0 && math.Signbit(v) {
				t.Fatalf("%s: %g", what, v)
			}
		}
	}
}

// TestAnyMagnitudeIsRefusedByNameOrAnswered draws every number of a document from all that JSON
// can hold: the field is refused with its reason, or all policies answer. What lies in the spans
// is not refused.
func TestAnyMagnitudeIsRefusedByNameOrAnswered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := magnitudes{t, rapid.Bool().Draw(t, "any")}
		text := m.problem()
		p, err := Parse(text)
		if refused(t, err) {
			if !m.any {
				t.Fatalf("%s\n%v", text, err)
			}
			return
		}
		for _, y := range Policies() {
			checkAnswered(t, y, p, text)
		}
	})
}

// checkAnswered wants a certified answer, an honest status, or a field that the policy cannot use.
func checkAnswered(t *rapid.T, y Policy, p *Problem, text []byte) {
	t.Helper()
	o, what := Options{}, fmt.Sprintf("%s\n%s", text, y.Name)
	if y.Name == "power_mean" {
		power := rapid.SampledFrom([]float64{-10, -1, -1e-9, 1e-300, 0, 0.5, 1}).Draw(t, "power")
		o.Power = &power
	}
	a, err := y.Share(p, o)
	if refused(t, err) {
		if scale := strings.HasSuffix(err.Error(), "AlloX places one-worker jobs only"); !scale && !strings.HasPrefix(err.Error(), "prices.") {
			t.Fatalf("%s: %v", what, err)
		}
		return
	}
	if a.Status == "infeasible" {
		checkConflict(t, p, &a, y)
		return
	}
	plainNumbers(t, what, []float64{a.Objective, a.Bound, a.Gap}, a.Price, a.Theta, a.Need, a.Vector, a.PairShare)
	plainNumbers(t, what, a.Share...)
	for _, l := range p.Explain(&a).Types {
		plainNumbers(t, what, []float64{l.Used, l.Price})
	}
	if miss := y.misses(p, &a, o); miss != "" && a.Status != "limit" {
		t.Fatalf("%s: %s: %s", what, a.Status, miss)
	}
	if math.Abs(a.Gap-distance(a.Objective, a.Bound)) > 1e-9 || a.Status == "optimal" && a.Gap > roundingGap {
		t.Fatalf("%s: %s with a gap of %g: objective %.12g, bound %.12g", what, a.Status, a.Gap, a.Objective, a.Bound)
	}
}

// TestAnyMagnitudeOfARoundIsRefusedByNameOrAssigned is the same of whole configs, which at these
// sizes are the best of all choices.
func TestAnyMagnitudeOfARoundIsRefusedByNameOrAssigned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := magnitudes{t, rapid.Bool().Draw(t, "any")}
		rule := rapid.SampledFrom([]Rule{Sia, Pollux}).Draw(t, "rule")
		text := m.round(rule)
		a, err := ParseAssignment(text, rule)
		if refused(t, err) {
			if !m.any && !strings.Contains(err.Error(), "to the power p") {
				t.Fatalf("%s\n%v", text, err)
			}
			return
		}
		got := a.Solve(whole.Limits{})
		plainNumbers(t, string(text), []float64{got.Objective, got.Bound, got.Gap}, got.Price)
		want, ok := best(a)
		if (got.Status == "infeasible") == ok {
			t.Fatalf("%s\nstatus %s, feasible %v", text, got.Status, ok)
		}
		if ok && (got.Status != "optimal" || math.Abs(got.Objective-want) > 2e-9*math.Abs(want)) {
			t.Fatalf("%s\n%s %.12g (bound %.12g), the best of all choices has %.12g", text, got.Status, got.Objective, got.Bound, want)
		}
	})
}
