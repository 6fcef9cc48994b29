package focus

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// segment is the charges that are one row: of one thing and run, in one hour of the
// clock, at one price, borne by one account for one job.
type segment struct {
	first    ledger.Charge // the earliest line
	to       time.Time
	consumed big.Rat // hours of the whole thing that ran, whoever paid
	priced   big.Rat // hours that are priced
	billed   pricing.Money
	amount   pricing.Money
	quantity int64 // bytes moved
	reversed bool
}

// row is a line of the file by column id.
type row map[string]string

// hours is a share of a time, exactly.
func hours(c *ledger.Charge, d time.Duration) *big.Rat {
	return new(big.Rat).Mul(big.NewRat(int64(d), int64(time.Hour)), big.NewRat(int64(c.Share), int64(max(c.Of, 1))))
}

func (s *segment) add(c *ledger.Charge) {
	if c.From.Before(s.first.From) {
		s.first = *c
	}
	to := c.To
	if c.Kind == ledger.Minimum { // nothing ran in it: the row holds its beginning, no more
		to = c.From.Add(1)
	}
	if to.After(s.to) {
		s.to = to
	}
	time := hours(c, c.To.Sub(c.From))
	if c.Kind == ledger.Usage || c.Kind == ledger.Transfer {
		s.consumed.Add(&s.consumed, time)
	}
	s.priced.Add(&s.priced, time)
	s.billed += c.Billed()
	s.amount += c.Amount
	s.quantity += c.Quantity
	s.reversed = s.reversed || c.Kind == ledger.Reversal
}

// gone reports whether nothing is left of the segment, as after a transfer.
func (s *segment) gone() bool {
	return s.consumed.Sign() == 0 && s.priced.Sign() == 0 && s.amount == 0 && s.billed == 0 && s.first.Item == ledger.Machine
}

