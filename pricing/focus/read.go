package focus

import (
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// Conversion is what one unit of another currency is worth in US dollars on a day:
// an amount in it is refused without.
type Conversion struct {
	Currency string // "EUR"
	Rate     *big.Rat
	Date     time.Time
}

// ParseConversion reads "EUR=1.0870@2026-11-30".
func ParseConversion(text string) (Conversion, error) {
	currency, rest, ok := strings.Cut(text, "=")
	rate, day, dated := strings.Cut(rest, "@")
	if !ok || !dated || !currencies.MatchString(currency) || currency == "USD" {
		return Conversion{}, fmt.Errorf("rate %q: want a currency, what one unit is worth in USD, and of which day: EUR=1.0870@2026-11-30", text)
	}
	worth, err := pricing.ParseMoney(rate)
	if err != nil || worth <= 0 {
		return Conversion{}, fmt.Errorf("rate %q: %q is no positive decimal number", text, rate)
	}
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return Conversion{}, fmt.Errorf("rate %q: %q is no day", text, day)
	}
	return Conversion{currency, big.NewRat(int64(worth), int64(pricing.Dollar)), at}, nil
}

// String is the conversion in words, for footers.
func (c Conversion) String() string {
	return fmt.Sprintf("1 %s = %s USD on %s", c.Currency, strings.TrimRight(strings.TrimRight(c.Rate.FloatString(9), "0"), "."), c.Date.Format(time.DateOnly))
}

// From turns US dollars into the currency, rounded half away from zero to the
// billionth.
func (c Conversion) From(m pricing.Money) pricing.Money {
	return scaled(m, new(big.Rat).Inv(c.Rate))
}

// Into turns an amount in the currency into US dollars.
func (c Conversion) Into(m pricing.Money) pricing.Money { return scaled(m, c.Rate) }

func scaled(m pricing.Money, by *big.Rat) pricing.Money {
	exact := new(big.Rat).Mul(new(big.Rat).SetInt64(int64(m)), by)
	half := big.NewRat(1, 2)
	if exact.Sign() < 0 {
		half.Neg(half)
	}
	exact.Add(exact, half)
	return pricing.Money(new(big.Int).Quo(exact.Num(), exact.Denom()).Int64())
}

// needed are the columns that a bill must have to be held against a ledger.
var needed = []string{"BilledCost", "EffectiveCost", "BillingCurrency", "ChargeCategory", "ChargePeriodStart", "ChargePeriodEnd", "ResourceId"}

// Read reads the usage of a bill in FOCUS 1.0 to 1.2 as facts, by EffectiveCost.
// Purchases, tax, credits, rows without a resource and rows that stand twice, alike in
// every column, are counted in skipped. A
// currency other than US dollars needs its conversion. The form of times and nulls
// is read as clouds write them, which is not always as the standard wants.
func Read(r io.Reader, conversions ...Conversion) (facts []ledger.Fact, skipped int, err error) {
	reader, head, err := open(r)
	if err != nil {
		return nil, 0, err
	}
	at := map[string]int{}
	for i, id := range head {
		if _, twice := at[id]; twice {
			return nil, 0, fmt.Errorf("row 1: %s: the column is there twice", id)
		}
		at[id] = i
	}
	for _, id := range needed {
		if _, ok := at[id]; !ok {
			return nil, 0, fmt.Errorf("row 1: %s: the column is missing: is this a bill in FOCUS?", id)
		}
	}
	seen := map[[sha256.Size]byte]bool{} // a row has no id: it is the same where every column is
	for {
		line, n, err := next(reader)
		if errors.Is(err, io.EOF) {
			return facts, skipped, nil
		}
		if err != nil {
			return nil, 0, err
		}
		for i, cell := range line {
			if why := unreadable(cell); why != "" {
				return nil, 0, fmt.Errorf("row %d: %s: %s", n, head[i], why)
			}
		}
		id := sha256.Sum256([]byte(strings.Join(line, "\x00")))
		if seen[id] { // files that were put together, or an export that was made twice
			skipped++
			continue
		}
		seen[id] = true
		get := func(id string) string {
			i, ok := at[id]
			if !ok || strings.EqualFold(line[i], "null") {
				return ""
			}
			return strings.Clone(line[i])
		}
		f, use, err := fact(get, conversions)
		if err == nil && !use {
			skipped++
			continue
		}
		if err != nil {
			return nil, 0, fmt.Errorf("row %d: %w", n, err)
		}
		f.Line = n
		facts = append(facts, f)
	}
}

