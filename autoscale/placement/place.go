package placement

import (
	"fmt"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// Machine is an instance with the accelerators that it has, or will have.
type Machine struct {
	ID           provider.InstanceID
	Offering     provider.Offering
	Accelerators int
}

// Want is a job that is to hold PerNode accelerators on each of its machines.
type Want struct {
	Job      planner.JobID
	Machines []provider.InstanceID
	PerNode  int
	Shares   bool // its machines may carry other gangs of several nodes that share too

	// With is a job that is to hold the very same accelerators, and says the same of this
	// one; "": none.
	With planner.JobID
}

// Node is one machine of a gang and the accelerators that it holds there, ascending.
type Node struct {
	Instance     provider.InstanceID
	Accelerators []int
}

// Gang is what one job holds.
type Gang struct {
	Job    planner.JobID
	Nodes  []Node
	Shares bool // of its Want
	With   planner.JobID
}

// slot is one accelerator.
type slot struct {
	machine provider.InstanceID
	index   int
}

// Place gives every want its accelerators. held says what gangs hold now: a want
// for the same machines and numbers as its own gang keeps them; the others get
// what no want has, at first what is free now, then what leaving gangs will free,
// lowest numbers first. Two that share get the same. The result is in the order of wants.
//
// It fails on a want for more than there is, and on a machine that is not there.
func Place(machines []Machine, held []Gang, wants []Want) ([]Gang, error) {
	size := make(map[provider.InstanceID]int, len(machines))
	for _, m := range machines {
		size[m.ID] = m.Accelerators
	}
	own := make(map[planner.JobID]Gang, len(held))
	busy := make(map[slot]bool, len(machines)) // held by some gang now
	for _, g := range held {
		own[g.Job] = g
		for _, n := range g.Nodes {
			for _, i := range n.Accelerators {
				busy[slot{n.Instance, i}] = true
			}
		}
	}
	placed := make([]Gang, len(wants))
	given := make(map[slot]bool, len(machines)) // belongs to some want
	take := func(at int, g Gang) {
		placed[at] = g
		for _, n := range g.Nodes {
			for _, i := range n.Accelerators {
				given[slot{n.Instance, i}] = true
			}
		}
	}
	for i, w := range wants {
		if g, ok := own[w.Job]; ok && w.Is(g) {
			g.Shares = w.Shares
			take(i, g)
		}
	}
	for i, w := range wants {
		if placed[i].Nodes != nil {
			continue
		}
		g := Gang{Job: w.Job, Shares: w.Shares, With: w.With}
		if nodes := partnerOf(wants, placed, i); nodes != nil {
			g.Nodes = nodes
			take(i, g)
			continue
		}
		for _, id := range w.Machines {
			n, ok := size[id]
			if !ok {
				return nil, fmt.Errorf("place %s: there is no machine %s", w.Job, id)
			}
			var free, later []int
			for index := range n {
				switch s := (slot{id, index}); {
				case given[s]:
				case busy[s]:
					later = append(later, index)
				default:
					free = append(free, index)
				}
			}
			pick := append(free, later...)
			if len(pick) < w.PerNode {
				return nil, fmt.Errorf("place %s: machine %s has %d accelerators left of %d, wanted %d", w.Job, id, len(pick), n, w.PerNode)
			}
			pick = pick[:w.PerNode]
			slices.Sort(pick)
			g.Nodes = append(g.Nodes, Node{Instance: id, Accelerators: pick})
		}
		take(i, g)
	}
	return placed, nil
}

// partnerOf is what the job has been given that shares with want i; nil: it has nothing yet, or
// there is none.
func partnerOf(wants []Want, placed []Gang, i int) []Node {
	w := &wants[i]
	if w.With == "" {
		return nil
	}
	for k := range wants {
		if x := &wants[k]; x.Job == w.With && x.With == w.Job && w.Is(Gang{Nodes: placed[k].Nodes, With: w.With}) {
			return slices.Clone(placed[k].Nodes)
		}
	}
	return nil
}

// Is reports whether g already holds what w wants: the same machines, in any
// order, with as many accelerators on each, beside the same job or none.
func (w Want) Is(g Gang) bool {
	if len(w.Machines) != len(g.Nodes) || w.With != g.With {
		return false
	}
	for _, n := range g.Nodes {
		if len(n.Accelerators) != w.PerNode || !slices.Contains(w.Machines, n.Instance) {
			return false
		}
	}
	return true
}
