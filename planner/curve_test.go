package planner_test

import (
	"testing"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/throughput"
)

func TestTableCurveCountsByTheHourAndKeepsTheMark(t *testing.T) {
	p, err := throughput.NewProfile(throughput.ProfileConfig{Name: "j", Entries: []throughput.Entry{
		{Accelerator: "T4", Replicas: 1, SamplesPerSec: 2},
		{Accelerator: "L4", Replicas: 1, SamplesPerSec: 3, Estimated: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	curve := planner.TableCurve(p)
	for _, c := range []struct {
		accelerator string
		want        planner.Speed
		ok          bool
	}{
		{"T4", planner.Speed{Goodput: 7200, LogSD: throughput.LogSD(false)}, true},
		{"L4", planner.Speed{Goodput: 10800, Estimated: true, LogSD: throughput.LogSD(true)}, true},
		{"H100", planner.Speed{}, false},
	} {
		if got, ok := curve.Speed(c.accelerator, 1, 1); got != c.want || ok != c.ok {
			t.Errorf("%s: %+v, ok %v; want %+v, ok %v", c.accelerator, got, ok, c.want, c.ok)
		}
	}
}
