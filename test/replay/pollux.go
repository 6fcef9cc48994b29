package main

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/autoscale/sim/measured"
	"github.com/goodfleet/goodfleet/autoscale/sim/peer"
	"github.com/goodfleet/goodfleet/autoscale/sim/workload"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
)

// elasticRound is the time between two rounds of the simulators of Pollux and Sia.
const elasticRound = time.Minute

// source is whose measurements and workloads an experiment takes.
type source struct {
	specs     []measured.Spec
	profiles  string // folder of applications
	workloads string // folder of workloads
}

// sourceOf tells it by the folder of workloads.
func sourceOf(workloads string) source {
	if of, ok := strings.CutPrefix(workloads, "sia/"); ok {
		return source{measured.SiaSpecs(), "sia/profiles", filepath.Join("sia/workloads", of)}
	}
	return source{measured.PolluxSpecs(), "pollux/traces", filepath.Join("pollux", workloads)}
}

// elasticSetting is the setting and the ground of a run on a workload of Pollux's or
// Sia's.
func elasticSetting(data string, e experiment, p point, number int) (sim.Setting, *ground, error) {
	on := sourceOf(cmp.Or(p.Workloads, strings.ReplaceAll(e.Workloads, "LOAD", strconv.FormatFloat(p.Load, 'g', -1, 64))))
	applications := map[string]*measured.Application{}
	var names []string
	for _, spec := range on.specs {
		a, err := measured.Read(os.DirFS(filepath.Join(data, on.profiles)), spec)
		if err != nil {
			return sim.Setting{}, nil, err
		}
		applications[a.Name] = a
		names = append(names, a.Name)
	}
	requests, err := readRequests(data, on.workloads, number, names)
	if err != nil {
		return sim.Setting{}, nil, err
	}
	catalogue, prices, err := nothingSold()
	if err != nil {
		return sim.Setting{}, nil, err
	}
	cluster, err := sim.ParseCluster(cmp.Or(p.Cluster, e.Cluster), catalogue)
	if err != nil {
		return sim.Setting{}, nil, err
	}
	how := e.Scheduler
	if p.rule != nil {
		how = *p.rule
	}
	s := sim.Setting{
		Variant: e.Name, Seed: uint64(number), Start: begin, Horizon: farAway, Catalogue: catalogue, Prices: prices,
		Loop:  autoscale.Settings{Round: elasticRound, Book: bookEvery, SkipUnchanged: true, MaxMoves: anyNumber},
		Truth: sim.Truth{Legs: legs}, Lockstep: true,
	}
	of := agents{}
	adapts := true
	switch how.Peer {
	case "":
		if s.Plan, err = gavelPlan(how, number); err != nil {
			return sim.Setting{}, nil, err
		}
		s.Loop.Round, adapts = gavelRound, false
	case "tiresias":
		s.Plan, adapts = peer.Tiresias{}.Plan, false
	case "optimus":
		s.Plan, adapts = peer.Optimus{Left: stepsLeft, StepSec: stepSec}.Plan, false
	case "pollux":
		s.Plan = of.plan(peer.Pollux{Of: of.known, Mixed: how.Mixed}.Plan)
	case "sia":
		s.Plan = of.plan(peer.Sia{Of: of.known}.Plan)
	case "srpt":
		s.Plan = of.plan(srpt(how.settings()))
	default:
		return sim.Setting{}, nil, fmt.Errorf("there is no peer %q", how.Peer)
	}
	for _, q := range requests {
		a := applications[q.Application]
		if adapts {
			s.Jobs = append(s.Jobs, of.add(q, a, how.Peer == "pollux" && len(cluster.Kinds) > 1))
			continue
		}
		job := rigidJob(q, a)
		if how.Peer == "" {
			job.Curve = measured.Rigid{Of: a, Batch: q.Batch, InSteps: true}
		}
		if how.Peer == "optimus" {
			job.Resources.Replicas.Set = sizesOf(q, a)
		}
		s.Jobs = append(s.Jobs, job)
	}
	if adapts {
		s.Truth.Legs, s.Truth.More = of.legs, of.more
	}
	if how.Unknown {
		hideWork(&s)
	}
	return s, &ground{applications, cluster.Kinds, map[lonely]float64{}}, cluster.Stand(&s)
}

