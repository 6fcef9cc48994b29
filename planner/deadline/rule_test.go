package deadline

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

var rules = map[string]Rule{
	"greedy": Greedy, "uniform progress": UniformProgress, "uniform progress, plain": UniformProgressPlain, "patient": Patient,
}

// drawCase is a job and a trace of spells of very different lengths, in which what
// surely runs is enough if it is started at once.
func drawCase(t *rapid.T) (trace, Case) {
	tr := trace{tick: rapid.SampledFrom([]float64{1.0 / 60, 195.0 / 3600, 1.0 / 6, 0.5}).Draw(t, "tick")}
	c := Case{
		Work: rapid.Float64Range(0.5, 24).Draw(t, "work"), Changeover: rapid.Float64Range(0, 1).Draw(t, "changeover"),
		Tick: tr.tick, Grant: rapid.Float64Range(0, 0.5).Draw(t, "grant"), Rate: rapid.Float64Range(0.8, 12).Draw(t, "rate"),
	}
	c.Time = c.Work + c.Changeover + rapid.Float64Range(0, 24).Draw(t, "slack")
	length := int(c.Time/tr.tick) + 2
	for range rapid.IntRange(1, 3).Draw(t, "zones") {
		var zone []bool
		up := rapid.Bool().Draw(t, "up")
		for len(zone) < length {
			for range rapid.SampledFrom([]int{1, 1, 2, 3, 5, 10, 30, 100}).Draw(t, "spell") {
				zone = append(zone, up)
			}
			up = !up
		}
		tr.zones = append(tr.zones, zone[:length])
	}
	return tr, c
}

// TestNoRuleIsEverLate: whenever what surely runs would do it from the start.
func TestNoRuleIsEverLate(t *testing.T) {
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				tr, c := drawCase(t)
				if b := replay(&tr, 0, c, rule); b.late {
					t.Fatalf("done after %.3f h, the deadline is after %.3f h: %+v", b.finish, c.Time, c)
				}
			})
		})
	}
}

// TestPatientNeverCostsMuchMoreThanOnDemand: spot that never pays costs no more than
// the changeovers that are stated.
func TestPatientNeverCostsMuchMoreThanOnDemand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr, c := drawCase(t)
		c.Rate = max(c.Rate, 1)
		b := replay(&tr, 0, c, Patient)
		if most := c.Rate * (c.Work + RegretStarts*c.Changeover); b.cost > most+1e-6 {
			t.Fatalf("cost %.4f, at most %.4f is promised: %+v", b.cost, most, c)
		}
	})
}

// TestSlackNeverGrows along every replay of every rule, and nothing is waited for once
// the net is due.
func TestSlackNeverGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr, c := drawCase(t)
		for name, rule := range rules {
			last := math.Inf(1)
			replay(&tr, 0, c, func(c *Case, v View) Mode {
				s := c.slack(v)
				if s > last+1e-9 {
					t.Fatalf("%s: slack grew from %.4f to %.4f h", name, last, s)
				}
				last = s
				m := rule(c, v)
				if s < 0 && m == Idle && v.Work > 1e-9 {
					t.Fatalf("%s: waits %.4f h after its net was due", name, -s)
				}
				return m
			})
		}
	})
}

// TestNoRuleBeatsOmniscience: the bound is below every replay and below the exact
// optimum, and the exact optimum is near it.
func TestNoRuleBeatsOmniscience(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := trace{tick: 0.5, zones: [][]bool{rapid.SliceOfN(rapid.Bool(), 40, 40).Draw(t, "there")}}
		c := Case{Work: 8, Time: rapid.SampledFrom([]float64{10, 12, 16}).Draw(t, "time"), Changeover: 0.25, Tick: 0.5, Rate: 3}
		bound, exact := omniscientBound(&tr, 0, c), omniscientExact(&tr, 0, c, 0.25)
		if bound > exact+1e-9 {
			t.Fatalf("bound %.6f above the optimum %.6f", bound, exact)
		}
		// Whole ticks are what the exact one cannot part.
		if exact > bound+c.Rate*c.Tick+1e-9 {
			t.Fatalf("bound %.6f far below the optimum %.6f", bound, exact)
		}
		for name, rule := range rules {
			if b := replay(&tr, 0, c, rule); b.cost < bound-1e-9 {
				t.Fatalf("%s costs %.6f, less than the bound %.6f", name, b.cost, bound)
			}
		}
	})
}

func TestRulesDecide(t *testing.T) {
	c := Case{Work: 48, Time: 60, Changeover: 0.2, Tick: 1.0 / 6, Rate: 3}
	for _, tc := range []struct {
		name string
		rule Rule
		view View
		want Mode
	}{
		{"done holds nothing", Patient, View{Work: 0, Time: 3, Mode: Sure}, Idle},
		{"greedy waits", Greedy, View{Work: 20, Time: 30, Mode: Idle}, Idle},
		{"greedy's net", Greedy, View{Work: 20, Time: 20.39, Mode: Idle, There: true}, Sure},
		{"not yet due", Greedy, View{Work: 20, Time: 20.41, Mode: Idle, There: true}, Spot},
		{"spot is kept though behind", UniformProgress, View{Work: 47, Time: 47.5, Mode: Spot, There: true}, Spot},
		{"behind without spot", UniformProgress, View{Work: 41, Time: 51, Mode: Idle}, Sure},
		{"ahead without spot", UniformProgress, View{Work: 40, Time: 51, Mode: Idle}, Idle},
		{"ahead stays on what surely runs", UniformProgress, View{Work: 30, Time: 51, Mode: Sure}, Sure},
		{"not far enough ahead to go back", UniformProgress, View{Work: 40.6, Time: 51, Mode: Sure, There: true}, Sure},
		{"ahead enough to go back", UniformProgress, View{Work: 40.4, Time: 51, Mode: Sure, There: true}, Spot},
		{"plain goes back at once", UniformProgressPlain, View{Work: 40.6, Time: 51, Mode: Sure, There: true}, Spot},
		{"patient waits with slack", Patient, View{Work: 30, Time: 35, Mode: Idle}, Idle},
		{"patient waits no longer", Patient, View{Work: 30, Time: 34, Mode: Idle}, Sure},
		{"spot is too young to go back", Patient, View{Work: 30, Time: 34, Mode: Sure, There: true, Age: 0.2}, Sure},
		{"spells are too short to go back", Patient, View{Work: 30, Time: 34, Mode: Sure, There: true, Age: 0.25, Life: 0.8}, Sure},
		{"this spell is long", Patient, View{Work: 30, Time: 34, Mode: Sure, There: true, Age: 0.5, Life: 0.8}, Spot},
		{"spot has lasted", Patient, View{Work: 30, Time: 34, Mode: Sure, There: true, Age: 0.25}, Spot},
		{"spot that never paid", Patient, View{Work: 30, Time: 34, Mode: Idle, There: true, Spent: 3*18 + 4.1}, Sure},
		{"spot that is dearer", func(c *Case, v View) Mode { d := *c; d.Rate = 0.9; return Patient(&d, v) }, View{Work: 30, Time: 40, Mode: Idle, There: true}, Sure},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.rule(&c, tc.view); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

// ExampleNet: three hours of work, starts of twelve minutes, a decision every minute,
// machines granted within six minutes.
func ExampleNet() {
	fmt.Printf("%.2f h before the deadline\n", Net(3, 0.2, 1.0/60, 0.1))
	// Output: 3.50 h before the deadline
}
