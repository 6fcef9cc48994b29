package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/goodfleet/goodfleet/autoscale/report"
)

// duel holds our front of cost against JCT against that of a rule, seed by seed: the
// points are those of all values of an hour, and of all parameters of the rule.
//
// What a front is worth is the part of a box that it dominates: the box goes from nothing
// to the cost and the JCT that a run names as its corner. Between points nothing is
// interpolated there: all of that part is what runs reached.
//
// Where a point of a rule is held against our front at the same JCT, the front is the
// lower convex hull of our points. It can be had: who gives a share of the weeks one value
// of an hour and the others another gets, in cost and in JCT, the mean in these shares. Nor
// is it kind to us, since all that lies above the hull is left out.
type duel struct {
	experiment *experiment
	rule       string
	seeds      []int
	ours       []float64 // part of the box that our front dominates, by seed
	theirs     []float64
	under      undercut // the worst
}

// undercut is a point of a rule and by how much it costs less than our front at the same
// JCT, as a part of that; less than 0 where it costs more.
type undercut struct {
	part  float64
	point string
	seed  int
}

// Bounds that a duel is won within.
const (
	duelLevel   = 0.90  // of the two-sided interval of the mean difference, which has to lie above 0
	mostUnder   = 0.02  // by which no point may undercut our front
	equalJCTRel = 0.005 // JCTs that differ by less are equal: where the fastest machines are, those who buy nothing else differ by that
)

// duels are those of the experiments on weeks of which all was run.
func duels(rows []*row) []duel {
	var list []duel
	for _, e := range experimentsOf(rows) {
		if e.Week == nil {
			continue
		}
		var ours []*row
		rules := map[string][]*row{}
		var order []string
		complete := true
		for _, r := range rows {
			switch {
			case r.experiment != e:
			case !r.complete():
				complete = false
			case r.ablation == "":
				ours = append(ours, r)
			default:
				if rules[r.ablation] == nil {
					order = append(order, r.ablation)
				}
				rules[r.ablation] = append(rules[r.ablation], r)
			}
		}
		if !complete {
			continue
		}
		for _, rule := range order {
			list = append(list, newDuel(e, rule, ours, rules[rule]))
		}
	}
	return list
}

func newDuel(e *experiment, rule string, ours, theirs []*row) duel {
	d := duel{experiment: e, rule: rule, seeds: ours[0].point.seeds(), under: undercut{part: math.Inf(-1)}}
	for i, seed := range d.seeds {
		box, _ := ours[0].results[i].place(boxCurve)
		front := frontOf(ours, i)
		d.ours = append(d.ours, dominated(front, box))
		d.theirs = append(d.theirs, dominated(frontOf(theirs, i), box))
		for _, r := range theirs {
			at, _ := r.results[i].place(tradeCurve)
			part := math.Inf(1)
			if least, ok := costAt(front, at.X*(1+equalJCTRel)); ok {
				part = 1 - at.Y/least
			}
			if part > d.under.part {
				d.under = undercut{part, r.point.inWords(), seed}
			}
		}
	}
	return d
}

// place is the one point of a curve of a run; ok is false where it has none.
func (r *result) place(name string) (at report.ChartPoint, ok bool) {
	for _, c := range r.curves {
		if c.name == name && len(c.points) == 1 {
			return c.points[0], true
		}
	}
	return at, false
}

// frontOf are the places of one seed of rows.
func frontOf(rows []*row, seed int) []report.ChartPoint {
	var list []report.ChartPoint
	for _, r := range rows {
		if at, ok := r.results[seed].place(tradeCurve); ok {
			list = append(list, at)
		}
	}
	return list
}

