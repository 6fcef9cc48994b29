package focus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/currency"
)

// Level is how much the standard wants of a rule.
type Level string

const (
	Must   Level = "MUST"
	Should Level = "SHOULD" // recommended: a file that does otherwise conforms
)

// Finding is a rule that a file breaks, or a recommendation that it does not follow.
type Finding struct {
	Level  Level  `json:"level"`
	Row    int    `json:"row"` // line of the file, the head is 1; 0: the whole file
	Column string `json:"column"`
	Value  string `json:"value,omitempty"`
	Rule   string `json:"rule"`
}

// String is the finding as one line: "row 7: BilledCost "N/A": want a decimal number".
func (f Finding) String() string {
	where := ""
	if f.Row > 0 {
		where = fmt.Sprintf("row %d: ", f.Row)
	}
	if f.Level == Should {
		where += "recommended: "
	}
	if f.Value != "" {
		return fmt.Sprintf("%s%s %q: %s", where, f.Column, f.Value, f.Rule)
	}
	return fmt.Sprintf("%s%s: %s", where, f.Column, f.Rule)
}

// Report is what Validate found.
type Report struct {
	Version  Version   `json:"focusVersion"`
	Rows     int       `json:"rows"`
	Findings []Finding `json:"findings"`
}

// Broken is how many of the findings are rules that the file breaks.
func (r Report) Broken() (n int) {
	for _, f := range r.Findings {
		if f.Level == Must {
			n++
		}
	}
	return n
}

var (
	numbers    = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	currencies = regexp.MustCompile(`^[A-Z]{3}$`)
	pascalCase = regexp.MustCompile(`^(x_)?[A-Z][A-Za-z0-9]*$`)
)

// Validate checks a file against the rules of a version for the dataset Cost and
// Usage, row by row: presence, types and formats of columns, allowed values, what
// must and must not be empty, prices times quantities, periods, prices that belong
// to one SKU, services that have one category. It checks what a file alone can
// show; sums over invoices and amortization are not among that.
//
// Columns of others, which begin with x_, are left alone. An error means that the
// file cannot be read as CSV.
func Validate(r io.Reader, v Version) (Report, error) {
	report := Report{Version: v, Findings: []Finding{}}
	reader, head, err := open(r)
	if err != nil {
		return report, err
	}
	c := &checker{report: &report, version: v, known: make([]*column, len(head)), at: map[string]int{},
		skuOf: map[string]string{}, categoryOf: map[string]string{}, segments: map[string]int{}}
	c.head(head)
	for {
		line, n, err := next(reader)
		if errors.Is(err, io.EOF) {
			return report, nil
		}
		if err != nil {
			return report, err
		}
		report.Rows++
		c.row(n, line)
	}
}

// checker goes through a file.
type checker struct {
	report     *Report
	version    Version
	known      []*column      // by place in the line; nil: not ours
	at         map[string]int // place of a column
	line       []string
	n          int
	skuOf      map[string]string
	categoryOf map[string]string
	segments   map[string]int
	broken     int // rules, so far
}

func (c *checker) find(n int, id, value, format string, args ...any) {
	c.broken++
	c.report.Findings = append(c.report.Findings, Finding{Must, n, brief(id), brief(value), fmt.Sprintf(format, args...)})
}

// brief is the beginning of a text that a finding shows.
func brief(text string) string {
	const most = 80
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}

func (c *checker) head(head []string) {
	for i, id := range head {
		if _, twice := c.at[id]; twice {
			c.find(1, id, "", "the column comes twice")
		}
		c.at[id] = i
		if known, ok := lookup(id); ok {
			c.known[i] = &known
			if !known.in(c.version) {
				c.find(1, id, "", "is not in FOCUS %s", c.version)
			}
		} else if !strings.HasPrefix(id, "x_") {
			c.find(1, id, "", "is no column of FOCUS %s; columns of others begin with x_", c.version)
		} else if !pascalCase.MatchString(id) {
			c.find(1, id, "", "want PascalCase after x_")
		}
	}
	for _, known := range columns {
		if _, there := c.at[known.id]; known.required && known.in(c.version) && !there {
			c.find(0, known.id, "", "the column is missing")
		}
	}
}

