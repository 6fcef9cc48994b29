package document

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/autoscale/schedule"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
)

// BudgetPolicy is the document of what may be spent, by whom, when.
type BudgetPolicy struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   PolicyMetadata `json:"metadata"`
	Spec       PolicySpec     `json:"spec"`
}

// PolicyMetadata names a policy and who answers for it.
type PolicyMetadata struct {
	Name  string `json:"name"`
	Owner string `json:"owner"`
}

// PolicySpec is what a policy is about, what it limits and what it does.
type PolicySpec struct {
	Mode       string            `json:"mode,omitempty"` // "enforce" (as if absent), "dry-run"
	Match      budget.Match      `json:"match,omitzero"`
	Active     PolicyWindow      `json:"active,omitzero"`
	Budget     PolicyBudget      `json:"budget,omitzero"`
	Limits     PolicyLimits      `json:"limits,omitzero"`
	Steps      []PolicyStep      `json:"steps,omitempty"`
	Margin     Percent           `json:"margin,omitzero"`
	Cooldown   Duration          `json:"cooldown,omitzero"`
	Fallback   PolicyFallback    `json:"fallback,omitzero"`
	Approval   PolicyApproval    `json:"approval,omitzero"`
	Exceptions []PolicyException `json:"exceptions,omitempty"`
	Notify     []string          `json:"notify,omitempty"`
}

// PolicyWindow is when limits hold, as a Window of the settings says it.
type PolicyWindow struct {
	Start string   `json:"start"`
	For   Duration `json:"for"`
	Zone  string   `json:"zone,omitempty"`
}

// PolicyBudget is an amount for a period.
type PolicyBudget struct {
	Amount    Amount          `json:"amount"`
	Per       string          `json:"per"` // "hour", "day", "week", "month", "window", "total"
	Each      string          `json:"each,omitempty"`
	Zone      string          `json:"zone,omitempty"`
	From      Moment          `json:"from,omitzero"` // of a window; a day is one of the zone
	Until     Moment          `json:"until,omitzero"`
	CarryOver PolicyCarryOver `json:"carryOver,omitzero"`
}

// PolicyCarryOver is what a period leaves to the next.
type PolicyCarryOver struct {
	Unused    Percent `json:"unused,omitzero"`
	Overdraft bool    `json:"overdraft,omitempty"`
}

// PolicyLimits bound what is held at once.
type PolicyLimits struct {
	Burn           Hourly      `json:"burn,omitzero"`
	Rate           Hourly      `json:"rate,omitzero"` // of one machine
	RateOfOnDemand Percent     `json:"rateOfOnDemand,omitzero"`
	SpotShare      PolicyShare `json:"spotShare,omitzero"`
}

// PolicyShare bounds a part of the burn.
type PolicyShare struct {
	Min Percent `json:"min,omitzero"`
	Max Percent `json:"max,omitzero"`
}

// PolicyStep is done when a measure comes to a share of the amount.
type PolicyStep struct {
	At       Percent `json:"at"`
	Measure  string  `json:"measure"`
	Quantile Percent `json:"quantile,omitzero"`
	Rounds   int     `json:"rounds,omitempty"`
	Do       string  `json:"do"`
}

// PolicyFallback keeps jobs on spot until they have waited.
type PolicyFallback struct {
	After     Duration `json:"after"`
	Deadlines bool     `json:"deadlines,omitempty"`
}

// PolicyApproval is what has to be asked for.
type PolicyApproval struct {
	Above  Hourly   `json:"above"`
	Valid  Duration `json:"valid,omitzero"`
	Within Duration `json:"within,omitzero"`
	From   []string `json:"from,omitempty"`
}

// PolicyException loosens its policy for a time.
type PolicyException struct {
	From   Moment `json:"from,omitzero"` // a day is one of the budget's zone
	Until  Moment `json:"until"`
	Add    Amount `json:"add,omitzero"`
	Burn   Hourly `json:"burn,omitzero"`
	Owner  string `json:"owner"`
	Reason string `json:"reason"`
}

// Percent is a share in a document: "80%". It is 0.8.
type Percent float64

