package policy

import (
	"math"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
)

// Settings are what a policy may be told.
type Settings struct {
	Transfer planner.Transfer // zero: planner.DefaultTransfer
	Limits   planner.Limits
	Turns    Turns   // makes rounds of shares; only policies of shares need it
	Patience float64 // times its time at the knee that MinCost lets a job without deadline take; 0: DefaultPatience
}

func (s Settings) transfer() planner.Transfer {
	if s.Transfer.GiBPerSec == 0 {
		return planner.DefaultTransfer()
	}
	return s.Transfer
}

// The least lives over which a switch is judged.
const (
	leastLife = 600.0 / 3600 // h
	lifePerS  = 6            // restarts
)

// rho is rounded down to a power of rhoStep, so that the bonus moves in steps that
// a clock can name, and is looked at again after bonusCheck at the earliest.
const (
	rhoStep    = 1.25
	bonusCheck = 5 * time.Minute
)

// worth is what value knows of one job.
type worth struct {
	v      float64   // value of time, USD/h
	kappa  float64   // worth of a unit of work, USD per sample
	best   int       // column of the least cost of work, kappa
	start  float64   // what a start takes on it, with the boot of its machines, h
	charge float64   // what machines bought for it cost beyond their use, USD
	left   float64   // work left, P50, samples
	p80    float64   // and its 80 % quantile
	rho    float64   // predicted finish over time alone, in steps
	bonus  float64   // b, USD/h, less what dear takes of it
	aside  bool      // a budget of it is set aside for what runs
	keep   float64   // what it is worth beside, USD/h, where money is set aside for it
	dear   float64   // worth of a unit of work beyond kappa, paid from the bonus, USD per sample
	alone  float64   // all of its work on the best column, h
	at     int       // offer of which it holds machines; -1: none
	lasts  float64   // how long jobs were left where they were, h; 0: not known
	steady float64   // how long it has been there, h, in steps
	next   time.Time // when rho takes its next step if the job goes on waiting

	pledge *pledge // of its deadline; nil: it has none, or nothing fits it now
	floor  float64 // value of time that its deadline asks for, USD/h; 0: no more than v

	head  float64 // prize, USD/h, by which it runs as the head of those that never ran; not part of any plan's worth; 0: it is not
	short string  // of the head, left without machines: the row that it lacks
}

// Value is the default policy when machines are bought: spend plus value of time
// times time, least. A unit of work of job j is worth what its cheapest way of
// being done alone would cost,
//
//	kappa = min over c of [R + v·(1 + L·D)]/(G·a) + once/W,
//
// with R the rate of the whole machines that c needs, v the job's value of time
// (USD/h), L losses per hour up, D the mean wait (h), G goodput (samples/h), a the
// useful share of paid time, once what moving its data there costs (USD) and W the
// work left (samples). An hour of c then adds kappa·G·a·phi − v·L·D + b to a plan,
// less the rates of the machines held, with phi the switching factor and b the
// waiting bonus. Where total budgets run short each of these rates counts 1 + mu, that
// of a team's budget by the share that the job has of its machines; kappa does not
// grow with it. The term v·L·D makes the alone optimum exact: without it a config
// that is often waited for would be credited with the value of the waits.
//
// phi compares starts with starts: a job that holds machines is credited in every
// config with the restart that stopping it would cost, and a job that waits is
// charged only for what a start takes longer than on its best config. So switching
// decides which and when, and no job's surplus alone falls below v: it always runs.
//
// The time over which a switch is judged is ten minutes or six restarts; for another
// size on the same offering, where no price can turn back unless money is dear, the time
// that the job has been there, if that is longer: ten minutes alone would hold a steady job at a worse
// size for hours against a saving of a few percent. It is never longer than the rest
// of the job, the mean life of the machines, or the mean time that jobs were left where they were
// (planner.Problem.Turnover).
//
// The bonus b = v·max(0, rho − 1)² grows while a job waits and stays as it is while
// the job runs, since rho, the predicted finish over the time alone, does. A bonus
// that ended with the wait would have an overloaded fleet pass its machines from
// hand to hand: the job that it started would be stopped for the next one.
//
// How long a job waits at most: it takes the machines of others, which together have
// n jobs on them, once v·(rho − 1)² is more than the sum of V + (R + V) + V·(P − 1)²
// over these, with V the most that their teams may say (planner.TeamLimit), R their
// rates, R + V the most that a restart of one counts, and P the longest that one
// waited before it started, in times of its time alone. So under every cap that admits
// it, it starts by the time that rho has come to
//
//	1 + √(n·(2V + R + V·(P − 1)²)/v)
//
// and to one step more, by which rho is rounded. P is small where the others' demand
// can be carried. Where more comes for ever than ever can, it grows with the queue, and
// faster for short jobs: then jobs that never ran take turns at the head of their row
// (head.go), by which the wait for a first start has a bound under any demand.
func Value(p planner.Problem, s Settings) (planner.Plan, error) {
	r, err := Explain(p, s)
	if err != nil {
		return planner.Plan{}, err
	}
	return r.Plan, nil
}

