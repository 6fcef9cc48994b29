package pricing

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/provider"
)

// spotEvents is the number of price changes that the replayed catalogue holds.
const spotEvents = 334_983

func history(t testing.TB) *History {
	t.Helper()
	h, err := EmbeddedHistory()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestEverySpotEventIsAccountedFor counts them, each kind apart: 206 empty prices
// and 141 departures of a type from a zone are ends, none was refused.
func TestEverySpotEventIsAccountedFor(t *testing.T) {
	data, err := openEmbedded(spotFile)
	if err != nil {
		t.Fatal(err)
	}
	set := newSeriesSet()
	count, err := readSpotSeries(data, set)
	if err != nil {
		t.Fatal(err)
	}
	if count.events != spotEvents || count.kept+count.ended+len(count.refused) != spotEvents {
		t.Errorf("events %d = kept %d + ended %d + refused %d, want %d", count.events, count.kept, count.ended, len(count.refused), spotEvents)
	}
	if count.kept != 334_636 || count.ended != 206+141 || len(count.refused) != 0 {
		t.Errorf("kept %d, ended %d, refused %d; want 334636, 347, 0", count.kept, count.ended, len(count.refused))
	}
	steps := 0
	for _, s := range set.all {
		steps += len(s.steps)
		if !inOrder(s.steps) {
			t.Errorf("%s is not in order", s.offering)
		}
	}
	if steps != spotEvents || len(set.all) != 523 {
		t.Errorf("%d steps in %d series, want %d in 523", steps, len(set.all), spotEvents)
	}
}

// TestEmbeddedPricesAreAccountedFor: every price cell of every file is kept,
// absent, left out or refused, and the refused ones are the known ones.
func TestEmbeddedPricesAreAccountedFor(t *testing.T) {
	reports, err := EmbeddedReports()
	if err != nil {
		t.Fatal(err)
	}
	refused := map[string]int{}
	for _, r := range reports {
		if r.Prices != r.Kept+r.Absent+r.LeftOut+len(r.Refused) {
			t.Errorf("%s: %d prices, but kept %d, absent %d, left out %d, refused %d", r.File, r.Prices, r.Kept, r.Absent, r.LeftOut, len(r.Refused))
		}
		if r.Source == "" || r.At.IsZero() {
			t.Errorf("%s: no source or day", r.File)
		}
		said := map[string]bool{}
		for _, why := range r.Refused {
			if text := why.Error(); said[text] {
				t.Errorf("%s is said twice", text)
			} else {
				said[text] = true
			}
			refused[r.File+": "+string(why.Reason)]++
		}
	}
	want := map[string]int{
		"aws_ondemand_karpenter_2026-07.csv: foreign currency": 28, // cn-north-1
		"gcp_tpu_prices.csv: repeated":                         4,  // two rows of v4
	}
	if diff := cmp.Diff(want, refused); diff != "" {
		t.Errorf("refusals (-want +got):\n%s", diff)
	}
	unpriced, err := EmbeddedUnpriced()
	if err != nil {
		t.Fatal(err)
	}
	if len(unpriced) != 0 {
		t.Errorf("machines without a part's price: %v", unpriced)
	}
}

func TestEmbeddedRates(t *testing.T) {
	at2023 := time.Date(2023, 6, 1, 0, 0, 0, 0, time.UTC)
	at2024 := time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC)
	at2026 := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	aws := func(zone, typ string, m provider.Market) provider.Offering {
		region := map[string]string{"use1": "us-east-1", "use2": "us-east-2", "usw2": "us-west-2"}[zone[:4]]
		return provider.Offering{Cloud: "aws", Region: region, Zone: zone, Type: typ, Market: m}
	}
	for _, test := range []struct {
		name string
		o    provider.Offering
		at   time.Time
		want string // "": unknown
	}{
		{"list price of 2024, assumed before", aws("use1-az1", "p3.2xlarge", provider.OnDemand), at2023, "3.06"},
		{"not before the type was seen", aws("use1-az5", "p5.48xlarge", provider.OnDemand), at2023, ""},
		{"before the cut of 2025", aws("use1-az5", "p5.48xlarge", provider.OnDemand), at2024, "98.32"},
		{"after it", aws("use1-az5", "p5.48xlarge", provider.OnDemand), at2026, "55.04"},
		{"newest list", aws("use1-az6", "p4d.24xlarge", provider.OnDemand), at2026, "21.957642"},
		{"p5e has no list price", aws("use2-az3", "p5e.48xlarge", provider.OnDemand), at2026, ""},
		{"but a spot price", aws("use2-az3", "p5e.48xlarge", provider.Spot), at2026, "18.7359"},
		{"and none where the cell is empty", aws("use2-az2", "p5e.48xlarge", provider.Spot), at2026, ""},
		{"region in place of an unknown zone", provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "us-east-1", Type: "g6e.xlarge", Market: provider.OnDemand}, at2026, "1.861"},
		{"nothing in yuan", provider.Offering{Cloud: "aws", Region: "cn-north-1", Zone: "cn-north-1", Type: "p3.2xlarge", Market: provider.OnDemand}, at2026, ""},
		// 0.379998 (host) + 2 × 2.48 (GPUs), both of us-central1.
		{"host and GPUs of one region", gcp("n1-standard-8+v100x2", provider.OnDemand), at2023, "5.339998"},
		{"K80 is gone by 2026", gcp("n1-standard-8+k80x1", provider.OnDemand), at2026, ""},
		{"GPU included", gcp("a2-highgpu-1g", provider.OnDemand), at2026, "3.673385"},
		{"small H100 machines only from 2026 on", gcp("a3-highgpu-1g", provider.OnDemand), at2024, ""},
		{"v5p-8 is four chips", gcp("v5p-8", provider.OnDemand), at2026, "16.8"},
		{"v5e-8 is eight", gcp("v5e-8", provider.OnDemand), at2026, "9.6"},
		{"v6e-256", gcp("v6e-256", provider.OnDemand), at2026, "691.2"},
		{"v6e unknown spot is no sentinel", provider.Offering{Cloud: "gcp", Region: "southamerica-west1", Zone: "southamerica-west1-a", Type: "v6e-8", Market: provider.Spot}, at2026, ""},
		{"v2-8 is priced as a device", provider.Offering{Cloud: "gcp", Region: "us-central1", Zone: "us-central1-b", Type: "v2-8", Market: provider.OnDemand}, at2023, "4.5"},
		{"v3-128 by the chip of a pod", provider.Offering{Cloud: "gcp", Region: "europe-west4", Zone: "europe-west4-a", Type: "v3-128", Market: provider.OnDemand}, at2023, "128"},
	} {
		t.Run(test.name, func(t *testing.T) {
			rate, ok := history(t).RateAt(test.o, test.at)
			if got := rate.String(); ok != (test.want != "") || ok && got != test.want {
				t.Errorf("%s at %s: %s %v, want %q", test.o, test.at.Format(time.DateOnly), got, ok, test.want)
			}
			book, err := history(t).Book(test.at)
			if err != nil {
				t.Fatal(err)
			}
			if inBook, has := book.Rate(test.o); inBook != rate || has != ok {
				t.Errorf("the book says %s %v", inBook, has)
			}
		})
	}
}

