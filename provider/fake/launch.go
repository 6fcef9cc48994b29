package fake

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/goodfleet/goodfleet/provider"
)

// answer is what a token bought, kept for its repetitions.
type answer struct {
	req    provider.LaunchRequest
	bought []*machine
	err    error // what was said about the rest; nil if all came up
}

// instances lists what the token bought as it is now.
func (a answer) instances() []provider.Instance {
	list := make([]provider.Instance, len(a.bought))
	for i, m := range a.bought {
		list[i] = m.inst
	}
	return list
}

// Launch buys machines of one offering. Every error is a *provider.LaunchError.
//
// It refuses with ErrCapacity while the pool is down or holds too few machines,
// with ErrQuota when the account's class has no room, and with ErrClosed outside
// the time of a block or when it is full; with fewer than Count but at least Min to
// be had, it returns those together with the error. A token that bought something
// buys nothing again: it returns the same machines and the same error, ErrSpent
// once all of them have ended, and ErrInvalid if the request has changed. A token
// that was refused may be tried again.
func (c *Cloud) Launch(ctx context.Context, req provider.LaunchRequest) ([]provider.Instance, error) {
	about := func() []provider.Offering { return []provider.Offering{req.Offering} }
	got, err := serve(ctx, c, LaunchCall, about, req.Count, func(f *fault) ([]provider.Instance, error) {
		return c.launch(f, req)
	})
	var told *provider.LaunchError
	if err != nil && !errors.As(err, &told) {
		err = &provider.LaunchError{Offering: req.Offering, Want: req.Count, Err: err}
	}
	return got, err
}

func (c *Cloud) launch(f *fault, req provider.LaunchRequest) ([]provider.Instance, error) {
	if done, known := c.tokens[req.Token]; known {
		return c.repeat(done, req)
	}
	if underWay, known := c.late[req.Token]; known {
		if !req.Equal(underWay) {
			return nil, otherRequest(req)
		}
		return nil, fmt.Errorf("launch: %w: it is under way", provider.ErrUnknown)
	}
	c.shape(f, LaunchCall, []provider.Offering{req.Offering}, req.Count)
	if f.late > 0 {
		if err := c.sane(req); err != nil {
			return nil, err
		}
		c.late[req.Token] = req
		c.at(c.now.Add(f.late), func(c *Cloud) {
			delete(c.late, req.Token)
			_, _ = c.buy(f, req) // nobody is there to be told
		})
		return nil, fmt.Errorf("launch: %w: no answer", provider.ErrUnknown)
	}
	return c.buy(f, req)
}

// buy grants what can be had and brings it to life.
func (c *Cloud) buy(f *fault, req provider.LaunchRequest) ([]provider.Instance, error) {
	came, got, err := c.choose(req)
	if f.capped && f.most < got {
		got, err = f.most, fmt.Errorf("%w: %d of %d, so the scenario says", provider.ErrCapacity, f.most, req.Count)
		switch {
		case f.silent:
			err = nil
		case got < req.Min:
			got = 0
		}
	}
	if got > 0 {
		got += f.surplus
	}
	if err != nil {
		err = &provider.LaunchError{Offering: came.Offering, Want: req.Count, Got: got, Err: err}
	}
	if got == 0 {
		return nil, err
	}
	done := answer{req: req, bought: c.create(came, got, false), err: err}
	c.tokens[req.Token] = done
	c.happen(c.now) // without a boot delay, it runs at once
	return c.tell(done.instances()), err
}

// choose is the request at the first of its offerings that grants all of it, else at
// the one that grants most; the error is that one's.
func (c *Cloud) choose(req provider.LaunchRequest) (came provider.LaunchRequest, got int, err error) {
	if err := c.sane(req); err != nil {
		return req, 0, err
	}
	for i, o := range req.Offerings() {
		try := req
		try.Offering, try.Alternates = o, nil
		n, refused := c.grant(try)
		if i == 0 || n > got {
			came, got, err = try, n, refused
		}
		if refused == nil {
			break
		}
	}
	return came, got, err
}

// repeat answers a token that bought something before.
func (c *Cloud) repeat(done answer, req provider.LaunchRequest) ([]provider.Instance, error) {
	if !req.Equal(done.req) {
		return nil, otherRequest(req)
	}
	for _, m := range done.bought {
		if m.inst.Live() {
			return c.tell(done.instances()), done.err
		}
	}
	return c.tell(done.instances()), &provider.LaunchError{Offering: req.Offering, Want: req.Count, Got: len(done.bought),
		Err: fmt.Errorf("%w: token %s", provider.ErrSpent, req.Token)}
}

func otherRequest(req provider.LaunchRequest) error {
	return &provider.LaunchError{Offering: req.Offering, Want: req.Count,
		Err: fmt.Errorf("%w: token %s was sent before with another request", provider.ErrInvalid, req.Token)}
}

