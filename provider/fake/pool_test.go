package fake

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat"

	"github.com/goodfleet/goodfleet/provider"
)

// near fails if got is further from want than four standard errors: with the fixed
// seeds here, no luck is involved once the test has passed.
func near(t *testing.T, what string, got, want, standardError float64) {
	t.Helper()
	if math.Abs(got-want) > 4*standardError {
		t.Errorf("%s: %.4f, want %.4f ± %.4f", what, got, want, standardError)
	}
}

// lengths are the whole spells of a walk in hours: the cut ones at its ends left out.
func lengths(spells []Spell) (up, down []float64) {
	for _, s := range spells[1 : len(spells)-1] {
		if hours := s.To.Sub(s.From).Hours(); s.Up {
			up = append(up, hours)
		} else {
			down = append(down, hours)
		}
	}
	return up, down
}

func TestSpellsFollowTheirLaw(t *testing.T) {
	for _, law := range []Law{
		{Up: Exponential(3), Down: Exponential(1.5)},
		{Up: Weibull{Shape: 0.5, Scale: 2.52}, Down: Exponential(0.437)},
		{Up: Weibull{Shape: 0.79, Scale: 9.83}, Down: Exponential(0.592)},
		{Up: Weibull{Shape: 1.08, Scale: 1.68}, Down: Weibull{Shape: 2, Scale: 1}},
	} {
		t.Run(fmt.Sprintf("%+v", law), func(t *testing.T) {
			climate := calm()
			climate.Law = func(provider.Pool, provider.InstanceType) Law { return law }
			c := newCloud(t, climate, nil)
			to := start.Add(time.Duration(20_000*(law.Up.Mean()+law.Down.Mean())) * time.Hour)
			spells := c.Walk(v100Spot.Pool(), start, to)
			up, down := lengths(spells)
			for _, side := range []struct {
				name    string
				lengths []float64
				law     Weibull
			}{{"up", up, law.Up}, {"down", down, law.Down}} {
				n := float64(len(side.lengths))
				mean, sd := stat.MeanStdDev(side.lengths, nil)
				near(t, side.name+": mean length", mean, side.law.Mean(), sd/math.Sqrt(n))
				for _, q := range []float64{0.1, 0.5, 0.9} {
					below := 0.0
					for _, l := range side.lengths {
						if l <= side.law.Quantile(q) {
							below++
						}
					}
					near(t, fmt.Sprintf("%s: share below quantile %.1f", side.name, q), below/n, q, math.Sqrt(q*(1-q)/n))
				}
			}
			for i := 1; i < len(spells); i++ {
				if spells[i].Up == spells[i-1].Up || !spells[i].From.Equal(spells[i-1].To) {
					t.Fatalf("spells %d and %d do not alternate without a gap: %v, %v", i-1, i, spells[i-1], spells[i])
				}
			}
		})
	}
}

// TestUpShareHoldsFromTheStart: the first spell is met in its middle, so that the
// share of pools that are up is the same at the start as ever after.
func TestUpShareHoldsFromTheStart(t *testing.T) {
	law := Law{Up: Weibull{Shape: 0.5, Scale: 2}, Down: Exponential(1)}
	climate := calm()
	climate.Law = func(provider.Pool, provider.InstanceType) Law { return law }
	const seeds = 4000
	for _, scale := range []float64{1.0 / 3, 1, 3} {
		scaled := Law{Up: law.Up.Times(1 / scale), Down: law.Down}
		for _, after := range []time.Duration{0, time.Hour, 30 * time.Hour} {
			up := 0.0
			for seed := range uint64(seeds) {
				c := newCloud(t, climate, func(cfg *Config) { cfg.Seed, cfg.InterruptionScale = seed, scale })
				if truth, _ := c.Truth(v100Spot.Pool(), start.Add(after)); truth.Up {
					up++
				}
			}
			want := scaled.UpShare()
			near(t, fmt.Sprintf("scale %.2f: share up after %v", scale, after), up/seeds, want, math.Sqrt(want*(1-want)/seeds))
		}
	}
}

func TestInterruptionScaleStretchesTheSameDraws(t *testing.T) {
	walk := func(scale float64, o provider.Offering) (up, down []float64) {
		c := newCloud(t, stormy(4, 2), func(cfg *Config) { cfg.InterruptionScale = scale })
		return lengths(c.Walk(o.Pool(), start, start.Add(2000*time.Hour)))
	}
	const rounding = 1.01 / 3600 // hours: lengths are whole seconds
	base, baseDown := walk(1, v100Spot)
	for _, scale := range []float64{1.0 / 3, 3} {
		up, down := walk(scale, v100Spot)
		for i := range min(len(base), len(up)) {
			if math.Abs(up[i]*scale-base[i]) > rounding*max(1, scale) {
				t.Fatalf("scale %.2f: up spell %d lasts %.4f h, want %.4f", scale, i, up[i], base[i]/scale)
			}
		}
		if n := min(len(baseDown), len(down)); !cmp.Equal(baseDown[:n], down[:n]) {
			t.Errorf("scale %.2f: down spells changed", scale)
		}
	}
	one, _ := walk(1, v100)
	three, _ := walk(3, v100)
	if !cmp.Equal(one, three) {
		t.Errorf("on-demand spells changed with the interruption scale")
	}
}

