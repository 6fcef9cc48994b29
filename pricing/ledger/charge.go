package ledger

import (
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Account is what bears a charge.
type Account string

const (
	ToJob    Account = "job"     // a job made progress, or could have
	ToIdle   Account = "idle"    // no job held it
	ToBoot   Account = "boot"    // running, not yet ready for a job
	ToWaste  Account = "waste"   // restarts, and work done again after a loss
	Overrun  Account = "overrun" // spent past a cap for a named reason
	Overhead Account = "overhead"
)

// Kind tells a first booking from a correction.
type Kind string

const (
	Usage    Kind = "usage"    // seconds at the rate of their instance-hour
	Minimum  Kind = "minimum"  // what the least billed time adds to a short run
	Reversal Kind = "reversal" // taken back: the cloud does not charge an early loss
	Transfer Kind = "transfer" // moved from one account to another; sums to zero
)

// Charge is money for one instance over one stretch of time, borne by one
// account. Charges are never changed; a later fact appends another. What takes
// back has a negative Share and Amount, so that over any set of charges the
// accelerator-time is the sum of Share × (To − From).
type Charge struct {
	ID       string              `json:"id"` // the same facts give the same id: appended twice, it counts once
	Kind     Kind                `json:"kind"`
	Instance provider.InstanceID `json:"instance"`
	Run      int                 `json:"run"` // which start of the instance, from 1
	Offering provider.Offering   `json:"offering"`
	From     time.Time           `json:"from"`
	To       time.Time           `json:"to"` // excluded
	Account  Account             `json:"account"`
	Job      string              `json:"job,omitempty"`
	Team     string              `json:"team,omitempty"`
	Share    int                 `json:"share"` // accelerators borne; negative when taken back
	Of       int                 `json:"of"`    // accelerators of the machine
	Rate     pricing.Rate        `json:"rate"`  // of the whole machine, fixed for the instance-hour
	Known    bool                `json:"known"` // false: no rate was known, Amount is 0 and totals are a lower bound
	List     pricing.Rate        `json:"list"`  // on-demand rate of the same type and zone; 0: not known
	Amount   pricing.Money       `json:"amount"`
	Round    int64               `json:"round"`
}
