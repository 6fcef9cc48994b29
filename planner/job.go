package planner

import (
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// JobID names a job for its whole life, across restarts.
type JobID string

// WorkKind says how well the amount of work is known.
type WorkKind uint8

const (
	WorkExact   WorkKind = iota + 1 // Samples is what the job takes
	WorkLimit                       // the job may stop earlier
	WorkUnknown                     // Samples is not given
)

// Work is what a job has to do, in samples at its reference batch.
type Work struct {
	Samples float64
	Kind    WorkKind
}

// Replicas is the set of gang sizes that a job can run at: those of Set if it is
// not empty, else every multiple of MultipleOf in [Min, Max].
type Replicas struct {
	Min, Max, MultipleOf int
	Set                  []int // ascending
}

// Size is an amount of data that may be unknown: unknown is not zero.
type Size struct {
	GiB   float64
	Known bool
}

// Resources is what each replica, and the job, needs of a machine. A zero field
// asks for nothing.
type Resources struct {
	Accelerators      []string // accepted accelerators; empty: every GPU that the curve knows
	AcceleratorMemGiB float64  // per accelerator
	Replicas          Replicas
	VCPU              float64 // per replica
	MemGiB            float64 // per replica
	DiskGiB           float64 // per node
	Ethernet          bool    // a gang of several nodes runs over any network; else over a declared interconnect only
	ShareNodes        bool    // a node of a gang of several nodes may carry others of that kind that allow it too
}

// Data is what a job reads. Outside its region a config pays for moving it; data
// of unknown size stay in their region.
type Data struct {
	URI    string
	Cloud  string // "" = anywhere
	Region string // "" = anywhere
	Size   Size
	Stream bool // read anew each epoch, rather than copied once
}

// Checkpoint is what a job writes so that it can go on elsewhere.
type Checkpoint struct {
	URI     string
	Size    Size
	Save    time.Duration // time to write one
	Restore time.Duration // time from start of the process to the first new step
	Every   time.Duration // interval; 0: chosen by Young and Daly's rule
}

// Speed is what a job does per hour on a config.
type Speed struct {
	Goodput   float64 // samples of progress per hour, > 0
	Batch     int     // total batch at which it does so; 0 when the curve fixes it
	MaxLocal  int     // largest batch of one pass on an accelerator, by its memory; 0: as the job says
	Estimated bool    // not measured: derived from a model of the hardware
	LogSD     float64 // standard deviation of ln Goodput as believed; 0: not told
}

// Curve tells the speed of a job on replicas accelerators spread over nodes
// machines. ok is false where the job cannot run or nothing is known. A curve is
// a pure function.
type Curve interface {
	Speed(accelerator string, nodes, replicas int) (s Speed, ok bool)
}

// Job is a training run: what it needs, what it has to do, what it may cost.
type Job struct {
	ID        JobID
	Team      string
	Project   string // within or across teams, as its owners say
	Family    string // what its curve is known by: a model's name
	Submitted time.Time

	Work       Work
	Resources  Resources
	Data       Data
	Checkpoint Checkpoint
	Curve      Curve

	Weight      float64           // 0: 1
	ValueOfTime pricing.Rate      // USD per hour that an hour less is worth; 0: the job's knee
	Deadline    time.Time         // zero: none
	Budget      pricing.Money     // 0: none
	MaxPrice    pricing.Rate      // of one machine; 0: none
	Clouds      []string          // empty: all
	Regions     []string          // empty: all
	Markets     []provider.Market // empty: all
	Types       []string          // instance types by name; empty: all

	// Refuses says who keeps the job from an offer, beside all that it asks for itself;
	// nobody where it may use it. A round sets it. Nil: it may use all.
	Refuses func(o *Offer) []Refusal `json:"-"`

	// Opens says from when on the job may use an offer that Refuses keeps it off now, if it
	// still waits then; zero: not known. Nil: of none.
	Opens func(o *Offer) time.Time `json:"-"`
}

// Valid reports whether a gang of n replicas is one that the job can run at.
func (r Replicas) Valid(n int) bool {
	if len(r.Set) > 0 {
		for _, size := range r.Set {
			if size == n {
				return true
			}
		}
		return false
	}
	return n >= r.Min && n <= r.Max && (r.MultipleOf <= 1 || n%r.MultipleOf == 0)
}

// Sizes lists every valid gang size, ascending.
func (r Replicas) Sizes() []int {
	if len(r.Set) > 0 {
		return r.Set
	}
	var sizes []int
	step := max(r.MultipleOf, 1)
	for n := (max(r.Min, 1) + step - 1) / step * step; n <= r.Max; n += step {
		sizes = append(sizes, n)
	}
	return sizes
}
