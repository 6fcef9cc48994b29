package document_test

import (
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/autoscale/document"
)

func TestWhatIsNoTextIsRefusedByItsPlace(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a byte of no character", "a\xffb", "f:1:2: is no text in UTF-8"},
		{"a byte on another line", "ab\ncd\xc3", "f:2:3: is no text in UTF-8"},
		{"a value of JSON", "{\"jobs\": [{\"id\": 1}, {\"id\": \"\xff\"}]}", "f:1:30: jobs[1].id: is no text in UTF-8"},
		{"a name of JSON", "{\"cluster\": {\"\xfe\": 1}}", "f:1:15: cluster: is no text in UTF-8"},
		{"a value after others", "{\"a\": {\"b\": [1, {\"c\": 2}]}, \"d\": \"\xfe\"}", "f:1:35: d: is no text in UTF-8"},
		{"text that is no JSON", "{\"a\": }\xfe", "f:1:8: is no text in UTF-8"},
		{"half of a pair", `{"jobs": [{"id": "x\ud800"}]}`, "f:1:20: jobs[0].id: holds half of a surrogate pair"},
		{"the other half", `["\udc00"]`, "f:1:3: [0]: holds half of a surrogate pair"},
		{"two first halves", `["\ud83d\ud83d"]`, "f:1:3: [0]: holds half of a surrogate pair"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := document.Text("f", []byte(tt.text)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestTextStaysAsItIs(t *testing.T) {
	for _, text := range []string{"", "plain", "é\u0000\u202e", `{"id": "\ud83d\ude00"}`, `{"id": "\\ud800"}`, `kind: "\ud800" no JSON`, "\uFFFD"} {
		got, err := document.Text("f", []byte("\ufeff"+text))
		if err != nil || string(got) != text {
			t.Errorf("%q becomes %q, %v", text, got, err)
		}
	}
}
