package providertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
)

// clause is one thing that the loop relies on.
type clause struct {
	name string
	law  string
	// needs reports whether the stage can provoke what the clause is about; nil: nothing.
	needs func(Trouble) bool
	show  func(context.Context, *scene) error
}

// Clause names a clause and says what it demands.
type Clause struct{ Name, Law string }

// Clauses lists all clauses in the order in which they are shown.
func Clauses() []Clause {
	list := make([]Clause, len(clauses))
	for i, c := range clauses {
		list[i] = Clause{c.name, c.law}
	}
	return list
}

// Result is how a driver stands to one clause.
type Result struct {
	Clause   Clause
	NotShown string // why it cannot be shown; "" if it was
	Broken   error  // what the driver did; nil if it keeps the clause
}

// Check shows every clause and tells the outcome of each, in order.
func Check(t testing.TB, setup Setup) []Result {
	t.Helper()
	results := make([]Result, 0, len(clauses))
	for _, c := range clauses {
		r := Result{Clause: Clause{c.name, c.law}, NotShown: setup.CannotShow[c.name]}
		if r.NotShown == "" {
			r.Broken = c.check(t, setup.Open(t))
		}
		results = append(results, r)
	}
	for _, name := range slices.Sorted(maps.Keys(setup.CannotShow)) {
		if !slices.ContainsFunc(clauses, func(c clause) bool { return c.name == name }) {
			results = append(results, Result{Clause: Clause{Name: name}, Broken: errors.New("declared, but there is no such clause")})
		} else if setup.CannotShow[name] == "" {
			results = append(results, Result{Clause: Clause{Name: name}, Broken: errors.New("declared without a reason")})
		}
	}
	return results
}

func (c clause) check(t testing.TB, stage Stage) error {
	if stage.Many < 8 {
		return fmt.Errorf("stage: many is %d: want at least 8", stage.Many)
	}
	if c.needs != nil && !c.needs(stage.Trouble) {
		return errors.New("the stage cannot provoke it: declare the clause in CannotShow")
	}
	return c.show(t.Context(), &scene{Stage: stage})
}

// Run shows every clause in a subtest of its name. Those that cannot be shown are
// named in the log, with the reason.
func Run(t *testing.T, setup Setup) {
	t.Helper()
	shown := 0
	results := Check(t, setup)
	for _, r := range results {
		t.Run(r.Clause.Name, func(t *testing.T) {
			switch {
			case r.Broken != nil:
				t.Errorf("%s\nbroken: %v", r.Clause.Law, r.Broken)
			case r.NotShown == "":
				shown++
			}
		})
	}
	t.Logf("%d of %d clauses shown", shown, len(results))
	for _, r := range results {
		if r.NotShown != "" {
			t.Logf("not shown: %s: %s", r.Clause.Name, r.NotShown)
		}
	}
}
