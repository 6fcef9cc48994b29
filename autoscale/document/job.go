package document

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/throughput"
	"github.com/goodfleet/goodfleet/pricing"
)

// Words of the fields that are one of a few.
const (
	workExact    = "exact"
	workLimit    = "limit"
	workUnknown  = "unknown"
	accessStream = "stream"
)

// workKinds pairs the words with the planner's kinds.
var workKinds = map[string]planner.WorkKind{
	"": planner.WorkExact, workExact: planner.WorkExact, workLimit: planner.WorkLimit, workUnknown: planner.WorkUnknown,
}

// job is the document as the planner knows it. Fields that are absent are zero.
func (d Document) job() (*planner.Job, error) {
	t := d.TrainingJob
	profile, family, err := d.profile()
	if err != nil {
		return nil, err
	}
	s := t.Spec
	samples := s.Work.Samples
	if s.Work.Epochs > 0 {
		samples = s.Work.Epochs * s.Work.DatasetSamples
	}
	return &planner.Job{
		ID:        planner.JobID(t.Metadata.Name),
		Team:      t.Metadata.Team,
		Family:    family,
		Submitted: s.Submit,
		Work:      planner.Work{Samples: samples, Kind: workKinds[s.Work.Kind]},
		Resources: planner.Resources{
			Accelerators:      s.Resources.Accelerators,
			AcceleratorMemGiB: s.Resources.AcceleratorMemory.GiB,
			Replicas:          s.Resources.Replicas.planner(),
			VCPU:              s.Resources.CPU,
			MemGiB:            s.Resources.Memory.GiB,
			DiskGiB:           s.Resources.Disk.GiB,
		},
		Data: planner.Data{
			URI: s.Data.URI, Cloud: s.Data.Cloud, Region: s.Data.Region,
			Size: planner.Size(s.Data.Size), Stream: s.Data.Access == accessStream,
		},
		Checkpoint: planner.Checkpoint{
			URI: s.Checkpoint.URI, Size: planner.Size(s.Checkpoint.Size),
			Save: duration(s.Checkpoint.Save), Restore: duration(s.Checkpoint.Restore), Every: duration(s.Checkpoint.Every),
		},
		Curve:       planner.TableCurve(profile),
		Weight:      s.Weight,
		ValueOfTime: pricing.Rate(s.ValueOfTime),
		Deadline:    s.Deadline,
		Budget:      pricing.Money(s.Budget),
		MaxPrice:    pricing.Rate(s.MaxPrice),
		Clouds:      s.Clouds,
		Regions:     s.Regions,
		Markets:     s.Markets,
	}, nil
}

func (r Replicas) planner() planner.Replicas {
	return planner.Replicas{Min: r.Min, Max: r.Max, MultipleOf: r.MultipleOf, Set: r.Set}
}

// profile finds or makes the speeds of the job, and what they are known by.
func (d Document) profile() (p throughput.Profile, family string, err error) {
	t := d.TrainingJob.Spec.Throughput
	family = t.Model
	if t.Estimate != nil {
		family = t.Estimate.Class
	}
	if d.TrainingJob.Spec.Family != "" {
		family = d.TrainingJob.Spec.Family
	}
	if t.Model != "" {
		table, err := throughput.Gavel()
		if err != nil {
			return p, "", err
		}
		p, ok := table.Profile(t.Model)
		if !ok {
			return p, "", d.Fail("spec.throughput.model", "no measurements of %q%s", t.Model, didYouMean(t.Model, table.Names()))
		}
		return p, family, nil
	}
	cfg := throughput.ProfileConfig{Name: family, Entries: t.Table}
	if cfg.Name == "" {
		cfg.Name = d.TrainingJob.Metadata.Name
	}
	if t.Estimate != nil {
		if cfg.Roofline, err = t.Estimate.roofline(); err != nil {
			return p, "", d.Fail("spec.throughput.estimate.class", "%v%s", err, didYouMean(t.Estimate.Class, throughput.ClassNames()))
		}
	}
	p, err = throughput.NewProfile(cfg)
	var bad *throughput.EntryError
	if errors.As(err, &bad) {
		return p, "", d.Fail(fmt.Sprintf("spec.throughput.table[%d].%s", bad.Index, bad.Field), "%s", bad.Reason)
	}
	if err != nil {
		return p, "", d.Fail("spec.throughput", "%v", err)
	}
	return p, family, nil
}

