package provider

import "errors"

// The error kinds. A driver maps each code of its cloud onto one of them and
// keeps the cause; the loop branches on kinds alone.
var (
	ErrCapacity  = errors.New("no capacity")            // the pool is empty now: mark it down, try the next
	ErrQuota     = errors.New("quota reached")          // the account may not have more of this class
	ErrThrottled = errors.New("throttled")              // asked too often: wait, decide nothing from it
	ErrNotFound  = errors.New("not found")              // no such instance (any more)
	ErrDenied    = errors.New("denied")                 // permission or protection
	ErrInvalid   = errors.New("invalid request")        // will never work as asked
	ErrPrice     = errors.New("price limit too low")    // the market is above our limit
	ErrUnknown   = errors.New("outcome unknown")        // lost answer: repeat with the same token
	ErrSpent     = errors.New("token already ended")    // the token's launch happened and its machines are gone
	ErrClosed    = errors.New("reservation not usable") // the reservation ended, is full or not yet active
)

// Kinds lists every error kind, in the order above.
func Kinds() []error {
	return []error{ErrCapacity, ErrQuota, ErrThrottled, ErrNotFound, ErrDenied, ErrInvalid, ErrPrice, ErrUnknown, ErrSpent, ErrClosed}
}

// KindOf returns the kind that err wraps, or ErrUnknown when it wraps none: an
// answer we cannot read says nothing about what happened. It is nil for nil.
func KindOf(err error) error {
	if err == nil {
		return nil
	}
	for _, kind := range Kinds() {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return ErrUnknown
}
