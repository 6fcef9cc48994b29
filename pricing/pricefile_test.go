package pricing

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/provider"
)

const priceHeader = "cloud,region,zone,type,market,usd_per_hour,currency,at\n"

func TestReadPricesRefusesRowsByNameAndReadsTheRest(t *testing.T) {
	const good = "aws,us-east-1,use1-az1,p3.2xlarge,spot,0.918,USD,2026-11-29T09:00:00Z\n"
	for _, test := range []struct {
		name, row string
		field     string
		reason    Reason
	}{
		{"empty price", "aws,us-east-1,use1-az1,p3.2xlarge,spot,,USD,", "usd_per_hour", Empty},
		{"zero", "aws,us-east-1,use1-az1,p3.2xlarge,spot,0.000,USD,", "usd_per_hour", Zero},
		{"negative", "aws,us-east-1,use1-az1,p3.2xlarge,spot,-1.5,USD,", "usd_per_hour", Negative},
		{"NaN", "aws,us-east-1,use1-az1,p3.2xlarge,spot,NaN,USD,", "usd_per_hour", NotANumber},
		{"infinite", "aws,us-east-1,use1-az1,p3.2xlarge,spot,+Inf,USD,", "usd_per_hour", Infinite},
		{"too large for a float", "aws,us-east-1,use1-az1,p3.2xlarge,spot,1e999,USD,", "usd_per_hour", Infinite},
		{"sentinel 700", "gcp,us-east1,us-east1-d,v6e-256,spot,700.0,USD,", "usd_per_hour", Sentinel},
		{"sentinel 1e9", "aws,us-east-1,use1-az1,p3.2xlarge,spot,1e9,USD,", "usd_per_hour", Sentinel},
		{"sentinel in digits", "aws,us-east-1,use1-az1,p3.2xlarge,spot,1000000000,USD,", "usd_per_hour", Sentinel},
		{"more than any machine", "aws,us-east-1,use1-az1,p3.2xlarge,spot,1000000,USD,", "usd_per_hour", Sentinel},
		{"foreign currency", "aws,cn-north-1,cnn1-az1,p3.2xlarge,on-demand,28.23,CNY,", "currency", Foreign},
		{"unit in the price", "aws,us-east-1,use1-az1,p3.2xlarge,spot,345 cents,USD,", "usd_per_hour", Unparsable},
		{"exponent", "aws,us-east-1,use1-az1,p3.2xlarge,spot,3.45e0,USD,", "usd_per_hour", Unparsable},
		{"decimal comma", `aws,us-east-1,use1-az1,p3.2xlarge,spot,"0,918",USD,`, "usd_per_hour", Unparsable},
		{"ten decimals", "aws,us-east-1,use1-az1,p3.2xlarge,spot,0.9180000001,USD,", "usd_per_hour", Unparsable},
		{"NA", "aws,us-east-1,use1-az1,p3.2xlarge,spot,NA,USD,", "usd_per_hour", Unparsable},
		{"no zone", "aws,us-east-1,,p3.2xlarge,spot,0.9,USD,", "zone", BadOffering},
		{"space in a name", "aws,us-east-1,use1-az1,p3 2xlarge,spot,0.9,USD,", "type", BadOffering},
		{"unknown market", "aws,us-east-1,use1-az1,p3.2xlarge,Spot,0.9,USD,", "market", BadOffering},
		{"market without a list price", "aws,us-east-1,use1-az1,p3.2xlarge,reserved,0.9,USD,", "market", BadOffering},
		{"bad time", "aws,us-east-1,use1-az1,p3.2xlarge,spot,0.9,USD,yesterday", "at", BadTime},
		{"future", "aws,us-east-1,use1-az1,p3.2xlarge,spot,0.9,USD,2027-01-01T00:00:00Z", "at", BadTime},
		{"short row", "aws,us-east-1,use1-az1,p3.2xlarge,spot", "row", Unparsable},
	} {
		t.Run(test.name, func(t *testing.T) {
			quotes, refused, err := ReadPrices("prices.csv", strings.NewReader(priceHeader+good+test.row+"\n"+good), checkDay)
			if err != nil {
				t.Fatal(err)
			}
			if len(quotes) != 2 || len(refused) != 1 {
				t.Fatalf("%d quotes, refused %v; want 2 and 1", len(quotes), refused)
			}
			r := refused[0]
			if r.File != "prices.csv" || r.Line != 3 || r.Field != test.field || r.Reason != test.reason {
				t.Errorf("refusal %v, want prices.csv:3, field %s, %s", r, test.field, test.reason)
			}
			if text := r.Error(); !strings.HasPrefix(text, "prices.csv:3: "+test.field) || strings.Contains(text, "\n") {
				t.Errorf("%q is not one line that names the row", text)
			}
			want := FileQuote{File: "prices.csv", Line: 4, Quote: Quote{
				Offering: provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p3.2xlarge", Market: provider.Spot},
				Rate:     918_000_000, At: checkDay.Add(-time.Hour), Source: "prices.csv:4",
			}}
			if diff := cmp.Diff(want, quotes[1]); diff != "" {
				t.Errorf("row after the refused one (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadPricesNeedsItsColumns(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty file", "", "empty"},
		{"missing column", "cloud,region,zone,type,market\n", `"usd_per_hour" is missing`},
		{"unknown column", "cloud,region,zone,type,market,usd_per_hour,colour\n", `"colour"`},
		{"column twice", "cloud,region,zone,type,market,usd_per_hour,zone\n", `"zone" is there twice`},
		{"broken quoting", priceHeader + "aws,\"x\n", "parse error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := ReadPrices("prices.csv", strings.NewReader(test.text), checkDay)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "prices.csv") {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
	quotes, refused, err := ReadPrices("p", strings.NewReader("\ufeffusd_per_hour,market,type,zone,region,cloud\n1.5,spot,a,b,c,d\n"), checkDay)
	if err != nil || len(refused) != 0 || len(quotes) != 1 || quotes[0].Offering.Cloud != "d" || !quotes[0].At.Equal(checkDay) {
		t.Errorf("columns in another order: %v, %v, %v", quotes, refused, err)
	}
}

// FuzzReadPrices: whatever the bytes, each record is read or refused, never both,
// and what is read can be planned with.
func FuzzReadPrices(f *testing.F) {
	f.Add([]byte(priceHeader + "aws,us-east-1,use1-az1,p3.2xlarge,spot,0.918,USD,2026-11-29T09:00:00Z\n"))
	f.Add([]byte("cloud,region,zone,type,market,usd_per_hour\ngcp,a,b,c,on-demand,700\ngcp,a,b,c,on-demand,1e9\n,,,,,\n"))
	f.Add([]byte("\ufeffcloud,region,zone,type,market,usd_per_hour\r\n\"a\"\"\",b,c,d,spot,.5\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		quotes, refused, err := ReadPrices("f", bytes.NewReader(data), checkDay)
		if err != nil {
			if quotes != nil || refused != nil {
				t.Fatal("rows beside an error")
			}
			return
		}
		reader := csv.NewReader(bytes.NewReader(data))
		reader.FieldsPerRecord = -1
		records, err := reader.ReadAll()
		if err != nil || len(records)-1 != len(quotes)+len(refused) {
			t.Fatalf("%d records, %d read, %d refused, %v", len(records)-1, len(quotes), len(refused), err)
		}
		for _, q := range quotes {
			if err := q.Offering.Validate(); err != nil || q.Rate <= 0 || q.Rate >= maxPrice || q.At.After(checkDay) {
				t.Fatalf("quote %+v cannot be planned with: %v", q, err)
			}
			if back, err := ParseRate(q.Rate.String()); err != nil || back != q.Rate {
				t.Fatalf("rate %d reads back as %d, %v", q.Rate, back, err)
			}
		}
		for _, r := range refused {
			if r.Line < 2 || r.Reason == "" || r.Field == "" {
				t.Fatalf("refusal %+v names no row, field or reason", r)
			}
		}
		v := NewChecker(CheckerConfig{}).Check(quotes)
		if len(v.Accepted)+len(v.Suspects)+len(v.Refused) != len(quotes) {
			t.Fatalf("%d quotes, verdict on %d", len(quotes), len(v.Accepted)+len(v.Suspects)+len(v.Refused))
		}
	})
}