// get is a cell of the row; ok is false when the file has no such column.
func (c *checker) get(id string) (value string, ok bool) {
	i, ok := c.at[id]
	if !ok {
		return "", false
	}
	return c.line[i], true
}

// value is a cell, or "" when there is none.
func (c *checker) value(id string) string { v, _ := c.get(id); return v }

func (c *checker) say(id, format string, args ...any) { c.find(c.n, id, c.value(id), format, args...) }

func (c *checker) row(n int, line []string) {
	c.n, c.line = n, line
	before := c.broken
	for i, known := range c.known {
		if known != nil {
			c.cell(known, line[i])
		}
	}
	if c.broken > before {
		return // what cannot be read cannot be held against the rest of the row
	}
	c.periods()
	c.nulls()
	c.products()
	c.names()
}

// cell checks the form of one value.
func (c *checker) cell(known *column, value string) {
	if value == "" {
		if known.filled {
			c.say(known.id, "may not be empty")
		}
		return
	}
	switch upper := strings.ToUpper(strings.TrimSpace(value)); {
	case unreadable(value) != "":
		c.say(known.id, "%s", unreadable(value))
		return
	case upper == "NULL" || upper == "N/A" || upper == "-" || upper == "NAN":
		c.say(known.id, "what is not known is empty")
		return
	case known.values != nil && !slices.Contains(known.values, value):
		c.say(known.id, "want one of %s", strings.Join(known.values, ", "))
		return
	}
	switch known.kind {
	case decimal:
		if v, err := strconv.ParseFloat(value, 64); !numbers.MatchString(value) {
			c.say(known.id, "want a decimal number with a point and no other signs")
		} else if err != nil {
			c.say(known.id, "is too large a number: it reads as %g", v)
		}
	case moment:
		if at, err := time.Parse("2006-01-02T15:04:05Z", value); err != nil || stamp(at) != value {
			c.say(known.id, "want a time of UTC as YYYY-MM-DDTHH:mm:ssZ")
		}
	case keyValue:
		c.flat(known.id, value)
	case unit:
		if fault := unitFault(value); fault != "" {
			c.report.Findings = append(c.report.Findings, Finding{Should, c.n, known.id, brief(value), fault})
		}
	}
	if strings.HasSuffix(known.id, "Currency") && !isCurrency(value) {
		c.say(known.id, "want a code of ISO 4217")
	}
}

// isCurrency reports whether a code is one of ISO 4217.
func isCurrency(code string) bool {
	if !currencies.MatchString(code) {
		return false
	}
	unit, err := currency.ParseISO(code)
	return err == nil && unit.String() == code
}

// flat checks a JSON object without nested values.
func (c *checker) flat(id, value string) {
	var object map[string]any
	if json.Unmarshal([]byte(value), &object) != nil || object == nil {
		c.say(id, "want a JSON object")
		return
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		switch object[key].(type) {
		case map[string]any, []any:
			c.say(id, "key %q: want a single value", key)
			return
		}
	}
}

func (c *checker) periods() {
	for _, name := range []string{"BillingPeriod", "ChargePeriod"} {
		if start, end := c.value(name+"Start"), c.value(name+"End"); start != "" && end != "" && start >= end {
			c.say(name+"End", "is not after %sStart", name)
		}
	}
	if start, end := c.value("BillingPeriodStart"), c.value("ChargePeriodStart"); c.value("ChargeClass") == "" && start != "" && end < start {
		c.say("ChargePeriodStart", "is before the billing period, and ChargeClass is not Correction")
	}
}

