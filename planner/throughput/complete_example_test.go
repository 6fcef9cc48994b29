package throughput_test

import (
	"fmt"

	"github.com/goodfleet/goodfleet/planner/throughput"
)

func ExampleComplete() {
	known := []throughput.Measurement{
		{Model: "lm", Batch: 32, Entry: throughput.Entry{Accelerator: "V100", Replicas: 1, SamplesPerSec: 400}},
		{Model: "lm", Batch: 32, Entry: throughput.Entry{Accelerator: "T4", Replicas: 1, SamplesPerSec: 100}},
		{Model: "lm", Batch: 64, Entry: throughput.Entry{Accelerator: "V100", Replicas: 1, SamplesPerSec: 480}},
	}
	c, err := throughput.Complete(known)
	if err != nil {
		fmt.Println(err)
		return
	}
	speed, _, _ := c.Estimate("lm", 64, "T4", 1, 1)
	fmt.Printf("about %.0f samples/s\n", speed)
	// Output:
	// about 118 samples/s
}
