package placement

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

const turn = 6 * time.Minute

// field is a fleet of several kinds and jobs with shares of it that can be kept: a mix
// of whole schedules.
type field struct {
	rooms []planner.Room
	jobs  []planner.Contender
}

// drawField draws rooms of two or three kinds and shares that are the mean of some
// drawn schedules, so that they can be kept exactly in turns of equal length.
func drawField(r *rand.Rand, perRoom int) field {
	var f field
	kinds := 2 + r.IntN(2)
	offering := func(k int) provider.Offering {
		return provider.Offering{Cloud: "own", Region: "r", Zone: "z", Type: fmt.Sprintf("t%d", k), Market: provider.Reserved}
	}
	for k := range kinds {
		for range 1 + r.IntN(4) {
			f.rooms = append(f.rooms, planner.Room{Instance: provider.InstanceID(fmt.Sprintf("i-%d", len(f.rooms))), Offering: offering(k), Accelerators: perRoom})
		}
	}
	for j := range 3 + r.IntN(10) {
		size := 1
		if perRoom > 1 {
			size = []int{1, 1, 2, perRoom, 2 * perRoom}[r.IntN(5)]
		}
		c := planner.Contender{Job: planner.JobID(fmt.Sprintf("j%d", j))}
		for k := range kinds {
			name := fmt.Sprint(k)
			nodes := max(1, size/perRoom)
			c.Ways = append(c.Ways, planner.Way{Kind: name, Offering: offering(k), Nodes: nodes, PerNode: size / nodes})
			c.Claims = append(c.Claims, planner.Claim{Kind: name})
		}
		f.jobs = append(f.jobs, c)
	}
	const mix = 8
	for range mix { // a schedule: jobs in any order on any kind, as long as they fit
		plain := make([]planner.Contender, len(f.jobs))
		for at, i := range r.Perm(len(f.jobs)) {
			c := f.jobs[i]
			k := r.IntN(kinds)
			c.Claims = []planner.Claim{{Kind: fmt.Sprint(k), Share: 1 / float64(at+1)}}
			plain[i] = c
		}
		for _, x := range Turns(f.rooms, plain, turn) {
			for k := range f.jobs[x.Contender].Claims {
				if c := &f.jobs[x.Contender].Claims[k]; c.Kind == x.Way.Kind {
					c.Share += 1.0 / mix
				}
			}
		}
	}
	return f
}

// pass lets a turn go by.
func (f *field) pass(turns []planner.Turn) {
	for i := range f.jobs {
		c := &f.jobs[i]
		c.Now, c.Rooms = nil, nil
		for k := range c.Claims {
			c.Claims[k].Due += time.Duration(c.Claims[k].Share * float64(turn))
		}
	}
	for _, x := range turns {
		c := &f.jobs[x.Contender]
		way := x.Way
		c.Now, c.Rooms = &way, x.Rooms
		for k := range c.Claims {
			if c.Claims[k].Kind == way.Kind {
				c.Claims[k].Had += turn
			}
		}
	}
}

// short is the largest part of the time by which a job has had less than its shares.
func (f *field) short(turns int) float64 {
	worst := 0.0
	for _, c := range f.jobs {
		for _, x := range c.Claims {
			worst = math.Max(worst, x.Share-x.Had.Hours()/(float64(turns)*turn.Hours()))
		}
	}
	return worst
}

// check holds a round to the rules.
func (f *field) check(t interface{ Errorf(string, ...any) }, turns []planner.Turn) {
	used, gangs, closed := make([]int, len(f.rooms)), make([]int, len(f.rooms)), make([]int, len(f.rooms))
	seen := map[int]bool{}
	taken := map[int]bool{} // rooms where somebody began
	for _, x := range turns {
		if !x.Keeps {
			for _, n := range x.Rooms {
				taken[n] = true
			}
		}
	}
	for _, x := range turns {
		c := &f.jobs[x.Contender]
		if seen[x.Contender] || len(x.Rooms) != x.Way.Nodes {
			t.Errorf("%s has two turns, or %d machines for %d nodes", c.Job, len(x.Rooms), x.Way.Nodes)
		}
		seen[x.Contender] = true
		for _, n := range x.Rooms {
			used[n] += x.Way.PerNode
			if x.Way.Nodes > 1 {
				gangs[n]++
			}
			if x.Way.Nodes > 1 && !c.Shares {
				closed[n]++
			}
			if f.rooms[n].Offering != x.Way.Offering {
				t.Errorf("%s of %s is on a machine of %s", c.Job, x.Way.Offering, f.rooms[n].Offering)
			}
		}
		if c.Leased && c.Now != nil && !x.Keeps {
			t.Errorf("%s is leased and was moved", c.Job)
		}
		// Whoever wins where he is stays, unless another had to have his machines.
		if c.Now != nil && c.Now.Kind == x.Way.Kind && !x.Keeps && !slices.ContainsFunc(c.Rooms, func(n int) bool { return taken[n] }) {
			t.Errorf("%s wins again and was moved from %v to %v, which nobody took", c.Job, c.Rooms, x.Rooms)
		}
	}
	for i, c := range f.jobs {
		if c.Leased && c.Now != nil && !seen[i] {
			t.Errorf("%s is leased and was put out", c.Job)
		}
	}
	for n := range f.rooms {
		if used[n] > f.rooms[n].Accelerators || gangs[n] > 1 && closed[n] > 0 {
			t.Errorf("machine %d has %d accelerators, %d are given, to %d gangs of several nodes", n, f.rooms[n].Accelerators, used[n], gangs[n])
		}
	}
}

