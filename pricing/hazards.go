package pricing

import (
	"cmp"
	"math"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// HazardConfig is what is believed of losses before any were seen. A zero field
// has the default that its comment names.
type HazardConfig struct {
	Shape           float64       // of the Gamma law of a pool's rate; 0.5: anything from none to several times the mean
	AWSSpotPerHour  float64       // mean rate of pool losses, AWS spot; 0.3
	GCPSpotPerHour  float64       // mean rate of pool losses, GCP and TPU spot; 0.1, a guess
	OnDemandPerHour float64       // mean rate of pool losses in every other market; 0.0001, next to none
	SpotOnePerHour  float64       // losses of single spot machines, per machine; 0.01
	FailurePerHour  float64       // failures of other machines, per machine; 0.00016
	SpotDown        time.Duration // mean wait for spot to come back; 2 h
	OnDemandDown    time.Duration // mean wait for another machine; 15 min
	HalfLife        time.Duration // after which what was seen counts half; 7 days
	Together        time.Duration // losses of a pool within this time are one; 10 min

	Catalogue *provider.Catalogue // tells TPU slices, which are lost whole; the embedded one
}

// The default of FailurePerHour is what Meta saw while training Llama 3: 419
// failures in 54 days on 2,048 machines ("The Llama 3 Herd of Models", 2024, 3.3.4).
const defaultFailurePerHour = 419.0 / (54 * 24 * 2048)

func (c HazardConfig) withDefaults() HazardConfig {
	c.Shape = cmp.Or(c.Shape, 0.5)
	c.AWSSpotPerHour = cmp.Or(c.AWSSpotPerHour, 0.3)
	c.GCPSpotPerHour = cmp.Or(c.GCPSpotPerHour, 0.1)
	c.OnDemandPerHour = cmp.Or(c.OnDemandPerHour, 1e-4)
	c.SpotOnePerHour = cmp.Or(c.SpotOnePerHour, 0.01)
	c.FailurePerHour = cmp.Or(c.FailurePerHour, defaultFailurePerHour)
	c.SpotDown = cmp.Or(c.SpotDown, 2*time.Hour)
	c.OnDemandDown = cmp.Or(c.OnDemandDown, 15*time.Minute)
	c.HalfLife = cmp.Or(c.HalfLife, 7*24*time.Hour)
	c.Together = cmp.Or(c.Together, 10*time.Minute)
	if c.Catalogue == nil {
		catalogue, err := provider.EmbeddedCatalogue()
		if err != nil { // the files are embedded and tested: a broken build
			panic(err)
		}
		c.Catalogue = catalogue
	}
	return c
}

// Hazards tells how each offering is lost: a prior belief, sharpened by what
// happened to our own machines. A pool (zone × type) has a rate of losses with a
// Gamma law; n losses in T hours of exposure turn shape and rate from (s, s/mean)
// into (s + n, s/mean + T). Exposure is time in which we held something of the
// pool; when we end our machines it stops, which is no loss. What was seen loses
// half its weight every HalfLife.
//
// Hazards has one owner; it is not safe for concurrent use.
type Hazards struct {
	cfg   HazardConfig
	pools map[provider.Pool]*poolRecord
	prior map[provider.Offering]*belief // those asked for
	asked *belief                       // last
}

// belief is what is believed of an offering, and where that is learned.
type belief struct {
	offering provider.Offering
	prior    Hazard
	pool     *poolRecord
	then     *belief // what was asked for after it: whoever asks for many does so in one order
}

// poolRecord is what was seen of a pool, weighted as of the end of its last span.
type poolRecord struct {
	to       time.Time
	losses   float64
	exposure float64   // hours
	lastLoss time.Time // so that one loss of many machines counts once
	seen     bool      // something was told of it
}

// NewHazards starts from the prior.
func NewHazards(cfg HazardConfig) *Hazards {
	return &Hazards{
		cfg:   cfg.withDefaults(),
		pools: map[provider.Pool]*poolRecord{},
		prior: map[provider.Offering]*belief{},
		asked: &belief{},
	}
}

// Prior is the hazard of o before anything was seen of its pool.
func (z *Hazards) Prior(o provider.Offering) Hazard { return z.belief(o).prior }

func (z *Hazards) belief(o provider.Offering) *belief {
	if z.asked.then != nil && z.asked.then.offering == o {
		z.asked = z.asked.then
		return z.asked
	}
	b := z.prior[o]
	if b == nil {
		h := z.single(o)
		h.PoolPerHour = z.mean(o)
		h.Shape, h.Rate = z.cfg.Shape, z.cfg.Shape/h.PoolPerHour
		b = &belief{offering: o, prior: h, pool: z.record(o.Pool())}
		z.prior[o] = b
	}
	z.asked.then, z.asked = b, b
	return b
}

// record is that of a pool, a new one if nothing was told of it yet.
func (z *Hazards) record(p provider.Pool) *poolRecord {
	r := z.pools[p]
	if r == nil {
		r = &poolRecord{}
		z.pools[p] = r
	}
	return r
}

// Of is the hazard of o as it is believed at now: the mean of the posterior law, and
// that law.
func (z *Hazards) Of(o provider.Offering, now time.Time) Hazard {
	b := z.belief(o)
	h := b.prior
	if r := b.pool; r.seen {
		weight := z.weight(now.Sub(r.to))
		h.Shape += r.losses * weight
		h.Rate += r.exposure * weight
		h.PoolPerHour = h.Shape / h.Rate
	}
	return h
}

// single is the part of a hazard that is not learned: how single machines are
// lost, and how long a lost one stays away.
func (z *Hazards) single(o provider.Offering) Hazard {
	h := Hazard{OnePerHour: z.cfg.FailurePerHour, Down: z.cfg.OnDemandDown}
	if o.Market == provider.Spot {
		h = Hazard{OnePerHour: z.cfg.SpotOnePerHour, Down: z.cfg.SpotDown}
	}
	if t, ok := z.cfg.Catalogue.Lookup(o.Cloud, o.Type); ok && t.Kind == provider.TPU {
		h.OnePerHour = 0 // a slice is one machine to us, and lost as one
	}
	return h
}

// mean is the prior mean of the rate of a pool.
func (z *Hazards) mean(o provider.Offering) float64 {
	switch {
	case o.Market != provider.Spot:
		return z.cfg.OnDemandPerHour
	case o.Cloud == "aws":
		if a, ok := SpotAdvice(o.Region, o.Type); ok {
			return z.cfg.AWSSpotPerHour * advisorScale[a.Band]
		}
		return z.cfg.AWSSpotPerHour
	}
	return z.cfg.GCPSpotPerHour
}

// weight is what is left of the weight of something seen so long ago.
func (z *Hazards) weight(ago time.Duration) float64 {
	return math.Exp2(-max(0, ago.Hours()) / z.cfg.HalfLife.Hours())
}

// Observe learns that something of a pool was held from one instant to another,
// and whether that ended with the loss of the pool. Time that was told before
// counts once; losses of one pool within HazardConfig.Together are one. A span
// that we ended ourselves is no loss: it only stops the exposure.
func (z *Hazards) Observe(p provider.Pool, from, to time.Time, lost bool) {
	r := z.record(p)
	if !r.seen {
		r.seen, r.to = true, from
	}
	if to.After(r.to) {
		weight := z.weight(to.Sub(r.to))
		if from.Before(r.to) {
			from = r.to
		}
		r.losses *= weight
		r.exposure = r.exposure*weight + z.weighted(to.Sub(from))
		r.to = to
	}
	if lost && (r.lastLoss.IsZero() || to.Sub(r.lastLoss).Abs() > z.cfg.Together) {
		r.losses += z.weight(r.to.Sub(to))
		r.lastLoss = to
	}
}

// weighted is the hours of a span that ends now, each with the weight that it has
// by then: the integral of 2^(−t/half-life).
func (z *Hazards) weighted(d time.Duration) float64 {
	return z.cfg.HalfLife.Hours() / math.Ln2 * (1 - z.weight(d))
}
