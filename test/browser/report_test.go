//go:build browser

package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// program is what make builds before this test.
const program = "../../bin/goodfleet"

// measured is what probe.js finds out.
type measured struct {
	Title    string   `json:"title"`
	Requests []string `json:"requests"`
	Overflow float64  `json:"overflow"`
	Rows     int      `json:"rows"`
	Empty    int      `json:"empty"`
	Pictures []struct {
		Title   string   `json:"title"`
		Width   float64  `json:"width"`
		Height  float64  `json:"height"`
		Shapes  int      `json:"shapes"`
		Outside []string `json:"outside"`
	} `json:"pictures"`
}

func TestReportInABrowser(t *testing.T) {
	folder := t.TempDir()
	run(t, program, "simulate", "testdata/trace.yaml", "--burn-cap", "30 USD/h", "--out", folder)
	report := filepath.Join(folder, "report.html")
	probed := probe(t, report)
	for _, screen := range []struct {
		name          string
		width, height int
	}{{"desk", 1280, 900}, {"phone", 500, 900}} { // Chromium's window is never narrower than 500
		t.Run(screen.name, func(t *testing.T) {
			dom := chromium(t, "--dump-dom", size(screen.width, screen.height), "file://"+probed)
			checkPage(t, readProbe(t, dom))
			picture := filepath.Join(t.TempDir(), "screen.png")
			chromium(t, "--screenshot="+picture, size(screen.width, screen.height), "file://"+report)
			if n := colours(t, picture); n < 16 {
				t.Errorf("the page shows %d colours: nothing was drawn", n)
			}
		})
	}
}

func checkPage(t *testing.T, m measured) {
	if !strings.Contains(m.Title, "training jobs") {
		t.Errorf("title %q does not say what it is", m.Title)
	}
	if len(m.Requests) > 0 {
		t.Errorf("the page asks for %q: it is not one file", m.Requests)
	}
	if m.Overflow > 0 {
		t.Errorf("the page is %g pixels wider than the screen", m.Overflow)
	}
	if m.Rows < 8 { // goodfleet and one baseline at three rates of interruptions, two baselines at one
		t.Errorf("%d rows of the comparison, want at least 8", m.Rows)
	}
	if m.Empty > 0 {
		t.Errorf("%d empty cells: what is not known is a dash", m.Empty)
	}
	if len(m.Pictures) < 3 {
		t.Errorf("%d pictures, want those of fleet, spend and times at least", len(m.Pictures))
	}
	for _, p := range m.Pictures {
		if p.Width < 200 || p.Height < 80 || p.Shapes < 5 {
			t.Errorf("%s: %g × %g pixels with %d shapes: not drawn", p.Title, p.Width, p.Height, p.Shapes)
		}
		if len(p.Outside) > 0 {
			t.Errorf("%s: %q lie outside the picture", p.Title, p.Outside)
		}
	}
}

// probe is a copy of the page that measures itself.
func probe(t *testing.T, report string) string {
	t.Helper()
	page, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/probe.js")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(page, []byte("<script")) {
		t.Error("the report has a script: it has to print and to be mailed")
	}
	page = bytes.Replace(page, []byte("</body>"), fmt.Appendf(nil, "<script>%s</script></body>", script), 1)
	path := filepath.Join(filepath.Dir(report), "probe.html")
	if err := os.WriteFile(path, page, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

var probeText = regexp.MustCompile(`(?s)<pre id="probe">(.*?)</pre>`)

func readProbe(t *testing.T, dom []byte) measured {
	t.Helper()
	found := probeText.FindSubmatch(dom)
	if found == nil {
		t.Fatalf("the page did not measure itself: %.500s", dom)
	}
	var m measured
	if err := json.Unmarshal([]byte(html.UnescapeString(string(found[1]))), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func size(width, height int) string { return fmt.Sprintf("--window-size=%d,%d", width, height) }

// chromium runs the browser once, without a screen, a network or a profile.
func chromium(t *testing.T, args ...string) []byte {
	t.Helper()
	return run(t, "chromium", append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--hide-scrollbars", "--virtual-time-budget=5000", "--user-data-dir=" + t.TempDir(),
	}, args...)...)
}

func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	var out, problems bytes.Buffer
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, problems.String())
	}
	return out.Bytes()
}

// colours counts the different colours of a picture.
func colours(t *testing.T, path string) int {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	picture, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[[3]uint32]bool{}
	box := picture.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			r, g, b, _ := picture.At(x, y).RGBA()
			seen[[3]uint32{r, g, b}] = true
		}
	}
	return len(seen)
}
