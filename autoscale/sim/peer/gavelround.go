package peer

import (
	"cmp"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
)

// claimant is a job, or a pair, in the queue of a kind.
type claimant struct {
	job, mate, kind int // of a pair the one that came last first; mate is −1 for a job alone
	account         *account
	priority, lacks float64
	share           float64
}

// round selects who runs, and where.
func (g *Gavel) round(f *floor) planner.Plan {
	p := f.p
	order := g.order(f)
	for i := range p.Jobs {
		a := g.jobs[p.Jobs[i].Job.ID]
		a.runs = -1
		for _, c := range a.pairs {
			c.runs = -1
		}
	}
	taken := make([]bool, len(p.Jobs))
	chosen := make([][]claimant, len(f.kinds))
	left := make([]int, len(f.kinds))
	for w := range left {
		left[w] = f.kinds[w].workers
	}
	queue := make([]claimant, 0, len(p.Jobs))
	serve := func() {
		slices.SortStableFunc(queue, func(a, b claimant) int {
			return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(b.lacks, a.lacks), cmp.Compare(b.share, a.share))
		})
		for _, c := range queue {
			if n := sizeOf(&p.Jobs[c.job]); n <= left[c.kind] && !taken[c.job] && (c.mate < 0 || !taken[c.mate]) {
				left[c.kind] -= n
				taken[c.job] = true
				if c.mate >= 0 {
					taken[c.mate] = true
				}
				chosen[c.kind] = append(chosen[c.kind], c)
			}
		}
		queue = queue[:0]
	}
	for _, w := range order {
		if g.cfg.Pack != nil {
			queue = g.packed(f, w, taken, queue, true)
			serve()
			if left[w] == 0 || g.cfg.FIFO {
				continue
			}
			queue = g.packed(f, w, taken, queue, false)
			serve()
			continue
		}
		queue = g.claimants(f, w, taken, queue)
		if !g.cfg.Ever {
			serve()
		}
	}
	serve()
	for w := range f.kinds {
		g.place(f, w, chosen[w])
	}
	plan := f.finish("it is others' turn")
	plan.NextDecision = p.Now.Add(1)
	if g.cfg.FIFO && g.flag { // nothing changes before there may be shares
		plan.NextDecision = g.renewed.Add(g.cfg.Renew)
	} else if g.cfg.FIFO {
		plan.NextDecision = time.Time{}
	}
	return plan
}

// claimants adds to a queue the jobs that may run on a kind.
func (g *Gavel) claimants(f *floor, w int, taken []bool, queue []claimant) []claimant {
	for i := range f.p.Jobs {
		j := &f.p.Jobs[i]
		if taken[i] || f.speed(j, w) <= 0 {
			continue
		}
		c := g.claim(g.jobs[j.Job.ID], w)
		c.job, c.mate = i, -1
		if g.cfg.FIFO && c.priority == 0 {
			continue
		}
		queue = append(queue, c)
	}
	return queue
}

// claim is how urgent an account is on a kind.
func (g *Gavel) claim(a *account, w int) claimant {
	c := claimant{kind: w, account: a}
	if a.share == nil {
		return c
	}
	c.share, c.lacks = a.share[w], a.lacks[w]
	if c.share > 0 {
		if part := a.time[w] / g.total[w]; part > 0 {
			c.priority = c.share / part
		} else {
			c.priority = c.share * 1e9
		}
	}
	return c
}

// order is that in which kinds choose.
func (g *Gavel) order(f *floor) []int {
	order := make([]int, len(f.kinds))
	for w := range order {
		order[w] = w
	}
	rank := func(w int) int {
		at := slices.Index([]string{"V100", "P100", "K80"}, f.kinds[w].typ.Accelerator)
		if at < 0 {
			return 3
		}
		return at
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(a) - rank(b) })
	if !g.cfg.Aware {
		g.rng.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
	}
	return order
}

// place seats the chosen of a kind: large gangs first, those who stay before others. A
// job without shares is not placed: its machines stand idle.
func (g *Gavel) place(f *floor, w int, chosen []claimant) {
	p := f.p
	slices.SortStableFunc(chosen, func(a, b claimant) int { return sizeOf(&p.Jobs[b.job]) - sizeOf(&p.Jobs[a.job]) })
	k := &f.kinds[w]
	seated := make([]bool, len(chosen))
	for n, c := range chosen {
		j := &p.Jobs[c.job]
		if c.account.share == nil {
			seated[n] = true
			continue
		}
		if seated[n] = f.paired(&c) && f.keeps(j, k, sizeOf(j)); seated[n] {
			c.account.runs = w
			f.join(&c, k)
		}
	}
	for n, c := range chosen {
		j := &p.Jobs[c.job]
		if !seated[n] && f.place(j, k, sizeOf(j), true) {
			c.account.runs = w
			f.join(&c, k)
		}
	}
}
