package ledger

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// Move says whose money goes to which account: what Out bears for a job over a
// time, on some machines.
type Move struct {
	Out, Into Account
	Job       string                // "" for what no job bears
	Instances []provider.InstanceID // empty: all
	From, To  time.Time             // To is excluded
	Round     int64
	Note      string // why
}

// Transfer moves money between accounts, as from a job to ToWaste when its work
// since the last checkpoint was lost. For each machine it makes pairs of lines that
// sum to zero; no more is moved than the account bears in that time, so a move
// made again moves nothing. It reaches back as far as Reach.
func (m *Meter) Transfer(mv Move) []Charge {
	if mv.Out == mv.Into || !mv.From.Before(mv.To) {
		return nil
	}
	var charges []Charge
	for _, key := range slices.SortedFunc(maps.Keys(m.runs), instanceKey.compare) {
		if key.item == Machine && len(mv.Instances) == 0 || slices.Contains(mv.Instances, key.id) {
			r := m.runs[key]
			charges = append(charges, m.risen(r, r.transfer(mv))...)
		}
	}
	return charges
}

func (k instanceKey) compare(l instanceKey) int {
	return cmp.Or(strings.Compare(k.cloud, l.cloud), strings.Compare(string(k.item), string(l.item)), strings.Compare(string(k.id), string(l.id)))
}

func (r *run) transfer(mv Move) []Charge {
	from, to := mv.From.Sub(r.started), mv.To.Sub(r.started)
	moves := func(s stretch, i int) bool {
		return s.from < to && from < s.to && s.claims[i].job == mv.Job && s.account(i) == mv.Out
	}
	found := slices.ContainsFunc(r.stretches, func(s stretch) bool {
		return slices.ContainsFunc(s.claims, func(c claim) bool { return c.job == mv.Job }) && s.from < to && from < s.to
	})
	if !found {
		return nil
	}
	r.stretches = cut(cut(r.stretches, from), to)
	var charges []Charge
	for _, p := range parts(r.started, r.stretches, moves) {
		charges = append(charges, r.pair(p, mv)...)
	}
	r.relabel(moves, mv.Into)
	return charges
}

// relabel gives the claims that moves wants to another account.
func (r *run) relabel(moves func(s stretch, i int) bool, into Account) {
	for n := range r.stretches {
		s := &r.stretches[n]
		for i := range s.claims {
			if !moves(*s, i) {
				continue
			}
			if s.accounts == nil {
				s.accounts = make([]Account, len(s.claims))
				for k := range s.claims {
					s.accounts[k] = s.claims[k].account
				}
			}
			s.accounts[i] = into
		}
	}
}
