package ledger

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// piece is a time at one rate: inside one instance-hour, inside one month of a disk,
// or as long as what is held stays as it is. What is booked of it up to an instant
// is the rate over the time since its start, rounded once: so the sum does not
// depend on how often it was booked.
type piece struct {
	from    time.Duration // since the start of the run, as all times below
	rate    pricing.Rate
	per     time.Duration // that rate is for; 0: an hour
	public  pricing.Rate  // before a negotiated discount; 0: the same
	list    pricing.Rate  // 0: not known
	size    int64         // what rate is for: GB, addresses, machines; 0: one machine
	known   bool
	prepaid bool
}

// between is the money of the machine in [from, to), both inside the piece.
func (p piece) between(from, to time.Duration) pricing.Money {
	if !p.known {
		return 0
	}
	per := cmp.Or(p.per, time.Hour)
	return p.rate.Per(per, to-p.from) - p.rate.Per(per, from-p.from)
}

// booking is one stretch of a machine's time as it was first booked. It does not
// change; the stretches that it is cut into point to it.
type booking struct {
	kind     Kind
	from, to time.Duration
	piece    piece
	of       int
	claims   []claim
	amounts  []pricing.Money // by claim
}

// stretch is a part of a booking and who bears it now.
type stretch struct {
	*booking
	from, to time.Duration
	accounts []Account // by claim; nil: as booked
}

func (s stretch) account(i int) Account {
	if s.accounts == nil {
		return s.claims[i].account
	}
	return s.accounts[i]
}

// upTo is what each claim bore up to an instant. The claims fill in a fixed
// interleaved order: each takes its part of what is there, rounded down, and
// leaves the rest to those behind it. So every claim's sum only grows with time,
// the claims sum to the machine's money at any instant, and it does not matter in
// which order, or how often, a booking is cut.
func (b *booking) upTo(at time.Duration) []pricing.Money {
	filled := make([]pricing.Money, len(b.claims))
	var whole pricing.Money
	for _, amount := range b.amounts {
		whole += amount
	}
	there := min(whole, b.piece.between(b.from, at))
	for i, amount := range b.amounts {
		filled[i] = portion(there, amount, whole)
		there -= filled[i]
		whole -= amount
	}
	return filled
}

// borne is what each claim bears of the stretch.
func (s stretch) borne() []pricing.Money {
	if s.from == s.booking.from && s.to == s.booking.to {
		return s.amounts
	}
	from, to := s.upTo(s.from), s.upTo(s.to)
	for i := range to {
		to[i] -= from[i]
	}
	return to
}

// cut makes at a border between stretches.
func cut(all []stretch, at time.Duration) []stretch {
	i := slices.IndexFunc(all, func(s stretch) bool { return s.from < at && at < s.to })
	if i < 0 {
		return all
	}
	right := all[i]
	right.from = at
	right.accounts = slices.Clone(right.accounts)
	all[i].to = at
	return slices.Insert(all, i+1, right)
}

// part is what one account bears for one job over a time.
type part struct {
	from, to time.Duration
	piece    piece
	of       int
	account  Account
	job      string
	team     string
	project  string
	share    int
	amount   pricing.Money
}

// parts lists what is borne in the stretches, as far as pick wants it, by account
// and job and then by time. Neighbours in one hour of the clock (start is that of
// the run) are put together when nothing but the time tells them apart.
func parts(start time.Time, all []stretch, pick func(s stretch, i int) bool) []part {
	var list []part
	for _, s := range all {
		amounts := s.borne()
		for i, c := range s.claims {
			if pick(s, i) {
				list = append(list, part{from: s.from, to: s.to, piece: s.piece, of: s.of,
					account: s.account(i), job: c.job, team: c.team, project: c.project, share: c.share, amount: amounts[i]})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b part) int {
		if c := strings.Compare(string(a.account), string(b.account)); c != 0 {
			return c
		}
		if c := strings.Compare(a.job, b.job); c != 0 {
			return c
		}
		return int(min(1, max(-1, a.from-b.from)))
	})
	var merged []part
	for _, p := range list {
		if n := len(merged); n > 0 && merged[n-1].joins(p, start) {
			merged[n-1].join(p)
			continue
		}
		merged = append(merged, p)
	}
	return merged
}

// joins reports whether q goes on where p ends, or lies beside it.
func (p part) joins(q part, start time.Time) bool {
	if p.account != q.account || p.job != q.job || p.piece != q.piece || p.of != q.of {
		return false
	}
	if p.from == q.from && p.to == q.to {
		return true // two claims that have come to the same account
	}
	return p.share == q.share && p.team == q.team && p.project == q.project && p.to == q.from && clockHour(start.Add(p.from)).Equal(clockHour(start.Add(q.from)))
}

func (p *part) join(q part) {
	if p.from == q.from && p.to == q.to {
		p.share += q.share
		p.team, p.project = max(p.team, q.team), max(p.project, q.project)
	}
	p.to = q.to
	p.amount += q.amount
}

// clockHour is the start of the hour of UTC that an instant lies in.
func clockHour(at time.Time) time.Time { return at.UTC().Truncate(time.Hour) }
