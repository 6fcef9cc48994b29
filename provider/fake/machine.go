package fake

import (
	"container/heap"
	"strconv"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// machine is one instance and the whole of its life to come, drawn at launch.
type machine struct {
	inst    provider.Instance
	pool    *pool
	class   provider.QuotaClass
	use     int       // what it takes from the quota of its class
	boots   time.Time // enters Running, unless lost or ended before
	noticed time.Time // word of the loss; zero: never lost
	loss    time.Time // the cloud takes it back; zero: never
}

// fate draws when a machine launched at now boots and is lost. It depends on the
// seed, the pool and the machine's ordinal in the pool, and on the pool's spells.
func (c *Cloud) fate(m *machine, now time.Time, boot Boot) {
	climate := c.cfg.Climate
	rng := stream(c.cfg.Seed, streamMachines, m.pool.key.String()+"/"+strconv.Itoa(m.pool.launched))
	bootDraw, aloneDraw, noticeDraw := rng.NormFloat64(), rng.ExpFloat64(), rng.Float64()
	m.boots = now.Add(boot.draw(bootDraw))
	if m.inst.Offering.Market != provider.Spot {
		return
	}
	if rate := climate.OnePerHour * c.cfg.InterruptionScale; rate > 0 {
		hours := min(aloneDraw/rate, horizonHours)
		m.loss = now.Add(max(time.Second, time.Duration(hours*3600)*time.Second))
	}
	takes := !m.pool.law.Steady() && (climate.Together > 0 || climate.Alone > 0)
	for i := 0; takes; i++ {
		s := m.pool.spell(i)
		if !m.loss.IsZero() && !s.to.Before(m.loss) || s.to.Sub(now).Hours() > horizonHours {
			break
		}
		if !s.up {
			continue
		}
		if s.together || rng.Float64() < climate.Alone {
			m.loss = s.to
			break
		}
	}
	if m.loss.IsZero() {
		return
	}
	m.noticed = m.loss
	if noticeDraw >= climate.Notice.Missing {
		m.noticed = m.loss.Add(-climate.Notice.Lead)
		if m.noticed.Before(now) {
			m.noticed = now
		}
	}
}

// event is an instant at which something that a caller can see changes.
type event struct {
	at  time.Time
	seq int // order among events of one instant: the order in which they were scheduled
	m   *machine
	do  func(*Cloud, *machine)
}

// events is a heap of what is to come, the next first.
type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	if !e[i].at.Equal(e[j].at) {
		return e[i].at.Before(e[j].at)
	}
	return e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	(*e)[len(*e)-1] = event{}
	*e = (*e)[:len(*e)-1]
	return last
}

func (c *Cloud) schedule(at time.Time, m *machine, do func(*Cloud, *machine)) {
	c.seq++
	heap.Push(&c.events, event{at: at, seq: c.seq, m: m, do: do})
}

// live schedules the life of a machine that was just launched.
func (c *Cloud) live(m *machine) {
	if m.loss.IsZero() || m.boots.Before(m.loss) {
		c.schedule(m.boots, m, (*Cloud).booted)
	}
	if m.loss.IsZero() {
		return
	}
	if m.noticed.Before(m.loss) {
		c.schedule(m.noticed, m, (*Cloud).warned)
	}
	c.schedule(m.loss, m, (*Cloud).lost)
}

func (c *Cloud) booted(m *machine) {
	m.inst.State, m.inst.Started = provider.Running, m.boots
}

func (c *Cloud) warned(*machine) {} // the notice is listed from its time on

func (c *Cloud) lost(m *machine) { c.end(m, m.loss, provider.Interrupted) }

// end ends a live machine and gives back what it held.
func (c *Cloud) end(m *machine, at time.Time, cause provider.EndCause) {
	m.inst.State, m.inst.Ended, m.inst.Cause = provider.Ended, at, cause
	m.pool.live--
	c.used[m.class] -= m.use
}
