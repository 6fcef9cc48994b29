package providertest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/provider"
	"github.com/goodfleet/goodfleet/provider/fake"
	"github.com/goodfleet/goodfleet/provider/providertest"
)

var v100 = provider.Offering{Cloud: "aws", Account: "111122223333", Region: "us-east-1", Zone: "use1-az1", Type: "p3.2xlarge", Market: provider.Spot}

// elsewhere is v100 in another zone.
var elsewhere = func() provider.Offering {
	o := v100
	o.Zone = "use1-az2"
	return o
}()

// calm is a cloud whose capacity never changes by itself.
func calm(t testing.TB) *fake.Cloud {
	t.Helper()
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	cloud, err := fake.New(fake.Config{
		Name: "aws", Account: v100.Account, Start: time.Date(2023, 6, 1, 0, 0, 0, 0, time.UTC),
		Catalogue: catalogue, Offerings: []provider.Offering{v100, elsewhere}, InterruptionScale: 1,
		Climate: &fake.Climate{
			Law:    func(provider.Pool, provider.InstanceType) fake.Law { return fake.Law{} },
			Boot:   func(provider.InstanceType) fake.Boot { return fake.Boot{Mean: 30 * time.Second} },
			Depth:  func(provider.InstanceType) fake.Depth { return fake.Depth{Median: 100} },
			Notice: fake.Notice{Lead: 2 * time.Minute},
			Keep:   3 * time.Hour,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return cloud
}

// stage is a stage on the fake cloud, seen through a driver.
func stage(t testing.TB, cloud *fake.Cloud, driver provider.Cloud) providertest.Stage {
	do := func(format string, args ...any) {
		if err := cloud.Do(fmt.Sprintf(format, args...)); err != nil {
			t.Fatal(err)
		}
	}
	const vcpus = 8 // of a p3.2xlarge
	word := func(kind error) string {
		w, ok := fake.KindWord(kind)
		if !ok {
			t.Fatalf("%v is no error kind", kind)
		}
		return w
	}
	return providertest.Stage{
		Cloud: driver, Offering: v100, Other: elsewhere, Many: 25, Unknown: "i-0123456789abcdef0",
		Grace: 20 * time.Second, Boot: time.Minute,
		Wait:    func(d time.Duration) { cloud.Advance(cloud.Now().Add(d)) },
		TagKeys: keysOf(driver),
		Trouble: providertest.Trouble{
			Refuse: func(kind error) { do("launch fails %s", word(kind)) },
			Refusals: []error{
				provider.ErrCapacity, provider.ErrQuota, provider.ErrThrottled, provider.ErrDenied, provider.ErrPrice, provider.ErrClosed,
			},
			Room:        func(n int) { do("pool %s holds %d", v100, n) },
			QuotaRoom:   func(n int) { do("quota us-east-1/P/spot %d vcpu", n*vcpus) },
			LoseAnswer:  func() { do("launch answer lost") },
			FailListing: func(kind error) { do("listing fails %s", word(kind)) },
			Hang:        func() { do("launch hangs") },
			Protect:     func(id provider.InstanceID) { do("protect machine %s", id) },
			Interrupt:   func(id provider.InstanceID) { do("at 2m take machine %s", id) },
			Hint:        func(id provider.InstanceID) { do("hint machine %s", id) },
			Foreign:     func(fleet string) { do("foreign 1 of %s fleet %s", v100, fleet) },
		},
	}
}

// keysOf sees the tags that a driver writes. The fake cloud has those of goodfleet
// alone, under its keys.
func keysOf(driver provider.Cloud) func(provider.InstanceID) []string {
	if b, ok := driver.(*bent); ok && b.keys != nil {
		return func(provider.InstanceID) []string { return b.keys(provider.TagKeys()) }
	}
	return func(provider.InstanceID) []string { return provider.TagKeys() }
}

func TestFakeKeepsEveryClause(t *testing.T) {
	providertest.Run(t, providertest.Setup{Open: func(t testing.TB) providertest.Stage {
		cloud := calm(t)
		return stage(t, cloud, cloud)
	}})
}
