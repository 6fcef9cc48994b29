package provider

import (
	"cmp"
	"fmt"
	"strings"
)

// Offering is one thing a cloud sells, and the key of every price, quota and count.
type Offering struct {
	Cloud       string `json:"cloud"`                 // "aws", "gcp"
	Account     string `json:"account,omitempty"`     // account or project; "" in price data, which hold for all
	Region      string `json:"region"`                // "us-east-1"
	Zone        string `json:"zone"`                  // an id that means one place: "use1-az1", "europe-west4-b"
	Type        string `json:"type"`                  // "p5.48xlarge", "n1-standard-8+v100x2", "v5e-8"
	Market      Market `json:"market"`                // how it is bought
	Reservation string `json:"reservation,omitempty"` // "" unless bought ahead
}

// Compare orders offerings by cloud, account, region, zone, type, market and reservation.
func (o Offering) Compare(p Offering) int {
	return cmp.Or(
		strings.Compare(o.Cloud, p.Cloud),
		strings.Compare(o.Account, p.Account),
		strings.Compare(o.Region, p.Region),
		strings.Compare(o.Zone, p.Zone),
		strings.Compare(o.Type, p.Type),
		cmp.Compare(o.Market, p.Market),
		strings.Compare(o.Reservation, p.Reservation),
	)
}

// String names the offering for people: "aws/use1-az1/p3.2xlarge/spot".
func (o Offering) String() string {
	s := o.Cloud + "/" + o.Zone + "/" + o.Type + "/" + o.Market.String()
	if o.Reservation != "" {
		s += "/" + o.Reservation
	}
	return s
}

// PaidAhead reports whether a machine of the offering is paid whatever anyone decides: it
// takes nothing from a budget.
func (o Offering) PaidAhead() bool { return o.Market == Reserved || o.Reservation != "" }

// Pool is where capacity comes and goes together: one instance type in one zone
// and market.
func (o Offering) Pool() Pool {
	return Pool{Cloud: o.Cloud, Region: o.Region, Zone: o.Zone, Type: o.Type, Market: o.Market}
}

// Pool is the set of offerings that share one supply of machines, whatever the account.
type Pool struct {
	Cloud, Region, Zone, Type string
	Market                    Market
}

// Compare orders pools by cloud, region, zone, type and market.
func (p Pool) Compare(q Pool) int {
	return cmp.Or(
		strings.Compare(p.Cloud, q.Cloud),
		strings.Compare(p.Region, q.Region),
		strings.Compare(p.Zone, q.Zone),
		strings.Compare(p.Type, q.Type),
		cmp.Compare(p.Market, q.Market),
	)
}

// String names the pool for people.
func (p Pool) String() string {
	return p.Cloud + "/" + p.Zone + "/" + p.Type + "/" + p.Market.String()
}

// Validate reports the first field that is missing.
func (o Offering) Validate() error {
	for _, f := range []struct{ name, value string }{
		{"cloud", o.Cloud}, {"region", o.Region}, {"zone", o.Zone}, {"type", o.Type},
	} {
		if f.value == "" {
			return fmt.Errorf("offering %s/%s: %s is empty", o.Zone, o.Type, f.name)
		}
	}
	if o.Market < OnDemand || o.Market > Queued {
		return fmt.Errorf("offering %s/%s: market is not set", o.Zone, o.Type)
	}
	return nil
}
