package document

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
)

const bounded = `apiVersion: goodfleet/v1
kind: Config
spec:
  limits:
    - name: vision
      team: Vision
      burnCap: 12 USD/h
    - name: spot
      spotShare: 0.8
`

func TestLimitsBecomeRowsOfThePlan(t *testing.T) {
	docs, err := Decode("fleet.yaml", []byte(bounded))
	if err != nil {
		t.Fatal(err)
	}
	var got []planner.Row
	for _, l := range docs[0].Config.Spec.Limits {
		got = append(got, l.Row())
	}
	want := []planner.Row{
		{Name: "vision", Kind: planner.BurnRow, Team: "Vision", Most: 12 * pricing.DollarPerHour},
		{Name: "spot", Kind: planner.SpotRow, Part: 0.8},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestLimitsThatBoundNothingAreNamedByLine(t *testing.T) {
	for _, tt := range []struct{ old, bad, want string }{
		{"burnCap: 12 USD/h", "spotShare: 0.5\n      burnCap: 1 USD/h", "fleet.yaml:5:7: spec.limits[0]: want burnCap or spotShare, one of them"},
		{"      burnCap: 12 USD/h\n", "", "fleet.yaml:5:7: spec.limits[0]: want burnCap or spotShare, one of them"},
		{"name: spot", "name: vision", `fleet.yaml:8:13: spec.limits[1].name: "vision" is given twice, first in line 5`},
		{"0.8", "1.8", "fleet.yaml:9:18: spec.limits[1].spotShare:"},
		{"0.8", "-1", "fleet.yaml:9:18: spec.limits[1].spotShare:"},
		{"12 USD/h", "12", "fleet.yaml:7:16: spec.limits[0].burnCap:"},
	} {
		_, err := Decode("fleet.yaml", []byte(strings.Replace(bounded, tt.old, tt.bad, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q for %q: got %v, want %s", tt.bad, tt.old, err, tt.want)
		}
	}
}
