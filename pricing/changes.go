package pricing

import (
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// ChangesOf lists the instants after from and before to at which the rate of o
// becomes another, becomes known or ends, in time order. It costs two searches.
func (h *History) ChangesOf(o provider.Offering, from, to time.Time) []time.Time {
	s, ok := h.lookup(o)
	if !ok {
		return nil
	}
	lo, hi := 0, len(s.steps)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if moment(s.steps[mid].at).After(from) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	var instants []time.Time
	for ; lo < len(s.steps) && moment(s.steps[lo].at).Before(to); lo++ {
		before := Rate(0)
		if lo > 0 {
			before = s.steps[lo-1].rate
		}
		if s.steps[lo].rate != before {
			instants = append(instants, moment(s.steps[lo].at))
		}
	}
	return instants
}
