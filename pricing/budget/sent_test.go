package budget

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const goodLine = `{"id":"0123456789abcdef0123456789abcdef","to":"ops","sent":"2026-11-30T08:00:00Z","policy":"p","text":"t"}`

// sentFile is a file of notices that were sent, with a text in it.
func sentFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "charges.jsonl.notices")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBrokenFileOfNoticesIsRefusedWithItsLine(t *testing.T) {
	for want, text := range map[string]string{
		":2: is no line of notices that were sent: invalid character": goodLine + "\n]\n" + goodLine + "\n",
		":1: is no line of notices that were sent: EOF":               "\n" + goodLine + "\n",
		":1: is no line of notices that were sent: json: unknown":     `{"id":"c1","account":"job"}` + "\n",
		":1: is no line of notices that were sent: something follows": goodLine + goodLine + "\n",
		`:1: id: "x": want 32 hexadecimal`:                            `{"id":"x","to":"ops"}` + "\n",
		`:2: to: "" is no name`:                                       goodLine + "\n" + strings.Replace(goodLine, "ops", "", 1) + "\n",
		":1: is no line of notices that were sent: invalid":           "notes of mine, which end in no line end",
		":2: is no line of notices that were sent: json: cannot":      goodLine + "\n" + `{"id":"a","to":7}`,
	} {
		path := sentFile(t, text)
		for name, open := range map[string]func(string) (*Sent, error){"read": ReadSent, "open": OpenSent} {
			if _, err := open(path); err == nil || !strings.Contains(err.Error(), path+want) {
				t.Errorf("%s %q: got %v, want %q", name, text, err, want)
			}
		}
		if kept, err := os.ReadFile(path); err != nil || string(kept) != text {
			t.Errorf("%q was changed to %q, %v", text, kept, err)
		}
	}
}

// What a crash may leave at the end is mended where lines are added, at every place at which
// it may have come.
func TestUnfinishedLineIsNotThere(t *testing.T) {
	n := Notice{To: "ops", Policy: "p", Event: "e"}
	line := strings.Replace(goodLine, "0123456789abcdef0123456789abcdef", n.ID(), 1)
	for cut := range len(line) + 1 {
		path := sentFile(t, goodLine+"\n"+line[:cut])
		s, err := OpenSent(path)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if got, want := s.Has(n), cut == len(line); got != want {
			t.Errorf("cut at %d: sent %t, want %t", cut, got, want)
		}
		if err := s.add(n, time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := ReadSent(path)
		if err != nil || !again.Has(n) || len(again.known) != 2 {
			t.Fatalf("cut at %d: %v, knows %v", cut, err, again)
		}
	}
}

func TestFileOfNoticesThatIsNotThereHasNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "absent")
	s, err := ReadSent(path)
	if err != nil || s.Has(Notice{To: "ops"}) {
		t.Errorf("got %v, %v", s, err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("reading it made it: %v", err)
	}
	if _, err := OpenSent(filepath.Join(path, "deeper")); err == nil {
		t.Error("a file in a folder that is not there was opened")
	}
}