// TestSpotPriceHoldsUntilTheNextChange replays one series by hand from the packed
// file: the first events of g4dn.12xlarge in Tokyo.
func TestSpotPriceHoldsUntilTheNextChange(t *testing.T) {
	o := provider.Offering{Cloud: "aws", Region: "ap-northeast-1", Zone: "apne1-az1", Type: "g4dn.12xlarge", Market: provider.Spot}
	for _, test := range []struct {
		unix int64
		want string
	}{
		{1670005165, ""}, {1670005166, "1.6943"}, {1670005200, "1.6943"}, {1670005201, "1.7007"},
		{1670028719, "1.7007"}, {1670028720, "1.7073"}, {1670051545, "1.7084"},
	} {
		rate, ok := history(t).RateAt(o, time.Unix(test.unix, 0))
		if ok != (test.want != "") || ok && rate.String() != test.want {
			t.Errorf("at %d: %s %v, want %q", test.unix, rate, ok, test.want)
		}
	}
}

// TestEndedQuotesAreUnknownNotFree looks at every instant at which a spot series
// ends: from there to its next price nothing is known.
func TestEndedQuotesAreUnknownNotFree(t *testing.T) {
	h := history(t)
	ends := 0
	for i := range h.series {
		s := &h.series[i]
		for _, st := range s.steps {
			if st.rate < 0 {
				t.Fatalf("%s: rate %d", s.offering, st.rate)
			}
			if st.rate != 0 {
				continue
			}
			ends++
			if rate, ok := h.RateAt(s.offering, moment(st.at)); ok || rate != 0 {
				t.Errorf("%s at its end: %s %v", s.offering, rate, ok)
			}
		}
	}
	if ends < 347 {
		t.Errorf("%d ends, want those of the spot history at least", ends)
	}
	book, err := EmbeddedBook()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range book.Quotes() {
		if q.Rate <= 0 {
			t.Errorf("%s costs %s in the book", q.Offering, q.Rate)
		}
	}
}

