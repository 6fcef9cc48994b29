package autoscale

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// prices is what the loop needs to know of prices: the book at an instant. The
// same book is returned while nothing in it changed.
type prices interface {
	Book(now time.Time) (*pricing.Book, error)
}

// hazards is what the loop needs to know of losses, and what it tells of them:
// that something of a pool was held for a time, and whether that ended with the
// loss of the pool. pricing.Hazards is the one.
type hazards interface {
	Of(o provider.Offering, now time.Time) pricing.Hazard
	Observe(p provider.Pool, from, to time.Time, lost bool)
}

// guard holds money back before a launch, so that no cap is passed even while
// calls are under way. budget.Guard is the one.
type guard interface {
	Reserve(token string, a budget.Ask) error
	Commit(token string, got int)
	Release(token string)
	Observe(held []budget.Held, limits ...budget.Limit)
}

// MeterFunc makes a meter that goes on where the one that made the charges stood:
// ledger.Resume with prices and rules.
type MeterFunc func(charges []ledger.Charge) *ledger.Meter

// PlanFunc decides: a pure function, which keeps nothing of the problem.
type PlanFunc func(planner.Problem) (planner.Plan, error)

// Settings are the numbers that the loop goes by. Zero fields take the value of
// DefaultSettings, but for those that say what zero means.
type Settings struct {
	Round       time.Duration // period of rounds
	Hold        time.Duration // minimum run time of a machine
	Setup       time.Duration // from running to ready: image, drivers, data; 0: none
	Boot        time.Duration // from launch to running where nothing is known
	BackOffMin  time.Duration // how long a refused offering is left alone at first
	BackOffMax  time.Duration // and at most
	QuotaWait   time.Duration // how long a full quota is left alone
	DeniedWait  time.Duration // how long what we may not do is left alone
	Grace       time.Duration // how long a machine may be missing from listings after its launch
	PendingMin  time.Duration // how long a machine may take to come up, at least, however fast the last ones were
	PendingMax  time.Duration // and at most; also while few of its type were seen
	IntentMax   time.Duration // how long a lost answer is asked for again
	TokenLife   time.Duration // after which a launch is not sent again at all: the cloud may have forgotten its token
	CallTimeout time.Duration // of one call to a cloud, in real time
	Book        time.Duration // longest time between two bookings of a machine; 0: each round
	MaxReplans  int           // plans made anew in one round because launches failed
	MaxFailures int           // failures of a job's program in a row before it is given up

	Agents      bool          // machines are expected to call home and to count their accelerators
	MaxUnfit    int           // machines in a row that come up unfit before their offering is left alone
	UnfitWait   time.Duration // for so long
	OrphanGrace time.Duration // how long a machine that nothing accounts for is left alone
	Forget      time.Duration // how long the books of a machine stay open that listings have forgotten
	MaxLife     time.Duration // a machine is drained at this age; 0: at none
	ClockMax    time.Duration // between two rounds while there are machines: more is a clock that is wrong
	Parallel    int           // clouds that are called at the same time; 1: one after the other, in their order
	MaxGrowth   int           // machines bought within a minute; a gang of more is bought alone
	MaxMoves    int           // jobs moved in one round

	// EndFirst are the markets in which a machine that is drained ends before there is
	// another for its jobs. In all others the new one comes first. A reservation of
	// which every machine is in use has none to give before one has ended.
	EndFirst []provider.Market

	Windows []Window // when the loop may do things; none: always

	// SkipUnchanged leaves out the plan of a round when nothing that it depends on
	// has changed: no event but those that the last plan counts on, no clock, no price of
	// the offerings by more than PriceStep.
	SkipUnchanged bool
	PriceStep     float64 // relative change of a rate that is worth a plan; 0: any

	BurnCap pricing.Rate             // sum of the rates of all machines; 0: none
	Rows    []planner.Row            // further bounds on what is held
	Teams   []planner.TeamLimit      // on what teams may say of their jobs
	Notices map[string]time.Duration // warning before a spot machine goes, by cloud
}

