package deadline

// first is what all rules begin with, in this order: a job that is done holds nothing;
// a job on spot stays there until it is lost; a job on nothing whose net is due goes to
// what surely runs, for good, since slack never grows.
func first(c *Case, v View) (m Mode, decided bool) {
	switch {
	case v.Work <= 0:
		return Idle, true
	case v.Mode == Spot && v.There:
		return Spot, true
	case v.Mode != Sure && c.slack(v) < 0:
		return Sure, true
	}
	return v.Mode, false
}

// Greedy takes spot where it is there and waits where it is not, until the net is due.
func Greedy(c *Case, v View) Mode {
	m, decided := first(c, v)
	switch {
	case decided:
		return m
	case v.Mode == Sure:
		return Sure
	case v.There:
		return Spot
	}
	return Idle
}

// UniformProgress keeps a job as far as it would be if it worked evenly up to its
// deadline. A job on nothing takes spot where it is there, and what surely runs where
// it is not and the job is behind. A job on what surely runs goes back to spot when it
// is ahead even of the progress that it should have made two changeovers later; it
// never goes back to waiting.
//
// Wu et al., NSDI 2024, section 4.
func UniformProgress(c *Case, v View) Mode { return uniform(c, v, 2*c.Changeover) }

// UniformProgressPlain is UniformProgress without hysteresis: it goes back to spot as
// soon as it is ahead and has the time.
func UniformProgressPlain(c *Case, v View) Mode { return uniform(c, v, 0) }

func uniform(c *Case, v View, ahead float64) Mode {
	m, decided := first(c, v)
	if decided {
		return m
	}
	done := c.Work - v.Work
	expected := func(in float64) float64 { return (c.Time - v.Time + in) * c.Work / c.Time }
	switch {
	case v.Mode == Sure:
		if v.There && done >= expected(ahead) && c.slack(v) >= 0 {
			return Spot
		}
		return Sure
	case v.There:
		return Spot
	case done < expected(0):
		return Sure
	}
	return Idle
}
