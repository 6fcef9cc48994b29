package sim

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// reference is what work of different models is compared by.
type reference struct {
	accelerator string
	others      []string // where a curve does not know it, in order
}

// newReference takes the others from the catalogue.
func newReference(accelerator string, catalogue *provider.Catalogue) reference {
	r := reference{accelerator: accelerator}
	for _, t := range catalogue.Types() {
		r.others = append(r.others, t.Accelerator)
	}
	slices.Sort(r.others)
	r.others = slices.Compact(r.others)
	return r
}

// perHour is the samples of job in one accelerator-hour of the reference, at its
// smallest gang. ok is false when the job's curve knows no accelerator.
func (r reference) perHour(job *planner.Job) (samples float64, estimated, ok bool) {
	sizes := job.Resources.Replicas.Sizes()
	if job.Curve == nil || len(sizes) == 0 {
		return 0, false, false
	}
	at := func(accelerator string) (planner.Speed, bool) {
		for nodes := 1; nodes <= sizes[0]; nodes++ {
			if s, known := job.Curve.Speed(accelerator, nodes, sizes[0]); known {
				return s, true
			}
		}
		return planner.Speed{}, false
	}
	best, ok := at(r.accelerator)
	if !ok {
		for _, other := range r.others {
			if s, known := at(other); known && s.Goodput > best.Goodput {
				best, ok = s, true
			}
		}
	}
	return best.Goodput / float64(sizes[0]), best.Estimated, ok
}

// counts are what happened, apart from money.
type counts struct {
	launches, failedLaunches, interruptions int
	peakBurn                                pricing.Rate
	rounds                                  int64
	passed                                  int // of them, without being run
}

// figures fills what an outcome says of money, work and time.
func (out *Outcome) figures(charges []ledger.Charge, jobs []autoscale.JobRecord, ref reference, n counts) {
	accounts := out.money(charges)
	out.PeakBurn = rounded(n.peakBurn.Dollars())
	if hours := out.To.Sub(out.From).Hours(); hours > 0 {
		out.MeanBurn = rounded(out.Cost.Dollars() / hours)
	}
	out.Launches, out.FailedLaunches, out.Interruptions, out.Rounds = n.launches, n.failedLaunches, n.interruptions, n.rounds
	out.Jobs = len(jobs)
	costs := map[string]pricing.Money{}
	for _, row := range ledger.Total(charges, ledger.ByJob).Rows {
		costs[row.Key[0]] = row.Amount
	}
	for i := range jobs {
		out.addJob(&jobs[i], costs[string(jobs[i].Job.ID)], ref)
	}
	out.times()
	out.Egress = accounts[ledger.ToTraffic]
	if out.Cost > 0 {
		cost := out.Cost.Dollars()
		out.ReferencePerDollar, out.SamplesPerDollar = rounded(out.ReferenceHours/cost), rounded(out.Samples/cost)
		out.IdleShare = rounded(accounts[ledger.ToIdle].Dollars() / cost)
		out.BootShare = rounded(accounts[ledger.ToBoot].Dollars() / cost)
		out.WasteShare = rounded((accounts[ledger.ToWaste] + accounts[ledger.ToRestart]).Dollars() / cost)
	}
	out.Samples, out.ReferenceHours = rounded(out.Samples), rounded(out.ReferenceHours)
}

// money sums the charges and returns what each account bears.
func (out *Outcome) money(charges []ledger.Charge) map[ledger.Account]pricing.Money {
	sums := func(by ledger.Dimension) []Sum {
		rows := ledger.Total(charges, by).Rows
		list := make([]Sum, len(rows))
		for i, row := range rows {
			list[i] = Sum{Key: row.Key[0], Amount: row.Amount, AcceleratorHours: rounded(row.Hours)}
		}
		slices.SortStableFunc(list, func(a, b Sum) int { return cmp.Compare(b.Amount, a.Amount) })
		return list
	}
	markets := ledger.Total(charges, ledger.ByMarket)
	out.Cost, out.UnknownHours, out.AcceleratorHours = markets.Sum.Amount, rounded(markets.Sum.UnknownHours), rounded(markets.Sum.Hours)
	out.ByAccount, out.ByTeam, out.ByMarket = sums(ledger.ByAccount), sums(ledger.ByTeam), sums(ledger.ByMarket)
	out.ByCloud, out.ByType = sums(ledger.ByCloud), sums(ledger.ByType)
	for _, row := range markets.Rows {
		if row.Key[0] == provider.Spot.String() {
			out.SpotPaid, out.SpotSaving, out.SpotHours = row.Amount, row.Saving, rounded(row.Hours)
		}
	}
	accounts := map[ledger.Account]pricing.Money{}
	for _, sum := range out.ByAccount {
		accounts[ledger.Account(sum.Key)] = sum.Amount
	}
	return accounts
}

