package autoscale

import (
	"context"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// Gang is the replicas of a job as they are started: together or not at all.
type Gang struct {
	Job        planner.JobID
	Generation int64 // counts the job's starts, from 1
	Config     planner.Config
	Offering   provider.Offering
	Nodes      []GangNode // by instance
}

// GangNode is one machine of a gang and the accelerators that it holds there.
type GangNode struct {
	Instance     provider.InstanceID
	Accelerators []int // indices on the machine, ascending
}

// GangState is where a gang stands.
type GangState uint8

const (
	GangStarting GangState = iota + 1 // processes start, the checkpoint is read
	GangRunning                       // makes progress
	GangStopping                      // writes its last checkpoint
	GangStopped                       // ended by us; machines are free
	GangDone                          // the job's work is done
	GangLost                          // a machine went away under it
	GangFailed                        // the program failed
)

// Progress is what a runner knows of one gang.
type Progress struct {
	Job        planner.JobID
	Generation int64
	State      GangState
	Safe       float64   // samples of the job that a checkpoint holds
	Seen       float64   // samples of the job done, safe or not
	Since      time.Time // when State was entered
	Gang       *Gang     // as it was started; nil where the runner does not tell

	// Measured is what was measured of this gang, one for each batch that it ran at,
	// and what did not fit. The loop knows the place: a runner may leave it out.
	Measured []planner.Measurement
}

// StopMode says how a gang is stopped.
type StopMode uint8

const (
	StopSave StopMode = iota + 1 // write a checkpoint first
	StopKill                     // at once
)

// Runner starts and stops gangs. Start and Stop return before the gang has
// started or stopped; Progress tells when it has. Both are idempotent by
// generation.
type Runner interface {
	Start(ctx context.Context, g Gang) error
	Stop(ctx context.Context, job planner.JobID, generation int64, mode StopMode) error
	Progress(ctx context.Context) ([]Progress, error)
}
