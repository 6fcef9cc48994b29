package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// ErrUnbalanced is wrapped by every answer of Check that charges do not add up.
var ErrUnbalanced = errors.New("charges do not add up")

// rounding is more than the nano dollars of a charge can be off by what its
// neighbours got when a stretch was divided.
const rounding pricing.Money = 1000

// Check proves that a charge is one that a Meter can make: its fields are known and
// its amount is its rate for its share of its time. The error begins with the field.
func (c Charge) Check() error {
	switch {
	case c.ID == "":
		return errors.New("id: is missing")
	case !slices.Contains(kinds, c.Kind):
		return fmt.Errorf("kind: %q: want one of %s", c.Kind, words(kinds))
	case !slices.Contains(items, c.Item):
		return fmt.Errorf("item: %q: want one of %s, or nothing for a machine", c.Item, words(items[1:]))
	case c.Instance == "":
		return errors.New("instance: is missing")
	case c.Offering.Cloud == "" || c.Offering.Type == "" && c.Item == Machine:
		return errors.New("offering: has no cloud or no type")
	case !c.From.Before(c.To):
		return fmt.Errorf("to: %s is not after from, %s", c.To.Format(time.RFC3339), c.From.Format(time.RFC3339))
	case !slices.Contains(Accounts(), c.Account):
		return fmt.Errorf("account: %q: want one of %s", c.Account, words(Accounts()))
	case c.Account == ToJob && c.Job == "":
		return errors.New("job: is missing, though a job bears it")
	case c.Rate < 0:
		return fmt.Errorf("rate: %s USD/h is negative", c.Rate)
	case !c.Known && c.Amount != 0:
		return fmt.Errorf("amount: %s USD at no known rate", c.Amount)
	}
	switch c.Kind {
	case Purchase:
		if c.Amount != 0 || c.Price <= 0 {
			return fmt.Errorf("price: a purchase of %s USD, of which %s USD are borne at once", c.Price, c.Amount)
		}
		return nil
	case Credit:
		if c.Amount >= 0 || c.Account != Credits {
			return fmt.Errorf("amount: a credit of %s USD to account %s", c.Amount, c.Account)
		}
		return nil
	case Rise:
		if c.Share != 0 {
			return fmt.Errorf("share: a rise of %d accelerators: it holds none", c.Share)
		}
		return nil // its pair and the charge that it belongs to say how much
	case Correction:
		return nil // it says what a later fact says, and no rate gave it
	}
	return c.checkRate()
}

// checkRate proves that the amount is the rate for the share of the time.
func (c Charge) checkRate() error {
	if c.Of <= 0 || c.Share == 0 || c.Kind != Transfer && c.Share < 0 != (c.Kind == Reversal) {
		return fmt.Errorf("share: a %s of %d of %d accelerators", c.Kind, c.Share, c.Of)
	}
	cost := float64(c.Rate) * float64(c.Share) / float64(c.Of) * (c.To.Sub(c.From).Hours() / c.per().Hours())
	what := fmt.Sprintf("%d of %d accelerators over %s at %s USD/h", c.Share, c.Of, c.To.Sub(c.From), c.Rate)
	if c.Item == Traffic {
		cost = float64(c.Rate) * float64(c.Quantity) / float64(unitOfTraffic(c.Offering.Cloud))
		what = fmt.Sprintf("%d bytes at %s USD", c.Quantity, c.Rate)
	}
	if c.Known && math.Abs(float64(c.Amount)-cost) > float64(rounding) {
		return fmt.Errorf("amount: %s USD for %s, which cost %.9f", c.Amount, what, cost/1e9)
	}
	return nil
}

func words[T ~string](list []T) string {
	texts := make([]string, len(list))
	for i, w := range list {
		texts[i] = string(w)
	}
	return strings.Join(texts, ", ")
}

// Check proves that charges add up: no id comes twice, what each account bears sums
// to what each instance cost and to the total, transfers sum to zero, no account
// bears less than nothing of any run, and at no instant is more of a machine held
// than it has, or less than nothing. The error names the first instance, by its id,
// for which that fails.
func Check(charges []Charge) error {
	lines := make([]*Charge, len(charges))
	for i := range charges {
		lines[i] = &charges[i]
	}
	slices.SortFunc(lines, func(a, b *Charge) int {
		return cmp.Or(strings.Compare(a.Offering.Cloud, b.Offering.Cloud),
			strings.Compare(string(a.Item), string(b.Item)), strings.Compare(string(a.Instance), string(b.Instance)), strings.Compare(a.ID, b.ID))
	})
	byAccount := map[Account]pricing.Money{}
	var total, byInstances pricing.Money
	for rest := lines; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Instance == rest[0].Instance && rest[n].Item == rest[0].Item && rest[n].Offering.Cloud == rest[0].Offering.Cloud {
			n++
		}
		cost, err := checkInstance(rest[:n])
		if err != nil {
			what := "instance"
			if rest[0].Item != Machine {
				what = string(rest[0].Item)
			}
			return fmt.Errorf("%s %s of %s: %w: %w", what, rest[0].Instance, rest[0].Offering.Cloud, ErrUnbalanced, err)
		}
		byInstances += cost
		rest = rest[n:]
	}
	for i := range charges {
		total += charges[i].Amount
		byAccount[charges[i].Account] += charges[i].Amount
	}
	var byAccounts pricing.Money
	for _, amount := range byAccount {
		byAccounts += amount
	}
	if total != byAccounts || total != byInstances {
		return fmt.Errorf("%w: %s by account, %s by instance, %s in all", ErrUnbalanced, byAccounts, byInstances, total)
	}
	return nil
}

