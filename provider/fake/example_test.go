package fake_test

import (
	"context"
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/provider"
	"github.com/goodfleet/goodfleet/provider/fake"
)

// One spot machine, from its launch to its loss.
func ExampleCloud() {
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		fmt.Println(err)
		return
	}
	spot := provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "g4dn.xlarge", Market: provider.Spot}
	cloud, err := fake.New(fake.Config{
		Name: "aws", Seed: 1, Start: time.Date(2023, 6, 1, 0, 0, 0, 0, time.UTC),
		Catalogue: catalogue, Offerings: []provider.Offering{spot}, InterruptionScale: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	_, err = cloud.Launch(ctx, provider.LaunchRequest{Token: "a", Offering: spot, Count: 1, Min: 1})
	fmt.Println("launch:", err)
	for at, ok := cloud.NextEvent(); ok; at, ok = cloud.NextEvent() {
		cloud.Advance(at)
		machines, _ := cloud.Instances(ctx)
		notices, _ := cloud.Interruptions(ctx)
		fmt.Println(at.Format("15:04:05"), machines[0].State, machines[0].Cause, len(notices))
	}
	// Output:
	// launch: <nil>
	// 00:00:24 running  0
	// 00:29:19 running  1
	// 00:31:19 ended interrupted 1
}
