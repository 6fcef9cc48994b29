package autoscale

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// OverrideKind is what an override does.
type OverrideKind string

const (
	Pause        OverrideKind = "pause"        // no launches and no moves
	Freeze       OverrideKind = "freeze"       // nothing changes
	Pin          OverrideKind = "pin"          // a job runs on one config or not at all
	Exclude      OverrideKind = "exclude"      // an offering is not bought
	HoldMachine  OverrideKind = "hold"         // a machine is not ended
	DrainMachine OverrideKind = "drain"        // a machine is ended when its gangs have left
	Breaker      OverrideKind = "breaker"      // set by the loop: nothing changes until Resume
	FrozenStart  OverrideKind = "frozen-start" // set by the loop: nothing changes until Adopt or GC
)

// OverrideKey tells overrides apart: a second one of a kind and subject replaces
// the first. The subject is, by kind,
//
//	pause          "" for everything, or "cloud/NAME", "team/NAME", "job/ID"
//	pin            the job's id
//	exclude        an offering's name, such as "aws/use1-az1/p3.2xlarge/spot"; * is any text within a part
//	hold, drain    the machine's id; for drain, "" is every machine
//	the others     ""
type OverrideKey struct {
	Kind    OverrideKind `json:"kind"`
	Subject string       `json:"subject,omitempty"`
}

// Override is a word of a person, or of the loop's own caution, that stands above
// the plan until it is lifted or its time is over.
type Override struct {
	OverrideKey
	Config *planner.Config `json:"config,omitempty"` // of a pin
	Who    string          `json:"who"`
	Why    string          `json:"why"`
	Since  time.Time       `json:"since"`
	Until  time.Time       `json:"until,omitzero"` // zero: until it is lifted
}

// String is the override as reasons show it.
func (o Override) String() string {
	s := string(o.Kind)
	if o.Subject != "" {
		s += " " + o.Subject
	}
	s += " by " + o.Who
	if o.Why != "" {
		s += ": " + o.Why
	}
	if !o.Until.IsZero() {
		s += ", until " + o.Until.UTC().Format(time.RFC3339)
	}
	return s
}

// Compare orders overrides by kind and subject.
func (k OverrideKey) Compare(other OverrideKey) int {
	return cmp.Or(cmp.Compare(k.Kind, other.Kind), cmp.Compare(k.Subject, other.Subject))
}

// Validate reports the first thing that is wrong with an override of a person.
func (o Override) Validate() error {
	scope, name, scoped := strings.Cut(o.Subject, "/")
	switch {
	case o.Who == "":
		return fmt.Errorf("override %s: who says so is missing", o.Kind)
	case o.Since.IsZero():
		return fmt.Errorf("override %s: since when is missing", o.Kind)
	case !o.Until.IsZero() && !o.Until.After(o.Since):
		return fmt.Errorf("override %s: it is over at %s, before it begins", o.Kind, o.Until.UTC().Format(time.RFC3339))
	}
	switch o.Kind {
	case Pause:
		if o.Subject != "" && (!scoped || name == "" || !slices.Contains([]string{"cloud", "team", "job"}, scope)) {
			return fmt.Errorf("override pause: subject %q: want nothing, cloud/NAME, team/NAME or job/ID", o.Subject)
		}
	case Freeze:
		if o.Subject != "" {
			return fmt.Errorf("override freeze: subject %q: it freezes everything", o.Subject)
		}
	case Pin:
		if o.Subject == "" || o.Config == nil || o.Config.Type == "" || o.Config.Nodes <= 0 || o.Config.Replicas < o.Config.Nodes {
			return errors.New("override pin: want a job, and a config with a cloud, a type, nodes and replicas")
		}
		if o.Config.With != "" {
			return fmt.Errorf("override pin: config.with: %q: who shares with a job is planned", o.Config.With)
		}
	case Exclude:
		if _, err := path.Match(o.Subject, ""); err != nil || o.Subject == "" {
			return fmt.Errorf("override exclude: subject %q: want the name of an offering", o.Subject)
		}
	case HoldMachine:
		if o.Subject == "" {
			return errors.New("override hold: want the id of a machine")
		}
	case DrainMachine:
	default:
		return fmt.Errorf("override %q: there is no such kind, or only the loop sets it", o.Kind)
	}
	return nil
}

// overrides are those in force, by key.
type overrides []Override

// first finds the first override of a kind that fits a subject.
func (list overrides) first(kind OverrideKind, fits func(subject string) bool) (Override, bool) {
	for _, o := range list {
		if o.Kind == kind && fits(o.Subject) {
			return o, true
		}
	}
	return Override{}, false
}

func (list overrides) of(kind OverrideKind, subject string) (Override, bool) {
	return list.first(kind, func(s string) bool { return s == subject })
}

