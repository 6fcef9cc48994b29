package ledger

import (
	"cmp"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Account is what bears a charge.
type Account string

const (
	ToJob     Account = "job"     // a job made progress, or could have
	ToIdle    Account = "idle"    // no job held it; of the jobs beside it, or of nobody
	ToBoot    Account = "boot"    // running, not yet ready for a job
	ToRestart Account = "restart" // a gang restores or saves a checkpoint
	ToWaste   Account = "waste"   // work that was lost, and has to be done again
	ToTraffic Account = "traffic" // data and checkpoints of a job that go to another region with it
	Unused    Account = "unused"  // capacity bought ahead in which no machine ran
	Overrun   Account = "overrun" // spent against our will: a spot rate that rose within its hour, a machine out of contact, an end that its cloud does not confirm
	Overhead  Account = "overhead"
	Credits   Account = "credit" // given by a cloud; never more than nothing
)

var accounts = []Account{ToJob, ToIdle, ToBoot, ToRestart, ToWaste, ToTraffic, Unused, Overrun, Overhead, Credits}

// Accounts lists all, in the order above.
func Accounts() []Account { return slices.Clone(accounts) }

// Kind tells a first booking from what changes it.
type Kind string

const (
	Usage      Kind = "usage"      // time, or a volume, at its rate
	Minimum    Kind = "minimum"    // what the least billed time adds to a short run
	Reversal   Kind = "reversal"   // taken back: the cloud does not charge an early loss
	Transfer   Kind = "transfer"   // moved from one account to another; sums to zero
	Rise       Kind = "rise"       // moved to Overrun: what a spot rate adds that rose within its hour; sums to zero, and holds no time
	Purchase   Kind = "purchase"   // paid ahead for time to come: the hours bear it, not this line
	Credit     Kind = "credit"     // a gift of the cloud
	Correction Kind = "correction" // a later fact: a bill, a feed, another price
)

var kinds = []Kind{Usage, Minimum, Reversal, Transfer, Rise, Purchase, Credit, Correction}

// Item is what is paid for.
type Item string

const (
	Machine     Item = "" // instance time
	Disk        Item = "disk"
	Address     Item = "address"
	Traffic     Item = "traffic"     // between zones, regions or clouds
	Reservation Item = "reservation" // on-demand capacity that is held, used or not
	Block       Item = "block"       // capacity for some days, paid when bought
	Commitment  Item = "commitment"  // capacity for a term, at its own rate
	Controller  Item = "controller"  // goodfleet itself
	Other       Item = "other"       // a line of a bill that is none of these
)

var items = []Item{Machine, Disk, Address, Traffic, Reservation, Block, Commitment, Controller, Other}

// Items lists all, in the order above.
func Items() []Item { return slices.Clone(items) }

// Capacity reports whether the item is machines, or capacity for them: bought in a market,
// as nothing else is.
func (i Item) Capacity() bool {
	return i == Machine || i == Reservation || i == Block || i == Commitment
}

// market is that of an item which is said to be of one.
func (i Item) market(of provider.Market) provider.Market {
	if i.Capacity() {
		return of
	}
	return provider.NoMarket
}

// String returns the item's word.
func (i Item) String() string { return cmp.Or(string(i), "machine") }

// Charge is money for one instance, or another thing that costs, over one stretch
// of time, borne by one account. Charges are never changed; a later fact appends
// another. What takes back has a negative Share and Amount, so that over any set of
// charges the accelerator-time is the sum of Share × (To − From).
//
// Amount is the effective cost: capacity that was paid ahead is spread over its
// hours. Billed is what the invoice of the time says.
type Charge struct {
	ID       string              `json:"id"` // the same facts give the same id: appended twice, it counts once
	Kind     Kind                `json:"kind"`
	Item     Item                `json:"item,omitempty"`
	Instance provider.InstanceID `json:"instance"` // or the id of the disk, address, ... that Item says
	Run      int                 `json:"run"`      // which start of it, from 1
	Offering provider.Offering   `json:"offering"`
	From     time.Time           `json:"from"`
	To       time.Time           `json:"to"` // excluded
	Account  Account             `json:"account"`
	Job      string              `json:"job,omitempty"`
	Team     string              `json:"team,omitempty"`
	Project  string              `json:"project,omitempty"`
	Share    int                 `json:"share"`              // accelerators borne; negative when taken back
	Of       int                 `json:"of"`                 // accelerators of the machine
	Rate     pricing.Rate        `json:"rate"`               // of the whole machine, disk, ..., fixed for the instance-hour
	Per      time.Duration       `json:"per,omitempty"`      // nanoseconds that Rate is for; 0: an hour
	Public   pricing.Rate        `json:"public,omitempty"`   // the rate before a negotiated discount; 0: Rate
	Known    bool                `json:"known"`              // false: no rate was known, Amount is 0 and totals are a lower bound
	Prepaid  bool                `json:"prepaid,omitempty"`  // paid by a purchase: nothing of it is billed now
	List     pricing.Rate        `json:"list"`               // on-demand rate of the same type and zone; 0: not known
	Quantity int64               `json:"quantity,omitempty"` // GB of a disk, addresses, machines, bytes moved; 0: one
	Price    pricing.Money       `json:"price,omitempty"`    // of a purchase: billed at once
	Amount   pricing.Money       `json:"amount"`
	Invoiced time.Time           `json:"invoiced,omitzero"` // of a correction: when it came, which is on whose invoice it stands
	Note     string              `json:"note,omitempty"`    // why, of what is neither use nor idle
	Round    int64               `json:"round"`
}

// Billed is what the invoice says of the charge: nothing for what was paid ahead.
func (c *Charge) Billed() pricing.Money {
	switch {
	case c.Kind == Purchase:
		return c.Price
	case c.Prepaid:
		return 0
	}
	return c.Amount
}

// Budgeted reports whether the charge takes from budgets: what was bought ahead is paid
// whatever anyone decides, and credits hide nothing that was spent.
func (c *Charge) Budgeted() bool {
	switch c.Item {
	case Reservation, Block, Commitment:
		return false
	}
	return c.Kind != Purchase && c.Kind != Credit && !c.Offering.PaidAhead()
}

// per is the time that the rate is for.
func (c *Charge) per() time.Duration { return cmp.Or(c.Per, time.Hour) }
