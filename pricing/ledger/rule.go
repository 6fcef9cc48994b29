package ledger

import (
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

// types is what the rules need of the catalogue: a TPU is billed by other rules
// than the machines beside it.
type types interface {
	Lookup(cloud, name string) (provider.InstanceType, bool)
}

// Rules choose the billing rule of an offering. The zero value is the documented
// behaviour of the clouds, with every Google type billed as a virtual machine.
type Rules struct {
	Spot  SpotRate // of AWS
	Types types    // tells TPUs apart; nil, or a type it lacks: no TPU
}

// Rule is how one kind of offering is billed. The clock runs from Instance.Started
// to Instance.Ended, which the drivers set by the states that the rule names.
type Rule struct {
	Name    string
	Cites   []string      // keys of Sources
	Minimum time.Duration // least time billed for each start
	Free    time.Duration // nothing is billed when the cloud takes the machine back sooner after its start
	Fixed   bool          // the rate is fixed at each hour counted from the start; else the rate in force
}

// Source is a published statement that a rule rests on.
type Source struct{ Says, URL string }

// Sources are the statements that the rules cite, by id. A is AWS, G is Google.
var Sources = map[string]Source{
	"A1": {"Linux instances are billed by the second, at least 60 seconds each time they enter running",
		"https://repost.aws/knowledge-center/ec2-instance-hour-billing"},
	"A2": {"pending, shutting-down and stopped are free; a stop and start begins a new period, a reboot does not",
		"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-lifecycle.html"},
	"A4": {"the spot price at the start of each instance-hour, counted from the start of the run, holds for that hour",
		"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-data-feeds.html"},
	"A6": {"a spot instance that EC2 interrupts in its first instance-hour is free; later, seconds used are billed",
		"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/billing-for-interrupted-spot-instances.html"},
	"G1": {"at least one minute, then by the second, until TERMINATED is reached, for each start",
		"https://cloud.google.com/compute/vm-instance-pricing"},
	"G2": {"PENDING, PROVISIONING, STAGING and TERMINATED are not billed",
		"https://docs.cloud.google.com/compute/docs/instances/instance-lifecycle"},
	"G4": {"the spot price in force while the machine runs; it may change once a day",
		"https://cloud.google.com/spot-vms/pricing"},
	"G5": {"a spot machine preempted within its first minute is not charged; later, seconds used are billed",
		"https://docs.cloud.google.com/compute/docs/instances/spot"},
	"G13": {"a TPU is charged by the second while READY",
		"https://cloud.google.com/tpu/pricing"},
	"G14": {"a TPU preempted within its first minute is not charged, and PREEMPTED costs nothing",
		"https://cloud.google.com/tpu/docs/preemptible"},
}

// Of is the rule that an offering is billed by. Machines of a cloud that has no
// rule here are billed by the second at the rate in force.
func (r Rules) Of(o provider.Offering) Rule {
	spot := o.Market == provider.Spot
	switch {
	case o.Cloud == "aws" && spot:
		return Rule{Name: "aws-spot", Cites: []string{"A1", "A2", "A4", "A6"}, Minimum: time.Minute, Free: time.Hour, Fixed: r.Spot == InstanceHour}
	case o.Cloud == "aws":
		return Rule{Name: "aws", Cites: []string{"A1", "A2"}, Minimum: time.Minute}
	case o.Cloud == "gcp" && r.tpu(o) && spot:
		return Rule{Name: "tpu-spot", Cites: []string{"G4", "G13", "G14"}, Free: time.Minute}
	case o.Cloud == "gcp" && r.tpu(o):
		return Rule{Name: "tpu", Cites: []string{"G13"}}
	case o.Cloud == "gcp" && spot:
		return Rule{Name: "gcp-spot", Cites: []string{"G1", "G2", "G4", "G5"}, Minimum: time.Minute, Free: time.Minute}
	case o.Cloud == "gcp":
		return Rule{Name: "gcp", Cites: []string{"G1", "G2"}, Minimum: time.Minute}
	}
	return Rule{Name: "by-second"}
}

// free reports whether a run that lived so long and ended so is not billed at all.
func (r Rule) free(lived time.Duration, cause provider.EndCause) bool {
	return cause == provider.Interrupted && lived < r.Free
}

func (r Rules) tpu(o provider.Offering) bool {
	if r.Types == nil {
		return false
	}
	t, ok := r.Types.Lookup(o.Cloud, o.Type)
	return ok && t.Kind == provider.TPU
}
