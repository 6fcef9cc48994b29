package throughput

import (
	"errors"
	"math"
	"testing"
)

func TestPairsAreCompletedByLikeness(t *testing.T) {
	light, heavy := Sharer{"light", 16}, Sharer{"heavy", 64}
	known := []Sharing{
		{light, light, "V100", 1}, {light, heavy, "V100", 0.5}, {heavy, light, "V100", 0.9},
		{light, heavy, "K80", 0.45}, {light, light, "K80", 0.98},
	}
	c, err := CompletePairs(known)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range known {
		if got, sd, ok := c.Estimate(s.Job, s.With, s.Accelerator); !ok || math.Abs(got-s.Share) > 0.05 || sd > 0.05 {
			t.Errorf("%+v: share %g ± %g, ok %v", s, got, sd, ok)
		}
	}
	beside, sd, ok := c.Estimate(light, Sharer{"heavy", 128}, "V100")
	if !ok || beside > 0.75 || sd < 0.02 {
		t.Errorf("beside a heavier batch of what it suffers from: %g ± %g, ok %v", beside, sd, ok)
	}
	for _, at := range []Sharing{{light, Sharer{"new", 1}, "V100", 0}, {Sharer{"new", 1}, light, "V100", 0}, {light, heavy, "H100", 0}} {
		if _, _, ok := c.Estimate(at.Job, at.With, at.Accelerator); ok {
			t.Errorf("%+v was estimated from nothing", at)
		}
	}
}

func TestPairsAreRefused(t *testing.T) {
	if _, err := CompletePairs(nil); err == nil {
		t.Error("a completion of nothing")
	}
	good := Sharing{Sharer{"a", 8}, Sharer{"b", 0}, "V100", 0.5}
	for field, spoil := range map[string]func(s *Sharing){
		"model":       func(s *Sharing) { s.With.Model = "" },
		"batch":       func(s *Sharing) { s.Job.Batch = -1 },
		"accelerator": func(s *Sharing) { s.Accelerator = "" },
		"share":       func(s *Sharing) { s.Share = 0 },
	} {
		bad := good
		spoil(&bad)
		var refused *EntryError
		if _, err := CompletePairs([]Sharing{good, bad}); !errors.As(err, &refused) || refused.Index != 1 || refused.Field != field {
			t.Errorf("error %v, want entry 1, %s", err, field)
		}
	}
	for _, share := range []float64{math.NaN(), -0.5, 1.5, math.Inf(1)} {
		bad := good
		bad.Share = share
		if _, err := CompletePairs([]Sharing{bad}); err == nil {
			t.Errorf("a share of %g was taken", share)
		}
	}
}
