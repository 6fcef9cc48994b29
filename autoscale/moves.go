package autoscale

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/goodfleet/goodfleet/autoscale/placement"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// moves works out what has to happen now so that every job comes to its target:
// which gangs stop, which start, which machines end. A gang that moves runs until
// its new machines are ready and free; a machine ends when nobody is on it.
type moves struct {
	s       *State
	machine map[provider.InstanceID]*InstanceRecord
	jobs    []move // jobs with a gang or a target
	holder  map[planner.JobID]*move
}

// move is one job on its way.
type move struct {
	job    *JobRecord
	target *planner.Running // after this decision
	place  placement.Gang   // the accelerators of the target
	reason string
	clock  planner.Clock
	fixed  bool // has to stay as it is in this round
	stays  bool // its gang is where it should be
	goes   bool // its gang is stopped now, or was before
	must   bool // a budget policy stops it, whether it has another place or not
}

func newMoves(s *State, changed []Target) *moves {
	m := &moves{s: s, machine: make(map[provider.InstanceID]*InstanceRecord, len(s.Machines)), holder: make(map[planner.JobID]*move, len(s.Jobs))}
	for i := range s.Machines {
		m.machine[s.Machines[i].Instance.ID] = &s.Machines[i]
	}
	change := make(map[planner.JobID]*Target, len(changed))
	for i := range changed {
		change[changed[i].Job] = &changed[i]
	}
	for i := range s.Jobs {
		r := &s.Jobs[i]
		v := move{job: r, target: r.Target, fixed: s.fixed(r), must: s.leavesBy(r) != nil}
		if t, ok := change[r.Job.ID]; ok {
			v.target, v.reason, v.clock = t.Target, t.Reason, t.Clock
		}
		if v.target != nil || r.Gang != nil {
			m.jobs = append(m.jobs, v)
		}
	}
	for i := range m.jobs {
		m.holder[m.jobs[i].job.Job.ID] = &m.jobs[i]
	}
	return m
}

// place gives every target its accelerators and finds out who can go and come now.
func (m *moves) place() error {
	machines := make([]placement.Machine, 0, len(m.s.Machines))
	known := make(map[provider.InstanceID]bool, len(m.s.Machines))
	add := func(id provider.InstanceID, o provider.Offering) {
		if t, ok := m.s.Catalogue.Lookup(o.Cloud, o.Type); ok && !known[id] {
			known[id] = true
			machines = append(machines, placement.Machine{ID: id, Offering: o, Accelerators: t.Count})
		}
	}
	for i := range m.s.Machines {
		add(m.s.Machines[i].Instance.ID, m.s.Machines[i].Instance.Offering)
	}
	held := make([]placement.Gang, 0, len(m.jobs))
	wants := make([]placement.Want, 0, len(m.jobs))
	wanted := make([]*move, 0, len(m.jobs))
	for i := range m.jobs {
		v := &m.jobs[i]
		if v.job.Gang != nil {
			held = append(held, gangOf(v.job.Gang))
		}
		if v.target == nil {
			continue
		}
		for _, id := range v.target.Machines {
			add(id, v.target.Offering) // on its way, or to be bought
		}
		wants = append(wants, placement.Want{Job: v.job.Job.ID, Machines: v.target.Machines, PerNode: v.target.Config.Replicas / v.target.Config.Nodes, Shares: v.job.Job.Resources.ShareNodes, With: v.target.Config.With})
		wanted = append(wanted, v)
	}
	placed, err := placement.Place(machines, held, wants)
	if err != nil {
		return err
	}
	if err := placement.Check(machines, placed); err != nil {
		return fmt.Errorf("place: %w", err)
	}
	for i, v := range wanted {
		v.place = placed[i]
		v.stays = v.job.Gang != nil && v.job.Stopping == 0 && wants[i].Is(gangOf(v.job.Gang))
	}
	m.leave()
	return nil
}

