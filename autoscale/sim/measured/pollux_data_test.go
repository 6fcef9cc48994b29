//go:build data

package measured

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/goodfleet/goodfleet/planner/goodput"
)

// traces is the folder of Pollux's measurements.
func traces(t *testing.T) string {
	t.Helper()
	root := os.Getenv("GOODFLEET_DATA")
	if root == "" {
		t.Fatal("GOODFLEET_DATA is not set: it names the folder that the public data were fetched to")
	}
	return filepath.Join(root, "pollux", "traces")
}

// ImageNet at fixed sizes with its best batch: hours as an independent program has them.
func TestImagenetTakesTheKnownHours(t *testing.T) {
	for _, spec := range PolluxSpecs() {
		a, err := Read(os.DirFS(traces(t)), spec)
		if err != nil {
			t.Fatal(err)
		}
		if a.Epochs() != spec.Epochs {
			t.Errorf("%s: %d epochs, want %d", a.Name, a.Epochs(), spec.Epochs)
		}
		if a.Name != "imagenet" {
			continue
		}
		fit, err := goodput.Fit(a.Samples("T4"), goodput.FitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		limits, _ := a.Limits("T4")
		for _, tt := range []struct {
			nodes int
			hours float64
		}{{1, 41.8}, {2, 22.4}, {4, 12.0}, {8, 6.96}, {12, 5.16}, {16, 4.40}} {
			got := a.Hours("T4", tt.nodes, 4*tt.nodes, func(epoch int, last Batch) Batch {
				total := last.Total(4 * tt.nodes)
				if epoch == 0 {
					total = a.M0()
				}
				m := goodput.Model{Theta: fit.Theta, Noise: a.Noise(total, epoch), Limits: limits}
				best, _ := m.Best(goodput.Reject, tt.nodes, 4*tt.nodes)
				return Batch{Atomic: best.Atomic, Accum: best.Accum}
			})
			t.Logf("%2d nodes: %.3f h (known: %g)", tt.nodes, got, tt.hours)
			if math.Abs(got/tt.hours-1) > 0.01 {
				t.Errorf("%d nodes: %.3f h, known are %g", tt.nodes, got, tt.hours)
			}
		}
	}
}
