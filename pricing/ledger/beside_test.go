package ledger_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

func TestWhatIsBesideAMachineIsBorneByItsHolders(t *testing.T) {
	m := ledger.NewMeter(history(t, quoted(awsSpot, day, "8")), ledger.Rules{Beside: []ledger.Beside{
		{Item: ledger.Disk, Cloud: "aws", Type: "gp3", Size: 720, Unit: 100_000_000}, // of November: 0.10 USD an hour
		{Item: ledger.Address, Cloud: "aws", Market: provider.OnDemand, Type: "ipv4", Size: 1, Unit: ledger.AWSAddress},
		{Item: ledger.Address, Cloud: "aws", Market: provider.Spot, Type: "ipv4", Size: 2, Unit: ledger.AWSAddress},
		{Item: ledger.Disk, Cloud: "gcp", Type: "pd-ssd", Size: 1, Unit: 1},
	}})
	// Half an hour to a job on 6 of 8 accelerators, then EC2 takes the machine: that is
	// free, and what is beside it is not (A7).
	inst := life("i", awsSpot, clock(10, 0, 0), clock(10, 30, 0), provider.Interrupted)
	shares := []ledger.Share{{Job: "a", Team: "Vision", Accelerators: 6}}
	charges := m.Settle(until(inst, clock(10, 10, 0)), 8, shares, clock(10, 10, 0), 1)
	charges = append(charges, m.Settle(inst, 8, shares, clock(11, 0, 0), 2)...)
	if err := ledger.Check(charges); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range ledger.Total(charges, ledger.ByItem, ledger.ByAccount, ledger.ByMarket).Rows {
		got[strings.Join(r.Key, " ")] = r.Amount.String()
	}
	want := map[string]string{
		"machine job spot": "0", "machine idle spot": "0",
		"disk job none": "0.0375", "disk idle none": "0.0125", "address job none": "0.00375", "address idle none": "0.00125",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatCannotBeBesideAMachineIsNamed(t *testing.T) {
	sound := ledger.Beside{Item: ledger.Disk, Cloud: "aws", Type: "gp3", Size: 1, Unit: 1}
	for want, spoil := range map[string]func(b *ledger.Beside){
		"beside[0].item: ": func(b *ledger.Beside) { b.Item = ledger.Traffic }, "beside[0].cloud: ": func(b *ledger.Beside) { b.Cloud = "" },
		"beside[0].size: ": func(b *ledger.Beside) { b.Size = 0 }, "beside[0].unit: ": func(b *ledger.Beside) { b.Unit = -1 },
	} {
		b := sound
		spoil(&b)
		if err := (ledger.Rules{Beside: []ledger.Beside{b}}).Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	second, named, elsewhere := sound, sound, sound
	named.Type = "gp3-2" // as the second gp3 is called
	elsewhere.Cloud, elsewhere.Type = "gcp", "gp3-2"
	if err := (ledger.Rules{Beside: []ledger.Beside{sound, second, elsewhere}}).Validate(); err != nil {
		t.Errorf("two disks of a kind: %v", err)
	}
	if err := (ledger.Rules{Beside: []ledger.Beside{sound, second, named}}).Validate(); err == nil || !strings.HasPrefix(err.Error(), `beside[2].type: "gp3-2" cannot be told from beside[1]`) {
		t.Errorf("two things of one name: got %v", err)
	}
}

// What is listed beside machines may change from one start of the meter to the next:
// what stays is the same thing, wherever it stands in the list, and is booked once.
func TestWhatIsBesideAMachineKeepsItsNameAsOthersAreListed(t *testing.T) {
	address := ledger.Beside{Item: ledger.Address, Cloud: "aws", Type: "ipv4", Size: 1, Unit: ledger.AWSAddress}
	spot := ledger.Beside{Item: ledger.Address, Cloud: "aws", Market: provider.Spot, Type: "ipv4", Size: 1, Unit: ledger.AWSAddress}
	disk := ledger.Beside{Item: ledger.Disk, Cloud: "aws", Type: "gp3", Size: 720, Unit: 100_000_000} // of November: 0.10 USD an hour
	larger := disk
	larger.Size = 7200
	for _, c := range []struct {
		name          string
		before, after []ledger.Beside
		want          map[string]string // of two hours, the lists changing after one
	}{
		{"another kind in front", []ledger.Beside{address}, []ledger.Beside{disk, address}, map[string]string{"address-ipv4": "0.01", "disk-gp3": "0.2"}},
		{"one in front is gone", []ledger.Beside{disk, address}, []ledger.Beside{address}, map[string]string{"address-ipv4": "0.01", "disk-gp3": "0.1"}},
		{"another order", []ledger.Beside{disk, spot, address}, []ledger.Beside{address, spot, disk}, map[string]string{"address-ipv4": "0.01", "address-ipv4-spot": "0.01", "disk-gp3": "0.2"}},
		{"a disk grows", []ledger.Beside{disk}, []ledger.Beside{larger}, map[string]string{"disk-gp3": "1.1"}},
		{"a second of a kind", []ledger.Beside{disk}, []ledger.Beside{disk, address, larger}, map[string]string{"disk-gp3": "0.2", "disk-gp3-2": "2", "address-ipv4": "0.01"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, inst := history(t, quoted(awsSpot, day, "8")), life("i", awsSpot, clock(10, 0, 0), time.Time{}, provider.NotEnded)
			charges := ledger.NewMeter(h, ledger.Rules{Beside: c.before}).Settle(inst, 8, nil, clock(11, 0, 0), 1)
			m := ledger.Resume(h, ledger.Rules{Beside: c.after}, slices.Clone(charges))
			charges = append(charges, m.Settle(inst, 8, nil, clock(12, 0, 0), 2)...)
			if err := ledger.Check(charges); err != nil {
				t.Error(err)
			}
			sums, got := map[string]pricing.Money{}, map[string]string{}
			for _, c := range charges {
				if c.Item != ledger.Machine {
					_, name, _ := strings.Cut(string(c.Instance), "/")
					sums[name] += c.Amount
					got[name] = sums[name].String()
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
