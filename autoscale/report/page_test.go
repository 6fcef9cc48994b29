package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/autoscale/sim"
)

func mustCompare(t testing.TB, outcomes []sim.Outcome) Comparison {
	t.Helper()
	c, err := NewComparison(outcomes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func pageOf(t testing.TB, outcomes []sim.Outcome) string {
	t.Helper()
	var b bytes.Buffer
	page := Page{
		Title: "Week of " + markup, Intro: markup, Facts: []Fact{{markup, markup}}, Sources: []string{"Prices: " + markup},
	}
	if err := mustCompare(t, outcomes).HTML(&b, page); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPageEscapesWhatUsersWrite(t *testing.T) {
	outcomes := syntheticWeek()
	for i := range outcomes {
		outcomes[i].Variant = markup + outcomes[i].Variant
		outcomes[i].Reference = markup
		outcomes[i].JobOutcomes[1].Family, outcomes[i].JobOutcomes[1].Team = markup, markup
		outcomes[i].Series.Fleet[0].Type = markup
		for k := range outcomes[i].Prices {
			outcomes[i].Prices[k].Offering.Zone = markup
		}
	}
	page := pageOf(t, outcomes)
	if at := strings.Index(page, "<b>x"); at >= 0 {
		t.Errorf("a user's text is markup: ...%s...", page[max(0, at-80):at+40])
	}
	if !strings.Contains(page, "&lt;b&gt;x&lt;/b&gt;") {
		t.Error("the user's text is not shown")
	}
}

func TestPageNeedsNothingBesideIt(t *testing.T) {
	page := pageOf(t, syntheticWeek())
	for _, outside := range []string{"http:", "https:", "<script", "<link", "<img", "@import", "src="} {
		if strings.Contains(page, outside) {
			t.Errorf("the page holds %q", outside)
		}
	}
	for _, m := range regexp.MustCompile(`url\(([^)]*)\)`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[1], "#") {
			t.Errorf("the page refers to %s", m[0])
		}
	}
}

// Every picture is a well-formed drawing without the marks of a number that was none.
func TestPicturesAreWellFormed(t *testing.T) {
	empty := sim.Outcome{Variant: "nothing", Reference: "V100", From: from, To: from}
	for name, outcomes := range map[string][]sim.Outcome{"a week": syntheticWeek(), "nothing happened": {empty}} {
		page := pageOf(t, outcomes)
		drawings := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1)
		if len(drawings) < 8 {
			t.Fatalf("%s: %d pictures, want at least 8", name, len(drawings))
		}
		for i, drawing := range drawings {
			decoder := xml.NewDecoder(strings.NewReader(drawing))
			for {
				if _, err := decoder.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s: picture %d: %v", name, i, err)
				}
			}
			if strings.Contains(drawing, "NaN") || strings.Contains(drawing, "Inf") {
				t.Errorf("%s: picture %d holds a number that is none", name, i)
			}
		}
	}
}

func TestPageIsTheSameTwice(t *testing.T) {
	first := pageOf(t, syntheticWeek())
	if second := pageOf(t, syntheticWeek()); second != first {
		t.Error("two pages of the same outcomes differ")
	}
}
