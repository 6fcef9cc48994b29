//go:build data

package goodput

import (
	"compress/gzip"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// dataDir is a folder of the outside data. A test that needs it fails without it.
func dataDir(t testing.TB, parts ...string) string {
	t.Helper()
	root := os.Getenv("GOODFLEET_DATA")
	if root == "" {
		t.Fatal("GOODFLEET_DATA is not set: it names the folder that the public data were fetched to")
	}
	return filepath.Join(append([]string{root}, parts...)...)
}

// readColumns reads a gzipped CSV of numbers.
func readColumns(t testing.TB, path string) []map[string]float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(z).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]float64
	for _, record := range records[1:] {
		row := make(map[string]float64)
		for i, column := range records[0] {
			if column == "gpu_type" {
				continue
			}
			if row[column], err = strconv.ParseFloat(record[i], 64); err != nil {
				t.Fatalf("%s: %s: %v", path, column, err)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// traceSamples reads the measured step times of one application on one type:
// placements, whose digits are replicas on each node, and larger allocations. The
// time of an accumulation pass is that of a step without its synchronization.
func traceSamples(t testing.TB, dir, suffix string) []Sample {
	t.Helper()
	var samples []Sample
	for _, row := range readColumns(t, filepath.Join(dir, "placements"+suffix+".csv.gz")) {
		s := Sample{AtomicBatch: int(row["local_bsz"]), OptimSec: row["step_time"], AccumSec: row["step_time"] - row["sync_time"]}
		for digits := int(row["placement"]); digits > 0; digits /= 10 {
			s.Nodes++
			s.Replicas += digits % 10
		}
		samples = append(samples, s)
	}
	for _, row := range readColumns(t, filepath.Join(dir, "scalability"+suffix+".csv.gz")) {
		samples = append(samples, Sample{
			Nodes: int(row["num_nodes"]), Replicas: int(row["num_replicas"]), AtomicBatch: int(row["local_bsz"]),
			OptimSec: row["step_time"], AccumSec: row["step_time"] - row["sync_time"],
		})
	}
	return samples
}

// publishedFits are the best fits known to all T4 measurements, and their mean
// absolute relative errors.
var publishedFits = []struct {
	app   string
	theta Theta
	err   float64
}{
	{"bert", Theta{0.175669, 0.058573, 1.39723, 0.00861384, 0.264203, 0.0131247, 1.8417}, 0.076},
	{"cifar10", Theta{0.0177558, 0.000697279, 0.127683, 0.00260499, 0.0342043, 0.00164814, 2.23263}, 0.079},
	{"deepspeech2", Theta{0.31279, 0.0234421, 0.50447, 0.00974484, 0.108202, 0.0045088, 1.47528}, 0.089},
	{"imagenet", Theta{0.0643772, 0.00448954, 0.320329, 0.0061822, 0.0750724, 0.00087338, 2.4819}, 0.081},
	{"ncf", Theta{0.00708677, 5.70891e-7, 0.0147409, 0.000546998, 0.00372589, 0.00056156, 1.0}, 0.105},
	{"yolov3", Theta{0.246339, 0.0151646, 0.781398, 0.00998754, 0.121923, 0.0261906, 1.16913}, 0.108},
}

func pollux(t testing.TB, app string) []Sample {
	samples := MergeSamples(traceSamples(t, dataDir(t, "pollux", "traces", app), ""))
	if app != "yolov3" {
		return samples
	}
	var small []Sample // the published simulator stops at 8
	for _, s := range samples {
		if s.AtomicBatch <= 8 {
			small = append(small, s)
		}
	}
	return small
}

func TestFitsOfT4Measurements(t *testing.T) {
	for _, p := range publishedFits {
		samples := pollux(t, p.app)
		res, err := Fit(samples, FitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		was, _ := Objective(p.theta, samples)
		t.Logf("%-12s rows %4d  J %.5f (published %.5f)  error %.1f %% (published %.1f %%)  %v, %d steps", p.app, len(samples), res.Objective, was,
			100*res.MeanError, 100*p.err, res.Status, res.Steps)
		if res.Objective > was*(1+1e-6) || math.IsNaN(res.Objective) {
			t.Errorf("%s: J %.6f, want at most the published %.6f", p.app, res.Objective, was)
		}
		if p.app == "bert" && res.Objective > 0.1495 {
			t.Errorf("bert: J %.5f, want at most 0.1495", res.Objective)
		}
	}
}
