package pricing

import (
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

var checkDay = time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)

// row makes a quote of a price file.
func row(line int, typ, zone string, m provider.Market, rate string, at time.Time) FileQuote {
	r, err := ParseRate(rate)
	if err != nil {
		panic(err)
	}
	return FileQuote{File: "prices.csv", Line: line, Quote: Quote{
		Offering: provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: zone, Type: typ, Market: m},
		Rate:     r, At: at, Source: "test",
	}}
}

func TestCheckerPutsAsideWhatIsFarFromWhatIsKnown(t *testing.T) {
	embedded, err := EmbeddedBook()
	if err != nil {
		t.Fatal(err)
	}
	last, err := NewBook(checkDay, []Quote{
		row(0, "p9.huge", "use1-az1", provider.Spot, "10", checkDay).Quote,
		row(0, "p9.huge", "use1-az1", provider.OnDemand, "40", checkDay).Quote,
		row(0, "p9.lone", "use1-az1", provider.Spot, "10", checkDay).Quote,
	})
	if err != nil {
		t.Fatal(err)
	}
	od, spot := provider.OnDemand, provider.Spot
	for _, test := range []struct {
		name string
		row  FileQuote
		want string // part of the reason; "": accepted
	}{
		{"twenty times the last known", row(2, "p9.lone", "use1-az1", spot, "200", checkDay), ""},
		{"over twenty times", row(2, "p9.lone", "use1-az1", spot, "200.000000001", checkDay), "outside 1/20..20 of the last known 10"},
		{"a twentieth", row(2, "p9.lone", "use1-az1", spot, "0.5", checkDay), ""},
		{"under a twentieth", row(2, "p9.lone", "use1-az1", spot, "0.499999999", checkDay), "outside 1/20..20"},
		{"cents for dollars", row(2, "p9.huge", "use1-az1", od, "4000", checkDay), "last known 40"},
		{"spot at on-demand", row(2, "p9.huge", "use1-az1", spot, "40", checkDay), ""},
		{"spot at 120 %", row(2, "p9.huge", "use1-az1", spot, "48", checkDay), ""},
		{"spot over 120 %", row(2, "p9.huge", "use1-az1", spot, "48.01", checkDay), "outside 5..120 % of the on-demand rate 40 in use1-az1"},
		{"spot at 5 %", row(2, "p9.huge", "use1-az1", spot, "2", checkDay), ""},
		{"spot under 5 %", row(2, "p9.huge", "use1-az1", spot, "1.99", checkDay), "outside 5..120 %"},
		{"spot in a zone without list price", row(2, "p9.huge", "use1-az9", spot, "1.99", checkDay), "in us-east-1"},
		{"on-demand at twice the embedded", row(2, "p3.2xlarge", "use1-az9", od, "6.12", checkDay), ""},
		{"on-demand over twice", row(2, "p3.2xlarge", "use1-az9", od, "6.13", checkDay), "outside 1/2..2 of the embedded list price 3.06 in us-east-1"},
		{"on-demand at half", row(2, "p3.2xlarge", "use1-az9", od, "1.53", checkDay), ""},
		{"on-demand under half", row(2, "p3.2xlarge", "use1-az9", od, "1.52", checkDay), "embedded list price"},
		{"a type that nobody knows", row(2, "x1.what", "use1-az1", spot, "123.4", checkDay), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := NewChecker(CheckerConfig{Last: last, Embedded: embedded}).Check([]FileQuote{test.row})
			if test.want == "" {
				if len(v.Accepted) != 1 || len(v.Suspects)+len(v.Refused) != 0 {
					t.Fatalf("verdict %+v, want accepted", v)
				}
				return
			}
			if len(v.Suspects) != 1 || len(v.Accepted)+len(v.Refused) != 0 {
				t.Fatalf("verdict %+v, want a suspect", v)
			}
			s := v.Suspects[0]
			if !strings.Contains(s.Reason, test.want) {
				t.Errorf("reason %q lacks %q", s.Reason, test.want)
			}
			if text := s.Error(); !strings.Contains(text, "prices.csv:2") || !strings.Contains(text, s.ID) {
				t.Errorf("%q names neither row nor id", text)
			}
		})
	}
}

// TestCheckerHoldsRowsAgainstEachOther: a spot row is held against the on-demand
// row of the same file wherever it stands, a later row against the earlier one.
func TestCheckerHoldsRowsAgainstEachOther(t *testing.T) {
	c := NewChecker(CheckerConfig{})
	v := c.Check([]FileQuote{
		row(2, "p9.huge", "use1-az1", provider.Spot, "1", checkDay),
		row(3, "p9.huge", "use1-az1", provider.OnDemand, "40", checkDay),
		row(4, "p9.huge", "use1-az2", provider.Spot, "30", checkDay.Add(time.Hour)),
		row(5, "p9.lone", "use1-az2", provider.Spot, "500", checkDay.Add(time.Hour)),
		row(6, "p9.lone", "use1-az2", provider.Spot, "5", checkDay),
		row(7, "p9.lone", "use1-az2", provider.Spot, "6", checkDay),
	})
	if len(v.Suspects) != 2 || v.Suspects[0].Line != 2 || v.Suspects[1].Line != 5 {
		t.Errorf("suspects %v, want lines 2 (2.5 %% of on-demand) and 5 (100 times)", v.Suspects)
	}
	if len(v.Refused) != 1 || v.Refused[0].Line != 7 || v.Refused[0].Reason != Repeated {
		t.Errorf("refused %v, want line 7 as repeated", v.Refused)
	}
	if len(v.Accepted) != 3 {
		t.Errorf("accepted %v, want lines 3, 4 and 6", v.Accepted)
	}
}

// TestEmbeddedPricesArePlausible holds every embedded quote against the others:
// the few suspects are real and named in the folder's README.
func TestEmbeddedPricesArePlausible(t *testing.T) {
	book, err := EmbeddedBook()
	if err != nil {
		t.Fatal(err)
	}
	var rows []FileQuote
	for i, q := range book.Quotes() {
		rows = append(rows, FileQuote{Quote: q, File: "embedded", Line: i})
	}
	v := NewChecker(CheckerConfig{Embedded: book}).Check(rows)
	for _, s := range v.Suspects {
		t.Error(s.Error())
	}
	for _, r := range v.Refused {
		t.Error(r.Error())
	}
}