func gangOf(g *Gang) placement.Gang {
	p := placement.Gang{Job: g.Job, With: g.Config.With}
	for _, n := range g.Nodes {
		p.Nodes = append(p.Nodes, placement.Node{Instance: n.Instance, Accelerators: n.Accelerators})
	}
	return p
}

// leave finds the gangs that go now: those without a target, those that were
// told to before, and those whose new place is ready and free, or held only by
// gangs that go too. The last are the largest set for which that is true, so that
// gangs may change places.
func (m *moves) leave() {
	for i := range m.jobs {
		v := &m.jobs[i]
		if v.job.Gang == nil || v.stays || v.fixed && v.job.Stopping == 0 {
			continue
		}
		switch {
		case v.job.Stopping != 0 || v.target != nil && (v.must || m.ready(v.target)):
			v.goes = true
		case v.target == nil:
			// On a machine that is taken back it goes on: a stop would save nothing.
			// On one that is drained it goes on until it has another place: without
			// capacity elsewhere nothing is disturbed.
			// What a budget policy stops goes at once.
			v.goes = !v.job.Ended.IsZero() || v.must && !m.noticed(v.job.Gang) || !m.noticed(v.job.Gang) && !(v.job.Target == nil && m.drained(v.job.Gang))
		}
	}
	for changed := true; changed; {
		changed = false
		for i := range m.jobs {
			v := &m.jobs[i]
			if !v.goes || v.job.Stopping != 0 || v.target == nil || v.must {
				continue
			}
			for j := range m.jobs {
				w := &m.jobs[j]
				if w != v && w.job.Gang != nil && !w.goes && overlap(v.place, w.job.Gang) {
					v.goes, changed = false, true
					break
				}
			}
		}
	}
}

// noticed reports whether the cloud takes a machine of a gang back.
func (m *moves) noticed(g *Gang) bool {
	return slices.ContainsFunc(g.Nodes, func(n GangNode) bool {
		r, ok := m.machine[n.Instance]
		return ok && !r.Noticed.IsZero()
	})
}

// drained reports whether a machine of a gang is to end when it is left, though it
// is fit to carry the gang until there is another.
func (m *moves) drained(g *Gang) bool {
	some := false
	if slices.Contains(m.s.EndFirst, g.Offering.Market) {
		return false
	}
	for _, n := range g.Nodes {
		r, ok := m.machine[n.Instance]
		if !ok || !r.Quarantined.IsZero() || !r.EndAsked.IsZero() {
			return false
		}
		some = some || r.Draining
	}
	return some
}

// ready reports whether all machines of a target may carry a gang now.
func (m *moves) ready(t *planner.Running) bool {
	return !slices.ContainsFunc(t.Machines, func(id provider.InstanceID) bool {
		r, ok := m.machine[id]
		return !ok || !r.ready(m.s.Now) || r.leaving()
	})
}

// overlap reports whether a gang holds an accelerator of a place that they are not to share.
func overlap(p placement.Gang, g *Gang) bool {
	if p.With == g.Job && g.Config.With == p.Job {
		return false
	}
	for _, n := range p.Nodes {
		for _, h := range g.Nodes {
			if n.Instance != h.Instance {
				continue
			}
			if slices.ContainsFunc(n.Accelerators, func(i int) bool { return slices.Contains(h.Accelerators, i) }) {
				return true
			}
		}
	}
	return false
}

// stops are the gangs that are told to stop now.
func (m *moves) stops() []Stop {
	var list []Stop
	for i := range m.jobs {
		v := &m.jobs[i]
		if !v.goes || v.job.Stopping != 0 {
			continue
		}
		stop := Stop{Job: v.job.Job.ID, Generation: v.job.Gang.Generation, Mode: StopSave, Reason: v.reason, Clock: v.clock}
		switch {
		case v.job.Phase == JobCancelled:
			stop.Mode, stop.Reason = StopKill, "cancelled"
		case v.target == nil:
			stop.Reason = cmp.Or(v.reason, "it has no place in the plan")
		default:
			stop.Reason = cmp.Or(v.reason, "its new machines are ready")
		}
		list = append(list, stop)
	}
	return list
}