// addJob counts one job in.
func (out *Outcome) addJob(record *autoscale.JobRecord, cost pricing.Money, ref reference) {
	job := record.Job
	ended := record.Phase == autoscale.JobDone || record.Phase == autoscale.JobFailed || record.Phase == autoscale.JobCancelled
	j := JobOutcome{
		Job: job.ID, Team: job.Team, Family: job.Family, Submitted: job.Submitted,
		Started: known(record.Started), Phase: phaseWord(record.Phase), Done: record.Phase == autoscale.JobDone,
		Samples: record.Safe, Cost: cost, Restarts: record.Restarts, Losses: record.Losses,
	}
	until := out.To
	if ended {
		until, j.Ended = record.Ended, known(record.Ended)
	}
	if until.After(job.Submitted) { // a job that comes after the end has no age
		j.JCTHours = rounded(until.Sub(job.Submitted).Hours())
	}
	perHour, estimated, ok := ref.perHour(job)
	if ok {
		j.ReferenceHours = rounded(j.Samples / perHour)
		out.ReferenceHours += j.Samples / perHour
		out.EstimatedThroughput = out.EstimatedThroughput || estimated
	}
	out.Samples += j.Samples
	if !job.Deadline.IsZero() {
		out.Deadlines++
		j.Late = until.After(job.Deadline)
		if j.Late {
			out.DeadlineMisses++
		}
	}
	switch {
	case !ended:
		out.Unfinished++
	case !j.Done:
		out.Failed++
	}
	out.JobLosses += record.Losses
	out.Restarts += record.Restarts
	out.JobOutcomes = append(out.JobOutcomes, j)
}

// times fills the figures of time from the jobs.
func (out *Outcome) times() {
	if len(out.JobOutcomes) == 0 {
		return
	}
	slices.SortFunc(out.JobOutcomes, func(a, b JobOutcome) int {
		return cmp.Or(a.Submitted.Compare(b.Submitted), cmp.Compare(a.Job, b.Job))
	})
	first, last := out.JobOutcomes[0].Submitted, out.From
	var all []float64
	sum, queue := 0.0, 0.0
	for _, j := range out.JobOutcomes {
		all = append(all, j.JCTHours)
		sum += j.JCTHours
		started, ended := out.To, out.To
		if j.Started != nil {
			started = *j.Started
		}
		if j.Ended != nil {
			ended = *j.Ended
		}
		queue += max(0, started.Sub(j.Submitted).Hours())
		if ended.After(last) {
			last = ended
		}
	}
	slices.Sort(all)
	n := float64(len(all))
	out.AvgJCTHours, out.AvgQueueHours = rounded(sum/n), rounded(queue/n)
	out.P50JCTHours, out.P95JCTHours, out.MaxJCTHours = quantile(all, 0.5), quantile(all, 0.95), all[len(all)-1]
	out.MakespanHours = rounded(max(0, last.Sub(first).Hours()))
}

// quantile is the smallest value that at least a share q of an ascending list
// does not pass.
func quantile(ascending []float64, q float64) float64 {
	return ascending[max(0, int(math.Ceil(q*float64(len(ascending))))-1)]
}

// rounded keeps nine significant digits: more are noise of the order of sums.
func rounded(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	scale := math.Pow(10, 9-math.Ceil(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}

func known(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

func phaseWord(p autoscale.JobPhase) string {
	switch p {
	case autoscale.JobWaiting:
		return "waiting"
	case autoscale.JobPlaced:
		return "placed"
	case autoscale.JobStarted:
		return "started"
	case autoscale.JobDone:
		return "done"
	case autoscale.JobFailed:
		return "failed"
	case autoscale.JobCancelled:
		return "cancelled"
	}
	return "unknown"
}
