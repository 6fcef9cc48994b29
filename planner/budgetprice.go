package planner

import (
	"fmt"
	"math"
	"strings"
)

// BudgetPrice is what a budget for a day or a month makes of rates: each dollar an
// hour of the machines that it is about counts 1 + Mu in what a plan maximises. What
// a unit of work is worth does not grow with it, so the dearer money is, the fewer
// jobs and the smaller configs pay.
type BudgetPrice struct {
	Name string  // as people know the budget
	Team string  // whose accelerators' share of machines counts; "": all machines
	Mu   float64 // ≥ 0; 0: there is enough
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
