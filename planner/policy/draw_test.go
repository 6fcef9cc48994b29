package policy

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

var start = time.Date(2023, 3, 1, 12, 0, 0, 0, time.UTC)

// tableCurve is samples per hour by accelerator and replicas; more nodes cost a tenth.
type tableCurve map[string]map[int]float64

func (t tableCurve) Speed(accelerator string, nodes, replicas int) (planner.Speed, bool) {
	g, ok := t[accelerator][replicas]
	if !ok {
		return planner.Speed{}, false
	}
	if nodes > 1 {
		g *= 0.9
	}
	return planner.Speed{Goodput: g}, true
}

var drawnTypes = []provider.InstanceType{
	{Cloud: "aws", Name: "k1", Accelerator: "K80", Kind: provider.GPU, Count: 1, AcceleratorMemGiB: 12, VCPU: 4, MemGiB: 61, Hosts: 1, QuotaFamily: "P", Interconnect: "efa"},
	{Cloud: "aws", Name: "v1", Accelerator: "V100", Kind: provider.GPU, Count: 1, AcceleratorMemGiB: 16, VCPU: 8, MemGiB: 61, Hosts: 1, QuotaFamily: "P", Interconnect: "efa"},
	{Cloud: "aws", Name: "v4", Accelerator: "V100", Kind: provider.GPU, Count: 4, AcceleratorMemGiB: 16, VCPU: 32, MemGiB: 244, Hosts: 1, QuotaFamily: "P", Interconnect: "efa"},
	{Cloud: "gcp", Name: "p2", Accelerator: "P100", Kind: provider.GPU, Count: 2, AcceleratorMemGiB: 16, VCPU: 16, MemGiB: 60, Hosts: 1, QuotaFamily: "NVIDIA_P100_GPUS", Interconnect: "gpudirect"},
}

var basePrice = map[string]float64{"k1": 0.9, "v1": 3.06, "v4": 12.24, "p2": 3.7}

// shape says what a drawn problem may contain.
type shape struct {
	jobs      int
	capped    bool
	quota     bool
	machines  bool
	spot      bool
	smallJobs bool
	owned     bool // a machine that is never bought or ended
	shortage  bool // few are left of each offer
	running   bool // further jobs hold machines, alone or together
	rows      bool // a team's burn and the part of spot are bounded
	budgets   bool // budgets over all machines and of a team run short
	stays     bool // some that run may not move, for some nothing is bought
	policies  bool // rows that selectors narrow down, and prices that jobs refuse
}

