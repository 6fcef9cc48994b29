package planner

import (
	"fmt"
	"slices"

	"github.com/goodfleet/goodfleet/provider"
)

// Demand is one job of a program: its columns, and what it holds.
type Demand struct {
	State   *JobState
	Columns []Column // empty: nothing that may be used now carries it
	Rest    []Column // those that Prune left out: a bound looks at them too
	Current int      // column of what it holds and can keep; -1: none
	Lacks   string   // why nothing that is sold can ever carry it; "": something can
	Refused bool     // something that is sold would carry it, and budget policies forbid all of that
}

// stays reports whether the job may be on no other machines than those that it holds.
func (d *Demand) stays() bool { return d.State.Stays && d.Current >= 0 }

// Program is the joint program of jobs and machines: every job gets at most one
// of its columns; machines carry what they have room for; what is bought stays
// within quotas, known shortage and the burn cap. Maximised is the worth of the
// chosen columns less the rates of the machines held.
type Program struct {
	Problem  *Problem
	Jobs     []Demand
	Transfer Transfer // how data and checkpoints move

	machineOffer []int    // offer of each machine; -1: not in the problem, left alone
	quotaOf      []int    // quota row of each offer; -1: none
	idle         []int    // machines of each offer that stay and carry nobody
	onOffer      [][]wish // columns on one machine of each offer
	shared       []int    // offers of which several jobs could share a machine
	slot         []int    // of each offer that a search looks at; -1 of the others
	slots        int
	rates        []float64  // of each offer, USD/h
	times        float64    // what a dollar of rates counts, 1 + mu
	idleOf       []float64  // of each row, by what those who run pass it for idle parts, USD/h; nil: none
	room         room       // what is kept free of the cap and the rows
	short        bool       // something was looked at for which a cap, a quota, a row or a supply had no room
	bears        bool       // it is asked who bears which part of machines
	tolls        []toll     // of the budgets of teams that run short
	counted      [][]answer // of each row that narrows down: by job, the last line of none, and offer
}

// MaxColumns is how many columns of a job a search looks at.
const MaxColumns = 40

// NewProgram lists the columns of every job, and holds jobs to the limits of their
// teams: those that say more are replaced in p.Jobs. It fails on a problem that no plan
// could be made for: an offer twice, a rate that is not positive, a job twice.
func NewProgram(p *Problem, tr Transfer) (*Program, error) {
	if err := p.limitTeams(); err != nil {
		return nil, err
	}
	pr := &Program{Problem: p, Transfer: tr, Jobs: make([]Demand, len(p.Jobs)), machineOffer: make([]int, len(p.Machines)), quotaOf: make([]int, len(p.Offers)), idle: make([]int, len(p.Offers))}
	if err := p.checkBudgets(); err != nil {
		return nil, err
	}
	pr.times, pr.short = 1+p.Mu(), len(p.Rows) > 0
	for i := range p.Rows {
		if err := p.Rows[i].Check(); err != nil {
			return nil, fmt.Errorf("rows[%d]: %w", i, err)
		}
	}
	sorted := sortOffers(p.Offers)
	held := make([]bool, len(p.Offers))
	for i := range p.Offers {
		o := &p.Offers[i]
		if i == sorted.twice {
			return nil, fmt.Errorf("offers[%d]: %s is offered twice", i, o.Offering)
		}
		if o.Rate < 0 || o.Type.Count <= 0 {
			return nil, fmt.Errorf("offers[%d]: %s: rate %s, %d accelerators", i, o.Offering, o.Rate, o.Type.Count)
		}
		pr.quotaOf[i] = quotaRow(p.Quotas, o)
		pr.short = pr.short || o.Blocked == "" && o.Cap >= 0 && o.Cap < cheapSupply
	}
	busy := make(map[provider.InstanceID]bool, len(p.Machines))
	for i := range p.Jobs {
		if r := p.Jobs[i].Running; r != nil {
			for _, id := range r.Machines {
				busy[id] = true
			}
		}
	}
	machine := make(map[provider.InstanceID]int, len(p.Machines))
	for i := range p.Machines {
		m := &p.Machines[i]
		if _, twice := machine[m.ID]; twice {
			return nil, fmt.Errorf("machines[%d]: %s is listed twice", i, m.ID)
		}
		machine[m.ID] = i
		pr.machineOffer[i] = -1
		if o, ok := sorted.find(&m.Offering); ok {
			pr.machineOffer[i] = o
			held[o] = held[o] || !m.Leaving
			if !m.Leaving && !busy[m.ID] {
				pr.idle[o]++
			}
		}
	}
	sh := newShelf(p, held)
	seen := make(map[JobID]bool, len(p.Jobs))
	for i := range p.Jobs {
		s := &p.Jobs[i]
		if seen[s.Job.ID] {
			return nil, fmt.Errorf("jobs[%d]: %s is listed twice", i, s.Job.ID)
		}
		seen[s.Job.ID] = true
		d := Demand{State: s, Current: -1, Columns: sh.columns(p, s, tr)}
		for c := range d.Columns {
			pr.short = pr.short || p.BurnCap > 0 && d.Columns[c].Alone > p.BurnCap.Dollars()
		}
		if len(d.Columns) == 0 {
			d.Lacks, _ = Lacks(s.Job, p.Offers)
			if d.Lacks != "" && s.Job.Refuses != nil {
				_, never := Lacks(s.Job.unrefused(), p.Offers)
				d.Refused = !never
			}
		}
		if r := s.Running; r != nil && pr.holds(r, machine) {
			d.Current = slices.IndexFunc(d.Columns, func(c Column) bool {
				return p.Offers[c.Offer].Offering == r.Offering && c.Nodes == r.Config.Nodes && c.Replicas() == r.Config.Replicas
			})
		}
		if d.stays() {
			d.Columns, d.Current = d.Columns[d.Current:d.Current+1:d.Current+1], 0
		}
		pr.Jobs[i] = d
	}
	pr.count()
	return pr, nil
}

