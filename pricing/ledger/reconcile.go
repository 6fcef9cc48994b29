package ledger

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Fact is what a bill, a feed or a corrected price says that one thing cost over a
// time.
type Fact struct {
	Cloud    string
	Item     Item
	Instance provider.InstanceID // or the id of what Item says
	Offering provider.Offering   // as far as it is told
	From, To time.Time           // To is excluded
	Amount   pricing.Money       // effective
	Line     int                 // in the file; 0: none
	Says     string              // in the bill's words
	Slack    time.Duration       // by how much its clock may be later than the cloud's word on when a machine started
}

func (f Fact) key() instanceKey { return instanceKey{f.Cloud, f.Item, f.Instance} }

// Difference is what the ledger and later facts say of one thing over one time.
type Difference struct {
	Fact
	Booked pricing.Money
	Known  bool // every part of Booked had a known rate
}

// Error is what the fact says more than the ledger did.
func (d Difference) Error() pricing.Money { return d.Amount - d.Booked }

// AccountError is the ledger against later facts, for one account.
type AccountError struct {
	Account Account
	Booked  pricing.Money
	Billed  pricing.Money
}

// Reconciliation is a ledger held against later facts.
type Reconciliation struct {
	Differences []Difference   // one for each fact, by size of the error, largest first
	Accounts    []AccountError // in the order of Accounts; those that bear anything
	Corrections []Charge       // what makes the ledger say what the facts say
	Unbilled    []Charge       // in the time that the facts are about, of things that they do not name
}

// Reconcile holds charges against facts. What a fact says of a thing over a time
// replaces what the ledger has there, by corrections in proportion to what each
// bearer bears, or to its time where no rate was known; so facts that were given
// before, and what came of them, change nothing. What only the facts know is
// booked to Overhead. at is when the facts came; source is where from.
//
// Charges belong to the fact in whose time they begin. Facts of one thing whose
// times overlap are summed.
func Reconcile(charges []Charge, facts []Fact, at time.Time, source string) Reconciliation {
	var out Reconciliation
	facts = summed(facts)
	lines := map[instanceKey][]*Charge{}
	for i := range charges {
		if c := &charges[i]; c.Kind != Purchase && c.Kind != Credit {
			key := instanceKey{c.Offering.Cloud, c.Item, c.Instance}
			lines[key] = append(lines[key], c)
		}
	}
	billed := map[instanceKey]bool{}
	accounts := map[Account]*AccountError{}
	account := func(a Account) *AccountError {
		if accounts[a] == nil {
			accounts[a] = &AccountError{Account: a}
		}
		return accounts[a]
	}
	owned := owners(facts, lines)
	for n, f := range facts {
		billed[f.key()] = true
		own := owned[n]
		d := Difference{Fact: f, Known: true}
		if same := lines[f.key()]; len(own) == 0 && len(same) > 0 { // known from other hours
			d.Offering = same[0].Offering
		}
		for _, c := range own {
			d.Booked += c.Amount
			account(c.Account).Booked += c.Amount
			account(c.Account).Billed += c.Amount
		}
		bearers := bearersOf(own)
		for _, b := range bearers {
			d.Known = d.Known && len(b.unknown) == 0
		}
		out.Differences = append(out.Differences, d)
		for _, c := range corrections(d, own, bearers, at, source) {
			account(c.Account).Billed += c.Amount
			out.Corrections = append(out.Corrections, c)
		}
	}
	slices.SortStableFunc(out.Differences, func(a, b Difference) int {
		return cmp.Compare(max(b.Error(), -b.Error()), max(a.Error(), -a.Error()))
	})
	for _, a := range Accounts() {
		if e := accounts[a]; e != nil {
			out.Accounts = append(out.Accounts, *e)
		}
	}
	out.Unbilled = unbilled(charges, facts, billed)
	return out
}

