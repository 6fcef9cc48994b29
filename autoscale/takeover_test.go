package autoscale_test

import (
	"context"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/provider"
)

// knowing is a runner that knows of a gang of which the store does not.
type knowing struct {
	*testRunner
	extra   autoscale.Progress
	stopped int // that it was told to stop
}

func (r *knowing) Progress(ctx context.Context) ([]autoscale.Progress, error) {
	list, err := r.testRunner.Progress(ctx)
	if len(list) == 0 {
		list = append(list, r.extra)
	}
	return list, err
}

func (r *knowing) Stop(ctx context.Context, job planner.JobID, generation int64, mode autoscale.StopMode) error {
	if generation == r.extra.Generation {
		r.stopped++
		r.extra.State = autoscale.GangStopped
		return nil
	}
	return r.testRunner.Stop(ctx, job, generation, mode)
}

// TestGangOfAFleetWithoutMachinesIsNotTakenOver: a runner knows of a generation that a
// store that was restored does not. Where nobody can tell its machines, or they are not
// here, it is stopped, and the job goes on with the next generation; one that is done is
// done.
func TestGangOfAFleetWithoutMachinesIsNotTakenOver(t *testing.T) {
	nodes := []autoscale.GangNode{{Instance: "i-gone", Accelerators: []int{0}}}
	config := planner.Config{Cloud: "aws", Type: "small", Nodes: 1, Replicas: 1}
	for _, tt := range []struct {
		name string
		say  autoscale.Progress
		stop bool // it is told to
		done bool
	}{
		{"its machines are not told", autoscale.Progress{State: autoscale.GangRunning, Safe: 100, Seen: 200}, true, false},
		{"its machines are not here", autoscale.Progress{State: autoscale.GangRunning, Safe: 100, Seen: 200, Gang: &autoscale.Gang{Job: "a", Generation: 5, Config: config, Offering: smallSpot, Nodes: nodes}}, true, false},
		{"it has stopped", autoscale.Progress{State: autoscale.GangStopped, Safe: 100, Seen: 100}, false, false},
		{"it is done", autoscale.Progress{State: autoscale.GangDone, Safe: 1000, Seen: 1000}, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
			tt.say.Job, tt.say.Generation, tt.say.Since = "a", 5, start
			runner := &knowing{testRunner: w.runner, extra: tt.say}
			w.cfg.Runner = runner
			w.restart()
			w.submit(testJob("a", 1, 1))
			w.round(time.Minute)
			if got := runner.stopped > 0; got != tt.stop {
				t.Errorf("told to stop: %t, want %t\n%s", got, tt.stop, w.history())
			}
			if r := w.job("a"); r.Gang != nil || r.Phase == autoscale.JobDone != tt.done {
				t.Errorf("the job is in phase %v with gang %+v\n%s", r.Phase, r.Gang, w.history())
			}
			if tt.done {
				return
			}
			w.until(20, func() bool { return w.job("a").Gang != nil })
			if r := w.job("a"); r.Gang.Generation != 6 || r.Safe != 100 {
				t.Errorf("it goes on as generation %d from %g samples, want 6 from 100\n%s", r.Gang.Generation, r.Safe, w.history())
			}
		})
	}
}
