package fake

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/provider"
)

// drawnFaults are all faults but calls that hang, which would keep a test that
// has no deadline.
func drawnFaults(perDay float64) Faults {
	f := Hostile(perDay, 72*time.Hour)
	for _, hang := range []Fault{LaunchHangs, LaunchHangsAfter, ListingHangs} {
		delete(f.PerDay, hang)
	}
	return f
}

func TestNothingToGoWrongSameBytes(t *testing.T) {
	want := history(t, 7, 0)
	for name, change := range map[string]func(*Config){
		"an empty scenario": func(cfg *Config) { cfg.Scenario = &Scenario{} },
		"rates of zero":     func(cfg *Config) { cfg.Faults = Hostile(0, 0) },
		"of another cloud":  func(cfg *Config) { cfg.Scenario, _ = ParseScenario("s", "on gcp throttle 5m") },
	} {
		if history(t, 7, 0, change) != want {
			t.Errorf("%s shows in what happens", name)
		}
	}
}

func TestDrawnFaultsSameSeedSameBytes(t *testing.T) {
	hostile := func(cfg *Config) { cfg.Faults = drawnFaults(10) }
	want := history(t, 7, 0, hostile)
	if want == history(t, 7, 0) {
		t.Fatal("the faults do not show")
	}
	if history(t, 7, 0, hostile) != want {
		t.Errorf("two runs of one seed differ")
	}
	if history(t, 7, 7*time.Minute, hostile) != want {
		t.Errorf("the steps of time show in what happens")
	}
	if history(t, 8, 0, hostile) == want {
		t.Errorf("two seeds give the same run")
	}
	script := newCloud(t, calm(), func(cfg *Config) { cfg.Seed = 7; hostile(cfg) }).Script()
	printed, err := ParseScenario("printed", script)
	if err != nil {
		t.Fatal(err)
	}
	if history(t, 7, 0, func(cfg *Config) { cfg.Scenario = printed }) != want {
		t.Errorf("the printed faults, played as a scenario, give another run")
	}
}

func TestEveryFaultIsDrawnApart(t *testing.T) {
	script := func(f Faults) []string {
		c := newCloud(t, calm(), func(cfg *Config) {
			cfg.Faults, cfg.Offerings = f, append(cfg.Offerings, block1)
			cfg.Blocks = []Block{{Offering: block1, Count: 2, From: start, Until: start.Add(time.Hour)}}
			cfg.Quotas = []provider.Quota{{Class: provider.QuotaClass{Cloud: "aws", Region: v100.Region, Family: "P", Market: provider.Spot}, Unit: provider.VCPUs, Limit: 64}}
		})
		return strings.Split(strings.TrimSuffix(c.Script(), "\n"), "\n")
	}
	all := map[string]bool{}
	for _, line := range script(Hostile(3, 72*time.Hour)) {
		all[line] = true
	}
	for _, fault := range AllFaults() {
		alone := script(Faults{PerDay: map[Fault]float64{fault: 3}, Horizon: 72 * time.Hour})
		if fault == HostFails { // no machine of several hosts is sold here
			continue
		}
		if len(alone) < 2 {
			t.Errorf("%s: %d events in three days, want about nine", fault, len(alone))
		}
		for _, line := range alone {
			if !all[line] {
				t.Errorf("%s: %q is not drawn when everything else is", fault, line)
			}
		}
		if parsed, err := ParseFault(fault.String()); err != nil || parsed != fault {
			t.Errorf("%s reads as %v, %v", fault, parsed, err)
		}
	}
}

func TestFaultsLeaveTheWeatherAlone(t *testing.T) {
	to := start.Add(100 * time.Hour)
	quiet := newCloud(t, stormy(3, 1), nil)
	faults := drawnFaults(10)
	for _, f := range []Fault{PoolLost, ZoneLost, Shallow} {
		delete(faults.PerDay, f)
	}
	loud := newCloud(t, stormy(3, 1), func(cfg *Config) { cfg.Faults = faults })
	if diff := cmp.Diff(quiet.Walk(v100Spot.Pool(), start, to), loud.Walk(v100Spot.Pool(), start, to)); diff != "" {
		t.Errorf("spells (-quiet +loud):\n%s", diff)
	}
}

