package provider

import "fmt"

// AcceleratorKind tells families of accelerators apart that never stand in for
// each other: nothing measured on one kind is carried over to another.
type AcceleratorKind uint8

const (
	GPU    AcceleratorKind = iota + 1
	TPU                    // a slice of chips, bought and lost as a whole
	Neuron                 // AWS Inferentia and Trainium
	Gaudi
)

var kindNames = [...]string{GPU: "gpu", TPU: "tpu", Neuron: "neuron", Gaudi: "gaudi"}

// String returns the kind's word.
func (k AcceleratorKind) String() string {
	if k < GPU || k > Gaudi {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// ParseAcceleratorKind reads the word that String writes.
func ParseAcceleratorKind(s string) (AcceleratorKind, error) {
	for k := GPU; k <= Gaudi; k++ {
		if kindNames[k] == s {
			return k, nil
		}
	}
	return 0, fmt.Errorf("accelerator kind %q: want gpu, tpu, neuron or gaudi", s)
}

// MarshalText makes a kind its word in JSON.
func (k AcceleratorKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the word of a kind.
func (k *AcceleratorKind) UnmarshalText(text []byte) error {
	parsed, err := ParseAcceleratorKind(string(text))
	if err != nil {
		return err
	}
	*k = parsed
	return nil
}

// InstanceType is one machine (or one TPU slice) that a cloud sells whole.
type InstanceType struct {
	Cloud             string          `json:"cloud"`
	Name              string          `json:"name"`                   // the Type of an Offering
	Accelerator       string          `json:"accelerator"`            // "V100", "A100-80GB", "TPU v5e"
	Kind              AcceleratorKind `json:"kind"`                   //
	Count             int             `json:"count"`                  // accelerators; chips of the slice for a TPU
	AcceleratorMemGiB float64         `json:"accelerator_mem_gib"`    // memory of one accelerator
	VCPU              int             `json:"vcpu"`                   // of all hosts together
	MemGiB            float64         `json:"mem_gib"`                // of all hosts together
	DiskGiB           float64         `json:"disk_gib"`               // local disk in the price; 0: none
	Hosts             int             `json:"hosts"`                  // machines behind it: 1, or the hosts of a TPU slice
	NetworkGbps       float64         `json:"network_gbps"`           // 0: not published
	Interconnect      string          `json:"interconnect,omitempty"` // fast network between machines: "efa", "ici", ...; "": none declared
	Arch              string          `json:"arch"`                   // "amd64", "arm64"
	QuotaFamily       string          `json:"quota_family"`           // the counter that a launch is charged to; on-demand and spot apart
	Source            string          `json:"source"`                 // where the row's facts come from
	Date              string          `json:"date"`                   // when they were read, YYYY-MM-DD
}

// Catalogue is the set of known instance types. It does not change once built.
type Catalogue struct {
	types []InstanceType
	index map[[2]string]int
}

// NewCatalogue builds a catalogue. It fails on a type given twice and on one
// whose numbers cannot be true.
func NewCatalogue(types []InstanceType) (*Catalogue, error) {
	c := &Catalogue{types: types, index: make(map[[2]string]int, len(types))}
	for i, t := range types {
		key := [2]string{t.Cloud, t.Name}
		switch {
		case t.Cloud == "" || t.Name == "":
			return nil, fmt.Errorf("instance type %q of cloud %q: cloud and name are required", t.Name, t.Cloud)
		case t.Count <= 0 || t.Hosts <= 0 || t.VCPU <= 0 || t.MemGiB <= 0 || t.AcceleratorMemGiB <= 0:
			return nil, fmt.Errorf("instance type %s/%s: count, hosts, vcpu and memory must be positive", t.Cloud, t.Name)
		}
		if _, twice := c.index[key]; twice {
			return nil, fmt.Errorf("instance type %s/%s is listed twice", t.Cloud, t.Name)
		}
		c.index[key] = i
	}
	return c, nil
}

// Lookup returns the type of that name. ok is false when the catalogue lacks it.
func (c *Catalogue) Lookup(cloud, name string) (t InstanceType, ok bool) {
	i, ok := c.index[[2]string{cloud, name}]
	if !ok {
		return InstanceType{}, false
	}
	return c.types[i], true
}

// Types returns all types in the order of the source. The caller must not change them.
func (c *Catalogue) Types() []InstanceType { return c.types }