// float prints a float in the shortest form that reads back equal, always with a
// decimal point: a column of whole numbers would be taken for one of integers.
func float(v float64) string {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func money(m pricing.Money) string {
	text := m.String()
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05Z") }

// after is the first whole second that is not before an instant. The standard's times have no
// fractions: a period that ends here holds all of its charges, as one that begins at the whole
// second before them does.
func after(at time.Time) time.Time {
	if whole := at.Truncate(time.Second); whole.Before(at) {
		return whole.Add(time.Second)
	}
	return at
}

func parsed(text string) float64 {
	v, _ := strconv.ParseFloat(text, 64) // what this package printed
	return v
}

// row prints the segment.
func (s *segment) row(n Names) row {
	c := &s.first
	spot := c.Offering.Market == provider.Spot
	svc := serviceOf(c.Offering.Cloud, c.Item, n.tpu(c.Offering))
	r := row{
		"BillingAccountId": n.BillingAccount.ID, "BillingAccountName": n.BillingAccount.Name, "BillingAccountType": n.BillingAccount.Type,
		"SubAccountId": cmp.Or(n.SubAccount.ID, c.Offering.Account), "SubAccountName": n.SubAccount.Name, "SubAccountType": n.SubAccount.Type,
		"BillingCurrency": "USD", "PricingCurrency": "USD",
		"AvailabilityZone": n.zone(c.Offering.Zone), "RegionId": c.Offering.Region, "RegionName": regionNames[c.Offering.Region],
		"ProviderName": providerName(c.Offering.Cloud), "PublisherName": providerName(c.Offering.Cloud), "InvoiceIssuerName": providerName(c.Offering.Cloud),
		"ServiceProviderName": providerName(c.Offering.Cloud), "HostProviderName": providerName(c.Offering.Cloud),
		"ServiceCategory": svc.category, "ServiceName": svc.name, "ServiceSubcategory": svc.subcategory, "SkuMeter": svc.meter,
		"ResourceId": string(c.Instance), "ResourceName": n.resource(c.Offering.Cloud, c.Instance), "ResourceType": svc.resource,
		"BilledCost": money(s.billed), "EffectiveCost": money(s.amount), "PricingCurrencyEffectiveCost": money(s.amount),
		"ChargePeriodStart": stamp(c.From), "ChargePeriodEnd": stamp(after(s.to)),
		"ChargeCategory": "Usage", "ChargeFrequency": "Usage-Based",
		"Tags": tags(c), "x_JobId": c.Job, "x_SegmentId": fmt.Sprintf("%s/%d/%s", c.Instance, c.Run, stamp(c.From)),
	}
	if c.Item == ledger.Machine {
		r["x_Market"] = c.Offering.Market.String()
	}
	month := c.From.UTC()
	if !c.Invoiced.IsZero() {
		month = c.Invoiced.UTC()
	}
	month = time.Date(month.Year(), month.Month(), 1, 0, 0, 0, 0, time.UTC)
	r["BillingPeriodStart"], r["BillingPeriodEnd"] = stamp(month), stamp(month.AddDate(0, 1, 0))
	if c.Kind == ledger.Correction && c.From.Before(month) {
		r["ChargeClass"] = "Correction"
	}
	switch {
	case c.Kind == ledger.Correction:
		s.lump(r, "correction by "+cmp.Or(c.Note, "a later fact"))
	case c.Kind == ledger.Rise:
		s.lump(r, c.Note)
	case c.Kind == ledger.Credit:
		r["ChargeCategory"], r["ChargeFrequency"] = "Credit", "One-Time"
		s.lump(r, cmp.Or(c.Note, "credit "+string(c.Instance)))
	case c.Kind == ledger.Purchase:
		r["ChargeCategory"], r["ChargeFrequency"] = "Purchase", "Recurring"
		if c.Note == "upfront" {
			r["ChargeFrequency"] = "One-Time"
		}
		s.lump(r, fmt.Sprintf("%s of %s, %s", c.Item, c.Offering.Type, c.Note))
	case c.Item == ledger.Traffic:
		s.traffic(r)
	case c.Item == ledger.Machine, c.Item == ledger.Reservation, c.Item == ledger.Block, c.Item == ledger.Commitment:
		s.machine(r, n, svc, spot)
	default:
		s.held(r, svc)
	}
	if r["SkuId"] == "" {
		r["SkuMeter"] = ""
	}
	s.capacity(r)
	s.allocate(r)
	if filedAs(func(id string) string { return r[id] }) != c.Item {
		r["x_Item"] = c.Item.String()
	}
	return r
}

func (n Names) tpu(o provider.Offering) bool {
	if n.Types == nil {
		return false
	}
	t, ok := n.Types.Lookup(o.Cloud, o.Type)
	return ok && t.Kind == provider.TPU
}

// lump fills a row whose amount has no rate: price and quantity are one piece.
func (s *segment) lump(r row, says string) {
	cost := s.amount
	if s.first.Kind == ledger.Purchase {
		cost = s.billed
	}
	r["ChargeDescription"] = says
	r["ListCost"], r["ContractedCost"] = money(cost), money(cost)
	r["AvailabilityZone"] = ""
}

// prices fills unit prices, quantities and their products.
func prices(r row, list, contracted string, quantity float64, unit string) {
	r["PricingQuantity"], r["PricingUnit"] = float(quantity), unit
	r["ListUnitPrice"], r["ContractedUnitPrice"] = list, contracted
	r["PricingCurrencyListUnitPrice"], r["PricingCurrencyContractedUnitPrice"] = list, contracted
	r["ContractedCost"] = float(parsed(contracted) * quantity)
	r["ListCost"] = r["ContractedCost"] // no public price is known: the standard wants a cost all the same
	if list != "" {
		r["ListCost"] = float(parsed(list) * quantity)
	}
}

// machine fills the row of instance time, or of capacity that nobody used.
func (s *segment) machine(r row, n Names, svc service, spot bool) {
	c := &s.first
	consumed, _ := s.consumed.Float64()
	priced, _ := s.priced.Float64()
	contracted := money(pricing.Money(c.Rate))
	list := ""
	if c.List > 0 {
		list = money(pricing.Money(c.List))
	}
	ahead := c.Per != 0 || c.Offering.Market == provider.Reserved || c.Item != ledger.Machine
	if c.Item != ledger.Machine {
		priced, consumed = priced*float64(max(1, c.Quantity)), consumed*float64(max(1, c.Quantity))
		contracted = money(pricing.Money(c.Rate) / pricing.Money(max(1, c.Quantity)))
	}
	if c.Per != 0 { // what was paid ahead has no price for an hour that is exact
		contracted = float(pricing.Money(c.Rate).Dollars() / float64(max(1, c.Quantity)) / c.Per.Hours())
		if list != "" {
			contracted = list
		}
	}
	prices(r, list, contracted, priced, "Hours")
	r["ConsumedQuantity"], r["ConsumedUnit"] = float(consumed), "Hours"
	kind, sku := "On-Demand", "OnDemand"
	r["PricingCategory"] = "Standard"
	switch {
	case spot:
		kind, sku, r["PricingCategory"] = "Spot", "Spot", "Dynamic"
	case ahead:
		kind, sku, r["PricingCategory"] = "Committed", "Committed", "Committed"
	}
	r["ChargeDescription"] = fmt.Sprintf("$%s per %s Linux %s Instance Hour", pricing.Money(c.Rate), kind, c.Offering.Type)
	if ahead {
		r["ChargeDescription"] = fmt.Sprintf("%s Linux %s Instance Hour", kind, c.Offering.Type)
	}
	if spot {
		r["ChargeDescription"] += " (" + r["AvailabilityZone"] + ")"
	}
	if s.reversed && s.priced.Sign() == 0 {
		r["ChargeDescription"] = fmt.Sprintf("%s Linux %s interrupted by %s in first hour - no charge", kind, c.Offering.Type, providerName(c.Offering.Cloud))
		if c.Offering.Cloud == "gcp" {
			r["ChargeDescription"] = fmt.Sprintf("%s Linux %s preempted in first minute - no charge", kind, c.Offering.Type)
		}
	}
	r["SkuId"] = strings.Join([]string{svc.code, c.Offering.Region, c.Offering.Type, "Linux", "Shared"}, "/")
	r["SkuPriceId"] = r["SkuId"] + "/" + sku
	r["SkuPriceDetails"] = n.details(c.Offering)
}

// details describe a type in the standard's properties.
func (n Names) details(o provider.Offering) string {
	text := `{"InstanceType":` + quoted(o.Type) + `,"InstanceSeries":` + quoted(series(o.Type))
	if n.Types != nil {
		if t, ok := n.Types.Lookup(o.Cloud, o.Type); ok {
			text += fmt.Sprintf(`,"CoreCount":%d,"GpuCount":%d,"MemorySize":%s`, int(t.VCPU), t.Count, strconv.FormatFloat(t.MemGiB, 'f', -1, 64))
		}
	}
	return text + `,"OperatingSystem":"Linux"}`
}

// held fills the row of a disk, an address or the controller.
func (s *segment) held(r row, svc service) {
	c := &s.first
	size := max(1, c.Quantity)
	quantity, _ := s.priced.Float64()
	unit, price := "Hours", money(pricing.Money(c.Rate)/pricing.Money(size))
	quantity *= float64(size)
	if c.Item == ledger.Disk {
		unit = map[bool]string{true: "GB-Months", false: "GiB-Months"}[c.Offering.Cloud == "aws"]
		quantity /= c.Per.Hours()
	}
	prices(r, price, price, quantity, unit)
	r["ConsumedQuantity"], r["ConsumedUnit"] = r["PricingQuantity"], unit
	r["PricingCategory"] = "Standard"
	r["ChargeDescription"] = fmt.Sprintf("$%s per %s of %s", price, unit, cmp.Or(c.Offering.Type, string(c.Item)))
	r["SkuId"] = strings.Join([]string{svc.code, c.Offering.Region, cmp.Or(c.Offering.Type, string(c.Item))}, "/")
	r["SkuPriceId"] = r["SkuId"] + "/Standard"
}

// traffic fills the row of a volume.
func (s *segment) traffic(r row) {
	c := &s.first
	unit, bytes := "GB", 1e9
	if c.Offering.Cloud == "gcp" {
		unit, bytes = "GiB", 1<<30
	}
	price := money(pricing.Money(c.Rate))
	prices(r, price, price, float64(s.quantity)/bytes, unit)
	r["ConsumedQuantity"], r["ConsumedUnit"] = r["PricingQuantity"], unit
	r["PricingCategory"] = "Standard"
	reach := c.Reach()
	r["ChargeDescription"] = fmt.Sprintf("$%s per %s between %ss, %s", price, unit, cmp.Or(reach, "place"), c.Note)
	r["SkuId"] = strings.Join([]string{"DataTransfer", c.Offering.Region, "inter-" + cmp.Or(reach, "place"), c.Note}, "/")
	r["SkuPriceId"] = r["SkuId"] + "/Standard"
}

// capacity fills the columns of what was bought ahead.
func (s *segment) capacity(r row) {
	c := &s.first
	id, status := c.Offering.Reservation, "Used"
	if c.Item == ledger.Reservation || c.Item == ledger.Block || c.Item == ledger.Commitment {
		id, status = string(c.Instance), "Unused"
	}
	if id == "" || c.Kind == ledger.Correction || c.Kind == ledger.Rise {
		return
	}
	if c.Kind == ledger.Purchase {
		status = ""
	}
	if status == "Unused" {
		r["ConsumedQuantity"], r["ConsumedUnit"] = "", ""
	}
	if c.Prepaid || c.Item == ledger.Commitment || c.Kind == ledger.Purchase {
		r["CommitmentDiscountCategory"], r["CommitmentDiscountId"], r["CommitmentDiscountName"] = "Usage", id, id
		r["CommitmentDiscountType"], r["CommitmentDiscountStatus"] = "Reserved", status
		if c.Kind != ledger.Purchase {
			r["CommitmentDiscountQuantity"], r["CommitmentDiscountUnit"] = r["PricingQuantity"], "Hours"
		}
		return
	}
	r["CapacityReservationId"], r["CapacityReservationStatus"] = id, status
}

// allocate fills the columns of version 1.3 that say how one machine was split.
func (s *segment) allocate(r row) {
	c := &s.first
	if c.Item != ledger.Machine || c.Kind == ledger.Correction || c.Kind == ledger.Rise || c.Share == c.Of || c.Share == -c.Of {
		return
	}
	r["AllocatedMethodId"] = "accelerators"
	r["AllocatedMethodDetails"] = fmt.Sprintf(`{"x_Share":%d,"x_Of":%d}`, max(c.Share, -c.Share), c.Of)
	receiver := cmp.Or(c.Job, string(c.Account))
	r["AllocatedResourceId"], r["AllocatedResourceName"], r["AllocatedTags"] = receiver, receiver, r["Tags"]
}

// tags are what the bearer is known by, as one flat object.
func tags(c *ledger.Charge) string {
	var parts []string
	for _, t := range []struct{ key, value string }{{"team", c.Team}, {"project", c.Project}, {"job", c.Job}} {
		if t.value != "" {
			parts = append(parts, quoted(t.key)+":"+quoted(t.value))
		}
	}
	if c.Account != ledger.ToJob {
		parts = append(parts, `"account":`+quoted(string(c.Account)))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always marshals
	}
	return string(b)
}
