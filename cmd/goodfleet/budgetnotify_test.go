package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

const hookKey = "5f1c0e-key-of-the-hook"

// hookServer is a destination on this machine: it checks signatures, and notes what came.
type hookServer struct {
	*httptest.Server
	answers []int // one each, then 200
	ids     []string
	bodies  []string
}

func newHookServer(t *testing.T, answers ...int) *hookServer {
	h := &hookServer{answers: answers}
	h.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		// As docs/budget.md tells receivers to check it, in words of its own.
		mac := hmac.New(sha256.New, []byte(hookKey))
		fmt.Fprintf(mac, "%s.%s", r.Header.Get("Goodfleet-Time"), body)
		if got, want := r.Header.Get("Goodfleet-Signature"), "sha256="+hex.EncodeToString(mac.Sum(nil)); got != want || r.Method != http.MethodPost {
			t.Errorf("%s with signature %s, want %s", r.Method, got, want)
		}
		h.ids, h.bodies = append(h.ids, r.Header.Get("Goodfleet-Id")), append(h.bodies, string(body))
		code := http.StatusOK
		if len(h.answers) > 0 {
			code, h.answers = h.answers[0], h.answers[1:]
		}
		w.Header().Set("Retry-After", "0")
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(code)
	}))
	t.Cleanup(h.Close)
	return h
}

// hookFolder has a ledger in which 60 of 100 USD are spent, a policy that warns ops at 50,
// and settings of destinations.
type hookFolder struct {
	t      *testing.T
	dir    string
	policy string
}

const hookPolicy = `apiVersion: goodfleet/v1
kind: BudgetPolicy
metadata: {name: vision, owner: o}
spec:
  budget: {amount: 100 USD, per: month}
  steps: [{at: 50%, measure: actual, do: warn}]
  notify: [ops]
`

func newHookFolder(t *testing.T) hookFolder {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	f := hookFolder{t, dir, hookPolicy}
	from := time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	var text bytes.Buffer
	err := ledger.Encode(&text, ledger.Charge{
		ID: "1", Kind: ledger.Usage, Instance: "i-1", Run: 1, Offering: provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p3.2xlarge", Market: provider.OnDemand},
		From: from, To: from.Add(6 * time.Hour), Account: ledger.ToJob, Job: "run-1", Team: "Vision", Share: 1, Of: 1,
		Rate: pricing.RateOf(10), Known: true, Amount: 60 * pricing.Dollar,
	})
	if err != nil {
		t.Fatal(err)
	}
	f.write("charges.jsonl", text.String())
	f.write("hook.key", hookKey+"\n")
	return f
}

func (f hookFolder) path(name string) string { return filepath.Join(f.dir, name) }

func (f hookFolder) write(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(f.path(name), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// destination is that of a server, with more fields after it.
func (f hookFolder) destination(name string, h *hookServer, more string) string {
	ca := name + ".pem"
	f.write(ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})))
	return fmt.Sprintf("{name: %s, url: %q, caFile: %q, %s}", name, h.URL, f.path(ca), more)
}

// of the key in the folder, and allowed to be of this machine.
func (f hookFolder) allowed() string {
	return fmt.Sprintf("secretFile: %q, allowPrivate: true", f.path("hook.key"))
}

// status runs the command, and wants of an error that it is one line which tells no secret.
func (f hookFolder) status(destinations []string, words ...string) (code int, out, errs string) {
	f.t.Helper()
	f.write("policies.yaml", f.policy)
	f.write("goodfleet.yaml", "apiVersion: goodfleet/v1\nkind: Config\nspec:\n  destinations: ["+strings.Join(destinations, ", ")+"]\n")
	args := []string{"budget", "status", "--config", f.path("goodfleet.yaml"), "--budgets", f.path("policies.yaml"), "--ledger", f.path("charges.jsonl"), "--now", "2026-11-20T00:00:00Z"}
	var stdout, stderr bytes.Buffer
	code = run(f.t.Context(), append(args, words...), streams{strings.NewReader(""), &stdout, &stderr})
	out, errs = stdout.String(), stderr.String()
	if strings.Contains(out+errs, hookKey) {
		f.t.Errorf("the secret is told: %s%s", out, errs)
	}
	if code == exitError && (out != "" || !isOneLine(errs)) {
		f.t.Errorf("an error prints %q and %q, want one line", out, errs)
	}
	return code, out, errs
}

