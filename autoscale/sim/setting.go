package sim

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
	"github.com/goodfleet/goodfleet/provider/fake"
)

// Setting is all that a simulation depends on.
type Setting struct {
	Variant     string  // names the outcome
	Seed        uint64  // of the weather, the fate of machines and every id
	HazardScale float64 // multiplies the interruptions of spot; 0: 1

	Start   time.Time     // of virtual time
	Horizon time.Duration // what has not ended by then is stopped; 0: DefaultHorizon after the last submission
	Jobs    []*planner.Job

	Catalogue *provider.Catalogue
	Prices    *pricing.History
	Offerings []provider.Offering          // what the clouds sell
	Buy       func(provider.Offering) bool // what of it may be bought; nil: all
	Quotas    []provider.Quota
	Totals    []budget.Total  // caps on what is spent in a day or a month
	Policies  budget.Policies // what may be spent

	// Reservations are machines that are owned, or paid ahead: their clouds hold them
	// from the start, and they cost nothing more.
	Reservations []autoscale.Reservation

	// Standing has all of Reservations up before the first job comes.
	Standing bool

	// Lockstep moves time as simulators of turns do: a round lasts until the last gang
	// has done the whole steps that fit into its period, and nothing that happens within
	// starts another. When nothing runs, the next one begins as a job comes.
	Lockstep bool

	// Counted are the jobs that the simulation is about: it ends when they have, and
	// stops all others. Nil: all.
	Counted func(*planner.Job) bool

	Plan     autoscale.PlanFunc
	Loop     autoscale.Settings
	Hazards  pricing.HazardConfig // what is believed before any loss is seen
	Truth    Truth                // where it differs from what is believed
	Transfer planner.Transfer     // what moving data takes; zero: planner.DefaultTransfer
	Rules    ledger.Rules         // how the clouds bill
	Bills    autoscale.Bills      // what else they bill; capacities and what is beside machines are those of Rules

	// Climate is how the capacity of a cloud comes and goes; nil is fake.Measured, and
	// for ClusterCloud that its machines are there at once and stay.
	Climate func(cloud string) (fake.Climate, error)

	// Scenario is what is to go wrong with the clouds, in the language of provider/fake,
	// and Faults what goes wrong by chance besides. Nil and zero: nothing but losses.
	Scenario *fake.Scenario
	Faults   fake.Faults

	Reference string // accelerator that work is compared by; "": "V100"

	// Check proves after every round that no accelerator is held twice, gangs are
	// whole, and quotas and the burn cap hold. It costs about as much as the round.
	Check bool

	everyRound bool // none is passed over, whatever the loop declares

	// believe makes what is believed of losses instead of Hazards; nil: nothing else.
	believe func(clouds []*fake.Cloud) beliefs

	Progress func(Progress) // called after rounds; nil: not
	Log      *slog.Logger   // of the loop; nil: nothing is logged
}

// beliefs are what the loop plans with of losses: pricing.Hazards, or what a test puts
// in its place.
type beliefs interface {
	Of(o provider.Offering, now time.Time) pricing.Hazard
	Observe(p provider.Pool, from, to time.Time, lost bool)
}

// DefaultHorizon is how long after the last submission a simulation ends at the
// latest.
const DefaultHorizon = 30 * 24 * time.Hour

// Progress is how far a simulation is.
type Progress struct {
	Now        time.Time // virtual; of any run, when several run side by side
	Done, Jobs int       // jobs that have ended, of all runs; and all that there are
}

