package fake

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// quotaSet sets a limit of the account.
type quotaSet struct {
	class provider.QuotaClass // without cloud and account
	limit int
	unit  provider.QuotaUnit // 0: as before
	span  time.Duration
}

// readQuota reads "REGION/FAMILY/MARKET N [vcpu|accelerators] [for TIME]". The unit
// may be left out where the class has a limit before.
func readQuota(l *line) (deed, pattern) {
	d := &quotaSet{}
	name := l.word("a quota class")
	parts := strings.Split(name, "/")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" {
		l.fail("%q: want region/family/market", name)
		return d, ""
	}
	market, err := provider.ParseMarket(parts[2])
	if err != nil && l.err == nil {
		l.err = err
	}
	d.class = provider.QuotaClass{Region: parts[0], Family: parts[1], Market: market}
	d.limit = l.count("the limit")
	for _, u := range []provider.QuotaUnit{provider.VCPUs, provider.Accelerators} {
		if l.has(u.String()) {
			d.unit = u
		}
	}
	d.span = l.span()
	return d, ""
}

func (d *quotaSet) named(c *Cloud) provider.QuotaClass {
	class := d.class
	class.Cloud, class.Account = c.cfg.Name, c.cfg.Account
	return class
}

func (d *quotaSet) fits(c *Cloud) error {
	if !c.counts(d.named(c)) {
		return fmt.Errorf("nothing that is sold here counts against %s/%s/%s", d.class.Region, d.class.Family, d.class.Market)
	}
	if _, limited := c.quotas[d.named(c)]; !limited && d.unit == 0 {
		return fmt.Errorf("the class has no limit before: want vcpu or accelerators after the new one")
	}
	return nil
}

// counts reports whether anything that is sold counts against a class.
func (c *Cloud) counts(class provider.QuotaClass) bool {
	return slices.ContainsFunc(c.sold, func(o provider.Offering) bool {
		charged, _ := c.charge(o)
		return charged == class
	})
}

func (d *quotaSet) begin(c *Cloud, at time.Time) {
	c.at(at, func(c *Cloud) {
		class := d.named(c)
		before, limited := c.quotas[class]
		q := before
		if !limited {
			q.Class = class
		}
		if q.Limit = d.limit; d.unit != 0 {
			q.Unit = d.unit
		}
		c.setQuota(class, q)
		if d.span == 0 {
			return
		}
		c.at(at.Add(d.span), func(c *Cloud) {
			if limited {
				c.setQuota(class, before)
			} else {
				c.liftQuota(class)
			}
		})
	})
}

// setQuota limits a class from now on, and counts what is there.
func (c *Cloud) setQuota(class provider.QuotaClass, q provider.Quota) {
	c.liftQuota(class)
	c.quotas[class] = q
	c.cfg.Quotas = append(c.cfg.Quotas, q)
	for _, m := range c.listed {
		if m.class == class && m.inst.State != provider.Ended {
			_, m.use = c.charge(m.inst.Offering)
			c.used[class] += m.use
		}
	}
}

// liftQuota leaves a class without a limit.
func (c *Cloud) liftQuota(class provider.QuotaClass) {
	delete(c.quotas, class)
	delete(c.used, class)
	var kept []provider.Quota // the caller's own list stays as it is
	for _, q := range c.cfg.Quotas {
		if c.ours(q.Class) != class {
			kept = append(kept, q)
		}
	}
	c.cfg.Quotas = kept
	for _, m := range c.listed {
		if m.class == class {
			m.use = 0
		}
	}
}
