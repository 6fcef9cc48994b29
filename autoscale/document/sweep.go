package document

// Sweep is the document of simulations that are run side by side.
type Sweep struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Spec       SweepSpec `json:"spec"`
}

// SweepSpec is lists of which each combination is a run. A list that is absent leaves
// its part to what is said elsewhere.
type SweepSpec struct {
	Jobs         []string  `json:"jobs"`            // examples by name, or files
	Loads        []float64 `json:"loads,omitempty"` // jobs per hour, of streams
	Policies     []string  `json:"policies,omitempty"`
	Clusters     []string  `json:"clusters,omitempty"` // machines that are all there is, or Bought
	Prices       []string  `json:"prices,omitempty"`   // files, or Embedded
	ValuesOfTime []Hourly  `json:"valuesOfTime,omitempty"`
	BurnCaps     []Hourly  `json:"burnCaps,omitempty"`
	HazardScales []float64 `json:"hazardScales,omitempty"`
	Seeds        []uint64  `json:"seeds,omitempty"`
}

// Words of a Sweep for what is no file and no cluster.
const (
	Bought   = "bought"   // machines are bought
	Embedded = "embedded" // the prices of the program alone
)

// mostRuns is how many runs a sweep may have.
const mostRuns = 1_000_000

// Runs is how many combinations there are.
func (s SweepSpec) Runs() int {
	n := len(s.Jobs)
	for _, of := range []int{len(s.Loads), len(s.Policies), len(s.Clusters), len(s.Prices), len(s.ValuesOfTime), len(s.BurnCaps), len(s.HazardScales), len(s.Seeds)} {
		n = min(n*max(1, of), mostRuns+1)
	}
	return n
}

// checkSweep refuses what a schema cannot express.
func (d Document) checkSweep() error {
	if n := d.Sweep.Spec.Runs(); n > mostRuns {
		return d.Fail("spec", "more than %d runs", mostRuns)
	}
	return nil
}