// ParsePercent reads a share that is not negative, with its sign.
func ParsePercent(text string) (float64, error) {
	number, ok := strings.CutSuffix(text, "%")
	if ok {
		if n, err := parseDecimal(number); err == nil && n <= mostPercent {
			return n / 100, nil
		}
	}
	return 0, fmt.Errorf(`%q is no share: want a decimal number and the sign, as in "80%%"`, text)
}

// mostPercent bounds shares: a forecast may be many times an amount, and no more.
const mostPercent = 100_000

// MarshalText writes a share with its sign.
func (p Percent) MarshalText() ([]byte, error) {
	return []byte(strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(float64(p)*100, 'f', 6, 64), "0"), ".") + "%"), nil
}

// UnmarshalText reads what MarshalText writes.
func (p *Percent) UnmarshalText(text []byte) error {
	parsed, err := ParsePercent(string(text))
	*p = Percent(parsed)
	return err
}

// dryRun is the mode of a policy that only tells.
const dryRun = "dry-run"

// Policies reads a file of BudgetPolicies, in the order of the file. Names are unique
// in it; budget.NewPolicies holds them to be so over all files.
func Policies(file string, data []byte, origin budget.Origin) ([]*budget.Policy, error) {
	docs, err := Decode(file, data)
	if err != nil {
		return nil, err
	}
	var list []*budget.Policy
	seen := map[string]int{}
	for _, d := range docs {
		if d.BudgetPolicy == nil {
			return nil, d.Fail("kind", "want BudgetPolicy here")
		}
		name := d.BudgetPolicy.Metadata.Name
		if line, twice := seen[name]; twice {
			return nil, d.Fail("metadata.name", "%q is given twice, first in line %d", name, line)
		}
		seen[name], _ = d.Place("metadata.name")
		p, err := d.policy()
		if err != nil {
			return nil, err
		}
		p.Origin = origin
		if line, ok := d.Place("metadata.name"); ok && origin == budget.FromFile {
			p.Place = fmt.Sprintf("%s:%d", file, line)
		}
		list = append(list, p)
	}
	return list, nil
}

// policy is the document as package budget knows it. What a schema cannot say is
// refused at its place.
func (d Document) policy() (*budget.Policy, error) {
	doc := d.BudgetPolicy
	s := doc.Spec
	p := &budget.Policy{
		Name: doc.Metadata.Name, Owner: doc.Metadata.Owner, DryRun: s.Mode == dryRun,
		Burn: pricing.Rate(s.Limits.Burn), MaxRate: pricing.Rate(s.Limits.Rate), OfList: float64(s.Limits.RateOfOnDemand),
		Margin: float64(s.Margin), Cooldown: time.Duration(s.Cooldown), Notify: s.Notify,
	}
	for _, wait := range []struct {
		field string
		zero  bool
	}{{"valid", s.Approval.Valid == 0}, {"within", s.Approval.Within == 0}} {
		if _, given := d.Place("spec.approval." + wait.field); given && wait.zero {
			return nil, d.Fail("spec.approval."+wait.field, "want more than 0")
		}
	}
	for _, limit := range []struct {
		field string
		zero  bool
	}{{"burn", p.Burn == 0}, {"rate", p.MaxRate == 0}, {"rateOfOnDemand", p.OfList == 0}} {
		if _, given := d.Place("spec.limits." + limit.field); given && limit.zero {
			return nil, d.Fail("spec.limits."+limit.field, "want more than 0: to buy nothing, pause or close what is matched")
		}
	}
	var err error
	if p.Over, err = budget.NewSelector(s.Match); err != nil {
		return nil, d.failWhere(err)
	}
	if s.Active != (PolicyWindow{}) {
		if p.Active, err = d.active(s.Active); err != nil {
			return nil, err
		}
	}
	if s.Budget != (PolicyBudget{}) {
		if p.Cap, err = d.cap(s.Budget); err != nil {
			return nil, err
		}
	}
	if share := s.Limits.SpotShare; share != (PolicyShare{}) {
		p.Spot = &budget.SpotShare{Min: float64(share.Min), Max: float64(share.Max)}
		if _, given := d.Place("spec.limits.spotShare.max"); !given {
			p.Spot.Max = 1
		}
		if p.Spot.Max > 1 {
			return nil, d.Fail("spec.limits.spotShare.max", "want 100%% at most")
		}
	}
	for _, step := range s.Steps {
		p.Steps = append(p.Steps, budget.Step{
			At: float64(step.At), Measure: budget.Measure(step.Measure), Quantile: float64(step.Quantile), Rounds: step.Rounds, Do: budget.Action(step.Do),
		})
	}
	if s.Fallback != (PolicyFallback{}) {
		p.Fallback = &budget.Fallback{After: time.Duration(s.Fallback.After), Deadlines: s.Fallback.Deadlines}
	}
	if a := s.Approval; a.Above != 0 {
		p.Approval = &budget.Approval{Above: pricing.Rate(a.Above), Valid: time.Duration(a.Valid), Within: time.Duration(a.Within), From: a.From}
	}
	var zone *time.Location
	if p.Cap != nil {
		zone = p.Cap.Zone
	}
	for _, e := range s.Exceptions {
		p.Exceptions = append(p.Exceptions, budget.Exception{From: e.From.In(zone), Until: e.Until.In(zone), Add: pricing.Money(e.Add), Burn: pricing.Rate(e.Burn), Owner: e.Owner, Reason: e.Reason})
	}
	if field, err := p.Validate(); err != nil {
		return nil, d.Fail(field, "%v", err)
	}
	return p, nil
}

