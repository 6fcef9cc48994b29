package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goodfleet/goodfleet/provider"
)

// spread is a way of laying replicas over whole machines of one type.
type spread struct {
	nodes, perNode, replicas int
	speed                    Speed
	stay                     float64 // what the rest of the job takes so, without losses, h
}

// A gate is one thing that an offer must pass to carry a job. Gates are in the
// order in which a person would want to hear of them.
type gate struct {
	name string // what the job asks for, in the words of its file
	want string
	// got says what an offer has instead; "" when it passes
	got func(o *Offer) string
}

// gates lists what job j asks of an offer.
func gates(j *Job) []gate {
	r := j.Resources
	var list []gate
	if len(j.Clouds) > 0 {
		list = append(list, gate{"clouds", strings.Join(j.Clouds, ", "), func(o *Offer) string {
			return unless(slices.Contains(j.Clouds, o.Offering.Cloud), o.Offering.Cloud)
		}})
	}
	if len(j.Regions) > 0 {
		list = append(list, gate{"regions", strings.Join(j.Regions, ", "), func(o *Offer) string {
			return unless(slices.Contains(j.Regions, o.Offering.Region), o.Offering.Region)
		}})
	}
	if d := j.Data; d.Region != "" && !d.Size.Known {
		list = append(list, gate{"data", "to stay in " + d.Region + ", since their size is not given", func(o *Offer) string {
			return unless(o.Offering.Region == d.Region && (d.Cloud == "" || o.Offering.Cloud == d.Cloud), o.Offering.Region)
		}})
	}
	if len(j.Markets) > 0 {
		words := make([]string, len(j.Markets))
		for i, m := range j.Markets {
			words[i] = m.String()
		}
		list = append(list, gate{"markets", strings.Join(words, ", "), func(o *Offer) string {
			return unless(slices.Contains(j.Markets, o.Offering.Market), o.Offering.Market.String())
		}})
	}
	if len(j.Types) > 0 {
		list = append(list, gate{"types", strings.Join(j.Types, ", "), func(o *Offer) string {
			return unless(slices.Contains(j.Types, o.Offering.Type), o.Offering.Type)
		}})
	}
	if len(r.Accelerators) > 0 {
		list = append(list, gate{"resources.accelerators", strings.Join(r.Accelerators, ", "), func(o *Offer) string {
			return unless(slices.Contains(r.Accelerators, o.Type.Accelerator), o.Type.Accelerator)
		}})
	} else {
		list = append(list, gate{"resources.accelerators", "a GPU (other kinds must be named)", func(o *Offer) string {
			return unless(o.Type.Kind == provider.GPU, o.Type.Accelerator)
		}})
	}
	if r.AcceleratorMemGiB > 0 {
		list = append(list, gate{"resources.acceleratorMemory", fmt.Sprintf("%g GiB per accelerator", r.AcceleratorMemGiB), func(o *Offer) string {
			return unless(o.Type.AcceleratorMemGiB >= r.AcceleratorMemGiB, fmt.Sprintf("%g GiB (%s)", o.Type.AcceleratorMemGiB, o.Type.Accelerator))
		}})
	}
	if r.DiskGiB > 0 {
		list = append(list, gate{"resources.disk", fmt.Sprintf("%g GiB of local disk", r.DiskGiB), func(o *Offer) string {
			return unless(o.Type.DiskGiB >= r.DiskGiB, fmt.Sprintf("%g GiB (%s)", o.Type.DiskGiB, o.Type.Name))
		}})
	}
	if j.MaxPrice > 0 {
		list = append(list, gate{"maxPrice", j.MaxPrice.String() + " USD/h per machine", func(o *Offer) string {
			return unless(o.Rate <= j.MaxPrice, o.Rate.String()+" USD/h ("+o.Offering.String()+")")
		}})
	}
	return list
}

func unless(passes bool, got string) string {
	if passes {
		return ""
	}
	return got
}

// spreads lists how j can run on machines with count accelerators: on a part of
// one machine, or on the fewest machines with equal parts; one that shares its nodes
// also on twice as many. A TPU slice is never shared.
// A job that adapts within a range takes powers of two on a part of a machine, and
// whole machines, if it can: with these alone every plan that the counts allow can
// be placed (Sia, SOSP 2023, section 3).
func spreads(j *Job, accelerator string, kind provider.AcceleratorKind, count int) []spread {
	list := allSpreads(j, accelerator, kind, count)
	if _, elastic := GoodputProfileOf(j.Curve); !elastic || len(j.Resources.Replicas.Set) > 0 {
		return list
	}
	var even []spread
	for _, w := range list {
		if w.perNode == count || w.nodes == 1 && w.replicas&(w.replicas-1) == 0 {
			even = append(even, w)
		}
	}
	if len(even) == 0 {
		return list
	}
	return even
}

func allSpreads(j *Job, accelerator string, kind provider.AcceleratorKind, count int) []spread {
	var list []spread
	add := func(replicas, nodes int) {
		if replicas <= 0 || replicas%nodes != 0 {
			return
		}
		perNode := replicas / nodes
		if kind == provider.TPU && (nodes > 1 || perNode != count) {
			return
		}
		speed, ok := j.Curve.Speed(accelerator, nodes, replicas)
		if !ok || !(speed.Goodput > 0) {
			return
		}
		list = append(list, spread{nodes: nodes, perNode: perNode, replicas: replicas, speed: speed})
	}
	for _, replicas := range j.Resources.Replicas.Sizes() {
		fewest := (replicas + count - 1) / count
		add(replicas, fewest)
		if j.Resources.ShareNodes {
			add(replicas, 2*fewest) // what is left over on machines that others are on
		}
	}
	return list
}