// roofline is the estimate of the class, at the batch asked for.
func (e Estimate) roofline() (*throughput.Roofline, error) {
	if !slices.Contains(throughput.ClassNames(), e.Class) {
		return nil, fmt.Errorf("unknown class %q", e.Class)
	}
	class, err := throughput.ClassNamed(e.Class)
	if err != nil {
		return nil, err
	}
	if e.Batch > 0 {
		class.Batch = e.Batch
	}
	return throughput.NewRoofline(class)
}

// FromJob is the document of a job. Jobs reads it back as an equal job. It fails
// for a job that no document describes: one whose speeds are computed from a class
// that is not built in, or come from elsewhere than a throughput.Profile.
func FromJob(j *planner.Job) (TrainingJob, error) {
	t := TrainingJob{
		APIVersion: APIVersion, Kind: "TrainingJob",
		Metadata: Metadata{Name: string(j.ID), Team: j.Team},
		Spec: JobSpec{
			Submit: j.Submitted.UTC(),
			Work:   Work{Samples: j.Work.Samples},
			Resources: Resources{
				Accelerators:      j.Resources.Accelerators,
				AcceleratorMemory: sizeOf(j.Resources.AcceleratorMemGiB),
				Replicas:          replicasOf(j.Resources.Replicas),
				CPU:               j.Resources.VCPU,
				Memory:            sizeOf(j.Resources.MemGiB),
				Disk:              sizeOf(j.Resources.DiskGiB),
			},
			Data: Data{URI: j.Data.URI, Cloud: j.Data.Cloud, Region: j.Data.Region, Size: Size(j.Data.Size)},
			Checkpoint: Checkpoint{
				URI: j.Checkpoint.URI, Size: Size(j.Checkpoint.Size),
				Save: Duration(j.Checkpoint.Save), Restore: Duration(j.Checkpoint.Restore), Every: Interval(j.Checkpoint.Every),
			},
			Weight:      j.Weight,
			ValueOfTime: Hourly(j.ValueOfTime),
			Deadline:    j.Deadline.UTC(),
			Budget:      Amount(j.Budget),
			MaxPrice:    Hourly(j.MaxPrice),
			Clouds:      j.Clouds,
			Regions:     j.Regions,
			Markets:     j.Markets,
		},
	}
	switch j.Work.Kind {
	case planner.WorkLimit:
		t.Spec.Work.Kind = workLimit
	case planner.WorkUnknown:
		t.Spec.Work = Work{Kind: workUnknown}
	}
	if j.Data.Stream {
		t.Spec.Data.Access = accessStream
	}
	profile, ok := planner.ProfileOf(j.Curve)
	if !ok {
		return TrainingJob{}, fmt.Errorf("job %q: its speeds are no table and no estimate", j.ID)
	}
	var err error
	if t.Spec.Throughput, err = throughputOf(profile); err != nil {
		return TrainingJob{}, fmt.Errorf("job %q: %w", j.ID, err)
	}
	known := t.Spec.Throughput.Model
	if t.Spec.Throughput.Estimate != nil {
		known = t.Spec.Throughput.Estimate.Class
	}
	if j.Family != known {
		t.Spec.Family = j.Family
	}
	return t, nil
}

func replicasOf(r planner.Replicas) Replicas {
	return Replicas{Min: r.Min, Max: r.Max, MultipleOf: r.MultipleOf, Set: r.Set}
}

// throughputOf is the written form of a profile: its name alone if it is one of
// the embedded measurements.
func throughputOf(p throughput.Profile) (Throughput, error) {
	table, err := throughput.Gavel()
	if err != nil {
		return Throughput{}, err
	}
	roofline, estimated := p.Roofline()
	if measured, ok := table.Profile(p.Name()); ok && !estimated && slices.Equal(measured.Entries(), p.Entries()) {
		return Throughput{Model: p.Name()}, nil
	}
	t := Throughput{Table: p.Entries()}
	if !estimated {
		return t, nil
	}
	class := roofline.Class()
	builtIn, err := throughput.ClassNamed(class.Name)
	if err != nil {
		return Throughput{}, err
	}
	t.Estimate = &Estimate{Class: class.Name}
	if class.Batch != builtIn.Batch {
		t.Estimate.Batch, builtIn.Batch = class.Batch, class.Batch
	}
	if !reflect.DeepEqual(class, builtIn) {
		return Throughput{}, fmt.Errorf("model class %q is not the built-in one of that name", class.Name)
	}
	return t, nil
}
