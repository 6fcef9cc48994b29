package focus

import (
	"fmt"
	"slices"
	"strings"
)

// Version is one of the standard.
type Version string

const (
	V12 Version = "1.2"
	V13 Version = "1.3"
)

// ParseVersion reads "1.2" or "1.3".
func ParseVersion(text string) (Version, error) {
	if v := Version(text); v == V12 || v == V13 {
		return v, nil
	}
	return "", fmt.Errorf("FOCUS version %q: want 1.2 or 1.3", text)
}

// kind is the type of a column.
type kind uint8

const (
	text kind = iota
	decimal
	moment   // YYYY-MM-DDTHH:mm:ssZ
	keyValue // a flat JSON object
	unit     // as the attribute Unit Format has it, which is recommended
)

var kindNames = [...]string{text: "String", decimal: "Decimal", moment: "Date/Time", keyValue: "JSON", unit: "String"}

// column is what the standard says of one column.
type column struct {
	id       string
	kind     kind
	required bool     // the column must be there
	filled   bool     // no row may leave it empty
	optional bool     // it is written only if a row has it, or all columns are asked for
	since    Version  // "": 1.2
	values   []string // nil: any
}

// columns are those of the dataset Cost and Usage that goodfleet writes and checks,
// in the order in which they are written.
var columns = []column{
	{id: "AllocatedMethodDetails", kind: keyValue, since: V13},
	{id: "AllocatedMethodId", since: V13},
	{id: "AllocatedResourceId", since: V13},
	{id: "AllocatedResourceName", since: V13},
	{id: "AllocatedTags", kind: keyValue, since: V13},
	{id: "AvailabilityZone"},
	{id: "BilledCost", kind: decimal, required: true, filled: true},
	{id: "BillingAccountId", required: true, filled: true},
	{id: "BillingAccountName", required: true},
	{id: "BillingAccountType"},
	{id: "BillingCurrency", required: true, filled: true},
	{id: "BillingPeriodEnd", kind: moment, required: true, filled: true},
	{id: "BillingPeriodStart", kind: moment, required: true, filled: true},
	{id: "CapacityReservationId", optional: true},
	{id: "CapacityReservationStatus", optional: true, values: []string{"Used", "Unused"}},
	{id: "ChargeCategory", required: true, filled: true, values: []string{"Usage", "Purchase", "Tax", "Credit", "Adjustment"}},
	{id: "ChargeClass", required: true, values: []string{"Correction"}},
	{id: "ChargeDescription", required: true},
	{id: "ChargeFrequency", values: []string{"One-Time", "Recurring", "Usage-Based"}},
	{id: "ChargePeriodEnd", kind: moment, required: true, filled: true},
	{id: "ChargePeriodStart", kind: moment, required: true, filled: true},
	{id: "CommitmentDiscountCategory", optional: true, values: []string{"Spend", "Usage"}},
	{id: "CommitmentDiscountId", optional: true},
	{id: "CommitmentDiscountName", optional: true},
	{id: "CommitmentDiscountQuantity", kind: decimal, optional: true},
	{id: "CommitmentDiscountStatus", optional: true, values: []string{"Used", "Unused"}},
	{id: "CommitmentDiscountType", optional: true},
	{id: "CommitmentDiscountUnit", kind: unit, optional: true},
	{id: "ConsumedQuantity", kind: decimal},
	{id: "ConsumedUnit", kind: unit},
	{id: "ContractApplied", kind: keyValue, since: V13},
	{id: "ContractedCost", kind: decimal, required: true, filled: true},
	{id: "ContractedUnitPrice", kind: decimal},
	{id: "EffectiveCost", kind: decimal, required: true, filled: true},
	{id: "HostProviderName", since: V13},
	{id: "InvoiceId", optional: true},
	{id: "InvoiceIssuerName", required: true, filled: true},
	{id: "ListCost", kind: decimal, required: true, filled: true},
	{id: "ListUnitPrice", kind: decimal},
	{id: "PricingCategory", values: []string{"Standard", "Dynamic", "Committed", "Other"}},
	{id: "PricingCurrency"},
	{id: "PricingCurrencyContractedUnitPrice", kind: decimal},
	{id: "PricingCurrencyEffectiveCost", kind: decimal},
	{id: "PricingCurrencyListUnitPrice", kind: decimal},
	{id: "PricingQuantity", kind: decimal, required: true},
	{id: "PricingUnit", kind: unit, required: true},
	{id: "ProviderName", required: true, filled: true},
	{id: "PublisherName", required: true, filled: true},
	{id: "RegionId"},
	{id: "RegionName"},
	{id: "ResourceId"},
	{id: "ResourceName"},
	{id: "ResourceType"},
	{id: "ServiceCategory", required: true, filled: true, values: serviceCategories()},
	{id: "ServiceName", required: true, filled: true},
	{id: "ServiceProviderName", since: V13, required: true, filled: true},
	{id: "ServiceSubcategory"},
	{id: "SkuId"},
	{id: "SkuMeter"},
	{id: "SkuPriceDetails", kind: keyValue},
	{id: "SkuPriceId"},
	{id: "SubAccountId"},
	{id: "SubAccountName"},
	{id: "SubAccountType"},
	{id: "Tags", kind: keyValue},
	{id: "x_Item", optional: true}, // where a row's service does not say it
	{id: "x_JobId"},
	{id: "x_Market"},
	{id: "x_SegmentId"},
}