// TestSpotHistoryEndsWithTheListOfItsLastDay: two files of one source agree on
// what held on 2024-05-01.
func TestSpotHistoryEndsWithTheListOfItsLastDay(t *testing.T) {
	list, err := embeddedTable("aws_vms_2024-05-01.csv.gz", awsColumns)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for i, row := range list.rows {
		o := provider.Offering{Cloud: "aws", Region: row[awsRegionColumn], Zone: row[awsZoneColumn], Type: row[awsTypeColumn], Market: provider.Spot}
		s, ok := history(t).lookup(o)
		if !ok || history(t).sources[s.steps[0].source] != spotSource {
			continue
		}
		compared++
		rate, known := history(t).RateAt(o, awsListDay.Add(time.Minute))
		want, refusal := list.price(i, awsSpotColumn)
		if known != (refusal == nil) || rate != want {
			t.Errorf("%s: history %s %v, list %q", o, rate, known, row[awsSpotColumn])
		}
	}
	if compared < 300 {
		t.Errorf("compared %d series only", compared)
	}
}

// TestEveryPricedMachineIsInTheCatalogue: what the price files name and the
// catalogue lacks is left out for a reason that is written here.
func TestEveryPricedMachineIsInTheCatalogue(t *testing.T) {
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	leftOut := map[string]string{
		"f1": "FPGA", "f2": "FPGA", "vt1": "video transcoder", "dl2q": "inference only",
		"g2": "K520 of 2012", "g6f": "part of a GPU", "gr6f": "part of a GPU",
		"g4-standard-6": "part of a GPU", "g4-standard-12": "part of a GPU", "g4-standard-24": "part of a GPU",
	}
	for _, f := range []struct {
		file, cloud string
		column      int
		columns     string
	}{
		{"aws_vms_2024-05-01.csv.gz", "aws", 0, awsColumns},
		{"aws_vms_v8_partial.csv", "aws", 0, awsColumns},
		{"aws_ondemand_karpenter_2026-07.csv", "aws", 1, "region,instance_type,ondemand_per_hour,currency,generated_at"},
		{"aws_spot_advisor_2025-06.csv", "aws", 1, "region,instance_type,savings_pct,band"},
		{"gcp_accel_vms_2026-07-30.csv", "gcp", 1, "cloud,machine_type,accelerator_name,accelerator_count,accelerator_memory_mib,vcpus,memory_gb,local_ssd_gb,region,ondemand_usd_per_hour,spot_usd_per_hour,flag"},
	} {
		list, err := embeddedTable(f.file, f.columns)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range list.rows {
			name := row[f.column]
			family := name
			if f.cloud == "aws" {
				family, _, _ = strings.Cut(name, ".")
			}
			_, known := catalogue.Lookup(f.cloud, name)
			if reason := leftOut[family]; known == (reason != "") {
				t.Errorf("%s:%d: %s: in the catalogue %v, reason to leave it out %q", f.file, i+2, name, known, reason)
			}
		}
	}
	for _, o := range history(t).Offerings() {
		if _, ok := catalogue.Lookup(o.Cloud, o.Type); !ok {
			t.Errorf("%s is priced but not in the catalogue", o)
		}
	}
}

