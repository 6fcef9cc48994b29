package block

import (
	"math"
	"testing"
)

// What is dealt out uses what was used, gives every job its needs within its time, and splits few.
func TestAlikeJobsAreDealtWhatTheyHave(t *testing.T) {
	for _, kind := range []string{"level", "scarce", "gain", "no needs"} {
		for seed := range uint64(6) {
			p := fleet(300, 6, seed, kind == "level", 4)
			switch kind {
			case "scarce":
				p = scarce(300, 6, seed, 4)
			case "gain":
				for j := range p.Floor {
					p.Floor[j] = 0.1 * p.fastest(j)
				}
			case "no needs":
				p.Floor, p.Gain = nil, p.Speed
			}
			var s Solution
			s.X = make([]float64, p.Columns())
			q := *p
			q.sift(&s, Options{Gap: 1e-8})
			x := append([]float64(nil), s.X...)
			level := 0.0
			if p.Level {
				level = s.Level
			}
			sets := p.alike()
			if len(sets) == 0 {
				t.Fatalf("%s: no jobs are alike", kind)
			}
			p.deal(x, level)
			before, beforeLevel, _ := p.weigh(s.X)
			after, afterLevel, violation := p.weigh(x)
			if violation > 1e-9 || math.Abs(after-before) > 1e-9*math.Abs(before) || afterLevel < beforeLevel*(1-1e-9) {
				t.Errorf("%s, seed %d: violation %g, gain %g for %g, level %g for %g", kind, seed, violation, after, before, afterLevel, beforeLevel)
			}
			for _, jobs := range sets {
				shares := 0
				for _, j := range jobs {
					for c := range p.First[j+1] - p.First[j] {
						if x[p.First[j]+c] > 1e-9 {
							shares++
						}
					}
				}
				if own := 1 + len(p.Capacity); shares > 2*len(jobs)+own {
					t.Errorf("%s, seed %d: %d jobs alike have %d shares", kind, seed, len(jobs), shares)
				}
			}
		}
	}
}
