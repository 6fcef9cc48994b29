package fake

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "fit spells.csv again")

// The model behind spells.csv. In a pool, up spells follow a Weibull law and down
// spells an exponential one. Pools of one class share the shape; their scales are
// lognormal around the scale of the class, with one standard deviation of the
// logarithm (spreadUp, spreadDown) for all classes. A pool is an accelerator in a
// zone at one size. Lengths are interval-censored by the probing; the scale of each
// pool is integrated out.

// The normal law of a pool's scale is integrated by the trapezoid rule over
// ±quadratureReach standard deviations; halving the step moves no digit of the table.
const (
	quadraturePoints = 81
	quadratureReach  = 3.5
)

// minusLogLikelihood is minus the logarithm of the likelihood of spells, by pool.
func minusLogLikelihood(law Weibull, spread float64, pools [][]observation) float64 {
	const step = 2 * quadratureReach / (quadraturePoints - 1)
	sum := 0.0
	var terms [quadraturePoints]float64
	for _, spells := range pools {
		for i := range terms {
			z := -quadratureReach + float64(i)*step
			w := law.Times(math.Exp(spread * z))
			terms[i] = math.Log(step/math.Sqrt(2*math.Pi)) - z*z/2
			for _, o := range spells {
				p := w.Survival(o.lo)
				if !math.IsInf(o.hi, 1) {
					p -= w.Survival(o.hi)
				}
				terms[i] += math.Log(math.Max(p, 1e-300))
			}
		}
		top := slices.Max(terms[:])
		inner := 0.0
		for _, term := range terms {
			inner += math.Exp(term - top)
		}
		sum -= top + math.Log(inner)
	}
	return sum
}

// fitted is a law at its maximum of likelihood, and what it rests on.
type fitted struct {
	law                Weibull
	shapeErr, scaleErr float64 // standard errors of the logarithms; 0: not fitted
	minusLog           float64
	pools, events      int
	hours              float64 // spent in the spells; the middle of the interval for those that ended
}

// fit is the law of greatest likelihood at a given spread; if exponential, of
// those of shape 1.
func fit(t *testing.T, pools [][]observation, spread float64, exponential bool) fitted {
	t.Helper()
	at := func(x []float64) Weibull {
		if exponential {
			return Exponential(math.Exp(x[0]))
		}
		return Weibull{Scale: math.Exp(x[0]), Shape: math.Exp(x[1])}
	}
	f := func(x []float64) float64 { return minusLogLikelihood(at(x), spread, pools) }
	out := evidence(pools)
	start := []float64{math.Log(out.hours / float64(max(1, out.events))), math.Log(0.6)}
	if exponential {
		start = start[:1]
	}
	best := compassSearch(f, start)
	out.law, out.minusLog = at(best), f(best)
	variance := inverseCurvature(t, f, best)
	out.scaleErr = math.Sqrt(variance[0])
	if !exponential {
		out.shapeErr = math.Sqrt(variance[1])
	}
	return out
}

// evidence counts what pools hold.
func evidence(pools [][]observation) fitted {
	out := fitted{pools: len(pools)}
	for _, spells := range pools {
		for _, o := range spells {
			if math.IsInf(o.hi, 1) {
				out.hours += o.lo
				continue
			}
			out.events++
			out.hours += (o.lo + o.hi) / 2
		}
	}
	return out
}

// compassSearch minimizes a smooth function of few variables: it steps along the
// axes while that helps, and halves the step when it does not.
func compassSearch(f func([]float64) float64, x []float64) []float64 {
	best := f(x)
	for step := 0.25; step > 1e-4; {
		moved := false
		for i := range x {
			for _, d := range []float64{step, -step} {
				x[i] += d
				if y := f(x); y < best {
					best, moved = y, true
				} else {
					x[i] -= d
				}
			}
		}
		if !moved {
			step /= 2
		}
	}
	return x
}

