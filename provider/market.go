package provider

import "fmt"

// Market is how capacity is bought. The zero value is invalid, so a field left
// unset cannot pass for on-demand.
type Market uint8

const (
	OnDemand Market = iota + 1 // bought at the list price, ended by us alone
	Spot                       // bought at the price of the day, may be taken back
	Reserved                   // paid ahead or owned; bound to a reservation
	Queued                     // asked for ahead, granted when the cloud has it
	NoMarket                   // of what is no capacity: traffic, a disk, a credit. Nothing is bought in it
)

var marketNames = [...]string{OnDemand: "on-demand", Spot: "spot", Reserved: "reserved", Queued: "queued", NoMarket: "none"}

// String returns the market's word in flags, files and logs.
func (m Market) String() string {
	if m < OnDemand || m > NoMarket {
		return fmt.Sprintf("market(%d)", uint8(m))
	}
	return marketNames[m]
}

// ParseMarket reads the word that String writes, of a market in which something is bought.
func ParseMarket(s string) (Market, error) {
	for m := OnDemand; m <= Queued; m++ {
		if marketNames[m] == s {
			return m, nil
		}
	}
	return 0, fmt.Errorf("market %q: want on-demand, spot, reserved or queued", s)
}

// ParseBooked reads the word that String writes of a market in a ledger, NoMarket included.
func ParseBooked(s string) (Market, error) {
	if s == marketNames[NoMarket] {
		return NoMarket, nil
	}
	return ParseMarket(s)
}

// MarshalText makes a Market its word in JSON and YAML.
func (m Market) MarshalText() ([]byte, error) {
	if m < OnDemand || m > NoMarket {
		return nil, fmt.Errorf("market %d is not set", uint8(m))
	}
	return []byte(marketNames[m]), nil
}

// UnmarshalText reads the word of a Market in which something is bought.
func (m *Market) UnmarshalText(text []byte) error {
	parsed, err := ParseMarket(string(text))
	if err != nil {
		return err
	}
	*m = parsed
	return nil
}
