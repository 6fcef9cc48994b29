package document

import "github.com/goodfleet/goodfleet/provider"

// Config is the document of goodfleet's settings.
type Config struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Spec       ConfigSpec `json:"spec"`
}

// ConfigSpec is the settings themselves. Those that are one value may also be
// given by a flag or by the environment, which go before the file.
type ConfigSpec struct {
	BurnCap    Hourly            `json:"burnCap,omitzero"` // of all machines held
	Clouds     []string          `json:"clouds,omitempty"`
	Regions    []string          `json:"regions,omitempty"`
	Markets    []provider.Market `json:"markets,omitempty"`
	Round      Duration          `json:"round,omitzero"` // from one round to the next
	Seed       *uint64           `json:"seed,omitempty"`
	Output     string            `json:"output,omitempty"`     // "table", "json", "yaml", "csv"
	Out        string            `json:"out,omitempty"`        // folder for what a command writes
	Ledger     string            `json:"ledger,omitempty"`     // file that cost-report reads
	Quarantine string            `json:"quarantine,omitempty"` // file of prices that were put aside

	Quotas []Quota `json:"quotas,omitempty"`
	Owned  []Owned `json:"owned,omitempty"`
}

// Quota is a limit of an account, in the cloud's own unit.
type Quota struct {
	Cloud   string          `json:"cloud"`
	Account string          `json:"account,omitempty"`
	Region  string          `json:"region"`
	Family  string          `json:"family"`
	Market  provider.Market `json:"market"`
	Limit   int             `json:"limit"`
}

// Owned is machines that are never bought or ended.
type Owned struct {
	Name   string `json:"name"` // the reservation's
	Cloud  string `json:"cloud"`
	Region string `json:"region"`
	Zone   string `json:"zone"`
	Type   string `json:"type"`
	Count  int    `json:"count"`
}
