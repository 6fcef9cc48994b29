package main

import (
	"math"
	"time"

	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/autoscale/sim/measured"
)

// Measures of how fair a run was to its jobs. rho is a job's time from submission to end
// over that alone on one part in N of the cluster, N being the mean number of jobs that
// were there in its time (Sia, SOSP 2023): the mean over the types of the
// cluster, by their accelerators, of the ratio to one part in N of that type.
const (
	lateShare = "share of jobs with rho > 1, %"
	worstRho  = "largest rho of a job"
)

// ground is the cluster and the applications of jobs that adapt, and how long they take
// there alone.
type ground struct {
	applications map[string]*measured.Application
	kinds        []sim.ClusterKind
	alone        map[lonely]float64 // h, on a gang that never changes
}

// lonely is an application on one gang.
type lonely struct {
	application, accelerator string
	nodes, replicas          int
}

// rhos are those of the jobs of a run, all of which are done, in their order.
func (g *ground) rhos(jobs []sim.JobOutcome) []float64 {
	list := make([]float64, len(jobs))
	for i, j := range jobs {
		n := company(jobs, j.Submitted, *j.Ended)
		sum, all := 0.0, 0.0
		for _, k := range g.kinds {
			owned := float64(k.Count * k.Type.Count)
			if alone := g.hours(j.Family, k, owned/n); !math.IsInf(alone, 1) {
				sum += owned * j.JCTHours / alone
				all += owned
			}
		}
		list[i] = sum / all
	}
	return list
}

// company is the mean number of jobs that are there between two instants.
func company(jobs []sim.JobOutcome, from, to time.Time) float64 {
	sum := time.Duration(0)
	for _, j := range jobs {
		begin, end := j.Submitted, *j.Ended
		if begin.Before(from) {
			begin = from
		}
		if end.After(to) {
			end = to
		}
		sum += max(0, end.Sub(begin))
	}
	return float64(sum) / float64(to.Sub(from))
}

// hours is the time alone on so many accelerators of a kind: linear between whole
// numbers; that on one over the part that is less than one. It is infinite where the
// application cannot run.
func (g *ground) hours(application string, k sim.ClusterKind, accelerators float64) float64 {
	n, part := math.Modf(accelerators)
	if n == 0 {
		return g.best(application, k, 1) / accelerators
	}
	few := g.best(application, k, int(n))
	if part == 0 {
		return few
	}
	return few + part*(g.best(application, k, int(n)+1)-few)
}

// best is the time on the best gang of at most so many accelerators, as gangs of jobs
// that adapt are.
func (g *ground) best(application string, k sim.ClusterKind, accelerators int) float64 {
	hours := math.Inf(1)
	for _, n := range elasticSizes {
		nodes := (n + k.Type.Count - 1) / k.Type.Count
		if n > accelerators || nodes > k.Count || n%nodes != 0 {
			continue
		}
		hours = min(hours, g.run(lonely{application, k.Type.Accelerator, nodes, n}))
	}
	return hours
}

// run is the time on one gang from the start on, and to restore at the start: with an
// agent that chooses its batches by what it sees, as in all runs.
func (g *ground) run(x lonely) float64 {
	if h, ok := g.alone[x]; ok {
		return h
	}
	a := g.applications[x.application]
	agent := measured.NewAgent(a, 0)
	sec, done := a.Restore().Seconds(), 0.0
	for parts := agent.Begin(x.accelerator, x.nodes, x.replicas, 0, a.Restore()); len(parts) > 0; parts = agent.More() {
		for _, p := range parts {
			sec += (p.To - p.From) / p.PerSec
			done = p.To
		}
		agent.Learn(done)
	}
	h := sec / 3600
	if done < a.Work() {
		h = math.Inf(1)
	}
	g.alone[x] = h
	return h
}

// fairness is what is told of a run beside its first measure.
func (g *ground) fairness(jobs []sim.JobOutcome) map[string]float64 {
	late, worst := 0, 0.0
	for _, rho := range g.rhos(jobs) {
		if rho > 1 {
			late++
		}
		worst = max(worst, rho)
	}
	return map[string]float64{lateShare: roundedValue(100 * float64(late) / float64(len(jobs))), worstRho: roundedValue(worst)}
}
