package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goodfleet/goodfleet/provider"
)

// option is a column of a job as one machine of a class sees it: a part of the gang.
type option struct {
	job, column int     // column ^n: the n-th of those that Prune left out
	perNode     int     // accelerators
	part        float64 // 1 over the nodes of the column
	worth       float64 // of this part, at most, USD/h
	cut         float64 // of it, that the rows of its team cost under the prices at hand, USD/h
	gang        bool    // it is of a gang that shares its machines with no other
}

// class is the machines that are alike: those of an offer that may be bought, or
// held ones of one offer, rate and state that the same jobs run on.
type class struct {
	offer    int
	machines []int    // indexes into Problem.Machines; empty: to be bought
	size     int      // accelerators
	cost     float64  // of using one, USD/h: its rate times 1 + mu
	burn     float64  // what using one adds to the burn, USD/h
	rate     float64  // of the machine, USD/h
	options  []option // by job
	row      int      // of its supply; −1: not limited
}

// classes lists the kinds of machines that the program can use, each with the
// parts of jobs that it could carry.
func (pr *Program) classes() []class {
	p := pr.Problem
	var list []class
	ofOffer := make([]int, len(p.Offers))
	for o := range ofOffer {
		ofOffer[o] = -1
	}
	held := map[string]int{}
	machine := make(map[provider.InstanceID]int, len(p.Machines))
	for m := range p.Machines {
		machine[p.Machines[m].ID] = m
	}
	owners := make([][]int, len(p.Machines))
	for i := range pr.Jobs {
		if pr.Jobs[i].Current < 0 {
			continue
		}
		for _, id := range pr.Jobs[i].State.Running.Machines {
			owners[machine[id]] = append(owners[machine[id]], i)
		}
	}
	var stays [][]int // owners of each held class
	heldOn := make([][]int, len(p.Offers))
	for m := range p.Machines {
		o := pr.machineOffer[m]
		if o < 0 || p.Machines[m].Leaving {
			continue
		}
		fixed := p.Machines[m].HoldTo.After(p.Now)
		ready := !p.Machines[m].ReadyAt.After(p.Now)
		key := fmt.Sprint(o, p.Machines[m].Rate, fixed, ready, strings.Trim(fmt.Sprint(owners[m]), "[]"))
		c, ok := held[key]
		if !ok {
			c = len(list)
			held[key] = c
			k := class{offer: o, size: p.Offers[o].Type.Count, row: -1, rate: p.Machines[m].Rate.Dollars()}
			if !fixed {
				k.cost, k.burn = pr.times*k.rate, k.rate
			}
			list = append(list, k)
			heldOn[o] = append(heldOn[o], c)
			stays = append(stays, owners[m])
		}
		list[c].machines = append(list[c].machines, m)
	}
	add := func(i, column int, col *Column) {
		o := col.Offer
		part := 1 / float64(col.Nodes)
		put := func(c int, worth float64) {
			if worth > 0 {
				list[c].options = append(list[c].options, option{
					job: i, column: column, perNode: col.PerNode, part: part, worth: worth * part,
					gang: col.Nodes > 1 && !pr.Jobs[i].State.Job.Resources.ShareNodes,
				})
			}
		}
		for _, c := range heldOn[o] {
			worth := col.Bought
			if !p.Machines[list[c].machines[0]].ReadyAt.After(p.Now) {
				worth = max(worth, col.Here)
			}
			if column >= 0 && column == pr.Jobs[i].Current && slices.Contains(stays[c], i) {
				worth = max(worth, col.Stay, col.Here)
			}
			put(c, worth)
		}
		if !p.Offers[o].forSale() {
			return
		}
		if len(heldOn[o]) == 0 && !pr.admitsAlone(col) {
			pr.short = true
			return
		}
		if ofOffer[o] < 0 {
			rate := p.Offers[o].Rate.Dollars()
			ofOffer[o] = len(list)
			list = append(list, class{offer: o, size: p.Offers[o].Type.Count, cost: pr.times * rate, burn: rate, rate: rate, row: -1})
		}
		put(ofOffer[o], col.Bought)
	}
	for i := range pr.Jobs {
		d := &pr.Jobs[i]
		for c := range d.Columns {
			add(i, c, &d.Columns[c])
		}
		for c := range d.Rest {
			add(i, ^c, &d.Rest[c])
		}
	}
	return list
}

// admitsAlone reports whether a column on bought machines would stay within supply,
// quota and cap if nobody else had any of them: else no plan has it, and a part of it
// would only make the bound larger.
func (pr *Program) admitsAlone(c *Column) bool {
	p := pr.Problem
	o := &p.Offers[c.Offer]
	if o.Cap >= 0 && c.Nodes > o.Cap || p.BurnCap > 0 && c.Alone > pr.burnCap()-pr.fixedBurn()+capSlack {
		return false
	}
	q := pr.quotaOf[c.Offer]
	return q < 0 || c.Nodes*p.Quotas[q].Unit.Use(o.Type) <= p.Quotas[q].Left
}

