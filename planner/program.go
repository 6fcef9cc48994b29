package planner

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/goodfleet/goodfleet/provider"
)

// Demand is one job of a program: its columns, and what it holds.
type Demand struct {
	State   *JobState
	Columns []Column // empty: nothing that may be used now carries it
	Current int      // column of what it holds and can keep; -1: none
	Lacks   string   // why nothing that is sold can ever carry it; "": something can
}

// Program is the joint program of jobs and machines: every job gets at most one
// of its columns; machines carry what they have room for; what is bought stays
// within quotas, known shortage and the burn cap. Maximised is the worth of the
// chosen columns less the rates of the machines held.
type Program struct {
	Problem *Problem
	Jobs    []Demand

	machineOffer []int       // offer of each machine; -1: not in the problem, left alone
	quotaOf      []int       // quota row of each offer; -1: none
	gone         map[int]int // machines that give no capacity, per offer
}

// MaxColumns is how many columns of a job a search looks at.
const MaxColumns = 40

// NewProgram lists the columns of every job. It fails on a problem that no plan
// could be made for: an offer twice, a rate that is not positive, a job twice.
func NewProgram(p *Problem, tr Transfer) (*Program, error) {
	pr := &Program{Problem: p, Jobs: make([]Demand, len(p.Jobs)), machineOffer: make([]int, len(p.Machines)), quotaOf: make([]int, len(p.Offers))}
	byOffering := make(map[provider.Offering]int, len(p.Offers))
	usable := make([]bool, len(p.Offers))
	quotaRow := make(map[provider.QuotaClass]int, len(p.Quotas))
	for i, q := range p.Quotas {
		quotaRow[q.Class] = i
	}
	for i := range p.Offers {
		o := &p.Offers[i]
		if _, twice := byOffering[o.Offering]; twice {
			return nil, fmt.Errorf("offers[%d]: %s is offered twice", i, o.Offering)
		}
		if o.Rate < 0 || o.Type.Count <= 0 {
			return nil, fmt.Errorf("offers[%d]: %s: rate %s, %d accelerators", i, o.Offering, o.Rate, o.Type.Count)
		}
		byOffering[o.Offering] = i
		pr.quotaOf[i] = -1
		if row, ok := quotaRow[provider.QuotaClassOf(o.Offering, o.Type)]; ok {
			pr.quotaOf[i] = row
		}
		usable[i] = o.forSale()
	}
	machine := make(map[provider.InstanceID]int, len(p.Machines))
	for i := range p.Machines {
		m := &p.Machines[i]
		if _, twice := machine[m.ID]; twice {
			return nil, fmt.Errorf("machines[%d]: %s is listed twice", i, m.ID)
		}
		machine[m.ID] = i
		pr.machineOffer[i] = -1
		if o, ok := byOffering[m.Offering]; ok {
			pr.machineOffer[i] = o
			usable[o] = usable[o] || !m.Leaving
		}
	}
	seen := make(map[JobID]bool, len(p.Jobs))
	for i := range p.Jobs {
		s := &p.Jobs[i]
		if seen[s.Job.ID] {
			return nil, fmt.Errorf("jobs[%d]: %s is listed twice", i, s.Job.ID)
		}
		seen[s.Job.ID] = true
		d := Demand{State: s, Current: -1, Columns: columns(p, s, usable, tr)}
		if len(d.Columns) == 0 {
			d.Lacks, _ = Lacks(s.Job, p.Offers)
		}
		if r := s.Running; r != nil && pr.holds(r, machine) {
			d.Current = slices.IndexFunc(d.Columns, func(c Column) bool {
				return p.Offers[c.Offer].Offering == r.Offering && c.Nodes == r.Config.Nodes && c.Replicas() == r.Config.Replicas
			})
		}
		pr.Jobs[i] = d
	}
	return pr, nil
}

// forSale reports whether a machine of o may be bought now.
func (o *Offer) forSale() bool { return o.Blocked == "" && o.Cap != 0 }

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

// A class of columns of one job differ in where they are alone: they do the same
// work on the same machines.
type class struct {
	cloud, instance string
	market          provider.Market
	nodes, perNode  int
}

// classPlaces is how many places of a class are worth looking at.
const classPlaces = 3

// Prune keeps at most MaxColumns columns of each job: the one that it holds; those
// on offers of which a machine is held; and of the others the best places of each
// class, the best classes by worth less the rate of whole machines and by worth
// less the job's share of them. Nothing is lost of the best plan unless a job
// would need its 41st choice.
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

func (pr *Program) prune(d *Demand, held []bool) {
	keep := make([]bool, len(d.Columns))
	if d.Current >= 0 {
		keep[d.Current] = true
	}
	alone := func(c *Column) float64 { return c.Bought - c.Alone }
	share := func(c *Column) float64 {
		return max(c.Here, c.Bought) - c.Alone*float64(c.PerNode)/float64(pr.Problem.Offers[c.Offer].Type.Count)
	}
	places := map[class][]ranked{}
	var there []ranked
	for k := range d.Columns {
		c := &d.Columns[k]
		o := &pr.Problem.Offers[c.Offer]
		if held[c.Offer] {
			there = append(there, ranked{k, share(c)})
		}
		key := class{o.Type.Cloud, o.Type.Name, o.Offering.Market, c.Nodes, c.PerNode}
		best := places[key]
		r := ranked{k, alone(c)}
		at := len(best)
		for at > 0 && best[at-1].score < r.score {
			at--
		}
		if best = slices.Insert(best, at, r); len(best) > classPlaces {
			best = best[:classPlaces]
		}
		places[key] = best
	}
	var byAlone, byShare []ranked
	for k := range d.Columns { // in the order of the columns, not of the map
		c := &d.Columns[k]
		o := &pr.Problem.Offers[c.Offer]
		best := places[class{o.Type.Cloud, o.Type.Name, o.Offering.Market, c.Nodes, c.PerNode}]
		if slices.ContainsFunc(best, func(r ranked) bool { return r.column == k }) {
			byAlone = append(byAlone, ranked{k, alone(c)})
			byShare = append(byShare, ranked{k, share(c)})
		}
	}
	for _, list := range []struct {
		of   []ranked
		most int
	}{{byAlone, 16}, {byShare, 10}, {there, 13}} {
		slices.SortStableFunc(list.of, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
		for _, r := range list.of[:min(list.most, len(list.of))] {
			keep[r.column] = true
		}
	}
	var kept []Column
	current := -1
	for k, c := range d.Columns {
		if keep[k] {
			if k == d.Current {
				current = len(kept)
			}
			kept = append(kept, c)
		}
	}
	d.Columns, d.Current = kept, current
}
