//go:build data

package deadline

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The traces of Wu et al. (github.com/skypilot-org/spot-traces), and the ticks at
// which their simulator starts.
const skypilot = "spot/skypilot"

func readSpot(t *testing.T, path string, into any) {
	t.Helper()
	root := os.Getenv("GOODFLEET_DATA")
	if root == "" {
		t.Fatal("GOODFLEET_DATA is not set: it names the folder that the public data were fetched to")
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// spotTraces reads every trace of a folder by its name: spot is there where as many
// as gang machines are.
func spotTraces(t *testing.T, folder string, gang float64) (list []trace, names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(os.Getenv("GOODFLEET_DATA"), skypilot, folder, "*.json.gz"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %d traces, %v", folder, len(paths), err)
	}
	slices.Sort(paths)
	for _, path := range paths {
		var file struct {
			Metadata struct {
				Gap float64 `json:"gap_seconds"`
			} `json:"metadata"`
			Data []float64 `json:"data"`
		}
		readSpot(t, path, &file)
		zone := make([]bool, len(file.Data))
		for i, n := range file.Data {
			zone[i] = n >= gang
		}
		list = append(list, trace{file.Metadata.Gap / 3600, [][]bool{zone}})
		names = append(names, strings.TrimSuffix(filepath.Base(path), ".json.gz"))
	}
	return list, names
}

// together is one trace of several zones, as long as the shortest.
func together(list []trace) trace {
	all := trace{tick: list[0].tick}
	least := math.MaxInt
	for _, tr := range list {
		least = min(least, len(tr.zones[0]))
	}
	for _, tr := range list {
		all.zones = append(all.zones, tr.zones[0][:least])
	}
	return all
}

// Rates over that of spot: of the study, and from its discounts of 55 and 91 %.
const (
	kV100 = 3.06 / 0.9731
	kR5   = 1 / (1 - 0.55)
	kC3   = 1 / (1 - 0.91)
)

// set is one row of the table: one job on each trace from each start.
type set struct {
	name             string
	traces           []trace
	starts           []int
	work, fraction   float64 // h; work over time
	changeover, rate float64
}

func (s set) at(fraction, changeover float64) set {
	s.fraction, s.changeover = fraction, changeover
	return s
}

func (s set) job(tr *trace) Case {
	return Case{Work: s.work, Time: s.work / s.fraction, Changeover: s.changeover, Tick: tr.tick, Rate: s.rate}
}

// result is the mean over the replays of a set; costs over that of what surely runs.
type result struct {
	cost, sure, spot, starts, hours float64
	late, over                      int // replays that ended late, and that cost more than on demand alone
	each                            []float64
}

func (s set) run(rule Rule) result {
	var r result
	n := float64(len(s.traces) * len(s.starts))
	for i := range s.traces {
		tr, sum := &s.traces[i], 0.0
		for _, from := range s.starts {
			b := replay(tr, from, s.job(tr), rule)
			cost := b.cost / (s.work * s.rate)
			sum += cost
			r.cost += cost / n
			r.sure += b.sure / n
			r.spot += b.spot / n
			r.starts += float64(b.starts) / n
			r.hours += b.finish / n
			if b.late {
				r.late++
			}
			if cost > 1+s.changeover/s.work {
				r.over++
			}
		}
		r.each = append(r.each, sum/float64(len(s.starts)))
	}
	return r
}

// bound is the mean omniscient bound, over the cost of what surely runs.
func (s set) bound() float64 {
	sum := 0.0
	for i := range s.traces {
		for _, from := range s.starts {
			sum += omniscientBound(&s.traces[i], from, s.job(&s.traces[i])) / (s.work * s.rate)
		}
	}
	return sum / float64(len(s.traces)*len(s.starts))
}

func steps(to, by int) (list []int) {
	for at := 0; at <= to; at += by {
		list = append(list, at)
	}
	return list
}

// skypilotSets are all traces that were published, in the settings of the study
// where it has them. Patient's constants
// were chosen on the first four and on r5.
func skypilotSets(t *testing.T) (twoWeeks, twoMonths, gangOf4, nine set, others []set) {
	var starts []int
	readSpot(t, filepath.Join(os.Getenv("GOODFLEET_DATA"), skypilot, "starts-300.json.gz"), &starts)
	if len(starts) != 300 {
		t.Fatalf("%d starts, want 300", len(starts))
	}
	make := func(name, folder string, gang, work, rate float64, starts []int) set {
		list, _ := spotTraces(t, folder, gang)
		return set{name: name, traces: list, starts: starts, work: work, fraction: 0.8, changeover: 0.2, rate: rate}
	}
	twoWeeks = make("two weeks, 8 series", "availability/1-node/aws-10-26-2022", 1, 48, kV100, starts)
	twoMonths = make("two months, 9 zones", "availability/1-node/aws-02-15-2023", 1, 48, kV100, steps(18315, 185))
	gangOf4 = make("gang of 4, 3 zones", "preemption/4-node/aws-08-03-2023", 4, 48, kV100, steps(2475, 25))
	nine = twoMonths
	nine.name, nine.traces = "nine zones as one", []trace{together(twoMonths.traces)}
	others = []set{
		make("gang of 16, 3 zones", "availability/16-node/aws-08-27-2023", 16, 48, kV100, steps(2350, 25)),
		make("V100 held, 4 zones", "preemption/1-node/aws-04-22-2023", 1, 48, kV100, steps(11000, 120)),
		make("r5 held, 3 zones", "preemption/1-node/aws-04-19-2023", 1, 48, kR5, steps(8000, 90)),
		make("c3 held, 4 zones", "preemption/1-node/gcp-04-30-2023", 1, 24, kC3, steps(1500, 15)),
	}
	return twoWeeks, twoMonths, gangOf4, nine, others
}

// TestUniformProgressAsPublished replays the published rules on the published
// traces and holds them against an independent replay of the same study: cost over
// that of on-demand alone, hours of work done on either, starts.
func TestUniformProgressAsPublished(t *testing.T) {
	twoWeeks, twoMonths, gangOf4, _, _ := skypilotSets(t)
	const slack = 0.0025 // the reference rounds to 0.001 and bills the last tick its own way
	for _, tc := range []struct {
		set                     set
		greedy, uniform, oracle float64 // NaN: the reference has none
		sure, spot, starts      float64 // of Uniform Progress
	}{
		{twoWeeks.at(0.6, 0.2), .652, .630, 0, 18.7, 29.3, 27.1},
		{twoWeeks.at(0.7, 0.2), .732, .672, 0, 21.8, 26.2, 23.5},
		{twoWeeks.at(0.8, 0.2), .787, .727, .653, 26.1, 21.9, 18.4},
		{twoWeeks.at(0.9, 0.2), .860, .804, 0, 32.4, 15.6, 11.2},
		{twoWeeks.at(0.8, 0.02), .735, .607, 0, 0, 0, 0},
		{twoWeeks.at(0.8, 0.4), .830, .808, 0, 0, 0, 0},
		{twoMonths.at(0.7, 0.2), .584, .554, 0, 0, 0, 0},
		{twoMonths.at(0.8, 0.2), .649, .595, 0, 0, 0, 0},
		{twoMonths.at(0.9, 0.2), .728, .663, 0, 0, 0, 0},
		{gangOf4.at(0.7, 0.2), .560, .549, 0, 0, 0, 0},
		{gangOf4.at(0.8, 0.2), .606, .586, 0, 0, 0, 0},
		{gangOf4.at(0.9, 0.2), .703, .655, 0, 0, 0, 0},
	} {
		name := fmt.Sprintf("%s at %.1f, d %.2f", tc.set.name, tc.set.fraction, tc.set.changeover)
		greedy, up := tc.set.run(Greedy), tc.set.run(UniformProgress)
		t.Logf("%-32s greedy %.4f (%.3f), Uniform Progress %.4f (%.3f) [%.1f h sure, %.1f h spot, %.1f starts]",
			name, greedy.cost, tc.greedy, up.cost, tc.uniform, up.sure, up.spot, up.starts)
		if greedy.late+up.late > 0 {
			t.Errorf("%s: %d late", name, greedy.late+up.late)
		}
		if math.Abs(greedy.cost-tc.greedy) > slack || math.Abs(up.cost-tc.uniform) > slack {
			t.Errorf("%s: greedy %.4f, want %.3f; Uniform Progress %.4f, want %.3f", name, greedy.cost, tc.greedy, up.cost, tc.uniform)
		}
		if tc.starts > 0 && (math.Abs(up.sure-tc.sure) > 0.15 || math.Abs(up.spot-tc.spot) > 0.15 || math.Abs(up.starts-tc.starts) > 0.25) {
			t.Errorf("%s: %.1f h sure, %.1f h spot, %.1f starts; want %.1f, %.1f, %.1f", name, up.sure, up.spot, up.starts, tc.sure, tc.spot, tc.starts)
		}
		if tc.oracle > 0 {
			bound := tc.set.bound()
			t.Logf("%-32s omniscient bound %.4f (%.3f)", name, bound, tc.oracle)
			if bound > tc.oracle+slack || bound < tc.oracle-0.01 {
				t.Errorf("%s: omniscient bound %.4f, want at most %.3f and near it", name, bound, tc.oracle)
			}
			exact, near := 0.0, 0.0
			for i := range tc.set.traces {
				tr := &tc.set.traces[i]
				c := tc.set.job(tr)
				exact += omniscientExact(tr, tc.set.starts[i], c, 120.0/3600)
				near += omniscientBound(tr, tc.set.starts[i], c)
			}
			t.Logf("%-32s one window of each series: exact %.2f, bound %.2f h of spot", name, exact, near)
			if near > exact+1e-6 || near < 0.99*exact {
				t.Errorf("%s: bound %.3f of an optimum of %.3f", name, near, exact)
			}
		}
	}
	each := twoWeeks.run(UniformProgress).each
	for i, want := range []float64{.360, .674, .565, .908, .889, .741, .713, .964} {
		if math.Abs(each[i]-want) > 0.001 {
			t.Errorf("series %d: %.4f, want %.3f", i, each[i], want)
		}
	}
}

// TestPatientOnRealSpot: no deadline missed, nowhere more than 0.01 above Uniform
// Progress, and nine zones for four tenths of on-demand.
func TestPatientOnRealSpot(t *testing.T) {
	twoWeeks, twoMonths, gangOf4, nine, others := skypilotSets(t)
	var sets []set
	for _, s := range []set{twoWeeks, twoMonths, gangOf4, nine} {
		for _, fraction := range []float64{0.5, 0.6, 0.7, 0.8, 0.9} {
			sets = append(sets, s.at(fraction, 0.2))
		}
	}
	sets = append(sets, twoWeeks.at(0.8, 0.02), twoWeeks.at(0.8, 0.4))
	for _, s := range others {
		sets = append(sets, s.at(0.7, 0.2), s.at(0.8, 0.2), s.at(0.9, 0.2))
	}
	t.Logf("%-22s %4s %5s | %8s %8s %8s %8s | %9s %9s", "cost over on-demand", "C/R", "d h", "greedy", "uniform", "patient", "bound", "starts/h", "uniform and patient over on-demand alone")
	for _, s := range sets {
		greedy, up, own := s.run(Greedy), s.run(UniformProgress), s.run(Patient)
		bound, shown := 0.0, "—"
		if s.fraction == 0.8 { // it takes its time
			bound = s.bound()
			shown = fmt.Sprintf("%.4f", bound)
		}
		t.Logf("%-22s %4.1f %5.2f | %8.4f %8.4f %8.4f %8s | %9.3f %4d %4d", s.name, s.fraction, s.changeover,
			greedy.cost, up.cost, own.cost, shown, own.starts/own.hours, up.over, own.over)
		name := fmt.Sprintf("%s at %.1f", s.name, s.fraction)
		if greedy.late+up.late+own.late > 0 {
			t.Errorf("%s: late: greedy %d, Uniform Progress %d, Patient %d", name, greedy.late, up.late, own.late)
		}
		if own.cost > up.cost+0.01 {
			t.Errorf("%s: Patient costs %.4f, Uniform Progress %.4f", name, own.cost, up.cost)
		}
		if own.cost < bound {
			t.Errorf("%s: Patient costs %.4f, less than the bound %.4f", name, own.cost, bound)
		}
		for i := range own.each {
			if own.each[i] > up.each[i]+0.01 {
				t.Logf("%s: trace %d: Patient costs %.4f, Uniform Progress %.4f", name, i, own.each[i], up.each[i])
				if s.fraction == 0.8 && s.changeover == 0.2 { // the setting of the study
					t.Errorf("%s: trace %d: more than 0.01 above Uniform Progress", name, i)
				}
			}
		}
		if s.name == nine.name && s.fraction == 0.8 && own.cost > 0.40 {
			t.Errorf("%s: %.4f of on-demand, want at most 0.40", name, own.cost)
		}
	}
}
