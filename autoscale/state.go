package autoscale

import (
	"cmp"
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// State is all that a decision depends on. It does not change once built.
type State struct {
	Now       time.Time
	Round     time.Duration    // period of rounds
	Jobs      []JobRecord      // those that have not ended or still hold a gang, by submission
	Alike     [][]float64      // per job what others of its family took, see planner.JobState; none where its work is known
	Past      []*planner.Job   // those that have ended, of the last planner.ArrivalSpan
	Machines  []InstanceRecord // those that have not ended, by launch
	Intents   []Intent         // launches whose answer is out
	Offers    []planner.Offer  // what may be bought, priced; caps and blocks are not yet in
	Unpriced  []planner.Offer  // what is sold and has no known price
	Quotas    []provider.Quota // less what machines of others take
	Shortages []Shortage       // in force
	Frozen    []Frozen
	Busy      []string // clouds that throttle: nothing more is bought there in this round
	NoBuying  string   // why nothing at all is bought any more in this round; "": it may be
	BurnCap   pricing.Rate
	Rows      []planner.Row
	Budgets   []planner.BudgetPrice
	Policies  budget.Policies
	Questions []budget.Question
	Closures  []closure                            // what policies forbid
	Gates     []gate                               // and to which jobs
	ListRate  func(provider.Offering) pricing.Rate // on demand in the same place; 0: not known
	Position  *budget.Position                     // how far their limits are used; nil: there are none
	Teams     []planner.TeamLimit
	Stepped   bool          // they are others than the last plan saw
	Hold      time.Duration // minimum run time of a machine
	Grace     time.Duration // before a machine is ended that nothing accounts for
	Recheck   time.Duration // how long a machine that the cloud refused to end is left alone
	Catalogue *provider.Catalogue
	Overrides []Override                   // in force
	Used      map[provider.InstanceID]bool // machines with a gang that runs, by the runner's word
	Strays    map[planner.JobID]bool       // jobs with a gang that runs and is none of theirs
	Grown     int                          // machines bought within the last minute
	MaxGrowth int                          // and how many may be; 0: not limited
	MaxMoves  int                          // jobs that may move in a round; 0: not limited
	Stands    bool                         // nothing is new that the last plan does not count on: it goes on
	Woke      planner.Clock                // the clock that woke the round, when nothing else did

	Hints        map[provider.Pool]time.Time // when a cloud last said that it may take machines of a pool
	Reservations []Reservation
	EndFirst     []provider.Market // where a drained machine ends before there is another
	Windows      []Window

	// What this round ends already for other reasons than the plan, and whether a
	// person said that it may end as much as it wants to.
	Ending     int
	EndingRate pricing.Rate
	MayEndAll  bool
	Still      time.Duration // since a decision changed anything
}

// Frozen is a cloud of which nothing is bought, ended or moved in a round.
type Frozen struct{ Cloud, Reason string }

// frozen tells why nothing of a cloud may be touched; "" when it may.
func (s *State) frozen(cloud string) string {
	for _, f := range s.Frozen {
		if f.Cloud == cloud {
			return cmp.Or(f.Reason, "frozen")
		}
	}
	return ""
}

// leaving reports whether a machine gives no capacity any more.
func (r *InstanceRecord) leaving() bool {
	return !r.Instance.Live() || r.Draining || !r.Quarantined.IsZero() || !r.Noticed.IsZero() || !r.EndAsked.IsZero()
}

// ready reports whether a machine may carry gangs.
func (r *InstanceRecord) ready(now time.Time) bool {
	return r.Instance.State == provider.Running && !r.Silent && !now.Before(r.ReadyAt)
}

// A launch whose answer is out is machines on their way, which have names of our
// own until the cloud's are known.
const onTheWay = "intent/"

// standIn is the name of machine i of a launch.
func standIn(token string, i int) provider.InstanceID {
	return provider.InstanceID(fmt.Sprintf("%s%s/%d", onTheWay, token, i))
}

// rate is the decision rate of an offering now: its offer's, else what was quoted
// when it was bought.
func (s *State) rate(o provider.Offering, quoted pricing.Rate) pricing.Rate {
	if i, ok := s.offer(o); ok {
		return s.Offers[i].Rate
	}
	return quoted
}

// listRate is what a machine costs on demand in the same place; 0: not known.
func (s *State) listRate(o provider.Offering) pricing.Rate {
	if s.ListRate == nil {
		return 0
	}
	return s.ListRate(o)
}

// offer finds the offer of an offering.
func (s *State) offer(o provider.Offering) (int, bool) {
	lo, hi := 0, len(s.Offers)
	for lo < hi {
		mid := (lo + hi) / 2
		switch c := s.Offers[mid].Offering.Compare(o); {
		case c == 0:
			return mid, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false
}

// fixed reports whether a job has to stay as it is in this round: it holds, or is
// to hold, machines of a frozen cloud.
func (s *State) fixed(r *JobRecord) bool {
	return r.Gang != nil && s.frozen(r.Gang.Offering.Cloud) != "" ||
		r.Target != nil && s.frozen(r.Target.Offering.Cloud) != ""
}