// open reads the head of a file, and refuses what is no bill: a file of other columns alone, or
// none of text. Nothing is to be said of the rows of such.
func open(r io.Reader) (*csv.Reader, []string, error) {
	reader := csv.NewReader(r)
	reader.ReuseRecord = true
	head, _, err := next(reader)
	if errors.Is(err, io.EOF) {
		return nil, nil, errors.New("row 1: the file is empty")
	}
	if err != nil {
		return nil, nil, err
	}
	head = slices.Clone(head)
	head[0] = strings.TrimPrefix(head[0], "\ufeff") // spreadsheets put a byte order mark
	for _, id := range head {
		if why := unreadable(id); why != "" {
			return nil, nil, fmt.Errorf("row 1: %q %s: is this a bill in FOCUS?", id, why)
		}
	}
	if !slices.ContainsFunc(head, func(id string) bool { _, known := lookup(id); return known }) {
		return nil, nil, fmt.Errorf("row 1: %q and the others are no columns of FOCUS: is this a bill in FOCUS?", head[0])
	}
	return reader, head, nil
}

// next reads a row, and the line of the file at which it begins.
func next(reader *csv.Reader) (row []string, line int, err error) {
	row, err = reader.Read()
	var bad *csv.ParseError
	switch {
	case errors.Is(err, csv.ErrFieldCount):
		line, _ = reader.FieldPos(0)
		return nil, line, fmt.Errorf("row %d: has %d columns, unlike the head", line, len(row))
	case errors.As(err, &bad):
		return nil, bad.StartLine, fmt.Errorf("row %d: is no CSV: %w", bad.StartLine, bad.Err)
	case err != nil:
		return nil, 0, err
	}
	line, _ = reader.FieldPos(0)
	return row, line, nil
}

