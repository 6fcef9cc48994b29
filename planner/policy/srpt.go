package policy

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// Constants of SRPT. More accelerators speed a job up like their number to the power
// of srptSpeedup, as training jobs do on average; srptPower keeps the gain of a second
// config below that of a first one.
const (
	srptSpeedup = 0.8
	srptPower   = 0.7
	srptLate    = 1.2 // times the time on a fair share, past which a job comes first
)

// SRPT is the default on machines that are owned: those jobs first that are done soon,
// as far as others can use what they leave. It maximises
//
//	Σ omega_j·(G_jc/Gbar_j)^q·phi_jc,  omega = (k^(1/(1−a)) − (k−1)^(1/(1−a)))^(1−a),
//
// with k the rank of j by remaining work over Gbar·weight, the longest first; Gbar the
// mean goodput on one accelerator over what is owned; a = 0.8 and q = 0.7. The weights
// are those of the value function of heSRPT (Berg, Vesilo and Harchol-Balter 2020): the
// total time of jobs of rank 1..n on one divisible fleet whose speedup is s^a.
//
//   - A rigid job, of one gang size only, is measured by the mean of its goodput over
//     what is owned (the E of Gavel), to the power 1.
//   - Work that is not known ranks by one over its Gittins index. A rigid job of unknown
//     work has no rank: its omega is weight/(attained + 1 h), by the time that it held
//     machines.
//   - A job that is predicted to take more than 1.2 times as long as on its fair share
//     of the fleet gets the largest omega of all. The rest of it is predicted on that
//     share too, wherever it runs now: were it predicted there, the job with the worse
//     place would come first, get the better one, and be overtaken by the other at once.
//
// Only machines and offers whose decision rate is 0 are owned. Jobs that they do not
// carry are then planned by Value on what is bought: on rented machines, ranks cost
// more than they save.
func SRPT(p planner.Problem, s Settings) (planner.Plan, error) {
	own := owned(p)
	pr, know, err := known(&own, s)
	if err != nil {
		return planner.Plan{}, err
	}
	g := goal{unit: "weighted jobs", unitUSD: 1, jobs: make([]stake, len(pr.Jobs)), lost: "the owned machines carry jobs that count more there"}
	for i, r := range srptRanks(&own, pr, know) {
		if r.gbar == 0 {
			continue
		}
		g.jobs[i] = stake{on: r.on, most: r.omega, reason: r.reason}
		know[i].next = r.late
	}
	mine := pursue(&own, pr, know, s, g)
	for m := range mine.Machines {
		if pm := &mine.Machines[m]; len(pm.Jobs) == 0 {
			pm.Reason = "owned: kept, though no job runs on it"
		}
	}
	return besideOwned(p, mine, s, Value)
}

// ranked is a job as SRPT sees it.
type ranked struct {
	gbar   float64 // samples/h; 0: nothing that is owned carries it
	power  float64 // q
	rank   int     // k, from 1 for the longest; 0: it has none
	omega  float64
	rho    float64   // predicted time over that on a fair share
	late   time.Time // when rho passes srptLate if the job goes on waiting; zero: never
	reason string
}

// on is the part of a column, before the restart.
func (r *ranked) on(c *planner.Column) float64 {
	return r.omega * math.Pow(c.Speed.Goodput/r.gbar, r.power)
}

// srptRanks ranks the jobs of a problem of owned machines.
func srptRanks(p *planner.Problem, pr *planner.Program, know []worth) []ranked {
	list := make([]ranked, len(pr.Jobs))
	stock := stockOf(p)
	type size struct {
		job  int
		time float64 // remaining, over weight, in hours of one accelerator
	}
	var sizes []size
	runs := 0
	for i := range pr.Jobs {
		d, r := &pr.Jobs[i], &list[i]
		if len(d.Columns) == 0 {
			continue
		}
		runs++
		job := d.State.Job
		rigid := len(job.Resources.Replicas.Sizes()) == 1
		r.power = srptPower
		if rigid {
			r.power = 1
		}
		r.gbar = stock.mean(p, d, rigid)
		if rigid && job.Work.Kind == planner.WorkUnknown {
			attained := d.State.Held.Hours()
			r.omega = weightOf(job) / (attained + 1)
			r.reason = fmt.Sprintf("srpt: its work is not known and it held machines for %s h: weight %s", number(attained), number(r.omega))
			continue
		}
		rest := 1 / planner.Gittins(d.State, d.Columns[kneeOf(p, d)].Speed.Goodput)
		sizes = append(sizes, size{i, rest / (r.gbar * weightOf(job))})
	}
	slices.SortFunc(sizes, func(a, b size) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(pr.Jobs[a.job].State.Job.ID, pr.Jobs[b.job].State.Job.ID))
	})
	most := 0.0
	for n, x := range sizes {
		r := &list[x.job]
		r.rank, r.omega = n+1, srptOmega(n+1)
		r.reason = fmt.Sprintf("srpt: %d of %d jobs have less left; weight %s", len(sizes)-1-n, len(sizes), number(r.omega))
	}
	for i := range list {
		most = max(most, list[i].omega)
	}
	for i := range list {
		r := &list[i]
		if r.gbar == 0 {
			continue
		}
		r.rho, r.late = stock.lateness(p, &pr.Jobs[i], &know[i], runs)
		if r.rho > srptLate {
			r.omega = most
			r.reason = fmt.Sprintf("srpt: it takes %.1f times as long as on its fair share: weight %s, the largest", r.rho, number(most))
		}
	}
	return list
}

