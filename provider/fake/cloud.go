package fake

import (
	"container/heap"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// Cloud is one account of a cloud in memory. Its calls are safe for concurrent use.
type Cloud struct {
	cfg    Config
	sold   []provider.Offering // in order
	quotas map[provider.QuotaClass]provider.Quota

	mu       sync.Mutex
	now      time.Time
	pools    map[provider.Pool]*pool
	machines map[provider.InstanceID]*machine
	listed   []*machine // in launch order; those that ended long ago drop out
	tokens   map[string]answer
	used     map[provider.QuotaClass]int
	events   events
	seq      int
	ids      *rand.Rand
}

var _ provider.Cloud = (*Cloud)(nil)

// New builds a cloud at cfg.Start with nothing launched.
func New(cfg Config) (*Cloud, error) {
	sold, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	if cfg.Climate == nil {
		measured, err := Measured(cfg.Name)
		if err != nil {
			return nil, fmt.Errorf("fake cloud %s: %w", cfg.Name, err)
		}
		cfg.Climate = &measured
	}
	climate := *cfg.Climate // a caller's later change must not reach us
	if err := climate.validate(); err != nil {
		return nil, fmt.Errorf("fake cloud %s: %w", cfg.Name, err)
	}
	cfg.Climate = &climate
	c := &Cloud{
		cfg:      cfg,
		sold:     sold,
		quotas:   make(map[provider.QuotaClass]provider.Quota, len(cfg.Quotas)),
		now:      cfg.Start,
		pools:    make(map[provider.Pool]*pool, len(sold)),
		machines: make(map[provider.InstanceID]*machine),
		tokens:   make(map[string]answer),
		used:     make(map[provider.QuotaClass]int),
		ids:      stream(cfg.Seed, streamIDs, cfg.Name+"/"+cfg.Account),
	}
	for _, q := range cfg.Quotas {
		class := c.ours(q.Class)
		if _, twice := c.quotas[class]; twice {
			return nil, fmt.Errorf("fake cloud %s: quota of %s %v in %s is given twice", cfg.Name, class.Family, class.Market, class.Region)
		}
		c.quotas[class] = q
	}
	for _, o := range sold {
		if _, known := c.pools[o.Pool()]; known {
			continue
		}
		t, _ := cfg.Catalogue.Lookup(o.Cloud, o.Type)
		if err := climate.Boot(t).validate(); err != nil {
			return nil, fmt.Errorf("fake cloud %s: type %s: %w", cfg.Name, o.Type, err)
		}
		if c.pools[o.Pool()], err = newPool(cfg, o.Pool(), t); err != nil {
			return nil, fmt.Errorf("fake cloud %s: %w", cfg.Name, err)
		}
	}
	return c, nil
}

// ours names the account in a class that leaves it out.
func (c *Cloud) ours(class provider.QuotaClass) provider.QuotaClass {
	if class.Account == "" {
		class.Account = c.cfg.Account
	}
	return class
}

// Name is the Cloud of its offerings.
func (c *Cloud) Name() string { return c.cfg.Name }

// Offerings lists what is sold, in order. That something is sold does not say
// that it can be had now.
func (c *Cloud) Offerings() []provider.Offering { return slices.Clone(c.sold) }

// Now is the instant of virtual time.
func (c *Cloud) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves virtual time to an instant: machines boot, are warned and are
// lost on the way. Time does not go back: an instant before now changes nothing.
func (c *Cloud) Advance(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.happen(to)
	if to.After(c.now) {
		c.now = to
	}
}

// happen lets all events up to an instant happen.
func (c *Cloud) happen(to time.Time) {
	for len(c.events) > 0 && !c.events[0].at.After(to) {
		e := heap.Pop(&c.events).(event)
		if e.m.inst.Live() {
			e.do(c, e.m)
		}
	}
}

// NextEvent is the next instant at which a listing changes by itself: a machine
// has booted, is warned or is lost. ok is false when nothing is to come.
func (c *Cloud) NextEvent() (at time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.events) > 0 && !c.events[0].m.inst.Live() {
		heap.Pop(&c.events)
	}
	if len(c.events) == 0 {
		return time.Time{}, false
	}
	return c.events[0].at, true
}

// enter is where every call of the seam begins. It holds the lock until leave.
func (c *Cloud) enter(ctx context.Context, call string) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", call, err)
	}
	c.mu.Lock()
	return c.mu.Unlock, nil
}

// Instances lists the machines that are live and those that ended within the
// climate's Keep, in launch order.
func (c *Cloud) Instances(ctx context.Context) ([]provider.Instance, error) {
	leave, err := c.enter(ctx, "list instances")
	if err != nil {
		return nil, err
	}
	defer leave()
	c.forget()
	list := make([]provider.Instance, len(c.listed))
	for i, m := range c.listed {
		list[i] = m.inst
	}
	return list, nil
}

// Interruptions lists the notices in force and the losses within the climate's
// Keep, in launch order of their machines.
func (c *Cloud) Interruptions(ctx context.Context) ([]provider.Interruption, error) {
	leave, err := c.enter(ctx, "list interruptions")
	if err != nil {
		return nil, err
	}
	defer leave()
	c.forget()
	var list []provider.Interruption
	for _, m := range c.listed {
		inForce := m.inst.Live() && !m.loss.IsZero() && !m.noticed.After(c.now)
		if inForce || m.inst.Cause == provider.Interrupted {
			list = append(list, provider.Interruption{Instance: m.inst.ID, Offering: m.inst.Offering, Noticed: m.noticed, Loss: m.loss})
		}
	}
	return list, nil
}

// forget drops from the listing what ended longer than Keep ago.
func (c *Cloud) forget() {
	c.listed = slices.DeleteFunc(c.listed, func(m *machine) bool {
		return !m.inst.Live() && m.inst.Ended.Add(c.cfg.Climate.Keep).Before(c.now)
	})
}

// Quotas lists the limits of the account as they were given.
func (c *Cloud) Quotas(ctx context.Context) ([]provider.Quota, error) {
	leave, err := c.enter(ctx, "list quotas")
	if err != nil {
		return nil, err
	}
	defer leave()
	return slices.Clone(c.cfg.Quotas), nil
}

// Terminate ends machines at once. One that is gone or was never known is no error.
func (c *Cloud) Terminate(ctx context.Context, ids ...provider.InstanceID) error {
	leave, err := c.enter(ctx, "terminate")
	if err != nil {
		return err
	}
	defer leave()
	for _, id := range ids {
		if m, known := c.machines[id]; known && m.inst.Live() {
			c.end(m, c.now, provider.EndedByUs)
		}
	}
	return nil
}
