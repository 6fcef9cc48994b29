package fake

import (
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// target picks live machines, the oldest first.
type target struct {
	n    int                 // negative: all
	of   pattern             // of these offerings
	id   provider.InstanceID // if set, this one
	pool *pool               // if set, those in it
}

// target takes "N of OFFERING", "all of OFFERING" or "machine ID".
func (l *line) target(what string) target {
	if l.has("machine") {
		return target{n: -1, id: provider.InstanceID(l.word("the machine's id"))}
	}
	t := target{n: l.some(what)}
	t.of = needOf(l)
	return t
}

// needOf takes "of" and an offering, which must come.
func needOf(l *line) pattern {
	l.need("of")
	return l.pattern()
}

func (t target) picks(m *machine) bool {
	return (t.id == "" || t.id == m.inst.ID) && (t.pool == nil || t.pool == m.pool) && t.of.matches(m.inst.Offering)
}

func (t target) fits(c *Cloud) error {
	_, err := t.of.sold(c)
	return err
}

// mishap is something that happens to machines at an instant.
type mishap struct {
	target
	skip func(*machine) bool // nil: none
	do   func(c *Cloud, m *machine)
}

func (d *mishap) begin(c *Cloud, at time.Time) {
	c.at(at, func(c *Cloud) {
		n := 0
		for _, m := range c.listed {
			if n == d.n {
				return
			}
			if !m.inst.Live() || !d.picks(m) || d.skip != nil && d.skip(m) {
				continue
			}
			n++
			d.do(c, m)
		}
	})
}

// readFail reads "TARGET": machines that break and end.
func readFail(l *line) (deed, pattern) {
	d := &mishap{target: l.target("how many break"), do: func(c *Cloud, m *machine) { c.end(m, c.now, provider.Failed) }}
	return d, d.of
}

// readHost reads "of OFFERING fails": a machine of several hosts, as a TPU slice is,
// goes on with the accelerators of the others, and breaks with the last. It befalls
// the oldest machine that runs.
func readHost(l *line) (deed, pattern) {
	d := &mishap{target: target{n: 1}, skip: func(m *machine) bool { return m.inst.State != provider.Running }}
	d.do = func(c *Cloud, m *machine) {
		t, _ := c.cfg.Catalogue.Lookup(m.inst.Offering.Cloud, m.inst.Offering.Type)
		if m.accelerators -= max(1, t.Count/t.Hosts); m.accelerators <= 0 {
			c.end(m, c.now, provider.Failed)
			return
		}
		if !m.inst.CalledHome.IsZero() {
			m.inst.Accelerators = m.accelerators
		}
	}
	d.of = needOf(l)
	l.need("fails")
	return d, d.of
}

// readProtect reads "TARGET [for TIME]": machines that cannot be terminated.
func readProtect(l *line) (deed, pattern) {
	d := &mishap{target: l.target("how many are protected")}
	span := l.span()
	if span == 0 {
		span = longest
	}
	d.skip = func(m *machine) bool { return m.foreign }
	d.do = func(c *Cloud, m *machine) { m.protected = c.now.Add(span) }
	return d, d.of
}

// readHint reads "TARGET [for TIME]": the cloud says that it may take machines.
func readHint(l *line) (deed, pattern) {
	d := &mishap{target: l.target("how many are hinted at")}
	span := l.span()
	if span == 0 {
		span = longest
	}
	d.skip = func(m *machine) bool { return m.inst.Offering.Market != provider.Spot }
	d.do = func(c *Cloud, m *machine) {
		m.hinted, m.hintEnds = c.now, c.now.Add(span)
		c.schedule(c.now, m, func(*Cloud, *machine) {}) // it is listed from now on
	}
	return d, d.of
}

// foreign is a launch by somebody else in the account. It counts against depth and
// quota, and is granted whatever they say.
type foreign struct {
	of    pattern
	n     int
	fleet string
}

// readForeign reads "N of OFFERING [fleet NAME]".
func readForeign(l *line) (deed, pattern) {
	d := &foreign{n: l.count("how many"), fleet: "somebody-else"}
	d.of = needOf(l)
	if l.has("fleet") {
		d.fleet = l.word("the fleet's name")
	}
	if l.err == nil && d.n > maxForeign {
		l.fail("%d machines: want at most %d", d.n, maxForeign)
	}
	return d, d.of
}

// maxForeign keeps a typing error from filling the memory.
const maxForeign = 10_000

func (d *foreign) fits(c *Cloud) error {
	_, err := d.of.one(c)
	return err
}

func (d *foreign) begin(c *Cloud, at time.Time) {
	c.at(at, func(c *Cloud) {
		o, err := d.of.one(c)
		if err != nil || d.n == 0 || c.supply(o) == nil { // a block may not be open yet
			return
		}
		c.create(provider.LaunchRequest{Offering: o, Tags: provider.Tags{Fleet: d.fleet}}, d.n, true)
	})
}
