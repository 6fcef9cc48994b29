package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// sample is a command of a document and what it prints there: "..." are lines left out.
type sample struct {
	command    string
	lines      []string
	from, upTo int // lines of the document
}

// samplesOf finds what a document shows: blocks that are indented and begin with "$ goodfleet".
func samplesOf(text []string) (list []sample) {
	for i := 0; i < len(text); i++ {
		command, ok := strings.CutPrefix(text[i], "    $ goodfleet ")
		if !ok {
			continue
		}
		s := sample{command: command, from: i + 1}
		for i+1 < len(text) && (text[i+1] == "" || strings.HasPrefix(text[i+1], "    ")) {
			i++
			s.lines = append(s.lines, strings.TrimPrefix(text[i], "    "))
		}
		for len(s.lines) > 0 && s.lines[len(s.lines)-1] == "" {
			s.lines = s.lines[:len(s.lines)-1]
		}
		s.upTo = s.from + len(s.lines)
		list = append(list, s)
	}
	return list
}

// of is what the sample shows of what is printed now: as many lines of the beginning and of
// the end as before, and between them as many from that which is likest on.
func (s *sample) of(printed []string) []string {
	if !slices.Contains(s.lines, "...") {
		return printed
	}
	parts := strings.Split("\n"+strings.Join(s.lines, "\n")+"\n", "\n...\n")
	var shown []string
	for k, part := range parts {
		if k > 0 {
			shown = append(shown, "...")
		}
		n, at := 0, 0
		if part = strings.Trim(part, "\n"); part != "" {
			n = strings.Count(part, "\n") + 1
		}
		switch {
		case k == len(parts)-1:
			at = len(printed) - n
		case k > 0:
			at = likest(part, printed)
		}
		if at = max(at, 0); at+n > len(printed) {
			n = len(printed) - at
		}
		shown = append(shown, printed[at:at+n]...)
	}
	return shown
}

// likest is the first of the lines that begin most as a text does.
func likest(text string, lines []string) (at int) {
	most := -1
	for i, line := range lines {
		n := 0
		for n < min(len(line), len(text)) && line[n] == text[n] {
			n++
		}
		if n > most {
			at, most = i, n
		}
	}
	return at
}

// What docs/budget.md shows is what the commands print, and what a destination is sent; with
// -update it is written anew.
func TestBudgetDocumentShowsWhatIsPrinted(t *testing.T) {
	const name = "docs/budget.md"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	hook := newHookServer(t)
	f := newHookFolder(t)
	policies := sampleFiles(t, f)
	f.write("goodfleet.yaml", "apiVersion: goodfleet/v1\nkind: Config\nspec:\n  destinations: ["+f.destination("ops", hook, f.allowed())+"]\n")
	t.Chdir(f.dir)
	print := func(command string) []string {
		var out, errs bytes.Buffer
		run(t.Context(), strings.Fields(command), streams{strings.NewReader(""), &out, &errs})
		return strings.Split(strings.TrimRight(out.String()+errs.String(), "\n"), "\n")
	}
	print("simulate month.yaml --baselines=false")
	text := strings.Split(string(data), "\n")
	samples := samplesOf(text)
	if len(samples) < 9 {
		t.Errorf("%s shows %d commands", name, len(samples))
	}
	for _, s := range slices.Backward(samples) { // so that lines before keep their numbers
		to := "" // whom vision-month tells
		switch {
		case strings.Contains(strings.Join(s.lines, "\n"), "opps"):
			to = "  notify: [opps]\n"
		case strings.Contains(s.command, "--notify"):
			to = "  notify: [ops]\n"
		}
		f.write("policies.yaml", strings.Replace(policies, "  cooldown: 30m\n", "  cooldown: 30m\n"+to, 1))
		shown := s.of(print(s.command))
		if !*update {
			if diff := cmp.Diff(s.lines, shown); diff != "" {
				t.Errorf("%s:%d: what %s prints is not what is shown (-shown +printed):\n%s", name, s.from, s.command, diff)
			}
			continue
		}
		for i, line := range shown {
			shown[i] = strings.TrimRight("    "+line, " ")
		}
		text = slices.Replace(text, s.from, s.upTo, shown...)
	}
	if len(hook.bodies) == 0 {
		t.Fatal("nothing was sent")
	}
	text = sentIn(t, text, hook.ids[0], hook.bodies[0])
	if *update {
		if err := os.WriteFile(path, []byte(strings.Join(text, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// sampleFiles writes the files that the commands of docs/budget.md read, and returns the
// policies.
func sampleFiles(t *testing.T, f hookFolder) string {
	files := map[string]string{}
	for _, script := range []string{"budget", "why"} {
		archive, err := txtar.ParseFile("testdata/script/" + script + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range archive.Files {
			files[script+"/"+x.Name] = string(x.Data)
		}
	}
	for name, of := range map[string]string{"month.yaml": "budget/month.yaml", "typo.yaml": "budget/where.yaml", "nights.yaml": "why/nights-policy.yaml"} {
		f.write(name, files[of])
	}
	data, err := os.ReadFile("docs/policies.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != files["budget/policies.yaml"] {
		t.Error("docs/policies.yaml is not what testdata/script/budget.txtar has")
	}
	return string(data)
}

// sentIn holds the notice that a document shows to one that was sent, or writes it anew.
func sentIn(t *testing.T, text []string, id, body string) []string {
	at := slices.IndexFunc(text, func(line string) bool { return strings.HasPrefix(line, "    Goodfleet-Id: ") })
	from := slices.IndexFunc(text, func(line string) bool { return strings.HasPrefix(line, `    {"id": `) })
	if at < 0 || from < 0 {
		t.Fatal("the document shows no notice")
	}
	upTo := from
	for text[upTo] != "" {
		upTo++
	}
	var sent struct{ ID, Policy, Action, At, Text string }
	if err := json.Unmarshal([]byte(body), &sent); err != nil {
		t.Fatal(err)
	}
	want := []string{
		fmt.Sprintf(`    {"id": %q, "policy": %q, "action": %q,`, sent.ID, sent.Policy, sent.Action),
		fmt.Sprintf(`     "at": %q,`, sent.At),
		fmt.Sprintf(`     "text": %q}`, sent.Text),
	}
	if diff := cmp.Diff(append([]string{text[at]}, text[from:upTo]...), append([]string{"    Goodfleet-Id: " + id}, want...)); diff != "" && !*update {
		t.Errorf("the notice is not what was sent (-shown +sent):\n%s", diff)
	}
	text[at] = "    Goodfleet-Id: " + id
	return slices.Replace(text, from, upTo, want...)
}
