package budget

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// Origin says where a policy was written down, and so where it is changed.
type Origin string

const (
	FromFile      Origin = "file"
	FromAPI       Origin = "api"
	FromTerraform Origin = "terraform"
)

// Policy is what may be spent, by whom, when. What it does not limit it leaves alone.
type Policy struct {
	Name   string // unique over all origins
	Owner  string // who answers for it
	Origin Origin
	Place  string // where it is written, as in "policies.yaml:3:18"; "": nobody knows
	DryRun bool   // it decides and tells, and never acts

	Over   *Selector // nil: everything
	Active window    // when Burn, prices, the spot share and the fallback hold; nil: always

	Cap      *Cap         // nil: none
	Burn     pricing.Rate // most that machines cost at a time; 0: not limited
	MaxRate  pricing.Rate // of one machine; 0: not limited
	OfList   float64      // of one machine's rate in its on-demand rate; 0: not limited
	Spot     *SpotShare   // nil: none
	Fallback *Fallback    // nil: on-demand may be bought at once

	Steps    []Step
	Margin   float64       // by how much a measure falls below a step before it is armed again
	Cooldown time.Duration // least time between two turns of a step, or back from a fallback

	Approval   *Approval // nil: none needed
	Exceptions []Exception
	Notify     []string // names of destinations
}

// window is when something holds: open at an instant, and the next instant at which
// that changes. schedule.Window is one.
type window interface {
	At(now time.Time) (open bool, next time.Time)
	String() string
}

// Each says for whom each a cap is: it then holds for every one apart.
type Each string

const (
	ForAll     Each = ""
	PerJob     Each = "job"
	PerTeam    Each = "team"
	PerProject Each = "project"
)

// Key is whose cap a part counts against; "" for a part that nobody holds.
func (e Each) Key(f Facts) string {
	switch e {
	case PerJob:
		return f.Job
	case PerTeam:
		return f.Team
	case PerProject:
		return f.Project
	}
	return ""
}

// Cap is a total over a period. What is held is stopped in time to stay within it.
type Cap struct {
	Amount      pricing.Money
	Period      Period
	Zone        *time.Location
	From, Until time.Time // of a dated window
	Each        Each

	Unused    float64 // of the amount that may be carried over to the next period, in [0, 1]
	Overdraft bool    // what a period spent too much is taken off the next
}

// SpotShare bounds the part of spot in what is burnt, in [0, 1]. It is a row of the
// plan and gives way to deadlines; a launch is not refused for it.
type SpotShare struct{ Min, Max float64 }

// Alone says what the bounds make of a job that nothing else runs beside: it is all on spot,
// or not at all. "" where they leave it both ways.
func (s *SpotShare) Alone() string {
	switch {
	case s.Max == 0:
		return "nothing is bought on spot"
	case s.Min == 1:
		return "nothing but spot is bought"
	case s.Max < 1 && s.Min > 0:
		return "no share between is met by a job alone: it goes on demand first, and one that may use spot only waits for others on demand"
	case s.Max < 1:
		return "a job alone goes on demand, and one that may use spot only waits for others on demand"
	case s.Min > 0:
		return "a job alone goes on spot, and where none is to be had it waits for others on spot"
	}
	return ""
}

// Fallback keeps jobs on spot until they have waited long enough.
type Fallback struct {
	After     time.Duration // waiting for spot before on-demand is bought
	Deadlines bool          // at once for a job whose deadline has no slack left
}

// Measure is what a step looks at.
type Measure string

const (
	Actual    Measure = "actual"    // spent
	Committed Measure = "committed" // and reserved: what runs on until it could be stopped
	Foretold  Measure = "forecast"  // at the end of the period
)

// Action is what a step does; a later one is more severe.
type Action string

const (
	Warn  Action = "warn"   // an event, and word to the policy's destinations
	NoNew Action = "no-new" // nothing covered is bought or started any more
	Drain Action = "drain"  // and machines that are covered end as jobs leave them
	Stop  Action = "stop"   // and jobs that are covered save and stop
)

var severities = []Action{Warn, NoNew, Drain, Stop}

// severity orders actions.
func (a Action) severity() int { return slices.Index(severities, a) }

// Step is done once when a measure comes to its share of the amount, and is undone and
// armed again when it falls below it by the policy's margin, or a new period begins.
type Step struct {
	At       float64 // share of the amount
	Measure  Measure
	Quantile float64 // of a forecast: 0.5 or 0.9
	Rounds   int     // in a row; 0: one
	Do       Action
}

