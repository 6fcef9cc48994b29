package document

import (
	"strings"
	"testing"
)

const twoDestinations = `apiVersion: goodfleet/v1
kind: Config
spec:
  destinations:
    - name: ops
      url: https://example.com/hook
      secretFile: hook.key
    - {name: web, url: "https://example.org", secretVariable: WEB_KEY, caFile: ca.pem, allowPrivate: true}
`

func TestDestinationsThatCannotBeUsedAreNamedByLine(t *testing.T) {
	if _, err := Decode("fleet.yaml", []byte(twoDestinations)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ old, new, want string }{
		{"https://example.com/hook", "http://example.com", `fleet.yaml:6:12: spec.destinations[0].url: "http://example.com": want https`},
		{"https://example.com/hook", "https://example.com:99999/hook", `fleet.yaml:6:12: spec.destinations[0].url: "https://example.com:99999/hook": port "99999": want 1 to 65535`},
		{"https://example.com/hook", "https://example.com:0/", `fleet.yaml:6:12: spec.destinations[0].url: "https://example.com:0/": port "0": want 1 to 65535`},
		{"https://example.com/hook", "https://example.com:/", `fleet.yaml:6:12: spec.destinations[0].url: "https://example.com:/": port "": want 1 to 65535`},
		{"https://example.com/hook", "https://:443/", `fleet.yaml:6:12: spec.destinations[0].url: "https://:443/" names no host`},
		{"      secretFile: hook.key\n", "", "fleet.yaml:5:7: spec.destinations[0]: want secretFile or secretVariable, one of them"},
		{"hook.key", "hook.key\n      secretVariable: OPS_KEY", "fleet.yaml:5:7: spec.destinations[0]: want secretFile or secretVariable, one of them"},
		{"WEB_KEY", `"WEB KEY"`, `fleet.yaml:8:63: spec.destinations[1].secretVariable: "WEB KEY": want the name of a variable`},
		{"name: web", "name: ops", `fleet.yaml:8:14: spec.destinations[1].name: "ops" is given twice, first in line 5`},
		{"secretFile: hook.key", "secret: hunter2", "fleet.yaml:7:7: spec.destinations[0].secret: unknown key"},
	} {
		text := strings.Replace(twoDestinations, tt.old, tt.new, 1)
		if _, err := Decode("fleet.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got  %v\nwant %s", tt.new, err, tt.want)
		}
	}
}

func TestFailNotifyFindsThePolicyAndItsPlace(t *testing.T) {
	text := []byte(`apiVersion: goodfleet/v1
kind: BudgetPolicy
metadata: {name: a, owner: o}
spec: {notify: [ops], budget: {amount: 1 USD, per: day}}
---
apiVersion: goodfleet/v1
kind: BudgetPolicy
metadata: {name: b, owner: o}
spec:
  budget: {amount: 1 USD, per: day}
  notify:
    - ops
    - opps
`)
	if err := FailNotify("p.yaml", text, "b", 1, "why"); err == nil || err.Error() != "p.yaml:13:7: spec.notify[1]: why" {
		t.Errorf("got %v", err)
	}
	if err := FailNotify("p.yaml", text, "c", 0, "why"); err != nil {
		t.Errorf("of a policy that is not there: got %v", err)
	}
}