// srpt is our default. What is seen of a job that runs changes how fast it is thought to
// be on other machines, so each round is planned, as the others' are.
func srpt(settings policy.Settings) autoscale.PlanFunc {
	return func(p planner.Problem) (planner.Plan, error) {
		plan, err := policy.SRPT(p, settings)
		if next := p.Now.Add(elasticRound); len(plan.Allocations) > 0 && (plan.NextDecision.IsZero() || next.Before(plan.NextDecision)) {
			plan.NextDecision = next
		}
		return plan, err
	}
}

// readRequests reads a workload of Pollux's or Sia's.
func readRequests(data, folder string, number int, applications []string) ([]workload.Request, error) {
	name := filepath.Join(folder, fmt.Sprintf("workload-%d.csv.gz", number))
	f, err := os.Open(filepath.Join(data, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return workload.ReadRequests(name, text, begin, applications)
}

// rigidJob is a request that gets just what it asks for.
func rigidJob(q workload.Request, a *measured.Application) *planner.Job {
	return &planner.Job{
		ID: planner.JobID(q.Name), Family: q.Application, Submitted: q.Submitted, Curve: measured.Rigid{Of: a, Batch: q.Batch},
		Work:       planner.Work{Samples: a.Work(), Kind: planner.WorkExact},
		Resources:  planner.Resources{Replicas: planner.Replicas{Set: []int{q.Replicas}}, ShareNodes: true},
		Checkpoint: planner.Checkpoint{Restore: a.Restore()},
	}
}

// legs are the epochs of a job that keeps its size, from what is done on.
func legs(job *planner.Job, c planner.Config, accelerator string, done float64) ([]sim.Leg, bool) {
	r, ok := job.Curve.(measured.Rigid)
	if !ok {
		return nil, false
	}
	var list []sim.Leg
	for epoch := r.Of.EpochAt(done); epoch < r.Of.Epochs(); epoch++ {
		perSec, ok := r.EpochPerSec(accelerator, c.Nodes, c.Replicas, epoch)
		if !ok {
			return nil, true
		}
		list = append(list, sim.Leg{To: r.Of.End(epoch), PerSec: perSec})
	}
	return list, true
}

// sizesOf are the gang sizes at which a request can run with its batch: those that lie
// evenly over machines of four, and give each replica no less than was measured.
func sizesOf(q workload.Request, a *measured.Application) []int {
	var sizes []int
	for n := 1; n <= mostOptimus(a, q.Batch); n++ {
		nodes := (n + 3) / 4
		if _, ok := (measured.Rigid{Of: a, Batch: q.Batch}).Speed("T4", nodes, n); ok && n%nodes == 0 {
			sizes = append(sizes, n)
		}
	}
	return sizes
}

// mostOptimus is how many replicas a job of a batch may have: as many as have the least
// batch that was measured each. One of ncf has one.
func mostOptimus(a *measured.Application, batch int) int {
	if a.Name == "ncf" {
		return 1
	}
	l, _ := a.Limits("T4")
	return max(1, batch/l.MinLocal)
}

// stepsLeft is what Optimus is told: the steps at the job's batch from the end of the
// epoch that it is in to the end; one in the last.
func stepsLeft(j *planner.JobState) float64 {
	r := j.Job.Curve.(measured.Rigid)
	epoch, last := r.Of.EpochAt(j.Done), r.Of.Epochs()-1
	if epoch >= last {
		return 1
	}
	return r.Of.Steps(r.Batch, last) - r.Of.Steps(r.Batch, epoch)
}

// stepSec is what Optimus predicts: the measured time of a step, on one replica always in
// two passes.
func stepSec(j *planner.JobState, accelerator string, perNode, replicas int) (sec float64, ok bool) {
	r := j.Job.Curve.(measured.Rigid)
	if replicas > mostOptimus(r.Of, r.Batch) {
		return 0, false
	}
	b, ok := r.Of.Fixed(accelerator, replicas, r.Batch)
	if !ok {
		return 0, false
	}
	if replicas == 1 && b.Accum == 0 {
		b = measured.Batch{Atomic: (b.Atomic + 1) / 2, Accum: 1}
	}
	step, accum, ok := r.Of.PackedPass(accelerator, perNode, replicas, b.Atomic)
	return step + float64(b.Accum)*accum, ok
}