// bearer is who bears a part of one run.
type bearer struct {
	run     int
	account Account
	job     string
}

func (b bearer) compare(c bearer) int {
	return cmp.Or(cmp.Compare(b.run, c.run), strings.Compare(string(b.account), string(c.account)), strings.Compare(b.job, c.job))
}

// checkInstance checks the lines of one instance, sorted by id, and sums them.
func checkInstance(lines []*Charge) (cost pricing.Money, err error) {
	borne, runs := map[bearer]pricing.Money{}, map[int]pricing.Money{}
	var moved, risen pricing.Money
	for i, c := range lines {
		metered := c.Kind != Correction && c.Kind != Rise && c.Kind != Purchase && c.Kind != Credit
		switch {
		case i > 0 && lines[i-1].ID == c.ID:
			return 0, fmt.Errorf("charge %s comes twice", c.ID)
		case !c.From.Before(c.To) || metered && (c.Share == 0 || c.Of <= 0):
			return 0, fmt.Errorf("charge %s: %d of %d accelerators from %s to %s", c.ID, c.Share, c.Of, c.From, c.To)
		case !c.Known && c.Amount != 0:
			return 0, fmt.Errorf("charge %s: %s USD at no known rate", c.ID, c.Amount)
		case metered && c.Amount < 0 != (c.Share < 0) && c.Amount != 0:
			return 0, fmt.Errorf("charge %s: %s USD for %d accelerators", c.ID, c.Amount, c.Share)
		}
		cost += c.Amount
		if metered {
			borne[bearer{c.Run, c.Account, c.Job}] += c.Amount
		}
		if c.Kind != Credit && c.Item != Other {
			runs[c.Run] += c.Amount
		}
		switch c.Kind {
		case Transfer:
			moved += c.Amount
		case Rise:
			risen += c.Amount
		}
	}
	if moved != 0 {
		return 0, fmt.Errorf("transfers sum to %s USD", moved)
	}
	if risen != 0 {
		return 0, fmt.Errorf("rises sum to %s USD", risen)
	}
	for _, b := range slices.SortedFunc(maps.Keys(borne), bearer.compare) {
		if borne[b] < 0 {
			return 0, fmt.Errorf("run %d: account %s, job %q bears %s USD", b.run, b.account, b.job, borne[b])
		}
	}
	for _, run := range slices.Sorted(maps.Keys(runs)) {
		if runs[run] < 0 {
			return 0, fmt.Errorf("run %d costs %s USD after corrections", run, runs[run])
		}
	}
	return cost, checkTimes(lines)
}

// border is where the accelerators held by a bearer change.
type border struct {
	at     time.Time
	bearer bearer
	change int // accelerators
}

// checkTimes walks over the lines of one instance in time. The rest of a minimum
// is money for time after the end, in which the machine may run again: it is not
// counted, nor are volumes, purchases and corrections without time.
func checkTimes(lines []*Charge) error {
	borders := make([]border, 0, 2*len(lines))
	of := 0
	for _, c := range lines {
		if c.Kind == Minimum || c.Kind == Purchase || c.Kind == Credit || c.Share == 0 || c.Item == Traffic || c.Item == Other {
			continue
		}
		of = max(of, c.Of)
		b := bearer{c.Run, c.Account, c.Job}
		borders = append(borders, border{c.From, b, c.Share}, border{c.To, b, -c.Share})
	}
	slices.SortFunc(borders, func(a, b border) int { return cmp.Or(a.at.Compare(b.at), a.bearer.compare(b.bearer)) })
	held, all := map[bearer]int{}, 0
	for i, b := range borders {
		held[b.bearer] += b.change
		all += b.change
		lastOfInstant := i+1 == len(borders) || !borders[i+1].at.Equal(b.at)
		if (lastOfInstant || borders[i+1].bearer != b.bearer) && held[b.bearer] < 0 {
			return fmt.Errorf("account %s, job %q holds %d accelerators at %s", b.bearer.account, b.bearer.job, held[b.bearer], b.at.Format(time.RFC3339))
		}
		if lastOfInstant && all > of {
			return fmt.Errorf("%d of %d accelerators are held at %s", all, of, b.at.Format(time.RFC3339))
		}
	}
	return nil
}
