package workload

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/planner"
)

// drawers are both workloads with the configs that ship.
var drawers = []struct {
	name string
	cfg  Config
	draw func(Config) ([]*planner.Job, error)
}{
	{"gavel week", GavelWeekConfig(), GavelWeek},
	{"today", TodayConfig(), Today},
}

// plain is a job without its curve, whose family says which it is.
func plain(jobs []*planner.Job) []planner.Job {
	bare := make([]planner.Job, len(jobs))
	for i, j := range jobs {
		bare[i] = *j
		bare[i].Curve = nil
	}
	return bare
}

func TestSameConfigSameJobs(t *testing.T) {
	for _, d := range drawers {
		t.Run(d.name, func(t *testing.T) {
			first, err := d.draw(d.cfg)
			if err != nil {
				t.Fatal(err)
			}
			second, err := d.draw(d.cfg)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain(first), plain(second)); diff != "" {
				t.Errorf("two draws differ\n%s", diff)
			}
			d.cfg.Seed++
			other, err := d.draw(d.cfg)
			if err != nil {
				t.Fatal(err)
			}
			if cmp.Equal(plain(first), plain(other)) {
				t.Error("another seed draws the same jobs")
			}
		})
	}
}

func TestEveryJobCanRunAndNamesAreUnique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom(drawers).Draw(t, "workload")
		cfg := Config{
			Seed:    rapid.Uint64().Draw(t, "seed"),
			Jobs:    rapid.IntRange(1, 300).Draw(t, "jobs"),
			Start:   d.cfg.Start.Add(time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "shift"))),
			Span:    time.Duration(rapid.Int64Range(int64(time.Hour), int64(200*time.Hour)).Draw(t, "span")),
			Longest: time.Duration(rapid.Int64Range(int64(time.Hour), int64(1000*time.Hour)).Draw(t, "longest")),
		}
		jobs, err := d.draw(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if len(jobs) != cfg.Jobs {
			t.Fatalf("%d jobs, want %d", len(jobs), cfg.Jobs)
		}
		names := map[planner.JobID]bool{}
		begin := cfg.Start.Truncate(time.Minute)
		for _, j := range jobs {
			if names[j.ID] {
				t.Fatalf("%s is drawn twice", j.ID)
			}
			names[j.ID] = true
			if j.Submitted.Before(begin) || !j.Submitted.Before(cfg.Start.Add(cfg.Span)) {
				t.Fatalf("%s comes at %v, out of the span", j.ID, j.Submitted)
			}
			begin = j.Submitted
			if !(j.Work.Samples > 0) || math.IsInf(j.Work.Samples, 0) {
				t.Fatalf("%s: %g samples", j.ID, j.Work.Samples)
			}
			if !j.Deadline.IsZero() && !j.Deadline.After(j.Submitted) {
				t.Fatalf("%s is late when it is submitted", j.ID)
			}
			accelerator := "V100"
			if d.name == "today" {
				accelerator = reference
			}
			runs := slices.ContainsFunc(j.Resources.Replicas.Sizes(), func(n int) bool {
				_, ok := j.Curve.Speed(accelerator, (n+7)/8, n)
				return ok
			})
			if !runs {
				t.Fatalf("%s runs at none of its sizes on %s", j.ID, accelerator)
			}
		}
	})
}

func TestGavelWeekFollowsThePublishedRules(t *testing.T) {
	cfg := GavelWeekConfig()
	cfg.Jobs = 1000
	jobs, err := GavelWeek(cfg)
	if err != nil {
		t.Fatal(err)
	}
	types, sizes := map[string]int{}, map[int]int{}
	for _, j := range jobs {
		n := j.Resources.Replicas.Set[0]
		types[j.Family]++
		sizes[n]++
		model, ok := gavelModelOf(j.Family)
		if !ok || n > 1 && !model.distributed {
			t.Errorf("%s runs on %d workers", j.Family, n)
		}
		perHour, ok := j.Curve.Speed("V100", 1, n)
		if !ok {
			t.Fatalf("%s: unknown on %d V100", j.ID, n)
		}
		// Four digits of the samples: a rounding of at most 0.05 %.
		if hours := j.Work.Samples / perHour.Goodput; hours < 1-0.001 || hours > cfg.Longest.Hours()*1.001 {
			t.Errorf("%s takes %.3f h on %d V100", j.ID, hours, n)
		}
	}
	if len(types) != 26 {
		t.Errorf("%d job types of 26", len(types))
	}
	// Of the Philly jobs up to 48 h, 80.6 % ran on one GPU, 1.4 % on two, 8.0 % on
	// four and 10.0 % on eight. Four standard deviations of 1,000 draws at most.
	for n, share := range map[int]float64{1: 0.806, 2: 0.014, 4: 0.080, 8: 0.100} {
		want := share * 1000
		if slack := 4 * math.Sqrt(want*(1-share)); math.Abs(float64(sizes[n])-want) > slack {
			t.Errorf("%d jobs on %d workers, want %.0f ± %.0f", sizes[n], n, want, slack)
		}
	}
}