// fill puts defaults where nothing was set and reports the first thing that is wrong.
func (s *Setting) fill() error {
	switch {
	case s.Start.IsZero():
		return fmt.Errorf("start is not set")
	case s.Horizon < 0:
		return fmt.Errorf("horizon %v is negative", s.Horizon)
	case s.Catalogue == nil || s.Prices == nil || s.Plan == nil:
		return fmt.Errorf("catalogue, prices and plan are required")
	case s.HazardScale < 0 || math.IsNaN(s.HazardScale) || math.IsInf(s.HazardScale, 0):
		return fmt.Errorf("hazard scale %g: want a positive number", s.HazardScale)
	case len(s.Offerings) == 0 && len(s.Reservations) == 0:
		return fmt.Errorf("nothing is sold: no offerings")
	}
	s.Start = s.Start.UTC()
	s.HazardScale = cmp.Or(s.HazardScale, 1)
	s.Reference = cmp.Or(s.Reference, "V100")
	s.Loop.Round = cmp.Or(s.Loop.Round, autoscale.DefaultSettings().Round)
	s.Loop.Parallel = 1 // its clouds answer at once
	if s.Standing {
		for _, r := range s.Reservations {
			s.Loop.MaxGrowth += r.Count // all come up at once
		}
	}
	if s.Transfer.GiBPerSec == 0 {
		s.Transfer = planner.DefaultTransfer()
	}
	if s.Buy == nil {
		s.Buy = func(provider.Offering) bool { return true }
	}
	if s.Climate == nil {
		s.Climate = climate
	}
	s.Jobs = slices.Clone(s.Jobs)
	slices.SortStableFunc(s.Jobs, func(a, b *planner.Job) int {
		return cmp.Or(a.Submitted.Compare(b.Submitted), cmp.Compare(a.ID, b.ID))
	})
	if len(s.Jobs) > 0 && s.Jobs[0].Submitted.Before(s.Start) {
		return fmt.Errorf("job %s is submitted at %s, before the start", s.Jobs[0].ID, s.Jobs[0].Submitted.Format(time.RFC3339))
	}
	if s.Horizon == 0 {
		last := s.Start
		if len(s.Jobs) > 0 {
			last = s.Jobs[len(s.Jobs)-1].Submitted
		}
		s.Horizon = last.Sub(s.Start) + DefaultHorizon
	}
	return nil
}

// bought lists what may be bought.
func (s *Setting) bought() []provider.Offering {
	var list []provider.Offering
	for _, o := range s.Offerings {
		if s.Buy(o) {
			list = append(list, o)
		}
	}
	return list
}

// hostile reports whether clouds do worse than take machines back.
func (s *Setting) hostile() bool { return s.Scenario != nil || len(s.Faults.PerDay) > 0 }

// usesSpot reports whether spot may be bought.
func (s *Setting) usesSpot() bool {
	return slices.ContainsFunc(s.Offerings, func(o provider.Offering) bool {
		return o.Market == provider.Spot && (s.Buy == nil || s.Buy(o))
	})
}

// clouds builds a cloud in memory for each that sells something, by name.
func (s *Setting) clouds() ([]*fake.Cloud, error) {
	sold := map[string][]provider.Offering{}
	var names []string
	add := func(o provider.Offering) {
		if !slices.Contains(names, o.Cloud) {
			names = append(names, o.Cloud)
		}
		sold[o.Cloud] = append(sold[o.Cloud], o)
	}
	blocks := map[string][]fake.Block{}
	for _, o := range s.Offerings {
		add(o)
	}
	for _, r := range s.Reservations {
		add(r.Offering)
		b := fake.Block{Offering: r.Offering, Count: r.Count, From: r.From, Until: r.Until, Drain: r.Drain}
		if b.From.IsZero() {
			b.From = s.Start
		}
		if b.Until.IsZero() {
			b.Until = s.Start.Add(s.Horizon + drainLimit + time.Hour) // past the end
		}
		blocks[r.Offering.Cloud] = append(blocks[r.Offering.Cloud], b)
	}
	slices.Sort(names)
	var clouds []*fake.Cloud
	for _, name := range names {
		climate, err := s.Climate(name)
		if err != nil {
			return nil, err
		}
		cfg := fake.Config{
			Name: name, Account: sold[name][0].Account, Seed: s.Seed, Start: s.Start, Catalogue: s.Catalogue,
			Offerings: sold[name], InterruptionScale: s.HazardScale, Climate: &climate,
			Scenario: s.Scenario, Faults: s.Faults, NoWait: true, Blocks: blocks[name],
		}
		for _, q := range s.Quotas {
			if q.Class.Cloud == name {
				cfg.Quotas = append(cfg.Quotas, q)
			}
		}
		cloud, err := fake.New(cfg)
		if err != nil {
			return nil, err
		}
		clouds = append(clouds, cloud)
	}
	return clouds, nil
}