// drawProblem draws a problem from a seed: a few jobs, the four types in one zone.
func drawProblem(seed uint64, sh shape) planner.Problem {
	r := rand.New(rand.NewPCG(seed, 7))
	p := planner.Problem{Now: start}
	for i := range drawnTypes {
		t := drawnTypes[i]
		markets := []provider.Market{provider.OnDemand}
		if sh.spot {
			markets = append(markets, provider.Spot)
		}
		for _, m := range markets {
			rate := basePrice[t.Name] * (0.9 + 0.2*r.Float64())
			o := planner.Offer{
				Offering: provider.Offering{Cloud: t.Cloud, Region: "r1", Zone: "r1-a", Type: t.Name, Market: m},
				Type:     t, Boot: time.Duration(60+r.IntN(180)) * time.Second, Cap: -1,
			}
			if m == provider.Spot {
				rate *= 0.3 + 0.4*r.Float64()
				o.Hazard = pricing.Hazard{PoolPerHour: 0.05 + 0.4*r.Float64(), OnePerHour: 0.01, Down: 2 * time.Hour}
				o.Notice = 2 * time.Minute
			}
			o.Rate = pricing.RateOf(rate)
			o.Booked = o.Rate
			p.Offers = append(p.Offers, o)
		}
	}
	for i := range sh.jobs {
		base := 1000 * (0.5 + r.Float64())
		size := []int{1, 2, 4}[r.IntN(3)]
		if sh.smallJobs {
			size = 1 + r.IntN(2)
		}
		scale := func(n int) float64 { return float64(n) * (0.8 + 0.2/float64(n)) }
		curve := tableCurve{}
		for _, name := range []string{"K80", "P100", "V100"} {
			gain := map[string]float64{"K80": 1, "P100": 2 + 2*r.Float64(), "V100": 2.5 + 4*r.Float64()}[name]
			curve[name] = map[int]float64{size: base * gain * scale(size)}
			if r.IntN(3) == 0 {
				curve[name][2*size] = base * gain * scale(2*size)
			}
		}
		j := &planner.Job{
			ID: planner.JobID(fmt.Sprintf("j%d", i)), Team: "t", Family: "f", Submitted: start.Add(-time.Duration(r.IntN(90)) * time.Minute),
			Work:       planner.Work{Samples: base * (2 + 20*r.Float64()), Kind: planner.WorkExact},
			Resources:  planner.Resources{Replicas: planner.Replicas{Set: []int{size, 2 * size}}},
			Checkpoint: planner.Checkpoint{Save: 10 * time.Second, Restore: time.Duration(20+r.IntN(60)) * time.Second},
			Curve:      curve,
		}
		if r.IntN(2) == 0 {
			j.ValueOfTime = pricing.RateOf(0.2 + 6*r.Float64())
		}
		p.Jobs = append(p.Jobs, planner.JobState{Job: j, Waiting: j.Submitted})
	}
	if sh.machines {
		for m := range 1 + r.IntN(2) {
			o := &p.Offers[r.IntN(len(p.Offers))]
			mach := planner.Machine{ID: provider.InstanceID(fmt.Sprintf("i-%d", m)), Offering: o.Offering, Rate: o.Rate, ReadyAt: start.Add(-time.Minute)}
			if r.IntN(2) == 0 {
				mach.HoldTo = start.Add(5 * time.Minute)
			}
			p.Machines = append(p.Machines, mach)
		}
		// The first job may hold the first machine.
		m := &p.Machines[0]
		for i := range p.Jobs {
			s := &p.Jobs[i]
			t := typeOf(m.Offering.Type)
			for _, n := range s.Job.Resources.Replicas.Set {
				if _, ok := s.Job.Curve.Speed(t.Accelerator, 1, n); ok && n <= t.Count && s.Running == nil && p.Jobs[0].Running == nil {
					s.Running = &planner.Running{
						Config: planner.Config{Cloud: t.Cloud, Type: t.Name, Nodes: 1, Replicas: n}, Offering: m.Offering,
						Machines: []provider.InstanceID{m.ID}, Since: start.Add(-20 * time.Minute),
					}
					s.Waiting = time.Time{}
				}
			}
			if s.Running != nil {
				break
			}
		}
	}
	if sh.capped {
		p.BurnCap = pricing.RateOf(2 + 12*r.Float64())
		held := pricing.Rate(0)
		for _, m := range p.Machines {
			held += m.Rate
		}
		p.BurnCap = max(p.BurnCap, held)
	}
	if sh.quota {
		p.Quotas = append(p.Quotas, planner.QuotaLeft{Class: provider.QuotaClass{Cloud: "aws", Region: "r1", Family: "P", Market: provider.OnDemand}, Unit: provider.VCPUs, Left: r.IntN(40)})
	}
	// What follows came later: earlier draws stay as they were.
	if sh.owned {
		t := drawnTypes[1+r.IntN(3)]
		o := planner.Offer{
			Offering: provider.Offering{Cloud: "own", Region: "cellar", Zone: "cellar-1", Type: t.Name, Market: provider.Reserved},
			Type:     t, Booked: pricing.RateOf(basePrice[t.Name] / 2),
		}
		o.Type.Cloud = "own"
		p.Offers = append(p.Offers, o)
		p.Machines = append(p.Machines, planner.Machine{ID: "own-1", Offering: o.Offering, ReadyAt: start.Add(-time.Hour), HoldTo: start.Add(1000 * time.Hour)})
	}
	if sh.shortage {
		for i := range p.Offers {
			if o := &p.Offers[i]; o.Cap < 0 && r.IntN(2) == 0 {
				o.Cap = r.IntN(3)
			}
		}
	}
	if sh.running {
		drawRunning(r, &p)
	}
	if sh.stays {
		for i := range p.Jobs {
			p.Jobs[i].Stays = r.IntN(3) > 0
			p.Jobs[i].Shares = r.IntN(3) == 0
		}
	}
	if sh.rows || sh.budgets || sh.policies {
		for i := range p.Jobs {
			if r.IntN(2) == 0 {
				p.Jobs[i].Job.Team = "u"
			}
		}
	}
	if sh.rows {
		p.Rows = []planner.Row{
			{Name: "burn of u", Kind: planner.BurnRow, Team: "u", Most: pricing.RateOf(1 + 6*r.Float64())},
			{Name: "spot", Kind: planner.SpotRow, Part: 0.2 + 0.6*r.Float64()},
			{Name: "spot of t", Kind: planner.SpotRow, Team: "t", Part: 0.2 + 0.8*r.Float64()},
		}
	}
	if sh.budgets {
		p.Budgets = []planner.BudgetPrice{{Name: "month", Mu: r.Float64()}, {Name: "of u", Team: "u", Mu: 1.5 * r.Float64()}, {Name: "day", Mu: 0.2 * r.Float64()}}
	}
	if sh.policies {
		drawPolicies(r, &p)
	}
	return p
}

