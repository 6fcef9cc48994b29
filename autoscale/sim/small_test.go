package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// smallTypes are the machines of a small world, and their on-demand rates in USD
// per hour.
var smallTypes = []struct {
	cloud, region, name string
	zones               []string
	rate                float64
}{
	{"aws", "us-east-1", "p3.2xlarge", []string{"use1-az1", "use1-az2"}, 3.06},
	{"aws", "us-east-1", "p3.8xlarge", []string{"use1-az1", "use1-az2"}, 12.24},
	{"aws", "us-east-1", "p2.xlarge", []string{"use1-az1"}, 0.90},
	{"gcp", "us-central1", "n1-standard-8+p100x2", []string{"us-central1-c"}, 3.30},
	{"gcp", "us-central1", "n1-standard-8+v100x1", []string{"us-central1-a"}, 2.86},
}

// speeds is a curve by accelerator, in samples per hour and replica; the work of
// more than one machine is slower.
type speeds map[string]float64

func (s speeds) Speed(accelerator string, nodes, replicas int) (planner.Speed, bool) {
	each, ok := s[accelerator]
	if !ok {
		return planner.Speed{}, false
	}
	return planner.Speed{Goodput: each * math.Pow(float64(replicas), 0.95) * math.Pow(0.9, float64(nodes-1))}, true
}

// smallSetting is a world of five types and a few jobs over half a day, with spot
// prices that wander: all of it from the seed.
func smallSetting(t testing.TB, seed uint64, jobs int) Setting {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0x5e77))
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	s := Setting{
		Variant: "small", Seed: seed, Start: start, Catalogue: catalogue, Horizon: 48 * time.Hour, Check: true,
		Plan: func(p planner.Problem) (planner.Plan, error) { return policy.Value(p, policy.Settings{}) },
		Loop: autoscale.Settings{SkipUnchanged: true, Book: 30 * time.Minute, Setup: time.Minute},
	}
	var quotes []pricing.Quote
	quote := func(o provider.Offering, at time.Time, usd float64) {
		quotes = append(quotes, pricing.Quote{Offering: o, Rate: pricing.RateOf(usd), At: at, Source: "test"})
	}
	for _, kind := range smallTypes {
		for _, zone := range kind.zones {
			o := provider.Offering{Cloud: kind.cloud, Region: kind.region, Zone: zone, Type: kind.name, Market: provider.OnDemand}
			quote(o, start.Add(-time.Hour), kind.rate)
			s.Offerings = append(s.Offerings, o)
			o.Market = provider.Spot
			s.Offerings = append(s.Offerings, o)
			rate := kind.rate * (0.3 + 0.2*rng.Float64())
			for at := start.Add(-time.Hour); at.Before(start.Add(72 * time.Hour)); at = at.Add(time.Duration(20+rng.IntN(400)) * time.Minute) {
				quote(o, at, rate)
				rate = min(kind.rate, rate*math.Exp(0.1*rng.NormFloat64()))
			}
		}
	}
	if s.Prices, err = pricing.NewHistory(quotes, nil); err != nil {
		t.Fatal(err)
	}
	for i := range jobs {
		size := []int{1, 1, 2, 4}[rng.IntN(4)]
		hours := 0.2 + 3*rng.Float64()
		job := &planner.Job{
			ID: planner.JobID(fmt.Sprintf("job-%d", i)), Team: []string{"Vision", "NLP"}[i%2], Family: "test",
			Submitted: start.Add(time.Duration(rng.IntN(8*60)) * time.Minute),
			Work:      planner.Work{Samples: math.Round(1000 * hours * float64(size)), Kind: planner.WorkExact},
			Resources: planner.Resources{Replicas: planner.Replicas{Set: []int{size}}, Ethernet: true},
			Curve:     speeds{"K80": 150 + 100*rng.Float64(), "P100": 400 + 200*rng.Float64(), "V100": 1000},
			Checkpoint: planner.Checkpoint{
				Save: time.Duration(rng.IntN(180)) * time.Second, Restore: time.Duration(rng.IntN(300)) * time.Second,
			},
		}
		if rng.IntN(2) == 0 {
			job.Checkpoint.Every = time.Duration(5+rng.IntN(60)) * time.Minute
		}
		s.Jobs = append(s.Jobs, job)
	}
	return s
}

// limit puts a limit on the machines of one family and market, unless it has one.
func limit(s *Setting, cloud, name string, market provider.Market, machines int) {
	for _, o := range s.Offerings {
		if o.Cloud != cloud || o.Type != name || o.Market != market {
			continue
		}
		t, _ := s.Catalogue.Lookup(cloud, name)
		unit := provider.VCPUs
		if cloud == "gcp" {
			unit = provider.Accelerators
		}
		class := provider.QuotaClassOf(o, t)
		if !slices.ContainsFunc(s.Quotas, func(q provider.Quota) bool { return q.Class == class }) {
			s.Quotas = append(s.Quotas, provider.Quota{Class: class, Unit: unit, Limit: machines * unit.Use(t)})
		}
		return
	}
}
