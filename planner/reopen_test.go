package planner

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/provider"
)

// TestOnlyMovesWantMoreThanATie draws two plans: the second must be better by the slack
// exactly where a job leaves a machine that is there, or changes its size on it.
func TestOnlyMovesWantMoreThanATie(t *testing.T) {
	const slack = 0.5
	both := [2]int{}
	rapid.Check(t, func(t *rapid.T) {
		pr := drawnProgram(t)
		pr.index()
		seatSome := func(k *packing) {
			for i := range pr.Jobs {
				if k.seats[i].column >= 0 || len(pr.Jobs[i].Columns) == 0 || rapid.IntRange(0, 2).Draw(t, "waits") == 0 {
					continue
				}
				c := rapid.IntRange(0, len(pr.Jobs[i].Columns)-1).Draw(t, "column")
				if p, ok := k.propose(i, c, nil); ok {
					k.seatAt(i, p)
				}
			}
		}
		first := newPacking(pr)
		seatSome(first)
		second := first.clone()
		for i := range second.seats {
			if second.seats[i].column >= 0 && rapid.IntRange(0, 2).Draw(t, "leaves") == 0 {
				second.unseat(i)
			}
		}
		seatSome(second)
		there := func(k *packing, i int) (ids []provider.InstanceID) {
			for _, b := range k.seats[i].bins {
				if m := k.bins[b].machine; m >= 0 {
					ids = append(ids, pr.Problem.Machines[m].ID)
				}
			}
			return ids
		}
		want := tieSlack
		for i := range pr.Jobs {
			if ids := there(first, i); len(ids) > 0 && (!slices.Equal(ids, there(second, i)) || first.seats[i].column != second.seats[i].column) {
				want = slack
			}
		}
		if got := second.leastOver(first, slack); got != want {
			t.Errorf("wants %g more, should %g", got, want)
		}
		if want == slack {
			both[1]++
		} else {
			both[0]++
		}
	})
	if both[0] == 0 || both[1] == 0 {
		t.Errorf("%d plans without moves, %d with: the draws show nothing", both[0], both[1])
	}
}
