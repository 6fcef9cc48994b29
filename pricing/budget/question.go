package budget

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// Verdict is how a question stands.
type Verdict string

const (
	Open     Verdict = ""
	Approved Verdict = "approved"
	Denied   Verdict = "denied"
)

// Question is a launch that waits for a person's yes.
type Question struct {
	ID       string        `json:"id"`
	Policy   string        `json:"policy"`
	Jobs     []string      `json:"jobs"`           // for which machines are to be bought, in order
	Burn     pricing.Rate  `json:"burn"`           // of the machines
	From     []string      `json:"from,omitempty"` // who may answer; empty: anyone
	Asked    time.Time     `json:"asked"`
	Until    time.Time     `json:"until,omitzero"` // refused if it is open then; zero: it stays open
	Valid    time.Duration `json:"valid"`          // of an answer
	Verdict  Verdict       `json:"verdict,omitempty"`
	Who      string        `json:"who,omitempty"`
	Why      string        `json:"why,omitempty"`
	Answered time.Time     `json:"answered,omitzero"`
}

// defaultValid is how long an answer holds where the policy does not say.
const defaultValid = 24 * time.Hour

// slack is by how much the burn of a launch may grow after a yes: prices move.
const slack = 1.1

// NewQuestion asks what a policy wants asked. Its id follows from what is asked and
// when.
func (p *Policy) NewQuestion(jobs []string, burn pricing.Rate, now time.Time) Question {
	q := Question{Policy: p.Name, Jobs: slices.Sorted(slices.Values(jobs)), Burn: burn, From: p.Approval.From, Asked: now, Valid: p.Approval.Valid}
	if q.Valid == 0 {
		q.Valid = defaultValid
	}
	if p.Approval.Within > 0 {
		q.Until = now.Add(p.Approval.Within)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s", q.Policy, strings.Join(q.Jobs, "\n"), now.UTC().Format(time.RFC3339Nano)))
	q.ID = hex.EncodeToString(sum[:5])
	return q
}

// Whom is who may answer, for people: "ada or bob".
func (q *Question) Whom() string { return whom(q.From) }

// Text is what is asked, for people.
func (q *Question) Text() string {
	return fmt.Sprintf("%s: question %s: may %v burn %s USD/h more?", q.Policy, q.ID, q.Jobs, q.Burn)
}

// Due are the notices of a question, for each destination of its policy.
func (q *Question) Due(p *Policy) []Notice {
	var list []Notice
	for _, to := range p.Notify {
		list = append(list, Notice{To: to, Policy: p.Name, At: q.Asked.UTC(), Text: q.Text(), Event: "question " + q.ID})
	}
	return list
}

// About reports whether a question is about a launch, so that it need not be asked anew.
func (q *Question) About(policy string, jobs []string, burn pricing.Rate) bool {
	return q.Policy == policy && float64(burn) <= slack*float64(q.Burn) &&
		!slices.ContainsFunc(jobs, func(j string) bool { return !slices.Contains(q.Jobs, j) })
}

// Stands says what a question answers at an instant: approved, denied, or open. over is
// true when the answer holds no more, and it has to be asked anew.
func (q *Question) Stands(now time.Time) (v Verdict, why string, over bool) {
	switch {
	case q.Verdict != Open:
		return q.Verdict, fmt.Sprintf("%s by %s: %s", q.Verdict, q.Who, q.Why), !now.Before(q.Ends())
	case !q.Until.IsZero() && !now.Before(q.Until):
		return Denied, "nobody answered " + q.ID + " by " + q.Until.UTC().Format(time.RFC3339), !now.Before(q.Ends())
	}
	return Open, "", false
}

// Ends is until when the answer holds, or that nobody gave one; zero: it is open, and nothing
// says by when it must be answered.
func (q *Question) Ends() time.Time {
	switch {
	case q.Verdict != Open:
		return q.Answered.Add(q.Valid)
	case q.Until.IsZero():
		return time.Time{}
	}
	return q.Until.Add(q.Valid)
}

// Answer answers a question once.
func (q *Question) Answer(v Verdict, who, why string, now time.Time) error {
	stands, said, _ := q.Stands(now)
	switch {
	case who == "":
		return errors.New("who answers is missing")
	case len(q.From) > 0 && !slices.Contains(q.From, who):
		return fmt.Errorf("%s is answered by %s, not by %s", q.ID, q.Whom(), who)
	case stands != Open:
		return fmt.Errorf("%s is answered already: %s", q.ID, said)
	}
	q.Verdict, q.Who, q.Why, q.Answered = v, who, why, now
	return nil
}
