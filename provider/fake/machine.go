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

	accelerators int       // usable ones
	memGiB       float64   // that it will measure
	foreign      bool      // of another fleet
	mute         bool      // never calls home
	protected    time.Time // until then it cannot be terminated
	hinted       time.Time // the cloud said that it may take it; zero: it did not
	hintEnds     time.Time // and no longer says so
	ending       time.Time // its end was asked for and is under way; zero: it was not
}

// ordinal is the machine's number in its pool. Machines of other fleets are counted
// apart, so that they do not shift the fates of ours.
func (m *machine) ordinal() string {
	if m.foreign {
		return "foreign/" + strconv.Itoa(m.pool.foreign)
	}
	return strconv.Itoa(m.pool.launched)
}

// fate draws when a machine launched at now boots and is lost. It depends on the
// seed, the pool and the machine's ordinal in the pool, and on the pool's spells.
func (c *Cloud) fate(m *machine, now time.Time, boot Boot) {
	climate := c.cfg.Climate
	rng := stream(c.cfg.Seed, streamMachines, m.pool.name+"/"+m.ordinal())
	bootDraw, aloneDraw, noticeDraw := rng.NormFloat64(), rng.ExpFloat64(), rng.Float64()
	m.boots = now.Add(boot.draw(bootDraw))
	if b := m.pool.block; b != nil {
		m.loss = b.taken()
		if m.noticed = m.loss.Add(-b.Notice); m.noticed.Before(now) {
			m.noticed = now
		}
		return
	}
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
		if _, told := m.pool.forced(s.to); !s.up || told {
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
	seq int      // order among events of one instant: the order in which they were scheduled
	m   *machine // it happens only to a live one; nil: it happens anyway
	do  func(*Cloud, *machine)
}

// void reports whether the event cannot happen any more.
func (e event) void() bool { return e.m != nil && !e.m.inst.Live() }

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

// at lets something happen at an instant, or now if that has passed.
func (c *Cloud) at(at time.Time, do func(*Cloud)) {
	if at.Before(c.now) {
		at = c.now
	}
	c.schedule(at, nil, func(c *Cloud, _ *machine) { do(c) })
}

// live schedules the life of a machine that was just launched.
func (c *Cloud) live(m *machine) {
	if !m.boots.IsZero() && (m.loss.IsZero() || m.boots.Before(m.loss)) {
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
	if !m.mute {
		m.inst.CalledHome, m.inst.Accelerators, m.inst.MemGiB = m.boots, m.accelerators, m.memGiB
	}
}

func (c *Cloud) warned(*machine) {} // the notice is listed from its time on

func (c *Cloud) lost(m *machine) { c.end(m, m.loss, provider.Interrupted) }

// end ends a live machine and gives back what it held.
func (c *Cloud) end(m *machine, at time.Time, cause provider.EndCause) {
	m.inst.State, m.inst.Ended, m.inst.Cause = provider.Ended, at, cause
	m.pool.live--
	c.used[m.class] -= m.use
}
