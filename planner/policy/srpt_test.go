package policy

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
)

// twoJobs is the least total time of jobs of sizes x ≥ y on a fleet of one with speedup
// s^0.8, over every constant split until one ends.
func twoJobs(x, y float64) float64 {
	return least(1e-4, 1-1e-4, func(share float64) float64 { // of the job of size x
		a, b := math.Pow(share, 0.8), math.Pow(1-share, 0.8)
		t := math.Min(x/a, y/b)
		return 2*t + math.Max(x-a*t, 0) + math.Max(y-b*t, 0)
	})
}

// least is the smallest value of f on [lo, hi]: a scan, and thirds around its best.
func least(lo, hi float64, f func(float64) float64) float64 {
	const steps = 24
	best, at := math.Inf(1), lo
	for i := range steps + 1 {
		if x := lo + (hi-lo)*float64(i)/steps; f(x) < best {
			best, at = f(x), x
		}
	}
	step := (hi - lo) / steps
	lo, hi = math.Max(lo, at-step), math.Min(hi, at+step)
	for range 24 {
		a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
		if f(a) < f(b) {
			hi = b
		} else {
			lo = a
		}
	}
	return math.Min(best, f((lo+hi)/2))
}

// The weights of ranks are those of the least total time: Σ x_k·omega_k of sizes in
// falling order is what no split of the fleet beats.
func TestSRPTWeightsAreThoseOfTheLeastTotalTime(t *testing.T) {
	for _, x := range [][]float64{{1, 1}, {3, 1}, {10, 0.2}} {
		want := twoJobs(x[0], x[1])
		if got := x[0]*srptOmega(1) + x[1]*srptOmega(2); math.Abs(got-want) > 1e-5*want {
			t.Errorf("sizes %v: total time %.9f by the weights, least %.9f", x, got, want)
		}
	}
	for _, x := range [][]float64{{1, 1, 1}, {4, 2, 1}, {5, 4.5, 0.5}} {
		// The shortest ends first; what is left of the other two goes on as two jobs.
		want := least(0.05, 0.99, func(c float64) float64 {
			return least(0.01, 0.99, func(part float64) float64 {
				a, b := (1-c)*part, (1-c)*(1-part)
				time := x[2] / math.Pow(c, 0.8)
				p, q := x[0]-time*math.Pow(a, 0.8), x[1]-time*math.Pow(b, 0.8)
				if p <= 0 || q <= 0 {
					return math.Inf(1)
				}
				return 3*time + twoJobs(math.Max(p, q), math.Min(p, q))
			})
		})
		got := x[0]*srptOmega(1) + x[1]*srptOmega(2) + x[2]*srptOmega(3)
		if math.Abs(got-want) > 1e-3*want {
			t.Errorf("sizes %v: total time %.6f by the weights, least %.6f", x, got, want)
		}
	}
}

// ownAll makes everything of a drawn problem owned.
func ownAll(p *planner.Problem, seed uint64) {
	for i := range p.Offers {
		o := &p.Offers[i]
		o.Rate, o.Hazard = 0, pricing.Hazard{}
		o.Cap = int(seed+uint64(i)) % 2
	}
	for i := range p.Machines {
		p.Machines[i].Rate = 0
	}
	for i := range p.Jobs {
		j := p.Jobs[i].Job
		j.Submitted = start
		if i == 1 && seed%3 == 0 {
			j.Submitted = start.Add(-5000 * time.Hour)
		}
		if i == 0 && seed%4 == 0 {
			j.Resources.Replicas.Set = j.Resources.Replicas.Set[:1]
		}
		if i == 2 && seed%5 == 0 {
			j.Resources.Replicas.Set = j.Resources.Replicas.Set[:1]
			j.Work = planner.Work{Kind: planner.WorkUnknown}
			p.Jobs[i].Held = time.Duration(seed) * 10 * time.Minute
		}
		j.Weight = float64(1 + (seed+uint64(i))%2)
	}
}

