package scenario

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/autoscale/store"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
	"github.com/goodfleet/goodfleet/provider/fake"
)

// monday is when scenarios begin that do not say.
var monday = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)

// types are the machines that scenarios may name.
var types = []provider.InstanceType{
	{Cloud: "aws", Name: "p3.2xlarge", Accelerator: "V100", Kind: provider.GPU, Count: 1, AcceleratorMemGiB: 16, VCPU: 8, MemGiB: 61, Hosts: 1, Arch: "amd64", QuotaFamily: "P"},
	{Cloud: "aws", Name: "g5.xlarge", Accelerator: "A10G", Kind: provider.GPU, Count: 1, AcceleratorMemGiB: 24, VCPU: 4, MemGiB: 16, Hosts: 1, Arch: "amd64", QuotaFamily: "G"},
	{Cloud: "aws", Name: "g5.2xlarge", Accelerator: "A10G", Kind: provider.GPU, Count: 1, AcceleratorMemGiB: 24, VCPU: 8, MemGiB: 32, Hosts: 1, Arch: "amd64", QuotaFamily: "G"},
	{Cloud: "aws", Name: "g4dn.4xlarge", Accelerator: "T4", Kind: provider.GPU, Count: 1, AcceleratorMemGiB: 16, VCPU: 16, MemGiB: 64, Hosts: 1, Arch: "amd64", QuotaFamily: "G"},
	{Cloud: "aws", Name: "g4dn.xlarge", Accelerator: "T4", Kind: provider.GPU, Count: 1, AcceleratorMemGiB: 16, VCPU: 4, MemGiB: 16, Hosts: 1, Arch: "amd64", QuotaFamily: "G"},
	{Cloud: "aws", Name: "p3.8xlarge", Accelerator: "V100", Kind: provider.GPU, Count: 4, AcceleratorMemGiB: 16, VCPU: 32, MemGiB: 244, Hosts: 1, Arch: "amd64", QuotaFamily: "P"},
	{Cloud: "aws", Name: "p5e.48xlarge", Accelerator: "H200", Kind: provider.GPU, Count: 8, AcceleratorMemGiB: 141, VCPU: 192, MemGiB: 2048, Hosts: 1, Arch: "amd64", QuotaFamily: "P5", Interconnect: "efa"},
	{Cloud: "aws", Name: "p5.48xlarge", Accelerator: "H100", Kind: provider.GPU, Count: 8, AcceleratorMemGiB: 80, VCPU: 192, MemGiB: 2048, Hosts: 1, Arch: "amd64", QuotaFamily: "P5", Interconnect: "efa"},
	{Cloud: "gcp", Name: "a2-highgpu-1g", Accelerator: "A100", Kind: provider.GPU, Count: 1, AcceleratorMemGiB: 40, VCPU: 12, MemGiB: 85, Hosts: 1, Arch: "amd64", QuotaFamily: "A100"},
	{Cloud: "gcp", Name: "a3-highgpu-8g", Accelerator: "H100", Kind: provider.GPU, Count: 8, AcceleratorMemGiB: 80, VCPU: 208, MemGiB: 1872, Hosts: 1, Arch: "amd64", QuotaFamily: "H100", Interconnect: "tcpx"},
}

// speeds are samples an hour of any job, by accelerator.
type speeds map[string]float64

func (s speeds) Speed(accelerator string, nodes, replicas int) (planner.Speed, bool) {
	each, ok := s[accelerator]
	return planner.Speed{Goodput: each * math.Pow(0.95, float64(nodes-1)) * float64(replicas)}, ok
}

// fleet is a scenario under way.
type fleet struct {
	t         *testing.T
	start     time.Time
	now       time.Time
	ahead     time.Duration // of the clock that the next round sees
	every     time.Duration
	boot      time.Duration
	settings  autoscale.Settings
	catalogue *provider.Catalogue
	sold      []provider.Offering
	quotes    []pricing.Quote
	ends      []pricing.End
	reserved  []autoscale.Reservation
	totals    []budget.Total
	file      string   // a price file
	unusable  []string // what of it is no price, and why
	quotas    []provider.Quota
	jobs      []*planner.Job
	policy    policy.Policy

	clouds []*fake.Cloud
	prices *pricing.History
	runner *sim.Runner
	store  *store.Memory
	loop   *autoscale.Loop
	config autoscale.Config // of the loop
	last   autoscale.Round  // that was made
	told   map[provider.InstanceID]bool
	most   int // machines at once
}

