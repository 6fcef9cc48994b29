package ledger

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/goodfleet/goodfleet/pricing"
)

// Share is who held a part of a machine's accelerators. Where accelerators are
// divided, shares and the machine count in the same parts.
type Share struct {
	Job          string // "" unless a job bears it or caused it
	Team         string // of ToIdle: the machine was bought for it, whoever is on it
	Project      string
	Accelerators int
	Account      Account // "": ToJob
}

// claim is one bearer of a machine's time.
type claim struct {
	account Account
	job     string
	team    string
	project string
	share   int
}

// claimsOf puts shares in their fixed order, by account and then by job, and adds
// idle ones for the accelerators that nobody holds. They are the team's, if any, that a
// share of ToIdle names, else theirs who are on the machine: it is held for them alone,
// so that the smallest job of a large machine is not the cheapest. A job's share without
// a job is held by nobody. Shares that exceed the machine divide its cost among them in
// proportion; Check names such a machine.
func claimsOf(of int, shares []Share) []claim {
	claims := make([]claim, 0, len(shares)+1)
	dedicated := claim{account: ToIdle}
	held := make([]Share, 0, len(shares))
	left := of
	for _, s := range shares {
		account := cmp.Or(s.Account, ToJob)
		if account == ToIdle {
			dedicated.team, dedicated.project = max(dedicated.team, s.Team), max(dedicated.project, s.Project)
		}
		if s.Accelerators <= 0 || account == ToJob && s.Job == "" || account == ToIdle {
			continue
		}
		left -= s.Accelerators
		held = append(held, s)
		claims = append(claims, claim{account: account, job: s.Job, team: s.Team, project: s.Project, share: s.Accelerators})
	}
	if dedicated.team == "" && dedicated.project == "" {
		for i, n := range Bear(of, held) {
			if idle := n - held[i].Accelerators; idle > 0 {
				claims = append(claims, claim{account: ToIdle, job: held[i].Job, team: held[i].Team, project: held[i].Project, share: idle})
				left -= idle
			}
		}
	}
	if left > 0 || len(claims) == 0 {
		dedicated.share = max(left, 1)
		claims = append(claims, dedicated)
	}
	if len(claims) == 1 {
		return claims
	}
	slices.SortStableFunc(claims, func(a, b claim) int {
		return cmp.Or(strings.Compare(string(a.account), string(b.account)), strings.Compare(a.job, b.job))
	})
	merged := claims[:1]
	for _, c := range claims[1:] {
		last := &merged[len(merged)-1]
		if last.account != c.account || last.job != c.job {
			merged = append(merged, c)
			continue
		}
		last.share += c.share
		last.team = max(last.team, c.team) // a label seen once is better than none
		last.project = max(last.project, c.project)
	}
	return merged
}

// Bear is how many of a machine's accelerators each share bears, of in number: its own
// and, among the shares of jobs in the order of their names, what nobody holds
// (pricing.Bear). Idle ones of a machine without jobs are borne by no share.
func Bear(of int, shares []Share) []int {
	bear := make([]int, len(shares))
	var jobs []int
	for i, s := range shares {
		bear[i] = max(0, s.Accelerators)
		if s.Job != "" && bear[i] > 0 {
			jobs = append(jobs, i)
		} else {
			of -= bear[i]
		}
	}
	slices.SortStableFunc(jobs, func(a, b int) int { return strings.Compare(shares[a].Job, shares[b].Job) })
	held := make([]int, len(jobs))
	for n, i := range jobs {
		held[n] = bear[i]
	}
	for n, b := range pricing.Bear(nil, of, held) {
		bear[jobs[n]] = b
	}
	return bear
}

// split divides an amount by the claims' shares with the largest remainders: the
// parts sum to the amount, and of equal remainders the first claims get the last
// nano dollars.
func split(amount pricing.Money, claims []claim) []pricing.Money {
	parts := make([]pricing.Money, len(claims))
	if len(claims) == 1 {
		parts[0] = amount
		return parts
	}
	whole := 0
	for _, c := range claims {
		whole += c.share
	}
	rests := make([]uint64, len(claims))
	left := amount
	for i, c := range claims {
		hi, lo := bits.Mul64(uint64(amount), uint64(c.share))
		part, rest := bits.Div64(hi, lo, uint64(whole))
		parts[i], rests[i] = pricing.Money(part), rest
		left -= parts[i]
	}
	for ; left > 0; left-- {
		most := 0
		for i := range rests {
			if rests[i] > rests[most] {
				most = i
			}
		}
		parts[most]++
		rests[most] = 0
	}
	return parts
}

// portion is amount × part / whole, rounded down, for 0 ≤ part ≤ whole.
func portion(amount, part, whole pricing.Money) pricing.Money {
	if whole == 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(amount), uint64(part))
	quotient, _ := bits.Div64(hi, lo, uint64(whole))
	return pricing.Money(quotient)
}
