package pricing_test

import (
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing"
)

// However a stretch is cut, its parts sum to the amount; none has another sign, and each is
// within a nano dollar of its share of the time.
func TestPartsOfASpreadAmountSumToIt(t *testing.T) {
	start := time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		amount := pricing.Money(rapid.Int64Range(-math.MaxInt64, math.MaxInt64).Draw(t, "amount"))
		length := time.Duration(rapid.Int64Range(0, int64(800*24*time.Hour)).Draw(t, "length"))
		from, to := start, start.Add(length)
		cuts := rapid.SliceOfN(rapid.Int64Range(-int64(time.Hour), int64(length)+int64(time.Hour)), 0, 8).Draw(t, "cuts")
		slices.Sort(cuts)
		borders := []time.Time{{}}
		for _, c := range cuts {
			borders = append(borders, start.Add(time.Duration(c)))
		}
		borders = append(borders, time.Time{})
		sum := pricing.Money(0)
		for i := 1; i < len(borders); i++ {
			part := amount.Between(from, to, borders[i-1], borders[i])
			if part != 0 && (part > 0) != (amount > 0) {
				t.Fatalf("%s of %s falls between %v and %v", part, amount, borders[i-1], borders[i])
			}
			if length > 0 && i > 1 && i < len(borders)-1 {
				inside := max(0, min(borders[i].Sub(from), length)-max(0, borders[i-1].Sub(from)))
				exact := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(int64(amount)), big.NewInt(int64(inside))), big.NewInt(int64(length)))
				if diff := exact.Sub(exact, new(big.Rat).SetInt64(int64(part))); diff.Abs(diff).Cmp(big.NewRat(1, 1)) >= 0 {
					t.Fatalf("%s of %s falls into %v of %v", part, amount, inside, length)
				}
			}
			sum += part
		}
		if sum != amount {
			t.Fatalf("the parts sum to %s of %s, cut at %v", sum, amount, cuts)
		}
	})
}

func TestWhatHasNoLengthFallsAtItsInstant(t *testing.T) {
	at := time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		begin, end time.Time
		want       pricing.Money
	}{
		{at, at.Add(time.Hour), 5}, {at.Add(-time.Hour), at, 0}, {time.Time{}, at, 0}, {at, time.Time{}, 5}, {at.Add(1), time.Time{}, 0},
	} {
		if got := pricing.Money(5).Between(at, at, c.begin, c.end); got != c.want {
			t.Errorf("[%v, %v): got %d, want %d", c.begin, c.end, got, c.want)
		}
	}
}
