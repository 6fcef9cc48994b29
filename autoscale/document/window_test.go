package document

import (
	"strings"
	"testing"
	"time"
)

const nights = `apiVersion: goodfleet/v1
kind: Config
spec:
  windows:
    - name: nights
      allow: [moves]
      start: "0 1 * * 1"
      for: 4h
      zone: Europe/Berlin
`

func TestWindowsAreReadWithTheirZone(t *testing.T) {
	docs, err := Decode("fleet.yaml", []byte(nights))
	if err != nil {
		t.Fatal(err)
	}
	w, err := docs[0].Config.Spec.Windows[0].Time()
	if err != nil {
		t.Fatal(err)
	}
	if open, _ := w.At(time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)); !open {
		t.Error("closed on Monday at 01:00 in Berlin")
	}
}

func TestWindowsThatCannotBeUsedAreNamedByLine(t *testing.T) {
	for _, tt := range []struct{ old, new, want string }{
		{`"0 1 * * 1"`, `* * *`, "fleet.yaml:7:16: is no YAML: "}, // to YAML an alias, not text
		{`"0 1 * * 1"`, `"* * *"`, `fleet.yaml:7:14: spec.windows[0].start: "* * *" is no schedule: want five fields`},
		{`"0 1 * * 1"`, `"0 1 * * nil"`, `fleet.yaml:7:14: spec.windows[0].start: "0 1 * * nil" is no schedule: day of the week "nil"`},
		{`"0 1 * * 1"`, `"0 1 30 2 *"`, "fleet.yaml:7:14: spec.windows[0].start: \"0 1 30 2 *\" is no schedule: no day is ever like this"},
		{"Europe/Berlin", "Europe/Bonn", `fleet.yaml:9:13: spec.windows[0].zone: zone "Europe/Bonn": want a name such as Europe/Berlin`},
		{"4h", "90s", "fleet.yaml:8:12: spec.windows[0].for: it lasts 1m30s: want whole minutes"},
		{"4h", "8d", "fleet.yaml:8:12: spec.windows[0].for: it lasts 192h0m0s"},
		{"allow: [moves]", "allow: [stops]", "fleet.yaml:6:15: spec.windows[0].allow[0]: "},
		{"allow: [moves]", "allow: [moves]\n      deny: [launches]", "fleet.yaml:5:7: spec.windows[0]: want allow or deny, one of them"},
		{"      allow: [moves]\n", "", "fleet.yaml:5:7: spec.windows[0]: want allow or deny, one of them"},
		{"      zone: Europe/Berlin\n", "    - {name: nights, deny: [moves], start: \"0 1 * * *\", for: 1h}\n", `fleet.yaml:9:14: spec.windows[1].name: "nights" is given twice, first in line 5`},
	} {
		text := strings.Replace(nights, tt.old, tt.new, 1)
		if _, err := Decode("fleet.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got  %v\nwant %s", tt.new, err, tt.want)
		}
	}
}
