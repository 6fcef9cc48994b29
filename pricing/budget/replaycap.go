package budget

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// replayRound is the time between two looks at a step that is reached for some rounds in a
// row: a round of default settings.
const replayRound = time.Minute

// replayCap goes through what was spent of a cap, period by period.
func (p *Policy) replayCap(key string, spends []Spend) []Finding {
	t := p.Total(key)
	tally := NewTally(t.Period)
	var list []Finding
	for covered := t.pieces(spends); len(covered) > 0; {
		from, until := t.Span(covered[0].At)
		n := slices.IndexFunc(covered, func(x Spend) bool { f, _ := t.Span(x.At); return !f.Equal(from) })
		if n < 0 {
			n = len(covered)
		}
		inside := slices.DeleteFunc(slices.Clone(covered[:n]), func(x Spend) bool { return x.At.Before(from) || !x.At.Before(until) }) // of a window
		if len(inside) > 0 {
			r := &replay{policy: p, key: key, total: t, from: from, until: until, course: course{rest: inside}, tally: tally, mark: Mark{From: from}}
			r.plain = p.Cap.Amount + p.carried(key, spends, inside[0].At)
			r.run()
			list = append(list, r.found...)
		}
		covered = covered[n:]
	}
	return list
}

// carried is what the period of an instant takes over for one key.
func (p *Policy) carried(key string, spends []Spend, at time.Time) pricing.Money {
	if p.Cap.Unused == 0 && !p.Cap.Overdraft {
		return 0
	}
	s := p.standing(key, spends, at)
	return s.Carried
}

// replay is the course of one period of a cap.
type replay struct {
	policy      *Policy
	key         string
	total       Total
	from, until time.Time
	plain       pricing.Money // the amount without exceptions
	course      course
	tally       *Tally
	mark        Mark
	found       []Finding
}

// course is spends as they accrue. now has passed.
type course struct {
	rest   []Spend // that begin later, by time
	active []Spend
	done   pricing.Money
	now    time.Time
}

// at is what is spent by an instant up to which nothing begins and nothing ends.
func (c *course) at(now time.Time) pricing.Money {
	sum := c.done
	for i := range c.active {
		x := &c.active[i]
		sum += x.Amount.Accrued(x.At, x.To, now)
	}
	return sum
}

// pass lets time pass to an instant; what begins and ends there has.
func (c *course) pass(now time.Time, spent func(from, to time.Time, amount pricing.Money)) {
	if before := c.now; len(c.active) > 0 {
		spent(before, now, c.at(now)-c.at(before))
	}
	c.now = now
	c.active = slices.DeleteFunc(c.active, func(x Spend) bool {
		if x.To.After(now) {
			return false
		}
		c.done += x.Amount
		return true
	})
	for len(c.rest) > 0 && !c.rest[0].At.After(now) {
		x := c.rest[0]
		if c.rest = c.rest[1:]; x.To.After(now) {
			c.active = append(c.active, x)
			continue
		}
		c.done += x.Amount
		spent(now, now, x.Amount)
	}
}

// next is when something begins or ends; false: nothing does any more.
func (c *course) next() (at time.Time, some bool) {
	for i := range c.active {
		if x := &c.active[i]; !some || x.To.Before(at) {
			at, some = x.To, true
		}
	}
	if len(c.rest) > 0 && (!some || c.rest[0].At.Before(at)) {
		at, some = c.rest[0].At, true
	}
	return at, some
}

// run goes through the period: to each instant at which a spend begins or ends, an exception
// does, a step or the amount is come to, or a forecast has a slot more to go by.
func (r *replay) run() {
	r.course.pass(r.course.rest[0].At, r.tally.Add)
	for {
		r.look()
		next, some := r.course.next()
		if !some {
			break
		}
		r.course.pass(r.sooner(next), r.tally.Add)
	}
	for i := range r.found {
		r.found[i].After = r.course.done - r.found[i].Spent
	}
}

// sooner is the next instant at which a policy may turn, not after one up to which nothing
// begins and nothing ends.
func (r *replay) sooner(next time.Time) time.Time {
	now := r.course.now
	take := func(at time.Time) {
		if at.After(now) && at.Before(next) {
			next = at
		}
	}
	if _, until := r.policy.Added(now); !until.IsZero() {
		take(until)
	}
	for i, s := range r.policy.Steps {
		if s.Measure == Foretold {
			slot := r.total.Period.Slot()
			take(now.Truncate(slot).Add(slot))
		}
		switch k := r.stepMark(i); {
		case k.Done || k.Reached == 0:
		case k.Reached < s.Rounds:
			take(now.Add(replayRound))
		default:
			take(k.Turned.Add(r.policy.Cooldown))
		}
	}
	spent, amount := r.course.at(now), r.amount(now)
	for _, share := range r.shares() {
		goal := pricing.Money(math.Ceil(share * float64(amount)))
		if most := r.course.at(next); spent < goal && goal <= most {
			wait := float64(goal-spent) / float64(most-spent) * float64(next.Sub(now))
			at := now.Add(time.Duration(math.Ceil(wait/1e9)) * time.Second)
			for at.Before(next) && r.course.at(at) < goal {
				at = at.Add(time.Second)
			}
			take(at)
		}
	}
	return next
}

// shares are those of the amount at which something is done by what is spent.
func (r *replay) shares() []float64 {
	list := []float64{1}
	for _, s := range r.policy.Steps {
		if s.Measure != Foretold {
			list = append(list, s.At)
		}
	}
	return list
}

func (r *replay) stepMark(i int) StepMark {
	if i < len(r.mark.Steps) {
		return r.mark.Steps[i]
	}
	return StepMark{}
}

// amount is the cap at an instant; at the end of the period as it was just before.
func (r *replay) amount(at time.Time) pricing.Money {
	if !at.Before(r.until) {
		at = r.until.Add(-1)
	}
	added, _ := r.policy.Added(at)
	return max(0, r.plain+added)
}

// look does what the policy does now.
func (r *replay) look() {
	now, spent := r.course.now, r.course.at(r.course.now)
	amount := r.amount(now)
	if amount > r.mark.Stopped {
		r.mark.Stopped = 0
	}
	begin := func(what string, limit float64) {
		f := Finding{Policy: r.policy.Name, Key: r.key, Period: r.total.Period.String(), From: r.from, What: what, At: now, Spent: spent, Limit: fmt.Sprintf("%s of %s USD", percent(limit), amount)}
		if r.total.Period.Endless() {
			f.From = time.Time{}
		}
		r.found = append(r.found, f)
	}
	var turns []Turn
	r.mark, _, turns = r.policy.Walk(r.mark, Measures{Amount: amount, Spent: spent, Forecast: r.tally.Forecast(spent, now, r.until)}, now)
	for _, turn := range turns {
		if turn.Done {
			begin(turn.Step.String(), turn.Step.At)
		}
	}
	if r.mark.Stopped == 0 && spent >= amount {
		r.mark.Stopped = max(amount, 1)
		begin("stop as the amount ends", 1)
	}
}
