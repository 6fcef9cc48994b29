package planner

import (
	"slices"

	"github.com/goodfleet/goodfleet/provider"
)

// bin is a machine of a packing: one that we hold, or one that would be bought.
type bin struct {
	offer   int
	machine int  // index into Problem.Machines; -1: to be bought
	held    bool // may not be ended yet: costs nothing more to use
	gangs   int  // jobs over several machines
	closed  int  // of them, those that share their machines with no other of their kind
	jobs    int
	free    int      // accelerators
	tenants []tenant // by name, where it is asked who bears what; replaced, never changed
	cpu     float64  // vCPUs left
	mem     float64  // GiB left
}

// seat is where a job sits in a packing.
type seat struct {
	column int // -1: waits
	bins   []int
	stays  bool // on the very machines that it holds
	worth  float64
}

// packing is a point of the program that can be placed: seats of jobs in bins.
// It never breaks a row: room, quota, shortage and cap are checked at each step.
type packing struct {
	pr        *Program
	bins      []bin
	byOffer   [][]int // bins of each offer by its slot, held machines first
	seats     []seat
	worth     float64
	toll      float64   // what idle parts count by the budgets of teams, USD/h
	spend     float64   // what the bins that cost something count, USD/h: their rates times 1 + mu
	burn      float64   // rates of everything that is held or bought, USD/h
	capped    float64   // burn allowed, USD/h
	bought    []int     // per slot
	quota     []int     // left, per row
	rate      []float64 // per offer, USD/h
	used      []float64 // of each row of the problem, USD/h
	parts     []float64 // as used, without what nobody has of machines: whoever comes can make it no less
	most      []float64 // of each row, that may be used
	entered   []int     // of each row, the bins of jobs that count on which none of them was before
	lax       bool      // rows that who comes later may make room in are looked at when the plan is complete
	exchanges int       // pairs that may still be tried
}

func newPacking(pr *Program) *packing {
	p := pr.Problem
	k := &packing{
		pr: pr, byOffer: make([][]int, pr.slots), seats: make([]seat, len(pr.Jobs)),
		bought: make([]int, pr.slots), quota: make([]int, len(p.Quotas)), rate: pr.rates,
		capped: pr.burnCap(),
	}
	for i, q := range p.Quotas {
		k.quota[i] = q.Left
	}
	for i := range k.seats {
		k.seats[i].column = -1
	}
	k.used, k.most, k.entered = make([]float64, len(p.Rows)), make([]float64, len(p.Rows)), make([]int, len(p.Rows))
	for i := range p.Machines {
		m := &p.Machines[i]
		o := pr.machineOffer[i]
		held := m.HoldTo.After(p.Now)
		if m.Leaving || o < 0 || held {
			k.burn += m.Rate.Dollars()
			for n := range p.Rows {
				if r := &p.Rows[n]; r.whole(m.Offering) {
					k.used[n] += r.take(m.Offering.Market, m.Rate.Dollars())
				}
			}
		}
		if m.Leaving || o < 0 {
			continue
		}
		k.byOffer[pr.slot[o]] = append(k.byOffer[pr.slot[o]], len(k.bins))
		k.bins = append(k.bins, newBin(o, i, held, &p.Offers[o].Type))
	}
	for n := range p.Rows {
		most := p.Rows[n].most()
		if pr.room.kept {
			most = pr.room.rows[n]
		}
		k.most[n] = max(most, k.used[n])
	}
	k.parts = slices.Clone(k.used)
	return k
}

func newBin(offer, machine int, held bool, t *provider.InstanceType) bin {
	return bin{offer: offer, machine: machine, held: held, free: t.Count, cpu: float64(t.VCPU), mem: t.MemGiB}
}

// clone copies the packing.
func (k *packing) clone() *packing {
	c := *k
	c.bins = slices.Clone(k.bins)
	c.byOffer = slices.Clone(k.byOffer) // lists are only ever replaced, see empty
	c.seats = slices.Clone(k.seats)
	c.bought = slices.Clone(k.bought)
	c.quota = slices.Clone(k.quota)
	c.used, c.parts, c.entered = slices.Clone(k.used), slices.Clone(k.parts), slices.Clone(k.entered)
	return &c
}

// binsOf lists the bins of an offer.
func (k *packing) binsOf(offer int) []int { return k.byOffer[k.pr.slot[offer]] }

// value is what the packing is worth, USD per hour.
func (k *packing) value() float64 { return k.worth - k.spend - k.toll }

// binRate is the rate of a bin, USD per hour.
func (k *packing) binRate(b *bin) float64 {
	if b.machine >= 0 {
		return k.pr.Problem.Machines[b.machine].Rate.Dollars()
	}
	return k.rate[b.offer]
}

// fits reports whether a share of job j in column c has room in b.
func (k *packing) fits(b *bin, j *Job, c *Column) bool {
	r := &j.Resources
	n := float64(c.PerNode)
	if b.free < c.PerNode || b.cpu < r.VCPU*n || b.mem < r.MemGiB*n {
		return false
	}
	return c.Nodes == 1 || b.gangs == 0 || r.ShareNodes && b.closed == 0
}