// fill is the best pattern of one machine: most[f] is the most that parts of jobs
// on f accelerators earn over the prices of their jobs. Vcpu and memory are left
// out, which can only make it larger.
type fill struct {
	most   []float64 // without a gang over several machines
	gang   []float64 // with one at most
	choice []int32   // of each turn and number of accelerators, the option taken: without a gang, then with
	groups [][]option
}

// reset empties f for a machine of size accelerators.
func (f *fill) reset(size int) {
	f.most = slices.Grow(f.most[:0], size+1)[:size+1]
	f.gang = slices.Grow(f.gang[:0], size+1)[:size+1]
	clear(f.most)
	clear(f.gang)
	f.choice, f.groups = f.choice[:0], f.groups[:0]
}

// take lets one job, the owner of all of options, have a part or none. record keeps
// what was chosen.
func (f *fill) take(options []option, price float64, record bool) {
	size := len(f.most) - 1
	var chosen []int32
	if record {
		f.groups = append(f.groups, options)
		from := len(f.choice)
		for range 2 * (size + 1) {
			f.choice = append(f.choice, -1)
		}
		chosen = f.choice[from:]
	}
	for free := size; free >= 1; free-- {
		alone, with := f.most[free], f.gang[free]
		for k := range options {
			o := &options[k]
			if o.perNode > free {
				continue
			}
			earns := o.worth - o.cut - price*o.part
			if earns <= 0 {
				continue
			}
			if !o.gang {
				if v := f.most[free-o.perNode] + earns; v > alone {
					alone = v
					if record {
						chosen[free] = int32(k)
					}
				}
				if v := f.gang[free-o.perNode] + earns; v > with {
					with = v
					if record {
						chosen[size+1+free] = int32(k)
					}
				}
				continue
			}
			if v := f.most[free-o.perNode] + earns; v > with {
				with = v
				if record {
					chosen[size+1+free] = int32(k)
				}
			}
		}
		f.most[free], f.gang[free] = alone, max(with, alone)
		if record && with < alone {
			chosen[size+1+free] = -2 // as without a gang
		}
	}
}

// byJob calls visit for the options of each job in the order of the list.
func byJob(options []option, visit func(options []option)) {
	for from := 0; from < len(options); {
		to := from + 1
		for to < len(options) && options[to].job == options[from].job {
			to++
		}
		visit(options[from:to])
		from = to
	}
}

// best is the pattern of a machine of c that earns most over the prices of jobs.
func (f *fill) best(c *class, price []float64, buffer []option) (earns float64, pattern []option) {
	f.reset(c.size)
	byJob(c.options, func(o []option) {
		if slices.ContainsFunc(o, func(x option) bool { return x.worth-x.cut > price[x.job]*x.part }) {
			f.take(o, price[o[0].job], true)
		}
	})
	size := c.size
	earns = f.gang[size]
	pattern = buffer[:0]
	free, gang := size, true
	for t := len(f.groups) - 1; t >= 0; t-- {
		chosen := f.choice[t*2*(size+1):]
		k := chosen[free]
		if gang {
			if k2 := chosen[size+1+free]; k2 == -2 {
				gang = false
			} else {
				k = k2
			}
		}
		if k < 0 {
			continue
		}
		o := f.groups[t][k]
		pattern = append(pattern, o)
		free -= o.perNode
		if o.gang {
			gang = false
		}
	}
	return earns, pattern
}

// densest is the most that a part earns over the price of its job, for an
// accelerator.
func (c *class) densest(price []float64) float64 {
	most := 0.0
	for n := range c.options {
		o := &c.options[n]
		if v := o.worth - o.cut - price[o.job]*o.part; v > most*float64(o.perNode) {
			most = v / float64(o.perNode)
		}
	}
	return most
}

// tail is, for each turn, what the jobs from there on can still earn on f free
// accelerators of a machine of c: rows of (turns + 1) × (size + 1).
func (c *class) tail(order, turn []int, price []float64) [][]float64 {
	var f fill
	f.reset(c.size)
	of := make([][]option, len(order))
	byJob(c.options, func(o []option) {
		kept := o
		if slices.ContainsFunc(o, func(x option) bool { return x.column < 0 }) {
			kept = slices.DeleteFunc(slices.Clone(o), func(x option) bool { return x.column < 0 })
		}
		of[turn[o[0].job]] = kept
	})
	rows := make([][]float64, len(order)+1)
	rows[len(order)] = slices.Clone(f.gang)
	for t := len(order) - 1; t >= 0; t-- {
		if len(of[t]) == 0 {
			rows[t] = rows[t+1]
			continue
		}
		f.take(of[t], price[order[t]], false)
		rows[t] = slices.Clone(f.gang)
	}
	return rows
}
