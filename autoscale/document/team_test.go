package document

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
)

const teams = `apiVersion: goodfleet/v1
kind: Config
spec:
  teams:
    - name: Vision
      maxValueOfTime: 5 USD/h
      maxWeight: 2
    - name: Speech
      maxWeight: 1.5
`

func TestTeamsAreLimitsOfThePlan(t *testing.T) {
	docs, err := Decode("fleet.yaml", []byte(teams))
	if err != nil {
		t.Fatal(err)
	}
	var got []planner.TeamLimit
	for _, team := range docs[0].Config.Spec.Teams {
		got = append(got, team.Limit())
	}
	want := []planner.TeamLimit{
		{Name: "Vision", MaxValueOfTime: 5 * pricing.DollarPerHour, MaxWeight: 2},
		{Name: "Speech", MaxWeight: 1.5},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
}

func TestTeamsThatLimitNothingAreNamedByLine(t *testing.T) {
	for _, tt := range []struct{ old, bad, want string }{
		{"      maxWeight: 1.5\n", "", "fleet.yaml:8:7: spec.teams[1]: want maxValueOfTime, maxWeight or both"},
		{"name: Speech", "name: Vision", `fleet.yaml:8:13: spec.teams[1].name: "Vision" is given twice, first in line 5`},
		{"1.5", "0", "fleet.yaml:9:18: spec.teams[1].maxWeight:"},
		{"5 USD/h", "5", "fleet.yaml:6:23: spec.teams[0].maxValueOfTime:"},
	} {
		_, err := Decode("fleet.yaml", []byte(strings.Replace(teams, tt.old, tt.bad, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q for %q: got %v, want %s", tt.bad, tt.old, err, tt.want)
		}
	}
}