// owners gives each fact, by its place in the list, the charges that belong to it:
// those that begin in its time, or a slack before it, and before the next fact.
func owners(facts []Fact, lines map[instanceKey][]*Charge) [][]*Charge {
	owned := make([][]*Charge, len(facts))
	for n := 0; n < len(facts); {
		end := n + 1
		for end < len(facts) && facts[end].key() == facts[n].key() {
			end++
		}
		for _, c := range lines[facts[n].key()] {
			later := sort.Search(end-n, func(i int) bool { return facts[n+i].From.Add(-facts[n+i].Slack).After(c.From) })
			if last := n + later - 1; later > 0 && c.From.Before(facts[last].To) {
				owned[last] = append(owned[last], c)
			}
		}
		n = end
	}
	return owned
}

// summed puts facts of one thing whose times overlap together, in order: a bill may
// have a row for each part of an hour, or for each of those who shared it.
func summed(facts []Fact) []Fact {
	facts = slices.Clone(facts)
	slices.SortStableFunc(facts, func(a, b Fact) int {
		return cmp.Or(a.key().compare(b.key()), a.From.Compare(b.From), a.To.Compare(b.To))
	})
	var out []Fact
	for _, f := range facts {
		if n := len(out); n > 0 && out[n-1].key() == f.key() && f.From.Before(out[n-1].To) {
			out[n-1].Amount += f.Amount
			if f.To.After(out[n-1].To) {
				out[n-1].To = f.To
			}
			continue
		}
		out = append(out, f)
	}
	return out
}

// unbilled lists charges within the time of all facts of things that no fact names.
func unbilled(charges []Charge, facts []Fact, billed map[instanceKey]bool) []Charge {
	if len(facts) == 0 {
		return nil
	}
	from, to := facts[0].From, facts[0].To
	for _, f := range facts {
		if f.From.Before(from) {
			from = f.From
		}
		if f.To.After(to) {
			to = f.To
		}
	}
	var list []Charge
	for _, c := range charges {
		if !billed[instanceKey{c.Offering.Cloud, c.Item, c.Instance}] && !c.From.Before(from) && c.From.Before(to) && c.Kind != Purchase && c.Kind != Credit {
			list = append(list, c)
		}
	}
	return list
}

// bearer is who bears a part of one run.
type bearer struct {
	run     int
	account Account
	job     string
}

func (b bearer) compare(c bearer) int {
	return cmp.Or(cmp.Compare(b.run, c.run), strings.Compare(string(b.account), string(c.account)), strings.Compare(b.job, c.job))
}

// bearing is what one bearer bears of the lines of a fact.
type bearing struct {
	first   Charge // whose labels the corrections carry
	to      time.Time
	amount  pricing.Money
	time    time.Duration
	unknown []Charge // its lines without a known rate that were not taken back
}

func bearersOf(own []*Charge) []*bearing {
	type key struct {
		bearer
		team, project string
	}
	all := map[key]*bearing{}
	for _, c := range own {
		k := key{bearer{c.Run, c.Account, c.Job}, c.Team, c.Project}
		b := all[k]
		if b == nil {
			b = &bearing{first: *c, to: c.To}
			all[k] = b
		}
		if c.From.Before(b.first.From) {
			b.first = *c
		}
		if c.To.After(b.to) {
			b.to = c.To
		}
		b.amount += c.Amount
		b.time += c.Time()
		if !c.Known {
			b.unknown = cancelled(b.unknown, *c)
		}
	}
	keys := slices.SortedFunc(maps.Keys(all), func(a, b key) int {
		return cmp.Or(a.bearer.compare(b.bearer), strings.Compare(a.team, b.team), strings.Compare(a.project, b.project))
	})
	list := make([]*bearing, len(keys))
	for i, k := range keys {
		list[i] = all[k]
	}
	return list
}

// cancelled adds a line, or takes away the one that it takes back.
func cancelled(list []Charge, c Charge) []Charge {
	for i, l := range list {
		if l.From.Equal(c.From) && l.To.Equal(c.To) && l.Share == -c.Share {
			return slices.Delete(list, i, i+1)
		}
	}
	return append(list, c)
}