func TestFaultsRefuseWhatCannotBe(t *testing.T) {
	for want, f := range map[string]Faults{
		"mute: -1 per day":      {PerDay: map[Fault]float64{Mute: -1}, Horizon: time.Hour},
		"mute: NaN per day":     {PerDay: map[Fault]float64{Mute: math.NaN()}, Horizon: time.Hour},
		"horizon 0s":            {PerDay: map[Fault]float64{Mute: 1}},
		"about 100000000 event": {PerDay: map[Fault]float64{Mute: 1e8}, Horizon: 24 * time.Hour},
	} {
		_, err := New(Config{
			Name: "aws", Start: start, Catalogue: testCatalogue(t), Offerings: []provider.Offering{{Cloud: "aws", Region: "r", Zone: "z", Type: "p3.2xlarge", Market: provider.Spot}},
			InterruptionScale: 1, Faults: f,
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestHostileCloudKeepsItsBooks makes random calls of a cloud in which everything
// goes wrong, and holds its counts against the machines that there are.
func TestHostileCloudKeepsItsBooks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		class := provider.QuotaClass{Cloud: "aws", Account: "acct", Region: v100.Region, Family: "P", Market: provider.Spot}
		c := newCloud(t, stormy(2, 1), func(cfg *Config) {
			cfg.Seed, cfg.Faults = rapid.Uint64().Draw(rt, "seed"), Hostile(30, 12*time.Hour)
			cfg.Quotas = []provider.Quota{{Class: class, Unit: provider.VCPUs, Limit: 80}}
		})
		wanted := map[string]int{}
		known := map[provider.InstanceID]provider.Instance{}
		for n := range rapid.IntRange(1, 60).Draw(rt, "calls") {
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			token := fmt.Sprint(n - rapid.IntRange(0, 1).Draw(rt, "again"))
			req := request(token, rapid.SampledFrom(propertyOfferings).Draw(rt, "offering"), rapid.IntRange(1, 4).Draw(rt, "count"), 1)
			wanted[token] = max(wanted[token], req.Count)
			got, err := c.Launch(ctx, req)
			if told := (*provider.LaunchError)(nil); err != nil && !errors.As(err, &told) {
				rt.Fatalf("launch: %v is no LaunchError", err)
			}
			if len(got) > 0 && n%3 == 0 {
				_ = c.Terminate(ctx, got[0].ID) // any answer will do
			}
			if _, err := c.Instances(ctx); err != nil && provider.KindOf(err) != provider.ErrUnknown && provider.KindOf(err) != provider.ErrThrottled {
				rt.Fatalf("list: %v", err)
			}
			cancel()
			c.Advance(c.Now().Add(time.Duration(rapid.IntRange(0, 3600).Draw(rt, "seconds")) * time.Second))
			checkBooks(rt, c, class, wanted, known)
		}
	})
}

func checkBooks(t *rapid.T, c *Cloud, class provider.QuotaClass, wanted map[string]int, known map[provider.InstanceID]provider.Instance) {
	intents, used, live := map[string]int{}, 0, map[*pool]int{}
	for _, i := range c.Machines() {
		m := c.machines[i.ID]
		if m.class == class && i.State != provider.Ended {
			used += m.use
		}
		if i.State != provider.Ended {
			live[m.pool]++
		}
		if intents[i.Tags.Intent]++; !m.foreign && intents[i.Tags.Intent] > wanted[i.Tags.Intent]+1 {
			t.Fatalf("intent %s: %d machines, asked for %d", i.Tags.Intent, intents[i.Tags.Intent], wanted[i.Tags.Intent])
		}
		old, seen := known[i.ID]
		if seen && (i.State < old.State || old.State == provider.Ended && i != old) {
			t.Fatalf("a machine went from %+v to %+v", old, i)
		}
		if !i.Ended.IsZero() && (i.Ended.Before(i.Launched) || i.Ended.After(c.Now())) {
			t.Fatalf("at %v: %+v", c.Now(), i)
		}
		known[i.ID] = i
	}
	for _, p := range c.pools {
		if p.live != live[p] {
			t.Fatalf("pool %s counts %d machines, there are %d", p.name, p.live, live[p])
		}
	}
	if c.used[class] != used {
		t.Fatalf("the quota counts %d, there are %d in use", c.used[class], used)
	}
}