// RunsOn reports whether j knows a speed of itself on some layout over machines of t.
func (j *Job) RunsOn(t provider.InstanceType) bool {
	return j.accepts(t.Accelerator, t.Kind) && len(spreads(j, t.Accelerator, t.Kind, t.Count)) > 0
}

// carried reports whether some layout of j has room on machines of o.
func carried(j *Job, o *Offer) bool {
	return slices.ContainsFunc(spreads(j, o.Type.Accelerator, o.Type.Kind, o.Type.Count), func(w spread) bool {
		return j.takes(o, w.nodes, w.perNode)
	})
}

// Lacks says why nothing of offers can carry j: the first thing asked for that
// no offer has together with all that was asked before it. ok is false when
// something fits.
//
// What its budget policies forbid comes last: reason names them when each offer that
// would carry j is forbidden by one of them.
func Lacks(j *Job, offers []Offer) (reason string, ok bool) {
	if j.Refuses != nil {
		free := j.unrefused()
		if reason, ok = Lacks(free, offers); ok {
			return reason, true
		}
		return refused(j, free, offers)
	}
	left := make([]*Offer, len(offers))
	for i := range offers {
		left[i] = &offers[i]
	}
	if len(left) == 0 {
		return "nothing is sold: there is no offering with a price", true
	}
	for _, g := range gates(j) {
		var pass []*Offer
		var got []string
		for _, o := range left {
			if miss := g.got(o); miss == "" {
				pass = append(pass, o)
			} else if !slices.Contains(got, miss) {
				got = append(got, miss)
			}
		}
		if len(pass) == 0 {
			slices.SortFunc(got, nearest(g.name == "maxPrice"))
			if len(got) > 6 {
				got = append(got[:6], "...")
			}
			return fmt.Sprintf("%s: wants %s; what is left offers %s", g.name, g.want, strings.Join(got, ", ")), true
		}
		left = pass
	}
	var largest *provider.InstanceType
	known := false
	for _, o := range left {
		if carried(j, o) {
			return "", false
		}
		if largest == nil || o.Type.Count > largest.Count || o.Type.Count == largest.Count && o.Type.MemGiB > largest.MemGiB {
			largest = &o.Type
		}
		for _, size := range j.Resources.Replicas.Sizes() {
			if _, ok := j.Curve.Speed(o.Type.Accelerator, max(1, (size+o.Type.Count-1)/o.Type.Count), size); ok {
				known = true
			}
		}
	}
	r := j.Resources
	anyNetwork := *j
	anyNetwork.Resources.Ethernet = true
	switch sizes := r.Replicas.Sizes(); {
	case len(sizes) == 0:
		return fmt.Sprintf("resources.replicas: no size is a multiple of %d between %d and %d", r.Replicas.MultipleOf, r.Replicas.Min, r.Replicas.Max), true
	case !known:
		return fmt.Sprintf("throughput: nothing is known of %s on %s at %s replicas", j.Family, names(left), intsText(sizes)), true
	case slices.ContainsFunc(left, func(o *Offer) bool { return carried(&anyNetwork, o) }):
		return fmt.Sprintf("resources.network: no size of %s replicas lies on one machine (%s has %d), and what is left declares no interconnect between machines; \"ethernet\" would do without",
			intsText(sizes), largest.Name, largest.Count), true
	case r.VCPU > 0 && r.VCPU*float64(sizes[0]) > float64(largest.VCPU):
		return fmt.Sprintf("resources.cpu: wants %g per replica, %g at the smallest size; %s has %d", r.VCPU, r.VCPU*float64(sizes[0]), largest.Name, largest.VCPU), true
	case r.MemGiB > 0 && r.MemGiB*float64(sizes[0]) > largest.MemGiB:
		return fmt.Sprintf("resources.memory: wants %g GiB per replica, %g GiB at the smallest size; %s has %g GiB", r.MemGiB, r.MemGiB*float64(sizes[0]), largest.Name, largest.MemGiB), true
	}
	return fmt.Sprintf("resources: no size of %s replicas lies evenly on %s with %g vCPU and %g GiB per replica", intsText(r.Replicas.Sizes()), names(left), r.VCPU, r.MemGiB), true
}

// nearest orders what is offered instead of what is wanted, closest first: the
// largest number, or the smallest where less is wanted, and words by the alphabet.
func nearest(less bool) func(a, b string) int {
	return func(a, b string) int {
		var x, y float64
		_, errX := fmt.Sscanf(a, "%g", &x)
		_, errY := fmt.Sscanf(b, "%g", &y)
		if errX != nil || errY != nil {
			return strings.Compare(a, b)
		}
		if less {
			x, y = y, x
		}
		return cmp.Or(cmp.Compare(y, x), strings.Compare(a, b))
	}
}

func names(offers []*Offer) string {
	var list []string
	for _, o := range offers {
		if !slices.Contains(list, o.Type.Accelerator) {
			list = append(list, o.Type.Accelerator)
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func intsText(list []int) string {
	if len(list) > 8 {
		return fmt.Sprintf("%d to %d", list[0], list[len(list)-1])
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
}
