package fake

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// Config says what the cloud sells, to whom, and how it behaves.
type Config struct {
	Name    string // Cloud of all its offerings: "aws", "gcp"
	Account string // "" if the offerings name none

	// Seed fixes the weather of every pool, the fate of every machine and every id.
	Seed uint64

	// Start is the instant at which virtual time begins.
	Start time.Time

	Catalogue *provider.Catalogue
	Offerings []provider.Offering // what is sold: on-demand and spot, and reserved machines of Blocks
	Blocks    []Block
	Quotas    []provider.Quota // a class that is missing is not limited

	// InterruptionScale multiplies the interruptions of spot machines: it divides
	// the length of up spells and multiplies the rate of single losses. 1 is the
	// climate as it is.
	InterruptionScale float64

	// Climate is how capacity behaves; nil is Measured(Name).
	Climate *Climate

	// Scenario is what is to go wrong, and when; nil is nothing. Its times are
	// counted from Start.
	Scenario *Scenario

	// Faults are drawn from Seed and go wrong besides; the zero value is none.
	Faults Faults

	// NoWait ends calls that hang at once, as if their deadline had passed: in virtual
	// time there is nothing to wait for.
	NoWait bool
}

// validate checks cfg and returns its offerings in order.
func (cfg Config) validate() ([]provider.Offering, error) {
	switch {
	case cfg.Name == "":
		return nil, fmt.Errorf("fake cloud: name is empty")
	case cfg.Start.IsZero():
		return nil, fmt.Errorf("fake cloud %s: start is not set", cfg.Name)
	case cfg.Catalogue == nil:
		return nil, fmt.Errorf("fake cloud %s: no catalogue", cfg.Name)
	case !(cfg.InterruptionScale > 0) || math.IsInf(cfg.InterruptionScale, 0):
		return nil, fmt.Errorf("fake cloud %s: interruption scale %g: want a positive number (1 is as measured)", cfg.Name, cfg.InterruptionScale)
	}
	sold := slices.Clone(cfg.Offerings)
	slices.SortFunc(sold, provider.Offering.Compare)
	for i, o := range sold {
		if err := cfg.validateOffering(o); err != nil {
			return nil, fmt.Errorf("fake cloud %s: %w", cfg.Name, err)
		}
		if i > 0 && o == sold[i-1] {
			return nil, fmt.Errorf("fake cloud %s: offering %s is listed twice", cfg.Name, o)
		}
	}
	for _, q := range cfg.Quotas {
		if q.Limit < 0 || q.Unit != provider.VCPUs && q.Unit != provider.Accelerators {
			return nil, fmt.Errorf("fake cloud %s: quota of %s in %s: limit %d %v: want a limit of at least 0 and a known unit", cfg.Name, q.Class.Family, q.Class.Region, q.Limit, q.Unit)
		}
	}
	return sold, nil
}

func (cfg Config) validateOffering(o provider.Offering) error {
	if err := o.Validate(); err != nil {
		return err
	}
	switch {
	case o.Cloud != cfg.Name:
		return fmt.Errorf("offering %s is of another cloud", o)
	case o.Account != "" && o.Account != cfg.Account:
		return fmt.Errorf("offering %s is of account %q, not %q", o, o.Account, cfg.Account)
	case (o.Market == provider.Reserved) != (o.Reservation != "") || o.Market == provider.Queued:
		return fmt.Errorf("offering %s: only on-demand and spot machines are sold here, and reserved ones of a block", o)
	}
	if _, ok := cfg.Catalogue.Lookup(o.Cloud, o.Type); !ok {
		return fmt.Errorf("offering %s: the catalogue has no such type", o)
	}
	return nil
}