// failWhere puts what is wrong with an expression at its field, with the place in it.
func (d Document) failWhere(err error) error {
	var where *budget.WhereError
	if !errors.As(err, &where) {
		return d.Fail("spec.match", "%v", err)
	}
	known := ""
	if name, ok := strings.CutPrefix(where.Reason, "undeclared reference to '"); ok {
		name, _, _ = strings.Cut(name, "'")
		where.Reason = fmt.Sprintf("there is no %q", name)
		known = didYouMean(name, budget.Fields())
	}
	return d.Fail("spec.match.where", "%v%s", where, known)
}

// active reads when limits hold.
func (d Document) active(w PolicyWindow) (schedule.Window, error) {
	starts, err := schedule.ParseCron(w.Start)
	if err != nil {
		return schedule.Window{}, d.Fail("spec.active.start", "%v", err)
	}
	if _, err := schedule.NewWindow(starts, time.Hour, w.Zone); err != nil {
		return schedule.Window{}, d.Fail("spec.active.zone", "%v", err)
	}
	window, err := schedule.NewWindow(starts, time.Duration(w.For), w.Zone)
	if err != nil {
		return schedule.Window{}, d.Fail("spec.active.for", "%v", err)
	}
	return window, nil
}

// cap reads an amount for a period.
func (d Document) cap(b PolicyBudget) (*budget.Cap, error) {
	period, err := budget.ParsePeriod(b.Per)
	if err != nil {
		return nil, d.Fail("spec.budget.per", "%v", err)
	}
	c := &budget.Cap{
		Amount: pricing.Money(b.Amount), Period: period, Each: budget.Each(b.Each),
		Unused: float64(b.CarryOver.Unused), Overdraft: b.CarryOver.Overdraft,
	}
	if b.Zone != "" {
		if c.Zone, err = zoneNamed(b.Zone); err != nil {
			return nil, d.Fail("spec.budget.zone", "%v", err)
		}
	}
	for _, f := range []struct {
		name string
		at   Moment
		to   *time.Time
	}{{"from", b.From, &c.From}, {"until", b.Until, &c.Until}} {
		switch dated := period == budget.Dated; {
		case dated && f.at.IsZero():
			return nil, d.Fail("spec.budget."+f.name, "is required per: window")
		case !dated && !f.at.IsZero():
			return nil, d.Fail("spec.budget."+f.name, "belongs to per: window")
		case dated:
			*f.to = f.at.In(c.Zone)
		}
	}
	if c.Unused > 1 {
		return nil, d.Fail("spec.budget.carryOver.unused", "want 100%% at most")
	}
	return c, nil
}

// zoneNamed is a zone of the IANA data base by its name. Abbreviations are refused:
// EST is a fixed offset, and New York's clocks move.
func zoneNamed(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if name != "UTC" && (err != nil || !strings.Contains(name, "/") || strings.HasPrefix(name, "Etc/")) {
		return nil, fmt.Errorf(`%q: want UTC or a place of the IANA data base, as in "America/New_York"`, name)
	}
	return zone, err
}
