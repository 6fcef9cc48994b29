package pricing

import (
	"fmt"
	"strconv"
	"sync"
)

// advisorScale is what each band of the AWS Spot Advisor makes of the mean hazard.
// A band is the share of machines that were interrupted within a month, among all
// that anybody ran; read as a rate it would be a thousand times too small. So
// only its order is used.
var advisorScale = [...]float64{
	0: 0.5,  // under 5 %
	1: 0.75, // 5–10 %
	2: 1,    // 10–15 %
	3: 1.5,  // 15–20 %
	4: 2,    // over 20 %
}

// Advice is what the AWS Spot Advisor says of a type in a region.
type Advice struct {
	SavingsPct int // under on-demand, mean of a month; negative where spot is dearer
	Band       int // of interruption, 0 (under 5 % a month) to 4 (over 20 %)
}

var embeddedAdvice = sync.OnceValues(func() (map[[2]string]Advice, error) {
	t, err := embeddedTable("aws_spot_advisor_2025-06.csv", "region,instance_type,savings_pct,band")
	if err != nil {
		return nil, err
	}
	advice := make(map[[2]string]Advice, len(t.rows))
	for i, row := range t.rows {
		savings, err := strconv.Atoi(row[2])
		if err != nil || savings > 100 {
			return nil, fmt.Errorf("data/%s:%d: savings_pct %q", t.file, i+2, row[2])
		}
		band, err := strconv.Atoi(row[3])
		if err != nil || band < 0 || band >= len(advisorScale) {
			return nil, fmt.Errorf("data/%s:%d: band %q", t.file, i+2, row[3])
		}
		advice[[2]string{row[0], row[1]}] = Advice{SavingsPct: savings, Band: band}
	}
	return advice, nil
})

// SpotAdvice is the AWS Spot Advisor's word of June 2025 on a type in a region. ok
// is false where it has none.
func SpotAdvice(region, instanceType string) (a Advice, ok bool) {
	advice, err := embeddedAdvice()
	if err != nil { // the file is embedded and tested: a broken build
		panic(err)
	}
	a, ok = advice[[2]string{region, instanceType}]
	return a, ok
}
