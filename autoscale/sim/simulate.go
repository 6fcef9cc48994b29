package sim

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/store"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
	"github.com/goodfleet/goodfleet/provider/fake"
)

// drainLimit is how long a fleet may take to end once nothing more is to be done.
const drainLimit = 24 * time.Hour

// streamTokens keeps the ids of launches apart from all other randomness.
const streamTokens = 0x70_6b_65_6e

// Simulate runs the loop in virtual time until every job has ended, or the
// horizon has passed and all that runs was stopped. Rounds come at their period,
// and at once when a job arrives or is done and when a cloud has something to say.
//
// The ledger is proved at the end: charges by account equal charges by instance,
// and every machine's whole life is booked. ErrBroken is wrapped by what says that
// they do not, or by what Setting.Check finds.
func Simulate(ctx context.Context, s Setting) (Outcome, error) {
	w, err := newWorld(s)
	if err != nil {
		return Outcome{}, fmt.Errorf("simulate: %w", err)
	}
	if err := w.run(ctx); err != nil {
		return Outcome{}, fmt.Errorf("simulate %s at %s: %w", w.s.Variant, w.now.Format(time.RFC3339), err)
	}
	out, err := w.outcome(ctx)
	if err != nil {
		return Outcome{}, fmt.Errorf("simulate %s: %w", w.s.Variant, err)
	}
	return out, nil
}

// world is a simulation under way.
type world struct {
	s       Setting
	fleet   string           // id of ours
	prices  *pricing.History // of what is sold
	clouds  []*fake.Cloud
	watches []fake.Watch // of clouds
	runner  *Runner
	store   autoscale.Store
	loop    *autoscale.Loop
	check   checker

	now          time.Time
	coming       []*planner.Job // not yet submitted
	declared     bool           // a round was run, and nextDecision is its word
	nextDecision time.Time      // zero: never
	lastRound    time.Time
	stirred      bool                   // a cloud had something to say since
	raising      bool                   // all that is owned is brought up
	awaited      map[planner.JobID]bool // of those that the simulation is about: they have not ended
	counted      int                    // of awaited; negative: all jobs are
	closing      bool                   // nothing more is planned: the fleet ends
	closedAt     time.Time
	passed       bool                                      // the horizon ended it
	quiet        int                                       // rounds in a row after which no machine and no gang was left
	done         int                                       // jobs that are done
	failed       int                                       // jobs that were given up
	machines     map[provider.InstanceID]provider.Instance // every one there was
	order        []provider.InstanceID                     // in the order in which they were seen
	live         []provider.Instance                       // as of now
	leaving      int                                       // machines on their way out
	jobs         []jobCount
	courses      map[planner.JobID][]Course
	counts       counts
}

