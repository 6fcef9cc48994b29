package document

import (
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// Fleet is the document of what runs: the machines that are held, the jobs on
// them, and what stands above a plan. It says what a store says, in a form that a
// person can write; work and needs of the jobs are in their own documents.
type Fleet struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Spec       FleetSpec `json:"spec"`
}

// FleetSpec is what runs.
type FleetSpec struct {
	Machines  []FleetMachine  `json:"machines,omitempty"`
	Jobs      []FleetJob      `json:"jobs,omitempty"`
	Overrides []FleetOverride `json:"overrides,omitempty"`
	Shortages []FleetShortage `json:"shortages,omitempty"`
	Budgets   []FleetBudget   `json:"budgets,omitempty"`
}

// FleetMachine is a machine that is held.
type FleetMachine struct {
	ID          string          `json:"id"`
	Cloud       string          `json:"cloud"`
	Account     string          `json:"account,omitempty"`
	Region      string          `json:"region"`
	Zone        string          `json:"zone"`
	Type        string          `json:"type"`
	Market      provider.Market `json:"market"`
	Reservation string          `json:"reservation,omitempty"`
	Launched    time.Time       `json:"launched,omitzero"` // absent: long enough ago to be ended
	Hinted      time.Time       `json:"hinted,omitzero"`   // when the cloud said that it may take it; absent: it did not
}

// Offering is what the machine was bought as.
func (m FleetMachine) Offering() provider.Offering {
	return provider.Offering{
		Cloud: m.Cloud, Account: m.Account, Region: m.Region, Zone: m.Zone, Type: m.Type, Market: m.Market, Reservation: m.Reservation,
	}
}

// FleetJob is what a job has done and what it holds.
type FleetJob struct {
	Name     string    `json:"name"` // of its TrainingJob
	Machines []string  `json:"machines,omitempty"`
	Replicas int       `json:"replicas,omitempty"` // over all machines; absent: every accelerator of them
	Done     float64   `json:"done,omitempty"`     // samples that a checkpoint holds
	Spent    Amount    `json:"spent,omitzero"`
	Since    time.Time `json:"since,omitzero"` // it holds them, or waits, since; absent: now
}

// FleetOverride is a word of a person that stands above the plan.
type FleetOverride struct {
	Kind    string          `json:"kind"` // "pause", "exclude", "hold", "pin"
	Subject string          `json:"subject,omitempty"`
	Config  *planner.Config `json:"config,omitempty"` // of a pin
	Who     string          `json:"who"`
	Why     string          `json:"why,omitempty"`
	Until   time.Time       `json:"until,omitzero"` // absent: until it is lifted
}

// FleetShortage is something that may not be bought for a while. A field that is
// absent stands for everything.
type FleetShortage struct {
	Cloud  string          `json:"cloud"`
	Region string          `json:"region,omitempty"`
	Zone   string          `json:"zone,omitempty"`
	Family string          `json:"family,omitempty"` // quota family
	Type   string          `json:"type,omitempty"`
	Market provider.Market `json:"market,omitempty"`
	Reason string          `json:"reason"`
	Until  time.Time       `json:"until"`
}

// FleetBudget is how dear the money of a budget is.
type FleetBudget struct {
	Name         string  `json:"name"`
	Team         string  `json:"team,omitempty"` // absent: the fleet
	DollarCounts float64 `json:"dollarCounts"`   // what a dollar of rates counts in a plan: 1 and more
}

// checkFleet refuses what a schema cannot express: machines twice, and jobs on
// machines that are not there.
func (d Document) checkFleet() error {
	spec := d.Fleet.Spec
	there := map[string]bool{}
	for i, m := range spec.Machines {
		if there[m.ID] {
			return d.Fail(fmt.Sprintf("spec.machines[%d].id", i), "%q is given twice", m.ID)
		}
		there[m.ID] = true
		if err := m.Offering().Validate(); err != nil {
			return d.Fail(fmt.Sprintf("spec.machines[%d]", i), "%v", err)
		}
	}
	named := map[string]bool{}
	var ids []string
	for _, m := range spec.Machines {
		ids = append(ids, m.ID)
	}
	for i, j := range spec.Jobs {
		at := fmt.Sprintf("spec.jobs[%d]", i)
		if named[j.Name] {
			return d.Fail(at+".name", "%q is given twice", j.Name)
		}
		named[j.Name] = true
		for k, id := range j.Machines {
			if !there[id] {
				return d.Fail(fmt.Sprintf("%s.machines[%d]", at, k), "%q is not among the machines%s", id, didYouMean(id, ids))
			}
		}
		switch {
		case j.Replicas > 0 && len(j.Machines) == 0:
			return d.Fail(at+".replicas", "%d: the job holds no machines", j.Replicas)
		case len(j.Machines) > 0 && j.Replicas%len(j.Machines) != 0:
			return d.Fail(at+".replicas", "%d: want as many on each of %d machines", j.Replicas, len(j.Machines))
		}
	}
	return nil
}
