package provider

import "fmt"

// QuotaUnit is what a quota counts.
type QuotaUnit uint8

const (
	VCPUs        QuotaUnit = iota + 1 // AWS
	Accelerators                      // GCP
)

// String returns the unit's word.
func (u QuotaUnit) String() string {
	switch u {
	case VCPUs:
		return "vcpu"
	case Accelerators:
		return "accelerators"
	}
	return fmt.Sprintf("unit(%d)", uint8(u))
}

// QuotaClass is the counter that a launch is charged to.
type QuotaClass struct {
	Cloud, Account, Region string
	Family                 string // InstanceType.QuotaFamily
	Market                 Market // OnDemand and Spot are counted apart
}

// Quota is the limit of one counter. What is used of it follows from the
// instances that exist.
type Quota struct {
	Class QuotaClass
	Unit  QuotaUnit
	Limit int
	Code  string // the cloud's name for it, for an increase request; "" if unknown
}

// Use is what one machine of t takes from a quota counted in u.
func (u QuotaUnit) Use(t InstanceType) int {
	if u == Accelerators {
		return t.Count
	}
	return t.VCPU
}

// QuotaClassOf is the counter that a launch of o is charged to.
func QuotaClassOf(o Offering, t InstanceType) QuotaClass {
	return QuotaClass{Cloud: o.Cloud, Account: o.Account, Region: o.Region, Family: t.QuotaFamily, Market: o.Market}
}