// TestJoinTakesBothPartsFromOneRegion: the cheapest host is in one region and the
// cheapest GPU in another; the sum of the two exists nowhere.
func TestJoinTakesBothPartsFromOneRegion(t *testing.T) {
	catalogue, err := provider.NewCatalogue([]provider.InstanceType{{
		Cloud: "gcp", Name: "n1-standard-8+v100x2", Accelerator: "V100", Count: 2, Hosts: 1, VCPU: 8, MemGiB: 30, AcceleratorMemGiB: 16,
	}})
	if err != nil {
		t.Fatal(err)
	}
	usd := func(text string) Rate {
		r, err := ParseRate(text)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	l := &loader{set: newSeriesSet(), catalogue: catalogue, start: hazardStart}
	p := gcpParts{
		gpus: map[string][]part{"V100x2": {
			{region: "us-central1", zone: "us-central1-a", line: 2, rate: [2]Rate{usd("26.70"), usd("8")}},
			{region: "europe-west4", zone: "europe-west4-a", line: 3, rate: [2]Rate{usd("25.82"), 0}},
			{region: "asia-east1", zone: "asia-east1-a", line: 4, rate: [2]Rate{usd("20"), usd("5")}},
		}},
		hosts: map[string][]part{"n1-standard-8": {
			{region: "us-central1", rate: [2]Rate{usd("8.80"), usd("2")}},
			{region: "europe-west4", rate: [2]Rate{usd("9.68"), usd("2")}},
		}},
		sold: map[string]bool{"nvidia-tesla-v100 us-central1": true, "nvidia-tesla-v100 europe-west4": true},
	}
	typ := catalogue.Types()[0]
	if err := l.join(typ, "n1-standard-8", "v100x2", &p); err != nil {
		t.Fatal(err)
	}
	book, err := l.set.history().Book(gcostsDay)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, q := range book.Quotes() {
		got = append(got, fmt.Sprintf("%s %s", q.Offering, q.Rate))
	}
	want := []string{
		"gcp/europe-west4-a/n1-standard-8+v100x2/on-demand 35.5",
		"gcp/us-central1-a/n1-standard-8+v100x2/on-demand 35.5",
		"gcp/us-central1-a/n1-standard-8+v100x2/spot 10",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("joint prices (-want +got):\n%s", diff)
	}
	if len(l.unpriced) != 2 || l.unpriced[0].Line != 4 || l.unpriced[0].Reason != MissingPart {
		t.Errorf("unpriced %v, want asia-east1 in both markets", l.unpriced)
	}
	if err := l.join(typ, "n1-standard-8", "v100x4", &p); err == nil {
		t.Error("a name that contradicts its row was joined")
	}
}

func TestListRateIsOnDemandOfTheSameTypeAndZone(t *testing.T) {
	spot := awsSpot("p3.2xlarge")
	spot.Account = "111122223333" // price data name no account
	for _, test := range []struct {
		name string
		o    provider.Offering
		want string
	}{
		{"of spot", spot, "3.06"},
		{"of itself", provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az2", Type: "p3.2xlarge", Market: provider.OnDemand}, "3.06"},
		{"of a region without known zones", provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az2", Type: "g6e.xlarge", Market: provider.Spot}, "1.861"},
		{"none", provider.Offering{Cloud: "aws", Region: "us-east-2", Zone: "use2-az3", Type: "p5e.48xlarge", Market: provider.Spot}, ""},
	} {
		rate, ok := history(t).ListRate(test.o, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
		if ok != (test.want != "") || ok && rate.String() != test.want {
			t.Errorf("%s: %s %v, want %q", test.name, rate, ok, test.want)
		}
	}
}

func FuzzReadSpotSeries(f *testing.F) {
	f.Add([]byte("spot series 1\n10 5 7\np3.2xlarge us-east-1 use1-az1 3\n1+9180 1_ 1-30\n"))
	f.Add([]byte("spot series 1\n10\na b c 1\n1!\n"))
	f.Add([]byte("spot series 1\n10 1\na b c 2\n1+5 1-10\n"))
	f.Add([]byte("spot series 1\n10\na b c 100000000000\n1+5\n")) // more than memory holds
	f.Fuzz(func(t *testing.T, data []byte) {
		set := newSeriesSet()
		count, err := readSpotSeries(data, set)
		if err != nil {
			return
		}
		if count.events != count.kept+count.ended+len(count.refused) {
			t.Fatalf("%+v does not add up", count)
		}
		for _, s := range set.all {
			for _, st := range s.steps {
				if st.rate < 0 || st.rate >= maxPrice {
					t.Fatalf("%s: rate %d", s.offering, st.rate)
				}
			}
		}
	})
}

// BenchmarkLoad reads everything anew, as the first call does.
func BenchmarkLoad(b *testing.B) {
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		l := &loader{set: newSeriesSet(), catalogue: catalogue}
		for _, read := range []func() error{l.readSpotHistory, l.readAWS2024, l.readAWSv8, l.readKarpenter, l.readGCP, l.readTPU} {
			if err := read(); err != nil {
				b.Fatal(err)
			}
		}
		l.set.history()
	}
}
