package goodput

import (
	"testing"

	"pgregory.net/rapid"
)

func TestMemoryBoundsTheLocalBatch(t *testing.T) {
	known := Memory{StateGiB: 4, SampleGiB: 0.1}
	for _, c := range []struct {
		name   string
		memory Memory
		memGiB float64
		want   int
		ok     bool
	}{
		{"nothing known", Memory{}, 16, 0, false},
		{"state and samples", known, 16, 104, true}, // (0.9·16 − 4)/0.1
		{"no room for the state", known, 4, 0, true},
		{"half of what failed", Memory{}.Observe(Try{16, 100, false}), 16, 50, true},
		{"half of what failed on more memory", Memory{}.Observe(Try{24, 100, false}), 16, 50, true},
		{"a failure on less memory says nothing", Memory{}.Observe(Try{8, 100, false}), 16, 0, false},
		{"what fitted", Memory{}.Observe(Try{16, 100, false}).Observe(Try{16, 80, true}), 16, 80, true},
		{"what fitted on less memory", Memory{}.Observe(Try{16, 100, false}).Observe(Try{12, 80, true}), 16, 80, true},
		{"what fitted on more memory says nothing", Memory{}.Observe(Try{16, 100, false}).Observe(Try{24, 80, true}), 16, 50, true},
		{"the lowest failure counts", Memory{}.Observe(Try{16, 60, false}).Observe(Try{16, 80, true}), 16, 59, true},
		{"not even one sample", Memory{}.Observe(Try{16, 1, false}), 16, 0, true},
		{"a failure below what was computed", known.Observe(Try{16, 90, false}), 16, 45, true},
		{"more than was computed fitted", known.Observe(Try{16, 120, true}), 16, 120, true},
	} {
		if got, ok := c.memory.MaxLocal(c.memGiB); ok != c.ok || ok && got != c.want {
			t.Errorf("%s: %d, ok %v; want %d, ok %v", c.name, got, ok, c.want, c.ok)
		}
	}
}

// A job whose true bound is not known finds a batch of at least half of it, and
// fails no more often than the range has powers of two.
func TestMemoryIsLearnedInFewFailures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := rapid.IntRange(1, 4096).Draw(t, "bound")
		var m Memory
		batch, failures := 4096, 0
		for range 100 {
			fits := batch <= bound
			m = m.Observe(Try{16, batch, fits})
			if fits {
				break
			}
			if failures++; failures > 12 {
				t.Fatalf("failed %d times, now at %d of %d", failures, batch, bound)
			}
			next, ok := m.MaxLocal(16)
			if !ok || next >= batch {
				t.Fatalf("bound %d, ok %v after %d failed", next, ok, batch)
			}
			batch = next
		}
		if batch > bound || 2*batch+1 < bound {
			t.Fatalf("found %d, %d fits", batch, bound)
		}
	})
}
