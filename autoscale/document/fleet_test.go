package document

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/provider"
)

const fleetText = `apiVersion: goodfleet/v1
kind: Fleet
spec:
  machines:
    - {id: i-1, cloud: aws, region: us-east-1, zone: use1-az1, type: p3.8xlarge, market: spot, launched: "2026-08-01T00:00:00Z"}
    - {id: i-2, cloud: aws, region: us-east-1, zone: use1-az1, type: p3.8xlarge, market: spot}
  jobs:
    - {name: GPT-L, machines: [i-1, i-2], replicas: 8, done: 1e6, spent: 12.50 USD}
  overrides:
    - {kind: exclude, subject: "aws/*/p4d.24xlarge/spot", who: ada, why: "driver bug"}
  shortages:
    - {cloud: aws, zone: use1-az2, market: spot, reason: no capacity, until: "2026-08-01T01:00:00Z"}
`

func TestFleetIsReadAsItIsWritten(t *testing.T) {
	docs, err := Decode("fleet.yaml", []byte(fleetText))
	if err != nil {
		t.Fatal(err)
	}
	spec := docs[0].Fleet.Spec
	want := provider.Offering{Cloud: "aws", Region: "us-east-1", Zone: "use1-az1", Type: "p3.8xlarge", Market: provider.Spot}
	if diff := cmp.Diff(want, spec.Machines[0].Offering()); diff != "" {
		t.Errorf("offering (-want +got)\n%s", diff)
	}
	if j := spec.Jobs[0]; j.Done != 1e6 || len(j.Machines) != 2 || j.Spent != 12_500_000_000 {
		t.Errorf("job %+v", j)
	}
	again, err := YAML(docs[0].Fleet)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode("again.yaml", again)
	if err != nil {
		t.Fatalf("%v in\n%s", err, again)
	}
	if diff := cmp.Diff(docs[0].Fleet, back[0].Fleet); diff != "" {
		t.Errorf("written and read again (-first +second)\n%s", diff)
	}
}

func TestFleetRefusesWhatContradictsItself(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"machine twice", "id: i-2", "id: i-1", `spec.machines[1].id: "i-1" is given twice`},
		{"job on a machine that is not there", "[i-1, i-2]", "[i-1, j-2]", `spec.jobs[0].machines[1]: "j-2" is not among the machines; did you mean "i-2"?`},
		{"uneven replicas", "replicas: 8", "replicas: 7", "spec.jobs[0].replicas: 7: want as many on each of 2 machines"},
		{"replicas of a job that waits", "machines: [i-1, i-2], ", "", "spec.jobs[0].replicas: 8: the job holds no machines"},
		{"no market", ", market: spot, launched", ", launched", "spec.machines[0].market: is required"},
		{"work below nothing", "done: 1e6", "done: -1", "spec.jobs[0].done: -1: want at least 0"},
		{"unknown override", "kind: exclude", "kind: exlude", `did you mean "exclude"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(fleetText, c.old, c.new, 1)
			_, err := Decode("fleet.yaml", []byte(text))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "fleet.yaml:") {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
