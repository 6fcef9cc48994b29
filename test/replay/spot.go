package main

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/placement"
	"github.com/goodfleet/goodfleet/autoscale/report"
	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/planner/throughput"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
	"github.com/goodfleet/goodfleet/provider/fake"
)

// spotGround is jobs on spot machines at recorded prices: so many copies of a job that
// takes Days on one V100, the first at the day of the seed after spotBegin. The measure
// is what they cost over what the same jobs cost on the zone of the region whose
// p3.2xlarge are cheapest at the start.
type spotGround struct {
	Region  string `json:"region"` // of AWS
	Azure   string `json:"azure"`  // region of Azure beside it; "": none
	Days    float64
	Copies  int
	Weather string // "still": machines are there at once and stay; "measured": they boot, are taken and are short as those that were watched
}

const costShare = "cost over that of the cheapest type's zone"

// Numbers of the spot runs.
const (
	spotRound   = 10 * time.Minute
	spotSetup   = 140 * time.Second // as goodfleet simulate has it
	spotSave    = 15 * time.Second
	spotRestore = time.Minute
	baseline    = "p3.2xlarge"
	centPerHour = pricing.DollarPerHour / 100 // what an hour is worth: next to nothing, so that cost decides
)

// spotBegin is the first day for which prices of all clouds are there.
var spotBegin = time.Date(2020, time.February, 24, 0, 0, 0, 0, time.UTC)

// validate reports the first thing that is wrong.
func (g *spotGround) validate() error {
	if g.Region == "" || !(g.Days > 0) || g.Copies < 1 || g.Weather != "still" && g.Weather != "measured" {
		return fmt.Errorf("spot %+v: want a region, days, copies, and the weather still or measured", *g)
	}
	return nil
}

// runSpot runs one seed of a point twice: free to choose, and on the baseline.
func runSpot(ctx context.Context, data string, e experiment, p point, seed int) (result, error) {
	w, err := readSpotWorld(data, e.Spot)
	if err != nil {
		return result{}, err
	}
	speeds, perDay, err := readSpotCurve(data, p.Model)
	if err != nil {
		return result{}, err
	}
	start := spotBegin.Add(time.Duration(seed) * 24 * time.Hour)
	zone, err := w.cheapest(start)
	if err != nil {
		return result{}, err
	}
	how := e.Scheduler
	if p.rule != nil {
		how = *p.rule
	}
	s, err := w.setting(e.Spot, how.Peer, start, uint64(seed))
	if err != nil {
		return result{}, err
	}
	worth := centPerHour
	if p.Value > 0 {
		worth = pricing.Rate(math.Round(p.Value * float64(pricing.DollarPerHour)))
	}
	for i := range e.Spot.Copies {
		s.Jobs = append(s.Jobs, &planner.Job{
			ID: planner.JobID(fmt.Sprintf("job-%d", i)), Family: p.Model, Submitted: start, Curve: speeds, ValueOfTime: worth,
			Work:       planner.Work{Samples: e.Spot.Days * perDay, Kind: planner.WorkExact},
			Resources:  planner.Resources{Replicas: planner.Replicas{Set: []int{1}}},
			Checkpoint: planner.Checkpoint{Save: spotSave, Restore: spotRestore},
		})
	}
	free, err := sim.Simulate(ctx, s)
	if err != nil {
		return result{}, err
	}
	s.Buy = func(o provider.Offering) bool { return o == zone }
	base, err := sim.Simulate(ctx, s)
	if err != nil {
		return result{}, err
	}
	if free.Unfinished+base.Unfinished > 0 {
		return result{}, fmt.Errorf("%d jobs are not done", free.Unfinished+base.Unfinished)
	}
	trade := curve{name: tradeCurve, points: []report.ChartPoint{{X: free.AvgJCTHours, Y: roundedValue(free.Cost.Dollars())}}}
	drawn := []curve{trade}
	if p.Drawn && seed == p.seeds()[0] {
		drawn = append(drawn, spendOf(&free)...)
	}
	ended := newEnds()
	for _, j := range append(free.JobOutcomes, base.JobOutcomes...) {
		ended.add(string(j.Job), j.Ended.Sub(start))
	}
	return result{value: roundedValue(free.Cost.Dollars() / base.Cost.Dollars()), rounds: free.Rounds + base.Rounds, hash: ended.hash(), curves: drawn}, nil
}

