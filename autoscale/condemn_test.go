package autoscale

import (
	"testing"

	"github.com/goodfleet/goodfleet/pricing"
)

// Up to two machines may always end, whatever they cost. Beyond, no more than a
// fifth of the machines and a quarter of the burn.
func TestBreakerLimits(t *testing.T) {
	for _, tt := range []struct {
		name            string
		count, machines int
		rate, burn      pricing.Rate
		over            bool
	}{
		{"the only machine", 1, 1, 10, 10, false},
		{"both of two", 2, 2, 20, 20, false},
		{"two that cost nearly all", 2, 100, 90, 100, false},
		{"three of three", 3, 3, 30, 30, true},
		{"three of fourteen", 3, 14, 30, 140, true},
		{"three of fifteen: a fifth", 3, 15, 30, 150, false},
		{"three of a hundred, a quarter of the burn", 3, 100, 25, 100, false},
		{"three of a hundred, more than a quarter of the burn", 3, 100, 26, 100, true},
		{"twenty of a hundred", 20, 100, 20, 100, false},
		{"twenty-one of a hundred", 21, 100, 21, 100, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			why := endsLimit{count: tt.count, machines: tt.machines, rate: tt.rate, burn: tt.burn}.over()
			if (why != "") != tt.over {
				t.Errorf("got %q, want over %t", why, tt.over)
			}
		})
	}
}
