package autoscale_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/store"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
	"github.com/goodfleet/goodfleet/provider/fake"
)

var start = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)

// testCatalogue holds a small and a large machine of one cloud and one of another.
func testCatalogue(t fataler) *provider.Catalogue {
	row := func(cloud, name, accelerator string, count, vcpu int, family string) provider.InstanceType {
		return provider.InstanceType{
			Cloud: cloud, Name: name, Accelerator: accelerator, Kind: provider.GPU, Count: count, AcceleratorMemGiB: 16,
			VCPU: vcpu, MemGiB: 8 * float64(vcpu), Hosts: 1, Arch: "amd64", QuotaFamily: family, Interconnect: "efa",
		}
	}
	c, err := provider.NewCatalogue([]provider.InstanceType{
		row("aws", "small", "V100", 1, 8, "P"),
		row("aws", "large", "V100", 4, 32, "P"),
		row("gcp", "slow", "K80", 2, 16, "K80"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func offering(cloud, zone, name string, market provider.Market) provider.Offering {
	region := map[string]string{"aws": "us-east-1", "gcp": "us-west1"}[cloud]
	return provider.Offering{Cloud: cloud, Region: region, Zone: zone, Type: name, Market: market}
}

var (
	smallSpot     = offering("aws", "use1-az1", "small", provider.Spot)
	smallSpotB    = offering("aws", "use1-az2", "small", provider.Spot)
	smallOnDemand = offering("aws", "use1-az1", "small", provider.OnDemand)
	largeSpot     = offering("aws", "use1-az1", "large", provider.Spot)
	slowSpot      = offering("gcp", "us-west1-b", "slow", provider.Spot)
)

// steps is a price list that changes at given instants.
type steps struct {
	rates map[provider.Offering]pricing.Rate
	later map[provider.Offering]pricing.Rate // from change on
	turn  time.Time
	jumps []jump // by time
}

// jump is a rate from an instant on.
type jump struct {
	at   time.Time
	of   provider.Offering
	rate pricing.Rate
}

func testPrices() *steps {
	return &steps{rates: map[provider.Offering]pricing.Rate{
		smallSpot:     pricing.DollarPerHour,
		smallSpotB:    pricing.DollarPerHour * 11 / 10,
		smallOnDemand: 3 * pricing.DollarPerHour,
		largeSpot:     4 * pricing.DollarPerHour,
		slowSpot:      pricing.DollarPerHour * 3 / 2,
	}}
}

func (s *steps) RateAt(o provider.Offering, at time.Time) (pricing.Rate, bool) {
	if rate, ok := s.later[o]; ok && !at.Before(s.turn) {
		return rate, true
	}
	rate, ok := s.rates[o]
	for _, j := range s.jumps {
		if j.of == o && !at.Before(j.at) {
			rate = j.rate
		}
	}
	return rate, ok
}

func (s *steps) ListRate(o provider.Offering, at time.Time) (pricing.Rate, bool) {
	o.Market = provider.OnDemand
	return s.RateAt(o, at)
}

func (s *steps) ChangesOf(o provider.Offering, from, to time.Time) []time.Time {
	var list []time.Time
	if _, ok := s.later[o]; ok && from.Before(s.turn) && s.turn.Before(to) {
		list = append(list, s.turn)
	}
	for _, j := range s.jumps {
		if j.of == o && from.Before(j.at) && j.at.Before(to) {
			list = append(list, j.at)
		}
	}
	return list
}

func (s *steps) Book(now time.Time) (*pricing.Book, error) {
	var quotes []pricing.Quote
	for o := range s.rates {
		if rate, ok := s.RateAt(o, now); ok {
			quotes = append(quotes, pricing.Quote{Offering: o, Rate: rate, At: start})
		}
	}
	return pricing.NewBook(now, quotes)
}

// perAccelerator is a curve of samples per hour and accelerator.
type perAccelerator map[string]float64

func (c perAccelerator) Speed(accelerator string, nodes, replicas int) (planner.Speed, bool) {
	each, ok := c[accelerator]
	across := math.Pow(0.9, float64(nodes-1)) // the network costs a tenth per further machine
	return planner.Speed{Goodput: each * across * float64(replicas)}, ok
}

// testJob wants so many hours on one V100, on one of some numbers of them.
func testJob(id planner.JobID, hours float64, replicas ...int) *planner.Job {
	return &planner.Job{
		ID: id, Team: "Vision", Family: "GPT", Submitted: start,
		Work:        planner.Work{Samples: 1000 * hours, Kind: planner.WorkExact},
		Resources:   planner.Resources{Replicas: planner.Replicas{Set: replicas}},
		Checkpoint:  planner.Checkpoint{Save: 30 * time.Second, Restore: time.Minute, Every: 10 * time.Minute},
		Curve:       perAccelerator{"V100": 1000, "K80": 250},
		ValueOfTime: pricing.DollarPerHour,
	}
}

type fataler interface{ Fatal(args ...any) }

// tester is what the world needs of a test, or of a random draw of one.
type tester interface {
	fataler
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// world is a little fleet: clouds in memory with faults, a runner, a store, a loop.
type world struct {
	t         tester
	now       time.Time
	catalogue *provider.Catalogue
	prices    *steps
	clouds    []*faulty
	runner    *testRunner
	store     *faultyStore
	cfg       autoscale.Config
	loop      *autoscale.Loop
	tokens    int
	submitted []planner.JobID
	rounds    []autoscale.Round
	restarted bool // no round since
	watchful  bool // the breaker stays open until the test resumes
	stable    bool // the plan never changes its mind
}

// setup says how a world differs from the plain one.
type setup struct {
	interruptions float64 // losses of single spot machines per hour; 0: none
	notice        time.Duration
	boot          time.Duration // 0: two minutes
	awsQuota      int           // vCPUs of spot; 0: not limited
	gcp           bool
	plan          autoscale.PlanFunc // nil: policy.Value
	settings      func(*autoscale.Settings)
	offerings     []provider.Offering // nil: all
	blocks        []fake.Block        // of aws
	store         autoscale.Store     // nil: in memory
}

func newWorld(t tester, s setup) *world {
	t.Helper()
	if s.boot == 0 {
		s.boot = 2 * time.Minute
	}
	if s.store == nil {
		s.store = store.NewMemory("fleet")
	}
	w := &world{t: t, now: start, catalogue: testCatalogue(t), prices: testPrices(), store: &faultyStore{Store: s.store}}
	offerings := s.offerings
	if offerings == nil {
		offerings = []provider.Offering{smallSpot, smallSpotB, smallOnDemand, largeSpot}
		if s.gcp {
			offerings = append(offerings, slowSpot)
		}
	}
	for _, name := range []string{"aws", "gcp"} {
		var sold []provider.Offering
		for _, o := range offerings {
			if o.Cloud == name {
				sold = append(sold, o)
			}
		}
		if len(sold) == 0 {
			continue
		}
		var quotas []provider.Quota
		if s.awsQuota > 0 && name == "aws" {
			quotas = []provider.Quota{{Class: provider.QuotaClass{Cloud: "aws", Region: "us-east-1", Family: "P", Market: provider.Spot}, Unit: provider.VCPUs, Limit: s.awsQuota}}
		}
		var blocks []fake.Block
		if name == "aws" {
			blocks = s.blocks
		}
		cloud, err := fake.New(fake.Config{
			Name: name, Blocks: blocks, Seed: 1, Start: start, Catalogue: w.catalogue, Offerings: sold, Quotas: quotas, InterruptionScale: 1,
			Climate: &fake.Climate{
				Law:        func(provider.Pool, provider.InstanceType) fake.Law { return fake.Law{} },
				Boot:       func(provider.InstanceType) fake.Boot { return fake.Boot{Mean: s.boot} },
				Depth:      func(provider.InstanceType) fake.Depth { return fake.Depth{Median: 100} },
				Notice:     fake.Notice{Lead: s.notice},
				OnePerHour: s.interruptions,
				Keep:       2 * time.Hour,
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		w.clouds = append(w.clouds, &faulty{Cloud: cloud, w: w})
	}
	w.runner = &testRunner{w: w, gangs: map[planner.JobID]*testGang{}, jobs: map[planner.JobID]*planner.Job{}}
	settings := autoscale.DefaultSettings()
	settings.Setup = 30 * time.Second
	settings.Boot = 2 * time.Minute
	if s.settings != nil {
		s.settings(&settings)
	}
	plan := s.plan
	w.stable = plan != nil
	if plan == nil {
		plan = func(p planner.Problem) (planner.Plan, error) { return policy.Value(p, policy.Settings{}) }
	}
	w.cfg = autoscale.Config{
		Store: w.store, Runner: w.runner, Catalogue: w.catalogue, Prices: w.prices,
		Plan: plan, Offerings: offerings, Settings: settings,
		Meter: func(charges []ledger.Charge) *ledger.Meter { return ledger.Resume(w.prices, ledger.Rules{}, charges) },
		Tokens: func() string {
			w.tokens++
			return fmt.Sprintf("token-%d", w.tokens)
		},
	}
	for _, c := range w.clouds {
		w.cfg.Clouds = append(w.cfg.Clouds, c)
	}
	w.restart()
	return w
}

// restart makes a new loop on what the store holds, as after a crash.
func (w *world) restart() {
	w.t.Helper()
	w.cfg.Hazards = pricing.NewHazards(pricing.HazardConfig{Catalogue: w.catalogue})
	w.cfg.Guard = budget.NewGuard(w.cfg.Settings.BurnCap)
	loop, err := autoscale.New(w.cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.loop, w.restarted = loop, true
}

// guard gives the loop a budget with a cap of its own.
func (w *world) guard(limit pricing.Rate) {
	w.t.Helper()
	w.cfg.Guard = budget.NewGuard(limit)
	loop, err := autoscale.New(w.cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.loop = loop
}

func (w *world) submit(jobs ...*planner.Job) {
	w.t.Helper()
	for _, j := range jobs {
		w.runner.jobs[j.ID] = j
		w.submitted = append(w.submitted, j.ID)
	}
	if err := w.loop.Submit(context.Background(), w.now, jobs...); err != nil {
		w.t.Fatal(err)
	}
}

// advance moves time, with what happens to machines and gangs on the way.
func (w *world) advance(to time.Time) {
	for {
		next := to
		for _, c := range w.clouds {
			if at, ok := c.Cloud.NextEvent(); ok && at.Before(next) {
				next = at
			}
		}
		for _, c := range w.clouds {
			c.Cloud.Advance(next)
		}
		w.runner.advance(next)
		if !next.Before(to) {
			break
		}
	}
	w.now = to
}

// round advances and runs a round.
func (w *world) round(after time.Duration) autoscale.Round {
	w.t.Helper()
	r, err := w.tryRound(after)
	if err != nil {
		w.t.Fatalf("round at %v: %v", w.now.Sub(start), err)
	}
	return r
}

func (w *world) tryRound(after time.Duration) (autoscale.Round, error) {
	w.advance(w.now.Add(after))
	for _, c := range w.clouds {
		c.calls = nil
		c.unlisted = false
	}
	r, err := w.loop.Round(context.Background(), w.now)
	w.rounds = append(w.rounds, r)
	w.check(r)
	if r.Breaker != "" && !w.watchful {
		if err := w.loop.Resume(context.Background(), w.now, "a person who sees no harm", true); err != nil {
			return r, err
		}
	}
	return r, err
}

// live lists the machines that the clouds really have.
func (w *world) live() []provider.Instance {
	var list []provider.Instance
	for _, c := range w.clouds {
		for _, inst := range c.Cloud.Machines() { // what is there, whatever a listing says
			if inst.Live() {
				list = append(list, inst)
			}
		}
	}
	return list
}

// job returns the record of a job.
func (w *world) job(id planner.JobID) autoscale.JobRecord {
	w.t.Helper()
	all, err := w.store.Jobs(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(r autoscale.JobRecord) bool { return r.Job.ID == id })
	if i < 0 {
		w.t.Fatalf("there is no job %s", id)
	}
	return all[i]
}

// until runs rounds a minute apart until done, or fails after so many.
func (w *world) until(rounds int, done func() bool) {
	w.t.Helper()
	for range rounds {
		if done() {
			return
		}
		w.round(time.Minute)
	}
	if !done() {
		w.t.Fatalf("not reached in %d rounds\n%s", rounds, w.history())
	}
}

func (w *world) allEnded() bool {
	for _, id := range w.submitted {
		if w.job(id).Ended.IsZero() {
			return false
		}
	}
	return len(w.live()) == 0
}

// history is all events as text, for failures.
func (w *world) history() string {
	events, err := w.store.Events(context.Background(), time.Time{}, time.Time{})
	if err != nil {
		return err.Error()
	}
	var text string
	for _, e := range events {
		text += fmt.Sprintf("%8v #%-3d %-13s %s %s", e.At.Sub(start), e.Round, e.Kind, e.Job, e.Instance)
		if e.Offering != nil {
			text += " " + e.Offering.String()
		}
		text += " " + e.Text + "\n"
	}
	return text
}

// kinds counts the events of each kind.
func (w *world) kinds() map[string]int {
	events, err := w.store.Events(context.Background(), time.Time{}, time.Time{})
	if err != nil {
		w.t.Fatal(err)
	}
	count := map[string]int{}
	for _, e := range events {
		count[e.Kind]++
	}
	return count
}
