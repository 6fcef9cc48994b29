package ledger

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// Check proves that charges add up: no id comes twice, and what a Proof shows. The
// error names the charge that cannot be, or the first instance for which the rest fails.
func Check(charges []Charge) error {
	seen := make(map[string]struct{}, len(charges))
	p := NewProof()
	for i := range charges {
		c := &charges[i]
		if _, again := seen[c.ID]; again {
			return unbalanced(thing{c.Offering.Cloud, c.Item, string(c.Instance)}, fmt.Errorf("charge %s comes twice", c.ID))
		}
		seen[c.ID] = struct{}{}
		if err := p.Add(c); err != nil {
			return err
		}
	}
	return p.Done()
}

// Proof shows of charges, which it is given one by one, that they add up: what each
// instance cost sums to the total and fits, transfers and rises sum to zero, no
// account bears less than nothing of any run, and at no instant is more of a machine
// held than it has, or less than nothing. Of each charge it keeps 48 bytes.
type Proof struct {
	total   pricing.Money
	gross   pricing.Money // the sum of what amounts are without their signs: as long as it fits, all sums do
	things  numbered[thing]
	bearers numbered[bearer]
	byThing []int         // lines of each thing
	lines   [][]proofLine // in blocks, so that none is ever moved
}

// thing is what costs.
type thing struct {
	cloud string
	item  Item
	id    string
}

func (t thing) compare(u thing) int {
	return cmp.Or(strings.Compare(t.cloud, u.cloud), strings.Compare(string(t.item), string(u.item)), strings.Compare(t.id, u.id))
}

// numbered gives things numbers, in the order in which they come.
type numbered[T comparable] struct {
	numbers map[T]int32
	list    []T
	last    [2]int32 // those of the last two calls, which mostly come again
}

func (n *numbered[T]) of(x T) int32 {
	for _, number := range n.last {
		if int(number) < len(n.list) && n.list[number] == x {
			return number
		}
	}
	number, known := n.numbers[x]
	if !known {
		if n.numbers == nil {
			n.numbers = map[T]int32{}
		}
		number = int32(len(n.list))
		n.numbers[x] = number
		n.list = append(n.list, x)
	}
	n.last[0], n.last[1] = number, n.last[0]
	return number
}

// proofLine is what a proof keeps of a charge. Times are nanoseconds since 1970.
type proofLine struct {
	from, to      int64
	amount        pricing.Money
	thing, bearer int32 // by number
	of, share     int32
	effect        proofEffect
}

// proofEffect is which sums a charge must keep.
type proofEffect uint8

const (
	bears proofEffect = 1 << iota // of its bearer
	costs                         // of its run
	moves                         // of the transfers
	rises                         // of the rises
	holds                         // of the accelerators at each instant
)

const blockLines = 1 << 14

// NewProof is of no charges.
func NewProof() *Proof { return &Proof{} }

// unbalanced names what costs.
func unbalanced(t thing, err error) error {
	what := "instance"
	if t.item != Machine {
		what = string(t.item)
	}
	return fmt.Errorf("%s %s of %s: %w: %w", what, t.id, t.cloud, ErrUnbalanced, err)
}

// Add takes a charge in. The error is about a charge that cannot be, whatever else
// there is.
func (p *Proof) Add(c *Charge) error {
	t := thing{c.Offering.Cloud, c.Item, string(c.Instance)}
	metered := c.Kind != Correction && c.Kind != Rise && c.Kind != Purchase && c.Kind != Credit
	switch {
	case !c.From.Before(c.To) || metered && (c.Share == 0 || c.Of <= 0):
		return unbalanced(t, fmt.Errorf("charge %s: %d of %d accelerators from %s to %s", c.ID, c.Share, c.Of, c.From, c.To))
	case !c.Known && c.Amount != 0:
		return unbalanced(t, fmt.Errorf("charge %s: %s USD at no known rate", c.ID, c.Amount))
	case metered && c.Amount < 0 != (c.Share < 0) && c.Amount != 0:
		return unbalanced(t, fmt.Errorf("charge %s: %s USD for %d accelerators", c.ID, c.Amount, c.Share))
	case c.Amount == math.MinInt64 || max(c.Amount, -c.Amount, c.Price) > math.MaxInt64-p.gross:
		return unbalanced(t, fmt.Errorf("charge %s: with its %s USD the amounts sum to more than can be counted", c.ID, c.Amount))
	}
	p.gross += max(c.Amount, -c.Amount, c.Price)
	p.total += c.Amount
	l := proofLine{
		from: c.From.UnixNano(), to: c.To.UnixNano(), amount: c.Amount, of: int32(c.Of), share: int32(c.Share),
		thing: p.things.of(t), bearer: p.bearers.of(bearer{c.Run, c.Account, c.Job}),
	}
	if metered {
		l.effect |= bears
	}
	if c.Kind != Credit && c.Item != Other {
		l.effect |= costs
	}
	switch c.Kind {
	case Transfer:
		l.effect |= moves
	case Rise:
		l.effect |= rises
	}
	// The rest of a minimum is money for time after the end, in which the machine may
	// run again: it is not counted, nor are volumes, purchases and corrections without time.
	if c.Kind != Minimum && c.Kind != Purchase && c.Kind != Credit && c.Share != 0 && c.Item != Traffic && c.Item != Other {
		l.effect |= holds
	}
	if int(l.thing) == len(p.byThing) {
		p.byThing = append(p.byThing, 0)
	}
	p.byThing[l.thing]++
	if n := len(p.lines); n == 0 || len(p.lines[n-1]) == blockLines {
		p.lines = append(p.lines, make([]proofLine, 0, blockLines))
	}
	last := &p.lines[len(p.lines)-1]
	*last = append(*last, l)
	return nil
}

