package document

import (
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/autoscale/schedule"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Config is the document of goodfleet's settings.
type Config struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Spec       ConfigSpec `json:"spec"`
}

// ConfigSpec is the settings themselves. Those that are one value may also be
// given by a flag or by the environment, which go before the file.
type ConfigSpec struct {
	BurnCap    Hourly            `json:"burnCap,omitzero"`  // of all machines held
	Budgets    []string          `json:"budgets,omitempty"` // files of BudgetPolicies
	Clouds     []string          `json:"clouds,omitempty"`
	Regions    []string          `json:"regions,omitempty"`
	Markets    []provider.Market `json:"markets,omitempty"`
	Round      Duration          `json:"round,omitzero"` // from one round to the next
	Seed       *uint64           `json:"seed,omitempty"`
	Output     string            `json:"output,omitempty"`     // "table", "json", "yaml", "csv"
	Out        string            `json:"out,omitempty"`        // folder for what a command writes
	Ledger     string            `json:"ledger,omitempty"`     // file that cost-report reads
	Quarantine string            `json:"quarantine,omitempty"` // file of prices that were put aside

	Quotas  []Quota  `json:"quotas,omitempty"`
	Owned   []Owned  `json:"owned,omitempty"`
	Limits  []Limit  `json:"limits,omitempty"`
	Windows []Window `json:"windows,omitempty"`
	Teams   []Team   `json:"teams,omitempty"`

	Destinations []Destination `json:"destinations,omitempty"`

	Billing *Billing `json:"billing,omitempty"`
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

// Limit bounds what is held at once. One of BurnCap and SpotShare is given.
type Limit struct {
	Name      string   `json:"name"`
	Team      string   `json:"team,omitempty"` // absent: all that is held
	BurnCap   Hourly   `json:"burnCap,omitzero"`
	SpotShare *float64 `json:"spotShare,omitempty"`
}

// Row is the limit as the planner knows it.
func (l Limit) Row() planner.Row {
	if l.SpotShare != nil {
		return planner.Row{Name: l.Name, Kind: planner.SpotRow, Team: l.Team, Part: *l.SpotShare}
	}
	return planner.Row{Name: l.Name, Kind: planner.BurnRow, Team: l.Team, Most: pricing.Rate(l.BurnCap)}
}

// Team limits what a team may say of its jobs. One of its limits is given at least.
type Team struct {
	Name           string  `json:"name"`
	MaxValueOfTime Hourly  `json:"maxValueOfTime,omitzero"`
	MaxWeight      float64 `json:"maxWeight,omitzero"`
}

// Limit is the team's as the planner knows it.
func (t Team) Limit() planner.TeamLimit {
	return planner.TeamLimit{Name: t.Name, MaxValueOfTime: pricing.Rate(t.MaxValueOfTime), MaxWeight: t.MaxWeight}
}

// names returns a check that refuses a name that it was asked about before.
func (d Document) names() func(at, name string) error {
	seen := map[string]int{}
	return func(at, name string) error {
		if first, twice := seen[name]; twice {
			return d.Fail(at, "%q is given twice, first in line %d", name, first)
		}
		seen[name], _ = d.Place(at)
		return nil
	}
}

// checkTeams reports the first team that limits nothing or is given twice, at its place.
func (d Document) checkTeams() error {
	names := d.names()
	for i, t := range d.Config.Spec.Teams {
		at := fmt.Sprintf("spec.teams[%d]", i)
		if err := names(at+".name", t.Name); err != nil {
			return err
		}
		if t.MaxValueOfTime == 0 && t.MaxWeight == 0 {
			return d.Fail(at, "want maxValueOfTime, maxWeight or both")
		}
	}
	return nil
}

// checkLimits reports the first limit that bounds nothing, or two things, or has the
// name of another, at its place.
func (d Document) checkLimits() error {
	names := d.names()
	for i, l := range d.Config.Spec.Limits {
		at := fmt.Sprintf("spec.limits[%d]", i)
		if err := names(at+".name", l.Name); err != nil {
			return err
		}
		if (l.BurnCap == 0) == (l.SpotShare == nil) {
			return d.Fail(at, "want burnCap or spotShare, one of them")
		}
	}
	return nil
}

// Window says when something may be done. One of Allow and Deny is given.
type Window struct {
	Name  string   `json:"name"`
	Allow []string `json:"allow,omitempty"` // "moves", "launches": only while a window that allows it is open
	Deny  []string `json:"deny,omitempty"`  // not while it is open
	Start string   `json:"start"`           // the five fields of crontab
	For   Duration `json:"for"`
	Zone  string   `json:"zone,omitempty"` // of the IANA data base; absent: UTC
}

// Time is when the window is open.
func (w Window) Time() (schedule.Window, error) {
	starts, err := schedule.ParseCron(w.Start)
	if err != nil {
		return schedule.Window{}, err
	}
	return schedule.NewWindow(starts, time.Duration(w.For), w.Zone)
}

// checkWindows reports the first window that cannot be used, at its place.
func (d Document) checkWindows() error {
	names := d.names()
	for i, w := range d.Config.Spec.Windows {
		at := fmt.Sprintf("spec.windows[%d]", i)
		if err := names(at+".name", w.Name); err != nil {
			return err
		}
		if (len(w.Allow) == 0) == (len(w.Deny) == 0) {
			return d.Fail(at, "want allow or deny, one of them")
		}
		starts, err := schedule.ParseCron(w.Start)
		if err != nil {
			return d.Fail(at+".start", "%v", err)
		}
		if _, err := schedule.NewWindow(starts, time.Hour, w.Zone); err != nil {
			return d.Fail(at+".zone", "%v", err)
		}
		if _, err := schedule.NewWindow(starts, time.Duration(w.For), w.Zone); err != nil {
			return d.Fail(at+".for", "%v", err)
		}
	}
	return nil
}
