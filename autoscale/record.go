package autoscale

import (
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// IntentState is where an intent stands.
type IntentState uint8

const (
	IntentOpen   IntentState = iota + 1 // stored; the call may or may not have been made
	IntentFilled                        // answered: its instances are known
	IntentFailed                        // answered: nothing came, and nothing will
)

// Intent is the decision to launch, stored before the call is made. Its token is
// the intent's own random id.
type Intent struct {
	Token     string
	Epoch     int64 // of the store when it was decided: it is in the machines' tags, and those never change
	Round     int64
	Offering  provider.Offering
	Count     int
	Min       int          // fewer than this is none
	Rate      pricing.Rate // quoted when it was decided
	Reason    string       // why it was decided
	Created   time.Time
	State     IntentState
	Instances []provider.InstanceID
	Error     string // the kind of a failure

	Alternates []provider.Offering // that may come in its stead, all of one
}

// JobPhase is where a job stands.
type JobPhase uint8

const (
	JobWaiting JobPhase = iota + 1 // has no machines
	JobPlaced                      // has machines, not all ready
	JobStarted                     // its gang was started
	JobDone
	JobFailed
	JobCancelled
)

// GangTimes are the turns in the life of a job's present gang. Zero: not yet.
type GangTimes struct {
	Started  time.Time // handed to the runner
	Running  time.Time // first progress; before it the gang restores
	Stopping time.Time // told to stop
}

// JobRecord is what the store keeps of a job.
type JobRecord struct {
	Job        *planner.Job
	Phase      JobPhase
	Generation int64             // of the last gang started
	Gang       *Gang             // running or being stopped; nil: none
	Times      GangTimes         // of Gang
	Stopping   StopMode          // how Gang was told to stop; 0: it was not
	Target     *planner.Running  // what the plan gave it, machines on their way included; nil: waits
	Safe       float64           // samples that are safe
	Seen       float64           // samples done
	SeenAt     time.Time         // when the runner said so
	Waiting    time.Time         // waiting since
	Held       time.Duration     // time with machines
	Place      provider.Offering // it ran on last, or does: its checkpoint lies in that region; zero: it never ran
	Started    time.Time         // first start; zero: never
	Ended      time.Time         // zero: not ended
	Restarts   int
	Losses     int           // interruptions suffered
	Failures   int           // gangs that failed since the last progress
	Spent      pricing.Money // booked to it while it had not ended

	Claims    []planner.Claim // of a policy of shares: due up to ClaimedAt, had but for the present gang; replaced, never changed
	ClaimedAt time.Time
	Lease     time.Time // until when it keeps its target; zero: it has no lease

	Measured []planner.Measurement // of all its gangs, the last of each place and batch; replaced, never changed
}

// InstanceRecord is what the store keeps of a machine.
type InstanceRecord struct {
	Instance provider.Instance
	ReadyAt  time.Time // when it may carry a gang: started plus set-up
	Draining bool      // to be ended as soon as its gangs have stopped
	Reason   string    // why it was bought, or is drained

	Ready    bool         // a round has seen it ready
	Rate     pricing.Rate // quoted when it was bought
	Booked   time.Time    // charges are made up to here; zero: none yet
	Seen     time.Time    // last listing that showed it; zero: none yet
	Hinted   time.Time    // the cloud's word that it may take it; zero: none
	Noticed  time.Time    // the cloud's word that it takes it back; zero: none
	Loss     time.Time    // when it goes, by that word
	EndAsked time.Time    // we asked the cloud to end it; zero: we did not
	Denied   time.Time    // the cloud refused to end it; zero: it did not
	Settled  bool         // ended, and charged to its end: nothing more comes

	Gone        bool      // taken for ended because full listings lack it; no cloud has said so
	Missed      time.Time // first full listing since Seen that lacked it; zero: none
	Silent      bool      // it runs, is expected to call home, and has not
	Quarantined time.Time // it was found unfit: nothing runs there any more; zero: it was not
	Astray      time.Time // from then on it was out of contact, until it came back to be ended: it is paid past all caps; zero: never
	Orphan      time.Time // first seen without an intent or a gang to account for it; zero: something does
}

// Shortage is something that may not be bought for a while, because a launch was
// refused. Its scope is all offerings that agree with its fields; an empty field
// of Scope agrees with everything.
type Shortage struct {
	Scope  Scope
	Kind   string    // the error kind that began it
	Since  time.Time // of the last refusal
	Until  time.Time // may be tried again
	Streak int       // refusals in a row, from 1: the wait grows with it
}

// BudgetRecord is how dear the money of a total is, and where its policy stands.
type BudgetRecord struct {
	Name  string // of the total
	Team  string // that it is of; "": the fleet
	Price budget.Price
	Mark  budget.Mark
}

// Event is a line of the fleet's history.
type Event struct {
	At       time.Time           `json:"at"`
	Round    int64               `json:"round"`
	Kind     string              `json:"kind"` // "launch", "loss", "start", ...: the list is in event.go
	Job      planner.JobID       `json:"job,omitempty"`
	Instance provider.InstanceID `json:"instance,omitempty"`
	Offering *provider.Offering  `json:"offering,omitempty"`
	Text     string              `json:"text,omitempty"`
}

// Snapshot is all that a store holds of the running fleet. Charges and events are
// read apart.
type Snapshot struct {
	Fleet     string // random, born with the store
	Epoch     int64
	Round     int64            // last round that was stored
	Jobs      []JobRecord      // those not ended
	Intents   []Intent         // open ones
	Instances []InstanceRecord // those not settled
	Shortages []Shortage
	Overrides []Override
	Budgets   []BudgetRecord    // by name
	Questions []budget.Question // by id, open and answered
	Version   int64             // counts the changes stored
	Broken    []string          // rows that cannot be read and were left out, with the reason
}

// Change is what one step of a round makes durable, all of it or nothing. Rows
// replace those of the same key.
type Change struct {
	Version   int64 // of the snapshot that it was decided on: a store that has moved on refuses
	Round     int64
	Epoch     int64 // of the store from now on; 0: as it is
	Jobs      []JobRecord
	Intents   []Intent
	Instances []InstanceRecord
	Shortages []Shortage        // by scope; one that is over is forgotten
	Overrides []Override        // by kind and subject
	Budgets   []BudgetRecord    // by name
	Questions []budget.Question // by id
	Lifted    []OverrideKey     // forgotten
	Charges   []ledger.Charge   // appended; an id seen before is ignored
	Events    []Event           // appended
}
