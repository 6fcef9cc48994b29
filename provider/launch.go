package provider

import (
	"fmt"
	"slices"
)

// LaunchRequest asks for machines of one offering. Token makes it idempotent:
// the same token, sent again, buys nothing more and returns what the first call
// bought.
type LaunchRequest struct {
	Token    string // a random id, never derived from a round number
	Offering Offering
	Count    int // machines wanted
	Min      int // fewer than this is none at all; 1 allows any part, Count is all or nothing
	Tags     Tags

	// Alternates are other zones of the offering that will do as well: the cloud chooses
	// where the machines come from, and all of them come from one. All the zones of a
	// region leave the zone to the cloud.
	Alternates []Offering
}

// Offerings lists what may come, the one that is asked for first.
func (r LaunchRequest) Offerings() []Offering {
	return append([]Offering{r.Offering}, r.Alternates...)
}

// Equal reports whether two requests ask for the same.
func (r LaunchRequest) Equal(s LaunchRequest) bool {
	return r.Token == s.Token && r.Offering == s.Offering && r.Count == s.Count && r.Min == s.Min && r.Tags == s.Tags && slices.Equal(r.Alternates, s.Alternates)
}

// Validate reports the first field that cannot be sent.
func (r LaunchRequest) Validate() error {
	switch {
	case r.Token == "":
		return fmt.Errorf("launch %s: %w: no token", r.Offering, ErrInvalid)
	case r.Count <= 0 || r.Min <= 0 || r.Min > r.Count:
		return fmt.Errorf("launch %s: %w: count %d, min %d", r.Offering, ErrInvalid, r.Count, r.Min)
	}
	seen := []Offering{r.Offering}
	for _, o := range r.Alternates {
		elsewhere := o
		elsewhere.Zone = r.Offering.Zone
		if elsewhere != r.Offering || o.Zone == "" || slices.Contains(seen, o) {
			return fmt.Errorf("launch %s: %w: alternate %s: want another zone of it, once", r.Offering, ErrInvalid, o)
		}
		seen = append(seen, o)
	}
	return r.Offering.Validate()
}

// LaunchError says how far a launch came. The instances that did come up are
// returned beside it.
type LaunchError struct {
	Offering  Offering
	Want, Got int
	Err       error // wraps an error kind
}

func (e *LaunchError) Error() string {
	return fmt.Sprintf("launch %d × %s: got %d: %v", e.Want, e.Offering, e.Got, e.Err)
}

func (e *LaunchError) Unwrap() error { return e.Err }