// finishRatio is the time that a job takes as things are over that on a fleet of one
// kind which it shares equally with the others, the mean over kinds by their number.
func finishRatio(p *planner.Problem, pr *planner.Program, d *planner.Demand, count map[string]float64) float64 {
	jobs := 0.0
	for i := range pr.Jobs {
		if len(pr.Jobs[i].Columns) > 0 {
			jobs++
		}
	}
	work := d.State.Job.Work.Samples
	if d.State.Job.Work.Kind == planner.WorkUnknown {
		knee := 0.0
		for _, c := range d.Columns {
			if score := c.Speed.Goodput * c.Speed.Goodput / p.Offers[c.Offer].Booked.Dollars() / float64(c.Nodes); score > knee {
				knee, work = score, c.Speed.Goodput
			}
		}
	}
	some, speed := 0.0, 0.0
	share := map[string]float64{}
	for kind, n := range count {
		best := 0.0
		for _, c := range d.Columns {
			if size := float64(c.Replicas()); p.Offers[c.Offer].Type.Accelerator == kind && size <= n/jobs {
				best = math.Max(best, c.Speed.Goodput)
			}
		}
		size := 99.0
		for _, c := range d.Columns {
			if best == 0 && p.Offers[c.Offer].Type.Accelerator == kind {
				size = math.Min(size, float64(c.Replicas()))
			}
		}
		for _, c := range d.Columns {
			if p.Offers[c.Offer].Type.Accelerator == kind && float64(c.Replicas()) == size {
				share[kind] = math.Max(share[kind], c.Speed.Goodput*n/jobs/size)
			}
		}
		share[kind] = math.Max(share[kind], best)
		if share[kind] > 0 {
			some += n
			speed += n * share[kind]
		}
	}
	now := work / (speed / some)
	now += start.Sub(d.State.Job.Submitted).Hours()
	ratio := 0.0
	for kind, g := range share {
		ratio += count[kind] / some * now / (work / g)
	}
	return ratio
}

// srptWorth sets the worth of every column by the formula, from the drawn numbers.
func srptWorth(p *planner.Problem, pr *planner.Program) {
	count, all := map[string]float64{}, 0.0
	for _, o := range p.Offers {
		n := float64(o.Cap * o.Type.Count)
		for _, m := range p.Machines {
			if m.Offering == o.Offering {
				n += float64(o.Type.Count)
			}
		}
		count[o.Type.Accelerator] += n
		all += n
	}
	type job struct{ gbar, q, time, omega float64 }
	jobs := make([]job, len(pr.Jobs))
	for i := range pr.Jobs {
		d, x := &pr.Jobs[i], &jobs[i]
		if len(d.Columns) == 0 {
			continue
		}
		sizes := d.State.Job.Resources.Replicas.Set
		x.q = 0.7
		if len(sizes) == 1 {
			x.q = 1
		}
		for kind, n := range count {
			least, g := 99, 0.0
			for _, c := range d.Columns {
				if p.Offers[c.Offer].Type.Accelerator == kind && c.Replicas() <= least {
					if c.Replicas() < least {
						g = 0
					}
					least, g = c.Replicas(), math.Max(g, c.Speed.Goodput)
				}
			}
			if len(sizes) > 1 {
				g /= float64(least)
			}
			x.gbar += g * n / all
		}
		x.time = d.State.Job.Work.Samples / (x.gbar * d.State.Job.Weight)
		if d.State.Job.Work.Kind == planner.WorkUnknown {
			x.time, x.omega = 0, d.State.Job.Weight/(d.State.Held.Hours()+1)
		}
	}
	order := []int{}
	for i, x := range jobs {
		if x.time > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		if jobs[a].time > jobs[b].time {
			return -1
		}
		return 1
	})
	for n, i := range order {
		k := float64(n + 1)
		jobs[i].omega = math.Pow(math.Pow(k, 5)-math.Pow(k-1, 5), 0.2)
	}
	most := 0.0
	for _, x := range jobs {
		most = math.Max(most, x.omega)
	}
	for i := range pr.Jobs {
		d, x := &pr.Jobs[i], &jobs[i]
		if len(d.Columns) > 0 && finishRatio(p, pr, d, count) > 1.2 {
			x.omega = most
		}
		for c := range d.Columns {
			col := &d.Columns[c]
			u := x.omega * math.Pow(col.Speed.Goodput/x.gbar, x.q)
			state := *d.State
			if d.Current < 0 { // what it holds is not whole any more
				state.Running = nil
			}
			if work := state.Job.Work; work.Kind == planner.WorkUnknown {
				own := *state.Job
				knee := 0.0
				for _, k := range d.Columns { // least cost times time at the booked rates
					o := p.Offers[k.Offer]
					if score := k.Speed.Goodput * k.Speed.Goodput / o.Booked.Dollars() / float64(k.Nodes); score > knee {
						knee, own.Work.Samples = score, k.Speed.Goodput // P50 of an hour at the knee
					}
				}
				state.Job = &own
			}
			col.Stay = u
			col.Here = u * phiOf(p, &state, col, col.Resume)
			col.Bought = u * phiOf(p, &state, col, col.Resume+col.Boot)
		}
	}
}

