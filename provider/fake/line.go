package fake

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// line reads the words of one statement. The first thing that is wrong stays in
// err, and everything after it reads as zero.
type line struct {
	words []string
	err   error
}

func newLine(text string) *line {
	words := strings.Fields(text)
	for i, w := range words {
		if strings.HasPrefix(w, "#") {
			words = words[:i]
			break
		}
	}
	return &line{words: words}
}

func (l *line) fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf(format, args...)
	}
}

// word takes the next word.
func (l *line) word(what string) string {
	if l.err != nil {
		return ""
	}
	if len(l.words) == 0 {
		l.fail("%s is missing", what)
		return ""
	}
	w := l.words[0]
	l.words = l.words[1:]
	return w
}

// has takes the next words if they are these.
func (l *line) has(words ...string) bool {
	if l.err != nil || len(l.words) < len(words) {
		return false
	}
	for i, w := range words {
		if l.words[i] != w {
			return false
		}
	}
	l.words = l.words[len(words):]
	return true
}

// need takes a word that must come.
func (l *line) need(word string) {
	if got := l.word(strconv.Quote(word)); l.err == nil && got != word {
		l.fail("%q: want %q", got, word)
	}
}

func (l *line) end() {
	if l.err == nil && len(l.words) > 0 {
		l.fail("%q is too much", strings.Join(l.words, " "))
	}
}

// longest bounds every time in a scenario, well inside time.Duration.
const longest = 20 * 365 * 24 * time.Hour

// duration takes a time such as 90s, 10m or 1h30m; -90s only where signed.
func (l *line) duration(what string, signed bool) time.Duration {
	w := l.word(what)
	if l.err != nil {
		return 0
	}
	d, err := time.ParseDuration(w)
	switch {
	case err != nil:
		l.fail("%s %q: want a time such as 90s, 10m or 1h30m", what, w)
		return 0
	case d < 0 && !signed:
		l.fail("%s %q is negative", what, w)
		return 0
	case d.Abs() > longest:
		l.fail("%s %q: want at most twenty years", what, w)
		return 0
	}
	return d
}

// most bounds every count in a scenario.
const most = 1_000_000

func (l *line) count(what string) int {
	w := l.word(what)
	if l.err != nil {
		return 0
	}
	n, err := strconv.Atoi(w)
	if err != nil || n < 0 || n > most {
		l.fail("%s %q: want a number from 0 to %d", what, w, most)
		return 0
	}
	return n
}

// some takes "all" (negative) or a count.
func (l *line) some(what string) int {
	if l.has("all") {
		return -1
	}
	return l.count(what)
}

// of takes "of" and a pattern; "" when there is none.
func (l *line) of() pattern {
	if !l.has("of") {
		return ""
	}
	return l.pattern()
}

func (l *line) pattern() pattern {
	w := l.word("an offering")
	if l.err != nil {
		return ""
	}
	p, err := parsePattern(w)
	if err != nil {
		l.err = err
	}
	return p
}

// span takes "for" and a time; 0 when there is none.
func (l *line) span() time.Duration {
	if !l.has("for") {
		return 0
	}
	d := l.duration("the time after for", false)
	if l.err == nil && d == 0 {
		l.fail("for 0s: want a time")
	}
	return d
}

// times takes a number of times, "x3"; 0 when there is none.
func (l *line) times() int {
	if l.err != nil || len(l.words) == 0 || !strings.HasPrefix(l.words[0], "x") {
		return 0
	}
	w := l.word("")
	n, err := strconv.Atoi(w[1:])
	if err != nil || n < 1 || n > most {
		l.fail("%q: want x and a number of times, as in x3", w)
		return 0
	}
	return n
}

// warning takes how a loss is announced: "notice 30s", "without notice", or as the
// cloud does (negative).
func (l *line) warning() time.Duration {
	switch {
	case l.has("without", "notice"):
		return 0
	case l.has("notice"):
		return l.duration("the notice", false)
	}
	return -1
}

// kinds are the words of the error kinds.
var kinds = []struct {
	word string
	err  error
}{
	{"capacity", provider.ErrCapacity}, {"quota", provider.ErrQuota}, {"throttled", provider.ErrThrottled},
	{"not-found", provider.ErrNotFound}, {"denied", provider.ErrDenied}, {"invalid", provider.ErrInvalid},
	{"price", provider.ErrPrice}, {"unknown", provider.ErrUnknown}, {"spent", provider.ErrSpent}, {"closed", provider.ErrClosed},
}

func (l *line) kind() error {
	w := l.word("an error kind")
	if l.err != nil {
		return nil
	}
	for _, k := range kinds {
		if k.word == w {
			return k.err
		}
	}
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = k.word
	}
	l.fail("error kind %q: want one of %s", w, strings.Join(words, ", "))
	return nil
}

// KindWord is the word of an error kind in scenarios. ok is false for an error
// that wraps none.
func KindWord(kind error) (word string, ok bool) {
	for _, k := range kinds {
		if errors.Is(kind, k.err) {
			return k.word, true
		}
	}
	return "", false
}
