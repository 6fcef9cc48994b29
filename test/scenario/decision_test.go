package scenario

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/schedule"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// offering reads a name such as aws/use1-az1/p3.2xlarge/spot, with a reservation
// after it or without.
func offering(name string) (provider.Offering, error) {
	parts := strings.Split(name, "/")
	if len(parts) != 4 && len(parts) != 5 {
		return provider.Offering{}, fmt.Errorf("offering %q: want cloud/zone/type/market", name)
	}
	market, err := provider.ParseMarket(parts[3])
	if err != nil {
		return provider.Offering{}, err
	}
	o := provider.Offering{Cloud: parts[0], Region: "us-east-1", Zone: parts[1], Type: parts[2], Market: market}
	if i := strings.LastIndex(o.Zone, "-"); o.Cloud == "gcp" && i > 0 {
		o.Region = o.Zone[:i]
	}
	if len(parts) == 5 {
		o.Reservation = parts[4]
	}
	return o, nil
}

// readAsks reads what a job asks beyond its size: pairs of a word and a value.
func readAsks(w []string) ([]func(*planner.Job), error) {
	var asks []func(*planner.Job)
	for ; len(w) >= 2; w = w[2:] {
		word, value := w[0], w[1]
		ask, err := readAsk(word, value)
		if err != nil {
			return nil, fmt.Errorf("jobs: %s %s: %w", word, value, err)
		}
		asks = append(asks, ask)
	}
	if len(w) > 0 {
		return nil, fmt.Errorf("jobs: %s: want a value", w[0])
	}
	return asks, nil
}

func readAsk(word, value string) (func(*planner.Job), error) {
	switch word {
	case "at":
		d, err := time.ParseDuration(value)
		return func(j *planner.Job) { j.Submitted = j.Submitted.Add(d) }, err
	case "deadline":
		d, err := time.ParseDuration(value)
		return func(j *planner.Job) { j.Deadline = j.Submitted.Add(d) }, err
	case "max", "value":
		rate, err := pricing.ParseRate(value)
		if word == "max" {
			return func(j *planner.Job) { j.MaxPrice = rate }, err
		}
		return func(j *planner.Job) { j.ValueOfTime = rate }, err
	case "memory":
		gib, err := strconv.ParseFloat(value, 64)
		return func(j *planner.Job) { j.Resources.MemGiB = gib }, err
	case "market":
		market, err := provider.ParseMarket(value)
		return func(j *planner.Job) { j.Markets = []provider.Market{market} }, err
	case "type":
		return func(j *planner.Job) { j.Types = []string{value} }, nil
	case "team":
		return func(j *planner.Job) { j.Team = value }, nil
	case "restore":
		d, err := time.ParseDuration(value)
		return func(j *planner.Job) { j.Checkpoint.Restore = d }, err
	}
	return nil, errors.New("no job asks for it")
}

