package fake

import (
	"bufio"
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// observation is one spell as a prober saw it: its length lies in (lo, hi] hours;
// hi is infinite when the spell was still going on at the end.
type observation struct {
	class  class
	zone   string
	up     bool
	lo, hi float64
}

// visit is one line of a probing log that says something about a slot.
type visit struct {
	at   time.Time
	slot int
	kind visitKind
}

type visitKind uint8

const (
	created visitKind = iota
	running
	gone
	refused
)

// slot is one machine that the prober tried to keep up.
type slot struct {
	class class
	zone  string
}

var (
	lineForm    = regexp.MustCompile(`^\[(\S+)\] (.*)$`)
	createdForm = regexp.MustCompile(`^Created instance (\S+) with (\d+) GPU\(s\) of type (?:nvidia-tesla-)?(\S+) in zone (\S+)$`)
	stateForm   = regexp.MustCompile(`^Instance (\S+) (not )?running in zone (\S+)$`)
	refusedGCP  = regexp.MustCompile(`^Instance (\S+) creation failed$`)
	refusedAWS  = regexp.MustCompile(`^Instance with (\d+) GPU\(s\) of type (\S+) creation failed$`)
)

// endOfProbing is where a log stops to say anything about capacity: 72 hours after
// its start, every slot of this log in all three zones is refused at once and for
// good, which is the end of the experiment and no shortage.
var endOfProbing = map[string]time.Time{
	"gcp_persistent_2020-03-04.out.gz": time.Date(2020, 3, 7, 7, 0, 0, 0, time.UTC),
}

// readObservations reads the spells of all probing logs in testdata.
func readObservations(t *testing.T) []observation {
	t.Helper()
	files, err := filepath.Glob("testdata/availability/*.out.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("probing logs: %v, %d files", err, len(files))
	}
	var all []observation
	for _, file := range files {
		lines := readLog(t, file)
		name := filepath.Base(file)
		if end, cut := endOfProbing[name]; cut {
			for i, l := range lines {
				if l.at.After(end) {
					lines = lines[:i]
					break
				}
			}
		}
		cloud, _, _ := strings.Cut(name, "_")
		slots, visits := readVisits(t, cloud, lines)
		end := lines[len(lines)-1].at
		for i, s := range slots {
			if s.class.cloud == "aws" && s.class.accelerator == "V100" {
				continue // never lost in 2020, see README.md; measured again in 2022
			}
			all = append(all, spellsOf(s, visitsOf(visits, i), end)...)
		}
	}
	// An autoscaling group asks several zones; each of these two counts as one pool.
	all = append(all, readFleetLives(t, "testdata/bamboo/p3-trace.csv.gz", class{"aws", "V100", false}, "group")...)
	all = append(all, readFleetLives(t, "testdata/bamboo/g4dn-trace.csv.gz", class{"aws", "T4", false}, "group")...)
	return all
}

type logLine struct {
	at   time.Time
	text string
}

func readLog(t *testing.T, file string) []logLine {
	t.Helper()
	var lines []logLine
	for _, text := range readGzipLines(t, file) {
		m := lineForm.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		at, err := time.Parse("2006-01-02T15:04:05.000Z", m[1])
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		lines = append(lines, logLine{at, m[2]})
	}
	return lines
}

func readGzipLines(t *testing.T, file string) []string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var lines []string
	scan := bufio.NewScanner(unzipped)
	for scan.Scan() {
		lines = append(lines, scan.Text())
	}
	if err := scan.Err(); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return lines
}

// awsSlots is the order in which the AWS prober visits its machines, as the first
// pass of its log shows. Its refusals name no zone; the order does.
var awsSlots = []slot{
	{class{"aws", "V100", false}, "us-east-1b"}, {class{"aws", "V100", true}, "us-east-1b"},
	{class{"aws", "K80", false}, "us-east-1b"}, {class{"aws", "K80", true}, "us-east-1b"},
	{class{"aws", "V100", false}, "us-east-1c"}, {class{"aws", "V100", true}, "us-east-1c"},
	{class{"aws", "K80", false}, "us-east-1c"}, {class{"aws", "K80", true}, "us-east-1c"},
}

