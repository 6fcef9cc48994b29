package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/throughput"
	"github.com/goodfleet/goodfleet/pricing"
)

// Config says how many jobs are drawn, and over which time they come.
type Config struct {
	Seed    uint64
	Jobs    int
	Start   time.Time     // the first job is submitted then
	Span    time.Duration // the last ones come shortly before Start + Span
	Longest time.Duration // longer durations are drawn anew: a trace of days cannot hold jobs of months
}

// GavelWeekConfig is the week that ships as gavel-week.yaml: 160 jobs from a Monday
// to the Saturday after, none longer than 16 hours on the machines they were drawn for.
func GavelWeekConfig() Config {
	return Config{
		Seed: 1, Jobs: 160, Longest: 16 * time.Hour,
		Start: time.Date(2023, time.June, 5, 0, 0, 0, 0, time.UTC), Span: 6 * 24 * time.Hour,
	}
}

// TodayConfig is what ships as today.yaml: 96 jobs over three days.
func TodayConfig() Config {
	return Config{
		Seed: 1, Jobs: 96, Longest: 24 * time.Hour,
		Start: time.Date(2026, time.August, 3, 0, 0, 0, 0, time.UTC), Span: 3 * 24 * time.Hour,
	}
}

// Streams of random numbers, one per workload: a draw more in one shifts no other.
const (
	streamGavelWeek = 0x9a7e1
	streamToday     = 0x70da7
)

// draw draws jobs: sizes from the Philly distribution, arrivals from a Poisson
// stream bent to the profile of a working week.
type draw struct {
	cfg      Config
	rng      *rand.Rand
	sizes    []size
	arrivals []time.Time
	number   map[string]int // jobs of each family so far
}

func newDraw(cfg Config, stream uint64) (*draw, error) {
	d := &draw{cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, stream)), number: map[string]int{}}
	switch {
	case cfg.Jobs < 1:
		return nil, fmt.Errorf("workload: %d jobs: want at least 1", cfg.Jobs)
	case cfg.Start.IsZero() || cfg.Span < time.Hour:
		return nil, fmt.Errorf("workload: from %v for %v: want a start and an hour at least", cfg.Start, cfg.Span)
	}
	sizes, err := phillySizes()
	if err != nil {
		return nil, err
	}
	for _, s := range sizes {
		if s.duration <= cfg.Longest {
			d.sizes = append(d.sizes, s)
		}
	}
	if len(d.sizes) == 0 {
		return nil, fmt.Errorf("workload: no job takes %v or less", cfg.Longest)
	}
	d.arrivals, err = d.arrive()
	return d, err
}

// size is how long a job ran, and on how many GPUs.
type size struct {
	duration time.Duration
	gpus     int
}

func (d *draw) size() size { return d.sizes[d.rng.IntN(len(d.sizes))] }

// oneIn is true once in n draws on average.
func (d *draw) oneIn(n int) bool { return d.rng.IntN(n) == 0 }

// pick draws one of the values, all alike.
func pick[T any](d *draw, of ...T) T { return of[d.rng.IntN(len(of))] }

// name numbers the jobs of a family: "LM-7".
func (d *draw) name(family string) planner.JobID {
	d.number[family]++
	return planner.JobID(fmt.Sprintf("%s-%d", family, d.number[family]))
}

// Factors of deadlines over the duration that a job was drawn with: those of
// Gavel's published experiments.
var deadlineFactors = []float64{1.2, 2, 10}

// grace is what a deadline leaves for machines to come up.
const grace = 30 * time.Minute

// deadline of a job that takes duration at the speed it was drawn for.
func (d *draw) deadline(submitted time.Time, duration time.Duration) time.Time {
	factor := pick(d, deadlineFactors...)
	return submitted.Add(grace + time.Duration(factor*float64(duration))).Truncate(time.Minute)
}

// valueOfTime of a job that somebody waits for.
func (d *draw) valueOfTime() pricing.Rate {
	return pick[pricing.Rate](d, 1, 3, 6) * pricing.DollarPerHour
}

// samples is what a job does in duration on replicas accelerators at the speed of
// p, in four digits.
func samples(p throughput.Profile, accelerator string, replicas int, duration time.Duration) (float64, error) {
	perSec, _, ok := p.Speed(accelerator, (replicas+7)/8, replicas)
	if !ok {
		return 0, fmt.Errorf("workload: the speed of %s on %d %s is not known", p.Name(), replicas, accelerator)
	}
	return strconv.ParseFloat(strconv.FormatFloat(math.Ceil(perSec*duration.Seconds()), 'g', 4, 64), 64)
}

// nearest is the size of sizes, ascending, that is nearest to n; the smaller of two.
func nearest(n int, sizes []int) int {
	return slices.MinFunc(sizes, func(a, b int) int { return max(a-n, n-a) - max(b-n, n-b) })
}
