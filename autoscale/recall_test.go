package autoscale_test

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/store"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/goodput"
	"github.com/goodfleet/goodfleet/planner/policy"
)

// measuring is a runner whose gangs report what they measured.
type measuring struct {
	autoscale.Runner
	measured []planner.Measurement
}

func (m *measuring) Progress(ctx context.Context) ([]autoscale.Progress, error) {
	list, err := m.Runner.Progress(ctx)
	for i := range list {
		if list[i].State == autoscale.GangRunning {
			list[i].Measured = m.measured
		}
	}
	return list, err
}

// elasticCodec carries jobs with a goodput profile as JSON.
var elasticCodec = store.Codec{
	Encode: func(j *planner.Job) ([]byte, error) {
		p, _ := planner.GoodputProfileOf(j.Curve)
		bare := *j
		bare.Curve = nil
		return json.Marshal(map[string]any{"job": bare, "profile": p})
	},
	Decode: func(text []byte) (*planner.Job, error) {
		var parts struct {
			Job     planner.Job
			Profile json.RawMessage
		}
		if err := json.Unmarshal(text, &parts); err != nil {
			return nil, err
		}
		p, err := goodput.ParseProfile(parts.Profile)
		if err != nil {
			return nil, err
		}
		parts.Job.Curve, err = planner.GoodputCurve(p, planner.Growth{Bought: true, MinReplicas: 1})
		return &parts.Job, err
	},
}

// What was measured of step times and noise is believed again by a loop that is
// started anew on the database's file, without a new word from the gangs.
func TestMeasurementsAreTakenUpAfterARestart(t *testing.T) {
	theta := goodput.Theta{AlphaC: 0.1, BetaC: 0.01, AlphaN: 0.3, BetaN: 0.01, AlphaR: 0.1, BetaR: 0.01, Gamma: 2}
	curve, err := planner.GoodputCurve(&goodput.Profile{
		Name: "resnet", Limits: goodput.Limits{InitialBatch: 64, MaxBatch: 1024, MaxLocal: 64, Accumulation: true}, Noise: &goodput.Noise{Sqr: 1, Var: 1},
		Types: []goodput.TypeProfile{{Accelerator: "V100", Kind: goodput.KindGPU, Theta: theta}},
	}, planner.Growth{Bought: true, MinReplicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "fleet.db")
	open := func() *store.SQLite {
		s, err := store.OpenSQLite(t.Context(), store.SQLiteConfig{Path: path, Jobs: elasticCodec, Fleet: "fleet"})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	var seen *planner.Job
	w := newWorld(t, setup{store: s, plan: func(p planner.Problem) (planner.Plan, error) {
		for _, j := range p.Jobs {
			seen = j.Job
		}
		return policy.Value(p, policy.Settings{})
	}})
	runner := &measuring{Runner: w.runner}
	w.cfg.Runner = runner
	w.restart()
	job := testJob("resnet-1", 1, 1)
	job.Curve, job.Work.Samples = curve, 1e7
	w.submit(job)
	w.until(20, func() bool { g := w.job(job.ID).Gang; return g != nil && !w.job(job.ID).Times.Running.IsZero() })
	runner.measured = []planner.Measurement{{AtomicBatch: 64, AccumSec: 2 * theta.ComputeSec(64), OptimSec: 2 * theta.ComputeSec(64), Noise: &goodput.Noise{Sqr: 1, Var: 50}}}
	w.round(time.Minute)
	runner.measured = nil
	w.round(time.Minute)
	believed := func() (speed planner.Speed, noise goodput.Noise) {
		t.Helper()
		speed, ok := seen.Curve.Speed("V100", 1, 1)
		p, elastic := planner.GoodputProfileOf(seen.Curve)
		if !ok || !elastic || p.Noise == nil {
			t.Fatalf("speed %+v, profile %+v", speed, p)
		}
		return speed, *p.Noise
	}
	speed, noise := believed()
	given, _ := curve.Speed("V100", 1, 1)
	if noise.Var/noise.Sqr < 40 || speed == given {
		t.Fatalf("before the restart: noise %+v, speed %+v as it was given", noise, speed)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	defer s.Close()
	w.store.Store, seen = s, nil
	w.restart()
	w.round(time.Minute)
	if seen == nil {
		t.Fatal("no plan after the restart")
	}
	again, noiseAgain := believed()
	if math.Abs(again.Goodput/speed.Goodput-1) > 1e-9 || again.Batch != speed.Batch || noiseAgain != noise {
		t.Errorf("after the restart %+v and %+v, before %+v and %+v", again, noiseAgain, speed, noise)
	}
}