// inverseCurvature is the diagonal of the inverse of the second derivatives of f,
// of one or two variables: the variances at a maximum of likelihood.
func inverseCurvature(t *testing.T, f func([]float64) float64, x []float64) []float64 {
	t.Helper()
	const h = 0.02 // wide enough to stand above rounding, narrow against the errors of 0.05 and more
	at := func(d ...float64) float64 {
		y := slices.Clone(x)
		for i := range d {
			y[i] += d[i]
		}
		return f(y)
	}
	a := (at(h) - 2*at() + at(-h)) / (h * h)
	if len(x) == 1 {
		return []float64{1 / a}
	}
	b := (at(h, h) - at(h, -h) - at(-h, h) + at(-h, -h)) / (4 * h * h)
	c := (at(0, h) - 2*at() + at(0, -h)) / (h * h)
	det := a*c - b*b
	if a <= 0 || det <= 0 {
		t.Fatalf("the likelihood has no maximum at %v", x)
	}
	return []float64{c / det, a / det}
}

// poolsOf groups the spells of a class by pool, in the order of the logs. A class
// without an accelerator takes in all of its cloud and size.
func poolsOf(observed []observation, c class, up bool) [][]observation {
	return group(observed, func(o observation) bool {
		return o.up == up && o.class.cloud == c.cloud && o.class.large == c.large &&
			(c.accelerator == "" || o.class.accelerator == c.accelerator)
	})
}

func group(observed []observation, keep func(observation) bool) [][]observation {
	type pool struct {
		class class
		zone  string
	}
	index := map[pool]int{}
	var pools [][]observation
	for _, o := range observed {
		if !keep(o) {
			continue
		}
		key := pool{o.class, o.zone}
		i, known := index[key]
		if !known {
			i = len(pools)
			index[key] = i
			pools = append(pools, nil)
		}
		pools[i] = append(pools[i], o)
	}
	return pools
}

// minEvents is how many ended spells a class must have for a law of its own.
const minEvents = 5

// fittedClasses are the rows of spells.csv that are fitted on lives, in order.
func fittedClasses(observed []observation) []class {
	var own, pooled []class
	for _, cloud := range []string{"aws", "gcp"} {
		for _, large := range []bool{false, true} {
			for _, accelerator := range []string{"K80", "P100", "V100", "T4"} {
				c := class{cloud, accelerator, large}
				if evidence(poolsOf(observed, c, true)).events >= minEvents {
					own = append(own, c)
				}
			}
			pooled = append(pooled, class{cloud: cloud, large: large})
		}
	}
	return append(own, pooled...)
}

// downPools are the down spells that the row of c rests on: those of its class,
// or, with too few, all of its cloud. of names them.
func downPools(observed []observation, c class) (pools [][]observation, of string) {
	if pools = poolsOf(observed, c, false); evidence(pools).events >= minEvents {
		return pools, "class"
	}
	return group(observed, func(o observation) bool { return !o.up && o.class.cloud == c.cloud }), "cloud"
}

const spellsHeader = `# How spot pools come and go. Fitted by go test ./provider/fake -run TestSpells -update; see README.md for the method.
# Sources, all MIT: github.com/stanford-futuredata/training_on_a_dime at 85f659572ff9 (2020 Stanford Future Data Systems),
# github.com/uclasystem/bamboo at 808092932894 (2022 UCLASystem).
`

// fitTable fits every row of spells.csv.
func fitTable(t *testing.T, observed []observation) string {
	var b strings.Builder
	b.WriteString(spellsHeader + strings.Join(spellColumns, ",") + "\n")
	row := func(c class, up fitted) {
		pools, of := downPools(observed, c)
		down := fit(t, pools, spreadDown, true)
		fmt.Fprintf(&b, "%s,%s,%s,%.2f,%.2f,%.3g,%.2f,%d,%d,%.0f,%.3g,%.2f,%d,%d,%.0f,%s\n",
			c.cloud, orAll(c.accelerator), sizeName(c.large),
			up.law.Shape, up.shapeErr, up.law.Scale, up.scaleErr, up.pools, up.events, up.hours,
			down.law.Scale, down.scaleErr, down.pools, down.events, down.hours, of)
	}
	for _, c := range fittedClasses(observed) {
		row(c, fit(t, poolsOf(observed, c, true), spreadUp, false))
	}
	// The A100s of GCP were counted by the minute, not followed one by one: the rate
	// of losses is all that can be had, and one pool is all there is.
	losses, hours := countedLosses(t, "testdata/bamboo/a100x1-east1b.txt.gz")
	row(class{"gcp", "A100", false}, fitted{
		law: Exponential(hours / float64(losses)), scaleErr: math.Hypot(spreadUp, 1/math.Sqrt(float64(losses))),
		pools: 1, events: losses, hours: hours,
	})
	return b.String()
}

