//go:build data

package throughput

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

var gavelKey = regexp.MustCompile(`^\('([^']*?)(?: \(batch size (\d+)\))?', 1\)$`)

// gavelPairs are the measured pairs of single-accelerator jobs of Gavel's
// published table that fit the memory.
func gavelPairs(t *testing.T) []Sharing {
	t.Helper()
	root := os.Getenv("GOODFLEET_DATA")
	if root == "" {
		t.Fatal("GOODFLEET_DATA is not set: it names the folder that the public data were fetched to")
	}
	f, err := os.Open(filepath.Join(root, "gavel", "gavel", "simulation_throughputs.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var table map[string]map[string]map[string]json.RawMessage
	if err := json.NewDecoder(z).Decode(&table); err != nil {
		t.Fatal(err)
	}
	sharer := func(key string) (Sharer, bool) {
		m := gavelKey.FindStringSubmatch(key)
		if m == nil {
			return Sharer{}, false
		}
		batch, _ := strconv.Atoi(m[2])
		return Sharer{m[1], batch}, true
	}
	var list []Sharing
	for _, accelerator := range []string{"k80", "p100", "v100"} {
		for row, columns := range table[accelerator] {
			job, ok := sharer(row)
			if !ok {
				continue
			}
			var alone float64
			if err := json.Unmarshal(columns["null"], &alone); err != nil || alone <= 0 {
				continue
			}
			for column, text := range columns {
				with, ok := sharer(column)
				var speeds [2]float64
				if !ok || json.Unmarshal(text, &speeds) != nil || speeds[0] <= 0 {
					continue
				}
				list = append(list, Sharing{job, with, accelerator, min(speeds[0]/alone, 1)})
			}
		}
	}
	slices.SortFunc(list, func(a, b Sharing) int {
		return cmp.Or(cmp.Compare(a.Accelerator, b.Accelerator), cmp.Compare(a.Job.Model, b.Job.Model), cmp.Compare(a.Job.Batch, b.Job.Batch),
			cmp.Compare(a.With.Model, b.With.Model), cmp.Compare(a.With.Batch, b.With.Batch))
	})
	return list
}

// Shares of Gavel's pairs are drawn 20 times; the rest is estimated from them. Next
// to it stands the mean of what the job keeps beside all others.
func TestCompletionOfPairs(t *testing.T) {
	all := gavelPairs(t)
	for _, c := range []struct{ share, median, p95 float64 }{{0.1, 0.11, 0.6}, {0.2, 0.085, 0.5}, {0.4, 0.065, 0.4}} {
		var ours, plain []float64
		within, n := 0, 0
		for seed := range uint64(20) {
			order := rand.New(rand.NewPCG(seed, 12)).Perm(len(all))
			split := int(c.share * float64(len(all)))
			var known []Sharing
			sum, count := map[Sharer]float64{}, map[Sharer]float64{}
			for _, i := range order[:split] {
				known = append(known, all[i])
				sum[all[i].Job] += all[i].Share
				count[all[i].Job]++
			}
			completion, err := CompletePairs(known)
			if err != nil {
				t.Fatal(err)
			}
			for k, i := range order[split:] {
				if k%12 != 0 {
					continue // a part of the rest is enough
				}
				s := all[i]
				got, sd, ok := completion.Estimate(s.Job, s.With, s.Accelerator)
				if !ok || count[s.Job] == 0 {
					continue
				}
				ours = append(ours, math.Abs(got/s.Share-1))
				plain = append(plain, math.Abs(sum[s.Job]/count[s.Job]/s.Share-1))
				n++
				if math.Abs(got-s.Share) <= 2*sd {
					within++
				}
			}
		}
		median, p95 := middle(ours, 0.5), middle(ours, 0.95)
		t.Logf("%2.0f %% of %d pairs known: error median %4.1f %%, p95 %5.1f %% (mean of the job: %4.1f %%, %5.1f %%); %.0f %% within two deviations",
			100*c.share, len(all), 100*median, 100*p95, 100*middle(plain, 0.5), 100*middle(plain, 0.95), 100*float64(within)/float64(n))
		if median > c.median || p95 > c.p95 || median >= middle(plain, 0.5) {
			t.Errorf("%g known: errors %.3f and %.3f, want at most %.3f and %.3f", c.share, median, p95, c.median, c.p95)
		}
	}
}
