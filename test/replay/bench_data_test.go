//go:build data

package main

import (
	"os"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/goodfleet/goodfleet/autoscale/sim"
)

// BenchmarkPhillyTrace is a trace of Sia's of 160 jobs that come within 8 h, at rounds of
// a minute, on 64 accelerators of three types. It reports the CPU seconds of a run, of
// which reading the measurements is a part.
func BenchmarkPhillyTrace(b *testing.B) {
	data := os.Getenv("GOODFLEET_DATA")
	if data == "" {
		b.Fatal("GOODFLEET_DATA is not set: it names the folder that the public data were fetched to")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command has it
	for _, scheduler := range []scheduler{{Peer: "srpt"}, {Peer: "srpt", Unknown: true}, {Peer: "sia"}} {
		name := scheduler.Peer
		if scheduler.Unknown {
			name += "-unknown"
		}
		b.Run(name, func(b *testing.B) {
			rounds := int64(0)
			began := cpuSec(b)
			for b.Loop() {
				s, _, err := elasticSetting(data, experiment{Name: name, Cluster: "sia", Workloads: "sia/philly", Scheduler: scheduler}, point{}, 1)
				if err != nil {
					b.Fatal(err)
				}
				out, err := sim.Simulate(b.Context(), s)
				if err != nil {
					b.Fatal(err)
				}
				rounds += out.Rounds
			}
			b.ReportMetric((cpuSec(b)-began)/float64(b.N), "CPU-s/op")
			b.ReportMetric(float64(rounds)/float64(b.N), "rounds/op")
		})
	}
}

// cpuSec is the processor time of this process so far.
func cpuSec(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
