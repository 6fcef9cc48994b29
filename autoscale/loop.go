package autoscale

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// Loop owns a fleet: it buys and ends machines, starts and stops gangs, and books
// what all of it costs. Its methods may be called at the same time; they take turns.
type Loop struct {
	cfg  Config
	turn chan struct{} // holds one token while a method runs: all below has one owner

	cache    cache
	clouds   []*cloudView // by name
	boots    bootTimes
	hints    hints
	measured measurements
	beliefs  *planner.Beliefs
	meter    *ledger.Meter
	prices   *pricing.Book           // of this round
	types    []provider.InstanceType // by place in Config.Offerings
	known    []planner.Offer         // see learned; nil: to be found anew
	stirred  time.Time               // when a decision changed something last; the first round, if none has yet
	priced   []planner.Offer         // room for the offers of a state, and
	asked    []planner.Offer         // for those of a problem: each is there for one decision
	places   []int                   // of the quotes in it, by place in Config.Offerings: where to look first in the next
	rates    []pricing.Rate          // in it, by place in Config.Offerings; 0: none known
	ranOut   bool                    // the gang that is read ran out of memory, where nobody knew it would
	repeats  []repeat                // words to the runner to be said again in this round
	last     decided                 // what the last plan was made of
	lastAt   time.Time               // the last round

	used      map[provider.InstanceID]bool // machines with a gang that runs, by the runner's word
	said      map[planner.JobID]Progress   // what the runner says in this round
	strays    []Progress                   // gangs that run and should not
	newer     []Progress                   // gangs that a restored store has not heard of
	condemned []verdict                    // in this round, not yet judged
	ending    endsLimit                    // what this round ends, as far as it counts for the breaker
	allowed   bool                         // a person said that the next round may end what it wants to
	totals    []total
	enforced  budget.Policies                        // those of the settings that do more than tell
	hours     map[provider.InstanceID]hourRate       // of spot
	notices   []budget.Notice                        // since the last round
	gaps      []gap                                  // of machines that were out of contact, seen again in this round
	held      map[planner.JobID]bool                 // jobs of which it was told why they stay where they are
	promises  map[planner.JobID]planner.PromiseState // as last told
	unfitRow  map[provider.Offering]int              // machines in a row that came up unfit
	halt      string                                 // why this round changes nothing; "": it may
	frozenBy  string                                 // a freeze from outside the store; "": none
	misread   bool                                   // now cannot be believed: not even books are written

	billed    time.Time       // up to which bills beside machines are booked, since the store was loaded
	billLines map[string]bool // ids of purchases and credits that the ledger has

	bought  []provider.Instance // in this round
	replans int                 // in this round
	told    []Event             // since the last round
}

// New builds a loop on what the store holds. It calls no cloud.
func New(cfg Config) (*Loop, error) {
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("autoscale: %w", err)
	}
	l := &Loop{cfg: cfg, turn: make(chan struct{}, 1), boots: bootTimes{}, hints: hints{}, measured: measurements{}, beliefs: planner.NewBeliefs(), hours: map[provider.InstanceID]hourRate{}, rates: make([]pricing.Rate, len(cfg.Offerings))}
	l.types = make([]provider.InstanceType, len(cfg.Offerings))
	for i, o := range cfg.Offerings {
		l.types[i], _ = l.typeOf(o)
	}
	for _, c := range cfg.Clouds {
		l.clouds = append(l.clouds, &cloudView{cloud: c, name: c.Name()})
	}
	return l, nil
}

// take waits for the loop's turn and loads the store if that is due.
func (l *Loop) take(ctx context.Context) (release func(), err error) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	release = func() { <-l.turn }
	if !l.cache.loaded {
		if err := l.cache.load(ctx, l.cfg.Store); err != nil {
			release()
			return nil, err
		}
		if err := l.goOn(ctx); err != nil {
			l.cache.loaded = false
			release()
			return nil, err
		}
	}
	return release, nil
}

// goOn takes up what was loaded: the meter from the charges of the machines that
// are not settled, the boots from all machines, and the next round with a plan.
func (l *Loop) goOn(ctx context.Context) error {
	l.last = decided{}
	l.makeTotals()
	for _, v := range l.clouds {
		v.checked = false
	}
	if err := l.learn(ctx); err != nil {
		return err
	}
	if err := l.recall(ctx); err != nil {
		return err
	}
	oldest := l.cfg.Bills.oldest()
	if len(l.cache.machines) > 0 {
		if at := l.cache.machines[0].Instance.Launched; oldest.IsZero() || at.Before(oldest) {
			oldest = at
		}
	}
	var charges []ledger.Charge
	if !oldest.IsZero() {
		var err error
		if charges, err = l.cfg.Store.Charges(ctx, oldest, time.Time{}); err != nil {
			return fmt.Errorf("load charges: %w", err)
		}
	}
	l.meter = l.cfg.Meter(charges)
	l.recallBills(charges)
	return nil
}

