package document

import (
	"fmt"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
)

// Words of the fields that are one of a few.
const (
	workExact    = "exact"
	workLimit    = "limit"
	workUnknown  = "unknown"
	accessStream = "stream"
	anyNetwork   = "ethernet"
)

// workKinds pairs the words with the planner's kinds.
var workKinds = map[string]planner.WorkKind{
	"": planner.WorkExact, workExact: planner.WorkExact, workLimit: planner.WorkLimit, workUnknown: planner.WorkUnknown,
}

// job is the document as the planner knows it. Fields that are absent are zero.
func (d Document) job(sold Sold) (*planner.Job, error) {
	t := d.TrainingJob
	curve, family, err := d.curve(sold)
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
		Project:   t.Metadata.Project,
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
			Ethernet:          s.Resources.Network == anyNetwork,
			ShareNodes:        s.Resources.ShareNodes,
		},
		Data: planner.Data{
			URI: s.Data.URI, Cloud: s.Data.Cloud, Region: s.Data.Region,
			Size: planner.Size(s.Data.Size), Stream: s.Data.Access == accessStream,
		},
		Checkpoint: planner.Checkpoint{
			URI: s.Checkpoint.URI, Size: planner.Size(s.Checkpoint.Size),
			Save: duration(s.Checkpoint.Save), Restore: duration(s.Checkpoint.Restore), Every: duration(s.Checkpoint.Every),
		},
		Curve:       curve,
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

// FromJob is the document of a job. Jobs reads it back as an equal job. It fails
// for a job that no document describes: one whose speeds are computed from a class
// that is not built in, or come from elsewhere than a table or a profile.
func FromJob(j *planner.Job) (TrainingJob, error) {
	t := TrainingJob{
		APIVersion: APIVersion, Kind: "TrainingJob",
		Metadata: Metadata{Name: string(j.ID), Team: j.Team, Project: j.Project},
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
				ShareNodes:        j.Resources.ShareNodes,
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
	if j.Resources.Ethernet {
		t.Spec.Resources.Network = anyNetwork
	}
	if j.Data.Stream {
		t.Spec.Data.Access = accessStream
	}
	known, err := t.Spec.speed(j.Curve)
	if err != nil {
		return TrainingJob{}, fmt.Errorf("job %q: %w", j.ID, err)
	}
	if j.Family != known {
		t.Spec.Family = j.Family
	}
	return t, nil
}

func replicasOf(r planner.Replicas) Replicas {
	return Replicas{Min: r.Min, Max: r.Max, MultipleOf: r.MultipleOf, Set: r.Set}
}
