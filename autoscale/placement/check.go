package placement

import (
	"fmt"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// Check reports the first thing that no placement may have: an accelerator held
// twice, unless by two jobs that share all of theirs, or that is not there, a machine
// twice in a gang or not there at all, nodes of unequal size, a gang of several nodes
// over several offerings (and so over zones), two such gangs on one machine of which one
// does not share, a job with two gangs.
func Check(machines []Machine, gangs []Gang) error {
	there := make(map[provider.InstanceID]Machine, len(machines))
	for _, m := range machines {
		if _, twice := there[m.ID]; twice {
			return fmt.Errorf("machine %s is listed twice", m.ID)
		}
		there[m.ID] = m
	}
	holder := make(map[slot]*Gang, len(machines))
	seen := make(map[planner.JobID]bool, len(gangs))
	spans := map[provider.InstanceID]Gang{}
	for i := range gangs {
		g := &gangs[i]
		if seen[g.Job] {
			return fmt.Errorf("job %s has two gangs", g.Job)
		}
		seen[g.Job] = true
		if err := checkGang(g, there, holder); err != nil {
			return fmt.Errorf("job %s: %w", g.Job, err)
		}
		for _, n := range g.Nodes {
			other, taken := spans[n.Instance]
			if len(g.Nodes) > 1 && taken && !(g.Shares && other.Shares) && !g.beside(&other) {
				return fmt.Errorf("job %s: machine %s carries the gang of %s too, and one of the two does not share", g.Job, n.Instance, other.Job)
			}
			if len(g.Nodes) > 1 && (!taken || !g.Shares) {
				spans[n.Instance] = *g
			}
		}
	}
	return nil
}

// beside reports whether two gangs share all of their accelerators.
func (g *Gang) beside(other *Gang) bool {
	return g.With == other.Job && other.With == g.Job && slices.EqualFunc(g.Nodes, other.Nodes, func(a, b Node) bool {
		return a.Instance == b.Instance && slices.Equal(a.Accelerators, b.Accelerators)
	})
}

func checkGang(g *Gang, there map[provider.InstanceID]Machine, holder map[slot]*Gang) error {
	if len(g.Nodes) == 0 {
		return fmt.Errorf("the gang has no nodes")
	}
	used := map[provider.InstanceID]bool{}
	first, ok := there[g.Nodes[0].Instance]
	if !ok {
		return fmt.Errorf("machine %s is not there", g.Nodes[0].Instance)
	}
	for _, n := range g.Nodes {
		m, ok := there[n.Instance]
		switch {
		case !ok:
			return fmt.Errorf("machine %s is not there", n.Instance)
		case used[n.Instance]:
			return fmt.Errorf("machine %s carries two nodes", n.Instance)
		case m.Offering != first.Offering:
			return fmt.Errorf("nodes lie in %s and in %s", first.Offering, m.Offering)
		case len(n.Accelerators) == 0 || len(n.Accelerators) != len(g.Nodes[0].Accelerators):
			return fmt.Errorf("nodes hold %d and %d accelerators", len(g.Nodes[0].Accelerators), len(n.Accelerators))
		}
		used[n.Instance] = true
		for k, i := range n.Accelerators {
			s := slot{n.Instance, i}
			other, taken := holder[s]
			switch {
			case i < 0 || i >= m.Accelerators:
				return fmt.Errorf("machine %s has no accelerator %d", n.Instance, i)
			case k > 0 && i <= n.Accelerators[k-1]:
				return fmt.Errorf("accelerators of machine %s are not ascending", n.Instance)
			case taken && !g.beside(other):
				return fmt.Errorf("accelerator %d of machine %s is held by %s too", i, n.Instance, other.Job)
			}
			holder[s] = g
		}
	}
	return nil
}
