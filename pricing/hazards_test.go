package pricing

import (
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/provider"
)

var hazardStart = time.Date(2023, 3, 1, 0, 0, 0, 0, time.UTC)

func awsSpot(typ string) provider.Offering {
	return provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: typ, Market: provider.Spot}
}

func gcp(typ string, m provider.Market) provider.Offering {
	return provider.Offering{Cloud: "gcp", Region: "us-central1", Zone: "us-central1-a", Type: typ, Market: m}
}

func TestPriorByCloudMarketAndBand(t *testing.T) {
	noAdvice := awsSpot("p3.2xlarge")
	noAdvice.Region = "mars-north-1"
	for _, test := range []struct {
		name      string
		offering  provider.Offering
		pool, one float64
		down      time.Duration
	}{
		{"aws spot without advice", noAdvice, 0.3, 0.01, 2 * time.Hour},
		{"aws spot, over 20 % a month", awsSpot("p3.2xlarge"), 0.6, 0.01, 2 * time.Hour},
		{"gcp spot", gcp("n1-standard-8+v100x2", provider.Spot), 0.1, 0.01, 2 * time.Hour},
		{"tpu spot is lost whole", gcp("v5e-16", provider.Spot), 0.1, 0, 2 * time.Hour},
		{"on-demand is all but safe", gcp("n1-standard-8+v100x2", provider.OnDemand), 1e-4, defaultFailurePerHour, 15 * time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := NewHazards(HazardConfig{}).Of(test.offering, hazardStart)
			if h.PoolPerHour != test.pool || h.OnePerHour != test.one || h.Down != test.down {
				t.Errorf("hazard %+v, want pool %g, one %g, down %v", h, test.pool, test.one, test.down)
			}
			law := distuv.Gamma{Alpha: 0.5, Beta: 0.5 / test.pool}
			low, high, ok := h.Interval80()
			if inside := law.CDF(high) - law.CDF(low); !ok || math.Abs(inside-0.8) > 1e-6 {
				t.Errorf("interval %g..%g holds %.4f of the prior, want 0.8", low, high, inside)
			}
		})
	}
}

// TestAdvisorBandsScaleTheMean takes one type in the regions of each band.
func TestAdvisorBandsScaleTheMean(t *testing.T) {
	advice, err := embeddedAdvice()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]int{}
	z := NewHazards(HazardConfig{})
	for key, a := range advice {
		seen[a.Band]++
		o := provider.Offering{Cloud: "aws", Region: key[0], Zone: "z", Type: key[1], Market: provider.Spot}
		want := 0.3 * []float64{0.5, 0.75, 1, 1.5, 2}[a.Band]
		if got := z.Prior(o).PoolPerHour; got != want {
			t.Errorf("%s in %s, band %d: %g losses/h, want %g", key[1], key[0], a.Band, got, want)
		}
	}
	for band := range advisorScale {
		if seen[band] == 0 {
			t.Errorf("no row of band %d", band)
		}
	}
	if len(advice) != 822 {
		t.Errorf("%d rows of advice, want 822", len(advice))
	}
}

// TestPosteriorIsConjugate checks the update by hand on a span so short against
// the half-life that nothing fades.
func TestPosteriorIsConjugate(t *testing.T) {
	z := NewHazards(HazardConfig{HalfLife: 1e6 * time.Hour})
	o := gcp("n1-standard-8+v100x2", provider.Spot)
	z.Observe(o.Pool(), hazardStart, hazardStart.Add(10*time.Hour), true)
	z.Observe(o.Pool(), hazardStart.Add(12*time.Hour), hazardStart.Add(17*time.Hour), true)
	h := z.Of(o, hazardStart.Add(17*time.Hour))
	want := (0.5 + 2) / (0.5/0.1 + 15)
	if math.Abs(h.PoolPerHour-want) > 1e-4*want {
		t.Errorf("posterior mean %g, want %g", h.PoolPerHour, want)
	}
	if low, high, ok := h.Interval80(); !ok || !(low < h.PoolPerHour && h.PoolPerHour < high) {
		t.Errorf("mean %g outside its interval %g..%g", h.PoolPerHour, low, high)
	}
}

