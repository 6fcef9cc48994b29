package crash

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
	"github.com/goodfleet/goodfleet/provider/fake"
)

const (
	fleetID = "fleet-under-test"
	grace   = 4 * time.Minute // before an orphan is swept
	horizon = 2 * time.Hour   // after which nothing more goes wrong
	limit   = 16 * time.Hour  // by which everything must have ended
)

var start = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)

// sizes are the machines that are sold: a small one, a large one, one of another
// cloud, and a slice of several hosts.
var sizes = []struct {
	cloud, region, name, accelerator string
	kind                             provider.AcceleratorKind
	count, vcpu, hosts               int
	family                           string
	zones                            []string
	rate                             float64
}{
	{"aws", "us-east-1", "small", "V100", provider.GPU, 1, 8, 1, "P", []string{"use1-az1", "use1-az2"}, 3},
	{"aws", "us-east-1", "large", "V100", provider.GPU, 4, 32, 1, "P", []string{"use1-az1"}, 12},
	{"gcp", "us-west1", "slow", "K80", provider.GPU, 2, 16, 1, "K80", []string{"us-west1-b"}, 1.4},
	{"gcp", "us-west1", "slice", "TPU v5e", provider.TPU, 8, 96, 2, "TPU", []string{"us-west1-b"}, 9.6},
}

// block is capacity that is paid ahead.
var block = provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az2", Type: "large", Market: provider.Reserved, Reservation: "cb-1"}

// scenario is one world: what is drawn from the seed.
type scenario struct {
	seed   uint64
	faults fake.Faults
	lines  string       // said besides
	cap    pricing.Rate // of the whole fleet; 0: none
	bug    bug
	store  autoscale.Store
}

// world is a scenario under way. Clouds, runner and store outlive the loop.
type world struct {
	s         scenario
	rng       *rand.Rand
	now       time.Time
	catalogue *provider.Catalogue
	prices    *pricing.History
	clouds    []*fake.Cloud
	runner    *sim.Runner
	store     *mortalStore
	jobs      []*planner.Job
	bug       bug

	killer *killer
	loop   *autoscale.Loop
	lives  int
	killed map[string]int // by call and moment
	rounds int
	opened int // rounds that the breaker has been open

	requests map[string]provider.LaunchRequest                       // by token
	seen     map[provider.InstanceID]time.Time                       // first shown to any loop
	ends     map[provider.InstanceID]provider.Instance               // that the runner was told of
	looks    map[provider.InstanceID]struct{ first, last time.Time } // complete rounds that it was listed in
	listed   []provider.Instance                                     // in the round under way
	halted   bool                                                    // the last round changed nothing
	found    []string                                                // what must not be
	tokens   *rand.Rand
}

func (w *world) fail(format string, args ...any) {
	if len(w.found) < 8 {
		w.found = append(w.found, fmt.Sprintf("%v: ", w.now.Sub(start))+fmt.Sprintf(format, args...))
	}
}

func newCatalogue() (*provider.Catalogue, error) {
	var types []provider.InstanceType
	for _, s := range sizes {
		types = append(types, provider.InstanceType{
			Cloud: s.cloud, Name: s.name, Accelerator: s.accelerator, Kind: s.kind, Count: s.count, AcceleratorMemGiB: 16,
			VCPU: s.vcpu, MemGiB: 8 * float64(s.vcpu), Hosts: s.hosts, Arch: "amd64", QuotaFamily: s.family, Interconnect: "efa",
		})
	}
	return provider.NewCatalogue(types)
}

func offerings() (list []provider.Offering, quotes []pricing.Quote) {
	quote := func(o provider.Offering, usd float64) {
		list = append(list, o)
		quotes = append(quotes, pricing.Quote{Offering: o, Rate: pricing.RateOf(usd), At: start.Add(-time.Hour), Source: "test"})
	}
	for _, s := range sizes {
		for i, zone := range s.zones {
			o := provider.Offering{Cloud: s.cloud, Region: s.region, Zone: zone, Type: s.name, Market: provider.OnDemand}
			quote(o, s.rate)
			o.Market = provider.Spot
			quote(o, s.rate*(0.35+0.03*float64(i)))
		}
	}
	quote(block, 9)
	return list, quotes
}

