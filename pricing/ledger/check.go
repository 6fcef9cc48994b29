package ledger

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// ErrUnbalanced is wrapped by every answer of Check that charges do not add up.
var ErrUnbalanced = errors.New("charges do not add up")

// rounding is more than the nano dollars of a charge can be off by what its
// neighbours got when a stretch was divided.
const rounding pricing.Money = 1000

// firstInstant and lastInstant bound those that are counted in nanoseconds.
var (
	firstInstant = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	lastInstant  = time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Check proves that a charge is one that a Meter can make: its fields are known and
// its amount is its rate for its share of its time. The error begins with the field.
func (c *Charge) Check() error {
	switch {
	case c.ID == "":
		return errors.New("id: is missing")
	case !slices.Contains(kinds, c.Kind):
		return fmt.Errorf("kind: %q: want one of %s", c.Kind, words(kinds))
	case !slices.Contains(items, c.Item):
		return fmt.Errorf("item: %q: want one of %s, or nothing for a machine", c.Item, words(items[1:]))
	case c.Instance == "":
		return errors.New("instance: is missing")
	case c.Offering.Cloud == "":
		return errors.New("offering.cloud: is missing")
	case c.Offering.Type == "" && c.Item == Machine && c.Kind != Correction: // a bill need not tell
		return errors.New("offering.type: is missing")
	case c.Item.Capacity() && c.Offering.Market == provider.NoMarket:
		return fmt.Errorf("offering.market: none: a %s is bought in one", c.Item)
	case !c.From.Before(c.To):
		return fmt.Errorf("to: %s is not after from, %s", c.To.Format(time.RFC3339), c.From.Format(time.RFC3339))
	case c.From.Before(firstInstant) || c.To.After(lastInstant):
		return fmt.Errorf("from: %s to %s: want years from %d to %d", c.From.Format(time.RFC3339), c.To.Format(time.RFC3339), firstInstant.Year(), lastInstant.Year()-1)
	case c.Of < 0 || c.Of != int(int32(c.Of)):
		return fmt.Errorf("of: %d: no machine has that many accelerators", c.Of)
	case c.Share != int(int32(c.Share)):
		return fmt.Errorf("share: %d of %d accelerators: no machine has so many", c.Share, c.Of)
	case c.Run < 1:
		return fmt.Errorf("run: %d: want 1 for the first start, or more", c.Run)
	case c.Run != int(int32(c.Run)):
		return fmt.Errorf("run: %d: no machine starts so often", c.Run)
	case c.Round < 0:
		return fmt.Errorf("round: %d: want 0 or more", c.Round)
	case !slices.Contains(accounts, c.Account):
		return fmt.Errorf("account: %q: want one of %s", c.Account, words(Accounts()))
	case c.Account == ToJob && c.Job == "":
		return errors.New("job: is missing, though a job bears it")
	case c.List < 0:
		return fmt.Errorf("list: %s USD/h is negative", c.List)
	case c.Public < 0:
		return fmt.Errorf("public: %s USD/h is negative", c.Public)
	case c.Per < 0:
		return fmt.Errorf("per: %d nanoseconds: want 0 for an hour, or more", int64(c.Per))
	case c.Quantity < 0:
		return fmt.Errorf("quantity: %d: want 0 for one, or more", c.Quantity)
	case c.Price < 0 || c.Price != 0 && c.Kind != Purchase:
		return fmt.Errorf("price: %s USD of a %s: only a purchase has one, and it is more than 0", c.Price, c.Kind)
	case !c.Invoiced.IsZero() && (c.Invoiced.Before(firstInstant) || c.Invoiced.After(lastInstant)):
		return fmt.Errorf("invoiced: %s: want years from %d to %d", c.Invoiced.Format(time.RFC3339), firstInstant.Year(), lastInstant.Year()-1)
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
func (c *Charge) checkRate() error {
	if c.Of <= 0 || c.Share == 0 || c.Kind != Transfer && c.Share < 0 != (c.Kind == Reversal) {
		return fmt.Errorf("share: a %s of %d of %d accelerators", c.Kind, c.Share, c.Of)
	}
	cost := float64(c.Rate) * float64(c.Share) / float64(c.Of) * (c.To.Sub(c.From).Hours() / c.per().Hours())
	if c.Item == Traffic {
		cost = float64(c.Rate) * float64(c.Quantity) / float64(unitOfTraffic(c.Offering.Cloud))
	}
	if !c.Known || math.Abs(float64(c.Amount)-cost) <= float64(rounding) {
		return nil
	}
	what := fmt.Sprintf("%d of %d accelerators over %s at %s USD/h", c.Share, c.Of, c.To.Sub(c.From), c.Rate)
	if c.Item == Traffic {
		what = fmt.Sprintf("%d bytes at %s USD", c.Quantity, c.Rate)
	}
	return fmt.Errorf("amount: %s USD for %s, which cost %.9f", c.Amount, what, cost/1e9)
}

func words[T ~string](list []T) string {
	texts := make([]string, len(list))
	for i, w := range list {
		texts[i] = string(w)
	}
	return strings.Join(texts, ", ")
}
