package fake

import (
	"fmt"
	"time"
)

// callFault is a rule that a statement makes.
type callFault struct {
	rule rule // without its times
	span time.Duration
}

// readCall reads what befalls a call:
//
//	CALL [of OFFERING] FAULT [for TIME] [xN]
//
// Without "for" and "xN" it befalls the next call; with "for" alone all within the time.
func readCall(call Call) func(*line) (deed, pattern) {
	return func(l *line) (deed, pattern) {
		if call == ListingCall && l.has("shows") {
			return readShows(l)
		}
		f := &callFault{rule: rule{call: call, of: l.of()}}
		if call != LaunchCall && call != TerminateCall && f.rule.of != "" {
			l.fail("%s: only a launch and a termination are of an offering", call)
		}
		f.read(l, call)
		f.span, f.rule.left = l.span(), l.times()
		switch {
		case f.rule.left > 0:
		case f.span > 0:
			f.rule.left = -1
		default:
			f.rule.left = 1
		}
		return f, f.rule.of
	}
}

// read reads one fault.
func (f *callFault) read(l *line, call Call) {
	r := &f.rule
	refuse := func(set func(*fault)) { r.stage, r.set = refusing, set }
	shape := func(set func(*fault)) { r.stage, r.set = shaping, set }
	listing := call == ListingCall || call == NoticesCall
	switch {
	case l.has("fails"):
		kind := l.kind()
		refuse(func(f *fault) { f.refusal = fmt.Errorf("%w: so the scenario says", kind) })
	case l.has("request", "lost"):
		refuse(func(f *fault) { f.requestLost = true })
	case l.has("hangs", "after"):
		refuse(func(f *fault) { f.hangsAfter = true })
	case l.has("hangs"):
		refuse(func(f *fault) { f.hangs = true })
	case l.has("answer", "lost"):
		refuse(func(f *fault) { f.answerLost = true })
	case call == LaunchCall:
		f.readLaunch(l, shape)
	case call == TerminateCall && l.has("ignored"):
		shape(func(f *fault) { f.ignored = true })
	case call == TerminateCall && l.has("takes"):
		d := l.duration("the time to end", false)
		shape(func(f *fault) { f.takes = d })
	case listing && l.has("lags"):
		d := l.duration("the lag", false)
		shape(func(f *fault) { f.lag = d })
	case listing && l.has("half"):
		shape(func(f *fault) { f.half = true })
	case listing && l.has("twice"):
		shape(func(f *fault) { f.twice = true })
	case (listing || call == QuotasCall) && l.has("empty"):
		shape(func(f *fault) { f.empty = true })
	default:
		w := l.word("what befalls the " + call.String())
		l.fail("%q: nothing of that name befalls a %s", w, call)
	}
}

// readLaunch reads what befalls a launch alone.
func (f *callFault) readLaunch(l *line, shape func(func(*fault))) {
	mark := func(set func(*machine)) { f.rule.stage, f.rule.mark = marking, set }
	part := func(n int, silent bool) {
		shape(func(f *fault) { f.capped, f.most, f.silent = true, n, silent })
	}
	switch {
	case l.has("late"):
		d := l.duration("how late", false)
		shape(func(f *fault) { f.late = d })
	case l.has("partial"):
		part(f.readPart(l), false)
	case l.has("short"):
		part(f.readPart(l), true)
	case l.has("empty", "success"):
		part(0, true)
	case l.has("surplus"):
		n := l.count("the surplus")
		shape(func(f *fault) { f.surplus = n })
	case l.has("boots", "with"):
		n := l.count("the accelerators that work, or the memory")
		if l.has("GiB") {
			mark(func(m *machine) { m.memGiB = float64(n) })
			break
		}
		if l.has("of") {
			f.rule.accelerators = l.count("the accelerators of the type")
			if l.err == nil && f.rule.accelerators <= n {
				l.fail("%d of %d: want a part", n, f.rule.accelerators)
			}
		}
		mark(func(m *machine) { m.accelerators = min(m.accelerators, n) })
	case l.has("boots", "in"):
		d := l.duration("the time to boot", false)
		mark(func(m *machine) { m.boots = m.inst.Launched.Add(d) })
	case l.has("never", "runs"):
		mark(func(m *machine) { m.boots = time.Time{} })
	case l.has("never", "calls", "home"):
		mark(func(m *machine) { m.mute = true })
	default:
		w := l.word("what befalls the launch")
		l.fail("%q: nothing of that name befalls a launch", w)
	}
}

// readPart reads "5" or "5 of 8": the latter befalls only launches of eight.
func (f *callFault) readPart(l *line) int {
	n := l.count("how many come up")
	if l.has("of") {
		f.rule.count = l.count("how many are asked for")
		if l.err == nil && f.rule.count < n {
			l.fail("%d of %d: the part is larger than the whole", n, f.rule.count)
		}
		if l.err == nil && f.rule.count == 0 {
			l.fail("of 0: nobody asks for no machine")
		}
	}
	return n
}

func (f *callFault) fits(c *Cloud) error {
	if f.rule.of == "" {
		return nil
	}
	_, err := f.rule.of.sold(c)
	return err
}

func (f *callFault) begin(c *Cloud, at time.Time) {
	r := f.rule // each repetition counts for itself
	r.from = at
	if f.span > 0 {
		r.until = at.Add(f.span)
	}
	c.rules = append(c.rules, &r)
}