// sane reports why req can never be granted.
func (c *Cloud) sane(req provider.LaunchRequest) error {
	if err := req.Validate(); err != nil {
		return err
	}
	for _, o := range req.Offerings() {
		if !c.sells(o) {
			return fmt.Errorf("%w: %s is not sold here", provider.ErrInvalid, o)
		}
	}
	return nil
}

// grant decides how many machines req gets. The error speaks of the rest: it is
// nil only if all are granted, and none is granted below req.Min.
func (c *Cloud) grant(req provider.LaunchRequest) (n int, err error) {
	if err := c.sane(req); err != nil {
		return 0, err
	}
	p := c.supply(req.Offering)
	n = req.Count
	if room, limited := c.room(req.Offering); limited && room < n {
		n, err = room, fmt.Errorf("%w: room for %d of %d", provider.ErrQuota, room, req.Count)
	}
	if n < req.Min {
		return 0, err
	}
	lack := provider.ErrCapacity
	if p.block != nil {
		if err := p.block.closed(c.now); err != nil {
			return 0, err
		}
		lack = provider.ErrClosed
	}
	if !p.up(c.now) {
		return 0, fmt.Errorf("%w: pool %s is down", lack, p.name)
	}
	if free := max(0, p.holds(c.now)-p.live); free < n {
		n, err = free, fmt.Errorf("%w: pool %s has %d left", lack, p.name, free)
	}
	if n < req.Min {
		return 0, err
	}
	return n, err
}

// supply is where machines of o come from; nil when it is not sold.
func (c *Cloud) supply(o provider.Offering) *pool {
	if o.Reservation == "" {
		return c.pools[o.Pool()]
	}
	if p := c.blocks[o.Reservation]; p != nil && p.key == o.Pool() {
		return p
	}
	return nil
}

// sells reports whether o is among the offerings, which name our account or none.
func (c *Cloud) sells(o provider.Offering) bool {
	return c.supply(o) != nil && (o.Account == "" || o.Account == c.cfg.Account)
}

// room is how many more machines of o the quota of its class allows. limited is
// false when the class has none.
func (c *Cloud) room(o provider.Offering) (n int, limited bool) {
	class, use := c.charge(o)
	q, limited := c.quotas[class]
	if !limited || use == 0 {
		return 0, false
	}
	return max(0, q.Limit-c.used[class]) / use, true
}

// charge is the class that a machine of o counts against, and by how much; 0 if
// the class is not limited.
func (c *Cloud) charge(o provider.Offering) (class provider.QuotaClass, use int) {
	t, _ := c.cfg.Catalogue.Lookup(o.Cloud, o.Type)
	class = c.ours(provider.QuotaClassOf(o, t))
	if q, limited := c.quotas[class]; limited {
		use = q.Unit.Use(t)
	}
	return class, use
}

// create brings n machines to life, of ours or of another fleet.
func (c *Cloud) create(req provider.LaunchRequest, n int, foreign bool) []*machine {
	t, _ := c.cfg.Catalogue.Lookup(req.Offering.Cloud, req.Offering.Type)
	boot := c.cfg.Climate.Boot(t)
	class, use := c.charge(req.Offering)
	p := c.supply(req.Offering)
	p.up(c.now) // fates look ahead from here
	bought := make([]*machine, n)
	for i := range bought {
		m := &machine{
			inst: provider.Instance{ID: c.newID(), Offering: req.Offering, State: provider.Pending, Tags: req.Tags, Launched: c.now},
			pool: p, class: class, use: use, accelerators: t.Count, memGiB: t.MemGiB, foreign: foreign,
		}
		c.fate(m, c.now, boot)
		if foreign {
			p.foreign++
		} else {
			p.launched++
		}
		p.live++
		c.used[class] += use
		c.machines[m.inst.ID] = m
		bought[i] = m
	}
	if len(c.rules) > 0 && !foreign {
		c.befalls(marking, LaunchCall, []provider.Offering{req.Offering}, req.Count, func(r *rule) {
			for _, m := range bought {
				r.mark(m)
			}
		})
	}
	for _, m := range bought {
		c.live(m)
	}
	c.ever = append(c.ever, bought...)
	c.listed = append(c.listed, bought...)
	return bought
}

// newID is the next id, in the manner of the cloud: "i-0123456789abcdef0" on AWS,
// a long number elsewhere.
func (c *Cloud) newID() provider.InstanceID {
	for {
		n := c.ids.Uint64()
		id := provider.InstanceID(strconv.FormatUint(n>>1, 10))
		if c.cfg.Name == "aws" {
			id = provider.InstanceID(fmt.Sprintf("i-0%016x", n))
		}
		if _, taken := c.machines[id]; !taken {
			return id
		}
	}
}
