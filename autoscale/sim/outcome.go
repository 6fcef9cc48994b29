package sim

import (
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// Outcome is what a stretch of the loop came to: the money by every dimension,
// the work it bought, how long jobs took, and how the fleet went. Money is exact
// and sums by any dimension are equal; hours are floats for reading.
//
// Work of different models does not compare in samples, so it is counted in
// reference hours: the accelerator-hours that the same work takes on the
// Reference accelerator at the job's smallest gang. A job whose curve does not
// know that accelerator is measured against the fastest that it knows.
type Outcome struct {
	Variant     string       `json:"variant"`
	HazardScale float64      `json:"hazard_scale"` // interruption rate of spot, as a multiple of the setting's own
	UsesSpot    bool         `json:"uses_spot"`    // spot may be bought
	Seed        uint64       `json:"seed"`
	From        time.Time    `json:"from"`
	To          time.Time    `json:"to"` // excluded
	Horizon     bool         `json:"horizon_passed"`
	BurnCap     pricing.Rate `json:"burn_cap"` // 0: none
	Reference   string       `json:"reference"`

	Cost         pricing.Money `json:"cost"`
	UnknownHours float64       `json:"unknown_rate_hours"` // accelerator-hours without a rate: with any, Cost is a lower bound
	ByAccount    []Sum         `json:"by_account"`
	ByTeam       []Sum         `json:"by_team"`
	ByMarket     []Sum         `json:"by_market"`
	ByCloud      []Sum         `json:"by_cloud"`
	ByType       []Sum         `json:"by_type"`

	Egress     pricing.Money `json:"egress"` // moving data and checkpoints between regions, at list price: a part of Cost
	SpotPaid   pricing.Money `json:"spot_paid"`
	SpotSaving pricing.Money `json:"spot_saving"` // the on-demand rate of the same type and zone less paid: before what interruptions cost
	SpotHours  float64       `json:"spot_accelerator_hours"`

	Samples             float64 `json:"samples"` // kept in a checkpoint, or of jobs done
	ReferenceHours      float64 `json:"reference_hours"`
	ReferencePerDollar  float64 `json:"reference_hours_per_dollar"`
	SamplesPerDollar    float64 `json:"samples_per_dollar"`
	IdleShare           float64 `json:"idle_share"` // of Cost
	BootShare           float64 `json:"boot_share"`
	WasteShare          float64 `json:"waste_share"`       // restarts and lost work
	AcceleratorHours    float64 `json:"accelerator_hours"` // billed
	PeakBurn            float64 `json:"peak_burn"`         // USD per hour, machines on their way included
	MeanBurn            float64 `json:"mean_burn"`         // USD per hour, From to To
	Jobs                int     `json:"jobs"`
	Unfinished          int     `json:"unfinished"`
	Failed              int     `json:"failed"`
	Deadlines           int     `json:"deadlines"`
	DeadlineMisses      int     `json:"deadline_misses"`
	AvgJCTHours         float64 `json:"avg_jct_hours"` // an unfinished job counts with its age: then a lower bound
	P50JCTHours         float64 `json:"p50_jct_hours"`
	P95JCTHours         float64 `json:"p95_jct_hours"`
	MaxJCTHours         float64 `json:"max_jct_hours"`
	AvgQueueHours       float64 `json:"avg_queue_hours"` // submission to first start
	MakespanHours       float64 `json:"makespan_hours"`
	Launches            int     `json:"launches"` // machines
	FailedLaunches      int     `json:"failed_launches"`
	Interruptions       int     `json:"interruptions"` // machines taken by a cloud
	JobLosses           int     `json:"job_losses"`    // times that a job lost its gang to one
	Restarts            int     `json:"restarts"`      // starts of a job after its first
	Rounds              int64   `json:"rounds"`
	EstimatedThroughput bool    `json:"estimated_throughput"` // some speeds are derived from hardware, not measured

	JobOutcomes []JobOutcome  `json:"job_outcomes"`
	Series      Series        `json:"series"`
	Prices      []PriceSeries `json:"prices,omitempty"` // of the spot offerings most used

	Charges []ledger.Charge `json:"-"` // the whole ledger, in the order of booking
	Script  string          `json:"-"` // what went wrong on purpose, as a scenario that makes it go wrong again
}

// Sum is what one key of a dimension bears.
type Sum struct {
	Key              string        `json:"key"`
	Amount           pricing.Money `json:"amount"`
	AcceleratorHours float64       `json:"accelerator_hours"` // billed
}

// JobOutcome is what one job came to.
type JobOutcome struct {
	Job            planner.JobID `json:"job"`
	Team           string        `json:"team,omitempty"`
	Family         string        `json:"family,omitempty"`
	Submitted      time.Time     `json:"submitted"`
	Started        *time.Time    `json:"started"` // null: never
	Ended          *time.Time    `json:"ended"`   // null: not ended
	Phase          string        `json:"phase"`
	JCTHours       float64       `json:"jct_hours"` // of an unfinished job: its age
	Done           bool          `json:"done"`
	Late           bool          `json:"late"` // past its deadline
	Samples        float64       `json:"samples"`
	ReferenceHours float64       `json:"reference_hours"`
	Cost           pricing.Money `json:"cost"`
	Restarts       int           `json:"restarts"`
	Losses         int           `json:"losses"`
	Course         []Course      `json:"course,omitempty"`    // of a job that adapts, by time
	Hindsight      *Hindsight    `json:"hindsight,omitempty"` // of a job that is done
}

// Course is a way to run that a job which adapts was given, and what was believed of
// it then.
type Course struct {
	At          time.Time `json:"at"`
	Accelerator string    `json:"accelerator"`
	Nodes       int       `json:"nodes"`
	Replicas    int       `json:"replicas"`
	Batch       int       `json:"batch"`
	Believed    float64   `json:"believed"` // goodput, samples per second
	True        float64   `json:"true"`
}

// Series is how the fleet went, in steps of equal length from Outcome.From on.
type Series struct {
	StepSeconds float64         `json:"step_seconds"`
	Fleet       []FleetSeries   `json:"fleet"`
	Cost        []pricing.Money `json:"cost"`    // booked in each step
	Running     []float64       `json:"running"` // jobs whose gangs run, at the end of the step
	Waiting     []float64       `json:"waiting"` // jobs that wait, for machines or for them to boot
}

// FleetSeries is the accelerators billed of one type and market, on average over
// each step.
type FleetSeries struct {
	Cloud        string          `json:"cloud"`
	Type         string          `json:"type"`
	Market       provider.Market `json:"market"`
	Accelerators []float64       `json:"accelerators"`
}

// PriceSeries is how the price of one offering went, and what was bought at it.
type PriceSeries struct {
	Offering provider.Offering `json:"offering"`
	List     *pricing.Rate     `json:"list"`   // on-demand rate of the same type and zone at the start; null: not known
	Prices   []PricePoint      `json:"prices"` // from its instant on; the first at Outcome.From or later
	Held     []Stretch         `json:"held"`   // machines, by start
}

// PricePoint is a rate that held from an instant on.
type PricePoint struct {
	At   time.Time    `json:"at"`
	Rate pricing.Rate `json:"rate"`
}

// Stretch is the life of one machine.
type Stretch struct {
	From        time.Time `json:"from"`
	To          time.Time `json:"to"`
	Interrupted bool      `json:"interrupted"`
}
