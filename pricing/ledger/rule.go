package ledger

import (
	"errors"
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// SpotRate says how AWS's price of a spot machine moves inside an instance-hour.
type SpotRate uint8

const (
	// InstanceHour fixes the price at the start of each hour of the run (A4).
	InstanceHour SpotRate = iota
	// PerSecond follows the price as it moves: the looser reading of AWS's pages.
	PerSecond
)

var spotRateNames = [...]string{InstanceHour: "instance-hour", PerSecond: "per-second"}

// String returns the setting's word.
func (s SpotRate) String() string {
	if int(s) >= len(spotRateNames) {
		return fmt.Sprintf("spotrate(%d)", uint8(s))
	}
	return spotRateNames[s]
}

// ParseSpotRate reads the word that String writes.
func ParseSpotRate(text string) (SpotRate, error) {
	for s, name := range spotRateNames {
		if name == text {
			return SpotRate(s), nil
		}
	}
	return 0, fmt.Errorf("spot rate %q: want instance-hour or per-second", text)
}

// Image is what machines run, as far as bills tell it apart.
type Image uint8

const (
	Linux Image = iota // also Windows, Ubuntu and Red Hat: billed by the second
	SUSE               // on AWS billed by whole hours (A3)
)

// types is what the rules need of the catalogue: a TPU is billed by other rules
// than the machines beside it.
type types interface {
	Lookup(cloud, name string) (provider.InstanceType, bool)
}

// Rules choose the billing rule of an offering. The zero value is the documented
// behaviour of the clouds, with every Google type billed as a virtual machine.
type Rules struct {
	Spot       SpotRate   // of AWS
	Image      Image      // of all machines
	Types      types      // tells TPUs apart; nil, or a type it lacks: no TPU
	Discounts  []Discount // negotiated; of several that fit, the first
	Capacities []Capacity // bought ahead, by id
	Beside     []Beside   // what each machine has that costs too
}

// Validate names the discounts, the capacities and what is beside machines that cannot be.
func (r Rules) Validate() error {
	var bad []error
	for i, d := range r.Discounts {
		if err := d.validate(); err != nil {
			bad = append(bad, fmt.Errorf("discounts[%d].%w", i, err))
		}
	}
	for i, c := range r.Capacities {
		if err := c.validate(); err != nil {
			bad = append(bad, fmt.Errorf("capacities[%d].%w", i, err))
		}
		for _, other := range r.Capacities[:i] {
			if other.ID == c.ID && other.Offering.Cloud == c.Offering.Cloud {
				bad = append(bad, fmt.Errorf("capacities[%d].id: %s comes twice", i, c.ID))
			}
		}
	}
	return errors.Join(append(bad, validateBeside(r.Beside)...)...)
}

// Rule is how one kind of offering is billed. The clock runs from Instance.Started
// to Instance.Ended, which the drivers set by the states that the rule names.
type Rule struct {
	Name    string
	Cites   []string      // keys of Sources
	Minimum time.Duration // least time billed for each start
	Free    time.Duration // nothing is billed when the cloud takes the machine back sooner after its start
	Fixed   bool          // the rate is fixed at each hour counted from the start; else the rate in force
	Whole   time.Duration // billed in whole units of this; one that the cloud cuts short is free. 0: to the second
}

// Of is the rule that an offering is billed by. Machines of a cloud that has no
// rule here are billed by the second at the rate in force.
func (r Rules) Of(o provider.Offering) Rule {
	spot := o.Market == provider.Spot
	switch {
	case o.Cloud == "aws" && r.Image == SUSE && spot:
		return Rule{Name: "aws-suse-spot", Cites: []string{"A2", "A3", "A4", "A6"}, Whole: time.Hour, Fixed: true}
	case o.Cloud == "aws" && r.Image == SUSE:
		return Rule{Name: "aws-suse", Cites: []string{"A2", "A3"}, Whole: time.Hour}
	case o.Cloud == "aws" && spot:
		return Rule{Name: "aws-spot", Cites: []string{"A1", "A2", "A4", "A5", "A6"}, Minimum: time.Minute, Free: time.Hour, Fixed: r.Spot == InstanceHour}
	case o.Cloud == "aws":
		return Rule{Name: "aws", Cites: []string{"A1", "A2"}, Minimum: time.Minute}
	case o.Cloud == "gcp" && r.tpu(o) && spot:
		return Rule{Name: "tpu-spot", Cites: []string{"G4", "G13", "G14"}, Free: time.Minute}
	case o.Cloud == "gcp" && r.tpu(o):
		return Rule{Name: "tpu", Cites: []string{"G13"}}
	case o.Cloud == "gcp" && spot:
		return Rule{Name: "gcp-spot", Cites: []string{"G1", "G2", "G4", "G5", "G6"}, Minimum: time.Minute, Free: time.Minute}
	case o.Cloud == "gcp":
		return Rule{Name: "gcp", Cites: []string{"G1", "G2"}, Minimum: time.Minute}
	}
	return Rule{Name: "by-second"}
}

// OfItem is the rule for what is held beside machines.
func (r Rules) OfItem(item Item, cloud string) Rule {
	switch {
	case item == Disk && cloud == "aws":
		return Rule{Name: "aws-disk", Cites: []string{"A10"}, Minimum: time.Minute}
	case item == Disk && cloud == "gcp":
		return Rule{Name: "gcp-disk", Cites: []string{"G8"}}
	case item == Address && cloud == "aws":
		return Rule{Name: "aws-address", Cites: []string{"A12"}}
	case item == Address && cloud == "gcp":
		return Rule{Name: "gcp-address", Cites: []string{"G9"}}
	case item == Traffic && cloud == "aws":
		return Rule{Name: "aws-traffic", Cites: []string{"A13", "A14", "A22"}}
	case item == Traffic && cloud == "gcp":
		return Rule{Name: "gcp-traffic", Cites: []string{"G10", "G17"}}
	case item == Reservation && cloud == "aws":
		return Rule{Name: "aws-reservation", Cites: []string{"A15"}}
	case item == Reservation && cloud == "gcp":
		return Rule{Name: "gcp-reservation", Cites: []string{"G15"}}
	case item == Block && cloud == "aws":
		return Rule{Name: "aws-block", Cites: []string{"A16"}}
	case item == Commitment && cloud == "aws":
		return Rule{Name: "aws-commitment", Cites: []string{"A17"}}
	case item == Commitment && cloud == "gcp":
		return Rule{Name: "gcp-commitment", Cites: []string{"G11"}}
	}
	return Rule{Name: "by-second"}
}

// free reports whether a run that lived so long and ended so is not billed at all.
func (r Rule) free(lived time.Duration, cause provider.EndCause) bool {
	return cause == provider.Interrupted && (lived < r.Free || lived < r.Whole)
}

// least is the time that is billed for a run that lived so long.
func (r Rule) least(lived time.Duration) time.Duration {
	if r.Whole > 0 {
		return max(r.Whole, (lived + r.Whole - 1).Truncate(r.Whole))
	}
	return r.Minimum
}

func (r Rules) tpu(o provider.Offering) bool {
	if r.Types == nil {
		return false
	}
	t, ok := r.Types.Lookup(o.Cloud, o.Type)
	return ok && t.Kind == provider.TPU
}
