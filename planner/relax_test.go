package planner

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// drawnProgram draws a program with its worths set at random: gangs on one machine
// and on two, machines that are held, supplies, a quota and a cap.
func drawnProgram(t *rapid.T) *Program {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := &Problem{Now: now}
	for o := range rapid.IntRange(1, 4).Draw(t, "offers") {
		count := rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "count")
		p.Offers = append(p.Offers, Offer{
			Offering: provider.Offering{Cloud: "c", Region: "r", Zone: fmt.Sprint("z", o), Type: fmt.Sprint("t", o), Market: provider.OnDemand},
			Type:     provider.InstanceType{Cloud: "c", Name: fmt.Sprint("t", o), Accelerator: "A", Kind: provider.GPU, Count: count, VCPU: 4 * count, MemGiB: 100, Hosts: 1, QuotaFamily: "F", Interconnect: "net"},
			Rate:     pricing.RateOf(rapid.Float64Range(0.1, 10).Draw(t, "rate")),
			Cap:      rapid.IntRange(-1, 3).Draw(t, "cap"),
		})
	}
	for m := range rapid.IntRange(0, 3).Draw(t, "machines") {
		o := &p.Offers[rapid.IntRange(0, len(p.Offers)-1).Draw(t, "of")]
		held := Machine{ID: provider.InstanceID(fmt.Sprint("m", m)), Offering: o.Offering, Rate: o.Rate, ReadyAt: now.Add(-time.Hour)}
		if rapid.Bool().Draw(t, "held") {
			held.HoldTo = now.Add(time.Hour)
		}
		p.Machines = append(p.Machines, held)
	}
	if rapid.Bool().Draw(t, "quota") {
		p.Quotas = []QuotaLeft{{Class: provider.QuotaClass{Cloud: "c", Region: "r", Family: "F", Market: provider.OnDemand}, Unit: provider.VCPUs, Left: rapid.IntRange(0, 60).Draw(t, "left")}}
	}
	if rapid.Bool().Draw(t, "capped") {
		p.BurnCap = pricing.RateOf(rapid.Float64Range(0, 30).Draw(t, "cap"))
	}
	for j := range rapid.IntRange(1, 6).Draw(t, "jobs") {
		p.Jobs = append(p.Jobs, JobState{Job: &Job{ID: JobID(fmt.Sprint("j", j)), Curve: flat{}, Resources: Resources{ShareNodes: rapid.Bool().Draw(t, "shares nodes")}}})
	}
	pr, err := NewProgram(p, DefaultTransfer())
	if err != nil {
		t.Fatal(err)
	}
	for i := range pr.Jobs {
		for range rapid.IntRange(0, 4).Draw(t, "columns") {
			o := rapid.IntRange(0, len(p.Offers)-1).Draw(t, "on")
			c := Column{Offer: o, Nodes: 1, PerNode: rapid.IntRange(1, p.Offers[o].Type.Count).Draw(t, "perNode")}
			if rapid.IntRange(0, 3).Draw(t, "gang") == 0 {
				c.Nodes = 2
			}
			c.Here = rapid.Float64Range(0, 20).Draw(t, "here")
			c.Stay, c.Bought = c.Here, c.Here*rapid.Float64Range(0.5, 1).Draw(t, "bought")
			pr.Jobs[i].Columns = append(pr.Jobs[i].Columns, c)
		}
	}
	return pr
}

// The bound of a relaxation rests on its duals alone: no set of parts on a machine,
// every one of them tried, earns more over the prices of its jobs than the machine's
// rent, whether the patterns were all found or the first alone.
func TestBoundsRestOnTheirDuals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pr := drawnProgram(t)
		pr.index()
		r := pr.relax()
		enough := math.Inf(-1)
		if rapid.Bool().Draw(t, "at once") {
			enough = math.Inf(1)
		}
		bound := r.solve(newPacking(pr), enough)
		sum := 0.0
		for row, b := range r.lp.Bound {
			if r.duals[row] < 0 {
				t.Fatalf("dual %d is %g", row, r.duals[row])
			}
			sum += r.duals[row] * b
		}
		if math.Abs(sum-bound) > 1e-9*math.Max(1, bound) {
			t.Errorf("bound %.12f, duals prove %.12f", bound, sum)
		}
		for c := range r.classes {
			if most := mostOf(&r.classes[c], r.price, nil, r.classes[c].size); most > r.rent[c]+1e-9 {
				t.Errorf("class %d earns %.12f, its rent is %.12f", c, most, r.rent[c])
			}
		}
	})
}

// mostOf tries every set of parts with different jobs, at most one of a gang over
// several machines.
func mostOf(k *class, price []float64, taken []option, free int) float64 {
	most := 0.0
	for _, o := range taken {
		most += o.worth - price[o.job]*o.part
	}
	from := 0
	if len(taken) > 0 {
		from = taken[len(taken)-1].job + 1
	}
	for _, o := range k.options {
		gangs := 0
		for _, x := range taken {
			if x.gang {
				gangs++
			}
		}
		if o.job >= from && o.perNode <= free && (!o.gang || gangs == 0) {
			most = math.Max(most, mostOf(k, price, append(taken[:len(taken):len(taken)], o), free-o.perNode))
		}
	}
	return most
}
