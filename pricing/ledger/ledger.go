package ledger

import (
	"errors"
	"fmt"
)

// ErrConflict is wrapped by the error about two different charges with one id.
var ErrConflict = errors.New("another charge has this id")

// Ledger keeps charges in memory, each once, in the order in which they came. The
// zero value is empty and ready. It is not safe for concurrent use.
type Ledger struct {
	charges []Charge
	index   map[string]int
}

// Append adds charges and returns how many were new. One that is already there is
// left out, whatever its round; a different one with the same id is a conflict,
// and then nothing is added.
func (l *Ledger) Append(charges ...Charge) (added int, err error) {
	if l.index == nil {
		l.index = make(map[string]int, len(charges))
	}
	before := len(l.charges)
	for _, c := range charges {
		at, known := l.index[c.ID]
		if !known {
			l.index[c.ID] = len(l.charges)
			l.charges = append(l.charges, c)
			continue
		}
		if !l.charges[at].same(c) {
			for _, undone := range l.charges[before:] {
				delete(l.index, undone.ID)
			}
			l.charges = l.charges[:before]
			return 0, fmt.Errorf("charge %s of %s USD: %w", c.ID, c.Amount, ErrConflict)
		}
	}
	return len(l.charges) - before, nil
}

// same reports whether two charges state the same fact. The round in which it was
// stated does not matter.
func (c Charge) same(d Charge) bool {
	sameTime := c.From.Equal(d.From) && c.To.Equal(d.To) && c.Invoiced.Equal(d.Invoiced)
	d.From, d.To, d.Invoiced, d.Round = c.From, c.To, c.Invoiced, c.Round
	return sameTime && c == d
}

// Charges returns all charges in the order in which they came. The caller must not
// change them.
func (l *Ledger) Charges() []Charge { return l.charges }