// same reports whether two steps do the same at the same point of one measure: whichever
// waits for more rounds is never heard of.
func (s Step) same(other Step) bool {
	return s.At == other.At && s.Measure == other.Measure && s.Quantile == other.Quantile && s.Do == other.Do
}

// Exception loosens its own policy for a time.
type Exception struct {
	From, Until time.Time // zero From: it has begun
	Add         pricing.Money
	Burn        pricing.Rate
	Owner       string
	Reason      string
}

// holds reports whether an exception is in force.
func (e *Exception) holds(at time.Time) bool {
	return !at.Before(e.From) && at.Before(e.Until)
}

// Approval is what has to be asked for before a launch.
type Approval struct {
	Above  pricing.Rate  // of a launch's machines together
	Valid  time.Duration // of a yes; 0: a day
	Within time.Duration // a question that is not answered by then is refused; 0: it stays open
	From   []string      // who may answer; empty: anyone who may write to the store
}

// Whom is who may answer, for people: "ada or bob".
func (a *Approval) Whom() string { return whom(a.From) }

func whom(from []string) string { return cmp.Or(strings.Join(from, " or "), "a person") }

// plainName is what policies and destinations are called: with a slash between, a name
// and the key that a cap is for make another name.
var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// Validate reports the first thing that is wrong, with the field that it is in.
func (p *Policy) Validate() (field string, err error) {
	switch {
	case p.Name == "":
		return "metadata.name", fmt.Errorf("is missing")
	case !plainName.MatchString(p.Name):
		return "metadata.name", fmt.Errorf("%q: want letters, digits, dots, dashes and underscores, 63 at most", p.Name)
	case p.Owner == "":
		return "metadata.owner", fmt.Errorf("is missing: somebody answers for a policy")
	case p.Cap == nil && p.Burn == 0 && p.MaxRate == 0 && p.OfList == 0 && p.Spot == nil && p.Fallback == nil && p.Approval == nil:
		return "spec", fmt.Errorf("it limits nothing: want budget, limits, fallback or approval")
	case p.Cap == nil && len(p.Steps) > 0:
		return "spec.steps", fmt.Errorf("they are shares of an amount: want a budget")
	case p.Spot != nil && p.Over.market() != "":
		return "spec.limits.spotShare", fmt.Errorf("of market %s alone the share is always the same: match no market", p.Over.market())
	case p.Spot != nil && p.Spot.Min > p.Spot.Max:
		return "spec.limits.spotShare", fmt.Errorf("min %g is more than max %g", p.Spot.Min, p.Spot.Max)
	}
	if p.Cap != nil {
		if err := p.Total("").Validate(); err != nil {
			return "spec.budget", err
		}
		if carries := p.Cap.Unused > 0 || p.Cap.Overdraft; carries && (p.Cap.Period == Dated || p.Cap.Period == Always) {
			return "spec.budget.carryOver", fmt.Errorf("a %s has no next one", p.Cap.Period)
		}
	}
	for i, to := range p.Notify {
		if !plainName.MatchString(to) {
			return fmt.Sprintf("spec.notify[%d]", i), fmt.Errorf("%q: want the name of a destination, and not its address", to)
		}
	}
	for i, e := range p.Exceptions {
		at := fmt.Sprintf("spec.exceptions[%d]", i)
		switch {
		case !e.From.Before(e.Until):
			return at + ".until", fmt.Errorf("it ends before it begins")
		case e.Add == 0 && e.Burn == 0:
			return at, fmt.Errorf("it loosens nothing: want add or burn")
		case e.Add > 0 && p.Cap == nil:
			return at + ".add", fmt.Errorf("the policy has no budget to add to")
		case e.Burn > 0 && p.Burn == 0:
			return at + ".burn", fmt.Errorf("the policy has no limits.burn to add to")
		}
	}
	for i, s := range p.Steps {
		at := fmt.Sprintf("spec.steps[%d]", i)
		switch {
		case (s.Measure == Foretold) != (s.Quantile != 0):
			return at, fmt.Errorf("want a quantile with measure: forecast, and with no other")
		case s.Measure == Foretold && p.Cap.Period == Always:
			return at + ".measure", fmt.Errorf("a total has no end to forecast: want actual or committed")
		case s.Quantile != 0 && s.Quantile != 0.5 && s.Quantile != 0.9:
			return at + ".quantile", fmt.Errorf("want 50%% or 90%%")
		case s.At <= 0:
			return at + ".at", fmt.Errorf("want more than 0%%")
		case s.At > 1 && s.Measure != Foretold && s.Do != Warn:
			return at + ".at", fmt.Errorf("it never comes to %s of it: at 100%% of the amount all is stopped", percent(s.At))
		}
		if k := slices.IndexFunc(p.Steps[:i], s.same); k >= 0 {
			return at, fmt.Errorf("it does what steps[%d] does at the same point", k)
		}
	}
	return p.senseless()
}

