package highs

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/goodfleet/goodfleet/planner/share"
)

// The baselines are procedures, not programs: each is written down here once more, from
// the papers, with other data structures.

// TestProceduresAgreeWithTheirDefinitions compares shares where a procedure has no
// choice, and the objective.
func TestProceduresAgreeWithTheirDefinitions(t *testing.T) {
	for _, c := range []struct {
		policy string
		want   func(p *share.Problem) ([][]float64, float64)
	}{
		{"isolated", isolatedRule},
		{"proportional", proportionalRule},
		{"fifo_greedy", greedyRule},
	} {
		t.Run(c.policy, func(t *testing.T) {
			y, _ := share.Find(c.policy)
			r := rand.New(rand.NewPCG(*seed, 11))
			for i := range *instances {
				p := draw(r, 40, false)
				got, err := y.Share(p, share.Options{})
				if err != nil || got.Status != "optimal" {
					t.Fatalf("instance %d: %v, status %s", i, err, got.Status)
				}
				x, objective := c.want(p)
				for j := range x {
					for w := range x[j] {
						if math.Abs(x[j][w]-got.Share[j][w]) > 1e-12 {
							t.Fatalf("instance %d: job %d has %g on type %d, want %g", i, j, got.Share[j][w], w, x[j][w])
						}
					}
				}
				if math.Abs(objective-got.Objective) > 1e-9*max(1, objective) {
					t.Errorf("instance %d: objective %.12g, want %.12g", i, got.Objective, objective)
				}
				checkRows(t, i, p, &got)
			}
		})
	}
}

// overEqual is Σ theta_j/E_j.
func overEqual(p *share.Problem, x [][]float64) float64 {
	sum := 0.0
	for j, job := range p.Jobs {
		theta := 0.0
		for w, v := range job.Throughput {
			theta += v * x[j][w]
		}
		if e := equalShare(p, j); e > 0 {
			sum += theta / e
		}
	}
	return sum
}

// isolatedRule gives each job c_w/(m·s) of each type, no more than all its time.
func isolatedRule(p *share.Problem) ([][]float64, float64) {
	var x [][]float64
	for _, job := range p.Jobs {
		var row []float64
		sum := 0.0
		for _, t := range p.Types {
			row = append(row, float64(t.Workers)/float64(len(p.Jobs)*job.Scale))
			sum += row[len(row)-1]
		}
		for w := range row {
			if sum > 1 {
				row[w] /= sum
			}
		}
		x = append(x, row)
	}
	return x, overEqual(p, x)
}

// proportionalRule gives each job c_w/C of its time, as far as the workers last for all.
func proportionalRule(p *share.Problem) ([][]float64, float64) {
	total, wanted := 0, 0
	for _, t := range p.Types {
		total += t.Workers
	}
	for _, job := range p.Jobs {
		wanted += job.Scale
	}
	var x [][]float64
	for range p.Jobs {
		row := make([]float64, len(p.Types))
		for w, t := range p.Types {
			switch {
			case total == 0:
			case wanted > total:
				row[w] = float64(t.Workers) / float64(wanted)
			default:
				row[w] = float64(t.Workers) / float64(total)
			}
		}
		x = append(x, row)
	}
	return x, overEqual(p, x)
}

// greedyRule is FIFO with head-of-line blocking.
func greedyRule(p *share.Problem) ([][]float64, float64) {
	x := make([][]float64, len(p.Jobs))
	free := make(map[int]int)
	for w, t := range p.Types {
		free[w] = t.Workers
	}
	blocked, sum := false, 0.0
	for j, job := range p.Jobs {
		x[j] = make([]float64, len(p.Types))
		var room []int
		for w := range p.Types {
			if free[w] >= job.Scale {
				room = append(room, w)
			}
		}
		blocked = blocked || len(room) == 0
		if blocked {
			continue
		}
		w := slices.MaxFunc(room, func(a, b int) int { // of equals the first
			if job.Throughput[a] > job.Throughput[b] {
				return 1
			}
			return -1
		})
		for _, k := range room {
			if job.Throughput[k] == job.Throughput[w] {
				w = k
				break
			}
		}
		if v := job.Throughput[w]; v > 0 {
			free[w] -= job.Scale
			x[j][w] = 1
			sum += float64(len(p.Jobs)-j) * v / slices.Max(job.Throughput)
		}
	}
	return x, sum
}