// sortedOffers finds the offers of a problem by what they are of.
type sortedOffers struct {
	offers []Offer
	order  []int // by offering
	twice  int   // the first that is of the same as one before it; -1: none
}

func sortOffers(offers []Offer) sortedOffers {
	s := sortedOffers{offers: offers, order: make([]int, len(offers)), twice: -1}
	inOrder := true // as a loop makes them, but for some at the end
	for i := range offers {
		s.order[i] = i
		inOrder = inOrder && (i == 0 || offers[i-1].Offering.Compare(offers[i].Offering) < 0)
	}
	if inOrder {
		return s
	}
	slices.SortStableFunc(s.order, func(a, b int) int { return offers[a].Offering.Compare(offers[b].Offering) })
	for k := 1; k < len(s.order); k++ {
		if i := s.order[k]; offers[s.order[k-1]].Offering == offers[i].Offering && (s.twice < 0 || i < s.twice) {
			s.twice = i
		}
	}
	return s
}

// find is the offer of o.
func (s *sortedOffers) find(o *provider.Offering) (i int, ok bool) {
	at, ok := slices.BinarySearchFunc(s.order, o, func(i int, o *provider.Offering) int { return s.offers[i].Offering.Compare(*o) })
	if !ok {
		return -1, false
	}
	return s.order[at], true
}

// quotaRow is the counter that a machine of o is charged to; -1: none. A row or an
// offering without an account stands for every account.
func quotaRow(rows []QuotaLeft, o *Offer) int {
	for i := range rows {
		c := &rows[i].Class
		if c.Market == o.Offering.Market && c.Family == o.Type.QuotaFamily && c.Region == o.Offering.Region && c.Cloud == o.Offering.Cloud &&
			(c.Account == o.Offering.Account || c.Account == "" || o.Offering.Account == "") {
			return i
		}
	}
	return -1
}

// forSale reports whether a machine of o may be bought now.
// ForSale reports whether a machine of o may be bought now.
func (o *Offer) ForSale() bool { return o.forSale() }

func (o *Offer) forSale() bool { return o.Blocked == "" && o.Cap != 0 }