// TestWeatherIsTheSameForEveryPolicy: what is launched, sold or asked leaves the
// spells of a pool alone, and the machines in it live by them.
func TestWeatherIsTheSameForEveryPolicy(t *testing.T) {
	idle := newCloud(t, stormy(3, 1), nil)
	busy := newCloud(t, stormy(3, 1), func(cfg *Config) { cfg.Offerings = cfg.Offerings[:2]; cfg.Account = "acct" })
	to := start.Add(500 * time.Hour)
	want := idle.Walk(v100Spot.Pool(), start, to)
	for at := start; at.Before(to); at = at.Add(37 * time.Minute) {
		busy.Advance(at)
		got, err := busy.Launch(context.Background(), request(at.String(), v100Spot, 1, 1))
		truth, _ := idle.Truth(v100Spot.Pool(), at)
		if truth.Up != (len(got) == 1) {
			t.Fatalf("at %v: up %v, launched %d: %v", at, truth.Up, len(got), err)
		}
		if len(got) == 1 && int(at.Sub(start).Hours())%3 == 0 {
			if err := busy.Terminate(context.Background(), got[0].ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if diff := cmp.Diff(want, busy.Walk(v100Spot.Pool(), start, to)); diff != "" {
		t.Errorf("spells after launches: %s", diff)
	}
	ends := map[time.Time]bool{}
	for _, s := range want {
		ends[s.To] = s.Up
	}
	for _, i := range list(t, busy) {
		if i.Cause == provider.Interrupted && !ends[i.Ended] {
			t.Errorf("machine lost at %v, which is not the end of an up spell", i.Ended)
		}
	}
}

func TestPoolsDiffer(t *testing.T) {
	c := newCloud(t, stormy(3, 1), nil)
	to := start.Add(100 * time.Hour)
	if cmp.Equal(c.Walk(v100Spot.Pool(), start, to), c.Walk(k80Spot.Pool(), start, to)) {
		t.Errorf("two pools have the same spells")
	}
	if cmp.Equal(c.Walk(v100Spot.Pool(), start, to), c.Walk(v100.Pool(), start, to)) {
		t.Errorf("two markets of one zone have the same spells")
	}
	other := newCloud(t, stormy(3, 1), func(cfg *Config) { cfg.Seed = 2 })
	if cmp.Equal(c.Walk(v100Spot.Pool(), start, to), other.Walk(v100Spot.Pool(), start, to)) {
		t.Errorf("two seeds have the same spells")
	}
}

func TestPoolsSpreadAroundTheirClass(t *testing.T) {
	climate := stormy(3, 1)
	climate.SpreadUp, climate.SpreadDown = 0.6, 0.2
	climate.Depth = func(provider.InstanceType) Depth { return Depth{Median: 32, Sigma: 0.6} }
	const seeds = 2000
	var up, down, depth []float64
	for seed := range uint64(seeds) {
		c := newCloud(t, climate, func(cfg *Config) { cfg.Seed = seed })
		truth, _ := c.Truth(v100Spot.Pool(), start)
		up = append(up, math.Log(truth.Law.Up.Scale/3))
		down = append(down, math.Log(truth.Law.Down.Scale))
		depth = append(depth, math.Log(float64(truth.Depth)/32))
	}
	for _, x := range []struct {
		name   string
		values []float64
		sigma  float64
	}{{"up", up, 0.6}, {"down", down, 0.2}, {"depth", depth, 0.6}} {
		mean, sd := stat.MeanStdDev(x.values, nil)
		near(t, x.name+": mean of the logarithm", mean, 0, x.sigma/math.Sqrt(seeds))
		near(t, x.name+": spread of the logarithm", sd, x.sigma, x.sigma/math.Sqrt(2*seeds))
	}
}

// TestPoolTakesAllNearlyAlways counts, over many down transitions with five
// machines in the pool, how often all five are lost at once.
func TestPoolTakesAllNearlyAlways(t *testing.T) {
	const machines = 5
	climate := stormy(1, 1)
	climate.Together, climate.Alone = 0.94, 0.5
	climate.Depth = func(provider.InstanceType) Depth { return Depth{Median: 1e6} }
	c := newCloud(t, climate, nil)
	all, some, n := 0.0, 0.0, 0.0
	for i, s := range c.Walk(v100Spot.Pool(), start, start.Add(10_000*time.Hour)) {
		if !s.Up {
			continue
		}
		c.Advance(s.From)
		lost := 0
		for _, inst := range mustLaunch(t, c, request(fmt.Sprint(i), v100Spot, machines, machines)) {
			if c.machines[inst.ID].loss.Equal(s.To) {
				lost++
			}
		}
		n++
		if lost == machines {
			all++
		} else {
			some += float64(lost)
		}
	}
	want := 0.94 + 0.06*math.Pow(0.5, machines)
	near(t, "share of losses that take all", all/n, want, math.Sqrt(want*(1-want)/n))
	partial := n - all
	rest := (machines*0.5 - machines*math.Pow(0.5, machines)) / (1 - math.Pow(0.5, machines))
	near(t, "machines lost when not all are", some/partial, rest, 1.1/math.Sqrt(partial))
}

func TestSingleLossesComeAtTheirRate(t *testing.T) {
	climate := calm()
	climate.OnePerHour = 0.01
	climate.Depth = func(provider.InstanceType) Depth { return Depth{Median: 1e6} }
	for _, scale := range []float64{1, 3} {
		c := newCloud(t, climate, func(cfg *Config) { cfg.InterruptionScale = scale })
		const n = 4000
		mustLaunch(t, c, request("spot", v100Spot, n, n))
		mustLaunch(t, c, request("on-demand", v100, 100, 100))
		c.Advance(start.Add(50 * time.Hour))
		lost := 0.0
		for _, m := range c.machines {
			if m.inst.Cause == provider.Interrupted {
				lost++
			}
			if m.inst.Offering.Market == provider.OnDemand && !m.inst.Live() {
				t.Fatalf("on-demand machine lost: %+v", m.inst)
			}
		}
		want := 1 - math.Exp(-0.01*50*scale)
		near(t, fmt.Sprintf("scale %.0f: share lost in 50 h", scale), lost/n, want, math.Sqrt(want*(1-want)/n))
	}
}

func TestBootDelaysHaveTheirMeanAndSpread(t *testing.T) {
	climate := calm()
	climate.Boot = func(provider.InstanceType) Boot { return Boot{Mean: 200 * time.Second, Spread: 50 * time.Second} }
	climate.Depth = func(provider.InstanceType) Depth { return Depth{Median: 1e6} }
	c := newCloud(t, climate, nil)
	const n = 4000
	var delays []float64
	for _, inst := range mustLaunch(t, c, request("a", v100, n, n)) {
		delays = append(delays, c.machines[inst.ID].boots.Sub(start).Seconds())
	}
	mean, sd := stat.MeanStdDev(delays, nil)
	near(t, "mean of the delay", mean, 200, 50/math.Sqrt(n))
	near(t, "spread of the delay", sd, 50, 50*math.Sqrt(1.5/n)) // a lognormal's spread is told less well than a normal's
}

// history runs a fixed script of launches and ends and returns all that a caller
// sees, as text. It advances in steps of the given length and at every event.
func history(t *testing.T, seed uint64, step time.Duration, change ...func(*Config)) string {
	t.Helper()
	ctx := context.Background()
	climate, err := Measured("aws")
	if err != nil {
		t.Fatal(err)
	}
	c := newCloud(t, &climate, func(cfg *Config) {
		cfg.Seed = seed
		for _, f := range change {
			f(cfg)
		}
	})
	var seen []any
	for hour := range 72 {
		to := start.Add(time.Duration(hour) * time.Hour)
		for at := c.Now(); step > 0 && at.Before(to); at = at.Add(step) {
			c.Advance(at)
		}
		c.Advance(to)
		for _, o := range c.Offerings() {
			got, err := c.Launch(ctx, request(fmt.Sprint(hour, o), o, 2, 1))
			seen = append(seen, got, fmt.Sprint(err))
			if hour%3 == 0 && len(got) > 0 {
				seen = append(seen, fmt.Sprint(c.Terminate(ctx, got[0].ID)))
			}
		}
		losses, _ := c.Interruptions(ctx)
		machines, err := c.Instances(ctx)
		seen = append(seen, machines, fmt.Sprint(err), losses)
	}
	seen = append(seen, c.Machines())
	return fmt.Sprintf("%+v", seen)
}

func TestSameSeedSameBytes(t *testing.T) {
	want := history(t, 7, 0)
	if history(t, 7, 0) != want {
		t.Errorf("two runs of one seed differ")
	}
	if history(t, 7, 7*time.Minute) != want {
		t.Errorf("the steps of time show in what happens")
	}
	if history(t, 8, 0) == want {
		t.Errorf("two seeds give the same run")
	}
}