// read takes the lines of the sections fleet and jobs.
func (f *fleet) read(section, line string) error {
	w := strings.Fields(line)
	bad := fmt.Errorf("%s: %q is no line of it", section, line)
	number := func(i int) float64 {
		if i >= len(w) {
			return math.NaN()
		}
		n, err := strconv.ParseFloat(strings.TrimPrefix(w[i], "x"), 64)
		if err != nil {
			return math.NaN()
		}
		return n
	}
	span := func(i int) time.Duration {
		if i >= len(w) {
			return -1
		}
		d, err := time.ParseDuration(w[i])
		if err != nil {
			return -1
		}
		return d
	}
	switch {
	case section == "jobs" && len(w) >= 3: // NAME HOURS SIZE [at TIME]: hours on one V100
		hours, size := span(1).Hours(), number(2)
		if hours <= 0 || math.IsNaN(size) {
			return bad
		}
		asks, err := readAsks(w[3:])
		if err != nil {
			return err
		}
		many := 1
		name, times, ok := strings.Cut(w[0], "*")
		if ok {
			many, _ = strconv.Atoi(times)
		}
		for i := range many {
			id := name
			if ok {
				id = fmt.Sprintf("%s-%03d", name, i)
			}
			job := &planner.Job{
				ID: planner.JobID(id), Team: "Vision", Family: "GPT", Submitted: f.start, ValueOfTime: 2 * pricing.DollarPerHour,
				Work:       planner.Work{Samples: 1000 * hours, Kind: planner.WorkExact},
				Resources:  planner.Resources{Replicas: planner.Replicas{Set: []int{int(size)}}, Ethernet: true},
				Checkpoint: planner.Checkpoint{Save: 20 * time.Second, Restore: 30 * time.Second, Every: 5 * time.Minute},
				Curve:      speeds{"V100": 1000, "A10G": 800, "H100": 5000, "A100": 2000, "H200": 6000, "T4": 300},
			}
			for _, ask := range asks {
				ask(job)
			}
			f.jobs = append(f.jobs, job)
		}
	case w[0] == "sell" && len(w) == 3: // OFFERING USD, or OFFERING unpriced
		o, err := offering(w[1])
		if err != nil {
			return err
		}
		f.sold = append(f.sold, o)
		if w[2] != "unpriced" {
			f.quotes = append(f.quotes, pricing.Quote{Offering: o, Rate: pricing.RateOf(number(2)), At: f.start.Add(-time.Hour), Source: "test"})
		}
	case w[0] == "quota" && len(w) == 4: // FAMILY MARKET VCPUS
		market, err := provider.ParseMarket(w[2])
		if err != nil {
			return err
		}
		f.quotas = append(f.quotas, provider.Quota{Class: provider.QuotaClass{Cloud: "aws", Region: "us-east-1", Family: w[1], Market: market}, Unit: provider.VCPUs, Limit: int(number(3))})
	case w[0] == "boot" && span(1) > 0:
		f.boot = span(1)
	case w[0] == "round" && span(1) > 0:
		f.every = span(1)
	case w[0] == "hold" && span(1) > 0:
		f.settings.Hold = span(1)
	case w[0] == "life" && span(1) > 0:
		f.settings.MaxLife = span(1)
	case w[0] == "growth":
		f.settings.MaxGrowth = int(number(1))
	case w[0] == "agents":
		f.settings.Agents = true
	default:
		return f.readDecision(section, line, w)
	}
	return nil
}

