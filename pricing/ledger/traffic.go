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

// stays reports whether nothing leaves its zone. A region without a zone is one place.
func (f Flow) stays() bool {
	return f.Sender.Cloud == f.Receiver.Cloud && f.Sender.Region == f.Receiver.Region && f.Sender.Zone == f.Receiver.Zone
}

// Move books what a flow moved in [from, to): its counter stood at before bytes
// and now stands at after. Amounts are rounded on the counter, so that they do not
// depend on how often it is read. Within a zone nothing is charged (A14, G10). Between
// zones of a region AWS charges the sender and the receiver, Google the sender. Between
// regions and clouds the sender pays alone, by the list price of most pairs and of the
// first tier (A22, G17): the bill corrects it.
func (f Flow) Move(before, after int64, from, to time.Time, round int64) []Charge {
	if f.stays() || before == after && f.Measured || !from.Before(to) {
		return nil
	}
	price, known := f.price()
	known = known && f.Measured
	if !known {
		price = 0
	}
	line := func(o provider.Offering, way string) Charge {
		unit := unitOfTraffic(o.Cloud)
		o.Market, o.Reservation = provider.NoMarket, "" // also of a machine that is paid ahead
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

// reaches are what the sender pays for a unit, by how far it goes.
var reaches = map[string][3]struct {
	reach string
	price pricing.Rate
}{
	"aws": {{"zone", AWSTraffic}, {"region", AWSToRegion}, {"cloud", AWSToOutside}},
	"gcp": {{"zone", GCPTraffic}, {"region", GCPToRegion}, {"cloud", GCPToOutside}},
}

// price is what the sender pays for a unit; ok is false of a cloud that has no rule here.
func (f Flow) price() (price pricing.Rate, ok bool) {
	far := 2
	switch {
	case f.near():
		far = 0
	case f.Sender.Cloud == f.Receiver.Cloud:
		far = 1
	}
	list, ok := reaches[f.Sender.Cloud]
	return list[far].price, ok
}

// Reach says between what traffic went: "zone", "region" or "cloud". A charge names no receiver,
// but its price tells: each cloud has three. It is "" of any other price, and of all else.
func (c *Charge) Reach() string {
	if c.Item != Traffic || !c.Known {
		return ""
	}
	for _, r := range reaches[c.Offering.Cloud] {
		if r.price == c.Rate {
			return r.reach
		}
	}
	return ""
}

// unitOfTraffic is the bytes that a price of traffic is for.
func unitOfTraffic(cloud string) int64 {
	if cloud == "gcp" {
		return gibibyte
	}
	return gigabyte
}
