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
// depend on how often it is read. Within a zone nothing is charged (A14, G10).
// AWS charges the sender and the receiver, Google the sender. Between clouds or
// regions other prices hold: such a flow is booked at no known rate.
func (f Flow) Move(before, after int64, from, to time.Time, round int64) []Charge {
	if f.Sender.Zone == f.Receiver.Zone && f.Sender.Cloud == f.Receiver.Cloud || before == after && f.Measured || !from.Before(to) {
		return nil
	}
	near := f.Sender.Region == f.Receiver.Region && f.Sender.Cloud == f.Receiver.Cloud
	price, known := pricing.Rate(0), false
	switch {
	case near && f.Measured && f.Sender.Cloud == "aws":
		price, known = AWSTraffic, true
	case near && f.Measured && f.Sender.Cloud == "gcp":
		price, known = GCPTraffic, true
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
	if f.Sender.Cloud == "aws" {
		charges = append(charges, line(f.Receiver, "in"))
	}
	return charges
}

// unitOfTraffic is the bytes that a price of traffic is for.
func unitOfTraffic(cloud string) int64 {
	if cloud == "gcp" {
		return gibibyte
	}
	return gigabyte
}
