package fake

import (
	"strconv"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// row is a line of a listing behind which there is no machine of ours: it may say
// anything, and its fields need not make sense.
type row struct {
	inst        provider.Instance
	from, until time.Time // until zero: no end
}

// rowShown is a statement about a row.
type rowShown struct {
	inst provider.Instance // times are since the statement's own
	set  []func(i *provider.Instance, at time.Time)
	span time.Duration

	placed bool // its offering was named: account and region are those of the zone
}

// readShows reads "FIELD=VALUE ... [for TIME]". Fields that are left out stay
// zero, as a listing that lost them would have it.
func readShows(l *line) (deed, pattern) {
	d := &rowShown{}
	for len(l.words) > 0 && l.err == nil {
		if l.words[0] == "for" {
			d.span = l.span()
			break
		}
		field, value, ok := strings.Cut(l.word("a field"), "=")
		if !ok {
			l.fail("%q: want FIELD=VALUE", field)
			break
		}
		d.read(l, field, value)
	}
	return d, pattern(d.inst.Offering.Cloud)
}

func (d *rowShown) read(l *line, field, value string) {
	number := func(bits int) int64 {
		n, err := strconv.ParseInt(value, 10, bits)
		if err != nil {
			l.fail("%s=%s: want a number", field, value)
		}
		return n
	}
	since := func(to func(*provider.Instance) *time.Time) {
		t := &line{words: []string{value}}
		after := t.duration(field, true)
		if t.err != nil {
			l.fail("%s: %w", field, t.err)
			return
		}
		d.set = append(d.set, func(i *provider.Instance, at time.Time) { *to(i) = at.Add(after) })
	}
	i := &d.inst
	switch field {
	case "id":
		i.ID = provider.InstanceID(value)
	case "offering":
		d.offering(l, value)
	case "cloud":
		i.Offering.Cloud = value
	case "account":
		i.Offering.Account, d.placed = value, false
	case "region":
		i.Offering.Region, d.placed = value, false
	case "zone":
		i.Offering.Zone = value
	case "type":
		i.Offering.Type = value
	case "market":
		if m, err := provider.ParseMarket(value); err == nil {
			i.Offering.Market = m
		} else {
			i.Offering.Market = provider.Market(number(8))
		}
	case "reservation":
		i.Offering.Reservation = value
	case "state":
		for s := provider.Pending; s <= provider.Ended; s++ {
			if s.String() == value {
				i.State = s
				return
			}
		}
		i.State = provider.InstanceState(number(8))
	case "fleet":
		i.Tags.Fleet = value
	case "intent":
		i.Tags.Intent = value
	case "epoch":
		i.Tags.Epoch = number(64)
	case "round":
		i.Tags.Round = number(64)
	case "launched":
		since(func(i *provider.Instance) *time.Time { return &i.Launched })
	case "started":
		since(func(i *provider.Instance) *time.Time { return &i.Started })
	case "ended":
		since(func(i *provider.Instance) *time.Time { return &i.Ended })
	case "home":
		since(func(i *provider.Instance) *time.Time { return &i.CalledHome })
	case "cause":
		i.Cause = provider.EndCause(number(8))
	case "accelerators":
		i.Accelerators = int(number(32))
	default:
		l.fail("%q: an instance has no such field", field)
	}
}

// offering reads "cloud/zone/type/market" or ".../reservation" into the fields. The
// name of an offering has no account and no region: they are those in which the cloud
// sells something in the zone.
func (d *rowShown) offering(l *line, value string) {
	p, err := parsePattern(value)
	if err != nil {
		l.fail("offering=%w", err)
		return
	}
	parts := strings.Split(string(p), "/")
	o := &d.inst.Offering
	o.Cloud, o.Zone, o.Type = parts[0], parts[1], parts[2]
	if o.Market, err = provider.ParseMarket(parts[3]); err != nil {
		l.fail("offering=%s: %w", value, err)
	}
	if len(parts) == 5 {
		o.Reservation = parts[4]
	}
	d.placed = true
}

func (d *rowShown) fits(*Cloud) error { return nil }

func (d *rowShown) begin(c *Cloud, at time.Time) {
	r := row{inst: d.inst, from: at}
	if d.placed {
		r.inst.Offering.Account, r.inst.Offering.Region = c.placeOf(r.inst.Offering.Zone)
	}
	for _, set := range d.set {
		set(&r.inst, at)
	}
	if d.span > 0 {
		r.until = at.Add(d.span)
	}
	c.shown = append(c.shown, r)
}

// placeOf is the account and the region in which the cloud sells something in a zone;
// empty when it does not.
func (c *Cloud) placeOf(zone string) (account, region string) {
	for _, o := range c.cfg.Offerings {
		if o.Zone == zone {
			return o.Account, o.Region
		}
	}
	return "", ""
}
