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
	Key    string    `json:"key,omitempty"`    // job, team or project that the cap is for
	Action Action    `json:"action,omitempty"` // "": a question
	At     time.Time `json:"at"`
	Text   string    `json:"text"`
	DryRun bool      `json:"dryRun,omitempty"`

	// Event is what is told of, whenever and in whatever words it is; "": this notice
	// is told of nothing else that is.
	Event string `json:"-"`
}

// ID tells notices apart: one that is sent again has the same, so that whoever gets it
// twice can tell. Those of one event have one, whatever their time and their text.
func (n Notice) ID() string {
	about := fmt.Appendf(nil, "%s\n%s\n%s\n%s", n.Policy, n.Action, n.At.UTC().Format(time.RFC3339Nano), n.Text)
	if n.Event != "" {
		about = fmt.Appendf(nil, "event\n%q\n%q\n%q\n%t\n%s", n.Policy, n.Key, n.Action, n.DryRun, n.Event)
	}
	sum := sha256.Sum256(about)
	return hex.EncodeToString(sum[:16])
}