// readDecision takes the lines that few scenarios need.
func (f *fleet) readDecision(section, line string, w []string) (err error) {
	bad := fmt.Errorf("%s: %q is no line of it", section, line)
	span := func(i int) time.Duration {
		var d time.Duration
		if i < len(w) && err == nil {
			d, err = time.ParseDuration(w[i])
		}
		return d
	}
	switch {
	case section == "prices": // lines of a price file
		f.file += line + "\n"
	case w[0] == "begin" && len(w) == 2: // INSTANT, before all other lines
		f.start, err = time.Parse(time.RFC3339, w[1])
		f.now = f.start
	case w[0] == "setup" && len(w) == 2:
		f.settings.Setup = span(1)
	case w[0] == "policy" && len(w) == 2 && w[1] == "min-cost":
		f.policy = policy.MinCost
	case w[0] == "moves" && len(w) == 2:
		f.settings.MaxMoves, err = strconv.Atoi(w[1])
	case w[0] == "budget" && (len(w) == 5 || len(w) == 6) && (w[4] == "flat" || w[4] == "priced"): // NAME USD day|month flat|priced [TEAM]
		total := budget.Total{Name: w[1], Unpriced: w[4] == "flat", Period: map[string]budget.Period{"day": budget.Day, "month": budget.Month}[w[3]]}
		total.Amount, err = pricing.ParseMoney(w[2])
		if len(w) == 6 {
			total.Team = w[5]
		}
		f.totals = append(f.totals, total)
	case w[0] == "window" && len(w) == 12 && w[9] == "for": // NAME allow|deny WHAT M H D M W for TIME ZONE
		open := autoscale.Window{Name: w[1], Deny: w[2] == "deny", Moves: w[3] == "moves", Launches: w[3] == "launches"}
		var cron schedule.Cron
		if cron, err = schedule.ParseCron(strings.Join(w[4:9], " ")); err == nil {
			lasts := span(10)
			if err == nil {
				open.Time, err = schedule.NewWindow(cron, lasts, w[11])
			}
		}
		f.settings.Windows = append(f.settings.Windows, open)
	case w[0] == "reserve" && len(w) == 7 && w[3] == "from" && w[5] == "until": // OFFERING N from TIME until TIME
		r := autoscale.Reservation{From: f.start.Add(span(4)), Until: f.start.Add(span(6)), Drain: 30 * time.Minute}
		if r.Offering, err = offering(w[1]); err == nil {
			r.Count, err = strconv.Atoi(w[2])
		}
		f.reserved = append(f.reserved, r)
	case w[0] == "end-first" && len(w) == 2: // MARKET
		var market provider.Market
		market, err = provider.ParseMarket(w[1])
		f.settings.EndFirst = append(f.settings.EndFirst, market)
	case w[0] == "price" && len(w) == 5 && w[3] == "at": // OFFERING USD|unknown at TIME
		var o provider.Offering
		if o, err = offering(w[1]); err != nil {
			return err
		}
		at := f.start.Add(span(4))
		if w[2] == "unknown" {
			f.ends = append(f.ends, pricing.End{Offering: o, At: at, Source: "test"})
			break
		}
		var rate pricing.Rate
		if rate, err = pricing.ParseRate(w[2]); err == nil {
			f.quotes = append(f.quotes, pricing.Quote{Offering: o, Rate: rate, At: at, Source: "test"})
		}
	case w[0] == "swap" && len(w) == 7 && w[3] == "every" && w[5] == "for": // A B every TIME for TIME: they change prices
		err = f.swap(w[1], w[2], span(4), span(6))
	default:
		return bad
	}
	return err
}

// swap lets two offerings change prices again and again.
func (f *fleet) swap(a, b string, every, long time.Duration) error {
	var now, next []pricing.Quote
	for _, name := range []string{a, b} {
		i := slices.IndexFunc(f.quotes, func(q pricing.Quote) bool { return q.Offering.String() == name })
		if i < 0 {
			return fmt.Errorf("swap: %s has no price", name)
		}
		now = append(now, f.quotes[i])
	}
	if every <= 0 {
		return fmt.Errorf("swap: every %v", every)
	}
	for at := every; at <= long; at += every {
		next = slices.Clone(now)
		next[0].Rate, next[1].Rate = now[1].Rate, now[0].Rate
		next[0].At, next[1].At = f.start.Add(at), f.start.Add(at)
		f.quotes = append(f.quotes, next...)
		now = next
	}
	return nil
}

// readPrices takes the section prices in, as a person's price file is: what is
// suspect is put aside, what is no price is refused.
func (f *fleet) readPrices() error {
	if f.file == "" {
		return nil
	}
	rows, refused, err := pricing.ReadPrices("prices", strings.NewReader(f.file), f.start)
	if err != nil {
		return err
	}
	known, err := pricing.NewBook(f.start, f.quotes)
	if err != nil {
		return err
	}
	verdict := pricing.NewChecker(pricing.CheckerConfig{Last: known}).Check(rows)
	for _, r := range append(refused, verdict.Refused...) {
		f.unusable = append(f.unusable, r.Error())
	}
	for _, s := range verdict.Suspects {
		f.unusable = append(f.unusable, s.Error())
	}
	f.quotes = append(f.quotes, verdict.Accepted...)
	return nil
}

