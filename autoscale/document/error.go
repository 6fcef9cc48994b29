package document

import (
	"fmt"
	"slices"
	"strings"
)

// Error is the first thing in a file that cannot be used.
type Error struct {
	File         string
	Line, Column int    // from 1
	Path         string // "spec.resources.replicas.min"; "" for the document itself
	Reason       string
}

// Error is one line: file:line:column: path: reason. What of the file is in it may
// hold anything: line ends and other control characters are written as escapes.
func (e *Error) Error() string {
	where := fmt.Sprintf("%s:%d:%d: ", e.File, e.Line, e.Column)
	if e.Path != "" {
		where += e.Path + ": "
	}
	return OneLine(where + e.Reason)
}

// Nearest is the known word that was probably meant by word: the same but for
// case, or else the one with the fewest edits, if these are few for its length.
// The first of equals wins. ok is false when none is near.
func Nearest(word string, known []string) (meant string, ok bool) {
	best := len([]rune(word))/3 + 1
	for _, k := range known {
		if strings.EqualFold(k, word) {
			return k, true
		}
		if d := edits([]rune(strings.ToLower(word)), []rune(strings.ToLower(k))); d < best || d == best && !ok {
			best, meant, ok = d, k, true
		}
	}
	return meant, ok
}

// didYouMean is the tail of an error about an unknown word.
func didYouMean(word string, known []string) string {
	if meant, ok := Nearest(word, known); ok {
		return fmt.Sprintf("; did you mean %q?", meant)
	}
	if len(known) == 0 || len(known) > 12 {
		return ""
	}
	return "; known: " + strings.Join(slices.Sorted(slices.Values(known)), ", ")
}

// edits counts the letters to insert, drop, change or swap with their neighbour
// that make a of b (optimal string alignment).
func edits(a, b []rune) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
