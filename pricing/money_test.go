package pricing

import (
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseRateIsExactOrRefuses(t *testing.T) {
	for _, test := range []struct {
		text string
		want Rate
		ok   bool
	}{
		{"0.918", 918_000_000, true},
		{"21.957642", 21_957_642_000, true},
		{"0.000000001", 1, true},
		{"0.1234567890000", 123_456_789, true}, // trailing zeros carry nothing
		{"-1.5", -1_500_000_000, true},         // a number; that it is no price is said elsewhere
		{"007", 7 * DollarPerHour, true},
		{"9223372036.854775807", 1<<63 - 1, true},
		{"9223372036.854775808", 0, false},
		{"0.1234567891", 0, false},
		{"", 0, false}, {"-", 0, false}, {".", 0, false}, {".5", 0, false}, {"5.", 0, false},
		{"1e3", 0, false}, {"+1", 0, false}, {"1,5", 0, false}, {"1 000", 0, false}, {" 1", 0, false},
		{"NaN", 0, false}, {"Inf", 0, false}, {"0x10", 0, false}, {"1_000", 0, false}, {"١", 0, false}, {"1.2.3", 0, false}, {"--1", 0, false},
	} {
		got, err := ParseRate(test.text)
		if (err == nil) != test.ok || got != test.want {
			t.Errorf("%q: %d, %v; want %d, ok %v", test.text, got, err, test.want, test.ok)
		}
		if err != nil && (!errors.Is(err, ErrNotMoney) || !strings.Contains(err.Error(), test.text)) {
			t.Errorf("%q: error %q names neither kind nor text", test.text, err)
		}
	}
}

func TestAmountsNeedTheirUnit(t *testing.T) {
	if got, err := ParseAmount(" 12.50 USD "); err != nil || got != 12_500_000_000 {
		t.Errorf("amount %d, %v", got, err)
	}
	if got, err := ParseHourly("900 USD/h"); err != nil || got != 900*DollarPerHour {
		t.Errorf("rate %d, %v", got, err)
	}
	for _, text := range []string{"12.50", "12.50 EUR", "USD 12.50", "12.50USD", "12.50 USD/h", "12.50 usd"} {
		if got, err := ParseAmount(text); err == nil {
			t.Errorf("amount %q was read as %s", text, got)
		}
	}
	for _, text := range []string{"900", "900 USD", "900 CNY/h", "900 USD/d"} {
		if got, err := ParseHourly(text); err == nil {
			t.Errorf("rate %q was read as %s", text, got)
		}
	}
}

func TestMoneyTextReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// The one number whose magnitude has no text is the least of all.
		m := Money(rapid.Int64Min(-1<<63+1).Draw(t, "nano dollars"))
		back, err := ParseMoney(m.String())
		if err != nil || back != m {
			t.Fatalf("%d is written %s and read as %d, %v", int64(m), m, int64(back), err)
		}
		data, err := json.Marshal(struct {
			M Money
			R Rate
		}{m, Rate(m)})
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			M Money
			R Rate
		}
		if err := json.Unmarshal(data, &got); err != nil || got.M != m || got.R != Rate(m) {
			t.Fatalf("JSON %s reads as %+v, %v", data, got, err)
		}
	})
}

// TestOverIsTheRoundedProduct checks against rational numbers: half a nano dollar
// goes to the even neighbour.
func TestOverIsTheRoundedProduct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := Rate(rapid.Int64Range(0, int64(maxPrice)).Draw(t, "rate"))
		d := time.Duration(rapid.Int64Range(0, int64(2*time.Hour)).Draw(t, "duration"))
		if rapid.Bool().Draw(t, "half") { // make the fraction a half now and then
			d = time.Duration(rapid.IntRange(0, 20).Draw(t, "halves")) * time.Hour / 2
		}
		exact := new(big.Rat).Mul(big.NewRat(int64(rate), int64(time.Hour)), new(big.Rat).SetInt64(int64(d)))
		got := rate.Over(d)
		diff := new(big.Rat).Sub(new(big.Rat).SetInt64(int64(got)), exact)
		half := big.NewRat(1, 2)
		switch c := diff.Abs(diff).Cmp(half); {
		case c > 0:
			t.Fatalf("%d over %v is %d, exactly %s", rate, d, got, exact)
		case c == 0 && got%2 != 0:
			t.Fatalf("%d over %v is %d: a half goes to the even neighbour", rate, d, got)
		}
	})
	if got, want := DollarPerHour.Over(20*time.Minute), Money(333_333_333); got != want {
		t.Errorf("a third of a dollar is %d, want %d", got, want)
	}
}
