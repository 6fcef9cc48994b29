package policy

import (
	"fmt"
	"strings"

	"github.com/goodfleet/goodfleet/planner/share"
)

// Named is a policy that people may ask for.
type Named struct {
	Name   string
	Line   string // what it decides by
	Policy Policy
	Capped bool // it wants a burn cap
	Owned  bool // it looks at nothing but what is owned
}

// Default is the name of the policy where none is named.
const Default = "value"

// All lists the policies that have a name, the default first.
func All() []Named {
	list := []Named{
		{Name: Default, Line: "spend plus value of time times time, least", Policy: Value},
		{Name: "min-cost", Line: "spend the least that meets every deadline", Policy: MinCost},
		{Name: "max-goodput", Line: "the most goodput that the burn cap allows, each job's over that at its knee", Policy: MaxGoodput, Capped: true},
		{Name: "srpt", Line: "on owned machines those jobs first that are done soon; value for the rest", Policy: SRPT},
	}
	for _, rule := range share.Policies() {
		if !strings.HasSuffix(rule.Name, "_packed") { // no engine shares an accelerator
			list = append(list, Named{Name: rule.Name, Line: "shares what is owned: " + rule.Line, Policy: Shared(rule), Owned: true})
		}
	}
	return list
}

// ByName finds a policy.
func ByName(name string) (Named, error) {
	all := All()
	names := make([]string, len(all))
	for i, n := range all {
		if n.Name == name {
			return n, nil
		}
		names[i] = n.Name
	}
	return Named{}, fmt.Errorf("there is no policy %q: want one of %s", name, strings.Join(names, ", "))
}