// Explain makes the plan of Value, and keeps what it was made from.
func Explain(p planner.Problem, s Settings) (*Reasons, error) { return explainWith(p, s, nil) }

// explainWith is Explain; adjust changes what is known of each job, and its columns,
// before it is put into the program.
func explainWith(p planner.Problem, s Settings, adjust adjustment) (*Reasons, error) {
	given := p
	pr, know, err := appraised(&p, s, adjust)
	if err != nil {
		return nil, err
	}
	full := slices.Clone(pr.Jobs) // with every column, since a search prunes
	var sol planner.Solution
	for try := 1; ; try++ {
		scale := scaleOf(full, know)
		pr.Prune()
		sol = solveDue(pr, scale, s.Limits, know)
		if try == supplyTries || !reprice(&p, sol, full, know) {
			break // the solution names columns of pr: they stay as they are
		}
		copy(pr.Jobs, full)
	}
	return &Reasons{
		Plan:  report(&p, pr, sol, know, full, scaleOf(full, know)),
		given: given, problem: p, settings: s, know: know, full: full,
	}, nil
}

// Program is the program that Value solves first, with every column of each job and
// its worth, and the scale of what it decides on, USD per hour: for those who would
// solve it in another way.
func Program(p *planner.Problem, s Settings) (pr *planner.Program, scale float64, err error) {
	pr, know, err := appraised(p, s, nil)
	if err != nil {
		return nil, 0, err
	}
	return pr, scaleOf(pr.Jobs, know), nil
}

// adjustment is what another policy does to a job that Value has appraised.
type adjustment func(p *planner.Problem, d *planner.Demand, w *worth)

// appraised is the program of a problem with the worth of its columns, and what it
// comes from.
func appraised(p *planner.Problem, s Settings, adjust adjustment) (*planner.Program, []worth, error) {
	pr, know, err := known(p, s)
	if err != nil {
		return nil, nil, err
	}
	if adjust != nil {
		for i := range pr.Jobs {
			if d := &pr.Jobs[i]; len(d.Columns) > 0 {
				adjust(p, d, &know[i])
			}
		}
	}
	reward(pr, know)
	return pr, know, nil
}

// known is appraised before anything is adjusted, and before jobs that must run are
// put before all others.
func known(p *planner.Problem, s Settings) (*planner.Program, []worth, error) {
	if err := explore(p, s); err != nil {
		return nil, nil, err
	}
	pr, err := planner.NewProgram(p, s.transfer())
	if err != nil {
		return nil, nil, err
	}
	know := make([]worth, len(pr.Jobs))
	for i := range pr.Jobs {
		if d := &pr.Jobs[i]; len(d.Columns) > 0 {
			know[i] = appraise(p, d, nil)
			if p.Mu()+p.MuOf(d.State.Job.Team) == 0 { // else nobody would replace it: the work would wait
				hard(pr, d, &know[i])
			}
			setWorth(p, d, &know[i])
			within(p, d, &know[i])
		}
	}
	setAside(pr, know)
	secure(p, pr, know)
	return pr, know, nil
}

// scaleOf is what a plan decides on, USD/h: the rates of the best configs and the
// values of time.
func scaleOf(full []planner.Demand, know []worth) float64 {
	scale := 0.0
	for i := range full {
		scale += know[i].v
		if b := know[i].best; b >= 0 && b < len(full[i].Columns) {
			scale += full[i].Columns[b].Alone
		}
	}
	return scale
}

// within drops the columns on which the work left would cost more than what is
// left of the job's budget.
func within(p *planner.Problem, d *planner.Demand, w *worth) {
	budget := d.State.Job.Budget
	if budget == 0 {
		return
	}
	left := (budget - d.State.Spent).Dollars()
	kept := d.Columns[:0:0]
	current, best := -1, -1
	for c := range d.Columns {
		col := &d.Columns[c]
		if col.Spend(w.p80)+col.OneOff > left {
			continue
		}
		if c == d.Current {
			current = len(kept)
		}
		if c == w.best {
			best = len(kept)
		}
		kept = append(kept, *col)
	}
	if len(kept) == 0 {
		d.Lacks = "budget: " + pricing.Money(max(budget-d.State.Spent, 0)).String() + " USD are left, the cheapest way to the end costs " +
			money(cheapest(d, w.p80)) + " USD"
	}
	d.Columns, d.Current, w.best = kept, current, best
}

// cheapest is the least that the work left costs on any column, USD.
func cheapest(d *planner.Demand, work float64) float64 {
	least := math.Inf(1)
	for c := range d.Columns {
		least = min(least, d.Columns[c].Spend(work)+d.Columns[c].OneOff)
	}
	return least
}
