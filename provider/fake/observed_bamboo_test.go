package fake

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
)

// readFleetLives reads the machines of an autoscaling group, "milliseconds,add or
// remove,node" a line, as lives of one pool. Times are to the minute or finer.
func readFleetLives(t *testing.T, file string, c class, zone string) []observation {
	t.Helper()
	const resolution = time.Minute
	started := map[string]time.Duration{}
	var order []string
	var lives []observation
	var now time.Duration
	for _, line := range readGzipLines(t, file) {
		fields := strings.Split(line, ",")
		if len(fields) != 3 {
			continue
		}
		ms, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			t.Fatalf("%s: %q: %v", file, line, err)
		}
		now = time.Duration(ms) * time.Millisecond
		switch node := fields[2]; fields[1] {
		case "add":
			started[node] = now
			order = append(order, node)
		case "remove":
			life := now - started[node]
			delete(started, node)
			lives = append(lives, observation{class: c, zone: zone, up: true,
				lo: max(0, life-resolution).Hours(), hi: (life + resolution).Hours()})
		}
	}
	for _, node := range order {
		if from, alive := started[node]; alive {
			delete(started, node)
			lives = append(lives, observation{class: c, zone: zone, up: true, lo: (now - from).Hours(), hi: math.Inf(1)})
		}
	}
	return lives
}

// countedLosses reads samples of how many machines of a group are alive ("date,
// time, count" a line) and returns the losses between samples and the hours that
// machines were there.
func countedLosses(t *testing.T, file string) (losses int, hours float64) {
	t.Helper()
	var lastAt time.Time
	last := -1
	for _, line := range readGzipLines(t, file) {
		fields := strings.Split(line, ", ")
		if len(fields) != 3 {
			continue
		}
		at, err := time.Parse("2006-01-02 15:04:05", fields[0]+" "+fields[1])
		if err != nil {
			t.Fatalf("%s: %q: %v", file, line, err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(fields[2]))
		if err != nil {
			t.Fatalf("%s: %q: %v", file, line, err)
		}
		if last >= 0 {
			hours += float64(last) * at.Sub(lastAt).Hours()
			losses += max(0, last-n)
		}
		lastAt, last = at, n
	}
	return losses, hours
}