func TestNotifySendsOnce(t *testing.T) {
	f := newHookFolder(t)
	h := newHookServer(t, http.StatusServiceUnavailable)
	to := []string{f.destination("ops", h, f.allowed())}
	const text = "vision: warn at 50% actual: 60 USD of 100 until 2026-12-01T00:00:00Z\n"
	for _, words := range [][]string{nil, {"--notify", "--dry-run"}} {
		if code, out, errs := f.status(to, words...); code != exitDone || !strings.Contains(out, "Due for ops: "+text) {
			t.Errorf("%v: exit code %d, %s%s", words, code, out, errs)
		}
	}
	if len(h.ids) > 0 {
		t.Fatalf("%d notices came before they were to be sent", len(h.ids))
	}
	if code, out, errs := f.status(to, "--notify"); code != exitDone || !strings.Contains(out, "Sent to ops: "+text) {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
	if len(h.ids) != 2 || h.ids[0] != h.ids[1] || h.bodies[0] != h.bodies[1] {
		t.Errorf("came with ids %v, want one twice, as the first was answered with 503", h.ids)
	}
	if want := `{"id":"` + h.ids[0] + `","policy":"vision","action":"warn","at":"2026-11-20T00:00:00Z","text":"vision: warn at 50% actual: 60 USD of 100 until 2026-12-01T00:00:00Z"}`; h.bodies[0] != want {
		t.Errorf("body %s\nwant %s", h.bodies[0], want)
	}
	for _, words := range [][]string{nil, {"--notify"}, {"--notify", "--now", "2026-11-21T00:00:00Z"}, {"-o", "json"}} {
		code, out, errs := f.status(to, words...)
		if code != exitDone || strings.Contains(out, "for ops") || strings.Contains(out, "to ops") || words != nil && words[0] == "-o" && !strings.Contains(out, `"notices": []`) {
			t.Errorf("%v once more: exit code %d, %s%s", words, code, out, errs)
		}
	}
	if len(h.ids) != 2 {
		t.Errorf("%d came after the first was taken", len(h.ids)-2)
	}
}

func TestNotifyTriesAgainWhatFailedAndSendsTheRest(t *testing.T) {
	f := newHookFolder(t)
	f.policy = strings.Replace(hookPolicy, "[ops]", "[ops, finance]", 1)
	ops, finance := newHookServer(t, http.StatusForbidden), newHookServer(t)
	t.Setenv("HOOK_KEY", hookKey)
	to := []string{f.destination("ops", ops, f.allowed()), f.destination("finance", finance, "secretVariable: HOOK_KEY, allowPrivate: true")}
	code, _, errs := f.status(to, "--notify")
	if want := "goodfleet: 1 of 2 notices are not sent, and due again: notice to ops: it answers 403 Forbidden\n"; code != exitError || errs != want {
		t.Errorf("exit code %d, %q, want %q", code, errs, want)
	}
	code, out, errs := f.status(to, "--notify")
	if code != exitDone || !strings.Contains(out, "Sent to ops: ") || strings.Contains(out, "Sent to finance: ") {
		t.Errorf("the second time: exit code %d, %s%s", code, out, errs)
	}
	if len(ops.ids) != 2 || ops.ids[0] != ops.ids[1] || !slices.Equal(finance.ids, ops.ids[:1]) {
		t.Errorf("ops has %v, finance %v", ops.ids, finance.ids)
	}
}

func TestNotifyFollowsNoRedirectAndCallsNoPrivateAddress(t *testing.T) {
	for name, c := range map[string]struct {
		allow bool
		want  string
		came  int
	}{
		"redirect":        {true, "notice to ops: it answers 308 Permanent Redirect", 1},
		"private address": {false, "127.0.0.1 is not of the public internet", 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newHookFolder(t)
			h := newHookServer(t, http.StatusPermanentRedirect)
			to := f.destination("ops", h, fmt.Sprintf("secretFile: %q, allowPrivate: %t", f.path("hook.key"), c.allow))
			if code, _, errs := f.status([]string{to}, "--notify"); code != exitError || !strings.Contains(errs, c.want) {
				t.Errorf("exit code %d, %s, want %q", code, errs, c.want)
			}
			if len(h.ids) != c.came {
				t.Errorf("%d came, want %d", len(h.ids), c.came)
			}
		})
	}
}

