package pricing

import "time"

// SeenAt is the last instant up to at when the price of q was read. A list was read
// on its day; of a series of changes every instant up to its end was.
func SeenAt(q Quote, at time.Time) time.Time {
	if q.Source != spotSource {
		return q.At
	}
	reports, err := EmbeddedReports()
	if err != nil {
		return q.At
	}
	for _, r := range reports {
		if r.File != spotFile || !r.At.After(q.At) {
			continue
		}
		if at.Before(r.At) {
			return at
		}
		return r.At
	}
	return q.At
}