// newWorld builds the clouds, the loop and all that it is made of.
func newWorld(s Setting) (*world, error) {
	if err := s.fill(); err != nil {
		return nil, err
	}
	sold := map[provider.Offering]bool{}
	for _, o := range s.Offerings {
		sold[o] = true
		o.Account = "" // prices hold for all accounts
		sold[o] = true
		o.Market = provider.OnDemand
		sold[o] = true // what savings are measured against
		o.Zone = o.Region
		sold[o] = true
	}
	w := &world{
		s: s, now: s.Start, coming: s.Jobs, machines: map[provider.InstanceID]provider.Instance{}, courses: map[planner.JobID][]Course{},
		prices: s.Prices.Restrict(func(o provider.Offering) bool { return sold[o] }),
	}
	w.counted = -1
	if s.Counted != nil {
		w.awaited, w.counted = map[planner.JobID]bool{}, 0
		for _, j := range s.Jobs {
			if s.Counted(j) {
				w.awaited[j.ID] = true
				w.counted++
			}
		}
	}
	var err error
	if w.clouds, err = s.clouds(); err != nil {
		return nil, err
	}
	w.watches = make([]fake.Watch, len(w.clouds))
	if w.prices, err = moved(w.prices, w.clouds); err != nil {
		return nil, err
	}
	// A cloud that misbehaves hands out machines without accelerators, and some that
	// never say a word.
	s.Loop.Agents = s.Loop.Agents || s.hostile()
	w.s.Loop = s.Loop
	var believed beliefs = pricing.NewHazards(s.Hazards)
	if s.Standing && len(s.Offerings) == 0 {
		believed = certain{}
	}
	if s.believe != nil {
		believed = s.believe(w.clouds)
	}
	w.runner, err = NewRunner(RunnerConfig{
		Start: s.Start, Catalogue: s.Catalogue, Truth: s.Truth, Seed: s.Seed, Transfer: s.Transfer,
		Every: func(job *planner.Job, g autoscale.Gang, now time.Time) time.Duration {
			return w.every(job, g, believed.Of(g.Offering, now))
		},
	})
	if err != nil {
		return nil, err
	}
	w.runner.Add(s.Jobs...)
	w.check = checker{catalogue: s.Catalogue, quotas: s.Quotas, burnCap: s.Loop.BurnCap, rate: w.prices.RateAt, image: s.Rules.Image}
	if s.hostile() { // machines may come late, or one too many
		w.check.burnCap = 0
	}
	tokens := newTokens(s.Seed)
	w.fleet = tokens()
	books := store.NewMemory(w.fleet)
	if s.Lockstep { // thousands of jobs that move in each round
		books.KeepNoEvents()
	}
	w.store = books
	seams := make([]provider.Cloud, len(w.clouds))
	for i, c := range w.clouds {
		seams[i] = c
	}
	w.loop, err = autoscale.New(autoscale.Config{
		Clouds: seams, Store: w.store, Runner: w.runner, Catalogue: s.Catalogue,
		Prices: w.prices, Hazards: believed, Guard: budget.NewGuard(s.Loop.BurnCap),
		Meter: func(charges []ledger.Charge) *ledger.Meter { return ledger.Resume(w.prices, s.Rules, charges) },
		Plan:  w.plan, Offerings: s.bought(), Reservations: s.Reservations, Tokens: tokens, Settings: s.Loop, Bills: s.bills(), Totals: s.Totals, Policies: s.Policies, Log: s.Log,
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// bills are what costs beside machines, from the start on.
func (s *Setting) bills() autoscale.Bills {
	b := s.Bills
	b.Capacities, b.Beside = slices.Clone(s.Rules.Capacities), s.Rules.BesideRate
	for i := range b.Capacities {
		if c := &b.Capacities[i]; c.From.Before(s.Start) {
			c.Since = s.Start
		}
	}
	if b.Controller != nil {
		h := *b.Controller
		h.Started = s.Start
		b.Controller = &h
	}
	return b
}

// newTokens makes random ids from a seed.
func newTokens(seed uint64) func() string {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], streamTokens)
	source := rand.NewChaCha8(key)
	return func() string {
		id, err := uuid.NewRandomFromReader(source)
		if err != nil { // the source never fails
			panic(err)
		}
		return id.String()
	}
}

// every is the time between checkpoints by Young and Daly, from the losses that
// come without a notice long enough to save, as they are believed.
func (w *world) every(job *planner.Job, g autoscale.Gang, h pricing.Hazard) time.Duration {
	if g.Offering.Cloud == ClusterCloud {
		return 0 // nothing is lost there
	}
	unannounced := h.PerHour(g.Config.Nodes)
	if g.Offering.Market == provider.Spot {
		notices := w.s.Loop.Notices
		if notices == nil {
			notices = autoscale.DefaultSettings().Notices
		}
		if notice := notices[g.Offering.Cloud]; notice > 0 && job.Checkpoint.Save <= notice {
			unannounced = 0
		}
	}
	return pricing.CheckpointEvery(job.Checkpoint.Save, unannounced)
}

// plan is the setting's, until the end: then all is given up.
func (w *world) plan(p planner.Problem) (planner.Plan, error) {
	if w.raising {
		return raised(p), nil
	}
	if !w.closing {
		plan, err := w.s.Plan(p)
		if err == nil {
			w.follow(p, plan)
		}
		return plan, err
	}
	var plan planner.Plan
	for _, j := range p.Jobs {
		plan.Waits = append(plan.Waits, planner.Wait{Job: j.Job.ID, Reason: "the simulation ends"})
	}
	for _, m := range p.Machines {
		plan.Releases = append(plan.Releases, planner.Release{Instance: m.ID, Offering: m.Offering, Reason: "the simulation ends"})
	}
	return plan, nil
}

// follow notes where jobs that adapt are sent, each time that it is elsewhere or with
// another batch.
func (w *world) follow(p planner.Problem, plan planner.Plan) {
	for _, a := range plan.Allocations {
		i := slices.IndexFunc(p.Jobs, func(j planner.JobState) bool { return j.Job.ID == a.Job })
		t, sold := w.s.Catalogue.Lookup(a.Config.Cloud, a.Config.Type)
		if i < 0 || !sold {
			continue
		}
		if _, elastic := planner.GoodputProfileOf(p.Jobs[i].Job.Curve); !elastic {
			continue
		}
		c := Course{At: w.now, Accelerator: t.Accelerator, Nodes: a.Config.Nodes, Replicas: a.Config.Replicas, Batch: a.Config.Batch}
		if done := w.courses[a.Job]; len(done) > 0 {
			last := done[len(done)-1]
			if last.Accelerator == c.Accelerator && last.Nodes == c.Nodes && last.Replicas == c.Replicas && last.Batch == c.Batch {
				continue
			}
		}
		speed, _ := p.Jobs[i].Job.Curve.Speed(c.Accelerator, c.Nodes, c.Replicas)
		perHour, _ := w.runner.trueSpeed(w.runner.jobs[a.Job], a.Config, c.Accelerator)
		c.Believed, c.True = rounded(speed.Goodput/3600), rounded(perHour/3600)
		w.courses[a.Job] = append(w.courses[a.Job], c)
	}
}
