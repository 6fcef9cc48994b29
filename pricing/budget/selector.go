package budget

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"cel.dev/cel-go/cel"
)

// Match says what a policy is about: every field that is given must be equal, and
// Where, an expression of CEL over the same fields, must be true. The zero value is
// about everything.
type Match struct {
	Job         string `json:"job,omitempty"`
	Team        string `json:"team,omitempty"`
	Project     string `json:"project,omitempty"`
	Cloud       string `json:"cloud,omitempty"`
	Region      string `json:"region,omitempty"`
	Zone        string `json:"zone,omitempty"`
	Type        string `json:"type,omitempty"`
	Market      string `json:"market,omitempty"`
	Accelerator string `json:"accelerator,omitempty"`
	Where       string `json:"where,omitempty"`
}

// fields are the names that a Where may use, with what each is of some facts, and
// whether it is a job's.
var fields = []struct {
	name  string
	ofJob bool
	get   func(f *Facts) any
}{
	{"job", true, func(f *Facts) any { return f.Job }},
	{"team", true, func(f *Facts) any { return f.Team }},
	{"project", true, func(f *Facts) any { return f.Project }},
	{"cloud", false, func(f *Facts) any { return f.Cloud }},
	{"account", false, func(f *Facts) any { return f.Account }},
	{"region", false, func(f *Facts) any { return f.Region }},
	{"zone", false, func(f *Facts) any { return f.Zone }},
	{"type", false, func(f *Facts) any { return f.Type }},
	{"market", false, func(f *Facts) any { return f.Market }},
	{"accelerator", false, func(f *Facts) any { return f.Accelerator }},
	{"accelerators", false, func(f *Facts) any { return int64(f.Accelerators) }},
}

// mostCost bounds what one evaluation may cost, in CEL's units: a comparison is about
// one. An expression that passes it covers the part, as does any other that fails.
const mostCost = 10_000

// Selector is a Match ready for use. It is safe for concurrent use, and remembers what
// it was asked.
type Selector struct {
	match Match
	names map[string]bool // that Where uses
	where cel.Program     // nil: none

	mu    sync.Mutex // guards known
	known map[Facts]bool
}

// language is CEL with our fields, made once.
var language = sync.OnceValues(func() (*cel.Env, error) {
	var options []cel.EnvOption
	for _, f := range fields {
		kind := cel.StringType
		if _, whole := f.get(&Facts{}).(int64); whole {
			kind = cel.IntType
		}
		options = append(options, cel.Variable(f.name, kind))
	}
	return cel.NewEnv(options...)
})

// WhereError is what is wrong with an expression, with its place in it.
type WhereError struct {
	Line, Column int // from 1
	Reason       string
}

func (e *WhereError) Error() string {
	return fmt.Sprintf("%s (at %d:%d of the expression)", e.Reason, e.Line, e.Column)
}

// NewSelector compiles a Match. The error is a *WhereError where the expression is
// wrong: of a name that is no field, a type that does not fit, or what is not true or
// false.
func NewSelector(m Match) (*Selector, error) {
	s := &Selector{match: m, names: map[string]bool{}, known: map[Facts]bool{}}
	if m.Where == "" {
		return s, nil
	}
	env, err := language()
	if err != nil {
		return nil, fmt.Errorf("selectors: %w", err)
	}
	ast, issues := env.Compile(m.Where)
	if issues != nil && issues.Err() != nil {
		first := issues.Errors()[0]
		return nil, &WhereError{Line: first.Location.Line(), Column: first.Location.Column() + 1, Reason: first.Message}
	}
	if ast.OutputType() != cel.BoolType {
		return nil, &WhereError{Line: 1, Column: 1, Reason: fmt.Sprintf("it is of type %s: want true or false", ast.OutputType())}
	}
	for _, ref := range ast.NativeRep().ReferenceMap() {
		s.names[ref.Name] = true
	}
	if s.where, err = env.Program(ast, cel.CostLimit(mostCost)); err != nil {
		return nil, &WhereError{Line: 1, Column: 1, Reason: err.Error()}
	}
	return s, nil
}

// Covers reports whether the selector is about a part. Nil is about everything. An
// expression that cannot be evaluated covers: in doubt a limit holds.
func (s *Selector) Covers(f Facts) bool {
	if s == nil {
		return true
	}
	m := &s.match
	for _, pair := range [...][2]string{
		{m.Job, f.Job}, {m.Team, f.Team}, {m.Project, f.Project}, {m.Cloud, f.Cloud}, {m.Region, f.Region},
		{m.Zone, f.Zone}, {m.Type, f.Type}, {m.Market, f.Market}, {m.Accelerator, f.Accelerator},
	} {
		if pair[0] != "" && pair[0] != pair[1] {
			return false
		}
	}
	if s.where == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	yes, seen := s.known[f]
	if !seen {
		yes = s.ask(f)
		if len(s.known) >= mostKnown {
			clear(s.known)
		}
		s.known[f] = yes
	}
	return yes
}

// mostKnown bounds what a selector remembers.
const mostKnown = 1 << 16

func (s *Selector) ask(f Facts) bool {
	values := make(map[string]any, len(fields))
	for _, field := range fields {
		values[field.name] = field.get(&f)
	}
	out, _, err := s.where.Eval(values)
	if err != nil {
		return true
	}
	yes, ok := out.Value().(bool)
	return yes || !ok
}

// OfJobs reports whether the answer depends on whom a part is for. If not, idle
// machines are covered like all others.
func (s *Selector) OfJobs() bool { return s.asks(true) }

// OfOffers reports whether the answer depends on what was bought.
func (s *Selector) OfOffers() bool { return s.asks(false) }

func (s *Selector) asks(ofJob bool) bool {
	if s == nil {
		return false
	}
	m := &s.match
	if ofJob && (m.Job != "" || m.Team != "" || m.Project != "") ||
		!ofJob && (m.Cloud != "" || m.Region != "" || m.Zone != "" || m.Type != "" || m.Market != "" || m.Accelerator != "") {
		return true
	}
	for _, f := range fields {
		if f.ofJob == ofJob && s.names[f.name] {
			return true
		}
	}
	return false
}

// Team is the one team that the selector is about, and nothing else; ok is false when
// it is about more or less than one team.
func (s *Selector) Team() (team string, ok bool) {
	if s == nil {
		return "", false
	}
	return s.match.Team, s.match.Team != "" && s.match == Match{Team: s.match.Team}
}

// market is the one market that the selector is about; "": it may be about several.
func (s *Selector) market() string {
	if s == nil {
		return ""
	}
	return s.match.Market
}

// All reports whether the selector is about everything.
func (s *Selector) All() bool { return s == nil || s.match == Match{} }

// String is the selector as people read it.
func (s *Selector) String() string {
	if s.All() {
		return "everything"
	}
	m := s.match
	text := ""
	for _, f := range [...]struct{ name, value string }{
		{"job", m.Job}, {"team", m.Team}, {"project", m.Project}, {"cloud", m.Cloud}, {"region", m.Region}, {"zone", m.Zone},
		{"type", m.Type}, {"market", m.Market}, {"accelerator", m.Accelerator},
	} {
		if f.value != "" {
			text += ", " + f.name + " " + f.value
		}
	}
	if m.Where != "" {
		text += ", where " + m.Where
	}
	return text[2:]
}

// Fields lists the names that an expression may use.
func Fields() []string {
	names := map[string]bool{}
	for _, f := range fields {
		names[f.name] = true
	}
	return slices.Sorted(maps.Keys(names))
}
