package highs

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/planner/share"
	"github.com/goodfleet/goodfleet/planner/whole"
)

// family is policies that are one program, with the draws that the tests hold against an
// independent solver: the same seeds, streams and sizes as theirs.
type family struct {
	name     string
	stream   uint64
	most     int // jobs
	pairs    bool
	policies []string // each has all instances
	prepare  func(r *rand.Rand, p *share.Problem)
}

var families = []family{
	{name: "max-min", stream: 1, most: 40, policies: []string{"max_min_fairness", "max_min_fairness_agnostic"}},
	{name: "water filling", stream: 2, most: 8, policies: []string{"water_filling_sum"}, prepare: wholeWeights},
	{name: "hierarchical", stream: 16, most: 8, policies: []string{"hierarchical"}, prepare: inTeams},
	{name: "finish time", stream: 1, most: 10, policies: []string{"finish_time_fairness"}},
	{name: "makespan", stream: 1, most: 40, policies: []string{"makespan"}},
	{name: "fifo", stream: 1, most: 40, policies: []string{"fifo"}},
	{name: "sums", stream: 1, most: 40, policies: []string{"max_sum_throughput", "max_sum_normalized_throughput"}},
	{name: "min-cost", stream: 1, most: 40, policies: []string{"min_cost", "min_cost_slo", "min_spend_slo", "cost_ratio_slo"}},
	{name: "packed", stream: 1, most: 12, pairs: true, policies: []string{"max_min_fairness_packed", "makespan_packed", "fifo_packed",
		"max_sum_throughput_packed", "max_sum_normalized_throughput_packed", "min_cost_packed", "min_cost_slo_packed", "min_spend_slo_packed"}},
	{name: "packed water filling", stream: 2, most: 6, pairs: true, policies: []string{"water_filling_packed"}, prepare: wholeWeights},
	{name: "packed hierarchical", stream: 16, most: 6, pairs: true, policies: []string{"hierarchical_packed"}, prepare: inTeams},
	{name: "packed finish time", stream: 1, most: 6, pairs: true, policies: []string{"finish_time_fairness_packed"}},
	{name: "power mean", stream: 14, most: 10, policies: []string{"power_mean"}},
}

// wholeWeights gives all jobs weights of 1 to 4: the definition's programs have tolerances of
// their own.
func wholeWeights(r *rand.Rand, p *share.Problem) {
	for j := range p.Jobs {
		p.Jobs[j].Weight = float64(1 + r.IntN(4))
	}
}

func inTeams(r *rand.Rand, p *share.Problem) {
	wholeWeights(r, p)
	drawEntities(r, p)
}

// kinds are what a problem has that is unpleasant.
func kinds(p *share.Problem) []string {
	var list []string
	add := func(kind string, has bool) {
		if has {
			list = append(list, kind)
		}
	}
	add("no job", len(p.Jobs) == 0)
	add("one job", len(p.Jobs) == 1)
	add("zero capacity", slices.ContainsFunc(p.Types, func(t share.Type) bool { return t.Workers == 0 }))
	least, most := math.Inf(1), 0.0
	equal, unfit, zero := false, false, false
	for j, job := range p.Jobs {
		least, most = min(least, job.Weight), max(most, job.Weight)
		rate := 0.0
		for w, v := range job.Throughput {
			zero = zero || v == 0
			if p.Types[w].Workers > 0 {
				rate = max(rate, v)
			}
		}
		unfit = unfit || rate == 0
		for _, other := range p.Jobs[:j] {
			equal = equal || other.Scale == job.Scale && other.Weight == job.Weight && slices.Equal(other.Throughput, job.Throughput)
		}
	}
	add("equal jobs", equal)
	add("a job that fits nothing", unfit)
	add("zero throughput on a type", zero)
	add("weights over six orders", most >= (1-1e-9)*1e6*least)
	return list
}

// leastOf is the least number of instances of each kind that a family must have. The rarest are
// drawn some thirty times in 500, so that no seed is likely to have fewer.
const leastOf = 10

// TestEveryFamilyIsHeldAgainstInstancesOfEveryKind draws what the other tests draw, counts, and
// prints the counts.
func TestEveryFamilyIsHeldAgainstInstancesOfEveryKind(t *testing.T) {
	for _, f := range families {
		for _, name := range f.policies {
			y, ok := share.Find(name)
			if !ok {
				t.Fatalf("there is no policy %s", name)
			}
			r := rand.New(rand.NewPCG(*seed, f.stream))
			count := map[string]int{}
			for i := range *instances {
				p := draw(r, f.most, f.pairs)
				if f.prepare != nil {
					f.prepare(r, p)
				}
				a, err := y.Share(p, share.Options{})
				if err != nil {
					t.Fatalf("%s, instance %d: %v", name, i, err)
				}
				for _, kind := range append(kinds(p), a.Status) {
					count[kind]++
				}
			}
			t.Logf("%s, %s: %d instances: %s", f.name, name, *instances, listed(count))
			if *instances < 500 {
				continue // a shorter run says nothing of the counts
			}
			needed := []string{"no job", "one job", "zero capacity", "equal jobs", "a job that fits nothing", "zero throughput on a type"}
			if f.prepare == nil {
				needed = append(needed, "weights over six orders")
			}
			if strings.Contains(name, "slo") || strings.Contains(name, "makespan") || strings.Contains(name, "finish") {
				needed = append(needed, "infeasible")
			}
			for _, kind := range needed {
				if count[kind] < leastOf {
					t.Errorf("%s: %d instances with %s, want at least %d", name, count[kind], kind, leastOf)
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(*seed, 3))
	count := map[string]int{}
	for range *instances {
		a := drawRequests(r)
		switch len(a.Requests) {
		case 0:
			count["no job"]++
		case 1:
			count["one job"]++
		}
		if slices.ContainsFunc(a.Types, func(t share.Type) bool { return t.Workers == 0 }) {
			count["zero capacity"]++
		}
		if slices.ContainsFunc(a.Requests, func(q share.Request) bool { return q.Options[0].Goodput == 0 }) {
			count["a job that fits nothing"]++
		}
		if slices.ContainsFunc(a.Requests, func(q share.Request) bool { return q.Pinned }) {
			count["pinned jobs"]++
		}
		least, most, equal := math.Inf(1), 0.0, false
		for j, q := range a.Requests {
			least, most = min(least, q.MinGPUs), max(most, q.MinGPUs)
			for _, other := range a.Requests[:j] {
				equal = equal || slices.Equal(q.Options, other.Options) && q.Options[0].Goodput > 0
			}
		}
		if equal {
			count["equal jobs"]++
		}
		if most >= (1-1e-9)*1e6*least {
			count["weights over six orders"]++
		}
		count[a.Solve(whole.Limits{Gap: 1e-3}).Status]++
	}
	t.Logf("Sia: %d instances: %s", *instances, listed(count))
	for _, kind := range []string{"no job", "one job", "zero capacity", "a job that fits nothing", "pinned jobs", "equal jobs", "weights over six orders", "infeasible"} {
		if *instances >= 500 && count[kind] < leastOf {
			t.Errorf("Sia: %d instances with %s, want at least %d", count[kind], kind, leastOf)
		}
	}
}

// listed is counts in the order of their names.
func listed(count map[string]int) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%d %s", count[kind], kind))
	}
	return strings.Join(parts, ", ")
}