// paused tells why a job neither moves nor gets machines, as far as that lies in
// the job or in everything; "" when it may.
func (list overrides) paused(job *planner.Job) string {
	o, ok := list.first(Pause, func(s string) bool {
		return s == "" || s == "job/"+string(job.ID) || job.Team != "" && s == "team/"+job.Team
	})
	if !ok {
		return ""
	}
	return o.String()
}

// closed tells why nothing of an offering is bought; "" when it may be.
func (list overrides) closed(o provider.Offering) string {
	if len(list) == 0 {
		return ""
	}
	if x, ok := list.first(Pause, func(s string) bool { return s == "" || s == "cloud/"+o.Cloud }); ok {
		return x.String()
	}
	name := o.String()
	if x, ok := list.first(Exclude, func(s string) bool { yes, err := path.Match(s, name); return err == nil && yes }); ok {
		return x.String()
	}
	return ""
}

// held tells why a machine is not ended; "" when it may be.
func (list overrides) held(id provider.InstanceID) string {
	if o, ok := list.of(HoldMachine, string(id)); ok {
		return o.String()
	}
	return ""
}

// drained tells why a machine is to end; "" when no person says so.
func (list overrides) drained(id provider.InstanceID) string {
	if o, ok := list.first(DrainMachine, func(s string) bool { return s == "" || s == string(id) }); ok {
		return o.String()
	}
	return ""
}

// Set puts an override in force, from its Since on. It is durable when Set returns
// nil, and obeyed from the next round on.
func (l *Loop) Set(ctx context.Context, now time.Time, o Override) error {
	if o.Since.IsZero() {
		o.Since = now
	}
	if err := o.Validate(); err != nil {
		return err
	}
	release, err := l.take(ctx)
	if err != nil {
		return fmt.Errorf("override: %w", err)
	}
	defer release()
	if o.Kind == Pin && !l.cache.everJob[planner.JobID(o.Subject)] {
		return fmt.Errorf("override pin: there is no job %s", o.Subject)
	}
	l.cache.setOverride(o)
	l.event(Event{At: now, Kind: EventOverride, Text: o.String()})
	l.last.changed = true
	if err := l.cache.commit(ctx, l.cfg.Store); err != nil {
		return fmt.Errorf("override: %w", err)
	}
	return nil
}

// Lift takes overrides back. One that is not in force is an error, and those that
// the loop has set have ways of their own: Resume, Adopt and GC.
func (l *Loop) Lift(ctx context.Context, now time.Time, who string, key OverrideKey) error {
	if key.Kind == Breaker || key.Kind == FrozenStart {
		return fmt.Errorf("lift %s: it is lifted by resume, adopt or gc", key.Kind)
	}
	release, err := l.take(ctx)
	if err != nil {
		return fmt.Errorf("lift: %w", err)
	}
	defer release()
	if !l.cache.liftOverride(key) {
		return fmt.Errorf("lift %s %s: it is not in force", key.Kind, key.Subject)
	}
	if key.Kind == DrainMachine {
		l.undrain(key.Subject)
	}
	l.event(Event{At: now, Kind: EventLifted, Text: fmt.Sprintf("%s %s by %s", key.Kind, key.Subject, who)})
	l.last.changed = true
	if err := l.cache.commit(ctx, l.cfg.Store); err != nil {
		return fmt.Errorf("lift: %w", err)
	}
	return nil
}

// Overrides lists what stands above the plan, by kind and subject.
func (l *Loop) Overrides(ctx context.Context) ([]Override, error) {
	release, err := l.take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return slices.Clone(l.cache.overrides), nil
}

// readOverrides forgets those whose time is over, and drains what is to be drained.
func (l *Loop) readOverrides(now time.Time) {
	for _, o := range slices.Clone(l.cache.overrides) {
		if o.Until.IsZero() || now.Before(o.Until) {
			continue
		}
		l.cache.liftOverride(o.OverrideKey)
		if o.Kind == DrainMachine {
			l.undrain(o.Subject)
		}
		l.event(Event{At: o.Until, Kind: EventLifted, Text: o.String()})
		l.last.changed = true
	}
	for _, m := range l.cache.machines {
		if !m.Instance.Live() || m.Draining || !m.Denied.IsZero() && now.Before(m.Denied.Add(l.cfg.Settings.DeniedWait)) {
			continue
		}
		if why := l.cache.overrides.drained(m.Instance.ID); why != "" {
			m.Draining, m.Reason = true, why
			l.cache.touchMachine(m)
			l.last.changed = true
			l.machineEvent(now, EventDrain, m, why)
			l.abandon(m.Instance.ID, now)
		}
	}
}

// undrain lets machines be used again that a person had drained.
func (l *Loop) undrain(subject string) {
	for _, m := range l.cache.machines {
		if m.Draining && m.EndAsked.IsZero() && strings.HasPrefix(m.Reason, string(DrainMachine)+" ") && (subject == "" || subject == string(m.Instance.ID)) {
			m.Draining = false
			l.cache.touchMachine(m)
		}
	}
}
