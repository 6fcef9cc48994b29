package budget

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Notice is what a destination is told: a step that was done, a stop, a question.
type Notice struct {
	To     string    `json:"-"` // name of the destination
	Policy string    `json:"policy"`
	Action Action    `json:"action,omitempty"` // "": a question
	At     time.Time `json:"at"`
	Text   string    `json:"text"`
	DryRun bool      `json:"dryRun,omitempty"`
}

// ID tells notices apart: one that is sent again has the same, so that whoever gets it
// twice can tell.
func (n Notice) ID() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%s", n.Policy, n.Action, n.At.UTC().Format(time.RFC3339Nano), n.Text))
	return hex.EncodeToString(sum[:16])
}
