package pricing

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestBearSplitsWhatIsIdleInProportion holds the rule against exact fractions: each bears
// his own and less than one accelerator more or less than his part of the rest, all of the
// machine is borne, and who has no less never bears less.
func TestBearSplitsWhatIsIdleInProportion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		held := rapid.SliceOfN(rapid.IntRange(0, 6), 0, 8).Draw(t, "held")
		whole := 0
		for _, n := range held {
			whole += n
		}
		of := rapid.IntRange(0, 64).Draw(t, "of")
		got := Bear([]int{7}, of, held)
		if got[0] != 7 || len(got) != len(held)+1 {
			t.Fatalf("%v is not what was there and one for each of %v", got, held)
		}
		got = got[1:]
		sum := 0
		for i, n := range got {
			sum += n
			if held[i] == 0 {
				if n != 0 {
					t.Errorf("%d of %v bears %d and holds none", i, held, n)
				}
				continue
			}
			exact := big.NewRat(int64(held[i])*int64(max(of, whole)), int64(whole))
			off := new(big.Rat).Sub(big.NewRat(int64(n), 1), exact)
			if off.Abs(off).Cmp(big.NewRat(1, 1)) >= 0 || n < held[i] {
				t.Errorf("%d of %v on %d bears %d, its part is %s", i, held, of, n, exact.FloatString(3))
			}
			for k := range got {
				if held[k] < held[i] && got[k] > n || held[k] == held[i] && k > i && got[k] > n {
					t.Errorf("%v on %d: %v: %d bears more than %d", held, of, got, k, i)
				}
			}
		}
		if want := max(of, whole); whole > 0 && sum != want {
			t.Errorf("%v on %d: %v come to %d, want %d", held, of, got, sum, want)
		}
	})
}
