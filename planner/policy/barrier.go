package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// Barrier is one thing that keeps a job from a cheaper way to run: a wish of its
// own, a word of a person, a quota, a shortage. Each is lifted alone.
type Barrier struct {
	What     string // "maxPrice 3 USD/h", "exclude aws/... by ada: driver bug"
	Config   planner.Config
	Offering provider.Offering // what it would run on
	Rate     float64           // of its machines, USD/h
	Saves    float64           // share of money and time per unit of work; 1 when nothing else carries it
}

// leastBarrier is the share of a job's cost below which nobody would lift anything.
const leastBarrier = 0.005

// Barriers lists what keeps a job from a cheaper way, the largest saving first.
func (r *Reasons) Barriers(id planner.JobID) ([]Barrier, error) {
	i, err := r.job(id)
	if err != nil {
		return nil, err
	}
	s := r.problem.Jobs[i]
	now, ok, err := r.cheapest(&s, r.problem.Offers)
	if err != nil {
		return nil, err
	}
	var list []Barrier
	try := func(what string, job *planner.Job, offers []planner.Offer) error {
		lifted := s
		lifted.Job = job
		best, carried, err := r.cheapest(&lifted, offers)
		if err != nil || !carried {
			return err
		}
		b := Barrier{What: what, Config: best.config, Offering: best.offering, Rate: best.rate, Saves: 1}
		if ok {
			b.Saves = 1 - best.cost/now.cost
		}
		if b.Saves > leastBarrier {
			list = append(list, b)
		}
		return nil
	}
	for _, wish := range wishes(s.Job) {
		if err := try(wish.what, wish.without, r.problem.Offers); err != nil {
			return nil, err
		}
	}
	for _, block := range r.blocks() {
		if err := try(block.what, s.Job, block.without); err != nil {
			return nil, err
		}
	}
	for i := range list {
		if list[i].What == policiesWish { // told by what they say of what it would have
			at := slices.IndexFunc(r.problem.Offers, func(o planner.Offer) bool { return o.Offering == list[i].Offering })
			if by := s.Job.Refuses(&r.problem.Offers[at]); len(by) > 0 {
				list[i].What = planner.RefusalText(by)
			}
		}
	}
	bySaving(list)
	return list, nil
}

// policiesWish stands for what budget policies say of the offer that a job would have.
const policiesWish = "budget policies"

// bySaving puts the largest saving first.
func bySaving(list []Barrier) {
	slices.SortStableFunc(list, func(a, b Barrier) int { return cmp.Compare(b.Saves, a.Saves) })
}

// wished is a limit that a job sets itself, and the job without it.
type wished struct {
	what    string
	without *planner.Job
}

func wishes(j *planner.Job) []wished {
	var list []wished
	add := func(what string, change func(j *planner.Job)) {
		without := *j
		change(&without)
		list = append(list, wished{what, &without})
	}
	if len(j.Clouds) > 0 {
		add("clouds: only "+strings.Join(j.Clouds, ", "), func(j *planner.Job) { j.Clouds = nil })
	}
	if len(j.Regions) > 0 {
		add("regions: only "+strings.Join(j.Regions, ", "), func(j *planner.Job) { j.Regions = nil })
	}
	if len(j.Markets) > 0 {
		words := make([]string, len(j.Markets))
		for i, m := range j.Markets {
			words[i] = m.String()
		}
		add("markets: only "+strings.Join(words, ", "), func(j *planner.Job) { j.Markets = nil })
	}
	if len(j.Types) > 0 {
		add("types: only "+strings.Join(j.Types, ", "), func(j *planner.Job) { j.Types = nil })
	}
	if j.MaxPrice > 0 {
		add("maxPrice: "+j.MaxPrice.String()+" USD/h", func(j *planner.Job) { j.MaxPrice = 0 })
	}
	if j.Refuses != nil {
		add(policiesWish, func(j *planner.Job) { j.Refuses, j.Opens = nil, nil })
	}
	if d := j.Data; d.Region != "" && !d.Size.Known {
		add("data.size: not given, so the job stays in "+d.Region, func(j *planner.Job) { j.Data.Size = planner.Size{Known: true} })
	}
	if n := j.Resources.Accelerators; len(n) > 0 {
		add("resources.accelerators: only "+strings.Join(n, ", "), func(j *planner.Job) { j.Resources.Accelerators = nil })
	}
	if !j.Resources.Ethernet {
		add("resources.network: only a declared interconnect between machines", func(j *planner.Job) { j.Resources.Ethernet = true })
	}
	return list
}

// block is one reason why offers cannot be had, and the offers without it.
type block struct {
	what    string
	without []planner.Offer
}

func (r *Reasons) blocks() []block {
	var list []block
	find := func(what string) *block {
		at := slices.IndexFunc(list, func(b block) bool { return b.what == what })
		if at < 0 {
			list = append(list, block{what, slices.Clone(r.problem.Offers)})
			at = len(list) - 1
		}
		return &list[at]
	}
	for i := range r.problem.Offers {
		o := &r.problem.Offers[i]
		switch {
		case o.Rate <= 0: // owned: there is none to be bought
		case o.Blocked != "":
			lifted := &find(o.Blocked).without[i]
			lifted.Blocked, lifted.Cap = "", -1
		case o.Cap == 0:
			find(r.capOf(o)).without[i].Cap = -1
		}
	}
	return list
}

