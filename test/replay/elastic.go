package main

import (
	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/autoscale/sim/measured"
	"github.com/goodfleet/goodfleet/autoscale/sim/peer"
	"github.com/goodfleet/goodfleet/autoscale/sim/workload"
	"github.com/goodfleet/goodfleet/planner"
)

// held is the batch that jobs of ncf are held at, on one accelerator, by those who adapt
// all others.
const held = 32768

// agents are those of the jobs that adapt.
type agents map[planner.JobID]*measured.Agent

// add makes a job that adapts, and its agent, which is blind to types or not.
func (g agents) add(q workload.Request, a *measured.Application, blind bool) *planner.Job {
	batch := 0
	if q.Application == "ncf" {
		batch = held
	}
	agent := measured.NewAgent(a, batch)
	if blind {
		agent = measured.NewBlindAgent(a, batch)
	}
	g[planner.JobID(q.Name)] = agent
	job := rigidJob(q, a)
	job.Curve = agent.Belief()
	job.Resources.Replicas, job.Resources.ShareNodes = planner.Replicas{Set: []int{1}}, false
	if batch == 0 {
		job.Resources.Replicas.Set = elasticSizes
	}
	return job
}

// elasticSizes are the gang sizes of jobs that adapt: powers of two of a machine, and
// whole machines of four. What does not lie evenly on larger ones is not used there.
var elasticSizes = []int{1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64}

// plan hands a scheduler the jobs as their agents tell of them.
func (g agents) plan(next autoscale.PlanFunc) autoscale.PlanFunc {
	return func(p planner.Problem) (planner.Plan, error) {
		jobs := make([]planner.JobState, len(p.Jobs))
		for i, j := range p.Jobs {
			if agent, ok := g[j.Job.ID]; ok {
				agent.Learn(j.Done)
				job := *j.Job
				job.Curve = agent.Belief()
				j.Job = &job
			}
			jobs[i] = j
		}
		p.Jobs = jobs
		return next(p)
	}
}

// known is what Pollux and Sia are told of a job.
func (g agents) known(j *planner.JobState) peer.Known {
	agent := g[j.Job.ID]
	b := agent.Belief()
	return peer.Known{
		Ran: b.Ran(), Most: b.Most(), Restart: agent.Application().Restart(),
		Goodput: func(accelerator string, nodes, replicas int) (float64, bool) {
			s, ok := b.Goodput(accelerator, nodes, replicas)
			return s.Goodput, ok
		},
	}
}

// legs is the true course of a gang of a job that adapts.
func (g agents) legs(job *planner.Job, c planner.Config, accelerator string, done float64) ([]sim.Leg, bool) {
	agent, ok := g[job.ID]
	if !ok {
		return legs(job, c, accelerator, done)
	}
	agent.Learn(done)
	return legsOf(agent.Begin(accelerator, c.Nodes, c.Replicas, done, job.Checkpoint.Restore)), true
}

// more goes on with the course of its present gang.
func (g agents) more(job *planner.Job) []sim.Leg { return legsOf(g[job.ID].More()) }

func legsOf(parts []measured.Part) []sim.Leg {
	var list []sim.Leg
	for _, p := range parts {
		list = append(list, sim.Leg{To: p.To, PerSec: p.PerSec})
	}
	return list
}

// hideWork leaves schedulers to learn from the jobs that are done how much work others of
// their application have.
func hideWork(s *sim.Setting) {
	works := make(map[planner.JobID]float64, len(s.Jobs))
	for _, j := range s.Jobs {
		works[j.ID] = j.Work.Samples
		j.Work = planner.Work{Kind: planner.WorkUnknown}
	}
	s.Truth.Work = func(j *planner.Job) float64 { return works[j.ID] }
}
