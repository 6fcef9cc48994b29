package main

import (
	"slices"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

func TestHostsThatAreTooLargeAreLeftOut(t *testing.T) {
	world, err := newWorld(settings{refused: t.TempDir() + "/quarantine.json"})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	var all []provider.Offering
	for _, o := range world.places(at) {
		if o.Zone == "us-central1-a" || o.Zone == "use1-az1" {
			all = append(all, o)
		}
	}
	jobs := []*planner.Job{{Resources: planner.Resources{VCPU: 3, MemGiB: 20}}, {Resources: planner.Resources{VCPU: 6, MemGiB: 4}}}
	kept := world.withoutNeedlessShapes(slices.Clone(all), at, jobs)
	if len(kept) == len(all) {
		t.Fatal("nothing is left out: the test says nothing")
	}
	type shape struct {
		accelerator string
		count       int
		market      provider.Market
	}
	carries := map[shape]provider.Offering{}
	for _, o := range kept {
		if typ, _ := world.catalogue.Lookup(o.Cloud, o.Type); o.Cloud == "gcp" && typ.VCPU >= 6*typ.Count && typ.MemGiB >= 20*float64(typ.Count) {
			s := shape{typ.Accelerator, typ.Count, o.Market}
			if other, ok := carries[s]; ok && typ.Kind == provider.GPU {
				t.Errorf("%s and %s carry the same jobs", other, o)
			}
			carries[s] = o
		}
	}
	for _, o := range all {
		if slices.Contains(kept, o) {
			continue
		}
		typ, _ := world.catalogue.Lookup(o.Cloud, o.Type)
		best, ok := carries[shape{typ.Accelerator, typ.Count, o.Market}]
		if !ok || o.Cloud != "gcp" {
			t.Errorf("%s is left out, and nothing carries what it does", o)
			continue
		}
		rate, _ := world.history.RateAt(o, at)
		if least, _ := world.history.RateAt(best, at); least > rate {
			t.Errorf("%s at %s is left out for %s at %s", o, rate, best, least)
		}
	}
}