// unreadable says why a cell is none that people can read; "" if it is one. Ids that differ in
// such alone would look the same.
func unreadable(cell string) string {
	switch {
	case !utf8.ValidString(cell):
		return "is no text in UTF-8"
	case strings.ContainsFunc(cell, func(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' }):
		return "holds a control character"
	}
	return ""
}

// categories are those of charges in FOCUS 1.0 to 1.3.
var categories = []string{"Adjustment", "Credit", "Purchase", "Tax", "Usage"}

// fact reads a row; use is false where it is about no use of a resource. The costs of
// every row are read: a sum over rows of which one is no number is none.
func fact(get func(id string) string, conversions []Conversion) (f ledger.Fact, use bool, err error) {
	f = ledger.Fact{Cloud: cloudOf(get), Says: get("ChargeDescription")}
	if category := get("ChargeCategory"); !slices.Contains(categories, category) {
		return f, false, fmt.Errorf("ChargeCategory: %q: want one of %s", category, strings.Join(categories, ", "))
	}
	if _, err = ledger.ParseBilled(get("BilledCost")); err != nil {
		return f, false, fmt.Errorf("BilledCost: %w", err)
	}
	if f.Amount, err = ledger.ParseBilled(get("EffectiveCost")); err != nil {
		return f, false, fmt.Errorf("EffectiveCost: %w", err)
	}
	if get("ChargeCategory") != "Usage" || get("ResourceId") == "" {
		return f, false, nil
	}
	if f.From, err = instant(get("ChargePeriodStart")); err != nil {
		return f, false, fmt.Errorf("ChargePeriodStart: %w", err)
	}
	if f.To, err = instant(get("ChargePeriodEnd")); err != nil {
		return f, false, fmt.Errorf("ChargePeriodEnd: %w", err)
	}
	if !f.From.Before(f.To) {
		return f, false, errors.New("ChargePeriodEnd: is not after ChargePeriodStart")
	}
	if currency := get("BillingCurrency"); currency != "USD" {
		if !currencies.MatchString(currency) {
			return f, false, fmt.Errorf("BillingCurrency: %q: want a code of ISO 4217, such as USD", currency)
		}
		i := slices.IndexFunc(conversions, func(c Conversion) bool { return c.Currency == currency })
		if i < 0 {
			return f, false, fmt.Errorf("BillingCurrency: %q: say what it is worth, as in --rate %s=1.0870@2026-11-30", currency, currency)
		}
		f.Amount = conversions[i].Into(f.Amount)
	}
	if f.Item, err = itemOf(get); err != nil {
		return f, false, fmt.Errorf("x_Item: %w", err)
	}
	f.Instance = instanceOf(get)
	f.Offering = provider.Offering{Cloud: f.Cloud, Region: get("RegionId"), Zone: get("AvailabilityZone"), Market: provider.OnDemand}
	switch {
	case !f.Item.Capacity():
		f.Offering.Market = provider.NoMarket
	case get("PricingCategory") == "Dynamic":
		f.Offering.Market = provider.Spot
	}
	return f, true, nil
}

// paths are how ids begin of which the last element alone is the thing's own: Google's names with
// their path, with or without a host, and Azure's.
var paths = []string{"/", "http://", "https://", "projects/", "regions/", "zones/", "instances/"}

// instanceOf is what the ledger calls the thing of a row. Clouds write it at the end of an ARN or a
// path. An id of any other form is the thing's own, with every "/" in it: as ours of traffic
// ("job/1/data") and of what machines have beside them ("i-1/disk-gp3"). A row that Export wrote is
// told by its segment, which begins with the id: a job may be called "projects/x".
func instanceOf(get func(id string) string) provider.InstanceID {
	id := get("ResourceId")
	arn := strings.HasPrefix(id, "arn:")
	path := slices.ContainsFunc(paths, func(begin string) bool { return strings.HasPrefix(id, begin) })
	if strings.HasPrefix(get("x_SegmentId"), id+"/") || !arn && !path {
		return provider.InstanceID(id)
	}
	id = id[strings.LastIndex(id, "/")+1:]
	if arn {
		id = id[strings.LastIndex(id, ":")+1:]
	}
	return provider.InstanceID(id)
}

// itemOf says what a row is about: by our own column where Export wrote it, by the service
// elsewhere.
func itemOf(get func(id string) string) (ledger.Item, error) {
	own := get("x_Item")
	if own == "" || get("x_SegmentId") == "" {
		return filedAs(get), nil
	}
	for _, item := range ledger.Items() {
		if item.String() == own {
			return item, nil
		}
	}
	return "", fmt.Errorf("%q: is no item of a ledger", own)
}

// filedAs says what a row is about by how its cloud files it.
func filedAs(get func(id string) string) ledger.Item {
	switch get("ServiceCategory") {
	case "Storage":
		return ledger.Disk
	case "Networking":
		if strings.Contains(strings.ToLower(get("ResourceType")+get("SkuMeter")), "addr") {
			return ledger.Address
		}
		return ledger.Traffic
	case "Compute", "AI and Machine Learning":
		switch {
		case get("CapacityReservationStatus") == "Unused":
			return ledger.Reservation
		case get("CommitmentDiscountStatus") == "Unused":
			return ledger.Commitment
		case strings.EqualFold(get("ResourceType"), "volume") || strings.HasPrefix(get("ResourceId"), "vol-"):
			return ledger.Disk // AWS files its disks under compute
		}
		return ledger.Machine
	case "Management and Governance":
		if get("ServiceName") == "goodfleet" {
			return ledger.Controller
		}
	}
	return ledger.Other
}

func cloudOf(get func(id string) string) string {
	name := strings.ToLower(get("ProviderName") + " " + get("ServiceProviderName"))
	switch {
	case strings.Contains(name, "aws") || strings.Contains(name, "amazon"):
		return "aws"
	case strings.Contains(name, "google"):
		return "gcp"
	}
	return strings.TrimSpace(strings.ToLower(get("ProviderName")))
}

// firstYear and lastYear bound what a bill can be of, and what can be counted in nanoseconds.
const firstYear, lastYear = 1970, 2261

// instant reads the forms of time that bills have.
func instant(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04:05 UTC", "2006-01-02T15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			if year := at.UTC().Year(); year < firstYear || year > lastYear {
				return time.Time{}, fmt.Errorf("%q: want a year from %d to %d", text, firstYear, lastYear)
			}
			return at.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time", text)
}
