package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// ErrBroken is wrapped by every error about an invariant that did not hold.
var ErrBroken = errors.New("invariant broken")

// checker proves, from what the clouds and the gangs are and not from what the
// loop believes, that the fleet is lawful.
type checker struct {
	catalogue *provider.Catalogue
	quotas    []provider.Quota
	burnCap   pricing.Rate
	image     ledger.Image
	rate      func(o provider.Offering, at time.Time) (pricing.Rate, bool)
}

// round checks the fleet right after a round at now.
func (c *checker) round(now time.Time, machines []provider.Instance, gangs []autoscale.Gang) error {
	there := make(map[provider.InstanceID]provider.Instance, len(machines))
	for _, m := range machines {
		there[m.ID] = m
	}
	for _, check := range []error{c.gangs(there, gangs), c.quota(machines), c.burn(now, machines)} {
		if check != nil {
			return fmt.Errorf("%w: round at %s: %w", ErrBroken, now.UTC().Format(time.RFC3339), check)
		}
	}
	return nil
}

// gangs checks that gangs are whole, lie on running machines of their offering,
// and share no accelerator, but for two at most that both say so.
func (c *checker) gangs(there map[provider.InstanceID]provider.Instance, gangs []autoscale.Gang) error {
	type slot struct {
		machine     provider.InstanceID
		accelerator int
	}
	holder := map[slot]*autoscale.Gang{}
	for at := range gangs {
		g := &gangs[at]
		t, ok := c.catalogue.Lookup(g.Config.Cloud, g.Config.Type)
		replicas := 0
		machines := map[provider.InstanceID]bool{}
		for _, n := range g.Nodes {
			m, here := there[n.Instance]
			switch {
			case !here || m.State != provider.Running:
				return fmt.Errorf("job %s: machine %s does not run", g.Job, n.Instance)
			case m.Offering != g.Offering || m.Offering.Type != g.Config.Type:
				return fmt.Errorf("job %s: machine %s is of %s, not of %s", g.Job, n.Instance, m.Offering, g.Offering)
			case machines[n.Instance]:
				return fmt.Errorf("job %s: machine %s carries two of its nodes", g.Job, n.Instance)
			}
			machines[n.Instance] = true
			replicas += len(n.Accelerators)
			for _, i := range n.Accelerators {
				s := slot{n.Instance, i}
				if other, taken := holder[s]; taken && (g.Config.With != other.Job || other.Config.With != g.Job) {
					return fmt.Errorf("accelerator %d of %s is held by %s and by %s", i, n.Instance, other.Job, g.Job)
				}
				if !ok || i < 0 || i >= t.Count {
					return fmt.Errorf("job %s: machine %s has no accelerator %d", g.Job, n.Instance, i)
				}
				holder[s] = g
			}
		}
		if len(g.Nodes) != g.Config.Nodes || replicas != g.Config.Replicas {
			return fmt.Errorf("job %s: the gang has %d replicas on %d machines, its config %d on %d",
				g.Job, replicas, len(g.Nodes), g.Config.Replicas, g.Config.Nodes)
		}
	}
	return nil
}

// quota checks that live machines, those on their way included, fit the limits.
func (c *checker) quota(machines []provider.Instance) error {
	for _, q := range c.quotas {
		used := 0
		for _, m := range machines {
			t, ok := c.catalogue.Lookup(m.Offering.Cloud, m.Offering.Type)
			if !ok || !m.Live() {
				continue
			}
			class := provider.QuotaClassOf(m.Offering, t)
			class.Account = q.Class.Account
			if class == q.Class {
				used += q.Unit.Use(t)
			}
		}
		if used > q.Limit {
			return fmt.Errorf("%d of %d %s of %s %s in %s are used", used, q.Limit, q.Unit, q.Class.Family, q.Class.Market, q.Class.Region)
		}
	}
	return nil
}

// burn checks that nothing was bought past the cap. A spot price that rises under
// machines that are held may pass it; buying in such an hour may not.
func (c *checker) burn(now time.Time, machines []provider.Instance) error {
	if c.burnCap == 0 || !slices.ContainsFunc(machines, func(m provider.Instance) bool { return m.Launched.Equal(now) }) {
		return nil
	}
	if sum := c.burnOf(now, machines); sum > c.burnCap {
		return fmt.Errorf("machines of %s USD/h are held after a launch, the cap is %s", sum, c.burnCap)
	}
	return nil
}

// burnOf is the sum of the rates of live machines.
func (c *checker) burnOf(now time.Time, machines []provider.Instance) pricing.Rate {
	var sum pricing.Rate
	for _, m := range machines {
		if m.Live() {
			rate, _ := c.rate(m.Offering, now)
			sum += rate
		}
	}
	return sum
}

// books checks the charges of a whole run: that they add up by account and by
// instance, and that each machine's whole life, and nothing else, is booked.
func (c *checker) books(charges []ledger.Charge, machines []provider.Instance) error {
	if err := ledger.Check(charges); err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	used := map[provider.InstanceID]time.Duration{}
	for i := range charges {
		if ch := &charges[i]; ch.Item == ledger.Machine && (ch.Kind == ledger.Usage || ch.Kind == ledger.Reversal) {
			used[ch.Instance] += ch.Time()
		}
	}
	for _, m := range machines {
		t, _ := c.catalogue.Lookup(m.Offering.Cloud, m.Offering.Type)
		life := time.Duration(0)
		if !m.Started.IsZero() {
			life = m.Ended.Sub(m.Started) * time.Duration(t.Count)
		}
		free := m.Cause == provider.Interrupted && (used[m.ID] == 0 || // within the hour that is not billed
			c.image == ledger.SUSE && used[m.ID] == m.Ended.Sub(m.Started).Truncate(time.Hour)*time.Duration(t.Count)) // and any hour of SUSE
		if used[m.ID] != life && !free {
			return fmt.Errorf("%w: machine %s: %v of %v accelerator-time are booked", ErrBroken, m.ID, used[m.ID], life)
		}
		delete(used, m.ID)
	}
	if len(used) > 0 {
		return fmt.Errorf("%w: machine %s is booked and never was", ErrBroken, slices.Min(slices.Collect(maps.Keys(used))))
	}
	return nil
}
