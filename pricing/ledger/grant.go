package ledger

import (
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Grant is money that a cloud gives: a credit, or the refund of what a month that
// is over was charged.
type Grant struct {
	Source   string // id of the credit, or of the refund's line on the bill
	Offering provider.Offering
	Amount   pricing.Money // given: more than 0
	From, To time.Time     // of what it is given for; To is excluded
	Came     time.Time     // the month of it is that of the invoice
	Team     string
	Note     string
}

// Credit is the line of a credit: its own account, never part of what machines cost.
func (g Grant) Credit(round int64) (Charge, error) { return g.line(Credit, Credits, round) }

// Refund is the line that corrects a month whose invoice is written: negative usage
// on the invoice of the month in which it came.
func (g Grant) Refund(round int64) (Charge, error) { return g.line(Correction, Overhead, round) }

func (g Grant) line(kind Kind, account Account, round int64) (Charge, error) {
	switch {
	case g.Source == "" || g.Offering.Cloud == "":
		return Charge{}, fmt.Errorf("%s: has no source or no cloud", kind)
	case g.Amount <= 0:
		return Charge{}, fmt.Errorf("%s %s: amount: %s USD: want more than 0", kind, g.Source, g.Amount)
	case !g.From.Before(g.To):
		return Charge{}, fmt.Errorf("%s %s: to: is not after from", kind, g.Source)
	}
	g.Offering.Market = provider.NoMarket
	return Charge{
		ID:   g.Offering.Cloud + "/" + string(Other) + ":" + g.Source + "/1/" + g.From.UTC().Format(time.RFC3339Nano) + "/" + string(kind),
		Kind: kind, Item: Other, Instance: provider.InstanceID(g.Source), Run: 1, Offering: g.Offering,
		From: g.From.UTC(), To: g.To.UTC(), Account: account, Team: g.Team, Of: 1, Known: true, Amount: -g.Amount,
		Invoiced: g.Came.UTC(), Note: g.Note, Round: round,
	}, nil
}
