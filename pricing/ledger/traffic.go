package ledger

import (
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// gigabyte and gibibyte are what AWS and Google count traffic in, in bytes.
const (
	gigabyte = 1_000_000_000
	gibibyte = 1 << 30
)

// Flow is what a job moved from one zone to another, as a counter that only grows.
type Flow struct {
	ID       string            // of the counter
	Sender   provider.Offering // where the data come from
	Receiver provider.Offering
	Share    Share // who bears it
	Measured bool  // false: something moved, nobody knows how much
}

// Move books what a flow moved in [from, to): its counter stood at before bytes
// and now stands at after. Amounts are rounded on the counter, so that they do not
// depend on how often it is read. Within a zone nothing is charged (A14, G10). Between
// zones of a region AWS charges the sender and the receiver, Google the sender. Between
// regions and clouds the sender pays alone, by the list price of most pairs and of the
// first tier (A22, G17): the bill corrects it.
func (f Flow) Move(before, after int64, from, to time.Time, round int64) []Charge {
	if f.Sender.Zone == f.Receiver.Zone && f.Sender.Cloud == f.Receiver.Cloud || before == after && f.Measured || !from.Before(to) {
		return nil
	}
	price, known := f.price()
	known = known && f.Measured
	if !known {
		price = 0
	}
	line := func(o provider.Offering, way string) Charge {
		unit := unitOfTraffic(o.Cloud)
		c := Charge{
			ID:   strings.Join([]string{o.Cloud, string(Traffic) + ":" + f.ID, "1", from.UTC().Format(time.RFC3339Nano), string(Usage), way}, "/"),
			Kind: Usage, Item: Traffic, Instance: provider.InstanceID(f.ID), Run: 1, Offering: o, From: from.UTC(), To: to.UTC(),
			Account: ToJob, Job: f.Share.Job, Team: f.Share.Team, Project: f.Share.Project, Share: 1, Of: 1,
			Rate: price, Known: known, Quantity: after - before, Note: way, Round: round,
		}
		if f.Share.Account != "" {
			c.Account = f.Share.Account
		} else if f.Share.Job == "" {
			c.Account = Overhead
		}
		if known {
			c.Amount = volume(price, after, unit) - volume(price, before, unit)
		}
		return c
	}
	charges := []Charge{line(f.Sender, "out")}
	if f.Sender.Cloud == "aws" && f.near() {
		charges = append(charges, line(f.Receiver, "in"))
	}
	return charges
}

// near reports whether a flow stays in its region.
func (f Flow) near() bool {
	return f.Sender.Region == f.Receiver.Region && f.Sender.Cloud == f.Receiver.Cloud
}

// price is what the sender pays for a unit; ok is false of a cloud that has no rule here.
func (f Flow) price() (price pricing.Rate, ok bool) {
	switch within := f.Sender.Cloud == f.Receiver.Cloud; f.Sender.Cloud {
	case "aws":
		return threeWays(f.near(), within, AWSTraffic, AWSToRegion, AWSToOutside), true
	case "gcp":
		return threeWays(f.near(), within, GCPTraffic, GCPToRegion, GCPToOutside), true
	}
	return 0, false
}

func threeWays(near, within bool, zone, region, outside pricing.Rate) pricing.Rate {
	switch {
	case near:
		return zone
	case within:
		return region
	}
	return outside
}

// unitOfTraffic is the bytes that a price of traffic is for.
func unitOfTraffic(cloud string) int64 {
	if cloud == "gcp" {
		return gibibyte
	}
	return gigabyte
}
