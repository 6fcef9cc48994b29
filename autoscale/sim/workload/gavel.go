package workload

import (
	"fmt"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/throughput"
)

// gavelModel is what we add to a model of Gavel's table.
type gavelModel struct {
	name        string
	team        string
	distributed bool // runs on more than one worker
	data        planner.Data
	checkpoint  float64 // GiB
	cpu, mem    float64 // vCPU and GiB per replica
}

// Where the teams' data lie.
var (
	visionHome = planner.Data{Cloud: "aws", Region: "us-east-1"}
	nlpHome    = planner.Data{Cloud: "gcp", Region: "us-central1"}
	recsysHome = planner.Data{Cloud: "aws", Region: "us-west-2"}
)

// at is a data set of a team.
func at(home planner.Data, uri string, gib float64) planner.Data {
	home.URI, home.Size = uri, planner.Size{GiB: gib, Known: true}
	return home
}

// gavelModels are the seven models of the table. Data sets are those that Gavel
// names, at their published sizes.
var gavelModels = []gavelModel{
	{"ResNet-18", "Vision", true, at(visionHome, "s3://vision/cifar-10", 0.2), 0.1, 2, 6},
	{"ResNet-50", "Vision", true, at(visionHome, "s3://vision/imagenet-1k", 144), 0.2, 3, 10},
	{"CycleGAN", "Vision", false, at(visionHome, "s3://vision/monet2photo", 0.3), 0.4, 2, 6},
	{"LM", "NLP", true, at(nlpHome, "gs://nlp/wikitext-2", 0.01), 0.3, 2, 6},
	{"Transformer", "NLP", true, at(nlpHome, "gs://nlp/multi30k", 0.01), 0.7, 2, 6},
	{"Recommendation", "Recsys", false, at(recsysHome, "s3://recsys/ml-20m", 0.5), 1.5, 2, 10},
	{"A3C", "Games", false, planner.Data{}, 0.02, 3, 6},
}

// gavelSizes are the gang sizes that the table holds.
var gavelSizes = []int{1, 2, 4, 8}

// GavelWeek draws jobs as Gavel's simulations do, with sizes from Philly: duration
// and number of GPUs from the Philly distribution, the latter taken to the nearest
// of 1, 2, 4 and 8; the job type uniform over the 26 of the table, drawn again
// until it runs on several workers where the size asks for that; total samples =
// duration × the speed on as many V100. Each job keeps its size. One in eight has a
// deadline, one in four a value of time; the others' value is the planner's default.
//
// Jobs come in order of submission. The same config gives the same jobs.
func GavelWeek(cfg Config) ([]*planner.Job, error) {
	d, err := newDraw(cfg, streamGavelWeek)
	if err != nil {
		return nil, err
	}
	table, err := throughput.Gavel()
	if err != nil {
		return nil, err
	}
	jobs := make([]*planner.Job, cfg.Jobs)
	for i := range jobs {
		if jobs[i], err = d.gavelJob(table, d.arrivals[i]); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// gavelJob draws one job.
func (d *draw) gavelJob(table *throughput.Table, submitted time.Time) (*planner.Job, error) {
	drawn := d.size()
	replicas := nearest(drawn.gpus, gavelSizes)
	var jobType string
	var model gavelModel
	for {
		jobType = pick(d, table.Names()...)
		var ok bool
		if model, ok = gavelModelOf(jobType); !ok {
			return nil, fmt.Errorf("workload: no model for job type %q", jobType)
		}
		if replicas == 1 || model.distributed {
			break
		}
	}
	profile, _ := table.Profile(jobType)
	total, err := samples(profile, "V100", replicas, drawn.duration)
	if err != nil {
		return nil, err
	}
	job := &planner.Job{
		ID: d.name(model.name), Team: model.team, Family: jobType, Submitted: submitted,
		Work: planner.Work{Samples: total, Kind: planner.WorkExact},
		Resources: planner.Resources{
			Replicas: planner.Replicas{Set: []int{replicas}},
			VCPU:     model.cpu, MemGiB: model.mem,
			Ethernet: replicas > 1, // as it was measured
		},
		Data: model.data,
		Checkpoint: planner.Checkpoint{
			Size: planner.Size{GiB: model.checkpoint, Known: true}, Save: 15 * time.Second, Restore: time.Minute,
		},
		Curve: planner.TableCurve(profile),
	}
	if d.oneIn(8) {
		job.Deadline = d.deadline(submitted, drawn.duration)
	}
	if d.oneIn(4) {
		job.ValueOfTime = d.valueOfTime()
	}
	if model.team == "Vision" && d.oneIn(6) {
		job.Clouds = []string{visionHome.Cloud}
	}
	return job, nil
}

func gavelModelOf(jobType string) (gavelModel, bool) {
	name, _, _ := strings.Cut(jobType, " (")
	for _, m := range gavelModels {
		if m.name == name {
			return m, true
		}
	}
	return gavelModel{}, false
}