// drawPolicies draws rows as budget policies make them: of jobs or of whole machines, of
// some offerings, on burn and on the part of spot from both sides; and a price that is too
// dear for a team.
func drawPolicies(r *rand.Rand, p *planner.Problem) {
	scopes := []struct {
		name   string
		ofJobs bool
		over   func(j *planner.Job, o provider.Offering) bool
	}{
		{"everything", false, nil},
		{"of aws", false, func(_ *planner.Job, o provider.Offering) bool { return o.Cloud == "aws" }},
		{"spot", false, func(_ *planner.Job, o provider.Offering) bool { return o.Market == provider.Spot }},
		{"u", true, func(j *planner.Job, _ provider.Offering) bool { return j.Team == "u" }},
		{"u on demand", true, func(j *planner.Job, o provider.Offering) bool { return j.Team == "u" && o.Market == provider.OnDemand }},
		{"j0 or gcp", true, func(j *planner.Job, o provider.Offering) bool { return j.ID == "j0" || o.Cloud == "gcp" }},
	}
	for n := range 2 + r.IntN(3) {
		s := scopes[r.IntN(len(scopes))]
		row := planner.Row{Name: fmt.Sprintf("%d: %s", n, s.name), OfJobs: s.ofJobs, Over: s.over}
		switch row.Kind = []planner.RowKind{planner.BurnRow, planner.BurnRow, planner.SpotRow, planner.LeastSpotRow}[r.IntN(4)]; row.Kind {
		case planner.BurnRow:
			row.Most, row.Swing = pricing.RateOf(0.5+7*r.Float64()), 0.4*float64(n%3)
		default:
			row.Part, row.Spare = 0.2+0.6*r.Float64(), r.IntN(2) == 0
		}
		p.Rows = append(p.Rows, row)
	}
	most := pricing.RateOf(0.5 + 6*r.Float64())
	for i := range p.Jobs {
		if s := &p.Jobs[i]; s.Job.Team == "u" {
			s.Job.Refuses = func(o *planner.Offer) []planner.Refusal {
				if o.Rate > most && (s.Running == nil || s.Running.Offering != o.Offering) {
					return []planner.Refusal{{By: "rate", Why: "too dear"}}
				}
				return nil
			}
		}
	}
}

// drawRunning gives machines to some of the jobs that wait, two jobs to one
// machine where they fit.
func drawRunning(r *rand.Rand, p *planner.Problem) {
	for i := range p.Jobs {
		s := &p.Jobs[i]
		if s.Running != nil || r.IntN(3) == 0 {
			continue
		}
		o := &p.Offers[r.IntN(len(p.Offers))]
		var sizes []int
		for _, n := range s.Job.Resources.Replicas.Set {
			nodes := (n + o.Type.Count - 1) / o.Type.Count
			if _, ok := s.Job.Curve.Speed(o.Type.Accelerator, nodes, n); ok && n%nodes == 0 && o.Offering.Cloud != "own" {
				sizes = append(sizes, n)
			}
		}
		if len(sizes) == 0 {
			continue
		}
		n := sizes[r.IntN(len(sizes))]
		nodes := (n + o.Type.Count - 1) / o.Type.Count
		run := &planner.Running{
			Config:   planner.Config{Cloud: o.Type.Cloud, Type: o.Type.Name, Nodes: nodes, Replicas: n},
			Offering: o.Offering, Since: start.Add(-time.Duration(r.IntN(60)) * time.Minute),
		}
		for range nodes {
			m := planner.Machine{ID: provider.InstanceID(fmt.Sprintf("run-%d", len(p.Machines))), Offering: o.Offering, Rate: o.Rate, ReadyAt: start.Add(-time.Minute)}
			p.Machines = append(p.Machines, m)
			run.Machines = append(run.Machines, m.ID)
		}
		s.Running, s.Waiting = run, time.Time{}
		// A neighbour moves in where there is room.
		for k := i + 1; k < len(p.Jobs) && nodes == 1; k++ {
			q := &p.Jobs[k]
			small := q.Job.Resources.Replicas.Set[0]
			if _, ok := q.Job.Curve.Speed(o.Type.Accelerator, 1, small); ok && q.Running == nil && n+small <= o.Type.Count {
				q.Running = &planner.Running{
					Config:   planner.Config{Cloud: o.Type.Cloud, Type: o.Type.Name, Nodes: 1, Replicas: small},
					Offering: o.Offering, Machines: run.Machines, Since: run.Since,
				}
				q.Waiting = time.Time{}
				break
			}
		}
	}
	if p.BurnCap > 0 {
		held := pricing.Rate(0)
		for _, m := range p.Machines {
			held += m.Rate
		}
		p.BurnCap = max(p.BurnCap, held)
	}
}

func typeOf(name string) provider.InstanceType {
	for _, t := range drawnTypes {
		if t.Name == name {
			return t
		}
	}
	panic(name)
}