// off is a step of the logarithm of a parameter that is larger than the rounding
// of the table (at most 0.025) and smaller than the errors (0.06 and more).
const off = 0.05

func TestSpellsTableIsOfGreatestLikelihood(t *testing.T) {
	observed := readObservations(t)
	if *update {
		table := fitTable(t, observed)
		if err := os.WriteFile("spells.csv", []byte(table), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Log("wrote spells.csv: run the test again without -update")
		return
	}
	laws, err := measuredLaws()
	if err != nil {
		t.Fatal(err)
	}
	up, down := factors(true), factors(false)
	for _, c := range fittedClasses(observed) {
		law := laws[c]
		pools := poolsOf(observed, c, true)
		best := minusLogLikelihood(law.Up, spreadUp, pools)
		for _, f := range up {
			if got := minusLogLikelihood(Weibull{law.Up.Shape * f[0], law.Up.Scale * f[1]}, spreadUp, pools); got <= best {
				t.Errorf("%v up: shape × %.2f, scale × %.2f is as likely: %.4f, table %.4f", c, f[0], f[1], got, best)
			}
		}
		pools, _ = downPools(observed, c)
		best = minusLogLikelihood(law.Down, spreadDown, pools)
		for _, f := range down {
			if got := minusLogLikelihood(law.Down.Times(f[1]), spreadDown, pools); got <= best {
				t.Errorf("%v down: mean × %.2f is as likely: %.4f, table %.4f", c, f[1], got, best)
			}
		}
	}
	losses, hours := countedLosses(t, "testdata/bamboo/a100x1-east1b.txt.gz")
	if got, want := laws[class{"gcp", "A100", false}].Up.Mean(), hours/float64(losses); math.Abs(got/want-1) > off {
		t.Errorf("gcp/A100/small: mean of up spells %.2f h, want %.2f", got, want)
	}
}

// factors are the steps from a table's entry in each direction: of the shape if it
// is fitted, and of the scale.
func factors(shape bool) [][2]float64 {
	list := [][2]float64{{1, math.Exp(off)}, {1, math.Exp(-off)}}
	if shape {
		list = append(list, [2]float64{math.Exp(off), 1}, [2]float64{math.Exp(-off), 1})
	}
	return list
}

// TestSpreadsAreLikely: at the laws of the table, the spread of up spells is that
// of greatest likelihood; that of down spells cannot be told from nothing, and lies
// within half a unit of log-likelihood of it.
func TestSpreadsAreLikely(t *testing.T) {
	observed := readObservations(t)
	laws, err := measuredLaws()
	if err != nil {
		t.Fatal(err)
	}
	minusLog := func(spread float64, up bool) (sum float64) {
		for _, c := range fittedClasses(observed) {
			pools := poolsOf(observed, c, up)
			if c.accelerator == "" || evidence(pools).events < minEvents {
				continue
			}
			if law := laws[c]; up {
				sum += minusLogLikelihood(law.Up, spread, pools)
			} else {
				sum += minusLogLikelihood(law.Down, spread, pools)
			}
		}
		return sum
	}
	best := minusLog(spreadUp, true)
	for _, other := range []float64{spreadUp - 0.2, spreadUp + 0.2} {
		if got := minusLog(other, true); got <= best {
			t.Errorf("up: spread %.1f is as likely as %.1f: %.3f, %.3f", other, spreadUp, got, best)
		}
	}
	if got, nothing := minusLog(spreadDown, false), minusLog(0.01, false); got > nothing+0.5 {
		t.Errorf("down: spread %.1f: %.3f, without spread %.3f", spreadDown, got, nothing)
	}
}
