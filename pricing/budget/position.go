package budget

import (
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Ask is what a launch would hold.
type Ask struct {
	Offering provider.Offering
	Count    int          // machines
	Rate     pricing.Rate // of one; 0: not known
	List     pricing.Rate // of one on demand; 0: not known
	For      []Part       // of all machines together; empty: nobody yet

	// Or is what may come in its stead, all machines of one zone: each limit counts that
	// of which it covers most, and every one of them must be allowed.
	Or []Other
}

// Other is another zone of what is asked for, at its own prices.
type Other struct {
	Offering   provider.Offering
	Rate, List pricing.Rate // as in Ask
}

// as is what an ask is if it comes up as other.
func (a Ask) as(other Other) Ask {
	b := Ask{Offering: other.Offering, Count: a.Count, Rate: other.Rate, List: other.List, For: slices.Clone(a.For)}
	for i := range b.For {
		b.For[i].Facts.Region, b.For[i].Facts.Zone = other.Offering.Region, other.Offering.Zone
	}
	return b
}

// all are the ways in which an ask may come up.
func (a Ask) all() []Ask {
	list := make([]Ask, 1, 1+len(a.Or))
	list[0] = a
	for _, other := range a.Or {
		list = append(list, a.as(other))
	}
	return list
}

// parts are the parts of an ask or of what is held.
func parts(o provider.Offering, list []Part) []Part {
	if len(list) > 0 {
		return list
	}
	return []Part{{Facts: FactsOf(o, provider.InstanceType{}), Count: 1}}
}

// share is what a limit covers of a rate.
func (l *Limit) share(rate pricing.Rate, o provider.Offering, list []Part) (pricing.Rate, bool) {
	if l.Over == nil {
		return rate, true
	}
	n, of := covered(parts(o, list), l.Over)
	return portion(rate, n, of), n > 0
}

// lump is what a limit covers of the money that is paid at once, as the rate by which it
// shortens the time that what is left lasts: the same money, over that time. Limits on
// rates alone have none.
func (l *Limit) lump(list []Part) pricing.Rate {
	if l.Left == nil {
		return 0
	}
	sum := pricing.Money(0)
	for i := range list {
		for _, x := range list[i].Lumps {
			if l.Over == nil || l.Over(x.Facts) {
				sum += x.Amount
			}
		}
	}
	switch {
	case sum <= 0:
		return 0
	case l.Left.Lasts <= 0:
		return Unlimited
	}
	hi, lo := bits.Mul64(uint64(sum), uint64(time.Hour))
	if hi >= uint64(l.Left.Lasts) {
		return Unlimited
	}
	rate, rest := bits.Div64(hi, lo, uint64(l.Left.Lasts))
	if rest > 0 {
		rate++
	}
	return pricing.Rate(min(rate, math.MaxInt64))
}

// Share is what a limit covers of the rates of launches.
func (l *Limit) Share(asks ...Ask) pricing.Rate {
	sum := pricing.Rate(0)
	for _, a := range asks {
		rate, _ := l.most(a, a.Count)
		sum = plus(sum, rate)
	}
	return sum
}

// most is the most that a limit covers of count machines of an ask, in whatever zone
// they come up.
func (l *Limit) most(a Ask, count int) (rate pricing.Rate, any bool) {
	if len(a.Or) == 0 {
		rate, any = l.share(times(a.Rate, count), a.Offering, a.For)
	}
	for _, way := range a.all() {
		if len(a.Or) == 0 {
			break // the one way is looked at
		}
		r, some := l.share(times(way.Rate, count), way.Offering, way.For)
		rate, any = max(rate, r), any || some
	}
	if once := l.lump(a.For); once > 0 && count > 0 {
		rate, any = plus(rate, once), true
	}
	return rate, any
}

// Position is how much of some limits is used: by what is held, and by what is under
// way. It is a value to reckon with: Take changes it, Clone keeps it.
type Position struct {
	limits []Limit
	held   []Held
	asked  map[string]reservation // by token
	sums   []pricing.Rate         // of held, per limit
	blind  []string               // per limit: what is held and has no rate
}

// NewPosition is what is held under limits, with nothing under way.
func NewPosition(limits []Limit, held []Held) *Position {
	p := &Position{limits: limits, held: held, asked: map[string]reservation{}}
	p.sum()
	return p
}

// under is the same position under other limits; of nil, with nothing held.
func (p *Position) under(limits []Limit) *Position {
	if p == nil {
		return NewPosition(limits, nil)
	}
	next := NewPosition(limits, p.held)
	next.asked = maps.Clone(p.asked)
	return next
}

func (p *Position) sum() {
	p.sums, p.blind = make([]pricing.Rate, len(p.limits)), make([]string, len(p.limits))
	for i := range p.limits {
		for _, h := range p.held {
			once := p.limits[i].lump(h.For)
			rate, any := p.limits[i].share(max(0, h.Rate), h.Offering, h.For)
			p.sums[i] = plus(p.sums[i], once)
			if !any {
				continue
			}
			if h.Rate <= 0 && p.blind[i] == "" {
				p.blind[i] = string(h.Instance)
			}
			p.sums[i] = plus(p.sums[i], rate)
		}
	}
}

// Clone is a position of its own.
func (p *Position) Clone() *Position {
	c := *p
	c.asked, c.sums = maps.Clone(p.asked), slices.Clone(p.sums)
	return &c
}

// Judge answers with *Refused of the limit that leaves the least room, or nil when all
// hold. What is under way as token is left out.
func (p *Position) Judge(token string, a Ask) error {
	return p.judge(token, reservation{ask: a})
}

func (p *Position) judge(token string, next reservation) error {
	var worst *Refused
	ways := next.ask.all()
	for i := range p.limits {
		l := &p.limits[i]
		asked, any := l.most(next.ask, next.count())
		if !any {
			continue
		}
		r := p.use(i, token)
		r.Asked = asked
		for _, way := range ways {
			if _, covers := l.share(way.Rate, way.Offering, way.For); !covers {
				continue
			}
			if way.Rate == 0 && r.Unpriced == "" {
				r.Unpriced = way.Offering.String()
			}
			if r.Why == "" {
				r.Why = l.refuses(way.Rate, way.List)
			}
		}
		if r.Why == "" {
			r.Why = l.Closed // though it covers nothing but what is paid at once, as JudgeStart has it
		}
		if r.Unpriced != "" {
			r.Why = ""
		}
		over := plus(plus(r.Held, r.Reserved), r.Asked) > l.Burn
		if !over && r.Unpriced == "" && r.Why == "" {
			continue
		}
		if worst == nil || stricter(r, *worst) {
			worst = &r
		}
	}
	if worst != nil {
		return worst
	}
	for _, way := range ways {
		if way.Rate == 0 {
			return &Refused{Policy: "budget", Unpriced: way.Offering.String()}
		}
	}
	return nil
}

// refuses says why one machine may not be bought, whatever is held; "" when it may.
func (l *Limit) refuses(rate, list pricing.Rate) string {
	switch {
	case l.Closed != "":
		return l.Closed
	case l.MaxRate > 0 && rate > l.MaxRate:
		return fmt.Sprintf("%s USD/h is more than the %s that a machine may cost", rate, l.MaxRate)
	case l.OfList > 0 && list == 0:
		return "the on-demand rate is not known, of which it may cost " + percent(l.OfList)
	case l.OfList > 0 && float64(rate) > l.OfList*float64(list):
		return fmt.Sprintf("%s USD/h is more than %s of the on-demand rate, %s", rate, percent(l.OfList), list)
	}
	return ""
}

// Refuses says why a limit forbids one machine of an offer to whom it covers; "" when
// it does not. It looks at no sum.
func (l *Limit) Refuses(f Facts, rate, list pricing.Rate) string {
	if l.Over != nil && !l.Over(f) {
		return ""
	}
	return l.refuses(rate, list)
}

// Start is a job that begins on a machine that is held already.
type Start struct {
	Job, Idle     Facts        // of what the job has there, and of the machine without jobs
	Before, After []Part       // who bears which part of the machine, without the job and with it
	Rate          pricing.Rate // of the machine
	Once          []Lump       // that the job pays at once
}

// more is what a limit covers more of the machine once the job is there. What it takes
// off others counts for them once it is there.
func (l *Limit) more(s *Start) pricing.Rate {
	if l.Over == nil {
		return 0 // all of the machine, before and after
	}
	before, of := covered(s.Before, l.Over)
	after, all := covered(s.After, l.Over)
	return max(0, portion(s.Rate, after, all)-portion(s.Rate, before, of))
}

// JudgeStart asks for what a job makes its limits cover more of a machine that is held
// already: its own part and what is idle there, less what they cover already, and money that
// is left for what is paid at once.
func (p *Position) JudgeStart(s Start) error {
	for i := range p.limits {
		l := &p.limits[i]
		begins, once := l.Over != nil && l.Over(s.Job) && !l.Over(s.Idle), l.lump([]Part{{Lumps: s.Once}})
		if !begins && once == 0 {
			continue
		}
		r := p.use(i, "")
		if r.Asked = once; begins {
			r.Asked = plus(once, l.more(&s))
		}
		if r.Why = l.Closed; r.Why != "" || r.Asked > 0 && plus(plus(r.Held, r.Reserved), r.Asked) > l.Burn {
			return &r
		}
	}
	return nil
}

// TakeStart counts what was judged.
func (p *Position) TakeStart(s Start) {
	for i := range p.limits {
		p.sums[i] = plus(p.sums[i], plus(p.limits[i].more(&s), p.limits[i].lump([]Part{{Lumps: s.Once}})))
	}
}

// DropStart takes back what TakeStart counted of the machine.
func (p *Position) DropStart(s Start) {
	for i := range p.limits {
		p.sums[i] -= p.limits[i].more(&s)
	}
}

// Take counts a launch from now on.
func (p *Position) Take(token string, a Ask) { p.asked[token] = reservation{ask: a} }

// stricter orders refusals: a missing rate first, then what is closed, then the least
// room left, then the name.
func stricter(a, b Refused) bool {
	if (a.Unpriced != "") != (b.Unpriced != "") {
		return a.Unpriced != ""
	}
	if (a.Why != "") != (b.Why != "") {
		return a.Why != ""
	}
	roomA, roomB := a.Limit-plus(a.Held, a.Reserved), b.Limit-plus(b.Held, b.Reserved)
	if roomA != roomB {
		return roomA < roomB
	}
	return a.Policy < b.Policy
}

// use is what counts against a limit, without the reservation of one token.
func (p *Position) use(i int, without string) Refused {
	l := &p.limits[i]
	r := Refused{Policy: l.Name, Limit: l.Burn, Left: l.Left, Held: p.sums[i], Unpriced: p.blind[i]}
	for token, asked := range p.asked { // a sum: the order does not matter
		if token != without {
			rate, _ := l.most(asked.ask, asked.count())
			r.Reserved = plus(r.Reserved, rate)
		}
	}
	return r
}

// Uses tells how far each limit is used, in the order in which they were given.
func (p *Position) Uses() []Use {
	uses := make([]Use, 0, len(p.limits))
	for i := range p.limits {
		r := p.use(i, "")
		uses = append(uses, Use{Policy: r.Policy, Held: r.Held, Reserved: r.Reserved, Limit: r.Limit, Unpriced: r.Unpriced != ""})
	}
	return uses
}

// Use is how far one limit is used.
type Use struct {
	Policy                string
	Held, Reserved, Limit pricing.Rate
	Unpriced              bool // a machine without a known rate is held: Held is a lower bound
}

// Over is by how much the limit is passed, as when it was lowered below what
// runs; 0 when it holds.
func (u Use) Over() pricing.Rate { return max(0, plus(u.Held, u.Reserved)-u.Limit) }
