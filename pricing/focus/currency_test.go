package focus

import "testing"

func TestCurrenciesAreThoseOfTheList(t *testing.T) {
	for code, want := range map[string]bool{"USD": true, "EUR": true, "CHF": true, "JPY": true, "XXQ": false, "usd": false, "US": false, "USDX": false, "QQQ": false, "": false} {
		if got := isCurrency(code); got != want {
			t.Errorf("%q: %t, want %t", code, got, want)
		}
	}
}
