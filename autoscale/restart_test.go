package autoscale_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/store"
	"github.com/goodfleet/goodfleet/planner"
)

// testCodec carries the jobs of these tests as JSON.
var testCodec = store.Codec{
	Encode: func(j *planner.Job) ([]byte, error) { return json.Marshal(j) },
	Decode: func(text []byte) (*planner.Job, error) {
		curve := perAccelerator{}
		j := &planner.Job{Curve: &curve}
		err := json.Unmarshal(text, j)
		j.Curve = curve
		return j, err
	},
}

// A loop that is started anew before every round, from SQLite or from memory,
// comes to the same end by the same steps, and books the same money.
func TestRestartBeforeEveryRoundLosesNothing(t *testing.T) {
	run := func(s autoscale.Store) string {
		w := newWorld(t, setup{plan: thrifty, store: s, gcp: true, interruptions: 0.3, notice: time.Minute})
		w.submit(testJob("GPT-L", 1, 1, 2), testJob("b", 0.5, 4, 8), testJob("c", 2, 2))
		w.until(1000, func() bool {
			w.restart()
			return w.allEnded()
		})
		w.round(time.Minute)
		w.checkBooks()
		return w.history()
	}
	ctx := t.Context()
	s, err := store.OpenSQLite(ctx, store.SQLiteConfig{Path: ":memory:", Jobs: testCodec, Fleet: "fleet"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if diff := cmp.Diff(run(store.NewMemory("fleet")), run(s)); diff != "" {
		t.Errorf("in memory (-), in SQLite (+):\n%s", diff)
	}
}
