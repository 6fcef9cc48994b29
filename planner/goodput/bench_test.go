//go:build unix

package goodput

import (
	"syscall"
	"testing"
)

// cpuSeconds is what the process has used so far.
func cpuSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// countCPU reports the CPU time of each operation until the benchmark ends, which
// other load on the machine does not change. It is in microseconds.
func countCPU(b *testing.B) {
	before := cpuSeconds(b)
	b.Cleanup(func() { b.ReportMetric((cpuSeconds(b)-before)/float64(b.N)*1e6, "cpu-µs/op") })
}

func BenchmarkBest(b *testing.B) {
	m := imagenetOnT4()
	countCPU(b)
	for i := range b.N {
		if _, ok := m.Best(Clamp, 4, 9+i%8); !ok {
			b.Fatal("cannot run")
		}
	}
}

func BenchmarkFit(b *testing.B) {
	samples := drawSamples(imagenetOnT4().Theta, 60, 0.05, 1)
	countCPU(b)
	for range b.N {
		if _, err := Fit(samples, FitOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRefit(b *testing.B) {
	samples := drawSamples(imagenetOnT4().Theta, 61, 0.05, 1)
	t, _, err := NewTypeProfile("T4", KindGPU, samples[:60])
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	countCPU(b)
	for range b.N {
		if _, _, err := t.Add(samples[60]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTablesCold(b *testing.B) {
	models := drawModels(10_000, 1)
	b.ResetTimer()
	countCPU(b)
	for range b.N {
		t := NewTables(Clamp, sixtyPlaces())
		for _, m := range models {
			t.Row(m)
		}
	}
}

// BenchmarkTablesNextRound changes the step times of 2 % of the jobs each round.
func BenchmarkTablesNextRound(b *testing.B) {
	models := drawModels(10_000, 1)
	t := NewTables(Clamp, sixtyPlaces())
	for _, m := range models {
		t.Row(m)
	}
	b.ResetTimer()
	countCPU(b)
	for i := range b.N {
		t.NextRound()
		for k := range models {
			if k%50 == i%50 {
				models[k].Theta.AlphaC *= 1.01
			}
			t.Row(models[k])
		}
	}
}
