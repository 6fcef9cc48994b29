package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/goodfleet/goodfleet/provider"
)

// shelf is the offers of a problem as jobs look through them: groups whose
// machines do the same work, each by rate and by risk.
type shelf struct {
	groups []group
	most   int // columns of a job so far
}

// group is the offers that carry a job equally well: as many accelerators of one
// kind, bought in one way. They differ in place, host, rate and risk.
type group struct {
	cloud, accelerator string
	kind               provider.AcceleratorKind
	count              int
	market             provider.Market

	byRate []int // for sale, the cheapest first
	byRisk []int // for sale, the rarest lost first, then the cheapest
	held   []int // of which a machine is held
}

// Of each group a job looks at the cheapest offers that it may use, until they
// are this many and have this many machines to give; at the safest; and at the
// nearest to its data and to where it runs.
const (
	cheapPlaces = 4
	cheapSupply = 16
	safePlaces  = 2
	nearPlaces  = 2
)

func newShelf(p *Problem, held []bool) *shelf {
	s := &shelf{}
	for i := range p.Offers {
		o := &p.Offers[i]
		if !held[i] && !o.forSale() {
			continue
		}
		g := s.groupOf(o)
		if held[i] {
			g.held = append(g.held, i)
		}
		if o.forSale() {
			g.byRate = append(g.byRate, i)
		}
	}
	for i := range s.groups {
		g := &s.groups[i]
		slices.SortStableFunc(g.byRate, func(a, b int) int { return cmp.Compare(p.Offers[a].Rate, p.Offers[b].Rate) })
		g.byRisk = slices.Clone(g.byRate)
		slices.SortStableFunc(g.byRisk, func(a, b int) int {
			return cmp.Compare(p.Offers[a].Hazard.PerHour(1), p.Offers[b].Hazard.PerHour(1))
		})
	}
	slices.SortStableFunc(s.groups, func(a, b group) int {
		return cmp.Or(strings.Compare(a.cloud, b.cloud), strings.Compare(a.accelerator, b.accelerator), cmp.Compare(a.count, b.count), cmp.Compare(a.market, b.market))
	})
	return s
}

// groupOf is the group of an offer, a new one if it is the first of it.
func (sh *shelf) groupOf(o *Offer) *group {
	for i := range sh.groups {
		g := &sh.groups[i]
		if g.count == o.Type.Count && g.market == o.Offering.Market && g.accelerator == o.Type.Accelerator && g.cloud == o.Type.Cloud {
			return g
		}
	}
	sh.groups = append(sh.groups, group{cloud: o.Type.Cloud, accelerator: o.Type.Accelerator, kind: o.Type.Kind, count: o.Type.Count, market: o.Offering.Market})
	return &sh.groups[len(sh.groups)-1]
}

// columns lists the ways to run the job of s that are worth looking at, in the
// order of the groups and, within one, of the offers.
func (sh *shelf) columns(p *Problem, s *JobState, tr Transfer) []Column {
	j := s.Job
	list := make([]Column, 0, sh.most)
	var chosen []int
	for gi := range sh.groups {
		g := &sh.groups[gi]
		if !j.accepts(g.accelerator, g.kind) {
			continue
		}
		for _, w := range spreads(j, g.accelerator, g.kind, g.count) {
			left, _ := Remaining(s, w.speed.Goodput)
			w.stay = left / w.speed.Goodput
			chosen = g.places(p, s, w, chosen[:0])
			slices.Sort(chosen)
			for _, o := range chosen {
				list = append(list, newColumn(s, &p.Offers[o], o, w, tr))
			}
		}
	}
	sh.most = max(sh.most, len(list))
	return list
}

// places picks offers of g for one way of laying out the job.
func (g *group) places(p *Problem, s *JobState, w spread, chosen []int) []int {
	j := s.Job
	take := func(o int) bool {
		if !j.takes(&p.Offers[o], w.nodes, w.perNode) {
			return false
		}
		if !slices.Contains(chosen, o) {
			chosen = append(chosen, o)
		}
		return true
	}
	for _, o := range g.held {
		take(o)
	}
	few, supply := 0, 0
	for _, o := range g.byRate {
		if !take(o) {
			continue
		}
		few++
		if c := p.Offers[o].Cap; c < 0 {
			supply = cheapSupply
		} else {
			supply += c
		}
		if few >= cheapPlaces && supply >= cheapSupply {
			break
		}
	}
	near := func(list []int, most int, there func(o *Offer) bool) {
		for n, at := 0, 0; n < most && at < len(list); at++ {
			if there(&p.Offers[list[at]]) && take(list[at]) {
				n++
			}
		}
	}
	near(g.byRisk, safePlaces, func(*Offer) bool { return true })
	if d := j.Data; d.Region != "" {
		near(g.byRate, nearPlaces, func(o *Offer) bool { return o.Offering.Region == d.Region })
	}
	if r := s.Running; r != nil {
		near(g.byRate, nearPlaces, func(o *Offer) bool { return o.Offering.Region == r.Offering.Region })
	}
	return chosen
}

// accepts reports whether the job may run on an accelerator at all.
func (j *Job) accepts(accelerator string, kind provider.AcceleratorKind) bool {
	if list := j.Resources.Accelerators; len(list) > 0 {
		return slices.Contains(list, accelerator)
	}
	return kind == provider.GPU
}

// takes reports whether the job may use perNode accelerators of each of so many
// machines of o: whether o passes every gate, its host carries so many replicas, and
// its network a gang over several.
func (j *Job) takes(o *Offer, nodes, perNode int) bool {
	r := &j.Resources
	d := &j.Data
	n := float64(perNode)
	switch {
	case len(j.Clouds) > 0 && !slices.Contains(j.Clouds, o.Offering.Cloud),
		len(j.Regions) > 0 && !slices.Contains(j.Regions, o.Offering.Region),
		len(j.Markets) > 0 && !slices.Contains(j.Markets, o.Offering.Market),
		len(j.Types) > 0 && !slices.Contains(j.Types, o.Offering.Type),
		d.Region != "" && !d.Size.Known && (o.Offering.Region != d.Region || d.Cloud != "" && d.Cloud != o.Offering.Cloud),
		!j.accepts(o.Type.Accelerator, o.Type.Kind),
		o.Type.AcceleratorMemGiB < r.AcceleratorMemGiB,
		o.Type.DiskGiB < r.DiskGiB,
		j.MaxPrice > 0 && o.Rate > j.MaxPrice,
		nodes > 1 && !j.spans(o),
		r.VCPU*n > float64(o.Type.VCPU),
		r.MemGiB*n > o.Type.MemGiB,
		j.Refuses != nil && len(j.Refuses(o)) > 0:
		return false
	}
	return true
}

// spans reports whether a gang of the job may lie on several machines of o: the
// catalogue declares what connects them, or plain Ethernet will do.
func (j *Job) spans(o *Offer) bool { return j.Resources.Ethernet || o.Type.Interconnect != "" }
