package placement

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

var (
	zoneA = provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p3.8xlarge", Market: provider.Spot}
	zoneB = provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az2", Type: "p3.8xlarge", Market: provider.Spot}
)

func ids(list ...provider.InstanceID) []provider.InstanceID { return list }

func gang(job planner.JobID, nodes ...Node) Gang { return Gang{Job: job, Nodes: nodes} }

func pair(job, with planner.JobID, nodes ...Node) Gang {
	return Gang{Job: job, Nodes: nodes, With: with}
}

func shares(g Gang) Gang {
	g.Shares = true
	return g
}

func node(id provider.InstanceID, accelerators ...int) Node {
	return Node{Instance: id, Accelerators: accelerators}
}

func TestPlace(t *testing.T) {
	machines := []Machine{{"i-1", zoneA, 4}, {"i-2", zoneA, 4}}
	for _, tt := range []struct {
		name  string
		held  []Gang
		wants []Want
		want  []Gang
	}{
		{
			name:  "lowest numbers first",
			wants: []Want{{"a", ids("i-1"), 1, false, ""}, {"b", ids("i-1"), 2, false, ""}},
			want:  []Gang{gang("a", node("i-1", 0)), gang("b", node("i-1", 1, 2))},
		},
		{
			name:  "who stays keeps his accelerators, whatever comes before him",
			held:  []Gang{gang("b", node("i-1", 0, 3))},
			wants: []Want{{"a", ids("i-1"), 2, false, ""}, {"b", ids("i-1"), 2, false, ""}},
			want:  []Gang{gang("a", node("i-1", 1, 2)), gang("b", node("i-1", 0, 3))},
		},
		{
			name:  "free ones before those that a leaving gang holds",
			held:  []Gang{gang("gone", node("i-1", 0, 1))},
			wants: []Want{{"a", ids("i-1"), 3, false, ""}},
			want:  []Gang{gang("a", node("i-1", 0, 2, 3))},
		},
		{
			name:  "the same machines in another order is staying",
			held:  []Gang{gang("a", node("i-2", 1, 2), node("i-1", 2, 3))},
			wants: []Want{{"a", ids("i-1", "i-2"), 2, false, ""}},
			want:  []Gang{gang("a", node("i-2", 1, 2), node("i-1", 2, 3))},
		},
		{
			name:  "growing on one's own machine",
			held:  []Gang{gang("a", node("i-1", 1))},
			wants: []Want{{"a", ids("i-1"), 4, false, ""}},
			want:  []Gang{gang("a", node("i-1", 0, 1, 2, 3))},
		},
		{
			name:  "changing places",
			held:  []Gang{gang("a", node("i-1", 0, 1, 2, 3)), gang("b", node("i-2", 0, 1, 2, 3))},
			wants: []Want{{"a", ids("i-2"), 4, false, ""}, {"b", ids("i-1"), 4, false, ""}},
			want:  []Gang{gang("a", node("i-2", 0, 1, 2, 3)), gang("b", node("i-1", 0, 1, 2, 3))},
		},
		{
			name:  "two that share get the same accelerators, and nobody else does",
			held:  []Gang{gang("a", node("i-1", 2))},
			wants: []Want{{"a", ids("i-1"), 1, false, "c"}, {"b", ids("i-1"), 2, false, ""}, {"c", ids("i-1"), 1, false, "a"}},
			want:  []Gang{pair("a", "c", node("i-1", 0)), gang("b", node("i-1", 1, 3)), pair("c", "a", node("i-1", 0))},
		},
		{
			name:  "who shares with one who stays joins him",
			held:  []Gang{pair("a", "c", node("i-1", 2))},
			wants: []Want{{"c", ids("i-1"), 1, false, "a"}, {"a", ids("i-1"), 1, false, "c"}},
			want:  []Gang{pair("c", "a", node("i-1", 2)), pair("a", "c", node("i-1", 2))},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Place(machines, tt.held, tt.wants)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("placed (-want, +got):\n%s", diff)
			}
		})
	}
}

func TestPlaceRefusesWhatIsNotThere(t *testing.T) {
	machines := []Machine{{"i-1", zoneA, 4}}
	for _, tt := range []struct {
		name  string
		wants []Want
		says  string
	}{
		{"too many", []Want{{"a", ids("i-1"), 3, false, ""}, {"b", ids("i-1"), 2, false, ""}}, "place b: machine i-1 has 1 accelerators left of 4, wanted 2"},
		{"no such machine", []Want{{"a", ids("i-9"), 1, false, ""}}, "place a: there is no machine i-9"},
	} {
		if _, err := Place(machines, nil, tt.wants); err == nil || err.Error() != tt.says {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.says)
		}
	}
}

