package document

import (
	"fmt"
	"regexp"

	"github.com/goodfleet/goodfleet/pricing/budget"
)

// Destination is where budget policies may send word to. One of SecretFile and
// SecretVariable is given: what holds the key that what is sent is signed with.
type Destination struct {
	Name           string `json:"name"`
	URL            string `json:"url"` // https alone
	SecretFile     string `json:"secretFile,omitempty"`
	SecretVariable string `json:"secretVariable,omitempty"`
	CAFile         string `json:"caFile,omitempty"`       // certificates in PEM; absent: the system's
	AllowPrivate   bool   `json:"allowPrivate,omitempty"` // addresses that are not of the public internet too
}

// plainVariable is what a variable of the environment is called.
var plainVariable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// checkDestinations reports the first destination that cannot be called, could not be signed
// for, or has the name of another, at its place.
func (d Document) checkDestinations() error {
	names := d.names()
	for i, to := range d.Config.Spec.Destinations {
		at := fmt.Sprintf("spec.destinations[%d]", i)
		if err := names(at+".name", to.Name); err != nil {
			return err
		}
		if err := budget.CheckURL(to.URL); err != nil {
			return d.Fail(at+".url", "%v", err)
		}
		if (to.SecretFile == "") == (to.SecretVariable == "") {
			return d.Fail(at, "want secretFile or secretVariable, one of them")
		}
		if to.SecretVariable != "" && !plainVariable.MatchString(to.SecretVariable) {
			return d.Fail(at+".secretVariable", "%q: want the name of a variable: letters, digits and underscores, with no digit first", to.SecretVariable)
		}
	}
	return nil
}

// FailNotify is an error at the name of a destination in a file of BudgetPolicies: where
// the policy of a name has it at an index. It is nil where the file has no such policy.
func FailNotify(file string, data []byte, policy string, index int, reason string) error {
	docs, err := Decode(file, data)
	if err != nil {
		return err
	}
	for _, d := range docs {
		if d.BudgetPolicy != nil && d.BudgetPolicy.Metadata.Name == policy {
			return d.Fail(fmt.Sprintf("spec.notify[%d]", index), "%s", reason)
		}
	}
	return nil
}
