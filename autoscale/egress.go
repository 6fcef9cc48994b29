package autoscale

import (
	"fmt"
	"math"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// egress is what a job takes to another region or cloud when it starts there.
type egress struct {
	what  string // "data" or "checkpoint"
	from  provider.Offering
	bytes int64
}

// mostBytes bounds what is moved: no job has as much, and sums of it fit.
const mostBytes = 1 << 60

// takes lists what goes along when a job starts on an offering: its checkpoint from where
// it ran last, and its data from where they lie, unless they came along the last time. A gang
// that has not stopped may write its first checkpoint yet. What
// stays in its region is free: both lie in its object store (A14). What has no known size
// never leaves its region.
func (r *JobRecord) takes(to provider.Offering) []egress {
	if r.Place.Cloud == to.Cloud && r.Place.Region == to.Region {
		return nil
	}
	var list []egress
	add := func(what string, size planner.Size, cloud, region string) {
		if cloud == "" {
			cloud = to.Cloud
		}
		if !size.Known || !(size.GiB > 0) || region == "" || cloud == to.Cloud && region == to.Region {
			return
		}
		bytes := int64(min(math.Round(size.GiB*(1<<30)), mostBytes))
		list = append(list, egress{what, provider.Offering{Cloud: cloud, Region: region, Market: provider.NoMarket}, bytes})
	}
	add("data", r.Job.Data.Size, r.Job.Data.Cloud, r.Job.Data.Region)
	if r.Place.Cloud != "" && (r.Safe > 0 || r.Gang != nil) {
		add("checkpoint", r.Job.Checkpoint.Size, r.Place.Cloud, r.Place.Region)
	}
	return list
}

// egressLasts is the time that a move is booked for: it is money of an instant.
const egressLasts = time.Second

// egressCharges are those of a start of a job on an offering, of the generation that it is
// or will be. Each has an id of its own, so that it is booked once.
func (r *JobRecord) egressCharges(to provider.Offering, generation int64, now time.Time, round int64) []ledger.Charge {
	var list []ledger.Charge
	for _, e := range r.takes(to) {
		flow := ledger.Flow{
			ID: fmt.Sprintf("%s/%d/%s", r.Job.ID, generation, e.what), Sender: e.from, Measured: true,
			Receiver: provider.Offering{Cloud: to.Cloud, Region: to.Region, Market: provider.NoMarket},
			Share:    ledger.Share{Job: string(r.Job.ID), Team: r.Job.Team, Project: r.Job.Project, Account: ledger.ToTraffic},
		}
		charges := flow.Move(0, e.bytes, now, now.Add(egressLasts), round)
		for i := range charges {
			charges[i].Note = fmt.Sprintf("%s to %s/%s", e.what, to.Cloud, to.Region)
		}
		list = append(list, charges...)
	}
	return list
}

// Traffic is what a start of a job on an offering costs at once for what it takes there, by
// what is known of the job. unknown says what is not: the amount is a lower bound then.
func (r *JobRecord) Traffic(to provider.Offering) (amount pricing.Money, unknown string) {
	for _, c := range r.egressCharges(to, 0, time.Unix(0, 0), 0) {
		amount += c.Amount
		if !c.Known {
			unknown = "no price is known of what leaves " + c.Offering.Cloud
		}
	}
	here, ran := r.Place.Cloud == to.Cloud && r.Place.Region == to.Region, r.Place.Cloud != ""
	switch d := r.Job.Data; {
	case here:
	case d.Region != "" && !d.Size.Known && (d.Region != to.Region || d.Cloud != "" && d.Cloud != to.Cloud):
		unknown = "the size of its data in " + d.Region + " is not given, which keeps it there"
	case ran && (r.Safe > 0 || r.Gang != nil) && !r.Job.Checkpoint.Size.Known:
		unknown = "the size of its checkpoint in " + r.Place.Region + " is not given"
	}
	return amount, unknown
}

// Lumps are what a start of a job on an offering takes from budgets at once, for each of so
// many machines.
func (r *JobRecord) Lumps(to provider.Offering, machines int) []budget.Lump {
	var list []budget.Lump
	n := pricing.Money(max(machines, 1))
	for _, c := range r.egressCharges(to, 0, time.Unix(0, 0), 0) {
		facts := budget.FactsOf(c.Offering, provider.InstanceType{}).For(c.Job, c.Team, c.Project)
		list = append(list, budget.Lump{Facts: facts, Amount: (c.Amount + n - 1) / n})
	}
	return list
}
