package document

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What is printed as JSON or YAML steers no terminal, and is read as the value that it was.
func TestDataThatArePrintedSteerNothing(t *testing.T) {
	texts := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\u009b31m", "a\u202eb", "\x7f", "\u2066x\u2069", "\u2028", `\u009b`, "é\x1b", "<&>"}))
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]string{"k" + texts.Draw(t, "key"): strings.ToValidUTF8(texts.Draw(t, "value"), "")}
		var out bytes.Buffer
		if err := JSON(&out, want, "  "); err != nil {
			t.Fatal(err)
		}
		var got map[string]string
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		for k, v := range want {
			if k = strings.ToValidUTF8(k, "\ufffd"); got[k] != v {
				t.Fatalf("%q became %q", want, got)
			}
		}
		yaml, err := YAML(want)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{out.String(), string(yaml)} {
			for _, r := range text {
				if steers(r) && r != '\n' {
					t.Fatalf("%U stands in %q", r, text)
				}
			}
		}
	})
}
