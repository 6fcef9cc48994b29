package fake

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// Streams of randomness: one more draw in one does not shift another.
const (
	streamPool     = "pool"
	streamUp       = "up"
	streamDown     = "down"
	streamMachines = "machines"
	streamIDs      = "ids"
)

// stream is the generator of one component: of what is named.
func stream(seed uint64, component, name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(component + "/" + name))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// spell is a Spell with what happens to the machines at its end.
type spell struct {
	to       time.Time
	up       bool
	together bool // if up: its end takes all machines
}

// pool is the weather of one provider.Pool, drawn as far as somebody looked.
type pool struct {
	key   provider.Pool
	name  string // as patterns pick it, and the name of its streams
	law   Law    // with the pool's own factors
	depth int
	block *Block // nil unless its machines are paid ahead

	windows []window // what statements say of it, in the order in which they were read

	together float64
	ups      *rand.Rand // one stream for up and one for down spells, so that the
	downs    *rand.Rand // n-th of a kind has the same draws whatever came first
	from     time.Time  // when spells[0] begins
	spells   []spell    // in time order without gaps; never empty unless the law is steady

	launched int // machines ever launched here: the ordinal of the next one
	foreign  int // machines of other fleets ever launched here
	live     int // machines that are pending, running or ending
}

func newPool(cfg Config, key provider.Pool, t provider.InstanceType) (*pool, error) {
	climate := cfg.Climate
	law, depth := climate.Law(key, t), climate.Depth(t)
	if err := law.validate(); err != nil {
		return nil, fmt.Errorf("pool %s: %w", key, err)
	}
	if err := depth.validate(); err != nil {
		return nil, fmt.Errorf("pool %s: %w", key, err)
	}
	p := &pool{
		key: key, name: key.String(), together: climate.Together, from: cfg.Start,
		ups: stream(cfg.Seed, streamUp, key.String()), downs: stream(cfg.Seed, streamDown, key.String()),
	}
	rng := stream(cfg.Seed, streamPool, key.String())
	up, down, deep := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
	p.depth = depth.draw(deep)
	if law.Steady() {
		return p, nil
	}
	factor := math.Exp(climate.SpreadUp * up)
	if key.Market == provider.Spot {
		factor /= cfg.InterruptionScale
	}
	p.law = Law{Up: law.Up.Times(factor), Down: law.Down.Times(math.Exp(climate.SpreadDown * down))}

	// The first spell is met at a random instant of its length.
	state, left, takesAll := rng.Float64(), rng.Float64(), rng.Float64()
	if state < p.law.UpShare() {
		p.append(spell{up: true, together: takesAll < p.together}, p.law.Up.Residual(left))
	} else {
		p.append(spell{}, p.law.Down.Residual(left))
	}
	return p, nil
}

// append adds s with a length of that many hours, in whole seconds and at least one.
func (p *pool) append(s spell, hours float64) {
	s.to = p.from
	if n := len(p.spells); n > 0 {
		s.to = p.spells[n-1].to
	}
	seconds := max(1, math.Round(min(hours, horizonHours)*3600))
	s.to = s.to.Add(time.Duration(seconds) * time.Second)
	p.spells = append(p.spells, s)
}

// horizonHours keeps a freak length inside time.Duration: twenty years.
const horizonHours = 20 * 365 * 24

// next draws one more spell.
func (p *pool) next() {
	if p.spells[len(p.spells)-1].up {
		p.append(spell{}, p.law.Down.Quantile(p.downs.Float64()))
		return
	}
	length, takesAll := p.ups.Float64(), p.ups.Float64()
	p.append(spell{up: true, together: takesAll < p.together}, p.law.Up.Quantile(length))
}

// up reports the state at now. Times given to one pool must not go back.
func (p *pool) up(now time.Time) bool {
	up := p.weather(now)
	if told, ok := p.forced(now); ok {
		return told
	}
	return up
}

// weather is the state at now that no statement has changed. It forgets the
// spells before now.
func (p *pool) weather(now time.Time) bool {
	if p.law.Steady() {
		return true
	}
	for !p.spells[0].to.After(now) {
		if len(p.spells) == 1 {
			p.next()
		}
		p.from = p.spells[0].to
		p.spells = p.spells[1:]
	}
	return p.spells[0].up
}

// spell is the i-th spell from the one that up was last asked about.
func (p *pool) spell(i int) spell {
	for i >= len(p.spells) {
		p.next()
	}
	return p.spells[i]
}