// TestGandivaPacksWhatLosesNothingAndSplitsTimeEqually holds any packing to the rules:
// which pairs it keeps is a matter of chance.
func TestGandivaPacksWhatLosesNothingAndSplitsTimeEqually(t *testing.T) {
	y, _ := share.Find("gandiva")
	r := rand.New(rand.NewPCG(*seed, 12))
	packed := 0
	for i := range *instances {
		p := draw(r, 16, true)
		got, err := y.Share(p, share.Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkRows(t, i, p, &got)
		wanted, total := 0, 0
		for _, job := range p.Jobs {
			wanted += job.Scale
		}
		for _, c := range p.Types {
			total += c.Workers
		}
		if wanted <= total || len(p.Pairs) == 0 {
			x, objective := isolatedRule(p)
			if math.Abs(objective-got.Objective) > 1e-9*max(1, objective) || got.PairShare != nil {
				t.Errorf("instance %d: %d workers for %d: %g, want %g (%v)", i, total, wanted, got.Objective, objective, x)
			}
			continue
		}
		partner := make([]int, len(p.Jobs))
		entities := len(p.Jobs)
		for k, q := range p.Pairs {
			kept := false
			for w := range p.Types {
				kept = kept || got.PairShare[k*len(p.Types)+w] > 0
			}
			if !kept {
				continue
			}
			partner[q.A]++
			partner[q.B]++
			entities--
			packed++
			if !worthwhile(p, q) {
				t.Errorf("instance %d: pair %d loses by sharing", i, k)
			}
		}
		for k, q := range p.Pairs { // none is left that could have been kept
			if partner[q.A]+partner[q.B] == 0 && worthwhile(p, q) && total > 0 {
				t.Errorf("instance %d: pair %d is not used", i, k)
			}
		}
		for j, job := range p.Jobs {
			if partner[j] > 1 {
				t.Errorf("instance %d: job %d is in %d pairs", i, j, partner[j])
			}
			for w, c := range p.Types {
				want := float64(c.Workers) / float64(entities*job.Scale)
				if over := float64(total) / float64(entities*job.Scale); over > 1 {
					want /= over
				}
				have := got.Share[j][w]
				for k, q := range p.Pairs {
					if q.A == j || q.B == j {
						have += got.PairShare[k*len(p.Types)+w]
					}
				}
				if math.Abs(have-want) > 1e-9 {
					t.Errorf("instance %d: job %d has %g of type %d, want %g", i, j, have, w, want)
				}
			}
		}
	}
	t.Logf("%d pairs kept", packed)
}

// worthwhile is Gandiva's rule: on each type both run, and what they have together,
// each relative to alone, is at least one job's.
func worthwhile(p *share.Problem, q share.Pair) bool {
	for w, v := range q.Throughput {
		sum := 0.0
		for i, j := range []int{q.A, q.B} {
			if v[i] == 0 || p.Jobs[j].Throughput[w] == 0 {
				return false
			}
			sum += v[i] / p.Jobs[j].Throughput[w]
		}
		if sum < 1 {
			return false
		}
	}
	return true
}

// TestAlloXAgreesWithTheAssignmentOfJobsToPlaces states each worker's places one by one.
func TestAlloXAgreesWithTheAssignmentOfJobsToPlaces(t *testing.T) {
	y, _ := share.Find("allox")
	r := rand.New(rand.NewPCG(*seed, 13))
	for i := range *instances {
		p := draw(r, 7, false)
		for j := range p.Jobs {
			p.Jobs[j].Scale = 1
		}
		got, err := y.Share(p, share.Options{})
		if err != nil || got.Status != "optimal" {
			t.Fatalf("instance %d: %v, status %s", i, err, got.Status)
		}
		m := Program{Sense: 1}
		served := make([]int32, len(p.Jobs))
		runs := 0
		for j, job := range p.Jobs {
			for w, c := range p.Types {
				if c.Workers > 0 && job.Throughput[w] > 0 {
					served[j] = m.Row(1, 1)
					runs++
					break
				}
			}
		}
		for w, c := range p.Types {
			for range c.Workers {
				for k := 1; k <= len(p.Jobs); k++ {
					place := m.Row(-inf, 1)
					for j, job := range p.Jobs {
						if v := job.Throughput[w]; v > 0 {
							m.Column(float64(k)*job.Steps/v, []int32{served[j], place}, []float64{1, 1})
						}
					}
				}
			}
		}
		want := 0.0
		if runs > 0 {
			s := solver.Solve(&m)
			if s.Status != Optimal {
				t.Fatalf("instance %d: HiGHS %v", i, s.Status)
			}
			want = s.Objective
		}
		if math.Abs(got.Objective-want) > 1e-7*max(1, want) {
			t.Errorf("instance %d: %.12g, want %.12g", i, got.Objective, want)
		}
		checkRows(t, i, p, &got)
	}
}