// span counts n jobs j in column c among those of b that run over several machines.
func (b *bin) span(j *Job, c *Column, n int) {
	if c.Nodes == 1 {
		return
	}
	b.gangs += n
	if !j.Resources.ShareNodes {
		b.closed += n
	}
}

func (k *packing) withinCap(more float64) bool {
	within := more <= 0 || k.pr.Problem.BurnCap == 0 || k.burn+more <= k.capped+capSlack
	k.pr.short = k.pr.short || !within
	return within
}

// capSlack forgives the rounding of sums of rates, far below a nano dollar's
// worth of machines.
const capSlack = 1e-9

// mayBuy reports whether n more machines of an offer may be bought.
func (k *packing) mayBuy(offer, n int) bool {
	o := &k.pr.Problem.Offers[offer]
	if o.Blocked != "" {
		return false
	}
	row := k.pr.quotaOf[offer]
	may := (o.Cap < 0 || k.bought[k.pr.slot[offer]]+n <= o.Cap) && (row < 0 || n*k.pr.Problem.Quotas[row].Unit.Use(o.Type) <= k.quota[row])
	k.pr.short = k.pr.short || !may
	return may
}

// seatAt carries a proposal out.
func (k *packing) seatAt(i int, p proposal) {
	d := &k.pr.Jobs[i]
	col := &d.Columns[p.column]
	bins := slices.Clone(p.bins)
	for n, b := range bins {
		if b < 0 {
			b = k.empty(col.Offer)
			bins[n] = b
		}
		k.occupy(b)
		bin := &k.bins[b]
		bin.span(d.State.Job, col, 1)
		bin.free -= col.PerNode
		bin.cpu -= d.State.Job.Resources.VCPU * float64(col.PerNode)
		bin.mem -= d.State.Job.Resources.MemGiB * float64(col.PerNode)
	}
	p.seat.bins = bins
	k.seats[i] = p.seat
	k.worth += p.worth
	k.fillTeams(i, &p.seat, 1)
}

// unseat takes job i out and returns how it sat, so that it can be put back.
func (k *packing) unseat(i int) proposal {
	was := k.seats[i]
	if was.column < 0 {
		return proposal{seat: was}
	}
	k.fillTeams(i, &was, -1)
	d := &k.pr.Jobs[i]
	col := &d.Columns[was.column]
	for _, b := range was.bins {
		bin := &k.bins[b]
		bin.free += col.PerNode
		bin.cpu += d.State.Job.Resources.VCPU * float64(col.PerNode)
		bin.mem += d.State.Job.Resources.MemGiB * float64(col.PerNode)
		bin.span(d.State.Job, col, -1)
		k.vacate(b)
	}
	k.worth -= was.worth
	k.seats[i] = seat{column: -1}
	return proposal{seat: was}
}

// putBack seats what unseat took out; a job that waited goes on waiting.
func (k *packing) putBack(i int, p proposal) {
	if p.column >= 0 {
		k.seatAt(i, p)
	}
}

// occupy adds a job to a bin. The first one makes it cost something.
func (k *packing) occupy(b int) {
	bin := &k.bins[b]
	bin.jobs++
	if bin.jobs > 1 || bin.held {
		return
	}
	k.spend += k.pr.times * k.binRate(bin)
	k.burn += k.binRate(bin)
	k.fillRows(b, 1)
	if bin.machine < 0 {
		k.count(bin.offer, 1)
	}
}

// vacate takes a job out of a bin. The last one ends its cost.
func (k *packing) vacate(b int) {
	bin := &k.bins[b]
	bin.jobs--
	if bin.jobs > 0 || bin.held {
		return
	}
	k.spend -= k.pr.times * k.binRate(bin)
	k.burn -= k.binRate(bin)
	k.fillRows(b, -1)
	if bin.machine < 0 {
		k.count(bin.offer, -1)
	}
}

// count books n bought machines of an offer against its limits.
func (k *packing) count(offer, n int) {
	k.bought[k.pr.slot[offer]] += n
	if row := k.pr.quotaOf[offer]; row >= 0 {
		k.quota[row] -= n * k.pr.Problem.Quotas[row].Unit.Use(k.pr.Problem.Offers[offer].Type)
	}
}

// empty is a bin of an offer that would be bought and that nobody uses.
func (k *packing) empty(offer int) int {
	for _, b := range k.binsOf(offer) {
		if k.bins[b].machine < 0 && k.bins[b].jobs == 0 {
			return b
		}
	}
	at := len(k.bins)
	k.bins = append(k.bins, newBin(offer, -1, false, &k.pr.Problem.Offers[offer].Type))
	slot := k.pr.slot[offer]
	k.byOffer[slot] = append(slices.Clip(k.byOffer[slot]), at)
	return at
}