// Spare reports whether c could be had beside all that is held: on machines that carry
// nobody, or bought within shortage and quota.
func (pr *Program) Spare(c *Column) bool {
	p := pr.Problem
	o := &p.Offers[c.Offer]
	need := c.Nodes - pr.idle[c.Offer]
	if need <= 0 {
		return true
	}
	q := pr.quotaOf[c.Offer]
	room := (o.Cap < 0 || need <= o.Cap) && (q < 0 || need*p.Quotas[q].Unit.Use(o.Type) <= p.Quotas[q].Left)
	pr.short = pr.short || !room
	return o.forSale() && room
}

// holds reports whether every machine of r is here and stays.
func (pr *Program) holds(r *Running, machine map[provider.InstanceID]int) bool {
	for _, id := range r.Machines {
		i, ok := machine[id]
		if !ok || pr.Problem.Machines[i].Leaving || pr.machineOffer[i] < 0 {
			return false
		}
	}
	return len(r.Machines) == r.Config.Nodes
}

// Prune keeps at most MaxColumns columns of each job: the one that it holds, those
// on offers of which a machine is held, the best by worth less the rate of whole
// machines, and the best by worth less the job's share of them. Nothing is lost of
// the best plan unless a job would need its 41st choice.
func (pr *Program) Prune() {
	held := make([]bool, len(pr.Problem.Offers))
	for i, o := range pr.machineOffer {
		if o >= 0 && !pr.Problem.Machines[i].Leaving {
			held[o] = true
		}
	}
	for i := range pr.Jobs {
		if d := &pr.Jobs[i]; len(d.Columns) > MaxColumns {
			pr.prune(d, held)
		}
	}
}

// ranked is a column and the score that it is ranked by.
type ranked struct {
	column int
	score  float64
}

// bests are the columns of the highest scores, as many as there is room for, the best
// first; of equal ones that which came first.
type bests []ranked

func (b *bests) add(column int, score float64) {
	list := *b
	if len(list) < cap(list) {
		list = append(list, ranked{})
	} else if len(list) == 0 || !(score > list[len(list)-1].score) {
		return
	}
	at := len(list) - 1
	for ; at > 0 && score > list[at-1].score; at-- {
		list[at] = list[at-1]
	}
	list[at] = ranked{column, score}
	*b = list
}

func (pr *Program) prune(d *Demand, held []bool) {
	keep := make([]bool, len(d.Columns))
	if d.Current >= 0 {
		keep[d.Current] = true
	}
	byAlone, byShare, there, safe := make(bests, 0, 16), make(bests, 0, 10), make(bests, 0, 13), make(bests, 0, 8)
	spotRow := slices.ContainsFunc(pr.Problem.Rows, func(r Row) bool { return r.Kind == SpotRow })
	for k := range d.Columns {
		c := &d.Columns[k]
		if limit := pr.Problem.BurnCap; limit > 0 && c.Alone > (limit+pr.Problem.Aside).Dollars()+capSlack && !held[c.Offer] {
			pr.short = true
			continue // no plan has room for it
		}
		share := max(c.Here, c.Bought) - pr.times*c.Alone*float64(c.PerNode)/float64(pr.Problem.Offers[c.Offer].Type.Count)
		byAlone.add(k, c.Bought-pr.times*c.Alone)
		byShare.add(k, share)
		if spotRow && pr.Problem.Offers[c.Offer].Offering.Market != provider.Spot {
			safe.add(k, c.Bought-pr.times*c.Alone)
		}
		if held[c.Offer] {
			there.add(k, share)
		}
	}
	for _, list := range []bests{byAlone, byShare, there, safe} {
		for _, r := range list {
			keep[r.column] = true
		}
	}
	current, stay := -1, 0
	for k := range keep {
		if keep[k] {
			stay++
		}
	}
	kept, rest := make([]Column, 0, stay), len(d.Rest)
	d.Rest = slices.Grow(d.Rest, len(keep)-stay)[:rest]
	for k := range d.Columns {
		if keep[k] {
			if k == d.Current {
				current = len(kept)
			}
			kept = append(kept, d.Columns[k])
		} else {
			d.Rest = append(d.Rest, d.Columns[k])
		}
	}
	d.Columns, d.Current = kept, current
}
