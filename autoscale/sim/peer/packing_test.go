package peer

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/throughput"
)

// pairSpeeds are of job types "a", "b", ... on a V100: what each does alone, and what it keeps
// beside each, in steps per second.
type pairSpeeds struct {
	alone  []float64
	beside [][]float64
}

func typeName(i int) string { return string(rune('a' + i)) }

// table is how Gavel publishes them.
func (s pairSpeeds) table(t *testing.T) *throughput.Pairs {
	t.Helper()
	v100 := map[string]map[string][2]float64{}
	key := func(i int) string { return fmt.Sprintf("('%s', 1)", typeName(i)) }
	for i := range s.alone {
		v100[key(i)] = map[string][2]float64{}
		for k := range s.alone {
			v100[key(i)][key(k)] = [2]float64{s.beside[i][k], s.beside[k][i]}
		}
	}
	text, err := json.Marshal(map[string]any{"v100": v100})
	if err != nil {
		t.Fatal(err)
	}
	p, err := throughput.ReadPairs("pairs.json", strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// job is one of a type, of so many steps.
func (s pairSpeeds) job(t *testing.T, pairs *throughput.Pairs, id string, of int, after, steps float64) *planner.Job {
	t.Helper()
	p, err := throughput.NewProfile(throughput.ProfileConfig{Name: typeName(of), Entries: []throughput.Entry{{Accelerator: "V100", Replicas: 1, SamplesPerSec: s.alone[of]}}})
	if err != nil {
		t.Fatal(err)
	}
	j := job(id, after, steps, 1)
	j.Family, j.Curve = typeName(of), planner.PairedCurve(p, pairs)
	return j
}

func packedRounds(pack Packing, fifo bool) *Gavel {
	return NewGavel(GavelConfig{Pack: pack, Aware: true, FIFO: fifo})
}

// Two jobs on one accelerator go at the speeds of the pair, and each bears half of it; when one
// is done the other goes on alone, as fast as it does then.
func TestPairGoesAtItsOwnSpeeds(t *testing.T) {
	s := pairSpeeds{alone: []float64{1, 1}, beside: [][]float64{{0, 0.9}, {0.7, 0}}}
	pairs := s.table(t)
	jobs := []*planner.Job{s.job(t, pairs, "1", 0, 0, 3240), s.job(t, pairs, "2", 1, 0, 2520+500)}
	out := outcome(t, "1xV100", packedRounds(PackFIFO, true).Plan, jobs...)
	if diff := cmp.Diff([]float64{3600, 4100}, took(out, jobs)); diff != "" {
		t.Error(diff)
	}
	borne := map[string]time.Duration{}
	for i := range out.Charges {
		if id := out.Charges[i].Job; id != "" {
			borne[id] += out.Charges[i].Time()
		}
	}
	if diff := cmp.Diff(map[string]time.Duration{"1": 1800 * time.Second, "2": 2300 * time.Second}, borne); diff != "" {
		t.Errorf("accelerator-time borne: %s", diff)
	}
}

// Whoever packs: no machine of one accelerator has more than two jobs, two say so of each other,
// each job does in each round what its speed there, alone or beside the other, comes to, and the
// same again gives the same.
func TestPackedRoundsKeepTheTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	const types, n = 5, 14
	s := pairSpeeds{alone: make([]float64, types), beside: make([][]float64, types)}
	for i := range types {
		s.alone[i], s.beside[i] = 0.5+rng.Float64(), make([]float64, types)
	}
	for i := range types {
		for k := range i + 1 {
			if rng.Float64() < 0.8 { // the others do not fit
				s.beside[i][k], s.beside[k][i] = s.alone[i]*(0.5+0.5*rng.Float64()), s.alone[k]*(0.5+0.5*rng.Float64())
			}
		}
		s.beside[i][i] = s.alone[i] * 0.6
	}
	pairs := s.table(t)
	var jobs []*planner.Job
	for i := range n {
		jobs = append(jobs, s.job(t, pairs, fmt.Sprintf("%02d", i), rng.IntN(types), 9000*rng.Float64()*float64(i)/n, 2000+20_000*rng.Float64()))
	}
	for _, c := range []struct {
		name string
		pack func() Packing
		fifo bool
	}{
		{"fifo", func() Packing { return PackFIFO }, true},
		{"gandiva", func() Packing { return NewGandiva(1).Pack }, false},
		{"fair", func() Packing { return PackFair }, false},
		{"fairest", func() Packing { return PackFairest }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			first, paired := watched(t, packedRounds(c.pack(), c.fifo).Plan, jobs)
			if paired == 0 {
				t.Error("no two jobs shared")
			}
			again, _ := watched(t, packedRounds(c.pack(), c.fifo).Plan, jobs)
			if diff := cmp.Diff(first, again); diff != "" {
				t.Errorf("another time: %s", diff)
			}
		})
	}
}

// watched runs jobs on three V100 and watches each round: it returns what they took, and how
// often two shared.
func watched(t *testing.T, plan autoscale.PlanFunc, jobs []*planner.Job) (sec []float64, paired int) {
	var last planner.Plan
	var at time.Time
	done := map[planner.JobID]float64{}
	watch := func(p planner.Problem) (planner.Plan, error) {
		if p.Now.After(at) && !at.IsZero() {
			rounds := math.Ceil(p.Now.Sub(at).Seconds() / 360) // of whole steps, so that they end a little sooner
			for i := range p.Jobs {
				j := &p.Jobs[i]
				want := 0.0
				for _, a := range last.Allocations {
					if a.Job == j.Job.ID {
						want = rounds * math.Floor(a.Speed.Goodput/3600*360)
					}
				}
				if got := j.Done - done[j.Job.ID]; math.Abs(got-want) > 1e-6 {
					t.Errorf("at %s job %s did %g steps, want %g", p.Now.Sub(start), j.Job.ID, got, want)
				}
			}
		}
		for i := range p.Jobs {
			done[p.Jobs[i].Job.ID] = p.Jobs[i].Done
		}
		next, err := plan(p)
		if err != nil {
			return next, err
		}
		family := map[planner.JobID]string{}
		for i := range p.Jobs {
			family[p.Jobs[i].Job.ID] = p.Jobs[i].Job.Family
		}
		on := map[planner.MachineRef][]planner.Allocation{}
		for _, a := range next.Allocations {
			on[a.Machines[0]] = append(on[a.Machines[0]], a)
			curve := jobs[0].Curve
			for _, j := range jobs {
				if j.ID == a.Job {
					curve = j.Curve
				}
			}
			want, _ := curve.Speed("V100", 1, 1)
			if a.Config.With != "" {
				want, _ = planner.Beside(curve, family[a.Config.With], "V100", 1, 1)
			}
			if a.Speed.Goodput != want.Goodput {
				t.Errorf("job %s with %q: %g steps/h, want %g", a.Job, a.Config.With, a.Speed.Goodput, want.Goodput)
			}
		}
		for at, list := range on {
			if len(list) > 2 || len(list) == 2 && (list[0].Config.With != list[1].Job || list[1].Config.With != list[0].Job) {
				t.Errorf("machine %d carries %+v", at, list)
			}
			paired += len(list) - 1
		}
		last, at = next, p.Now
		return next, nil
	}
	return replay(t, "3xV100", watch, jobs...), paired
}
