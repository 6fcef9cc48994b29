package planner

import (
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Config is what a job can run on: replicas accelerators on nodes machines of
// one instance type.
type Config struct {
	Cloud    string `json:"cloud"`
	Type     string `json:"type"`
	Nodes    int    `json:"nodes"`
	Replicas int    `json:"replicas"`
	Batch    int    `json:"batch,omitempty"`
	MaxLocal int    `json:"maxLocal,omitempty"` // see Speed
	With     JobID  `json:"with,omitempty"`     // job that shares all of its accelerators, and says the same of this one; "": none
}

// Offer is an offering as the planner sees it: with its price, its risk and what
// is left of it.
type Offer struct {
	Offering provider.Offering
	Type     provider.InstanceType
	Rate     pricing.Rate   // decision rate of buying one more
	Booked   pricing.Rate   // what the report will show; equals Rate but for owned machines
	Hazard   pricing.Hazard // how it is lost
	Notice   time.Duration  // warning before a loss; 0: none
	Boot     time.Duration  // from launch to ready
	Grant    time.Duration  // by how much nine launches in ten take longer than Boot at most
	Missing  time.Time      // when none of it could be had last; zero: not known
	Cap      int            // machines that may still be bought; < 0: not limited
	Blocked  string         // why none may be bought now; "": may be bought
	Until    time.Time      // when Blocked ends; zero: not known
}

// Machine is an instance that we hold, ready or on its way.
type Machine struct {
	ID       provider.InstanceID
	Offering provider.Offering
	Rate     pricing.Rate // decision rate of keeping it
	ReadyAt  time.Time    // when it is, or is expected to be, ready
	HoldTo   time.Time    // not ended before, unless interrupted: the minimum run time
	Leaving  bool         // noticed, or being ended: gives no capacity
}

// Running is what a job holds now.
type Running struct {
	Config   Config
	Offering provider.Offering
	Machines []provider.InstanceID // one per node
	Since    time.Time
}

// JobState is a job that has not ended, with what it has done and holds.
type JobState struct {
	Job      *Job
	Done     float64       // samples that are safe in a checkpoint
	Running  *Running      // nil: waiting
	Held     time.Duration // time spent with machines so far
	Waiting  time.Time     // waiting since; zero when running
	Restarts int
	Spent    pricing.Money // charged to it so far
	Claims   []Claim       // of a policy of shares, as it was last planned
	Lease    time.Time     // until when it keeps what it runs on; zero: it has no lease
	Alike    []float64     // samples that jobs of its family took which are done, ascending; of work that is not known
	Barred   bool          // a person has a say in its start: however long it waits, it does not come to the head of those that never ran
	Stays    bool          // where it is, or nowhere: on its way elsewhere it would hold more than a cap or a quota has room for
	Shares   bool          // it takes what is free of machines that are here: none is bought for it
	Trial    *Trial        // of a type that its family never ran on, if the job may be the one to try it
}

// QuotaLeft is a counter of the account and what may still be bought in it.
type QuotaLeft struct {
	Class provider.QuotaClass
	Unit  provider.QuotaUnit
	Left  int
	Code  string
}

// ArrivalSpan is the time over which arrivals of jobs are counted.
const ArrivalSpan = time.Hour

// Problem is all that a plan depends on.
type Problem struct {
	Now      time.Time
	Round    time.Duration // between two plans when nothing happens; 0: a minute
	Turnover time.Duration // that a job was left where it was, on average: what a switch gains does not last longer; 0: not known
	Hold     time.Duration // a machine that is bought is paid for so long at least
	Jobs     []JobState
	Machines []Machine
	Offers   []Offer
	Quotas   []QuotaLeft
	BurnCap  pricing.Rate  // sum of rates of all machines held; 0: none
	Aside    pricing.Rate  // taken off BurnCap, and off rows over everything, for machines that end in a moment
	Rows     []Row         // further bounds on what is held
	Budgets  []BudgetPrice // of what may be spent in a day or a month
	Teams    []TeamLimit   // on what teams may say of their jobs

	// Past are the jobs that came within ArrivalSpan and have ended since, as they were
	// when they came: others like them may come.
	Past []*Job

	// Unpriced is what is sold and has no known price. It is never planned with; it
	// only tells why a job that could run there waits. Rates are 0.
	Unpriced []Offer
}