// starts are the gangs whose machines are all ready and whose accelerators nobody
// holds.
func (m *moves) starts() []Start {
	var list []Start
	for i := range m.jobs {
		v := &m.jobs[i]
		if v.target == nil || v.job.Gang != nil || v.fixed || m.s.Strays[v.job.Job.ID] || !v.job.Ended.IsZero() || !m.ready(v.target) {
			continue
		}
		if m.taken(v.place) {
			continue
		}
		g := Gang{Job: v.job.Job.ID, Generation: v.job.Generation + 1, Config: v.target.Config, Offering: v.target.Offering}
		for _, n := range v.place.Nodes {
			g.Nodes = append(g.Nodes, GangNode{Instance: n.Instance, Accelerators: n.Accelerators})
		}
		list = append(list, Start{Gang: g, Reason: cmp.Or(v.reason, "its machines are ready"), Clock: v.clock})
	}
	return list
}

// taken reports whether a gang holds an accelerator of a place.
func (m *moves) taken(place placement.Gang) bool {
	for i := range m.jobs {
		if g := m.jobs[i].job.Gang; g != nil && overlap(place, g) {
			return true
		}
	}
	return false
}

// anyToEnd reports whether there is a machine that is to end whatever a plan says.
func (s *State) anyToEnd() bool {
	for i := range s.Machines {
		if s.Machines[i].Draining || !s.Machines[i].Quarantined.IsZero() {
			return true
		}
	}
	return false
}

// robbed are the machines under gangs from which this decision takes their place
// and gives them no other.
func (m *moves) robbed() map[provider.InstanceID]bool {
	list := map[provider.InstanceID]bool{}
	for i := range m.jobs {
		v := &m.jobs[i]
		if v.job.Gang == nil || v.job.Target == nil || v.target != nil || v.job.Stopping != 0 || !v.job.Ended.IsZero() || m.s.isSpent(v.job) || v.must {
			continue
		}
		for _, n := range v.job.Gang.Nodes {
			list[n.Instance] = true
		}
	}
	return list
}

// ends are the machines that can be ended now, and those that will be when their
// gangs have left.
func (m *moves) ends(releases []planner.Release) (now []Termination, drains []Drain) {
	if len(releases) == 0 && !m.s.anyToEnd() {
		return nil, nil
	}
	wanted, held := map[provider.InstanceID]bool{}, map[provider.InstanceID]bool{}
	for i := range m.jobs {
		if t := m.jobs[i].target; t != nil {
			for _, id := range t.Machines {
				wanted[id] = true
			}
		}
		if g := m.jobs[i].job.Gang; g != nil {
			for _, n := range g.Nodes {
				held[n.Instance] = true
			}
		}
	}
	released := make(map[provider.InstanceID]planner.Release, len(releases))
	for _, r := range releases {
		released[r.Instance] = r
	}
	for i := range m.s.Machines {
		r := &m.s.Machines[i]
		id, o := r.Instance.ID, r.Instance.Offering
		if !r.Instance.Live() || !r.EndAsked.IsZero() || m.s.frozen(o.Cloud) != "" || wanted[id] || overrides(m.s.Overrides).held(id) != "" {
			continue
		}
		unfit := !r.Quarantined.IsZero() && !m.s.holdTo(r).After(m.s.Now) // the cloud has refused to end it before
		release, ok := released[id]
		if r.Draining || unfit {
			release, ok = planner.Release{Reason: r.Reason}, true
		}
		switch {
		case !ok || m.s.Used[id] && !held[id] || !r.Draining && m.s.holdTo(r).After(m.s.Now):
		case !held[id]:
			now = append(now, Termination{Instance: id, Offering: o, Reason: release.Reason, Clock: release.Clock})
		case !r.Draining:
			drains = append(drains, Drain{Instance: id, Offering: o, Reason: release.Reason, Clock: release.Clock})
		}
	}
	return now, drains
}
