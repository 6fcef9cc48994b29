package provider

import "fmt"

// LaunchRequest asks for machines of one offering. Token makes it idempotent:
// the same token, sent again, buys nothing more and returns what the first call
// bought.
type LaunchRequest struct {
	Token    string // a random id, never derived from a round number
	Offering Offering
	Count    int // machines wanted
	Min      int // fewer than this is none at all; 1 allows any part, Count is all or nothing
	Tags     Tags
}

// Validate reports the first field that cannot be sent.
func (r LaunchRequest) Validate() error {
	switch {
	case r.Token == "":
		return fmt.Errorf("launch %s: %w: no token", r.Offering, ErrInvalid)
	case r.Count <= 0 || r.Min <= 0 || r.Min > r.Count:
		return fmt.Errorf("launch %s: %w: count %d, min %d", r.Offering, ErrInvalid, r.Count, r.Min)
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
