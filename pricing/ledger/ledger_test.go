package ledger_test

import (
	"errors"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/pricing/ledger"
)

func TestChargesLoadedTwiceCountOnce(t *testing.T) {
	var l ledger.Ledger
	charges := sound(t)
	later := append([]ledger.Charge(nil), charges...)
	for i := range later { // as read back from a store, and stated in a later round
		later[i].Round++
		later[i].From = later[i].From.In(time.FixedZone("", 3600))
	}
	for i, want := range []int{2, 0} {
		added, err := l.Append([][]ledger.Charge{charges, later}[i]...)
		if err != nil || added != want {
			t.Errorf("load %d: got %d new, %v, want %d", i+1, added, err, want)
		}
	}
	if got, want := ledger.Total(l.Charges()).Sum.Amount, usd(t, "8"); got != want {
		t.Errorf("got %s USD, want %s", got, want)
	}
}

func TestAnotherChargeOfTheSameIDIsRefusedWhole(t *testing.T) {
	var l ledger.Ledger
	charges := sound(t)
	if _, err := l.Append(charges[1]); err != nil {
		t.Fatal(err)
	}
	other := charges[1]
	other.Amount++
	added, err := l.Append(charges[0], other)
	if !errors.Is(err, ledger.ErrConflict) || added != 0 || len(l.Charges()) != 1 {
		t.Fatalf("got %d added, %d kept, %v, want ErrConflict and nothing added", added, len(l.Charges()), err)
	}
	if added, err := l.Append(charges[0]); added != 1 || err != nil {
		t.Errorf("after the refusal: got %d, %v, want the sound one to be new", added, err)
	}
}
