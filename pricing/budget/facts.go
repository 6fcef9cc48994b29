package budget

import (
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Facts are what a selector may ask of a part of a machine: for whom it is, and what
// it was bought as. They are what every charge of the ledger knows too, so that what
// is counted and what is stopped are the same. What nobody holds beside jobs is theirs;
// a machine without jobs has no job, team and project.
type Facts struct {
	Job, Team, Project string

	Cloud, Account, Region, Zone string
	Type                         string // instance type
	Market                       string // "spot", "on-demand", ...
	Accelerator                  string // "" where the catalogue does not know the type
	Accelerators                 int    // of a whole machine
}

// FactsOf are the facts of what nobody holds of an offering. t is its type; the zero
// type where the catalogue lacks it.
func FactsOf(o provider.Offering, t provider.InstanceType) Facts {
	return Facts{
		Cloud: o.Cloud, Account: o.Account, Region: o.Region, Zone: o.Zone, Type: o.Type, Market: o.Market.String(),
		Accelerator: t.Accelerator, Accelerators: t.Count,
	}
}

// For are the facts of what a job holds of the same offering.
func (f Facts) For(job, team, project string) Facts {
	f.Job, f.Team, f.Project = job, team, project
	return f
}

// Part is so many of the accelerators of a machine, or of several alike, and for whom
// they are.
type Part struct {
	Facts Facts
	Count int
	Lumps []Lump // what is paid at once when they take it
}

// Lump is money that is paid at once, as for data that a job takes to another region, and
// what the ledger will say of it.
type Lump struct {
	Facts  Facts
	Amount pricing.Money
}

// covered is how many of the accelerators in parts a selector covers. over nil covers
// everything.
func covered(parts []Part, over func(Facts) bool) (count, of int) {
	for _, p := range parts {
		of += p.Count
		if over == nil || over(p.Facts) {
			count += p.Count
		}
	}
	return count, of
}
