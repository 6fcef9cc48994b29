package numeral_test

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/planner/numeral"
)

func TestParseRefusesWhatAFloatWouldChangeBeyondRounding(t *testing.T) {
	for text, want := range map[string]error{
		"1e-400": numeral.ErrSmall, "-1e-400": numeral.ErrSmall, "0.5E-999": numeral.ErrSmall, "+00.0001e-330": numeral.ErrSmall, "0x1p-2000": numeral.ErrSmall,
		"1e400": numeral.ErrLarge, "-1e309": numeral.ErrLarge,
		"": numeral.ErrNone, "NaN": numeral.ErrNone, "Inf": numeral.ErrNone, "-infinity": numeral.ErrNone, "1,5": numeral.ErrNone, " 1": numeral.ErrNone, "1e": numeral.ErrNone,
		"0": nil, "-0": nil, "0.000": nil, "0e9": nil, "0.0e-400": nil, "0x0p9": nil, "5e-324": nil, "1.7e308": nil, "12.5": nil,
	} {
		if _, got := numeral.Parse(text); !errors.Is(got, want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// What is read lies within half a unit in the last place of what is written, by exact
// arithmetic; and it is 0 only where 0 is written.
func TestParseIsTheNearestFloat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strconv.FormatInt(rapid.Int64().Draw(t, "digits"), 10) + "e" + strconv.Itoa(rapid.IntRange(-345, 300).Draw(t, "exponent"))
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		got, err := numeral.Parse(text)
		near, _ := exact.Float64()
		switch {
		case math.IsInf(near, 0):
			if !errors.Is(err, numeral.ErrLarge) {
				t.Fatalf("%s: %v", text, err)
			}
		case near == 0 && exact.Sign() != 0:
			if !errors.Is(err, numeral.ErrSmall) {
				t.Fatalf("%s: %v", text, err)
			}
		case err != nil || got != near:
			t.Fatalf("%s: got %g, %v, want %g", text, got, err, near)
		}
	})
}
