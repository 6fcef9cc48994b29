package fake

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// Scenario is what a cloud is to do at certain instants, read from lines such as
//
//	at 10m pool aws/use1-az1/p3.2xlarge/spot down for 40m
//	at 12m launch fails capacity x3
//
// README.md describes the language. One scenario may serve several clouds: each
// heeds the lines that name offerings of its own, or none.
type Scenario struct {
	statements []statement
}

// statement is a line that could be read.
type statement struct {
	file  string
	line  int
	text  string
	cloud string        // a pattern of cloud names
	at    time.Duration // since the cloud's start
	every time.Duration
	reps  int // how often, every so often
	deed  deed
}

// deed is what a statement does.
type deed interface {
	// fits reports why this cloud cannot do it.
	fits(c *Cloud) error
	// begin puts it in train, from an instant that has not passed. The lock is held.
	begin(c *Cloud, at time.Time)
}

// LineError says what is wrong with one line of a scenario.
type LineError struct {
	File string
	Line int // from 1
	Text string
	Err  error
}

func (e *LineError) Error() string {
	return fmt.Sprintf("%s:%d: %v: %q", e.File, e.Line, e.Err, e.Text)
}

func (e *LineError) Unwrap() error { return e.Err }

// ParseScenario reads a scenario; file names it in errors. A line that cannot be
// read is left out and reported by a *LineError among the joined errors: the
// scenario holds all the others, and is never nil.
func ParseScenario(file, text string) (*Scenario, error) {
	s := &Scenario{}
	var errs []error
	n := 0
	for raw := range strings.Lines(text) {
		n++
		raw = strings.TrimSpace(raw)
		l := newLine(raw)
		if len(l.words) == 0 {
			continue
		}
		st, err := parseStatement(l)
		if err != nil {
			errs = append(errs, &LineError{File: file, Line: n, Text: raw, Err: err})
			continue
		}
		st.file, st.line, st.text = file, n, raw
		s.statements = append(s.statements, st)
	}
	return s, errors.Join(errs...)
}

// String is the text of the scenario without what could not be read. Read again,
// it is the same scenario.
func (s *Scenario) String() string {
	var b strings.Builder
	for _, st := range s.statements {
		b.WriteString(st.text + "\n")
	}
	return b.String()
}

// Unheeded is a *LineError for the first line that none of some clouds would heed: it
// names another one, which may be a slip of the pen. Nil when there is none.
func (s *Scenario) Unheeded(clouds ...string) error {
	for _, st := range s.statements {
		if !slices.ContainsFunc(clouds, func(name string) bool { ok, err := path.Match(st.cloud, name); return ok && err == nil }) {
			return &LineError{File: st.file, Line: st.line, Text: st.text, Err: fmt.Errorf("there is no cloud %q", st.cloud)}
		}
	}
	return nil
}

// maxRepeats bounds how many deeds one line stands for.
const maxRepeats = 10_000

// parseStatement reads
//
//	[at TIME] [every TIME xN] [on CLOUD] DEED
func parseStatement(l *line) (statement, error) {
	st := statement{reps: 1, cloud: "*"}
	if l.has("at") {
		st.at = l.duration("the time after at", false)
	}
	if l.has("every") {
		st.every, st.reps = l.duration("the time after every", false), l.times()
		if l.err == nil && (st.every == 0 || st.reps == 0 || st.reps > maxRepeats) {
			l.fail("every: want a time and how often, as in every 1h x5, %d times at most", maxRepeats)
		}
		if l.err == nil && st.every > (longest-st.at)/time.Duration(st.reps) {
			l.fail("every: want at most twenty years in all")
		}
	}
	if l.has("on") {
		st.cloud = l.word("the cloud after on")
		if _, err := path.Match(st.cloud, ""); l.err == nil && err != nil {
			l.fail("on %s: %w", st.cloud, err)
		}
	}
	verb := l.word("a statement")
	if l.err != nil {
		return st, l.err
	}
	read, known := verbs[verb]
	if !known {
		return st, fmt.Errorf("%q: no statement begins so", verb)
	}
	var of pattern
	st.deed, of = read(l)
	l.end()
	if l.err != nil {
		return st, l.err
	}
	if st.cloud == "*" {
		st.cloud = of.cloud()
	}
	return st, nil
}

// verbs maps the first word of a statement to what reads the rest, and tells which
// offerings it is about.
var verbs = map[string]func(*line) (deed, pattern){
	"call":      readCall(AnyCall),
	"launch":    readCall(LaunchCall),
	"terminate": readCall(TerminateCall),
	"listing":   readCall(ListingCall),
	"notices":   readCall(NoticesCall),
	"quotas":    readCall(QuotasCall),
	"throttle":  readThrottle,
	"limit":     readLimit,
	"pool":      readPool,
	"take":      readTake,
	"fail":      readFail,
	"host":      readHost,
	"protect":   readProtect,
	"hint":      readHint,
	"foreign":   readForeign,
	"block":     readBlock,
	"quota":     readQuota,
	"price":     readPrice,
	"skew":      readSkew,
}

// play puts a scenario in train, its times counted from an instant that has not
// passed. It does all or nothing.
func (c *Cloud) play(s *Scenario, from time.Time) error {
	var mine []statement
	for _, st := range s.statements {
		if ok, _ := path.Match(st.cloud, c.cfg.Name); !ok {
			continue
		}
		if err := st.deed.fits(c); err != nil {
			return &LineError{File: st.file, Line: st.line, Text: st.text, Err: err}
		}
		mine = append(mine, st)
	}
	c.played = append(c.played, &Scenario{statements: mine})
	for _, st := range mine {
		for i := range st.reps {
			st.deed.begin(c, from.Add(st.at+time.Duration(i)*st.every))
		}
	}
	c.happen(c.now)
	return nil
}

// Do lets lines of a scenario happen, their times counted from now. It does all of
// them or, with an error, none.
func (c *Cloud) Do(lines ...string) error {
	s, err := ParseScenario("do", strings.Join(lines, "\n"))
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.play(s, c.now)
}