// What is wrong is found before anything is sent, and named with its file and field; what
// only looks sends nothing and needs no secret.
func TestNotifyFindsWhatIsWrongBeforeItSends(t *testing.T) {
	good := strings.Repeat("0123456789abcdef", 2)
	for name, c := range map[string]struct {
		spoil func(f *hookFolder, to []string)
		words []string
		want  string
	}{
		"unknown destination": {func(f *hookFolder, _ []string) { f.policy = strings.Replace(hookPolicy, "[ops]", "[ops, opps]", 1) }, nil,
			`policies.yaml:7:17: spec.notify[1]: there is no destination "opps" in the settings; did you mean "ops"?`},
		"no secret file": {func(f *hookFolder, to []string) { to[0] = strings.Replace(to[0], "hook.key", "gone.key", 1) }, nil,
			"spec.destinations[0].secretFile: DIR/gone.key: no such file or directory"},
		"empty secret": {func(f *hookFolder, _ []string) { f.write("hook.key", "\n") }, nil, "spec.destinations[0].secretFile: DIR/hook.key: is empty"},
		"variable that is not set": {func(f *hookFolder, to []string) {
			to[0] = strings.Replace(to[0], "secretFile: \""+f.path("hook.key")+"\"", "secretVariable: HOOK_KEY_2", 1)
		}, nil, "spec.destinations[0].secretVariable: environment HOOK_KEY_2 is not set, or empty"},
		"variable of a setting": {func(f *hookFolder, to []string) {
			to[0] = strings.Replace(to[0], "secretFile: \""+f.path("hook.key")+"\"", "secretVariable: GOODFLEET_KEY", 1)
		}, nil, "spec.destinations[0].secretVariable: GOODFLEET_KEY: those that begin with GOODFLEET_ are settings"},
		"no certificate": {func(f *hookFolder, to []string) { to[0] = strings.Replace(to[0], "ops.pem", "hook.key", 1) }, nil,
			"spec.destinations[0].caFile: DIR/hook.key: holds no certificate in PEM"},
		"broken file of what was sent": {func(f *hookFolder, _ []string) {
			f.write("charges.jsonl.notices", `{"id":"`+good+`","to":"ops"}`+"\n{\"id\":7}\n")
		}, nil, "notices that were sent: DIR/charges.jsonl.notices:2: is no line of notices"},
		"ledger in its place": {func(f *hookFolder, _ []string) {}, []string{"--sent", "DIR/charges.jsonl"}, "DIR/charges.jsonl:1: is no line of notices that were sent: "},
		"no file to keep it":  {func(f *hookFolder, _ []string) {}, []string{"--sent", os.DevNull}, os.DevNull + ": is no regular file"},
		"secret without end": {func(f *hookFolder, to []string) {
			to[0] = strings.Replace(to[0], f.path("hook.key"), "/dev/zero", 1)
		}, nil, "spec.destinations[0].secretFile: /dev/zero: "},
		"a dry run's folder": {func(f *hookFolder, _ []string) {}, []string{"--dry-run", "--sent", "DIR/gone/sent"}, "DIR/gone: no such file or directory"},
		"no folder for it":   {func(f *hookFolder, _ []string) {}, []string{"--sent", "DIR/gone/sent"}, "DIR/gone/sent: no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newHookFolder(t)
			h := newHookServer(t)
			to := []string{f.destination("ops", h, f.allowed())}
			c.spoil(&f, to)
			words := []string{"--notify"}
			for _, w := range c.words {
				words = append(words, strings.Replace(w, "DIR", f.dir, 1))
			}
			want := strings.ReplaceAll(c.want, "DIR", f.dir)
			if code, _, errs := f.status(to, words...); code != exitError || !strings.Contains(errs, want) {
				t.Errorf("exit code %d, %s, want %q", code, errs, want)
			}
			if len(h.ids) != 0 {
				t.Errorf("%d notices came", len(h.ids))
			}
		})
	}
}

func TestDryRunOfStatusGoesWithNotify(t *testing.T) {
	f := newHookFolder(t)
	if code, _, errs := f.status(nil, "--dry-run"); code != exitError || !strings.Contains(errs, "--dry-run goes with --notify") {
		t.Errorf("exit code %d, %s", code, errs)
	}
	if code, out, errs := f.status(nil); code != exitDone || !strings.Contains(out, "Due for ops: ") {
		t.Errorf("without destinations in the settings: exit code %d, %s%s", code, out, errs)
	}
}

// A question is told while it is open, with an id that stays.
func TestOpenQuestionsAreDue(t *testing.T) {
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	p := &budget.Policy{Name: "p", Approval: &budget.Approval{Above: pricing.RateOf(5)}, Notify: []string{"ops"}}
	open, answered := p.NewQuestion([]string{"a"}, pricing.RateOf(9), now), p.NewQuestion([]string{"b"}, pricing.RateOf(9), now)
	if err := answered.Answer(budget.Approved, "ada", "review", now); err != nil {
		t.Fatal(err)
	}
	snap := &autoscale.Snapshot{Questions: []budget.Question{open, answered}}
	first, later := questionsDue(budget.Policies{p}, snap, now), questionsDue(budget.Policies{p}, snap, now.Add(time.Hour))
	if len(first) != 1 || len(later) != 1 || first[0].ID() != later[0].ID() || first[0].Text != "p: question "+open.ID+": may [a] burn 9 USD/h more?" {
		t.Errorf("due %+v, later %+v", first, later)
	}
}
