package document

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/planner"
)

// EncodeJob is a job as the JSON of its document, for a store or a wire.
func EncodeJob(j *planner.Job) ([]byte, error) {
	t, err := FromJob(j)
	if err != nil {
		return nil, err
	}
	return json.Marshal(t)
}

// DecodeJob reads what EncodeJob wrote, as strictly as any document.
func DecodeJob(text []byte) (*planner.Job, error) {
	jobs, err := Jobs("job", text, Sold{})
	if err != nil {
		return nil, err
	}
	if len(jobs) != 1 {
		return nil, fmt.Errorf("job: %d documents, want one", len(jobs))
	}
	return jobs[0], nil
}

func duration[D ~int64](d D) time.Duration { return time.Duration(d) }
