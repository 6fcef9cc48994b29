package planner

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The index by its definition: survival from the error function, means summed by the
// trapezoidal rule, and every amount of a fine grid tried.
func gittinsByGrid(done, limit, reference float64) float64 {
	survive := func(s float64) float64 {
		if s <= 0 {
			return 1
		}
		if limit > 0 && s >= limit {
			return 0
		}
		return 0.5 * math.Erfc(math.Log(s/reference)/(1.5*math.Sqrt2))
	}
	alive := survive(done)
	best, sum, at := 0.0, 0.0, 0.0
	end := reference * 1e4
	if limit > 0 {
		end = limit - done
	}
	const steps = 20_000
	for i := 1; i <= steps; i++ {
		d := end * math.Pow(float64(i)/steps, 4)
		here := survive(done + d)
		low := here
		if limit > 0 && i == steps {
			low = 0.5 * math.Erfc(math.Log(limit/reference)/(1.5*math.Sqrt2)) // just before the limit
		}
		sum += (d - at) * (survive(done+at) + low) / 2
		at = d
		if i > 200 { // the first steps are smaller than the differences can be told
			best = max(best, (alive-here)/sum)
		}
	}
	return best
}

func TestGittinsIsTheBestChancePerWork(t *testing.T) {
	const reference = 2e4
	for _, done := range []float64{1e-9, 0.0625, 0.5, 1, 4, 16} { // where steps are
		for _, left := range []float64{0, 0.05, 0.7, 5} { // to the limit; 0: there is none
			j := Job{Work: Work{Kind: WorkUnknown}}
			if left > 0 {
				j.Work = Work{Kind: WorkLimit, Samples: (done + left) * reference}
			}
			got := Gittins(&JobState{Job: &j, Done: done * reference}, reference)
			want := gittinsByGrid(done*reference, j.Work.Samples, reference)
			if math.Abs(got-want) > 5e-3*want {
				t.Errorf("done %g, left %g: index %g, every amount tried %g", done, left, got, want)
			}
		}
	}
}

// Between two steps the index stands: of two jobs that are served by it in turn, the one
// that runs stays for as long as it had run before.
func TestGittinsFallsInSteps(t *testing.T) {
	const reference = 2e4
	j := Job{Work: Work{Kind: WorkUnknown}}
	at := func(hours float64) float64 {
		return Gittins(&JobState{Job: &j, Done: hours * reference}, reference)
	}
	for _, stands := range [][2]float64{{0, 0.0624}, {0.0625, 0.1249}, {0.5, 0.999}, {8, 15.9}} {
		if a, b := at(stands[0]), at(stands[1]); a != b {
			t.Errorf("index %g after %g h and %g after %g h: want the same", a, stands[0], b, stands[1])
		}
	}
	for _, falls := range [][2]float64{{0.99, 1}, {3, 5}, {15, 17}} {
		if a, b := at(falls[0]), at(falls[1]); a <= b {
			t.Errorf("index %g after %g h and %g after %g h: want less", a, falls[0], b, falls[1])
		}
	}
}

func TestGittinsOfKnownWorkIsOneOverTheRest(t *testing.T) {
	j := Job{Work: Work{Kind: WorkExact, Samples: 500}}
	if got, want := Gittins(&JobState{Job: &j, Done: 100}, 7), 1.0/400; got != want {
		t.Errorf("index %g, want %g", got, want)
	}
}

// The index of a rest that is one of a list is the best of every amount that could be put
// in, tried one by one; where none of the family took as much, the law is that without it.
func TestGittinsOfAFamily(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &JobState{Job: &Job{Work: Work{Kind: WorkUnknown}}, Done: float64(rapid.IntRange(0, 60).Draw(t, "done"))}
		if rapid.Bool().Draw(t, "limit") {
			s.Job.Work = Work{Kind: WorkLimit, Samples: float64(rapid.IntRange(61, 90).Draw(t, "most"))}
		}
		for range rapid.IntRange(1, 6).Draw(t, "jobs") {
			s.Alike = append(s.Alike, float64(rapid.IntRange(1, 100).Draw(t, "took")))
		}
		slices.Sort(s.Alike)
		best, more := 0.0, 0.0
		for d := 1.0; d <= 100; d++ {
			ends, spent, n := 0.0, 0.0, 0.0
			for _, took := range s.Alike {
				if s.Job.Work.Kind == WorkLimit {
					took = math.Min(took, s.Job.Work.Samples)
				}
				if took <= s.Done {
					continue
				}
				n++
				spent += math.Min(took-s.Done, d)
				if took-s.Done <= d {
					ends++
				}
			}
			if more = n; n > 0 {
				best = math.Max(best, ends/spent)
			}
		}
		got := Gittins(s, 50)
		if more == 0 {
			alone := *s
			alone.Alike = nil
			best = Gittins(&alone, 50)
		}
		if math.Abs(got-best) > 1e-12*best {
			t.Fatalf("%g, every amount tried %g", got, best)
		}
		p50, p80 := Remaining(s, 50)
		if more > 0 && (!slices.Contains(s.Alike, math.Round(p50+s.Done)) && s.Job.Work.Kind == WorkUnknown || p50 > p80) {
			t.Fatalf("half take %g more, four in five %g, of %v", p50, p80, s.Alike)
		}
	})
}
