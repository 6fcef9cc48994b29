package fake

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/goodfleet/goodfleet/provider"
)

func TestEverySpotTypeTakesTheNearestClass(t *testing.T) {
	laws, err := measuredLaws()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		cloud, name string
		want        class
	}{
		{"aws", "p2.xlarge", class{"aws", "K80", false}},
		{"aws", "p2.8xlarge", class{"aws", "K80", true}},
		{"aws", "p3.2xlarge", class{"aws", "V100", false}},
		{"aws", "p3.16xlarge", class{"aws", "", true}},
		{"aws", "g4dn.xlarge", class{"aws", "T4", false}},
		{"aws", "g5.xlarge", class{"aws", "V100", false}},
		{"aws", "p4d.24xlarge", class{"aws", "", true}},
		{"aws", "p5.4xlarge", class{"aws", "", false}},
		{"aws", "p5.48xlarge", class{"aws", "", true}},
		{"gcp", "n1-standard-8+k80x1", class{"gcp", "K80", false}},
		{"gcp", "n1-standard-16+p100x2", class{"gcp", "P100", false}},
		{"gcp", "n1-standard-8+v100x1", class{"gcp", "V100", false}},
		{"gcp", "a2-highgpu-1g", class{"gcp", "A100", false}},
		{"gcp", "a3-highgpu-8g", class{"gcp", "", true}},
		{"gcp", "g2-standard-4", class{"gcp", "V100", false}},
		{"gcp", "v2-8", class{"gcp", "", true}},
		{"gcp", "v5e-1", class{"gcp", "A100", false}},
	} {
		typ, ok := testCatalogue(t).Lookup(tc.cloud, tc.name)
		if !ok {
			t.Errorf("%s: not in the catalogue", tc.name)
		}
		if got := nearest(laws, tc.cloud, typ); got != tc.want {
			t.Errorf("%s follows %v, want %v", tc.name, got, tc.want)
		}
	}
	for _, typ := range testCatalogue(t).Types() {
		if c := nearest(laws, typ.Cloud, typ); laws[c].Steady() {
			t.Errorf("%s/%s follows %v, which has no law", typ.Cloud, typ.Name, c)
		}
	}
}

func TestOnlyScarceTypesRunShortOnDemand(t *testing.T) {
	for name, want := range map[string]bool{
		"p2.xlarge": false, "p3.2xlarge": false, "p3.8xlarge": false, "g4dn.xlarge": false, "g5.xlarge": false,
		"p3.16xlarge": true, "p4d.24xlarge": true, "p5.48xlarge": true,
	} {
		climate, err := Measured("aws")
		if err != nil {
			t.Fatal(err)
		}
		typ, _ := testCatalogue(t).Lookup("aws", name)
		o := offering("aws", "use1-az1", name, provider.OnDemand)
		if got := !climate.Law(o.Pool(), typ).Steady(); got != want {
			t.Errorf("%s runs short on demand: %v, want %v", name, got, want)
		}
	}
}

// TestBootsAreWhatTheProbersWaited compares the delays with the time between the
// line before a machine's creation in the logs and the line that reports it. A gap
// of a probing pause is no wait.
func TestBootsAreWhatTheProbersWaited(t *testing.T) {
	files, err := filepath.Glob("testdata/availability/*.out.gz")
	if err != nil {
		t.Fatal(err)
	}
	const pause = 9 * time.Minute
	waits := map[class][]float64{}
	for _, file := range files {
		lines := readLog(t, file)
		cloud := filepath.Base(file)[:3]
		for i := 1; i < len(lines); i++ {
			m := createdForm.FindStringSubmatch(lines[i].text)
			if wait := lines[i].at.Sub(lines[i-1].at); m != nil && wait < pause {
				c := class{cloud: cloud, large: cloud == "gcp" && m[2] != "1"}
				waits[c] = append(waits[c], wait.Seconds())
			}
		}
	}
	for c, want := range map[class]float64{{cloud: "aws"}: 33, {cloud: "gcp"}: 45, {cloud: "gcp", large: true}: 229} {
		typ := provider.InstanceType{Cloud: c.cloud, Kind: provider.GPU, Count: 1, Hosts: 1}
		if c.large {
			typ.Count = 8
		}
		mean, sd := stat.MeanStdDev(waits[c], nil)
		boot := measuredBoot(c.cloud, typ)
		if boot.Mean.Seconds() != want || mean < want-1 || mean > want+1 {
			t.Errorf("%v: boots in %v, the probers waited %.1f ± %.1f s in %d launches", c, boot.Mean, mean, sd, len(waits[c]))
		}
	}
}

// week runs a simulated week of n pools: thirty machines, looked after every ten
// minutes and at every event.
func week(tb testing.TB, n int) {
	typ := "p3.2xlarge"
	var sold []provider.Offering
	for i := range n {
		sold = append(sold, offering("aws", fmt.Sprintf("use1-az%d", i), typ, provider.Spot))
	}
	c := newCloud(tb, nil, func(cfg *Config) { cfg.Offerings = sold })
	ctx := context.Background()
	token := 0
	for at := start; at.Before(start.Add(7 * 24 * time.Hour)); at = at.Add(10 * time.Minute) {
		for next, ok := c.NextEvent(); ok && next.Before(at); next, ok = c.NextEvent() {
			c.Advance(next)
			if _, err := c.Interruptions(ctx); err != nil {
				tb.Fatal(err)
			}
		}
		c.Advance(at)
		live := 0
		for _, i := range list(tb, c) {
			if i.Live() {
				live++
			}
		}
		for tries := 0; live < 30 && tries < 20; tries++ {
			token++
			got, _ := c.Launch(ctx, request(fmt.Sprint(token), sold[token%n], min(4, 30-live), 1))
			live += len(got)
		}
	}
}

func BenchmarkWeekOf300Pools(b *testing.B) {
	for b.Loop() {
		week(b, 300)
	}
}