// learn takes from the machines there ever were how long they take to come up, and
// which came up unfit. It finds the last round in what was seen last.
func (l *Loop) learn(ctx context.Context) error {
	records, err := l.cfg.Store.Instances(ctx)
	if err != nil {
		return fmt.Errorf("load instances: %w", err)
	}
	slices.SortFunc(records, func(a, b InstanceRecord) int { return compareMachines(&a, &b) })
	l.measured, l.known = measurements{}, nil
	l.hints = hints{}
	l.boots, l.unfitRow, l.lastAt = bootTimes{}, map[provider.Offering]int{}, time.Time{}
	for i := range records {
		m := &records[i]
		l.measured.learn(m.Instance)
		l.hints.learn(m)
		came := later(m.Instance.Started, m.Instance.CalledHome)
		if t, ok := l.typeOf(m.Instance.Offering); ok && !came.IsZero() && !m.Silent {
			l.boots.learn(t, came.Sub(m.Instance.Launched))
		}
		switch {
		case !m.Quarantined.IsZero():
			l.unfitRow[m.Instance.Offering]++
		case m.Ready:
			delete(l.unfitRow, m.Instance.Offering)
		}
		l.lastAt = later(l.lastAt, m.Seen)
	}
	for _, row := range l.cache.broken {
		l.event(Event{At: l.lastAt, Kind: EventOdd, Text: "the store: " + row + ": the row is skipped"})
	}
	l.cache.broken = nil
	return nil
}

// Submit hands in jobs. They are durable when it returns nil, and planned in the
// next round. An id that was ever used is refused, and then none is taken.
func (l *Loop) Submit(ctx context.Context, now time.Time, jobs ...*planner.Job) error {
	release, err := l.take(ctx)
	if err != nil {
		return fmt.Errorf("submit: %w", err)
	}
	defer release()
	seen := map[planner.JobID]bool{}
	for _, job := range jobs {
		switch {
		case job.ID == "":
			return fmt.Errorf("submit: a job has no id")
		case job.Curve == nil:
			return fmt.Errorf("submit %s: nothing is known of its speed", job.ID)
		case l.cache.everJob[job.ID] || seen[job.ID]:
			return fmt.Errorf("submit %s: there is, or was, a job of that id", job.ID)
		}
		seen[job.ID] = true
	}
	for _, job := range jobs {
		r := &JobRecord{Job: job, Phase: JobWaiting, Waiting: now}
		l.cache.addJob(r)
		l.cache.touchJob(r)
		l.event(Event{At: now, Kind: EventSubmit, Job: job.ID, Text: submitText(job)})
	}
	l.last.changed = true
	if err := l.cache.commit(ctx, l.cfg.Store); err != nil {
		return fmt.Errorf("submit: %w", err)
	}
	return nil
}

func submitText(job *planner.Job) string {
	if job.Team == "" {
		return job.Family
	}
	return fmt.Sprintf("%s of team %s", job.Family, job.Team)
}

// Cancel takes jobs back. Their gangs are stopped, without a last checkpoint, in
// the next round. A job that is unknown is an error, one that has ended is not.
func (l *Loop) Cancel(ctx context.Context, now time.Time, ids ...planner.JobID) error {
	release, err := l.take(ctx)
	if err != nil {
		return fmt.Errorf("cancel: %w", err)
	}
	defer release()
	for _, id := range ids {
		if !l.cache.everJob[id] {
			return fmt.Errorf("cancel %s: there is no such job", id)
		}
	}
	for _, id := range ids {
		r, ok := l.cache.job[id]
		if !ok || !r.Ended.IsZero() {
			continue
		}
		r.Phase, r.Ended, r.Target, r.Waiting = JobCancelled, now, nil, time.Time{}
		l.cache.touchJob(r)
		l.event(Event{At: now, Kind: EventCancel, Job: id})
	}
	l.last.changed = true
	if err := l.cache.commit(ctx, l.cfg.Store); err != nil {
		return fmt.Errorf("cancel: %w", err)
	}
	return nil
}

// Fleet returns the id and the epoch that the store was born with: every machine
// carries them in its tags.
func (l *Loop) Fleet(ctx context.Context) (id string, epoch int64, err error) {
	release, err := l.take(ctx)
	if err != nil {
		return "", 0, err
	}
	defer release()
	return l.cache.fleet, l.cache.epoch, nil
}

// event notes a line of history; it becomes durable with the next commit.
func (l *Loop) event(e Event) {
	e.Round = l.cache.round
	l.cache.events = append(l.cache.events, e)
	l.told = append(l.told, e)
}

// typeOf is the instance type of an offering. ok is false when the catalogue lacks it.
func (l *Loop) typeOf(o provider.Offering) (provider.InstanceType, bool) {
	return l.cfg.Catalogue.Lookup(o.Cloud, o.Type)
}

// view is the loop's view of a cloud; nil for one that it has no access to.
func (l *Loop) view(name string) *cloudView {
	i := slices.IndexFunc(l.clouds, func(v *cloudView) bool { return v.name == name })
	if i < 0 {
		return nil
	}
	return l.clouds[i]
}
