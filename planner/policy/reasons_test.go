package policy

import (
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats/scalar"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// explain fails the test on a problem that cannot be planned.
func explain(t *testing.T, p planner.Problem) *Reasons {
	t.Helper()
	r, err := Explain(p, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// enumerated is the best value of a problem by trying every point, with the worth of
// work that r took.
func enumerated(t *testing.T, r *Reasons, p planner.Problem) float64 {
	t.Helper()
	pr, err := r.program(&p)
	if err != nil {
		t.Fatal(err)
	}
	return enumerate(&p, pr)
}

// What one machine more or less is worth is the difference of the best values of
// the fleets, found by trying every point; and in the best plan without a cap the
// rate of what is bought lies between the two.
func TestMachineDifferencesMatchEnumeration(t *testing.T) {
	compared, between := 0, 0
	for seed := uint64(0); seed < 60; seed++ {
		r := explain(t, drawProblem(seed, shape{jobs: 2 + int(seed%2), machines: seed%3 == 0, spot: seed%5 == 0, smallJobs: seed%4 == 1}))
		if len(r.Plan.Machines) > 4 {
			continue // too many points to try
		}
		if !scalar.EqualWithinAbsOrRel(r.Plan.Value, enumerated(t, r, r.problem), 1e-9, 1e-9) {
			continue // not the best plan: nothing is known of its differences
		}
		p := r.fixed()
		now := enumerated(t, r, p)
		if want := r.asPlanned(); now < want-1e-9 {
			t.Fatalf("seed %d: V(z) %g by enumeration, %g as planned", seed, now, want)
		}
		for _, m := range r.Plan.Machines {
			d, err := r.Machine(m.Offering, "")
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			more := p
			more.Machines = append(append([]planner.Machine{}, p.Machines...), r.onTheWay("more", m.Offering))
			if want := enumerated(t, r, more) - now; !scalar.EqualWithinAbsOrRel(d.More, want, 1e-7, 1e-7) {
				t.Errorf("seed %d, %s: one more is worth %g, by enumeration %g", seed, m.Offering, d.More, want)
			}
			least := math.Inf(1)
			for i := range p.Machines {
				if p.Machines[i].Offering == m.Offering {
					fewer := p
					fewer.Machines = append(append([]planner.Machine{}, p.Machines[:i]...), p.Machines[i+1:]...)
					least = min(least, now-enumerated(t, r, fewer))
				}
			}
			if !scalar.EqualWithinAbsOrRel(d.Less, least, 1e-7, 1e-7) {
				t.Errorf("seed %d, %s: one less loses %g, by enumeration %g", seed, m.Offering, d.Less, least)
			}
			compared++
			if m.Instance == "" {
				between++
				if rate := d.Rate.Dollars(); d.More > rate+1e-7 || d.Less < rate-1e-7 {
					t.Errorf("seed %d, %s: bought at %g, though one more is worth %g and one less loses %g", seed, m.Offering, rate, d.More, d.Less)
				}
			}
		}
	}
	if compared < 40 || between < 25 {
		t.Errorf("compared %d machines, %d of them bought: the draws are too easy", compared, between)
	}
}

// At the price that is told a new plan uses the offering, and a hundredth dearer it
// does not.
func TestPriceOfIsWhereThePlanChanges(t *testing.T) {
	below, above := 0, 0
	for seed := uint64(0); seed < 20; seed++ {
		r := explain(t, drawProblem(seed, shape{jobs: 2, spot: true}))
		for i := range r.problem.Offers {
			o := r.problem.Offers[i].Offering
			price, err := r.PriceOf(o)
			if err != nil {
				t.Fatal(err)
			}
			if !price.OK {
				continue
			}
			used := func(rate pricing.Rate) bool {
				plan, err := r.again(r.at(i, rate))
				if err != nil {
					t.Fatal(err)
				}
				return inUse(&plan, o) > 0
			}
			if !used(price.Rate) {
				t.Errorf("seed %d: %s is not used at %s, the price told", seed, o, price.Rate)
			}
			if used(price.Rate + price.Rate/50) {
				t.Errorf("seed %d: %s is still used above %s, the price told", seed, o, price.Rate)
			}
			if price.Rate < r.problem.Offers[i].Rate {
				below++
			} else {
				above++
			}
		}
	}
	if below < 20 || above < 10 {
		t.Errorf("%d prices below, %d above: the draws are too easy", below, above)
	}
}

// What more of a quota saves is the difference of the best values with and without
// it, and nothing while it does not bind.
func TestQuotasMatchEnumeration(t *testing.T) {
	bind := 0
	for seed := uint64(0); seed < 40; seed++ {
		r := explain(t, drawProblem(seed, shape{jobs: 3, quota: true, smallJobs: seed%2 == 0}))
		best := enumerated(t, r, r.problem)
		if !scalar.EqualWithinAbsOrRel(r.Plan.Value, best, 1e-9, 1e-9) {
			continue
		}
		list, err := r.Quotas()
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != 1 {
			t.Fatalf("seed %d: %d rows, want 1", seed, len(list))
		}
		q := list[0]
		p := r.problem
		p.Quotas = []planner.QuotaLeft{r.problem.Quotas[0]}
		for _, c := range []struct {
			what  string
			units int
			got   float64
		}{{"unit", 1, q.Unit}, {"step", q.Step, q.Saves}} {
			p.Quotas[0].Left = r.problem.Quotas[0].Left + c.units
			if want := enumerated(t, r, p) - best; !scalar.EqualWithinAbsOrRel(c.got, want, 1e-7, 1e-7) {
				t.Errorf("seed %d: a %s of %d saves %g, by enumeration %g", seed, c.what, c.units, c.got, want)
			}
		}
		if q.Saves > 0 {
			bind++
		}
	}
	if bind < 10 {
		t.Errorf("%d quotas bind: the draws are too easy", bind)
	}
}

// A job that waits for the cap starts under the cap that is told, and from the value
// of time that is told.
func TestWaitingJobTellsWhatItTakes(t *testing.T) {
	caps, values := 0, 0
	for seed := uint64(0); seed < 30 && (caps < 8 || values < 3); seed++ {
		r := explain(t, drawProblem(seed, shape{jobs: 3, capped: true}))
		for _, w := range r.Plan.Waits {
			need, err := r.CapToStart(w.Job)
			if err != nil {
				t.Fatal(err)
			}
			if need.OK {
				p := r.problem
				p.BurnCap = need.Rate
				plan, err := r.again(p)
				if err != nil {
					t.Fatal(err)
				}
				if allocation(&plan, w.Job) == nil || need.Rate <= r.problem.BurnCap {
					t.Errorf("seed %d: %s waits under %s, the cap told; it is %s now", seed, w.Job, need.Rate, r.problem.BurnCap)
				}
				caps++
			}
			v, err := r.ValueToStart(w.Job)
			if err != nil {
				t.Fatal(err)
			}
			if v.OK {
				i, err := r.job(w.Job)
				if err != nil {
					t.Fatal(err)
				}
				plan, err := r.again(r.valued(i, v.Rate))
				if err != nil {
					t.Fatal(err)
				}
				if allocation(&plan, w.Job) == nil {
					t.Errorf("seed %d: %s waits at a value of time of %s, as told", seed, w.Job, v.Rate)
				}
				values++
			}
		}
	}
	if caps < 8 || values < 3 {
		t.Errorf("%d caps, %d values of time: the draws are too easy", caps, values)
	}
}

// Of the points of a job's front none is beaten by any config, and the knee has the
// least cost × time of all.
func TestJobFrontIsNotBeaten(t *testing.T) {
	sizes := 0
	for seed := uint64(0); seed < 30; seed++ {
		r := explain(t, drawProblem(seed, shape{jobs: 1, spot: true}))
		front, err := r.JobFront("j0")
		if err != nil {
			t.Fatal(err)
		}
		sizes += len(front)
		d, left := r.full[0], r.know[0].left
		knee := FrontPoint{}
		for _, f := range front {
			if f.Knee {
				knee = f
			}
		}
		for c := range d.Columns {
			col := &d.Columns[c]
			cost, hours := col.Spend(left)+col.OneOff, col.WallHours(left)+col.Resume+col.Boot
			for _, f := range front {
				if cost < f.Cost*(1-1e-3) && hours < f.Hours*(1-1e-3) {
					t.Errorf("seed %d: %g USD and %g h are beaten by %g and %g", seed, f.Cost, f.Hours, cost, hours)
				}
			}
			if cost*hours < knee.Cost*knee.Hours*(1-1e-3) {
				t.Errorf("seed %d: the knee has %g, a config %g", seed, knee.Cost*knee.Hours, cost*hours)
			}
		}
		for i := 1; i < len(front); i++ {
			if front[i].Cost <= front[i-1].Cost || front[i].Hours >= front[i-1].Hours || front[i].PerHour <= 0 {
				t.Errorf("seed %d: point %d, %+v, after %+v", seed, i, front[i], front[i-1])
			}
		}
	}
	if sizes < 45 {
		t.Errorf("%d points in all: the draws are too easy", sizes)
	}
}

// With time worth more a queue spends more and is done sooner, and no point of its
// front is beaten.
func TestQueueFrontFalls(t *testing.T) {
	r := explain(t, drawProblem(3, shape{jobs: 4, spot: true}))
	front, left, err := r.QueueFront()
	if err != nil {
		t.Fatal(err)
	}
	if left != 0 || len(front) < 2 {
		t.Fatalf("%d points, %d jobs left out", len(front), left)
	}
	knees := 0
	for i, f := range front {
		if f.Knee {
			knees++
		}
		if i > 0 && (f.Cost <= front[i-1].Cost || f.Hours >= front[i-1].Hours) {
			t.Errorf("point %d, %+v, after %+v", i, f, front[i-1])
		}
	}
	if knees != 1 {
		t.Errorf("%d knees", knees)
	}
}

// A move pays for the checkpoint from where the job runs, and for the data from
// where they lie, unless they are there already.
func TestElsewheresCountEgress(t *testing.T) {
	p := drawProblem(1, shape{jobs: 1})
	far := p.Offers[1]
	far.Offering.Region, far.Offering.Zone = "r2", "r2-a"
	p.Offers = append(p.Offers, far)
	j := *p.Jobs[0].Job
	j.Data = planner.Data{Cloud: "aws", Region: "r1", Size: planner.Size{GiB: 5000, Known: true}}
	j.Checkpoint.Size = planner.Size{GiB: 200, Known: true}
	p.Jobs[0].Job = &j
	m := planner.Machine{ID: "i-0", Offering: p.Offers[2].Offering, Rate: p.Offers[2].Rate, ReadyAt: start.Add(-time.Hour)}
	p.Machines = []planner.Machine{m}
	size := j.Resources.Replicas.Set[0]
	p.Jobs[0].Running = &planner.Running{
		Config: planner.Config{Cloud: "aws", Type: "v4", Nodes: 1, Replicas: size}, Offering: m.Offering, Machines: []provider.InstanceID{"i-0"}, Since: start.Add(-time.Hour),
	}
	list, err := explain(t, p).Elsewheres("j0")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"aws/r1": 0, "aws/r2": 0.02 * 5200 * 1.073741824, "gcp/r1": 0.09 * 5200 * 1.073741824} // AWS counts GB
	for _, e := range list {
		place := e.Offering.Cloud + "/" + e.Offering.Region
		usd, known := want[place]
		if !known || !scalar.EqualWithinAbs(e.Egress, usd, 1e-9) {
			t.Errorf("%s: egress %g USD, want %g", place, e.Egress, usd)
		}
		if hours := usd / max(usd, 1) * 5200 / 0.6 / 3600; usd > 0 && !scalar.EqualWithinAbs(e.Transfer, hours, 1e-9) {
			t.Errorf("%s: transfer %g h, want %g", place, e.Transfer, hours)
		}
		if e.Here != (place == "aws/r1") {
			t.Errorf("%s: here %t", place, e.Here)
		}
		delete(want, place)
	}
	if len(want) > 1 { // the job may have no speed on one of the types
		t.Errorf("no answer for %v", want)
	}
}
