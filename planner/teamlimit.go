package planner

import (
	"fmt"
	"math"

	"github.com/goodfleet/goodfleet/pricing"
)

// TeamLimit is how much a team may say that its jobs matter. What a job says beyond
// it changes nothing: a plan is made as if it said the most.
type TeamLimit struct {
	Name           string       // of the team
	MaxValueOfTime pricing.Rate // of an hour of each of its jobs, given or not; 0: no limit
	MaxWeight      float64      // 0: no limit
}

// Check reports what is wrong with a limit.
func (l TeamLimit) Check() error {
	switch {
	case l.Name == "":
		return fmt.Errorf("team: it has no name")
	case l.MaxValueOfTime < 0:
		return fmt.Errorf("team %s: a value of time of %s USD/h at most is below 0", l.Name, l.MaxValueOfTime)
	case !(l.MaxWeight >= 0) || math.IsInf(l.MaxWeight, 1):
		return fmt.Errorf("team %s: a weight of %g at most is no number from 0 on", l.Name, l.MaxWeight)
	case l.MaxValueOfTime == 0 && l.MaxWeight == 0:
		return fmt.Errorf("team %s: it limits nothing", l.Name)
	}
	return nil
}

// limit is that of a team; zero: none.
func (p *Problem) limit(team string) TeamLimit {
	for _, l := range p.Teams {
		if l.Name == team {
			return l
		}
	}
	return TeamLimit{}
}

// MostValue is the most that an hour of a job of a team may be worth, USD per hour.
func (p *Problem) MostValue(team string) float64 {
	if l := p.limit(team); team != "" && l.MaxValueOfTime > 0 {
		return l.MaxValueOfTime.Dollars()
	}
	return math.Inf(1)
}

// limitTeams puts jobs that say more than their team may in place of which it is
// said, and leaves those of the caller as they are.
func (p *Problem) limitTeams() error {
	for i, l := range p.Teams {
		if err := l.Check(); err != nil {
			return fmt.Errorf("teams[%d]: %w", i, err)
		}
	}
	var jobs []JobState
	for i := range p.Jobs {
		j := p.Jobs[i].Job
		l := p.limit(j.Team)
		value := l.MaxValueOfTime > 0 && j.ValueOfTime > l.MaxValueOfTime
		weight := l.MaxWeight > 0 && max(j.Weight, 0) > l.MaxWeight
		if j.Team == "" || !value && !weight {
			continue
		}
		limited := *j
		if value {
			limited.ValueOfTime = l.MaxValueOfTime
		}
		if weight {
			limited.Weight = l.MaxWeight
		}
		if jobs == nil {
			jobs = append(jobs, p.Jobs...)
		}
		jobs[i].Job = &limited
	}
	if jobs != nil {
		p.Jobs = jobs
	}
	return nil
}