// srptOmega is the weight of the job of rank k, the longest first.
func srptOmega(k int) float64 {
	const e = 1 / (1 - srptSpeedup)
	return math.Pow(math.Pow(float64(k), e)-math.Pow(float64(k-1), e), 1-srptSpeedup)
}

// stock is the accelerators that are owned, by kind in order of name.
type stock struct {
	kinds []string
	count []float64
	all   float64
}

// stockOf counts what is there and what may still be had.
func stockOf(p *planner.Problem) stock {
	count := map[string]float64{}
	typeOf := map[provider.Offering]*provider.InstanceType{}
	for i := range p.Offers {
		o := &p.Offers[i]
		typeOf[o.Offering] = &o.Type
		if o.Blocked == "" && o.Cap > 0 {
			count[o.Type.Accelerator] += float64(o.Cap * o.Type.Count)
		}
	}
	for i := range p.Machines {
		if t := typeOf[p.Machines[i].Offering]; t != nil && !p.Machines[i].Leaving {
			count[t.Accelerator] += float64(t.Count)
		}
	}
	var s stock
	for kind, n := range count {
		s.kinds = append(s.kinds, kind)
		s.all += n
	}
	slices.Sort(s.kinds)
	for _, kind := range s.kinds {
		s.count = append(s.count, count[kind])
	}
	return s
}

// mean is Gbar: the mean over what is owned of the goodput on one accelerator, or of
// the whole gang of a rigid job. A job that cannot run on one has its smallest gang
// stand for it, each accelerator with its part.
func (s *stock) mean(p *planner.Problem, d *planner.Demand, rigid bool) float64 {
	sum := 0.0
	for k, kind := range s.kinds {
		least, goodput := math.MaxInt, 0.0
		for c := range d.Columns {
			col := &d.Columns[c]
			if n := col.Replicas(); p.Offers[col.Offer].Type.Accelerator == kind && (n < least || n == least && col.Speed.Goodput > goodput) {
				least, goodput = n, col.Speed.Goodput
			}
		}
		switch {
		case goodput == 0:
			continue
		case !rigid:
			goodput /= float64(least)
		}
		sum += goodput * s.count[k] / s.all
	}
	return sum
}

// lateness is the predicted time of a job over that on its fair share of what is owned:
// the mean over kinds, by their number, of the ratio to a fleet of that kind alone which
// jobs share equally (as for Sia, SOSP 2023). late is when it passes srptLate if the
// job goes on waiting; zero: it has, or it does not wait.
func (s *stock) lateness(p *planner.Problem, d *planner.Demand, w *worth, jobs int) (rho float64, late time.Time) {
	perHour := 0.0 // Σ part/time alone, for a whole work of one sample
	fair := 0.0    // goodput on its share of each kind, by their number
	whole := 0.0
	for k, kind := range s.kinds {
		if g := shareGoodput(p, d, kind, s.count[k]/float64(jobs)); g > 0 {
			perHour += s.count[k] * g
			fair += s.count[k] * g
			whole += s.count[k]
		}
	}
	all := w.left + d.State.Done
	if whole == 0 || all <= 0 {
		return 0, time.Time{}
	}
	perHour, fair = perHour/(whole*all), fair/whole
	age := max(0, p.Now.Sub(d.State.Job.Submitted).Hours())
	rest := w.left / fair
	rho = (age + rest) * perHour
	if d.Current < 0 && rho <= srptLate {
		late = d.State.Job.Submitted.Add(hours(srptLate/perHour - rest)).Add(time.Second)
	}
	return rho, late
}

// shareGoodput is the goodput of a job on n accelerators of a kind, n no whole number:
// of its best gang that fits, or of its smallest for a part of the time.
func shareGoodput(p *planner.Problem, d *planner.Demand, kind string, n float64) float64 {
	best, least, small := 0.0, math.MaxInt, 0.0
	for c := range d.Columns {
		col := &d.Columns[c]
		if p.Offers[col.Offer].Type.Accelerator != kind {
			continue
		}
		size := col.Replicas()
		if float64(size) <= n {
			best = max(best, col.Speed.Goodput)
		}
		if size < least || size == least && col.Speed.Goodput > small {
			least, small = size, col.Speed.Goodput
		}
	}
	if best > 0 || small == 0 {
		return best
	}
	return small * n / float64(least)
}