// capOf names what limits the count of an offer.
func (r *Reasons) capOf(o *planner.Offer) string {
	for _, q := range r.problem.Quotas {
		if counts(q, o) {
			text := fmt.Sprintf("quota %s (%s) in %s: %d %s left", q.Class.Family, q.Class.Market, q.Class.Region, q.Left, unitWord(q.Unit))
			if q.Code != "" {
				text += ", code " + q.Code
			}
			return text
		}
	}
	return "supply of " + o.Offering.String()
}

func unitWord(u provider.QuotaUnit) string {
	if u == provider.VCPUs {
		return "vCPU"
	}
	return u.String()
}

// way is the cheapest way to run a job alone.
type way struct {
	config   planner.Config
	offering provider.Offering
	rate     float64 // USD/h
	cost     float64 // USD per sample, money and time
}

// cheapest finds the cheapest way to run a job alone on what can be had of offers,
// an hour of it being valued as the plan values it. ok is false when nothing
// carries it.
func (r *Reasons) cheapest(s *planner.JobState, offers []planner.Offer) (w way, ok bool, err error) {
	p := planner.Problem{Now: r.problem.Now, Jobs: []planner.JobState{*s}, Machines: r.problem.Machines, Offers: offers}
	pr, err := planner.NewProgram(&p, r.settings.transfer())
	if err != nil {
		return way{}, false, err
	}
	d := &pr.Jobs[0]
	if len(d.Columns) == 0 {
		return way{}, false, nil
	}
	know := appraise(&p, d, nil)
	if i, err := r.job(s.Job.ID); err == nil && r.know[i].v > 0 {
		know.v, know.left = r.know[i].v, r.know[i].left
	}
	best := &d.Columns[0]
	for c := range d.Columns {
		col := &d.Columns[c]
		if k := col.CostOfWork(know.v) + once(col, know.left); c == 0 || k < w.cost {
			best, w.cost = col, k
		}
	}
	w.config, w.offering, w.rate = configOf(&p, best), offers[best.Offer].Offering, best.Alone
	return w, true, nil
}

// Lifted plans anew as if nothing kept an offering from being bought: no word of a
// person, no shortage, no quota. The burn cap stays.
func (r *Reasons) Lifted(o provider.Offering) (*Reasons, error) {
	at, ok := r.offer(o)
	if !ok {
		return nil, fmt.Errorf("the plan knows no offering %s", o)
	}
	p := r.given
	p.Offers = slices.Clone(p.Offers)
	p.Offers[at].Blocked, p.Offers[at].Cap = "", -1
	p.Quotas = slices.DeleteFunc(slices.Clone(p.Quotas), func(q planner.QuotaLeft) bool { return counts(q, &p.Offers[at]) })
	s := r.settings
	s.Limits.NoBound = true
	return Explain(p, s)
}

// Compared is how a job would run on one offering, beside its best way.
type Compared struct {
	Job    planner.JobID
	Lacks  string // why it cannot; "": it can
	Config planner.Config
	Rate   float64 // of its machines, USD/h
	Dearer float64 // share of money and time per unit of work above its cheapest way; < 0: cheaper
	Egress float64 // USD, once
}

// On tells for each job how it would run on an offering.
func (r *Reasons) On(o provider.Offering) ([]Compared, error) {
	at, ok := r.offer(o)
	if !ok {
		return nil, fmt.Errorf("the plan knows no offering %s", o)
	}
	offer := &r.problem.Offers[at]
	list := make([]Compared, 0, len(r.problem.Jobs))
	for i := range r.problem.Jobs {
		s, know := &r.problem.Jobs[i], &r.know[i]
		c := Compared{Job: s.Job.ID}
		cols, err := r.on(s, offer)
		if err != nil {
			return nil, err
		}
		if len(cols) == 0 {
			c.Lacks = "nothing is known of its speed there"
			if lacks, missing := planner.Lacks(s.Job, []planner.Offer{*offer}); missing {
				c.Lacks = strings.Replace(lacks, "what is left offers", "it has", 1) // there is but one
			}
			list = append(list, c)
			continue
		}
		v, left := know.v, know.left
		if v <= 0 { // nothing carries it now: valued as this offering's own
			v, left = offer.Rate.Dollars(), cols[0].Speed.Goodput
		}
		least := -1.0
		for k := range cols {
			if cost := cols[k].CostOfWork(v) + once(&cols[k], left); least < 0 || cost < least {
				least = cost
				c.Config = planner.Config{Cloud: offer.Type.Cloud, Type: offer.Type.Name, Nodes: cols[k].Nodes, Replicas: cols[k].Replicas(), Batch: cols[k].Speed.Batch}
				c.Rate, c.Egress = cols[k].Alone, cols[k].OneOff
			}
		}
		if know.kappa > 0 && know.best >= 0 {
			c.Dearer = least/know.kappa - 1
		}
		list = append(list, c)
	}
	return list, nil
}