// dominated is the part of the box from 0 to a corner in which some point is no more in
// both: the hypervolume of two dimensions.
func dominated(points []report.ChartPoint, corner report.ChartPoint) float64 {
	ascending := slices.Clone(points)
	slices.SortFunc(ascending, func(a, b report.ChartPoint) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) })
	area, least := 0.0, corner.Y
	for _, p := range ascending {
		if p.X >= corner.X {
			break
		}
		if p.Y < least {
			area += (corner.X - p.X) * (least - p.Y)
			least = p.Y
		}
	}
	return area / (corner.X * corner.Y)
}

// costAt is the cost of the lower convex hull of points at a JCT; beyond the slowest that of
// the cheapest. ok is false where no point is as fast.
func costAt(points []report.ChartPoint, jct float64) (usd float64, ok bool) {
	ascending := slices.Clone(points)
	slices.SortFunc(ascending, func(a, b report.ChartPoint) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) })
	usd = math.Inf(1)
	for i, a := range ascending {
		if a.X > jct {
			break
		}
		usd, ok = min(usd, a.Y), true
		for _, b := range ascending[i+1:] {
			if b.X > jct {
				usd = min(usd, a.Y+(b.Y-a.Y)*(jct-a.X)/(b.X-a.X))
			}
		}
	}
	return usd, ok
}

// differences are ours less theirs, by seed.
func (d *duel) differences() []float64 {
	list := make([]float64, len(d.ours))
	for i := range list {
		list[i] = d.ours[i] - d.theirs[i]
	}
	return list
}

// interval is the mean difference and how far the interval at duelLevel goes to either
// side, by Student's t.
func (d *duel) interval() (mean, half float64) {
	x := d.differences()
	if len(x) < 2 {
		return x[0], math.Inf(1)
	}
	mean, sd := stat.MeanStdDev(x, nil)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(x) - 1)}.Quantile((1 + duelLevel) / 2)
	return mean, t * sd / math.Sqrt(float64(len(x)))
}

// won reports whether our front is worth more, and nothing undercuts it by much.
func (d *duel) won() bool {
	mean, half := d.interval()
	return mean-half > 0 && d.under.part <= mostUnder
}

// frontColumns are those of the file of fronts.
var frontColumns = []string{"experiment", "rule", "seed", "ours", "rules", "difference"}

// frontsIn is the file of fronts in a folder.
func frontsIn(folder string) string { return filepath.Join(folder, "fronts.csv") }

// fronts is a line for each seed of each duel.
func fronts(list []duel) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(frontColumns) // a buffer never fails
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', valueDigits, 64) }
	for _, d := range list {
		for i, x := range d.differences() {
			_ = w.Write([]string{d.experiment.Name, d.rule, strconv.Itoa(d.seeds[i]), number(d.ours[i]), number(d.theirs[i]), number(x)})
		}
	}
	w.Flush()
	return b.Bytes()
}

// duelTable is the table of the duels of an experiment; nothing where there are none.
func duelTable(list []duel, e *experiment) string {
	var b strings.Builder
	lost := false
	for i := range list {
		d := &list[i]
		if d.experiment != e {
			continue
		}
		lost = lost || !d.won()
		if b.Len() == 0 {
			b.WriteString("\n| rule | part of the box: ours | the rule's | difference, 90 % | its best point against our front at its JCT | |\n| --- | --- | --- | --- | --- | --- |\n")
		}
		verdict := "won"
		if !d.won() {
			verdict = "**not won**"
		}
		mean, half := d.interval()
		under := "faster than all of ours"
		if !math.IsInf(d.under.part, 1) {
			under = fmt.Sprintf("%+.1f %% in cost", -100*d.under.part)
		}
		fmt.Fprintf(&b, "| %s | %.4f | %.4f | %.4f ± %.4f | %s (%s, seed %d) | %s |\n", d.rule, stat.Mean(d.ours, nil), stat.Mean(d.theirs, nil), mean, half, under, d.under.point, d.under.seed, verdict)
	}
	if lost && e.Cause != "" {
		fmt.Fprintf(&b, "\nCause of what is not won: %s\n", e.Cause)
	}
	return b.String()
}
