package placement

import (
	"cmp"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
)

// Turns makes a round of fractional shares: who gets machines until the leases that
// begin now end. It is the mechanism of Gavel (OSDI 2020): jobs go by priority, the
// time on a kind of machine that their shares come to over the time that they had of
// it, most first; ties go by the deficit, the difference of the two, then by the share,
// then by order. half is added to both times, so that a job that has just come is as
// urgent as its share is large.
//
// Who is leased keeps his machines. Then the queue is gone through: a job that wins on
// the kind that it runs on is renewed on its own machines, another gets the tightest
// that have room, at first such as no likely winner holds. A gang is whole, lies on
// machines of one offering, and shares none of them with another gang of several
// nodes unless both allow it. One that does not fit is skipped and holds up nobody. Machines that no claim
// is made on go to those who can use them, in the same order.
func Turns(rooms []planner.Room, list []planner.Contender, half time.Duration) []planner.Turn {
	r := newRound(rooms, list)
	for i := range list {
		if c := &list[i]; c.Leased && c.Now != nil && r.fits(c, *c.Now, c.Rooms, false) {
			r.seat(i, *c.Now, c.Rooms)
		}
	}
	queue := queueOf(list, half)
	r.keepWinners(queue)
	for _, x := range queue {
		c := &list[x.job]
		if r.seated[x.job] {
			continue
		}
		kind := c.Claims[x.claim].Kind
		r.unkeep(x.job)
		if c.Now != nil && c.Now.Kind == kind && r.fits(c, *c.Now, c.Rooms, false) {
			r.seat(x.job, *c.Now, c.Rooms)
			continue
		}
		for _, spare := range []bool{true, false} {
			if way, at, ok := r.find(c, kind, spare); ok {
				r.seat(x.job, way, at)
				break
			}
		}
	}
	slices.SortFunc(r.turns, func(a, b planner.Turn) int { return a.Contender - b.Contender })
	return r.turns
}

// claimant is a claim in the queue of a round.
type claimant struct {
	job, claim int
	priority   float64
	deficit    time.Duration
	share      float64
}

// Priority is how urgent a claim is: what its shares come to over what it had, with
// half added to both.
func Priority(c planner.Claim, half time.Duration) float64 {
	if c.Share <= 0 {
		return 0
	}
	return (c.Due.Hours() + c.Share*half.Hours()) / (c.Had.Hours() + half.Hours())
}

// queueOf lists all claims, the most urgent first.
func queueOf(list []planner.Contender, half time.Duration) []claimant {
	var queue []claimant
	for i := range list {
		for k, c := range list[i].Claims {
			queue = append(queue, claimant{i, k, Priority(c, half), c.Due - c.Had, c.Share})
		}
	}
	slices.SortStableFunc(queue, func(a, b claimant) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(b.deficit, a.deficit), cmp.Compare(b.share, a.share), cmp.Compare(a.job, b.job))
	})
	return queue
}

// round is what is still free while a round is made.
type round struct {
	rooms  []planner.Room
	list   []planner.Contender
	free   []int  // accelerators of each room
	kept   []int  // of those, held by a likely winner who has not had his turn
	gangs  []int  // gangs of several nodes that a room carries
	closed []int  // of them, those that share with no other
	keeps  []bool // by contender: it is counted in kept
	seated []bool // by contender
	turns  []planner.Turn
}

func newRound(rooms []planner.Room, list []planner.Contender) *round {
	r := &round{
		rooms: rooms, list: list, free: make([]int, len(rooms)), kept: make([]int, len(rooms)), gangs: make([]int, len(rooms)), closed: make([]int, len(rooms)),
		keeps: make([]bool, len(list)), seated: make([]bool, len(list)),
	}
	for n := range rooms {
		r.free[n] = rooms[n].Accelerators
	}
	return r
}

// keepWinners counts who would win if only numbers mattered, and keeps the machines of
// those among them who are where they win.
func (r *round) keepWinners(queue []claimant) {
	left := map[string]int{}
	kindOf := map[string]string{} // by offering
	for i := range r.list {
		for _, w := range r.list[i].Ways {
			kindOf[w.Offering.String()] = w.Kind
		}
	}
	for n := range r.rooms {
		left[kindOf[r.rooms[n].Offering.String()]] += r.free[n]
	}
	won := make([]bool, len(r.list))
	for _, x := range queue {
		c := &r.list[x.job]
		kind := c.Claims[x.claim].Kind
		at := slices.IndexFunc(c.Ways, func(w planner.Way) bool { return w.Kind == kind })
		if at < 0 || won[x.job] || r.seated[x.job] || c.Ways[at].Nodes*c.Ways[at].PerNode > left[kind] {
			continue
		}
		won[x.job] = true
		left[kind] -= c.Ways[at].Nodes * c.Ways[at].PerNode
		if c.Now != nil && c.Now.Kind == kind {
			r.keeps[x.job] = true
			for _, n := range c.Rooms {
				r.kept[n] += c.Now.PerNode
			}
		}
	}
}

// unkeep ends what is kept for a contender: its turn has come.
func (r *round) unkeep(i int) {
	if !r.keeps[i] {
		return
	}
	r.keeps[i] = false
	for _, n := range r.list[i].Rooms {
		r.kept[n] -= r.list[i].Now.PerNode
	}
}

// has reports whether a room has place for a node of c by w; spare: beside what is kept.
func (r *round) has(c *planner.Contender, w planner.Way, n int, spare bool) bool {
	free := r.free[n]
	if spare {
		free -= r.kept[n]
	}
	return free >= w.PerNode && (w.Nodes == 1 || r.gangs[n] == 0 || c.Shares && r.closed[n] == 0)
}

// fits reports whether all nodes of c by w have place in the given rooms.
func (r *round) fits(c *planner.Contender, w planner.Way, at []int, spare bool) bool {
	if len(at) != w.Nodes {
		return false
	}
	return !slices.ContainsFunc(at, func(n int) bool { return !r.has(c, w, n, spare) })
}

// find looks for rooms of one offering for a contender on a kind: the tightest that
// have place, those that are there before those that are to be had.
func (r *round) find(c *planner.Contender, kind string, spare bool) (planner.Way, []int, bool) {
	for _, w := range c.Ways {
		if w.Kind != kind {
			continue
		}
		var can []int
		for n := range r.rooms {
			if r.rooms[n].Offering == w.Offering && r.has(c, w, n, spare) {
				can = append(can, n)
			}
		}
		if len(can) < w.Nodes {
			continue
		}
		slices.SortStableFunc(can, func(a, b int) int {
			return cmp.Or(boolToInt(r.rooms[a].Instance == "")-boolToInt(r.rooms[b].Instance == ""), r.free[a]-r.free[b])
		})
		return w, slices.Sorted(slices.Values(can[:w.Nodes])), true
	}
	return planner.Way{}, nil, false
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (r *round) seat(i int, w planner.Way, at []int) {
	r.unkeep(i)
	r.seated[i] = true
	c := &r.list[i]
	for _, n := range at {
		r.free[n] -= w.PerNode
		if w.Nodes > 1 {
			r.gangs[n]++
		}
		if w.Nodes > 1 && !c.Shares {
			r.closed[n]++
		}
	}
	keeps := c.Now != nil && *c.Now == w && slices.Equal(slices.Sorted(slices.Values(c.Rooms)), slices.Sorted(slices.Values(at)))
	if keeps {
		at = c.Rooms
	}
	r.turns = append(r.turns, planner.Turn{Contender: i, Way: w, Rooms: at, Keeps: keeps})
}
