package peer

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/planner/share"
)

// packedProblem is jobs of speed 1 on one type of so many workers, with what two of them keep.
func packedProblem(workers, jobs int, kept map[[2]int][2]float64) *share.Problem {
	throughput, scales := make([][]float64, jobs), make([]int, jobs)
	for j := range throughput {
		throughput[j], scales[j] = []float64{1}, 1
	}
	p := fairProblem([]int{workers}, scales, throughput)
	for b := range jobs {
		for a := range b {
			p.Pairs = append(p.Pairs, share.Pair{A: a, B: b, Throughput: [][2]float64{kept[[2]int{a, b}]}})
		}
	}
	return p
}

// shared are the jobs that have a worker, and the pairs.
func shared(t *testing.T, p *share.Problem, pack Packing) (alone []int, pairs [][2]int) {
	t.Helper()
	jobs, paired, err := pack(p)
	if err != nil {
		t.Fatal(err)
	}
	for j := range jobs {
		if jobs[j][0] > 0 {
			alone = append(alone, j)
		}
	}
	for k, q := range p.Pairs {
		if paired[k][0] > 0 {
			pairs = append(pairs, [2]int{q.A, q.B})
		}
	}
	return alone, pairs
}

func TestPackFIFOJoinsTheBestUntilOneFindsNobody(t *testing.T) {
	good, best, poor := [2]float64{0.8, 0.8}, [2]float64{0.9, 0.9}, [2]float64{0.7, 0.7}
	for _, c := range []struct {
		name          string
		workers, jobs int
		kept          map[[2]int][2]float64
		alone         []int
		pairs         [][2]int
	}{
		{"room for all", 3, 3, map[[2]int][2]float64{{0, 1}: best}, []int{0, 1, 2}, nil},
		{"the best of those placed", 2, 3, map[[2]int][2]float64{{0, 2}: good, {1, 2}: best}, []int{0}, [][2]int{{1, 2}}},
		{"nobody joins a pair", 2, 4, map[[2]int][2]float64{{0, 2}: best, {0, 3}: best, {1, 3}: good}, nil, [][2]int{{0, 2}, {1, 3}}},
		{"who finds nobody ends it", 2, 4, map[[2]int][2]float64{{0, 2}: poor, {1, 3}: best}, []int{0, 1}, nil},
	} {
		alone, pairs := shared(t, packedProblem(c.workers, c.jobs, c.kept), PackFIFO)
		if diff := cmp.Diff(c.alone, alone) + cmp.Diff(c.pairs, pairs); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestGandivaKeepsPairsThatBear(t *testing.T) {
	g := NewGandiva(3)
	all := map[[2]int][2]float64{}
	for b := range 4 {
		for a := range b {
			all[[2]int{a, b}] = [2]float64{0.6, 0.6}
		}
	}
	if alone, pairs := shared(t, packedProblem(4, 4, all), g.Pack); len(alone) != 4 || pairs != nil {
		t.Fatalf("with workers for all: alone %v, pairs %v", alone, pairs)
	}
	_, first := shared(t, packedProblem(3, 4, all), g.Pack)
	_, again := shared(t, packedProblem(3, 4, all), g.Pack)
	if len(first) != 2 || !cmp.Equal(first, again) {
		t.Fatalf("pairs %v, then %v: want the same two", first, again)
	}
	poor := maps.Clone(all)
	poor[first[0]] = [2]float64{0.4, 0.4}
	if _, kept := shared(t, packedProblem(3, 4, poor), g.Pack); !slices.Contains(kept, first[1]) {
		t.Errorf("pairs %v: want %v kept, which bears", kept, first[1])
	}
}
