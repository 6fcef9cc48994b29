package document

import (
	"fmt"
	"strings"
	"testing"
)

// Names of users go into tags, labels, file names, filters and logs. What could mean
// something else there is refused when it is read, by the place where it stands.
func TestNamesThatMeanSomethingElsewhereAreRefused(t *testing.T) {
	const job = `apiVersion: goodfleet/v1
kind: TrainingJob
metadata: {name: %s, team: %s}
spec:
  work: {samples: 1000}
  resources: {replicas: [1]}
  throughput: {model: "ResNet-18 (batch size 16)"}
`
	if _, err := Decode("jobs.yaml", fmt.Appendf(nil, job, "GPT-L", "Vision")); err != nil {
		t.Fatalf("a plain name is refused: %v", err)
	}
	for _, tt := range []struct{ what, name string }{
		{"a quote", `'a"b'`},
		{"an apostrophe", `"a'b"`},
		{"a new line", `"a\nb"`},
		{"a return", `"a\rb"`},
		{"a zero byte", `"a\0b"`},
		{"an escape sequence", `"a\e[31mb"`},
		{"text that turns round", `"a\u202eb"`},
		{"a look-up of a logger", `"${jndi:ldap://example.org/a}"`},
		{"a shell's command", `"$(reboot)"`},
		{"a back quote", "\"`reboot`\""},
		{"a template of a configuration", `"%{ for }"`},
		{"a path", `"../../etc/passwd"`},
		{"300 characters", strings.Repeat("x", 300)},
		{"nothing", `""`},
	} {
		for _, field := range []string{"name", "team"} {
			t.Run(tt.what+" in "+field, func(t *testing.T) {
				name, team := tt.name, "Vision"
				if field == "team" {
					name, team = "GPT-L", tt.name
				}
				_, err := Decode("jobs.yaml", fmt.Appendf(nil, job, name, team))
				if err == nil {
					t.Fatalf("%s is taken", tt.name)
				}
				text := err.Error()
				if !strings.HasPrefix(text, "jobs.yaml:3:") || !strings.Contains(text, "metadata."+field) {
					t.Errorf("got %q, want the place", text)
				}
				if strings.ContainsAny(text, "\n\r\x00\x1b") || strings.Contains(text, "\u202e") {
					t.Errorf("the error carries the name as it is: %q", text)
				}
			})
		}
	}
}