// spotWorld is what was sold, and for how much.
type spotWorld struct {
	catalogue *provider.Catalogue
	prices    *pricing.History
	offerings []provider.Offering
	region    string
}

// cheapest is the offering of the baseline's type in the region that costs least.
func (w *spotWorld) cheapest(at time.Time) (best provider.Offering, err error) {
	least := pricing.Rate(math.MaxInt64)
	for _, o := range w.offerings {
		if rate, ok := w.prices.RateAt(o, at); ok && o.Type == baseline && o.Region == w.region && rate < least {
			best, least = o, rate
		}
	}
	if best.Type == "" {
		return best, fmt.Errorf("no price of %s in %s at %s is known", baseline, w.region, at.Format(time.DateOnly))
	}
	return best, nil
}

// setting is a simulation in this world, without jobs.
func (w *spotWorld) setting(g *spotGround, rule string, start time.Time, seed uint64) (sim.Setting, error) {
	rules := map[string]policy.Policy{"": policy.Value, "cheapest-hour": policy.Blind}
	plan, ok := rules[rule]
	if !ok {
		return sim.Setting{}, fmt.Errorf("there is no rule %q for spot machines", rule)
	}
	s := sim.Setting{
		Variant: "spot", Seed: seed, Start: start, Horizon: 120 * 24 * time.Hour, Catalogue: w.catalogue, Prices: w.prices, Offerings: w.offerings,
		Plan: func(p planner.Problem) (planner.Plan, error) {
			settings := policy.Settings{Turns: placement.Turns}
			settings.Limits.Quick = true
			return plan(p, settings)
		},
		Loop: autoscale.Settings{Round: spotRound, Book: bookEvery, SkipUnchanged: true, MaxMoves: anyNumber},
	}
	s.Loop.Setup = spotSetup
	s.Climate = func(string) (fake.Climate, error) { return fake.Measured("aws") } // nobody published how Azure's come and go: as EC2's
	if g.Weather == "still" {
		s.Loop.Setup = 0
		s.Hazards = pricing.HazardConfig{AWSSpotPerHour: 1e-6, GCPSpotPerHour: 1e-6, SpotOnePerHour: 1e-6}
		s.Climate = func(string) (fake.Climate, error) { return sim.Still(), nil }
	}
	return s, nil
}