func newWorld(s scenario) (*world, error) {
	w := &world{
		s: s, now: start, bug: s.bug, rng: rand.New(rand.NewPCG(s.seed, 1)), tokens: rand.New(rand.NewPCG(s.seed, 2)),
		killed: map[string]int{}, requests: map[string]provider.LaunchRequest{}, seen: map[provider.InstanceID]time.Time{},
		ends: map[provider.InstanceID]provider.Instance{}, looks: map[provider.InstanceID]struct{ first, last time.Time }{},
	}
	var err error
	if w.catalogue, err = newCatalogue(); err != nil {
		return nil, err
	}
	sold, quotes := offerings()
	if err := w.newClouds(sold); err != nil {
		return nil, err
	}
	if w.prices, err = pricing.NewHistory(w.moved(quotes), nil); err != nil {
		return nil, err
	}
	if w.runner, err = sim.NewRunner(sim.RunnerConfig{Start: start, Catalogue: w.catalogue}); err != nil {
		return nil, err
	}
	w.jobs = drawJobs(w.rng)
	w.runner.Add(w.jobs...)
	w.store = &mortalStore{Store: s.store, w: w}
	return w, w.revive(newKiller(-1, before))
}

func (w *world) newClouds(sold []provider.Offering) error {
	scene, err := fake.ParseScenario("lines", w.s.lines)
	if err != nil {
		return err
	}
	for _, name := range []string{"aws", "gcp"} {
		cfg := fake.Config{
			Name: name, Seed: w.s.seed, Start: start, Catalogue: w.catalogue, InterruptionScale: 1, Scenario: scene, Faults: w.s.faults,
			Climate: &fake.Climate{
				Law: func(provider.Pool, provider.InstanceType) fake.Law { return fake.Law{} },
				Boot: func(provider.InstanceType) fake.Boot {
					return fake.Boot{Mean: 80 * time.Second, Spread: 10 * time.Second}
				},
				Depth:      func(provider.InstanceType) fake.Depth { return fake.Depth{Median: 12} },
				Notice:     fake.Notice{Lead: 2 * time.Minute, Missing: 0.2},
				OnePerHour: 0.15, Keep: 4 * time.Hour,
			},
		}
		for _, o := range sold {
			if o.Cloud == name {
				cfg.Offerings = append(cfg.Offerings, o)
			}
		}
		if name == "aws" {
			cfg.Blocks = []fake.Block{{Offering: block, Count: 2, From: start.Add(10 * time.Minute), Until: start.Add(80 * time.Minute), Drain: 20 * time.Minute, Notice: 10 * time.Minute}}
			for _, market := range []provider.Market{provider.Spot, provider.OnDemand} {
				cfg.Quotas = append(cfg.Quotas, provider.Quota{Class: provider.QuotaClass{Cloud: "aws", Region: "us-east-1", Family: "P", Market: market}, Unit: provider.VCPUs, Limit: 128})
			}
		}
		cloud, err := fake.New(cfg)
		if err != nil {
			return err
		}
		w.clouds = append(w.clouds, cloud)
	}
	return nil
}

// moved adds to quotes what the clouds' scripts do to prices.
func (w *world) moved(quotes []pricing.Quote) []pricing.Quote {
	last := map[provider.Offering]pricing.Rate{}
	for _, q := range quotes {
		last[q.Offering] = q.Rate
	}
	for _, c := range w.clouds {
		for _, change := range c.PriceChanges() {
			if change.Times == 0 {
				continue
			}
			rate := pricing.Rate(math.Round(float64(last[change.Offering]) * change.Times))
			last[change.Offering] = rate
			same := func(q pricing.Quote) bool { return q.Offering == change.Offering && q.At.Equal(change.At) }
			if i := slices.IndexFunc(quotes, same); i >= 0 {
				quotes[i].Rate = rate // twice in one instant: the last counts
				continue
			}
			quotes = append(quotes, pricing.Quote{Offering: change.Offering, Rate: rate, At: change.At, Source: "test"})
		}
	}
	return quotes
}

// speed is samples an hour, by accelerator.
type speed map[string]float64

func (s speed) Speed(accelerator string, nodes, replicas int) (planner.Speed, bool) {
	each, ok := s[accelerator]
	return planner.Speed{Goodput: each * math.Pow(0.9, float64(nodes-1)) * float64(replicas)}, ok
}

