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
	blocks   map[string]*pool // by reservation
	machines map[provider.InstanceID]*machine
	ever     []*machine // in launch order
	listed   []*machine // those of ever that did not end long ago
	tokens   map[string]answer
	late     map[string]provider.LaunchRequest // tokens whose machines are still to come
	used     map[provider.QuotaClass]int
	events   events
	seq      int
	ids      *rand.Rand

	// What statements of scenarios say.
	rules     []*rule
	throttles []*throttled
	limits    []*limited
	skews     []skewed
	shown     []row
	prices    []PriceChange
	asked     [QuotasCall + 1]int
	played    []*Scenario
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
		blocks:   make(map[string]*pool),
		late:     make(map[string]provider.LaunchRequest),
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
		if o.Reservation != "" {
			continue
		}
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
	if err := c.openBlocks(cfg.Blocks); err != nil {
		return nil, fmt.Errorf("fake cloud %s: %w", cfg.Name, err)
	}
	return c, c.begin()
}

// begin puts the scenario and the drawn faults in train.
func (c *Cloud) begin() error {
	drawn, err := c.cfg.Faults.draw(c)
	if err != nil {
		return fmt.Errorf("fake cloud %s: %w", c.cfg.Name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range []*Scenario{c.cfg.Scenario, drawn} {
		if s == nil {
			continue
		}
		if err := c.play(s, c.now); err != nil {
			return fmt.Errorf("fake cloud %s: %w", c.cfg.Name, err)
		}
	}
	return nil
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
		if e.void() {
			continue
		}
		if e.at.After(c.now) {
			c.now = e.at
		}
		e.do(c, e.m)
	}
}

// NextEvent is the next instant at which something may change by itself: a machine
// has booted, is warned or is lost, or a statement has its time. ok is false when
// nothing is to come.
func (c *Cloud) NextEvent() (at time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.events) > 0 && c.events[0].void() {
		heap.Pop(&c.events)
	}
	if len(c.events) == 0 {
		return time.Time{}, false
	}
	return c.events[0].at, true
}

// Quotas lists the limits of the account.
func (c *Cloud) Quotas(ctx context.Context) ([]provider.Quota, error) {
	return serve(ctx, c, QuotasCall, nothing, 0, func(f *fault) ([]provider.Quota, error) {
		if c.shape(f, QuotasCall, nil, 0); f.empty {
			return nil, nil
		}
		return slices.Clone(c.cfg.Quotas), nil
	})
}

// nothing is what a call is about that is about no offering.
func nothing() []provider.Offering { return nil }

// Terminate ends machines at once. One that is gone or was never known is no
// error. With one of them protected, none ends and the answer is ErrDenied.
func (c *Cloud) Terminate(ctx context.Context, ids ...provider.InstanceID) error {
	about := func() []provider.Offering {
		var list []provider.Offering
		for _, id := range ids {
			if m, known := c.machines[id]; known {
				list = append(list, m.inst.Offering)
			}
		}
		return list
	}
	_, err := serve(ctx, c, TerminateCall, about, 0, func(f *fault) (struct{}, error) {
		return struct{}{}, c.terminate(f, about, ids)
	})
	return err
}

func (c *Cloud) terminate(f *fault, about func() []provider.Offering, ids []provider.InstanceID) error {
	for _, id := range ids {
		if m, known := c.machines[id]; known && m.inst.Live() && c.now.Before(m.protected) {
			return fmt.Errorf("terminate %s: %w: it is protected", id, provider.ErrDenied)
		}
	}
	if len(c.rules) > 0 {
		c.shape(f, TerminateCall, about(), 0)
	}
	if f.ignored {
		return nil
	}
	for _, id := range ids {
		m, known := c.machines[id]
		if !known || !m.inst.Live() {
			continue
		}
		if f.takes == 0 {
			c.end(m, c.now, provider.EndedByUs)
			continue
		}
		m.inst.State, m.ending = provider.Ending, c.now
		c.at(c.now.Add(f.takes), func(c *Cloud) { c.end(m, c.now, provider.EndedByUs) })
	}
	return nil
}