// Over many turns nobody has less than his shares but for a small part of the time.
// A hundred draws stayed under 0.0013 of the time with one accelerator a machine and
// under 0.069 with gangs on machines of four (0.0008 in the mean), where what is left
// over lies on machines that are too small for it.
func TestTurnsComeToTheShares(t *testing.T) {
	for _, tt := range []struct {
		name     string
		perRoom  int
		maxShort float64
	}{{"one accelerator", 1, 0.005}, {"gangs", 4, 0.1}} {
		t.Run(tt.name, func(t *testing.T) {
			worst, sum := 0.0, 0.0
			const draws, rounds = 40, 800
			for seed := range uint64(draws) {
				f := drawField(rand.New(rand.NewPCG(seed, 1)), tt.perRoom)
				for range rounds {
					turns := Turns(f.rooms, f.jobs, turn)
					f.check(t, turns)
					f.pass(turns)
				}
				short := f.short(rounds)
				worst, sum = math.Max(worst, short), sum+short
			}
			t.Logf("largest shortfall: %.4f of the time, mean of draws %.4f", worst, sum/draws)
			if worst > tt.maxShort {
				t.Errorf("a job has %.4f of the time less than its share, want at most %.4f", worst, tt.maxShort)
			}
		})
	}
}

// Whatever is claimed, held and leased: the rules hold, and the same round made anew
// keeps everything.
func TestTurnsKeepTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawField(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2)), rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "accelerators"))
		for n := range rapid.IntRange(1, 6).Draw(t, "rounds") {
			for i := range f.jobs {
				f.jobs[i].Leased = f.jobs[i].Now != nil && rapid.Bool().Draw(t, fmt.Sprint("leased", n, i))
			}
			turns := Turns(f.rooms, f.jobs, turn)
			f.check(t, turns)
			f.pass(turns)
		}
		for i := range f.jobs {
			f.jobs[i].Leased = true
		}
		for _, x := range Turns(f.rooms, f.jobs, turn) {
			if f.jobs[x.Contender].Now != nil && !x.Keeps {
				t.Errorf("%s is leased and was moved", f.jobs[x.Contender].Job)
			}
		}
	})
}

// Two gangs of several nodes meet on a machine only where both share.
func TestTurnsLetGangsMeetThatShare(t *testing.T) {
	own := provider.Offering{Cloud: "own", Type: "t"}
	rooms := []planner.Room{{Instance: "i-0", Offering: own, Accelerators: 4}, {Instance: "i-1", Offering: own, Accelerators: 4}}
	for _, tt := range []struct{ a, b, both bool }{{false, false, false}, {true, false, false}, {false, true, false}, {true, true, true}} {
		var list []planner.Contender
		for _, shares := range []bool{tt.a, tt.b} {
			list = append(list, planner.Contender{
				Job: "j", Shares: shares, Claims: []planner.Claim{{Kind: "t", Share: 1}},
				Ways: []planner.Way{{Kind: "t", Offering: own, Nodes: 2, PerNode: 2}},
			})
		}
		if got := Turns(rooms, list, turn); (len(got) == 2) != tt.both {
			t.Errorf("sharing %v and %v: %d of two gangs got machines", tt.a, tt.b, len(got))
		}
	}
}

// Capacity that nobody claims is used, and no claim comes before one that is owed more.
func TestTurnsGiveWhatNobodyClaims(t *testing.T) {
	own := provider.Offering{Cloud: "own", Type: "t"}
	way := []planner.Way{{Kind: "t", Offering: own, Nodes: 1, PerNode: 1}}
	rooms := []planner.Room{{Instance: "i-0", Offering: own, Accelerators: 1}, {Instance: "i-1", Offering: own, Accelerators: 1}}
	list := []planner.Contender{
		{Job: "idle", Ways: way, Claims: []planner.Claim{{Kind: "t"}}},
		{Job: "had much", Ways: way, Claims: []planner.Claim{{Kind: "t", Share: 0.5, Due: time.Hour, Had: 2 * time.Hour}}},
		{Job: "owed", Ways: way, Claims: []planner.Claim{{Kind: "t", Share: 0.5, Due: time.Hour, Had: time.Hour / 2}}},
	}
	got := Turns(rooms, list, turn)
	if len(got) != 2 || list[got[0].Contender].Job != "had much" || list[got[1].Contender].Job != "owed" {
		t.Errorf("two machines went to %+v", got)
	}
	if got := Turns(rooms, list[:1], turn); len(got) != 1 {
		t.Errorf("of a job without a claim that could use a machine: %+v", got)
	}
}