// Done is nil if everything that was added adds up.
func (p *Proof) Done() error {
	ends := make([]int, len(p.byThing)) // where the lines of each thing end, among those of all
	n := 0
	for i, lines := range p.byThing {
		ends[i] = n
		n += lines
	}
	order, at := make([]int32, n), int32(0)
	for _, block := range p.lines {
		for i := range block {
			order[ends[block[i].thing]] = at
			ends[block[i].thing]++
			at++
		}
	}
	byName := make([]int, len(p.byThing))
	for i := range byName {
		byName[i] = i
	}
	slices.SortFunc(byName, func(a, b int) int { return p.things.list[a].compare(p.things.list[b]) })
	var byInstances pricing.Money
	one := proofOfOne{bearers: p.bearers.list, sums: make([]bearerSums, len(p.bearers.list))}
	for _, t := range byName {
		one.lines = one.lines[:0]
		for _, i := range order[ends[t]-p.byThing[t] : ends[t]] {
			one.lines = append(one.lines, &p.lines[i/blockLines][i%blockLines])
		}
		cost, err := one.check()
		if err != nil {
			return unbalanced(p.things.list[t], err)
		}
		byInstances += cost
	}
	if p.total != byInstances {
		return fmt.Errorf("%w: %s by instance, %s in all", ErrUnbalanced, byInstances, p.total)
	}
	return nil
}

// proofOfOne is the proof of one instance. It is used again for the next.
type proofOfOne struct {
	bearers []bearer
	lines   []*proofLine
	sums    []bearerSums // by the number of the bearer; nothing between two instances
	touched []int32      // bearers of this one
	borders []border
}

// bearerSums are of one bearer.
type bearerSums struct {
	borne, cost pricing.Money
	held        int64 // accelerators
	touched     bool
}

// border is where the accelerators held by a bearer change.
type border struct {
	at             int64
	bearer, change int32
}

func (one *proofOfOne) check() (cost pricing.Money, err error) {
	var moved, risen pricing.Money
	for _, l := range one.lines {
		s := &one.sums[l.bearer]
		if !s.touched {
			s.touched = true
			one.touched = append(one.touched, l.bearer)
		}
		cost += l.amount
		if l.effect&bears != 0 {
			s.borne += l.amount
		}
		if l.effect&costs != 0 {
			s.cost += l.amount
		}
		if l.effect&moves != 0 {
			moved += l.amount
		}
		if l.effect&rises != 0 {
			risen += l.amount
		}
	}
	defer one.clear()
	switch {
	case moved != 0:
		return 0, fmt.Errorf("transfers sum to %s USD", moved)
	case risen != 0:
		return 0, fmt.Errorf("rises sum to %s USD", risen)
	}
	if err := one.checkBearers(); err != nil {
		return 0, err
	}
	return cost, one.checkTimes()
}

func (one *proofOfOne) clear() {
	for _, b := range one.touched {
		one.sums[b] = bearerSums{}
	}
	one.touched = one.touched[:0]
}

// checkBearers finds who bears less than nothing of a run, and a run that costs so.
func (one *proofOfOne) checkBearers() error {
	slices.SortFunc(one.touched, func(a, b int32) int { return one.bearers[a].compare(one.bearers[b]) })
	for i := 0; i < len(one.touched); {
		run, cost := one.bearers[one.touched[i]].run, pricing.Money(0)
		for ; i < len(one.touched) && one.bearers[one.touched[i]].run == run; i++ {
			s, b := one.sums[one.touched[i]], one.bearers[one.touched[i]]
			if s.borne < 0 {
				return fmt.Errorf("run %d: account %s, job %q bears %s USD", run, b.account, b.job, s.borne)
			}
			cost += s.cost
		}
		if cost < 0 {
			return fmt.Errorf("run %d costs %s USD after corrections", run, cost)
		}
	}
	return nil
}

// checkTimes walks over the lines in time.
func (one *proofOfOne) checkTimes() error {
	one.borders = one.borders[:0]
	of := int32(0)
	for _, l := range one.lines {
		if l.effect&holds != 0 {
			of = max(of, l.of)
			one.borders = append(one.borders, border{l.from, l.bearer, l.share}, border{l.to, l.bearer, -l.share})
		}
	}
	slices.SortFunc(one.borders, func(a, b border) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		return cmp.Compare(a.bearer, b.bearer)
	})
	all := int64(0)
	for i, b := range one.borders {
		held := &one.sums[b.bearer].held
		*held += int64(b.change)
		all += int64(b.change)
		lastOfInstant := i+1 == len(one.borders) || one.borders[i+1].at != b.at
		if *held < 0 && (lastOfInstant || one.borders[i+1].bearer != b.bearer) {
			who := one.bearers[b.bearer]
			return fmt.Errorf("account %s, job %q holds %d accelerators at %s", who.account, who.job, *held, rfc3339(b.at))
		}
		if lastOfInstant && all > int64(of) {
			return fmt.Errorf("%d of %d accelerators are held at %s", all, of, rfc3339(b.at))
		}
	}
	return nil
}

func rfc3339(nano int64) string { return time.Unix(0, nano).UTC().Format(time.RFC3339) }
