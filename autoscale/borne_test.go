package autoscale

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// A machine is borne as a whole, also where the catalogue has lost its type and nobody
// knows how many accelerators it has.
func TestMachinesAreBorneAsAWhole(t *testing.T) {
	a, b := ledger.Share{Job: "a", Accelerators: 1}, ledger.Share{Job: "b", Accelerators: 2}
	for _, tt := range []struct {
		name   string
		of     int
		shares []ledger.Share
		want   map[string]int
	}{
		{"nobody's", 8, nil, map[string]int{"": 8}},
		{"one job's", 8, []ledger.Share{a}, map[string]int{"a": 8}},
		{"of two jobs", 8, []ledger.Share{a, b}, map[string]int{"a": 3, "b": 5}}, // 2.67 and 5.33
		{"of a lost type, nobody's", 0, nil, map[string]int{"": 1}},
		{"of a lost type, of two jobs", 0, []ledger.Share{a, b}, map[string]int{"a": 1, "b": 2}},
	} {
		got := map[string]int{}
		for _, p := range borne(budget.Facts{Accelerators: tt.of}, tt.shares) {
			got[p.Facts.Job] += p.Count
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
	}
}
