package ledger

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestProductsSumExactlyWhateverTheirSize(t *testing.T) {
	factor := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, -1, 0, 1}))
	rapid.Check(t, func(t *rapid.T) {
		p, want := product{of: 1}, new(big.Int)
		for range rapid.IntRange(0, 20).Draw(t, "terms") {
			a, b := factor.Draw(t, "time"), factor.Draw(t, "rate")
			p.add(a, b)
			want.Add(want, new(big.Int).Mul(big.NewInt(a), big.NewInt(b)))
		}
		got := wide(p.high, p.low)
		if p.more != nil {
			got.Add(got, p.more)
		}
		if got.Cmp(want) != 0 {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}