// DefaultSettings are the settings of a fleet that nobody has tuned. The notices
// are those that the clouds publish: two minutes on AWS, 30 seconds on GCP.
func DefaultSettings() Settings {
	return Settings{
		Round:       time.Minute,
		Hold:        10 * time.Minute,
		Boot:        3 * time.Minute,
		BackOffMin:  3 * time.Minute,
		BackOffMax:  30 * time.Minute,
		QuotaWait:   10 * time.Minute,
		DeniedWait:  30 * time.Minute,
		Grace:       2 * time.Minute,
		PendingMin:  10 * time.Minute,
		PendingMax:  30 * time.Minute,
		IntentMax:   15 * time.Minute,
		TokenLife:   50 * time.Minute, // Google's APIs remember a request's id for an hour, EC2 for a day
		CallTimeout: 30 * time.Second,
		MaxReplans:  8,
		MaxFailures: 3,
		MaxUnfit:    3,
		UnfitWait:   2 * time.Hour,
		OrphanGrace: 5 * time.Minute,
		Forget:      time.Hour,
		ClockMax:    6 * time.Hour,
		Parallel:    4,
		MaxGrowth:   200,
		MaxMoves:    50,
		Notices:     map[string]time.Duration{"aws": 2 * time.Minute, "gcp": 30 * time.Second},
	}
}

// Config is what a Loop is made of.
type Config struct {
	Clouds    []provider.Cloud
	Store     Store
	Runner    Runner
	Catalogue *provider.Catalogue
	Prices    prices
	Hazards   hazards
	Guard     guard
	Meter     MeterFunc
	Plan      PlanFunc
	Offerings []provider.Offering                       // what may be bought
	Boot      func(provider.InstanceType) time.Duration // expected time from launch to running, until it is learned; nil: Settings.Boot
	Tokens    func() string                             // random ids, one a call
	Settings  Settings

	// Reservations are what was bought ahead. Their offerings need not be among
	// Offerings, and have a decision rate of 0 whatever the book says of them.
	Reservations []Reservation

	// Bills are what costs beside the rates of machines.
	Bills Bills

	// Totals are caps on what is spent in a day or a month, beside the caps of Guard on
	// what machines cost at a time.
	Totals []budget.Total

	// Policies are what people say may be spent; SetPolicies changes them.
	Policies budget.Policies

	// Frozen tells from outside the store that nothing may change, and why: a file
	// beside the store works when nothing else does. Nil: never.
	Frozen func() (why string, frozen bool)

	Log *slog.Logger // nil: nothing is logged
}

// frozen asks Config.Frozen.
func (c *Config) frozen() (why string, frozen bool) {
	if c.Frozen == nil {
		return "", false
	}
	return c.Frozen()
}

