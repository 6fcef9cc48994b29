package document_test

import (
	"fmt"

	"github.com/goodfleet/goodfleet/autoscale/document"
)

func ExampleJobs() {
	text := `
apiVersion: goodfleet/v1
kind: TrainingJob
metadata: {name: GPT-L, team: Vision}
spec:
  work: {epochs: 90, datasetSamples: 1281167}
  resources: {accelerators: [V100], replicas: {min: 1, max: 8}}
  checkpoint: {save: 30s, every: auto}
  valueOfTime: 3 USD/h
  throughput: {model: ResNet-50 (batch size 64)}
`
	jobs, err := document.Jobs("jobs.yaml", []byte(text), document.Sold{Accelerators: []string{"P100", "V100"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, j := range jobs {
		fmt.Printf("%s of %s: %.0f samples on up to %d × %s\n", j.ID, j.Team, j.Work.Samples, j.Resources.Replicas.Max, j.Resources.Accelerators[0])
	}

	_, err = document.Jobs("jobs.yaml", []byte("apiVersion: goodfleet/v1\nkind: TrainingJob\nmetadata: {nmae: GPT-L}\n"), document.Sold{})
	fmt.Println(err)
	// Output:
	// GPT-L of Vision: 115305030 samples on up to 8 × V100
	// jobs.yaml:3:12: metadata.nmae: unknown key; did you mean "name"?
}
