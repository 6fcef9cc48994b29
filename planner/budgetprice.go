package planner

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// BudgetPrice is what a budget for a day or a month makes of rates: each dollar an
// hour of the machines that it is about counts 1 + Mu in what a plan maximises. What
// a unit of work is worth does not grow with it, so the dearer money is, the fewer
// jobs and the smaller configs pay.
type BudgetPrice struct {
	Name string  // as people know the budget
	Team string  // whose accelerators' share of machines counts; "": all machines
	Mu   float64 // ≥ 0; 0: there is enough

	Burn  pricing.Rate  // what burns of it now
	Lasts pricing.Rate  // the burn that would last to its end; 0: not known
	Rises time.Duration // in which 1 + Mu grows by e at twice the burn that would last

	// Near the end of a period the rest of its money is set aside for what runs, up to
	// Until, before anything starts: Mu then stops nothing that can be paid for. Since
	// is when that began; zero: it has not.
	Since, Until time.Time
	At           time.Time     // when Left was left, under Burn since then
	Left         pricing.Money // of the period
	Swing        pricing.Money // of that, only for what runs: prices and losses may make it dearer
}

// LeftAt is what is left of a period at an instant, USD. Before At, by a clock that was set
// back, it is what was left then.
func (b *BudgetPrice) LeftAt(now time.Time) float64 {
	return (b.Left - b.Burn.Over(max(0, now.Sub(b.At)))).Dollars()
}

// startedFor is how long a job that begins while money is dear is to run at least before
// the price that it brings about ends it again: a start and the rest of a machine's
// minimum run time are some minutes of that.
const startedFor = time.Hour

// mostAhead bounds the rise of ln(1 + Mu) that a start has to bear, in times of what it
// is already: where nothing is dear, everything may start.
const mostAhead = 3

// Ahead is by how much more a dollar an hour of the budget counts for a job that waits
// and would cost rate: Mu as it will be after the job ran for startedFor, less Mu. Else a
// job that is much for its budget would start and stop every few minutes, on machines
// that boot and are held for longer than it runs.
func (b *BudgetPrice) Ahead(rate pricing.Rate) float64 {
	over := 0.0
	if b.Lasts > 0 {
		over = float64(b.Burn+rate)/float64(b.Lasts) - 1
	}
	if b.Mu <= 0 || over <= 0 || b.Rises <= 0 {
		return 0
	}
	log := math.Log1p(b.Mu)
	rise := min(over*startedFor.Hours()/b.Rises.Hours(), mostAhead*log)
	return math.Expm1(log+rise) - b.Mu
}

// AheadOf is the sum of that over the budgets that a job of a team draws on: alone is
// the rate of its whole machines, part that of its accelerators on them.
func (p *Problem) AheadOf(team string, alone, part pricing.Rate) float64 {
	usd := 0.0
	for i := range p.Budgets {
		switch b := &p.Budgets[i]; {
		case b.Team == "":
			usd += b.Ahead(alone) * alone.Dollars()
		case b.Team == team:
			usd += b.Ahead(part) * part.Dollars()
		}
	}
	return usd
}

// checkBudgets reports the first price that is none.
func (p *Problem) checkBudgets() error {
	for i, b := range p.Budgets {
		if !(b.Mu >= 0) || math.IsInf(b.Mu, 1) {
			return fmt.Errorf("budgets[%d]: %s: a price of %g is not a number from 0 on", i, b.Name, b.Mu)
		}
	}
	return nil
}

// Mu is the price of the budgets over all machines, and MuOf that of a team's own on
// top of it, by which its share of machines counts more. Several budgets add up.
func (p *Problem) Mu() float64 { return p.muOf("") }

// MuOf is the price of the budgets of one team; 0 for jobs without a team.
func (p *Problem) MuOf(team string) float64 {
	if team == "" {
		return 0
	}
	return p.muOf(team)
}

func (p *Problem) muOf(team string) float64 {
	sum := 0.0
	for _, b := range p.Budgets {
		if b.Team == team {
			sum += b.Mu
		}
	}
	return sum
}

// Scarce names the budgets that make the machines of a team's jobs count more than
// their rates: "month: a dollar counts 1.84"; "" when none does.
func (p *Problem) Scarce(team string) string {
	var words []string
	for _, b := range p.Budgets {
		if b.Mu > 0 && (b.Team == "" || b.Team == team) {
			words = append(words, fmt.Sprintf("%s: a dollar counts %.2f", b.Name, 1+b.Mu))
		}
	}
	return strings.Join(words, ", ")
}