// corrections are the lines that make the ledger say what the fact says.
func corrections(d Difference, own []*Charge, bearers []*bearing, at time.Time, source string) []Charge {
	if d.Error() == 0 && d.Known {
		return nil
	}
	if len(bearers) == 0 {
		c := Charge{Kind: Correction, Item: d.Item, Instance: d.Instance, Run: 1, Offering: d.Offering, From: d.From.UTC(), To: d.To.UTC(),
			Account: Overhead, Of: 1, Known: true, Amount: d.Error(), Invoiced: at.UTC(), Note: source + ": not in the ledger"}
		c.Offering.Cloud, c.Offering.Market = d.Cloud, d.Item.market(cmp.Or(d.Offering.Market, provider.OnDemand))
		c.ID = correctionID(&c, 1)
		return []Charge{c}
	}
	weights := make([]pricing.Money, len(bearers))
	weighted := false
	for i, b := range bearers {
		weights[i] = max(0, b.amount)
		weighted = weighted || weights[i] > 0
	}
	for i, b := range bearers {
		if !weighted {
			weights[i] = pricing.Money(max(1, b.time/time.Millisecond))
		}
	}
	parts := apportion(d.Error(), weights)
	n := 1 + correctedBefore(own)
	var lines []Charge
	for i, b := range bearers {
		lines = append(lines, b.correct(parts[i], n, at, source)...)
	}
	return lines
}

// correct is the part of one bearer. Time that had no known rate is taken back and
// booked again as known.
func (b *bearing) correct(amount pricing.Money, n int, at time.Time, source string) []Charge {
	line := func(c Charge, suffix string) Charge {
		c.Kind, c.Known, c.Amount, c.Round, c.Invoiced, c.Note = Correction, true, 0, 0, at.UTC(), source
		c.ID = correctionID(&c, n) + suffix
		return c
	}
	var lines []Charge
	weights := make([]pricing.Money, len(b.unknown))
	for i, u := range b.unknown {
		weights[i] = pricing.Money(max(1, u.Time()/time.Millisecond))
	}
	if len(b.unknown) == 0 {
		if amount == 0 {
			return nil
		}
		c := line(b.first, "")
		c.To, c.Share, c.Amount = b.to, 0, amount
		return []Charge{c}
	}
	for i, part := range apportion(amount, weights) {
		place := "/" + strconv.Itoa(i)
		out, in := line(b.unknown[i], place+transferOut), line(b.unknown[i], place+transferIn)
		out.Known, out.Share = false, -out.Share
		in.Amount = part
		lines = append(lines, out, in)
	}
	return lines
}

const correctionWord = "/correction-"

func correctionID(c *Charge, n int) string {
	r := run{key: instanceKey{c.Offering.Cloud, c.Item, c.Instance}, number: c.Run}
	return r.id("correction-"+strconv.Itoa(n), c.From) + "/" + string(c.Account) + "/" + c.Job + "/" + c.Team + "/" + c.Project
}

// correctedBefore is how often the lines of a fact were corrected.
func correctedBefore(own []*Charge) int {
	most := 0
	for _, c := range own {
		if c.Kind != Correction {
			continue
		}
		if _, rest, ok := strings.Cut(c.ID, correctionWord); ok {
			number, _, _ := strings.Cut(rest, "/")
			if n, err := strconv.Atoi(number); err == nil {
				most = max(most, n)
			}
		}
	}
	return most
}

// apportion divides an amount of either sign by weights with the largest
// remainders; the first of equals get the last nano dollars.
func apportion(amount pricing.Money, weights []pricing.Money) []pricing.Money {
	if amount < 0 {
		parts := apportion(-amount, weights)
		for i := range parts {
			parts[i] = -parts[i]
		}
		return parts
	}
	parts := make([]pricing.Money, len(weights))
	var all pricing.Money
	for _, w := range weights {
		all += w
	}
	left := amount
	for i, w := range weights {
		parts[i] = portion(amount, w, all)
		left -= parts[i]
	}
	for i := 0; left > 0; i = (i + 1) % len(parts) {
		if weights[i] > 0 {
			parts[i]++
			left--
		}
	}
	return parts
}

// String names the difference for people.
func (d Difference) String() string {
	return fmt.Sprintf("%s %s %s: booked %s, billed %s", d.Item, d.Instance, d.From.UTC().Format(time.RFC3339), d.Booked, d.Amount)
}