func TestObserveCountsEachHourAndLossOnce(t *testing.T) {
	once, twice := NewHazards(HazardConfig{}), NewHazards(HazardConfig{})
	o := awsSpot("p3.2xlarge")
	at := func(minutes int) time.Time { return hazardStart.Add(time.Duration(minutes) * time.Minute) }
	once.Observe(o.Pool(), at(0), at(120), true)
	twice.Observe(o.Pool(), at(0), at(60), false)
	twice.Observe(o.Pool(), at(30), at(120), true)
	twice.Observe(o.Pool(), at(0), at(120), true) // the second machine of the same loss
	twice.Observe(o.Pool(), at(90), at(119), true)
	got, want := twice.Of(o, at(121)).PoolPerHour, once.Of(o, at(121)).PoolPerHour
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("rate %g with spans told twice, want %g", got, want)
	}
}

// TestRateFallsWithoutLosses: time up without a loss lowers the rate, and another
// pool, zone or market learns nothing from it.
func TestRateFallsWithoutLosses(t *testing.T) {
	z := NewHazards(HazardConfig{})
	o := awsSpot("p3.2xlarge")
	last := z.Of(o, hazardStart).PoolPerHour
	for hour := range 100 {
		from := hazardStart.Add(time.Duration(hour) * time.Hour)
		z.Observe(o.Pool(), from, from.Add(time.Hour), false)
		rate := z.Of(o, from.Add(time.Hour)).PoolPerHour
		if rate >= last {
			t.Fatalf("rate %g after %d h without loss, was %g", rate, hour+1, last)
		}
		last = rate
	}
	other := o
	other.Zone = "use1-az2"
	if got, want := z.Of(other, hazardStart), z.Prior(other); got != want {
		t.Errorf("another zone learned: %+v, want %+v", got, want)
	}
	mine := o
	mine.Account = "111122223333"
	if got, want := z.Of(mine, hazardStart.Add(100*time.Hour)), z.Of(o, hazardStart.Add(100*time.Hour)); got != want {
		t.Errorf("the pool is not shared by accounts: %+v, want %+v", got, want)
	}
}

// TestWhatWasSeenFadesByHalf compares the posterior a half-life later with the
// formula, and long after with the prior.
func TestWhatWasSeenFadesByHalf(t *testing.T) {
	const week = 7 * 24 * time.Hour
	z := NewHazards(HazardConfig{})
	o := gcp("n1-standard-8+v100x2", provider.Spot)
	end := hazardStart.Add(time.Hour)
	z.Observe(o.Pool(), hazardStart, end, true)
	exposure := 168 / math.Ln2 * (1 - math.Exp2(-1.0/168))
	for n, weight := range []float64{1, 0.5, 0.25} {
		got := z.Of(o, end.Add(time.Duration(n)*week)).PoolPerHour
		want := (0.5 + weight) / (0.5/0.1 + weight*exposure)
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("after %d weeks %g losses/h, want %g", n, got, want)
		}
	}
	if got := z.Of(o, end.Add(100*week)).PoolPerHour; math.Abs(got-0.1) > 1e-9 {
		t.Errorf("after 100 weeks %g losses/h, want the prior's 0.1", got)
	}
}

// TestHazardsFindTheTrueRate: with lives drawn from an exponential law the
// posterior settles near the rate, however the spans are cut.
func TestHazardsFindTheTrueRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.02, 2).Draw(t, "rate")
		seed := rapid.Uint64().Draw(t, "seed")
		lives := distuv.Exponential{Rate: rate, Src: newTestSource(seed)}
		z := NewHazards(HazardConfig{HalfLife: 1e6 * time.Hour})
		o := awsSpot("p3.2xlarge")
		now := hazardStart
		const n = 400
		for range n {
			life := max(time.Duration(lives.Rand()*float64(time.Hour)), time.Minute)
			z.Observe(o.Pool(), now, now.Add(life/3), false)
			z.Observe(o.Pool(), now.Add(life/3), now.Add(life), true)
			now = now.Add(life + 15*time.Minute) // apart, so that no two losses count as one
		}
		// Five standard errors of the mean of n exponential lives, and a minute's floor.
		if got := z.Of(o, now).PoolPerHour; math.Abs(got/rate-1) > 5/math.Sqrt(n)+rate/60 {
			t.Fatalf("learned %g losses/h, want about %g", got, rate)
		}
	})
}
