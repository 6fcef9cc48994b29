package policy

import (
	"errors"
	"fmt"

	"github.com/goodfleet/goodfleet/planner"
)

// ErrNoCap is what MaxGoodput says of a problem without a cap on what it may burn.
var ErrNoCap = errors.New("max-goodput spends what it may: want a burn cap")

// MaxGoodput trains as much as the burn cap allows: it maximises
//
//	Σ w_j·a_jc·G_jc / G_j(knee),
//
// with w the job's weight, G its goodput on the config that it gets, a the useful part
// of it where machines are lost, and G(knee) its goodput on the config of the least
// cost times time. What a job could do only on machines that it cannot have does not
// count against it: the knee is that of the ways it has. The sum has no unit: a job
// of weight 1 that runs at its knee adds 1.
//
// A dollar more or less decides only between plans that are as good: all that may be
// spent weighs goodputPerSpend of the sum. Without a burn cap it returns ErrNoCap.
func MaxGoodput(p planner.Problem, s Settings) (planner.Plan, error) {
	if p.BurnCap <= 0 {
		return planner.Plan{}, ErrNoCap
	}
	pr, know, err := known(&p, s)
	if err != nil {
		return planner.Plan{}, err
	}
	g := goal{
		unit: "times a job at its knee", unitUSD: max(spendable(&p, pr), 1e-3) / goodputPerSpend,
		jobs: make([]stake, len(pr.Jobs)), lost: "the burn cap of " + p.BurnCap.String() + " USD/h trains more on other jobs",
	}
	for i := range pr.Jobs {
		d := &pr.Jobs[i]
		if len(d.Columns) == 0 {
			continue
		}
		knee := d.Columns[kneeOf(&p, d)].Speed.Goodput
		weight := weightOf(d.State.Job)
		g.jobs[i] = stake{
			on:     func(c *planner.Column) float64 { return weight * c.Speed.Goodput * c.Useful / knee },
			most:   weight,
			reason: fmt.Sprintf("its goodput over that at its knee, %s samples/h, times weight %g", number(knee), weight),
		}
	}
	return pursue(&p, pr, know, s, g), nil
}

// goodputPerSpend is the part of one job at its knee that everything which may be spent
// weighs: small enough to decide between equals only, large enough that sums of some
// hundred jobs keep their digits.
const goodputPerSpend = 1e-4

// weightOf is the weight of a job, 1 if it says none.
func weightOf(j *planner.Job) float64 {
	if j.Weight > 0 {
		return j.Weight
	}
	return 1
}

// number is a number for a sentence: three digits.
func number(v float64) string { return fmt.Sprintf("%.3g", v) }
