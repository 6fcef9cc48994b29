package ledger

import (
	"strconv"
	"time"
)

// line makes the charge of a part.
func (r *run) line(kind Kind, p part, round int64) Charge {
	from := r.started.Add(p.from)
	c := Charge{
		Kind: kind, Item: r.key.item, Instance: r.key.id, Run: r.number, Offering: r.offering,
		From: from, To: r.started.Add(p.to),
		Account: p.account, Job: p.job, Team: p.team, Project: p.project, Share: p.share, Of: p.of,
		Rate: p.piece.rate, Per: p.piece.per, Public: p.piece.public, Known: p.piece.known, Prepaid: p.piece.prepaid,
		List: p.piece.list, Quantity: p.piece.size, Amount: p.amount, Round: round,
	}
	c.ID = r.id(string(kind), from) + "/" + string(p.account) + "/" + p.job
	return c
}

// pair makes the two lines that move a part to another account. Their ids differ
// in their ends only, and hold the round: money may come and go more than once.
func (r *run) pair(p part, mv Move) []Charge {
	stem := r.id(string(Transfer)+"-"+strconv.FormatInt(mv.Round, 10), r.started.Add(p.from)) +
		"/" + string(mv.Out) + ">" + string(mv.Into) + "/" + p.job
	into := r.line(Transfer, p, mv.Round)
	into.Account, into.ID, into.Note = mv.Into, stem+transferIn, mv.Note
	p.share, p.amount = -p.share, -p.amount
	out := r.line(Transfer, p, mv.Round)
	out.ID, out.Note = stem+transferOut, mv.Note
	return []Charge{out, into}
}

const (
	transferOut = "/out"
	transferIn  = "/in"
)

// id is what the charges of a run at an instant begin with.
func (r *run) id(kind string, from time.Time) string {
	b := make([]byte, 0, 96)
	b = append(b, r.key.cloud...)
	b = append(b, '/')
	if r.key.item != Machine {
		b = append(append(b, r.key.item...), ':')
	}
	b = append(b, r.key.id...)
	b = append(b, '/')
	b = strconv.AppendInt(b, int64(r.number), 10)
	b = append(b, '/')
	b = from.AppendFormat(b, time.RFC3339Nano)
	b = append(b, '/')
	return string(append(b, kind...))
}

// Time is the accelerator-time of the charge: negative when taken back.
func (c *Charge) Time() time.Duration { return time.Duration(c.Share) * c.To.Sub(c.From) }
