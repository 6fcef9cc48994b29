package fake

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

//go:embed spells.csv
var spellsFile string

// class is what spells are fitted by: a cloud, an accelerator and a size.
type class struct {
	cloud       string
	accelerator string // "" pools all accelerators
	large       bool   // machines of largeCount accelerators and more
}

// largeCount splits the sizes of machines. The data have machines of 1 and of 8.
const largeCount = 4

func (c class) String() string {
	return fmt.Sprintf("%s/%s/%s", c.cloud, orAll(c.accelerator), sizeName(c.large))
}

const all = "all"

func orAll(accelerator string) string {
	if accelerator == "" {
		return all
	}
	return accelerator
}

func sizeName(large bool) string {
	if large {
		return "large"
	}
	return "small"
}

// spellColumns are the columns of spells.csv. Scales and means are of the pool in
// the middle of its class, in hours; errors are standard errors of logarithms.
var spellColumns = []string{
	"cloud", "accelerator", "size",
	"up_shape", "up_shape_err", "up_scale_h", "up_scale_err", "up_pools", "up_events", "up_hours",
	"down_mean_h", "down_err", "down_pools", "down_events", "down_hours", "down_of",
}

var measuredLaws = sync.OnceValues(func() (map[class]Law, error) {
	read := csv.NewReader(strings.NewReader(spellsFile))
	read.Comment = '#'
	rows, err := read.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("spells.csv: %w", err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], spellColumns) {
		return nil, fmt.Errorf("spells.csv: want the columns %s", strings.Join(spellColumns, ","))
	}
	laws := make(map[class]Law, len(rows))
	for i, row := range rows[1:] {
		c, law, err := parseSpellRow(row)
		if err != nil {
			return nil, fmt.Errorf("spells.csv: row %d: %w", i+1, err)
		}
		laws[c] = law
	}
	return laws, nil
})

func parseSpellRow(row []string) (class, Law, error) {
	c := class{cloud: row[0], accelerator: row[1], large: row[2] == sizeName(true)}
	if c.accelerator == all {
		c.accelerator = ""
	}
	var numbers [3]float64
	for i, column := range []string{"up_shape", "up_scale_h", "down_mean_h"} {
		n, err := strconv.ParseFloat(row[slices.Index(spellColumns, column)], 64)
		if err != nil {
			return class{}, Law{}, fmt.Errorf("%s: %w", column, err)
		}
		numbers[i] = n
	}
	law := Law{Up: Weibull{Shape: numbers[0], Scale: numbers[1]}, Down: Exponential(numbers[2])}
	return c, law, law.validate()
}

// How much pools of one class differ, fitted together with spells.csv: standard
// deviations of the logarithm of the scale.
const (
	spreadUp   = 0.6
	spreadDown = 0.2
)

// Measured is the climate of "aws" or "gcp" as fitted on machines that ran. What
// the data do not tell is assumed, and named as such in README.md.
func Measured(cloud string) (Climate, error) {
	laws, err := measuredLaws()
	if err != nil {
		return Climate{}, err
	}
	notice, known := notices[cloud]
	if !known {
		return Climate{}, fmt.Errorf("no spells were measured on cloud %q: want aws or gcp, or a climate of its own", cloud)
	}
	return Climate{
		Law: func(p provider.Pool, t provider.InstanceType) Law {
			if p.Market == provider.Spot {
				return laws[nearest(laws, cloud, t)]
			}
			if scarce(t) {
				return scarceOnDemand
			}
			return Law{}
		},
		Boot:       func(t provider.InstanceType) Boot { return measuredBoot(cloud, t) },
		Depth:      assumedDepth,
		SpreadUp:   spreadUp,
		SpreadDown: spreadDown,
		Notice:     notice,
		Together:   0.94,
		Alone:      0.5,
		OnePerHour: 0.01,
		Keep:       3 * time.Hour,
	}, nil
}

// notices are what the clouds promise, best effort. How often no word comes is an
// assumption.
var notices = map[string]Notice{
	"aws": {Lead: 120 * time.Second, Missing: 0.05},
	"gcp": {Lead: 30 * time.Second, Missing: 0.05},
}

// generations names the accelerator of the data that each older type behaves
// like. What is not named here is newer and behaves like the A100.
var generations = map[string]string{
	"K80": "K80", "M60": "K80",
	"P100": "P100", "P4": "P100",
	"V100": "V100", "V100-32GB": "V100", "T4": "V100", "T4G": "V100", "Radeon Pro V520": "V100",
	"L4": "V100", "A10G": "V100", "Inferentia": "V100",
}

// nearest is the class whose law a spot pool of t follows: the accelerator's own,
// else that of its generation, else the one that pools all accelerators of the
// cloud and size.
func nearest(laws map[class]Law, cloud string, t provider.InstanceType) class {
	large := t.Count >= largeCount
	generation, old := generations[t.Accelerator]
	if !old {
		generation = "A100"
	}
	for _, accelerator := range []string{t.Accelerator, generation} {
		if c := (class{cloud, accelerator, large}); !laws[c].Steady() {
			return c
		}
	}
	return class{cloud: cloud, large: large}
}

// scarce reports whether a type runs short on demand too: the large accelerators
// (A100 and newer, large TPU chips) and whole boxes of eight V100s or T4s. Smaller
// machines are always to be had on demand. An assumption.
func scarce(t provider.InstanceType) bool {
	return t.AcceleratorMemGiB >= 39 || t.AcceleratorMemGiB*float64(t.Count) >= 128
}

// scarceOnDemand refuses launches a tenth of the time, in spells of hours. An
// assumption: the data have spot machines only.
var scarceOnDemand = Law{Up: Exponential(36), Down: Exponential(4)}

// measuredBoot is how long the probers of the data waited for a machine. Slices
// of TPU are not in the data: an assumption.
func measuredBoot(cloud string, t provider.InstanceType) Boot {
	switch {
	case t.Kind == provider.TPU && t.Hosts > 1:
		return Boot{Mean: 5 * time.Minute, Spread: time.Minute}
	case t.Kind == provider.TPU:
		return Boot{Mean: 2 * time.Minute, Spread: 30 * time.Second}
	case cloud == "gcp" && t.Count >= largeCount:
		return Boot{Mean: 229 * time.Second, Spread: 8 * time.Second}
	case cloud == "gcp":
		return Boot{Mean: 45 * time.Second, Spread: 4 * time.Second}
	}
	return Boot{Mean: 33 * time.Second, Spread: 10 * time.Second}
}

// assumedDepth lets about one in eight pools of single-accelerator machines hold
// fewer than 16: sixteen nodes are then there all or none for most of the time, as
// Wu et al. report of V100 spot machines ("Can't Be Late", NSDI 2024). Larger
// machines are as deep in accelerators up to a point, and never under a few boxes.
func assumedDepth(t provider.InstanceType) Depth {
	median := 32.0
	if t.Count >= largeCount || t.Hosts > 1 {
		median = 16
	}
	return Depth{Median: median, Sigma: 0.6}
}