func drawJobs(rng *rand.Rand) []*planner.Job {
	var jobs []*planner.Job
	for n := range 2 + rng.IntN(4) {
		j := &planner.Job{
			ID: planner.JobID(fmt.Sprintf("job-%d", n)), Team: "Vision", Family: "GPT", Submitted: start.Add(time.Duration(rng.IntN(60)) * time.Minute),
			Work:        planner.Work{Samples: 1000 * (0.2 + rng.Float64()), Kind: planner.WorkExact},
			Checkpoint:  planner.Checkpoint{Save: 20 * time.Second, Restore: 30 * time.Second, Every: 5 * time.Minute},
			ValueOfTime: pricing.RateOf(1 + 6*rng.Float64()),
			Curve:       speed{"V100": 1000, "K80": 300, "TPU v5e": 400},
		}
		set := [][]int{{1}, {1, 2}, {2}, {4}, {2, 4, 8}}[rng.IntN(5)]
		if rng.IntN(6) == 0 {
			set, j.Resources.Accelerators = []int{8}, []string{"TPU v5e"}
		}
		j.Resources.Replicas = planner.Replicas{Set: set}
		jobs = append(jobs, j)
	}
	slices.SortFunc(jobs, func(a, b *planner.Job) int { return a.Submitted.Compare(b.Submitted) })
	return jobs
}

// settings are those of the loop in every life.
func (w *world) settings() autoscale.Settings {
	return autoscale.Settings{
		Hold: 5 * time.Minute, Boot: 80 * time.Second, Setup: 20 * time.Second,
		IntentMax: 90 * time.Second, OrphanGrace: w.bug.grace(grace), Agents: true, MaxFailures: 1000, Parallel: 1, BurnCap: w.s.cap,
		Notices: map[string]time.Duration{"aws": 2 * time.Minute, "gcp": 2 * time.Minute},
	}
}

// revive starts the loop on what the store holds.
func (w *world) revive(k *killer) error {
	w.killer = k
	sold, _ := offerings()
	cfg := autoscale.Config{
		Store: w.store, Runner: &mortalRunner{w}, Catalogue: w.catalogue, Prices: w.prices,
		Hazards: pricing.NewHazards(pricing.HazardConfig{Catalogue: w.catalogue}), Guard: budget.NewGuard(w.s.cap),
		Meter:     func(charges []ledger.Charge) *ledger.Meter { return ledger.Resume(w.prices, ledger.Rules{}, charges) },
		Plan:      func(p planner.Problem) (planner.Plan, error) { return policy.Value(p, policy.Settings{}) },
		Offerings: sold, Settings: w.settings(), Tokens: w.bug.tokens(w),
	}
	for _, c := range w.clouds {
		cfg.Clouds = append(cfg.Clouds, &mortalCloud{Cloud: c, w: w})
	}
	loop, err := autoscale.New(cfg)
	if err != nil {
		return err
	}
	w.loop = loop
	w.lives++
	return nil
}

// advance moves clouds and gangs to an instant, event by event.
func (w *world) advance(to time.Time) {
	for w.now.Before(to) {
		next := to
		for _, c := range w.clouds {
			if at, ok := c.NextEvent(); ok && at.After(w.now) && at.Before(next) {
				next = at
			}
		}
		for _, c := range w.clouds {
			c.Advance(next)
		}
		for _, m := range w.machines() {
			if _, told := w.ends[m.ID]; m.State == provider.Ended && !told {
				w.ends[m.ID] = m
				w.runner.Lose(m.ID, m.Ended)
			}
		}
		w.runner.Advance(next)
		w.now = next
	}
}

// machines are all of this fleet that there ever were, as they really are.
func (w *world) machines() []provider.Instance {
	var list []provider.Instance
	for _, c := range w.clouds {
		for _, m := range c.Machines() {
			if m.Tags.Fleet == fleetID {
				list = append(list, m)
			}
		}
	}
	return list
}

// submit hands in the jobs whose time has come and that the store does not hold.
func (w *world) submit(ctx context.Context) error {
	records, err := w.store.Jobs(ctx)
	if err != nil {
		return err
	}
	var due []*planner.Job
	for _, j := range w.jobs {
		known := slices.ContainsFunc(records, func(r autoscale.JobRecord) bool { return r.Job.ID == j.ID })
		if !known && !j.Submitted.After(w.now) {
			due = append(due, j)
		}
	}
	if len(due) == 0 {
		return nil
	}
	return w.loop.Submit(ctx, w.now, due...)
}

// history is what the store tells of a run, for failures.
func (w *world) history(last int) string {
	events, err := w.store.Events(context.Background(), time.Time{}, time.Time{})
	if err != nil {
		return err.Error()
	}
	events = events[max(0, len(events)-last):]
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%8v #%-3d %-13s %s %s %s\n", e.At.Sub(start), e.Round, e.Kind, e.Job, e.Instance, e.Text)
	}
	return b.String()
}
