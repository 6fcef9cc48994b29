package autoscale

import (
	"cmp"
	"strings"

	"github.com/goodfleet/goodfleet/provider"
)

// Scope is a set of offerings: all that agree with its fields. An empty field
// agrees with everything.
type Scope struct {
	Cloud, Account, Region, Zone string
	Family                       string // quota family of the instance type
	Type                         string
	Market                       provider.Market // 0: every market
	Reservation                  string
}

// scopeOf is the scope of one offering alone.
func scopeOf(o provider.Offering) Scope {
	return Scope{
		Cloud: o.Cloud, Account: o.Account, Region: o.Region, Zone: o.Zone,
		Type: o.Type, Market: o.Market, Reservation: o.Reservation,
	}
}

// scopeOfClass is the scope of all offerings that share a quota.
func scopeOfClass(c provider.QuotaClass) Scope {
	return Scope{Cloud: c.Cloud, Account: c.Account, Region: c.Region, Family: c.Family, Market: c.Market}
}

// Holds reports whether an offering of a type lies in the scope.
func (s Scope) Holds(o provider.Offering, t provider.InstanceType) bool { return s.holds(&o, &t) }

func (s *Scope) holds(o *provider.Offering, t *provider.InstanceType) bool {
	agree := func(field, value string) bool { return field == "" || field == value }
	return agree(s.Cloud, o.Cloud) && agree(s.Account, o.Account) && agree(s.Region, o.Region) && agree(s.Zone, o.Zone) &&
		agree(s.Family, t.QuotaFamily) && agree(s.Type, o.Type) && agree(s.Reservation, o.Reservation) &&
		(s.Market == 0 || s.Market == o.Market)
}

// Compare orders scopes field by field.
func (s Scope) Compare(t Scope) int {
	return cmp.Or(
		strings.Compare(s.Cloud, t.Cloud), strings.Compare(s.Account, t.Account), strings.Compare(s.Region, t.Region),
		strings.Compare(s.Zone, t.Zone), strings.Compare(s.Family, t.Family), strings.Compare(s.Type, t.Type),
		cmp.Compare(s.Market, t.Market), strings.Compare(s.Reservation, t.Reservation),
	)
}

// String names the scope for people: "aws/us-east-1/P/spot".
func (s Scope) String() string {
	place := cmp.Or(s.Zone, s.Region)
	parts := []string{s.Cloud, place, cmp.Or(s.Type, s.Family)}
	if s.Market != 0 {
		parts = append(parts, s.Market.String())
	}
	if s.Reservation != "" {
		parts = append(parts, s.Reservation)
	}
	var given []string
	for _, part := range parts {
		if part != "" {
			given = append(given, part)
		}
	}
	return strings.Join(given, "/")
}