func TestSRPTIsTheMostOfEveryPoint(t *testing.T) {
	for _, sh := range []struct {
		name string
		shape
	}{
		{"waiting", shape{jobs: 4}},
		{"small jobs", shape{jobs: 5, smallJobs: true}},
		{"running", shape{jobs: 4, machines: true, running: true}},
		{"running and small", shape{jobs: 4, running: true, smallJobs: true}},
	} {
		t.Run(sh.name, func(t *testing.T) {
			waits, guarded := 0, 0
			for seed := range uint64(12) {
				p := drawProblem(9000+seed, sh.shape)
				ownAll(&p, seed)
				plan, err := SRPT(p, Settings{Limits: planner.Limits{Any: true, Nodes: 1 << 20}})
				if err != nil {
					t.Fatal(err)
				}
				for i := range p.Machines { // owned machines are never ended
					p.Machines[i].HoldTo = start.Add(time.Hour)
				}
				pr, err := planner.NewProgram(&p, planner.DefaultTransfer())
				if err != nil {
					t.Fatal(err)
				}
				srptWorth(&p, pr)
				if want := enumerateWorth(&p, pr); math.Abs(plan.Value-want) > 1e-9*math.Max(1, want) {
					t.Errorf("seed %d: %.12f, every point tried %.12f", seed, plan.Value, want)
				}
				if plan.Bound.Kind != "proved" || len(plan.Releases) > 0 {
					t.Errorf("seed %d: bound %+v of %g, %d releases", seed, plan.Bound, plan.Value, len(plan.Releases))
				}
				waits += len(plan.Waits)
				for _, a := range plan.Allocations {
					if a.Job == "j1" && seed%3 == 0 {
						guarded++
					}
				}
			}
			if waits == 0 || guarded == 0 {
				t.Errorf("%d jobs wait, %d late ones run: the draws show nothing", waits, guarded)
			}
		})
	}
}

// A fleet with owned and bought machines: the owned are used first, what they do not
// carry is bought as Value buys it.
func TestSRPTBuysForTheRestAsValueDoes(t *testing.T) {
	bought, both := 0, 0
	for seed := range uint64(20) {
		p := drawProblem(500+seed, shape{jobs: 5, owned: true, machines: true, smallJobs: true})
		plan, err := SRPT(p, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		onOwned := map[planner.JobID]bool{}
		spent := false
		for _, a := range plan.Allocations {
			for _, ref := range a.Machines {
				if m := plan.Machines[ref]; m.Offering != a.Offering {
					t.Fatalf("seed %d: %s is on %s, its machine is of %s", seed, a.Job, a.Offering, m.Offering)
				}
			}
			if onOwned[a.Job] = a.Offering.Cloud == "own"; !onOwned[a.Job] {
				spent = true
			}
		}
		rest := paid(p, func(job planner.JobID) bool { return !onOwned[job] })
		want, err := Value(rest, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if plan.Value != want.Value || plan.Burn != want.Burn || plan.Unit != "" {
			t.Errorf("seed %d: worth %g %q at %s USD/h, value alone %g at %s", seed, plan.Value, plan.Unit, plan.Burn, want.Value, want.Burn)
		}
		if len(plan.Allocations)+len(plan.Waits) != len(p.Jobs) {
			t.Errorf("seed %d: %d answers for %d jobs", seed, len(plan.Allocations)+len(plan.Waits), len(p.Jobs))
		}
		if spent {
			bought++
			if len(onOwned) > 0 && slices.ContainsFunc(plan.Allocations, func(a planner.Allocation) bool { return onOwned[a.Job] }) {
				both++
			}
		}
	}
	if bought == 0 || both == 0 {
		t.Errorf("%d plans buy, %d of them use both: the draws show nothing", bought, both)
	}
}

// Who comes first does not depend on who runs where: else the one that waits takes the
// place of the one that runs, which then comes first.
func TestSRPTRanksAreThoseWhoeverRunsNow(t *testing.T) {
	late, moved := 0, 0
	for seed := range uint64(40) {
		p := drawProblem(9400+seed, shape{jobs: 5, machines: true, running: true, smallJobs: seed%2 == 0})
		ownAll(&p, seed)
		q := p
		q.Jobs = slices.Clone(p.Jobs)
		for i := range q.Jobs {
			if q.Jobs[i].Running != nil {
				q.Jobs[i].Running = nil
				moved++
			}
		}
		var ranks [2][]ranked
		for n, p := range []*planner.Problem{&p, &q} {
			own := owned(*p)
			pr, know, err := known(&own, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			ranks[n] = srptRanks(&own, pr, know)
		}
		for i := range ranks[0] {
			a, b := &ranks[0][i], &ranks[1][i]
			if a.rank != b.rank || math.Abs(a.omega-b.omega) > 1e-9 || math.Abs(a.rho-b.rho) > 1e-9*a.rho {
				t.Errorf("seed %d: job %d is rank %d, omega %g, %g times late where some run, and rank %d, %g, %g where all wait", seed, i, a.rank, a.omega, a.rho, b.rank, b.omega, b.rho)
			}
			if a.rho > srptLate {
				late++
			}
		}
	}
	if late == 0 || moved == 0 {
		t.Errorf("%d are late and %d run: the draws show nothing", late, moved)
	}
}
