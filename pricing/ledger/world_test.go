package ledger_test

import (
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

var (
	awsSpot     = provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p4d.24xlarge", Market: provider.Spot}
	awsOnDemand = provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p4d.24xlarge", Market: provider.OnDemand}
	gcpSpot     = provider.Offering{Cloud: "gcp", Region: "us-central1", Zone: "us-central1-a", Type: "a2-highgpu-8g", Market: provider.Spot}
	gcpOnDemand = provider.Offering{Cloud: "gcp", Region: "us-central1", Zone: "us-central1-a", Type: "a2-highgpu-8g", Market: provider.OnDemand}
	tpuSpot     = provider.Offering{Cloud: "gcp", Region: "us-central1", Zone: "us-central1-a", Type: "v5e-8", Market: provider.Spot}
)

// day is the day on which the worked examples happen.
var day = time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)

func clock(hour, minute, second int) time.Time {
	return day.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second)
}

func usd(t testing.TB, text string) pricing.Money {
	t.Helper()
	m, err := pricing.ParseMoney(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// quoted is a price that holds from an instant on.
func quoted(o provider.Offering, at time.Time, rate string) pricing.Quote {
	r, err := pricing.ParseRate(rate)
	if err != nil {
		panic(err)
	}
	return pricing.Quote{Offering: o, Rate: r, At: at, Source: "test"}
}

func history(t testing.TB, quotes ...pricing.Quote) *pricing.History {
	t.Helper()
	h, err := pricing.NewHistory(quotes, nil)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// catalogue knows which of the types above is a TPU.
func catalogue(t testing.TB) *provider.Catalogue {
	t.Helper()
	c, err := provider.NewCatalogue([]provider.InstanceType{
		{Cloud: "gcp", Name: "v5e-8", Accelerator: "TPU v5e", Kind: provider.TPU, Count: 8, AcceleratorMemGiB: 16, VCPU: 224, MemGiB: 384, Hosts: 1},
		{Cloud: "gcp", Name: "a2-highgpu-8g", Accelerator: "A100", Kind: provider.GPU, Count: 8, AcceleratorMemGiB: 40, VCPU: 96, MemGiB: 680, Hosts: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// life is a machine's run; a zero end is one that goes on.
func life(id string, o provider.Offering, started, ended time.Time, cause provider.EndCause) provider.Instance {
	inst := provider.Instance{ID: provider.InstanceID(id), Offering: o, State: provider.Running, Started: started}
	if !ended.IsZero() {
		inst.State, inst.Ended, inst.Cause = provider.Ended, ended, cause
	}
	return inst
}

// until is a run as it is seen while it lasts.
func until(inst provider.Instance, now time.Time) provider.Instance {
	if now.Before(inst.Ended) {
		inst.State, inst.Ended, inst.Cause = provider.Running, time.Time{}, provider.NotEnded
	}
	return inst
}

// settled books a run round by round, each a step long, up to a time after its
// end, all of it to one job.
func settled(m *ledger.Meter, inst provider.Instance, of int, step time.Duration) []ledger.Charge {
	shares := []ledger.Share{{Job: "GPT-L", Team: "Vision", Accelerators: of}}
	var charges []ledger.Charge
	round := int64(0)
	for at := inst.Started; at.Before(inst.Ended.Add(step)); at = at.Add(step) {
		round++
		charges = append(charges, m.Settle(until(inst, at), of, shares, at, round)...)
	}
	round++
	return append(charges, m.Settle(inst, of, shares, inst.Ended.Add(24*time.Hour), round)...)
}

// amounts sums charges and checks that they add up.
func amounts(t testing.TB, charges []ledger.Charge) pricing.Money {
	t.Helper()
	if err := ledger.Check(charges); err != nil {
		t.Error(err)
	}
	return ledger.Total(charges).Sum.Amount
}