// nulls checks what must be empty, or must not be, because of other columns.
func (c *checker) nulls() {
	category, correction := c.value("ChargeCategory"), c.value("ChargeClass") == "Correction"
	unused := c.value("CommitmentDiscountStatus") == "Unused" || c.value("CapacityReservationStatus") == "Unused"
	usage := category == "Usage" && !unused
	if v, ok := c.get("ConsumedQuantity"); ok {
		if v != "" && !usage {
			c.say("ConsumedQuantity", "must be empty: nothing was consumed")
		}
		if v == "" && usage && !correction && c.value("PricingQuantity") != "" {
			c.say("ConsumedQuantity", "is missing for usage")
		}
	}
	for _, pair := range [][2]string{{"ConsumedQuantity", "ConsumedUnit"}, {"PricingQuantity", "PricingUnit"}, {"SkuPriceId", "SkuId"}, {"CommitmentDiscountId", "CommitmentDiscountCategory"},
		{"CommitmentDiscountId", "CommitmentDiscountType"}, {"CapacityReservationId", "CapacityReservationStatus"}} {
		a, okA := c.get(pair[0])
		b, okB := c.get(pair[1])
		if purchase := category == "Purchase"; okA && okB && (a == "") != (b == "") && !purchase {
			c.say(pair[1], "must be empty exactly when %s is", pair[0])
		}
	}
	if (category == "Usage" || category == "Purchase") && !correction && c.value("PricingQuantity") == "" && c.value("ListUnitPrice") != "" {
		c.say("PricingQuantity", "is missing beside a price")
	}
	if category == "Tax" && c.value("PricingCategory") != "" {
		c.say("PricingCategory", "must be empty for tax")
	}
	if c.value("SkuPriceDetails") != "" && c.value("SkuPriceId") == "" {
		c.say("SkuPriceDetails", "must be empty without a SkuPriceId")
	}
	if c.value("ResourceId") == "" && c.value("ResourceName") != "" {
		c.say("ResourceName", "must be empty without a ResourceId")
	}
}

// products checks price × quantity, as floats and without tolerance, as the
// standard's validator does. Corrections are free of it.
func (c *checker) products() {
	if c.value("ChargeClass") == "Correction" || c.value("PricingQuantity") == "" {
		return
	}
	number := func(id string) (float64, bool) {
		v, err := strconv.ParseFloat(c.value(id), 64)
		return v, err == nil
	}
	quantity, ok := number("PricingQuantity")
	if !ok {
		return
	}
	for _, pair := range [][2]string{{"ListUnitPrice", "ListCost"}, {"ContractedUnitPrice", "ContractedCost"}} {
		price, okPrice := number(pair[0])
		cost, okCost := number(pair[1])
		if okPrice && okCost && price*quantity != cost {
			c.say(pair[1], "is not %s × PricingQuantity, %s", pair[0], float(price*quantity))
		}
		if okPrice && price < 0 {
			c.say(pair[0], "is negative")
		}
	}
}

func (c *checker) names() {
	category, sub := c.value("ServiceCategory"), c.value("ServiceSubcategory")
	if sub != "" && !belongs(category, sub) {
		c.say("ServiceSubcategory", "is none of %s", category)
	}
	one := func(of map[string]string, key, value, id, what string) {
		if key == "" || value == "" {
			return
		}
		if before, seen := of[key]; seen && before != value {
			c.say(id, "%s has another already: %q", what, before)
		} else {
			of[key] = value
		}
	}
	one(c.skuOf, c.value("SkuPriceId"), c.value("SkuId"), "SkuId", "this SkuPriceId")
	one(c.categoryOf, c.value("ServiceName"), category, "ServiceCategory", "this ServiceName")
	if cost, err := strconv.ParseFloat(c.value("BilledCost"), 64); err == nil && cost != 0 && c.value("ProviderName") != "" && c.value("InvoiceIssuerName") != c.value("ProviderName") && c.value("InvoiceIssuerName") != c.value("PublisherName") {
		c.say("BilledCost", "want 0 where another party invoices")
	}
}