func TestJobsComeByDayAndRarelyOnSunday(t *testing.T) {
	cfg := GavelWeekConfig()
	cfg.Span, cfg.Jobs = 7*24*time.Hour, 1000
	jobs, err := GavelWeek(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var day, night, sunday int
	for _, j := range jobs {
		switch hour := j.Submitted.Hour(); {
		case j.Submitted.Weekday() == time.Sunday:
			sunday++
		case j.Submitted.Weekday() == time.Saturday:
		case hour >= 8 && hour < 18:
			day++
		case hour >= 18 && hour < 23:
		default:
			night++
		}
	}
	// Ten hours at 3 against nine at 1, on five days; a Sunday is 0.4 of 46.5 in 269.7.
	if ratio := float64(day) / float64(night); ratio < 2.5 || ratio > 4.3 {
		t.Errorf("%d jobs by day, %d by night, want about 3.3 times as many", day, night)
	}
	if sunday < 30 || sunday > 110 {
		t.Errorf("%d jobs on Sunday, want about 69", sunday)
	}
}

func TestTodayNamesTPUsOnlyWhereTheProgramWasPorted(t *testing.T) {
	jobs, err := Today(TodayConfig())
	if err != nil {
		t.Fatal(err)
	}
	large, withTPU, elastic := 0, 0, 0
	for _, j := range jobs {
		if j.ID == largeJob {
			large++
		}
		if len(j.Resources.Replicas.Set) > 1 {
			elastic++
		}
		named := slices.ContainsFunc(j.Resources.Accelerators, func(a string) bool { return strings.HasPrefix(a, "TPU") })
		if named {
			withTPU++
		}
		if named && j.Family != "bert-large" && j.Family != "llm-7b" {
			t.Errorf("%s of class %s names a TPU", j.ID, j.Family)
		}
		for _, a := range []string{"T4", "H100", "TPU v5e"} {
			for _, n := range j.Resources.Replicas.Sizes() {
				if speed, ok := j.Curve.Speed(a, 1, n); ok && !speed.Estimated {
					t.Errorf("%s: the speed on %d %s passes for measured", j.ID, n, a)
				}
			}
		}
	}
	if large != 1 || withTPU < 8 || elastic < 20 {
		t.Errorf("%d jobs %s, %d that name TPUs, %d of several sizes", large, largeJob, withTPU, elastic)
	}
}

func TestDrawRefusesWhatCannotBeDrawn(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"no jobs":                   func(c *Config) { c.Jobs = 0 },
		"more jobs than the stream": func(c *Config) { c.Jobs = 1200 },
		"no start":                  func(c *Config) { c.Start = time.Time{} },
		"no span":                   func(c *Config) { c.Span = 0 },
		"shorter than any job":      func(c *Config) { c.Longest = time.Minute },
	} {
		cfg := GavelWeekConfig()
		change(&cfg)
		if _, err := GavelWeek(cfg); err == nil {
			t.Errorf("%s: drawn", name)
		}
	}
}

func ExampleGavelWeek() {
	cfg := GavelWeekConfig()
	cfg.Jobs = 3
	jobs, err := GavelWeek(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, j := range jobs {
		fmt.Printf("%s %s (%s): %s, %.4g samples on %d\n",
			j.Submitted.Format("Mon 15:04"), j.ID, j.Team, j.Family, j.Work.Samples, j.Resources.Replicas.Set)
	}
	// Output:
	// Mon 00:00 ResNet-50-1 (Vision): ResNet-50 (batch size 64), 1.771e+06 samples on [1]
	// Wed 21:41 Transformer-1 (NLP): Transformer (batch size 16), 7.393e+05 samples on [1]
	// Fri 15:37 Recommendation-1 (Recsys): Recommendation (batch size 8192), 1.391e+08 samples on [1]
}
