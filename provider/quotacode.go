package provider

import (
	"fmt"
	"sync"
)

// QuotaCode is what a cloud calls one of its counters, the same in every account
// and region.
type QuotaCode struct {
	Cloud  string
	Family string // InstanceType.QuotaFamily
	Market Market
	Unit   QuotaUnit
	Code   string // for an increase request; "" if not known
}

var quotaColumns = []string{"cloud", "family", "market", "unit", "code"}

var embeddedQuotaCodes = sync.OnceValues(func() ([]QuotaCode, error) {
	rows, err := embeddedRows("quota.csv", quotaColumns)
	if err != nil {
		return nil, err
	}
	codes := make([]QuotaCode, len(rows))
	for i, row := range rows {
		c := QuotaCode{Cloud: row[0], Family: row[1], Code: row[4]}
		if c.Market, err = ParseMarket(row[2]); err != nil {
			return nil, fmt.Errorf("catalogue/quota.csv:%d: %w", i+2, err)
		}
		switch row[3] {
		case VCPUs.String():
			c.Unit = VCPUs
		case Accelerators.String():
			c.Unit = Accelerators
		default:
			return nil, fmt.Errorf("catalogue/quota.csv:%d: unit %q: want vcpu or accelerators", i+2, row[3])
		}
		codes[i] = c
	}
	return codes, nil
})

// EmbeddedQuotaCodes lists the counters of every quota family of the embedded
// catalogue. The caller must not change them.
func EmbeddedQuotaCodes() ([]QuotaCode, error) { return embeddedQuotaCodes() }

// QuotaCodeOf finds the counter that a launch of type t in a market is charged
// to. ok is false when the family has none.
func QuotaCodeOf(t InstanceType, market Market) (code QuotaCode, ok bool) {
	codes, err := embeddedQuotaCodes()
	if err != nil {
		return QuotaCode{}, false
	}
	for _, c := range codes {
		if c.Cloud == t.Cloud && c.Family == t.QuotaFamily && c.Market == market {
			return c, true
		}
	}
	return QuotaCode{}, false
}
