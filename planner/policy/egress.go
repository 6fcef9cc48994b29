package policy

import (
	"math"
	"slices"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// Elsewhere is the best way to run a job in one region: what it costs to the end,
// and what bringing data and checkpoint there costs once.
type Elsewhere struct {
	Config   planner.Config
	Offering provider.Offering
	Rate     float64 // of its machines, USD/h
	ToEnd    float64 // money to the end without the egress, USD
	Hours    float64 // to the end, with losses, waits, boot and transfer
	Egress   float64 // USD, once
	Transfer float64 // h, once; in Hours
	Cost     float64 // ToEnd + Egress + value of time × Hours, USD: what is compared
	Here     bool    // the region of the data, or where the job runs
}

// Elsewheres lists the best way to run a job in each region that it may use, the
// cheapest first, with what egress would cost. It is empty for a job that nothing
// carries now.
func (r *Reasons) Elsewheres(id planner.JobID) ([]Elsewhere, error) {
	i, err := r.job(id)
	if err != nil {
		return nil, err
	}
	s, w := &r.problem.Jobs[i], &r.know[i]
	there := map[provider.Offering]bool{} // machines of it are held
	for _, m := range r.problem.Machines {
		there[m.Offering] = there[m.Offering] || !m.Leaving
	}
	best := map[[2]string]Elsewhere{}
	var order [][2]string
	for o := range r.problem.Offers {
		offer := &r.problem.Offers[o]
		if offer.Blocked != "" && !there[offer.Offering] {
			continue
		}
		place := [2]string{offer.Offering.Cloud, offer.Offering.Region}
		cols, err := r.on(s, offer)
		if err != nil {
			return nil, err
		}
		for c := range cols {
			e := r.elsewhere(s, &cols[c], offer, w)
			old, seen := best[place]
			if !seen {
				order = append(order, place)
			}
			if !seen || e.Cost < old.Cost {
				best[place] = e
			}
		}
	}
	list := make([]Elsewhere, 0, len(order))
	for _, place := range order {
		list = append(list, best[place])
	}
	slices.SortStableFunc(list, func(a, b Elsewhere) int {
		switch {
		case math.Abs(a.Cost-b.Cost) <= 1e-9*math.Abs(a.Cost): // equal but for rounding: the first region by name
			return a.Offering.Compare(b.Offering)
		case a.Cost < b.Cost:
			return -1
		}
		return 1
	})
	return list, nil
}

// on lists the columns of a job on one offer alone, whatever else is sold and whether
// or not it can be had now; none if it does not carry the job. After a loss there it
// goes on as the job would from anywhere.
func (r *Reasons) on(s *planner.JobState, o *planner.Offer) ([]planner.Column, error) {
	if _, lacks := planner.Lacks(s.Job, []planner.Offer{*o}); lacks {
		return nil, nil
	}
	free := *o
	free.Blocked, free.Cap = "", -1
	p := planner.Problem{Now: r.problem.Now, Jobs: []planner.JobState{*s}, Offers: []planner.Offer{free}}
	pr, err := planner.NewProgram(&p, r.settings.transfer())
	if err != nil {
		return nil, err
	}
	cols := pr.Jobs[0].Columns
	i, err := r.job(s.Job.ID)
	if err != nil {
		return nil, err
	}
	at, _ := r.offer(o.Offering)
	for c := range cols {
		cols[c].Offer = at
	}
	return r.fallingBack(i, cols), nil
}

// fallingBack are columns of job i that go on after losses as those of the plan do.
func (r *Reasons) fallingBack(i int, cols []planner.Column) []planner.Column {
	v := r.know[i].v
	if v <= 0 {
		return cols
	}
	planned := r.full[i].Columns
	d := planner.Demand{State: &r.problem.Jobs[i], Current: -1, Columns: slices.Concat(planned, cols)}
	fallBack(&r.problem, &d, v)
	return d.Columns[len(planned):]
}

func (r *Reasons) elsewhere(s *planner.JobState, c *planner.Column, o *planner.Offer, w *worth) Elsewhere {
	e := Elsewhere{
		Config:   planner.Config{Cloud: o.Type.Cloud, Type: o.Type.Name, Nodes: c.Nodes, Replicas: c.Replicas(), Batch: c.Speed.Batch},
		Offering: o.Offering, Rate: c.Alone, Egress: c.OneOff, ToEnd: c.Spend(w.left),
		Hours: c.WallHours(w.left) + c.Resume + c.Boot,
	}
	d := s.Job.Data
	at, region := d.Cloud, d.Region
	if s.Running != nil {
		at, region = s.Running.Offering.Cloud, s.Running.Offering.Region
	}
	e.Here = region != "" && region == o.Offering.Region && (at == "" || at == o.Offering.Cloud)
	e.Transfer = max(0, c.Resume-s.Job.Checkpoint.Restore.Hours())
	if s.Running != nil {
		e.Transfer = max(0, e.Transfer-s.Job.Checkpoint.Save.Hours())
	}
	if now := s.Running; now != nil && now.Offering == e.Offering && now.Config.Nodes == e.Config.Nodes && now.Config.Replicas == e.Config.Replicas {
		e.Hours = c.WallHours(w.left) // it is there: nothing restarts
	}
	e.Cost = e.ToEnd + e.Egress + w.v*e.Hours
	return e
}
