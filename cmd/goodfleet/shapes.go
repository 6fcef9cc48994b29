package main

import (
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// withoutNeedlessShapes leaves out hosts that are larger than any mix of the jobs
// can use. On Google Cloud the same accelerators in the same zone hang on hosts of
// many sizes, whose prices are sums of parts and move together: one that carries
// whatever the jobs ask for makes every dearer one pointless. Nor are they more
// supply, since it is the accelerators that run out. Clouds that price each type by
// itself keep all of them.
func (world world) withoutNeedlessShapes(list []provider.Offering, at time.Time, jobs []*planner.Job) []provider.Offering {
	var cpu, mem float64 // the most that a replica asks for
	for _, j := range jobs {
		cpu, mem = max(cpu, j.Resources.VCPU), max(mem, j.Resources.MemGiB)
	}
	type shape struct {
		region, zone, accelerator string
		market                    provider.Market
		count                     int
		disk                      float64
	}
	of := func(o provider.Offering) (shape, provider.InstanceType) {
		t, _ := world.catalogue.Lookup(o.Cloud, o.Type)
		return shape{o.Region, o.Zone, t.Accelerator, o.Market, t.Count, t.DiskGiB}, t
	}
	ample := map[shape]provider.Offering{} // the cheapest that carries anything, first by name
	for _, o := range list {
		s, t := of(o)
		n := float64(t.Count)
		if o.Cloud != "gcp" || t.Kind != provider.GPU || cpu*n > float64(t.VCPU) || mem*n > t.MemGiB {
			continue
		}
		rate, _ := world.history.RateAt(o, at)
		if best, ok := ample[s]; ok {
			if least, _ := world.history.RateAt(best, at); least <= rate {
				continue
			}
		}
		ample[s] = o
	}
	return slices.DeleteFunc(list, func(o provider.Offering) bool {
		s, _ := of(o)
		best, ok := ample[s]
		if !ok || o.Cloud != "gcp" || best == o {
			return false
		}
		rate, _ := world.history.RateAt(o, at)
		least, _ := world.history.RateAt(best, at)
		return rate >= least
	})
}