// Total is the cap for one key; "" where it is for all.
func (p *Policy) Total(key string) Total {
	c := p.Cap
	t := Total{Name: p.Name, Amount: c.Amount, Period: c.Period, Zone: c.Zone, From: c.From, Until: c.Until}
	if key != "" {
		t.Name += "/" + key
	}
	if team, ok := p.Over.Team(); ok && c.Each == ForAll {
		t.Team = team
		return t
	}
	if p.Over.All() && c.Each == ForAll {
		return t
	}
	t.Over = func(f Facts) bool { return p.Over.Covers(f) && (c.Each == ForAll || c.Each.Key(f) == key && key != "") }
	return t
}

// Added is what exceptions add to the cap at an instant, and until when the sum stays
// so; zero: for ever.
func (p *Policy) Added(at time.Time) (sum pricing.Money, until time.Time) {
	for i := range p.Exceptions {
		e := &p.Exceptions[i]
		if e.holds(at) {
			sum += e.Add
		}
		until = turn(until, at, e.From, e.Until)
	}
	return sum, until
}

// AddedIn is the most that exceptions add to the cap at one instant of [from, until).
func (p *Policy) AddedIn(from, until time.Time) pricing.Money {
	most, _ := p.Added(from)
	for i := range p.Exceptions {
		if at := p.Exceptions[i].From; at.After(from) && at.Before(until) {
			added, _ := p.Added(at)
			most = max(most, added)
		}
	}
	return most
}

// BurnAt is the burn cap at an instant, exceptions included, and until when it stays
// so; 0: none, zero: for ever.
func (p *Policy) BurnAt(at time.Time) (burn pricing.Rate, until time.Time) {
	if p.Burn == 0 {
		return 0, time.Time{}
	}
	open, next := p.ActiveAt(at)
	burn, until = p.Burn, next
	for i := range p.Exceptions {
		e := &p.Exceptions[i]
		if e.holds(at) {
			burn += e.Burn
		}
		until = turn(until, at, e.From, e.Until)
	}
	if !open {
		return 0, next
	}
	return burn, until
}

// BurnName is the name of the limit that the burn cap is.
func (p *Policy) BurnName() string { return p.Name + " (burn)" }

// PriceName is the name of the limit that holds the rate of one machine.
func (p *Policy) PriceName() string { return p.Name + " (price)" }

// turn is the first instant after now among those given; zero: none.
func turn(first, now time.Time, more ...time.Time) time.Time {
	for _, at := range more {
		if at.After(now) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// ActiveAt reports whether the limits hold at an instant, and when that changes; zero:
// never.
func (p *Policy) ActiveAt(at time.Time) (open bool, next time.Time) {
	if p.Active == nil {
		return true, time.Time{}
	}
	return p.Active.At(at)
}

// Policies are all that are in force, by name.
type Policies []*Policy

// Enforced are those that do more than tell.
func (list Policies) Enforced() Policies {
	var enforced Policies
	for _, p := range list {
		if !p.DryRun {
			enforced = append(enforced, p)
		}
	}
	return enforced
}

// from says where a policy comes from.
func (p *Policy) from() string {
	if p.Place == "" {
		return "from " + string(p.Origin)
	}
	return "at " + p.Place
}

// NewPolicies puts policies of all origins together. A name that comes twice is refused:
// the one that is meant must not be lost beneath another.
func NewPolicies(list ...*Policy) (Policies, error) {
	sorted := slices.SortedStableFunc(slices.Values(list), func(a, b *Policy) int { return strings.Compare(a.Name, b.Name) })
	for i, p := range sorted {
		if field, err := p.Validate(); err != nil {
			return nil, fmt.Errorf("budget policy %s: %s: %w", p.Name, field, err)
		}
		if i > 0 && sorted[i-1].Name == p.Name {
			return nil, fmt.Errorf("budget policy %s comes twice: %s and %s", p.Name, sorted[i-1].from(), p.from())
		}
	}
	return sorted, nil
}
