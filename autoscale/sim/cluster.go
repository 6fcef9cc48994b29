package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/provider"
	"github.com/goodfleet/goodfleet/provider/fake"
)

// Cluster is machines that somebody owns, of any number of kinds: the ground on which
// schedulers are compared. They are there from the start, are never bought or ended,
// never fail, and cost nothing more.
type Cluster struct {
	Name  string
	Kinds []ClusterKind
}

// ClusterKind is so many machines of one type.
type ClusterKind struct {
	Type  provider.InstanceType
	Count int
}

// Where the machines of clusters stand: a cloud of their own, in which nothing is sold.
const (
	ClusterCloud = "own"
	clusterPlace = "here"
)

// onPremises are accelerators of published clusters that no cloud sells, with their
// memory in GiB.
var onPremises = map[string]float64{"RTX 2080 Ti": 11, "Quadro RTX 6000": 24}

// publishedClusters are those of published experiments, by name.
var publishedClusters = []struct{ name, text, source string }{
	{"gavel", "36xV100,36xP100,36xK80", "Gavel, OSDI 2020, simulations"},
	{"gavel-physical", "8xV100,16xP100,24xK80", "Gavel, OSDI 2020, physical cluster"},
	{"pollux", "16x4xT4", "Pollux, OSDI 2021"},
	{"sia", "6x4xT4,3x8xRTX 2080 Ti,2x8xA100", "Sia, SOSP 2023, heterogeneous"},
	{"sia-physical", "3x8xRTX 2080 Ti,1x4xQuadro RTX 6000,2x8xA100", "Sia, SOSP 2023, physical cluster"},
	{"sia-2048", "192x4xT4,96x8xRTX 2080 Ti,64x8xA100", "Sia, SOSP 2023, scalability"},
}

// ClusterNames lists the clusters that have a name.
func ClusterNames() []string {
	var names []string
	for _, c := range publishedClusters {
		names = append(names, c.name)
	}
	return names
}

// mostMachines is how many machines of one kind a cluster may have.
const mostMachines = 100_000

// ParseCluster reads a cluster: one of ClusterNames, or kinds of machines with commas
// between, each "machines x accelerators x name" or, with one accelerator to a machine,
// "machines x name": "36xV100,16x4xT4". Accelerators are those of the catalogue.
func ParseCluster(text string, catalogue *provider.Catalogue) (Cluster, error) {
	c := Cluster{Name: text}
	for _, p := range publishedClusters {
		if p.name == text {
			text = p.text
		}
	}
	for part := range strings.SplitSeq(text, ",") {
		kind, err := parseKind(strings.TrimSpace(part), catalogue)
		if err != nil {
			return Cluster{}, fmt.Errorf("cluster %q: %w", c.Name, err)
		}
		if slices.ContainsFunc(c.Kinds, func(k ClusterKind) bool { return k.Type.Name == kind.Type.Name }) {
			return Cluster{}, fmt.Errorf("cluster %q: %s is given twice", c.Name, part)
		}
		c.Kinds = append(c.Kinds, kind)
	}
	return c, nil
}

func parseKind(text string, catalogue *provider.Catalogue) (ClusterKind, error) {
	words := strings.SplitN(text, "x", 3)
	count, each, name := 0, 1, ""
	var err error
	switch len(words) {
	case 2:
		name = words[1]
	case 3:
		if each, err = strconv.Atoi(words[1]); err != nil { // an x in the name
			each, name = 1, words[1]+"x"+words[2]
		} else {
			name = words[2]
		}
	}
	if len(words) > 1 {
		count, err = strconv.Atoi(words[0])
	}
	if len(words) < 2 || err != nil || count < 1 || count > mostMachines || each < 1 || each > 64 {
		return ClusterKind{}, fmt.Errorf(`%q: want a name (%s), or machines x accelerators x name, as in "36xV100,16x4xT4"`, text, strings.Join(ClusterNames(), ", "))
	}
	mem, ok := onPremises[name]
	for _, t := range catalogue.Types() {
		if t.Accelerator == name && t.Kind == provider.GPU {
			mem, ok = t.AcceleratorMemGiB, true
		}
	}
	if !ok {
		return ClusterKind{}, fmt.Errorf("%q: there is no GPU %q", text, name)
	}
	const hostEach = 256 // GiB and vCPUs beside each accelerator: hosts limit nothing
	return ClusterKind{Count: count, Type: provider.InstanceType{
		Cloud: ClusterCloud, Name: fmt.Sprintf("%dx%s", each, strings.ReplaceAll(name, " ", "-")), Accelerator: name, Kind: provider.GPU,
		Count: each, AcceleratorMemGiB: mem, VCPU: hostEach * each, MemGiB: float64(hostEach * each), DiskGiB: 1 << 20, Hosts: 1,
		Interconnect: "lan", Arch: "amd64", QuotaFamily: "own", Source: "owned",
	}}, nil
}

// Machines counts the machines.
func (c Cluster) Machines() int {
	n := 0
	for _, k := range c.Kinds {
		n += k.Count
	}
	return n
}

// Accelerators counts the accelerators.
func (c Cluster) Accelerators() int {
	n := 0
	for _, k := range c.Kinds {
		n += k.Count * k.Type.Count
	}
	return n
}

// Stand puts the cluster into a setting, in place of whatever was owned there.
func (c Cluster) Stand(s *Setting) error {
	types := slices.Clone(s.Catalogue.Types())
	s.Reservations = nil
	for _, k := range c.Kinds {
		types = append(types, k.Type)
		s.Reservations = append(s.Reservations, autoscale.Reservation{Count: k.Count, Offering: provider.Offering{
			Cloud: ClusterCloud, Region: clusterPlace, Zone: clusterPlace, Type: k.Type.Name, Market: provider.Reserved, Reservation: k.Type.Name,
		}})
	}
	var err error
	if s.Catalogue, err = provider.NewCatalogue(types); err != nil {
		return fmt.Errorf("cluster %q: %w", c.Name, err)
	}
	s.Standing = true
	return nil
}

// Still is the climate of machines that are there at once and stay, as those do that are
// owned.
func Still() fake.Climate {
	return fake.Climate{
		Law:   func(provider.Pool, provider.InstanceType) fake.Law { return fake.Law{} },
		Boot:  func(provider.InstanceType) fake.Boot { return fake.Boot{} },
		Depth: func(provider.InstanceType) fake.Depth { return fake.Depth{Median: 1} },
		Keep:  time.Hour, // so that listings show that they have ended
	}
}

// climate is how the capacity of a cloud comes and goes, where nothing else is said.
func climate(cloud string) (fake.Climate, error) {
	if cloud == ClusterCloud {
		return Still(), nil
	}
	return fake.Measured(cloud)
}
