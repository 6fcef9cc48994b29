package document

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/goodfleet/goodfleet/planner/goodput"
	"github.com/goodfleet/goodfleet/planner/throughput"
	"github.com/goodfleet/goodfleet/provider"
)

// APIVersion is that of every document.
const APIVersion = "goodfleet/v1"

// TrainingJob is the document of one job.
type TrainingJob struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	Spec       JobSpec  `json:"spec"`
}

// Metadata says whose document it is.
type Metadata struct {
	Name string `json:"name"` // kept as written; no two jobs have the same
	Team string `json:"team,omitempty"`

	Project string `json:"project,omitempty"` // what reports sum by beside the team
}

// JobSpec is what a job needs, has to do and may cost.
type JobSpec struct {
	Submit      time.Time         `json:"submit,omitzero"` // absent: when it is handed in
	Family      string            `json:"family,omitempty"`
	Work        Work              `json:"work"`
	Resources   Resources         `json:"resources"`
	Data        Data              `json:"data,omitzero"`
	Checkpoint  Checkpoint        `json:"checkpoint,omitzero"`
	Weight      float64           `json:"weight,omitempty"`
	ValueOfTime Hourly            `json:"valueOfTime,omitzero"`
	Deadline    time.Time         `json:"deadline,omitzero"`
	Budget      Amount            `json:"budget,omitzero"`
	MaxPrice    Hourly            `json:"maxPrice,omitzero"` // of one machine
	Clouds      []string          `json:"clouds,omitempty"`
	Regions     []string          `json:"regions,omitempty"`
	Markets     []provider.Market `json:"markets,omitempty"`
	Throughput  Throughput        `json:"throughput,omitzero"` // one of the two is given
	Profile     Profile           `json:"profile,omitzero"`
}

// Work is how much there is to do: samples, or epochs of a dataset of samples.
type Work struct {
	Samples        float64 `json:"samples,omitempty"`
	Epochs         float64 `json:"epochs,omitempty"`
	DatasetSamples float64 `json:"datasetSamples,omitempty"`
	Kind           string  `json:"kind,omitempty"` // "exact" (as if absent), "limit", "unknown"
}

// Resources is what a config must hold to be one.
type Resources struct {
	Accelerators      []string `json:"accelerators,omitempty"`     // accepted kinds; absent: every GPU whose throughput is known
	AcceleratorMemory Size     `json:"acceleratorMemory,omitzero"` // of one accelerator
	Replicas          Replicas `json:"replicas"`
	CPU               float64  `json:"cpu,omitempty"`        // per replica
	Memory            Size     `json:"memory,omitzero"`      // per replica
	Disk              Size     `json:"disk,omitzero"`        // per node
	Network           string   `json:"network,omitempty"`    // between machines: "interconnect" (as if absent), "ethernet": any will do
	ShareNodes        bool     `json:"shareNodes,omitempty"` // with other gangs of several nodes that share too
}

// Replicas is a range of gang sizes, or a list of them.
type Replicas struct {
	Min        int
	Max        int
	MultipleOf int
	Set        []int
}

// replicaRange is the written form of a range.
type replicaRange struct {
	Min        int `json:"min"`
	Max        int `json:"max"`
	MultipleOf int `json:"multipleOf,omitempty"`
}

// MarshalJSON writes a list if there is one, else a range.
func (r Replicas) MarshalJSON() ([]byte, error) {
	if len(r.Set) > 0 {
		return json.Marshal(r.Set)
	}
	return json.Marshal(replicaRange{r.Min, r.Max, r.MultipleOf})
}

// UnmarshalJSON reads either form.
func (r *Replicas) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		*r = Replicas{}
		return json.Unmarshal(text, &r.Set)
	}
	var form replicaRange
	if err := json.Unmarshal(text, &form); err != nil {
		return err
	}
	*r = Replicas{Min: form.Min, Max: form.Max, MultipleOf: form.MultipleOf}
	return nil
}

// Data is what a job reads, and where it lies.
type Data struct {
	URI    string `json:"uri,omitempty"`
	Cloud  string `json:"cloud,omitempty"`
	Region string `json:"region,omitempty"`
	Size   Size   `json:"size,omitzero"`
	Access string `json:"access,omitempty"` // "copy" (as if absent): once; "stream": anew each epoch
}

// Checkpoint is what a job writes so that it can go on elsewhere.
type Checkpoint struct {
	URI     string   `json:"uri,omitempty"`
	Size    Size     `json:"size,omitzero"`
	Save    Duration `json:"save,omitzero"`
	Restore Duration `json:"restore,omitzero"`
	Every   Interval `json:"every,omitzero"` // "auto" as if absent
}

// Throughput says how fast the job is, in one of three ways.
type Throughput struct {
	Model    string             `json:"model,omitempty"`    // a job type of the embedded measurements
	Table    []throughput.Entry `json:"table,omitempty"`    // the job's own measurements
	Estimate *Estimate          `json:"estimate,omitempty"` // computed from the hardware's published peaks
}

// Profile says how fast an elastic job is at any batch: by its profile, which lies
// in a file of its own or is given here as a whole.
type Profile struct {
	File   string                   `json:"file,omitempty"`
	Inline *goodput.ProfileDocument `json:"inline,omitempty"`
}

// Estimate names a model class whose speeds follow from the hardware's peaks.
type Estimate struct {
	Class string `json:"class"`
	Batch int    `json:"batch,omitempty"` // samples per replica and step; absent: the class's own
}