// in reports whether a version of the standard has the column.
func (c column) in(v Version) bool { return c.since == "" || c.since <= v }

func lookup(id string) (column, bool) {
	i := slices.IndexFunc(columns, func(c column) bool { return c.id == id })
	if i < 0 {
		return column{}, false
	}
	return columns[i], true
}

// subcategories are the service subcategories of each category.
var subcategories = []struct {
	category string
	names    string // the last, "Other (category)", is left out
}{
	{"AI and Machine Learning", "AI Platforms;Bots;Generative AI;Machine Learning;Natural Language Processing"},
	{"Analytics", "Analytics Platforms;Business Intelligence;Data Processing;Search;Streaming Analytics"},
	{"Business Applications", "Productivity and Collaboration"},
	{"Compute", "Containers;End User Computing;Quantum Compute;Serverless Compute;Virtual Machines"},
	{"Databases", "Caching;Data Warehouses;Ledger Databases;NoSQL Databases;Relational Databases;Time Series Databases"},
	{"Developer Tools", "Developer Platforms;Continuous Integration and Deployment;Development Environments;Source Code Management;Quality Assurance"},
	{"Multicloud", "Multicloud Integration"},
	{"Identity", "Identity and Access Management"},
	{"Integration", "API Management;Messaging;Workflow Orchestration"},
	{"Internet of Things", "IoT Analytics;IoT Platforms"},
	{"Management and Governance", "Architecture;Compliance;Cost Management;Data Governance;Disaster Recovery;Endpoint Management;Observability;Support"},
	{"Media", "Content Creation;Gaming;Media Streaming;Mixed Reality"},
	{"Migration", "Data Migration;Resource Migration"},
	{"Mobile", ""},
	{"Networking", "Application Networking;Content Delivery;Network Connectivity;Network Infrastructure;Network Routing;Network Security"},
	{"Security", "Secret Management;Security Posture Management;Threat Detection and Response"},
	{"Storage", "Backup Storage;Block Storage;File Storage;Object Storage;Storage Platforms"},
	{"Web", "Application Platforms"},
	{"Other", ""},
}

func serviceCategories() []string {
	var names []string
	for _, s := range subcategories {
		names = append(names, s.category)
	}
	return names
}

// belongs reports whether a subcategory is one of a category.
func belongs(category, subcategory string) bool {
	for _, s := range subcategories {
		if s.category == category {
			return subcategory == "Other ("+category+")" || slices.Contains(strings.Split(s.names, ";"), subcategory) && subcategory != ""
		}
	}
	return false
}
