package pricing

import (
	"cmp"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

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
	last  time.Time                         // of the last Observe
	seen  map[provider.InstanceID]time.Time // losses that were counted, by the instance's end
	prior map[float64][2]float64            // 80 % interval of the prior by its mean
}

// poolRecord is what was seen of a pool, weighted as of an instant.
type poolRecord struct {
	at       time.Time
	losses   float64
	exposure float64   // hours
	lastLoss time.Time // so that one loss of many machines counts once
}

// NewHazards starts from the prior.
func NewHazards(cfg HazardConfig) *Hazards {
	return &Hazards{
		cfg:   cfg.withDefaults(),
		pools: map[provider.Pool]*poolRecord{},
		seen:  map[provider.InstanceID]time.Time{},
		prior: map[float64][2]float64{},
	}
}

// Prior is the hazard of o before anything was seen of its pool.
func (z *Hazards) Prior(o provider.Offering) Hazard {
	h := z.single(o)
	h.PoolPerHour = z.mean(o)
	interval, ok := z.prior[h.PoolPerHour]
	if !ok {
		interval = interval80(z.cfg.Shape, z.cfg.Shape/h.PoolPerHour)
		z.prior[h.PoolPerHour] = interval
	}
	h.Low, h.High = interval[0], interval[1]
	return h
}

// Of is the hazard of o as it is believed at now: the mean of the posterior law,
// and the interval that holds the rate with 80 % probability.
func (z *Hazards) Of(o provider.Offering, now time.Time) Hazard {
	r := z.pools[o.Pool()]
	if r == nil {
		return z.Prior(o)
	}
	weight := z.weight(now.Sub(r.at))
	shape := z.cfg.Shape + r.losses*weight
	rate := z.cfg.Shape/z.mean(o) + r.exposure*weight
	h := z.single(o)
	h.PoolPerHour = shape / rate
	interval := interval80(shape, rate)
	h.Low, h.High = interval[0], interval[1]
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

// interval80 holds a Gamma law's value with 80 % probability.
func interval80(shape, rate float64) [2]float64 {
	g := distuv.Gamma{Alpha: shape, Beta: rate}
	return [2]float64{g.Quantile(0.1), g.Quantile(0.9)}
}

// weight is what is left of the weight of something seen so long ago.
func (z *Hazards) weight(ago time.Duration) float64 {
	return math.Exp2(-max(0, ago.Hours()) / z.cfg.HalfLife.Hours())
}

// Observe learns from a listing of our machines at now: those that run, and those
// that ended since the last listing. The first listing counts from each machine's
// start. A machine that is listed again counts no more than once; a listing no
// later than the last one is ignored.
//
// A pool is lost when the cloud takes machines of it and no more are left than it
// took; one machine out of many is the loss of that one, which OnePerHour stands
// for. Failures and our own ends are no losses.
func (z *Hazards) Observe(now time.Time, instances []provider.Instance) {
	if !now.After(z.last) {
		return
	}
	byPool := map[provider.Pool][]provider.Instance{}
	for _, inst := range instances {
		if !inst.Started.IsZero() && inst.Started.Before(now) {
			pool := inst.Offering.Pool()
			byPool[pool] = append(byPool[pool], inst)
		}
	}
	for pool, list := range byPool { // pools do not touch each other: any order gives the same
		z.observePool(pool, list, now)
	}
	z.last = now
	for id, ended := range z.seen {
		if now.Sub(ended) > 7*24*time.Hour { // no cloud lists it any more
			delete(z.seen, id)
		}
	}
}

func (z *Hazards) observePool(pool provider.Pool, list []provider.Instance, now time.Time) {
	held := make([]span, 0, len(list))
	var losses []time.Time
	left := 0
	for _, inst := range list {
		to := now
		ended := !inst.Ended.IsZero() && !inst.Ended.After(now)
		if ended {
			to = inst.Ended
		}
		from := inst.Started
		if from.Before(z.last) {
			from = z.last
		}
		if from.Before(to) {
			held = append(held, span{from, to})
		}
		switch {
		case !ended:
			left++
		case inst.Cause == provider.Interrupted && z.seen[inst.ID].IsZero():
			z.seen[inst.ID] = inst.Ended
			losses = append(losses, inst.Ended)
		}
	}
	if len(held) == 0 && len(losses) == 0 {
		return
	}
	r := z.pools[pool]
	if r == nil {
		r = &poolRecord{at: now}
		z.pools[pool] = r
	}
	weight := z.weight(now.Sub(r.at))
	r.losses, r.exposure, r.at = r.losses*weight, r.exposure*weight, now
	for _, s := range union(held) {
		r.exposure += z.weighted(s, now)
	}
	if left > len(losses) {
		return
	}
	slices.SortFunc(losses, time.Time.Compare)
	for _, at := range losses {
		if r.lastLoss.IsZero() || at.Sub(r.lastLoss) > z.cfg.Together {
			r.losses += z.weight(now.Sub(at))
			r.lastLoss = at
		}
	}
}

// weighted is the hours of a span, each with the weight that it has at now: the
// integral of 2^(−(now − t)/half-life).
func (z *Hazards) weighted(s span, now time.Time) float64 {
	scale := z.cfg.HalfLife.Hours() / math.Ln2
	return scale * (z.weight(now.Sub(s.to)) - z.weight(now.Sub(s.from)))
}

// span is a stretch of time.
type span struct{ from, to time.Time }

// union merges spans that overlap or touch.
func union(spans []span) []span {
	slices.SortFunc(spans, func(p, q span) int { return p.from.Compare(q.from) })
	var merged []span
	for _, s := range spans {
		if n := len(merged); n > 0 && !s.from.After(merged[n-1].to) {
			if s.to.After(merged[n-1].to) {
				merged[n-1].to = s.to
			}
			continue
		}
		merged = append(merged, s)
	}
	return merged
}