// begin builds the fleet of what was read.
func (f *fleet) begin(lines string) error {
	scene, err := fake.ParseScenario("cloud", lines)
	if err != nil {
		return err
	}
	for _, name := range []string{"aws", "gcp"} {
		cfg := fake.Config{
			Name: name, Seed: 1, Start: f.start, Catalogue: f.catalogue, InterruptionScale: 1, Scenario: scene,
			Climate: &fake.Climate{
				Law:    func(provider.Pool, provider.InstanceType) fake.Law { return fake.Law{} },
				Boot:   func(provider.InstanceType) fake.Boot { return fake.Boot{Mean: f.boot} },
				Depth:  func(provider.InstanceType) fake.Depth { return fake.Depth{Median: 1000} },
				Notice: fake.Notice{Lead: 2 * time.Minute}, Keep: 4 * time.Hour,
			},
		}
		for _, o := range f.sold {
			if o.Cloud == name {
				cfg.Offerings = append(cfg.Offerings, o)
			}
		}
		for _, r := range f.reserved {
			if r.Offering.Cloud == name {
				cfg.Offerings = append(cfg.Offerings, r.Offering)
				cfg.Blocks = append(cfg.Blocks, fake.Block{Offering: r.Offering, Count: r.Count, From: r.From, Until: r.Until, Drain: r.Drain, Notice: 10 * time.Minute})
			}
		}
		if len(cfg.Offerings) == 0 {
			continue
		}
		for _, q := range f.quotas {
			if q.Class.Cloud == name {
				cfg.Quotas = append(cfg.Quotas, q)
			}
		}
		cloud, err := fake.New(cfg)
		if err != nil {
			return err
		}
		f.clouds = append(f.clouds, cloud)
	}
	if err := f.readPrices(); err != nil {
		return err
	}
	if f.prices, err = pricing.NewHistory(f.quotes, f.ends); err != nil {
		return err
	}
	if f.runner, err = sim.NewRunner(sim.RunnerConfig{Start: f.start, Catalogue: f.catalogue}); err != nil {
		return err
	}
	f.runner.Add(f.jobs...)
	f.store = store.NewMemory("fleet")
	f.settings.Parallel = 1
	ids := rand.New(rand.NewPCG(1, 1))
	cfg := autoscale.Config{
		Store: f.store, Runner: f.runner, Catalogue: f.catalogue, Prices: f.prices, Offerings: f.sold, Reservations: f.reserved, Totals: f.totals, Settings: f.settings,
		Hazards: pricing.NewHazards(pricing.HazardConfig{Catalogue: f.catalogue}), Guard: budget.NewGuard(0),
		Meter: func(charges []ledger.Charge) *ledger.Meter { return ledger.Resume(f.prices, ledger.Rules{}, charges) },
		Plan:  func(p planner.Problem) (planner.Plan, error) { return f.policy(p, policy.Settings{}) },
		Tokens: func() string {
			var id [16]byte
			for i := range id {
				id[i] = byte(ids.Uint32())
			}
			return hex.EncodeToString(id[:])
		},
	}
	for _, c := range f.clouds {
		cfg.Clouds = append(cfg.Clouds, c)
	}
	f.config = cfg
	f.loop, err = autoscale.New(cfg)
	return err
}

// machines are those of this fleet that there ever were, as they really are.
func (f *fleet) machines() []provider.Instance {
	var list []provider.Instance
	for _, c := range f.clouds {
		for _, m := range c.Machines() {
			if m.Tags.Fleet == "fleet" {
				list = append(list, m)
			}
		}
	}
	return list
}

// live are those that are here, or on their way in or out.
func (f *fleet) live() []provider.Instance {
	var list []provider.Instance
	for _, m := range f.machines() {
		if m.State != provider.Ended {
			list = append(list, m)
		}
	}
	return list
}

// step submits what is due, runs a round, and lets time pass until the next.
func (f *fleet) step() {
	f.t.Helper()
	ctx := context.Background()
	for _, j := range f.jobs {
		if since := f.now.Sub(j.Submitted); since >= 0 && since < f.every {
			if err := f.loop.Submit(ctx, f.now, j); err != nil {
				f.t.Fatal(err)
			}
		}
	}
	round, err := f.loop.Round(ctx, f.now.Add(f.ahead))
	if err != nil {
		f.t.Errorf("round at %v: %v", f.now.Sub(f.start), err)
	}
	f.last, f.ahead = round, 0
	f.most = max(f.most, len(f.live()))
	for to := f.now.Add(f.every); f.now.Before(to); {
		next := to
		for _, c := range f.clouds {
			if at, ok := c.NextEvent(); ok && at.After(f.now) && at.Before(next) {
				next = at
			}
		}
		for _, c := range f.clouds {
			c.Advance(next)
		}
		for _, m := range f.machines() {
			if m.State == provider.Ended && !f.told[m.ID] {
				f.told[m.ID] = true
				f.runner.Lose(m.ID, m.Ended)
			}
		}
		f.runner.Advance(next)
		f.now = next
	}
}
