package workload

import (
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/throughput"
)

// todayModel is what we add to a model class of the roofline.
type todayModel struct {
	class      string
	name       string
	team       string
	sizes      []int    // gang sizes, ascending
	tpus       []string // slices that its program was ported to; empty: GPUs only
	data       planner.Data
	stream     bool
	checkpoint planner.Checkpoint
	cpu, mem   float64 // vCPU and GiB per replica
}

// checkpointOf is a checkpoint of gib, written and read at a gigabyte a second
// after half a minute of start.
func checkpointOf(gib float64) planner.Checkpoint {
	transfer := time.Duration(gib) * time.Second
	return planner.Checkpoint{
		Size: planner.Size{GiB: gib, Known: true}, Save: 5*time.Second + transfer, Restore: 30*time.Second + transfer,
	}
}

var todayModels = []todayModel{
	{"resnet50", "ResNet", "Vision", []int{1, 2, 4, 8}, nil, at(visionHome, "s3://vision/imagenet-1k", 144), false, checkpointOf(0.2), 3, 12},
	{"diffusion-unet", "Diffusion", "Games", []int{1, 2, 4, 8}, nil, at(visionHome, "s3://games/concept-art", 220), true, checkpointOf(10), 3, 14},
	{"bert-large", "BERT", "NLP", []int{4, 8, 16}, []string{"TPU v5e", "TPU v6e"}, at(nlpHome, "gs://nlp/wiki-books", 18), false, checkpointOf(4), 3, 12},
	{"gpt-1.3b", "GPT", "NLP", []int{1, 2, 4, 8}, nil, at(nlpHome, "gs://nlp/pile-shard", 90), true, checkpointOf(15), 3, 14},
	{"llm-7b", "LLM", "Assistants", []int{8, 16}, []string{"TPU v5e", "TPU v6e", "TPU v5p"}, at(nlpHome, "gs://assistants/corpus", 120), true, checkpointOf(75), 3, 14},
	{"recommendation", "DLRM", "Recsys", []int{1, 2, 4, 8}, nil, at(recsysHome, "s3://recsys/clicks", 340), true, checkpointOf(12), 3, 12},
}

// todayGPUs are the GPUs that a job names beside its TPUs: a job that names
// accelerators gets those alone.
var todayGPUs = []string{"T4", "A10G", "L4", "L40S", "A100", "A100-80GB", "H100"}

// reference is what durations are counted on.
const reference = "A100-80GB"

// largeJob is the name of the first GPT job, so that a large one can be told of.
const largeJob planner.JobID = "GPT-L"

// Today draws jobs for the accelerators of today, with speeds that are all
// estimated by the roofline of their model class. Classes are dealt in shuffled
// rounds, so that each comes up equally often; duration and number of GPUs are
// drawn from the Philly distribution, the latter taken to the nearest size of the
// class; total samples = duration × the estimated speed on as many A100 of 80 GB.
// Two in five may also run at half and at twice their size. Every other job whose
// program was ported to TPUs names them.
//
// Jobs come in order of submission. The same config gives the same jobs.
func Today(cfg Config) ([]*planner.Job, error) {
	d, err := newDraw(cfg, streamToday)
	if err != nil {
		return nil, err
	}
	jobs := make([]*planner.Job, cfg.Jobs)
	var round []int
	for i := range jobs {
		if len(round) == 0 {
			round = d.rng.Perm(len(todayModels))
		}
		if jobs[i], err = d.todayJob(todayModels[round[0]], d.arrivals[i]); err != nil {
			return nil, err
		}
		round = round[1:]
	}
	return jobs, nil
}

// todayJob draws one job of a class.
func (d *draw) todayJob(m todayModel, submitted time.Time) (*planner.Job, error) {
	drawn := d.size()
	replicas := nearest(drawn.gpus, m.sizes)
	profile, err := throughput.Estimate(m.class)
	if err != nil {
		return nil, err
	}
	total, err := samples(profile, reference, replicas, drawn.duration)
	if err != nil {
		return nil, err
	}
	job := &planner.Job{
		ID: d.name(m.name), Team: m.team, Family: m.class, Submitted: submitted,
		Work: planner.Work{Samples: total, Kind: planner.WorkExact},
		Resources: planner.Resources{
			Replicas: planner.Replicas{Set: []int{replicas}},
			VCPU:     m.cpu, MemGiB: m.mem,
		},
		Data: m.data, Checkpoint: m.checkpoint,
		Curve: planner.TableCurve(profile),
	}
	job.Data.Stream = m.stream
	if m.class == "gpt-1.3b" && d.number[m.name] == 1 {
		job.ID = largeJob
	}
	if d.rng.IntN(5) < 2 {
		job.Resources.Replicas.Set = around(replicas, m.sizes)
	}
	if len(m.tpus) > 0 && d.oneIn(2) {
		job.Resources.Accelerators = slices.Concat(todayGPUs, m.tpus)
	}
	if d.oneIn(6) {
		job.Deadline = d.deadline(submitted, drawn.duration)
	}
	if d.oneIn(4) {
		job.ValueOfTime = d.valueOfTime()
	}
	return job, nil
}

// around is those of sizes that are half, once or twice n.
func around(n int, sizes []int) []int {
	var set []int
	for _, s := range sizes {
		if s == n || 2*s == n || s == 2*n {
			set = append(set, s)
		}
	}
	return set
}
