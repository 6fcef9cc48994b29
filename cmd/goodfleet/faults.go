package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"time"

	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/provider/fake"
)

// faultsFile is where what went wrong is written.
const faultsFile = "faults.txt"

const (
	// faultsPerDay is how often each kind of fault befalls each cloud in a simulation
	// that draws them. Two a day of each of four dozen kinds is a fault every quarter
	// of an hour: worse than any real cloud, and still a day on which work gets done.
	faultsPerDay = 2
	// faultsAfter is how long after the last submission clouds misbehave.
	faultsAfter = 24 * time.Hour
)

// disturb lets the clouds of a simulation misbehave: by chance if faults is a
// number, the seed that it is drawn from, else as the file of that name says. clouds
// are all that there are, also those that this simulation buys nothing of.
func disturb(faults string, s *sim.Setting, clouds []string) error {
	if faults == "" {
		return nil
	}
	if seed, err := strconv.ParseUint(faults, 10, 64); err == nil {
		if seed == 0 {
			return fmt.Errorf("--faults 0: want a seed of at least 1, or a file")
		}
		last := s.Start
		for _, j := range s.Jobs {
			if j.Submitted.After(last) {
				last = j.Submitted
			}
		}
		s.Faults = fake.Hostile(faultsPerDay, last.Sub(s.Start)+faultsAfter)
		s.Faults.Seed = seed
		return nil
	}
	text, err := readFile(faults)
	if err != nil {
		return fmt.Errorf("--faults %s: want a seed, or a file: %w", faults, err)
	}
	if s.Scenario, err = fake.ParseScenario(faults, string(text)); err != nil {
		return fmt.Errorf("--faults: %w", err)
	}
	if err := s.Scenario.Unheeded(clouds...); err != nil {
		return fmt.Errorf("--faults: %w", err)
	}
	return nil
}

// faultsOf says in words what goes wrong.
func faultsOf(faults string) string {
	if _, err := strconv.ParseUint(faults, 10, 64); err != nil {
		return "what " + filepath.Base(faults) + " says"
	}
	return fmt.Sprintf("each kind of fault %d times a day on each cloud, drawn from seed %s", faultsPerDay, faults)
}

// writeFaults writes a scenario that makes the same things go wrong again.
func writeFaults(w io.Writer, script string) error {
	_, err := io.WriteString(w, "# goodfleet simulate --faults "+faultsFile+" lets this go wrong again.\n"+script)
	return err
}
