package document

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestWhatSteersATerminalIsWrittenAsAnEscape(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a name", "train-7 ü 模型 𝛼 —", "train-7 ü 模型 𝛼 —"},
		{"an escape sequence", "a\x1b[31mb", `a\x1b[31mb`},
		{"a zero", "a\x00b", `a\x00b`},
		{"an end of line", "a\nb\r\tc", `a\nb\r\tc`},
		{"the second set of controls", "a\u009b31m", `a\u009b31m`},
		{"text that turns round", "a\u202eb\u2066c\u061cd", `a\u202eb\u2066c\u061cd`},
		{"line ends of Unicode", "a\u2028b\u2029c\u0085d", `a\u2028b\u2029c\u0085d`},
		{"half a letter", "a\xc3b", `a\xc3b`},
		{"the sign for half a letter", "a\ufffdb", "a\ufffdb"},
		{"nothing", "", ""},
	} {
		if got := OneLine(c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if got, want := Lines("a\tb\n\x1b[2Jc\r\n"), "a\tb\n\\x1b[2Jc\\r\n"; got != want {
		t.Errorf("lines: got %q, want %q", got, want)
	}
}

func TestWhatIsShownSteersNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		got := OneLine(text)
		if strings.ContainsFunc(got, steers) || !utf8.ValidString(got) {
			t.Fatalf("%q of %q", got, text)
		}
		if OneLine(got) != got {
			t.Fatalf("%q of %q is written anew", got, text)
		}
	})
}

func TestComplaintsAreShort(t *testing.T) {
	long := strings.Repeat("x", 500)
	for _, tt := range []struct{ name, text, want string }{
		{"short ones stay", `a "b" c`, `a "b" c`},
		{"a long quote is cut", `column "` + long + `": want "at"`, `column "` + long[:80] + `…": want "at"`},
		{"what is escaped ends no quote", `column "\"` + long + `" there`, `column "\"` + long[:78] + `…" there`},
		{"no part of an escape is left", `"` + long[:79] + `\u202e` + long + `"`, `"` + long[:79] + `…"`},
		{"a quote that does not end", `a "` + long, `a "` + long},
		{"control characters", "a\x1bb", `a\x1bb`},
		{"a long complaint has both ends", strings.Repeat("word ", 400), strings.Repeat("word ", 120) + "… " + strings.Repeat("word ", 40)},
	} {
		if got := Brief(tt.text); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}