// readSpotWorld reads the prices of a region of AWS, and of Azure beside it.
func readSpotWorld(data string, g *spotGround) (*spotWorld, error) {
	embedded, err := provider.EmbeddedCatalogue()
	if err != nil {
		return nil, err
	}
	w := &spotWorld{region: g.Region}
	types := append([]provider.InstanceType(nil), embedded.Types()...)
	var quotes []pricing.Quote
	quote := func(o provider.Offering, at time.Time, text string) error {
		rate, err := pricing.ParseRate(strings.TrimPrefix(text, "$"))
		if err == nil {
			quotes = append(quotes, pricing.Quote{Offering: o, Rate: rate, At: at, Source: "training_on_a_dime"})
		}
		return err
	}
	sold := map[provider.Offering]bool{}
	err = spotRows(data, "aws-spot-prices.csv.gz", []string{"timestamp", "zone", "instance_type", "product", "usd_per_hour"}, func(f []string) error {
		if !strings.HasPrefix(f[1], g.Region) {
			return nil
		}
		at, err := time.Parse(time.RFC3339, f[0])
		if err != nil {
			return err
		}
		o := provider.Offering{Cloud: "aws", Region: g.Region, Zone: f[1], Type: f[2], Market: provider.Spot}
		if _, known := embedded.Lookup("aws", o.Type); !known {
			return fmt.Errorf("instance_type %q: the catalogue has no such type", o.Type)
		}
		if !sold[o] {
			sold[o] = true
			w.offerings = append(w.offerings, o)
		}
		return quote(o, at, f[4])
	})
	if err != nil {
		return nil, err
	}
	if g.Azure != "" {
		azure, err := azureTypes(data)
		if err != nil {
			return nil, err
		}
		var names []string
		err = spotRows(data, "azure-cost-"+g.Azure+".csv.gz", nil, func(f []string) error {
			if names == nil {
				names = f
				for _, name := range names[1:] {
					t, ok := azure[name]
					if !ok {
						return fmt.Errorf("%q: the mapping of instances does not name it", name)
					}
					types = append(types, t)
					w.offerings = append(w.offerings, azureOffering(g.Azure, name))
				}
				return nil
			}
			at, err := time.Parse("1/2/2006", f[0])
			if err != nil {
				return err
			}
			for i, text := range f[1:] {
				if text == "" {
					continue
				}
				if err := quote(azureOffering(g.Azure, names[i+1]), at, text); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if w.catalogue, err = provider.NewCatalogue(types); err != nil {
		return nil, err
	}
	w.prices, err = pricing.NewHistory(quotes, nil)
	return w, err
}

func azureOffering(region, name string) provider.Offering {
	return provider.Offering{Cloud: "azure", Region: region, Zone: region, Type: name, Market: provider.Spot}
}

// azureTypes are Azure's machines by name. Of their hosts nothing is told: they limit
// nothing.
func azureTypes(data string) (map[string]provider.InstanceType, error) {
	types := map[string]provider.InstanceType{}
	memory := map[string]float64{"K80": 12, "P100": 16, "V100": 16}
	err := spotRows(data, "azure-instance_mapping.csv.gz", []string{"Instance", "GPU type", "# GPUs"}, func(f []string) error {
		n, err := strconv.Atoi(f[2])
		if err != nil || memory[f[1]] == 0 {
			return fmt.Errorf("%v: want a known accelerator and how many", f)
		}
		types[f[0]] = provider.InstanceType{
			Cloud: "azure", Name: f[0], Accelerator: f[1], Kind: provider.GPU, Count: n, AcceleratorMemGiB: memory[f[1]],
			VCPU: 6 * n, MemGiB: float64(56 * n), Hosts: 1, Arch: "amd64", QuotaFamily: "NC", Source: "training_on_a_dime", Date: "2020-03-23",
		}
		return nil
	})
	return types, err
}

// readSpotCurve reads the speeds of a model alone on one accelerator of each kind, and
// what it does in a day on a V100.
func readSpotCurve(data, model string) (planner.Curve, float64, error) {
	var speeds map[string]map[string]float64
	err := unpack(data, "oracle_throughputs_isolated.json.gz", func(z *gzip.Reader) error { return json.NewDecoder(z).Decode(&speeds) })
	if err != nil {
		return nil, 0, err
	}
	var entries []throughput.Entry
	for _, accelerator := range []string{"K80", "P100", "V100"} {
		if v := speeds[strings.ToLower(accelerator)][model]; v > 0 {
			entries = append(entries, throughput.Entry{Accelerator: accelerator, Replicas: 1, SamplesPerSec: v})
		}
	}
	profile, err := throughput.NewProfile(throughput.ProfileConfig{Name: model, Entries: entries})
	if err != nil {
		return nil, 0, fmt.Errorf("model %q: %w", model, err)
	}
	v100 := speeds["v100"][model]
	if v100 <= 0 {
		return nil, 0, fmt.Errorf("model %q: its speed on a V100 is not known", model)
	}
	return planner.TableCurve(profile), v100 * 24 * 3600, nil
}

// unpack reads a packed file of the DISPA data.
func unpack(data, name string, read func(z *gzip.Reader) error) error {
	name = filepath.Join("spot", "dispa2020", name)
	f, err := os.Open(filepath.Join(data, name))
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err == nil {
		err = read(z)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// spotRows reads a CSV of the DISPA data, without its head where that is told.
func spotRows(data, name string, head []string, use func(fields []string) error) error {
	return unpack(data, name, func(z *gzip.Reader) error {
		rows, err := csv.NewReader(z).ReadAll()
		if err != nil {
			return err
		}
		for i, f := range rows {
			if i == 0 && head != nil {
				if strings.Join(f, ",") != strings.Join(head, ",") {
					return fmt.Errorf("columns %v: want %v", f, head)
				}
				continue
			}
			if err := use(f); err != nil {
				return fmt.Errorf("row %d: %w", i+1, err)
			}
		}
		return nil
	})
}