// parseDecision reads the expectations that few scenarios need; nil: it is none.
func parseDecision(w []string) func(f *fleet) error {
	rest := func(i int) string { return strings.Join(w[i:], " ") }
	switch {
	case w[0] == "reason" && len(w) >= 3:
		return func(f *fleet) error {
			got := f.reasons(planner.JobID(w[1]))
			return unless(strings.Contains(got, rest(2)), "the plan says %q", got)
		}
	case w[0] == "refused" && len(w) >= 2:
		return func(f *fleet) error {
			found := slices.ContainsFunc(f.unusable, func(s string) bool { return strings.Contains(s, rest(1)) })
			return unless(found, "refused were %q", f.unusable)
		}
	case w[0] == "spent" && (len(w) == 2 || len(w) == 4 && (w[2] == "by" || w[2] == "until")): // USD [by TEAM|until TIME]
		return func(f *fleet) error { return f.spent(w) }
	case w[0] == "generation" && len(w) == 3: // JOB N: so many gangs of it were started
		return func(f *fleet) error {
			jobs, err := f.store.Jobs(context.Background())
			if err != nil {
				return err
			}
			for _, r := range jobs {
				if string(r.Job.ID) == w[1] {
					return unless(strconv.FormatInt(r.Generation, 10) == w[2], "it is %d", r.Generation)
				}
			}
			return errors.New("there is no such job")
		}
	case len(w) == 1 && w[0] == "restart": // the controller dies, and another takes up its store
		return func(f *fleet) (err error) {
			f.config.Hazards = pricing.NewHazards(pricing.HazardConfig{Catalogue: f.catalogue})
			f.loop, err = autoscale.New(f.config)
			return err
		}
	case w[0] == "clock" && len(w) == 2: // AHEAD: the next round sees a clock that is off
		return func(f *fleet) (err error) {
			f.ahead, err = time.ParseDuration(w[1])
			return err
		}
	case len(w) == 1 && w[0] == "resume":
		return func(f *fleet) error { return f.loop.Resume(context.Background(), f.now, "Ada", true) }
	case len(w) == 2 && w[0] == "cancel":
		return func(f *fleet) error { return f.loop.Cancel(context.Background(), f.now, planner.JobID(w[1])) }
	case len(w) == 3 && w[0] == "launched": // N OFFERING: machines bought of it, ever
		return func(f *fleet) error {
			got := 0
			for _, m := range f.machines() {
				if yes, _ := path.Match(w[2], m.Offering.String()); yes {
					got++
				}
			}
			return unless(strconv.Itoa(got) == w[1], "there were %d", got)
		}
	}
	return nil
}

// subject is what an override is about: words, or "oldest of OFFERING" for the
// machine that is there the longest.
func (f *fleet) subject(w []string) string {
	if len(w) == 3 && w[0] == "oldest" && w[1] == "of" {
		for _, m := range f.live() {
			if yes, _ := path.Match(w[2], m.Offering.String()); yes {
				return string(m.ID)
			}
		}
	}
	return strings.Join(w, " ")
}

// reasons is all that the last plan says of a job.
func (f *fleet) reasons(job planner.JobID) string {
	var said []string
	for _, a := range f.last.Plan.Allocations {
		if a.Job == job {
			said = append(said, a.Reason)
			if a.RunnerUp != nil {
				said = append(said, a.RunnerUp.Offering.String()+": "+a.RunnerUp.Reason)
			}
		}
	}
	for _, x := range f.last.Plan.Waits {
		if x.Job == job {
			said = append(said, x.Reason)
		}
	}
	for _, d := range f.last.Diff.Deferred {
		if d.Job == job {
			said = append(said, d.Reason)
		}
	}
	return strings.Join(said, "; ")
}

// spent compares what is booked with an amount, to the cent: of all, of a team, or
// of the time until an instant.
func (f *fleet) spent(w []string) error {
	want, err := pricing.ParseMoney(w[1])
	if err != nil {
		return err
	}
	charges, err := f.store.Charges(context.Background(), time.Time{}, time.Time{})
	if err != nil {
		return err
	}
	until := time.Time{}
	if len(w) == 4 && w[2] == "until" {
		d, err := time.ParseDuration(w[3])
		if err != nil {
			return err
		}
		until = f.start.Add(d)
	}
	var got pricing.Money
	for _, c := range charges {
		switch {
		case len(w) == 4 && w[2] == "by" && c.Team != w[3]:
		case !until.IsZero() && !c.From.Before(until):
		default:
			got += c.Amount
		}
		if c.Kind != ledger.Reversal && c.Amount < 0 {
			return fmt.Errorf("a charge of %s USD", c.Amount)
		}
	}
	const cent = pricing.Dollar / 100
	return unless(got-want < cent && want-got < cent, "it is %s USD", got)
}