// readVisits says which slot each line speaks of.
func readVisits(t *testing.T, cloud string, lines []logLine) ([]slot, []visit) {
	t.Helper()
	slots := make([]slot, 18) // the GCP prober numbers its machines 0 to 17
	if cloud == "aws" {
		slots = awsSlots
	}
	ofInstance := map[string]int{} // AWS: instance id → slot
	last := len(slots) - 1         // AWS: the slot visited last
	ahead := func(fits func(slot) bool) int {
		for step := 1; step <= len(slots); step++ {
			if i := (last + step) % len(slots); fits(slots[i]) {
				return i
			}
		}
		t.Fatalf("no slot fits a line of the log")
		return 0
	}
	var visits []visit
	for _, l := range lines {
		v := visit{at: l.at}
		var id string
		if m := createdForm.FindStringSubmatch(l.text); m != nil {
			id, v.kind = m[1], created
			count, _ := strconv.Atoi(m[2])
			s := slot{class{cloud, strings.ToUpper(m[3]), count > 1}, m[4]}
			if cloud == "aws" {
				ofInstance[id] = ahead(func(other slot) bool { return other == s })
			} else {
				slots[gcpSlot(t, id)] = s
			}
		} else if m := stateForm.FindStringSubmatch(l.text); m != nil {
			id, v.kind = m[1], running
			if m[2] != "" {
				v.kind = gone
			}
		} else if m := refusedGCP.FindStringSubmatch(l.text); m != nil {
			id, v.kind = m[1], refused
		} else if m := refusedAWS.FindStringSubmatch(l.text); m != nil {
			v.kind = refused
			c := class{cloud, strings.ToUpper(m[2]), m[1] != "1"}
			v.slot = ahead(func(other slot) bool { return other.class == c })
		} else {
			continue // a deletion, or another remark
		}
		if id != "" && cloud == "aws" {
			v.slot = ofInstance[id]
		} else if id != "" {
			v.slot = gcpSlot(t, id)
		}
		last = v.slot
		visits = append(visits, v)
	}
	return slots, visits
}

func gcpSlot(t *testing.T, id string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimPrefix(id, "instance"))
	if err != nil {
		t.Fatalf("instance %q: %v", id, err)
	}
	return n
}

func visitsOf(all []visit, slot int) []visit {
	var own []visit
	for _, v := range all {
		if v.slot == slot {
			own = append(own, v)
		}
	}
	return own
}

// oldPreemptibleLife is what GCP granted a preemptible machine at most in 2020: an
// end at that age is the rule's doing, so the life counts as cut off there.
const oldPreemptibleLife = 24 * time.Hour

// spellsOf turns the visits of one slot into spells. A slot that never got a
// machine tells nothing (most of those ask for what the zone does not have), and
// refusals before the first machine belong to a spell whose start nobody saw.
func spellsOf(s slot, visits []visit, end time.Time) []observation {
	var list []observation
	var start, lastUp, lastRefused, lostAt time.Time
	isUp, isDown := false, false
	hours := func(d time.Duration) float64 { return math.Max(0, d.Hours()) }
	for _, v := range visits {
		switch v.kind {
		case created:
			if isDown {
				o := observation{class: s.class, zone: s.zone, hi: hours(v.at.Sub(lastUp))}
				if !lastRefused.IsZero() {
					o.lo = hours(lastRefused.Sub(lostAt))
				}
				list = append(list, o)
			}
			isUp, isDown, start, lastUp, lastRefused = true, false, v.at, v.at, time.Time{}
		case running:
			lastUp = v.at
		case refused:
			lastRefused = v.at
		case gone:
			if !isUp {
				break
			}
			isUp, isDown, lostAt = false, true, v.at
			o := observation{class: s.class, zone: s.zone, up: true, lo: hours(lastUp.Sub(start)), hi: hours(v.at.Sub(start))}
			if s.class.cloud == "gcp" && v.at.Sub(start) >= oldPreemptibleLife {
				o.hi = math.Inf(1)
				isDown = false // nor is the wait for the next one a shortage
			}
			list = append(list, o)
		}
	}
	switch {
	case isUp:
		list = append(list, observation{class: s.class, zone: s.zone, up: true, lo: hours(lastUp.Sub(start)), hi: math.Inf(1)})
	case isDown:
		o := observation{class: s.class, zone: s.zone, hi: math.Inf(1)}
		if !lastRefused.IsZero() {
			o.lo = hours(lastRefused.Sub(lostAt))
		}
		list = append(list, o)
	}
	return list
}
