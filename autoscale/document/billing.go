package document

import (
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// Billing says how the clouds bill this organisation, beside public prices of machines.
type Billing struct {
	Spot       string      `json:"spot,omitempty"`  // "instance-hour" or "per-second", of AWS
	Image      string      `json:"image,omitempty"` // "linux" or "suse"
	Discounts  []Discount  `json:"discounts,omitempty"`
	Disks      []Disk      `json:"disks,omitempty"`     // that each machine has beside it
	Addresses  []string    `json:"addresses,omitempty"` // clouds in which each machine has a public address
	Capacities []Capacity  `json:"capacities,omitempty"`
	Controller *Controller `json:"controller,omitempty"`
	Credits    []Credit    `json:"credits,omitempty"`
}

// Discount is negotiated: what is left of public prices. A field that is not given
// agrees with everything.
type Discount struct {
	Cloud   string          `json:"cloud,omitempty"`
	Account string          `json:"account,omitempty"`
	Region  string          `json:"region,omitempty"`
	Type    string          `json:"type,omitempty"`
	Market  provider.Market `json:"market,omitempty"`
	Factor  string          `json:"factor"` // "0.91"
}

// Disk is the boot disk of each machine of a cloud.
type Disk struct {
	Cloud    string `json:"cloud"`
	Type     string `json:"type"` // "gp3"
	GB       int    `json:"gb"`
	PerMonth Amount `json:"perMonth"` // of one GB
}

// Capacity is what owned machines of a name cost, used or not.
type Capacity struct {
	Owned   string    `json:"owned"` // name of the row
	Kind    string    `json:"kind"`  // "reservation", "block", "commitment"
	From    time.Time `json:"from"`
	Until   time.Time `json:"until,omitzero"`   // excluded; absent: a reservation that goes on
	Upfront Amount    `json:"upfront,omitzero"` // of one machine for the whole time
	Hourly  Hourly    `json:"hourly,omitzero"`  // of one machine
	Team    string    `json:"team,omitempty"`
}

// Controller is the machine that runs goodfleet itself.
type Controller struct {
	Cloud  string `json:"cloud"`
	Region string `json:"region"`
	Type   string `json:"type"`
	Rate   Hourly `json:"rate"`
}

// Credit is money that a cloud gives.
type Credit struct {
	Source string    `json:"source"` // its id
	Cloud  string    `json:"cloud"`
	Amount Amount    `json:"amount"`
	From   time.Time `json:"from"` // of what it is given for
	To     time.Time `json:"to"`   // excluded
	Came   time.Time `json:"came"` // booked then
	Team   string    `json:"team,omitempty"`
	Note   string    `json:"note,omitempty"`
}

// addresses are the published prices of public addresses, which are one price in all
// regions (A12, G9).
var addresses = map[string][]ledger.Beside{
	"aws": {{Item: ledger.Address, Cloud: "aws", Type: "ipv4", Size: 1, Unit: ledger.AWSAddress}},
	"gcp": {
		{Item: ledger.Address, Cloud: "gcp", Market: provider.OnDemand, Type: "ipv4", Size: 1, Unit: ledger.GCPAddress},
		{Item: ledger.Address, Cloud: "gcp", Market: provider.Reserved, Type: "ipv4", Size: 1, Unit: ledger.GCPAddress},
		{Item: ledger.Address, Cloud: "gcp", Market: provider.Queued, Type: "ipv4", Size: 1, Unit: ledger.GCPAddress},
		{Item: ledger.Address, Cloud: "gcp", Market: provider.Spot, Type: "ipv4", Size: 1, Unit: ledger.GCPSpotAddress},
	},
}

// Rules are how machines and what is beside them are billed. owned are the rows that
// capacities name. The error begins with the field below billing.
func (b *Billing) Rules(owned []Owned) (r ledger.Rules, err error) {
	if b == nil {
		return r, nil
	}
	if b.Spot != "" {
		if r.Spot, err = ledger.ParseSpotRate(b.Spot); err != nil {
			return r, fmt.Errorf("spot: %w", err)
		}
	}
	if b.Image == "suse" {
		r.Image = ledger.SUSE
	}
	for i, d := range b.Discounts {
		factor, err := ledger.ParseFactor(d.Factor)
		if err != nil {
			return r, fmt.Errorf("discounts[%d].factor: %w", i, err)
		}
		r.Discounts = append(r.Discounts, ledger.Discount{Cloud: d.Cloud, Account: d.Account, Region: d.Region, Type: d.Type, Market: d.Market, Factor: factor})
	}
	for i, d := range b.Disks {
		x := ledger.Beside{Item: ledger.Disk, Cloud: d.Cloud, Type: d.Type, Size: int64(d.GB), Unit: pricing.Rate(d.PerMonth)}
		if x.Unit <= 0 {
			return r, fmt.Errorf("disks[%d].perMonth: want more than 0 USD", i)
		}
		r.Beside = append(r.Beside, x)
	}
	for i, cloud := range b.Addresses {
		known, ok := addresses[cloud]
		if !ok {
			return r, fmt.Errorf("addresses[%d]: %q: no price of addresses is known there: want aws or gcp", i, cloud)
		}
		r.Beside = append(r.Beside, known...)
	}
	for i, c := range b.Capacities {
		x, err := c.capacity(owned)
		if err != nil {
			return r, fmt.Errorf("capacities[%d].%w", i, err)
		}
		r.Capacities = append(r.Capacities, x)
	}
	return r, r.Validate()
}

func (c Capacity) capacity(owned []Owned) (ledger.Capacity, error) {
	for _, o := range owned {
		if o.Name == c.Owned {
			return ledger.Capacity{
				ID: c.Owned, Item: ledger.Item(c.Kind), Machines: o.Count, From: c.From.UTC(), Until: c.Until.UTC(),
				Offering: provider.Offering{Cloud: o.Cloud, Region: o.Region, Zone: o.Zone, Type: o.Type, Market: provider.Reserved, Reservation: o.Name},
				Upfront:  pricing.Money(c.Upfront), Hourly: pricing.Rate(c.Hourly), Known: true, Team: c.Team,
			}, nil
		}
	}
	return ledger.Capacity{}, fmt.Errorf("owned: there is no row %q among the owned machines", c.Owned)
}

// Grants are the credits.
func (b *Billing) Grants() (list []ledger.Grant, err error) {
	if b == nil {
		return nil, nil
	}
	for i, c := range b.Credits {
		g := ledger.Grant{
			Source: c.Source, Offering: provider.Offering{Cloud: c.Cloud}, Amount: pricing.Money(c.Amount), From: c.From.UTC(), To: c.To.UTC(), Came: c.Came.UTC(),
			Team: c.Team, Note: c.Note,
		}
		if _, err := g.Credit(0); err != nil {
			return nil, fmt.Errorf("credits[%d]: %w", i, err)
		}
		for k, other := range list {
			if other.Source == g.Source && other.Offering.Cloud == g.Offering.Cloud {
				return nil, fmt.Errorf("credits[%d].source: %q is credits[%d] again", i, g.Source, k)
			}
		}
		list = append(list, g)
	}
	return list, nil
}

// Holding is the controller from an instant on; nil where it is not given.
func (b *Billing) Holding(started time.Time) *ledger.Holding {
	if b == nil || b.Controller == nil {
		return nil
	}
	c := b.Controller
	return &ledger.Holding{
		Item: ledger.Controller, ID: "goodfleet", Size: 1, Started: started, Unit: pricing.Rate(c.Rate), Known: true,
		Offering: provider.Offering{Cloud: c.Cloud, Region: c.Region, Type: c.Type, Market: provider.NoMarket},
	}
}

// checkBilling reports the first thing of the billing that cannot be, at its place.
func (d Document) checkBilling() error {
	b := d.Config.Spec.Billing
	_, err := b.Rules(d.Config.Spec.Owned)
	if err == nil {
		_, err = b.Grants()
	}
	if err != nil {
		return d.Fail("spec.billing", "%v", err)
	}
	return nil
}