// Whatever is held and wanted, as long as it fits: all is placed, by Check's rules,
// and nobody who stays is moved.
func TestPlaceIsWholeAndStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var machines []Machine
		left := map[provider.InstanceID]int{}
		for i := range rapid.IntRange(1, 5).Draw(t, "machines") {
			m := Machine{provider.InstanceID(fmt.Sprintf("i-%d", i)), zoneA, rapid.IntRange(1, 8).Draw(t, "accelerators")}
			machines = append(machines, m)
			left[m.ID] = m.Accelerators
		}
		draw := func(label string) []Want {
			room, gangs, closed := map[provider.InstanceID]int{}, map[provider.InstanceID]int{}, map[provider.InstanceID]int{}
			for id, n := range left {
				room[id] = n
			}
			var wants []Want
			for job := range rapid.IntRange(0, 8).Draw(t, label) {
				w := Want{Job: planner.JobID(fmt.Sprintf("job-%d", job)), PerNode: rapid.IntRange(1, 4).Draw(t, "per node"), Shares: rapid.Bool().Draw(t, "shares")}
				nodes := rapid.IntRange(1, 3).Draw(t, "nodes")
				for _, at := range rapid.Permutation(indices(len(machines))).Draw(t, "order") {
					id := machines[at].ID
					met := nodes > 1 && gangs[id] > 0 && (!w.Shares || closed[id] > 0)
					if len(w.Machines) < nodes && room[id] >= w.PerNode && !met {
						w.Machines = append(w.Machines, id)
					}
				}
				if len(w.Machines) == nodes {
					for _, id := range w.Machines {
						room[id] -= w.PerNode
						if nodes > 1 {
							gangs[id]++
						}
						if nodes > 1 && !w.Shares {
							closed[id]++
						}
					}
					wants = append(wants, w)
				}
				if len(w.Machines) == nodes && rapid.Bool().Draw(t, "paired") {
					other := w
					other.Job = planner.JobID(fmt.Sprintf("job-%d", 10+job))
					other.With, wants[len(wants)-1].With = w.Job, other.Job
					wants = append(wants, other)
				}
			}
			return wants
		}
		held, err := Place(machines, nil, draw("jobs before"))
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(machines, held); err != nil {
			t.Fatal(err)
		}
		wants := draw("jobs after")
		placed, err := Place(machines, held, wants)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(machines, placed); err != nil {
			t.Errorf("%v", err)
		}
		for i, w := range wants {
			if placed[i].Job != w.Job || !w.Is(placed[i]) {
				t.Errorf("%+v was placed as %+v", w, placed[i])
			}
			for _, g := range held {
				if g.Job == w.Job && w.Is(g) && cmp.Diff(g.Nodes, placed[i].Nodes) != "" {
					t.Errorf("%s stays, and was moved from %+v to %+v", w.Job, g, placed[i])
				}
			}
		}
		again, err := Place(machines, placed, wants)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(placed, again); diff != "" {
			t.Errorf("placed again on what it led to:\n%s", diff)
		}
	})
}

func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func TestCheckNamesWhatIsWrong(t *testing.T) {
	machines := []Machine{{"i-1", zoneA, 4}, {"i-2", zoneA, 4}, {"i-3", zoneB, 4}}
	for _, tt := range []struct {
		name  string
		gangs []Gang
		says  string // "": nothing
	}{
		{"good", []Gang{gang("a", node("i-1", 0, 1), node("i-2", 0, 1)), gang("b", node("i-1", 2))}, ""},
		{"held twice", []Gang{gang("a", node("i-1", 0)), gang("b", node("i-1", 0))}, "job b: accelerator 0 of machine i-1 is held by a too"},
		{"twice in one node", []Gang{gang("a", node("i-1", 1, 1))}, "not ascending"},
		{"no such accelerator", []Gang{gang("a", node("i-1", 4))}, "machine i-1 has no accelerator 4"},
		{"no such machine", []Gang{gang("a", node("i-9", 0))}, "machine i-9 is not there"},
		{"no nodes", []Gang{gang("a")}, "no nodes"},
		{"a node without accelerators", []Gang{gang("a", node("i-1"))}, "nodes hold 0"},
		{"unequal nodes", []Gang{gang("a", node("i-1", 0), node("i-2", 0, 1))}, "nodes hold 1 and 2"},
		{"a machine twice", []Gang{gang("a", node("i-1", 0), node("i-1", 1))}, "carries two nodes"},
		{"two zones", []Gang{gang("a", node("i-1", 0), node("i-3", 0))}, "nodes lie in"},
		{"two gangs of several nodes on a machine", []Gang{gang("a", node("i-1", 0), node("i-2", 0)), shares(gang("b", node("i-1", 1), node("i-2", 1)))}, "job b: machine i-1 carries the gang of a too"},
		{"a third that does not share", []Gang{shares(gang("a", node("i-1", 0), node("i-2", 0))), shares(gang("b", node("i-1", 1), node("i-2", 1))), gang("c", node("i-1", 2), node("i-2", 2))}, "job c: machine i-1 carries the gang of a too"},
		{"two that share", []Gang{shares(gang("a", node("i-1", 0), node("i-2", 0))), shares(gang("b", node("i-1", 1), node("i-2", 1)))}, ""},
		{"two gangs", []Gang{gang("a", node("i-1", 0)), gang("a", node("i-2", 0))}, "two gangs"},
	} {
		err := Check(machines, tt.gangs)
		if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.says)
		}
	}
}