// validate fills in what was left open and reports the first thing that is wrong.
func (c *Config) validate() error {
	for _, part := range []struct {
		name    string
		missing bool
	}{
		{"Clouds", len(c.Clouds) == 0}, {"Store", c.Store == nil}, {"Runner", c.Runner == nil},
		{"Catalogue", c.Catalogue == nil}, {"Prices", c.Prices == nil}, {"Hazards", c.Hazards == nil},
		{"Guard", c.Guard == nil}, {"Meter", c.Meter == nil}, {"Plan", c.Plan == nil}, {"Tokens", c.Tokens == nil},
	} {
		if part.missing {
			return fmt.Errorf("%s is missing", part.name)
		}
	}
	c.Clouds = slices.SortedFunc(slices.Values(c.Clouds), func(a, b provider.Cloud) int { return strings.Compare(a.Name(), b.Name()) })
	for i, cloud := range c.Clouds[1:] {
		if cloud.Name() == c.Clouds[i].Name() {
			return fmt.Errorf("clouds: %s is given twice", cloud.Name())
		}
	}
	c.Offerings = slices.SortedFunc(slices.Values(c.Offerings), provider.Offering.Compare)
	for i := range c.Reservations {
		r := &c.Reservations[i]
		if err := r.validate(); err != nil {
			return fmt.Errorf("reservations: %s: %w", r.Offering, err)
		}
		if slices.ContainsFunc(c.Reservations[:i], func(x Reservation) bool { return x.Offering == r.Offering }) {
			return fmt.Errorf("reservations: %s is given twice", r.Offering)
		}
		c.Offerings = append(c.Offerings, r.Offering)
	}
	slices.SortFunc(c.Offerings, provider.Offering.Compare)
	c.Offerings = slices.Compact(c.Offerings)
	for _, o := range c.Offerings {
		if err := o.Validate(); err != nil {
			return fmt.Errorf("offerings: %w", err)
		}
		if !slices.ContainsFunc(c.Clouds, func(cloud provider.Cloud) bool { return cloud.Name() == o.Cloud }) {
			return fmt.Errorf("offerings: %s: there is no cloud %q", o, o.Cloud)
		}
		if _, ok := c.Catalogue.Lookup(o.Cloud, o.Type); !ok {
			return fmt.Errorf("offerings: %s: the catalogue has no type %s of %s", o, o.Type, o.Cloud)
		}
	}
	if err := c.Bills.validate(); err != nil {
		return fmt.Errorf("bills: %w", err)
	}
	for _, t := range c.Totals {
		if err := t.Validate(); err != nil {
			return err
		}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if err := c.Settings.fill(); err != nil {
		return fmt.Errorf("Settings: %w", err)
	}
	return nil
}

// fill puts defaults where nothing was set.
func (s *Settings) fill() error {
	d := DefaultSettings()
	for _, f := range []struct {
		name string
		own  *time.Duration
		def  time.Duration
	}{
		{"Round", &s.Round, d.Round}, {"Hold", &s.Hold, d.Hold}, {"Boot", &s.Boot, d.Boot},
		{"BackOffMin", &s.BackOffMin, d.BackOffMin}, {"BackOffMax", &s.BackOffMax, d.BackOffMax},
		{"QuotaWait", &s.QuotaWait, d.QuotaWait}, {"DeniedWait", &s.DeniedWait, d.DeniedWait},
		{"Grace", &s.Grace, d.Grace}, {"PendingMin", &s.PendingMin, d.PendingMin}, {"PendingMax", &s.PendingMax, max(d.PendingMax, s.PendingMin)}, {"IntentMax", &s.IntentMax, d.IntentMax}, {"TokenLife", &s.TokenLife, max(d.TokenLife, s.IntentMax)},
		{"CallTimeout", &s.CallTimeout, d.CallTimeout}, {"Setup", &s.Setup, 0}, {"Book", &s.Book, 0},
		{"UnfitWait", &s.UnfitWait, d.UnfitWait}, {"OrphanGrace", &s.OrphanGrace, d.OrphanGrace}, {"Forget", &s.Forget, d.Forget},
		{"MaxLife", &s.MaxLife, 0}, {"ClockMax", &s.ClockMax, d.ClockMax},
	} {
		if *f.own < 0 {
			return fmt.Errorf("%s is negative", f.name)
		}
		if *f.own == 0 {
			*f.own = f.def
		}
	}
	if s.BackOffMax < s.BackOffMin {
		return errors.New("BackOffMax is less than BackOffMin")
	}
	if s.PendingMax < s.PendingMin {
		return errors.New("PendingMax is less than PendingMin")
	}
	if s.TokenLife < s.IntentMax {
		return errors.New("TokenLife is less than IntentMax")
	}
	for _, f := range []struct {
		name string
		own  *int
		def  int
	}{{"MaxUnfit", &s.MaxUnfit, d.MaxUnfit}, {"Parallel", &s.Parallel, d.Parallel}, {"MaxGrowth", &s.MaxGrowth, d.MaxGrowth}, {"MaxMoves", &s.MaxMoves, d.MaxMoves}} {
		if *f.own < 0 {
			return fmt.Errorf("%s is negative", f.name)
		}
		if *f.own == 0 {
			*f.own = f.def
		}
	}
	if s.MaxReplans < 0 || s.MaxFailures < 0 || s.PriceStep < 0 || s.BurnCap < 0 {
		return errors.New("MaxReplans, MaxFailures, PriceStep and BurnCap must not be negative")
	}
	if s.MaxReplans == 0 {
		s.MaxReplans = d.MaxReplans
	}
	if s.MaxFailures == 0 {
		s.MaxFailures = d.MaxFailures
	}
	for i := range s.Rows {
		if err := s.Rows[i].Check(); err != nil {
			return err
		}
	}
	for i, l := range s.Teams {
		if err := l.Check(); err != nil {
			return err
		}
		if slices.ContainsFunc(s.Teams[:i], func(x planner.TeamLimit) bool { return x.Name == l.Name }) {
			return fmt.Errorf("team %s is given twice", l.Name)
		}
	}
	if err := validateWindows(s.Windows); err != nil {
		return err
	}
	if s.Notices == nil {
		s.Notices = d.Notices
	}
	return nil
}

// deadline bounds one call to a cloud: a call that hangs must not hold up the round.
func (s *Settings) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.CallTimeout)
}
