package autoscale_test

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/provider"
)

// moreRows is a cloud whose listings have rows behind which there is nothing.
type moreRows struct {
	provider.Cloud
	rows []provider.Instance
}

func (c *moreRows) Instances(ctx context.Context) ([]provider.Instance, error) {
	list, err := c.Cloud.Instances(ctx)
	return slices.Concat(c.rows, list), err
}

// withRows puts rows into the listings of the first cloud.
func (w *world) withRows(rows ...provider.Instance) *moreRows {
	more := &moreRows{Cloud: w.clouds[0], rows: rows}
	w.cfg.Clouds = []provider.Cloud{more}
	w.restart()
	return more
}

func TestBrokenRowOfAMachineNeitherEndsNorChangesIt(t *testing.T) {
	for name, spoil := range map[string]func(*provider.Instance){
		"no state":         func(i *provider.Instance) { i.State = 0 },
		"no market":        func(i *provider.Instance) { i.Offering.Market = 0 },
		"no such epoch":    func(i *provider.Instance) { i.Tags.Epoch = 1<<63 - 1 },
		"no such round":    func(i *provider.Instance) { i.Tags.Round = -1 },
		"another type":     func(i *provider.Instance) { i.Offering.Type = "large" },
		"another cloud":    func(i *provider.Instance) { i.Offering.Cloud = "gcp" },
		"ended, not alike": func(i *provider.Instance) { i.State, i.Ended = provider.Ended, start },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
			more := w.withRows()
			w.submit(testJob("a", 1, 1))
			w.until(10, func() bool { return w.job("a").Phase == autoscale.JobStarted })
			row := w.live()[0]
			spoil(&row)
			more.rows = []provider.Instance{row}
			for range 10 {
				w.round(time.Minute)
			}
			if r := w.job("a"); r.Losses != 0 || r.Gang == nil || len(w.live()) != 1 {
				t.Errorf("the job lost %d gangs and holds %+v, %d machines", r.Losses, r.Gang, len(w.live()))
			}
			if n := w.kinds()[autoscale.EventOdd]; n == 0 {
				t.Error("no event names the row")
			}
			more.rows = nil
			w.until(120, w.allEnded)
			w.round(time.Minute)
			w.checkBooks()
		})
	}
}

// Whatever a row says, the loop serves its jobs.
func FuzzListing(f *testing.F) {
	f.Add("i-odd", "aws", "us-east-1", "use1-az1", "small", uint8(2), uint8(2), "fleet", int64(-60), int64(-30), int64(0), uint8(0), 1)
	f.Add("", "aws", "", "", "", uint8(99), uint8(9), "fleet", int64(0), int64(0), int64(0), uint8(77), -3)
	f.Add("i-odd", "aws", "us-east-1", "use1-az1", "no.such", uint8(1), uint8(4), "fleet", int64(1)<<40, int64(-1)<<40, int64(1), uint8(2), 0)
	f.Add("i-odd", "aws", "us-east-1", "use1-az1", "no.such", uint8(1), uint8(2), "fleet", int64(9), int64(-10), int64(1), uint8(2), 0)
	f.Add("i-odd", "gcp", "us-east-1", "use1-az1", "small", uint8(1), uint8(1), "fleet", int64(5), int64(7), int64(6), uint8(1), 8)
	f.Fuzz(func(t *testing.T, id, cloud, region, zone, name string, market, state uint8, fleet string, launched, started, ended int64, cause uint8, accelerators int) {
		at := func(sec int64) time.Time {
			if sec == 0 {
				return time.Time{}
			}
			return start.Add(time.Duration(sec) * time.Second)
		}
		o := provider.Offering{Cloud: cloud, Region: region, Zone: zone, Type: name, Market: provider.Market(market)}
		if id != "" && provider.InstanceState(state) >= provider.Pending && provider.InstanceState(state) < provider.Ended && o.Validate() == nil && cloud == "aws" && (name == "small" || name == "large") {
			return // nobody can tell it from a machine
		}
		w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
		w.stable = false // a row may come and go
		w.withRows(provider.Instance{
			ID:       provider.InstanceID(id),
			Offering: o,
			State:    provider.InstanceState(state), Tags: provider.Tags{Fleet: fleet}, Cause: provider.EndCause(cause),
			Launched: at(launched), Started: at(started), Ended: at(ended), CalledHome: at(started), Accelerators: accelerators,
		})
		w.submit(testJob("a", 0.2, 1))
		for range 60 {
			w.advance(w.now.Add(time.Minute))
			if _, err := w.loop.Round(t.Context(), w.now); err != nil {
				t.Fatal(err)
			}
		}
		if r := w.job("a"); r.Phase != autoscale.JobDone {
			t.Errorf("the job is in phase %d after an hour\n%s", r.Phase, w.history())
		}
	})
}

// A row with our tag that cannot be believed becomes no machine: it is told of, and
// neither recorded, used nor ended.
func TestStrangeRowBecomesNoMachine(t *testing.T) {
	for name, spoil := range map[string]func(*provider.Instance){
		"":                        func(*provider.Instance) {}, // as it should be: it is adopted
		"no id":                   func(i *provider.Instance) { i.ID = "" },
		"no state":                func(i *provider.Instance) { i.State = 0 },
		"a state that is none":    func(i *provider.Instance) { i.State = 99 },
		"no market":               func(i *provider.Instance) { i.Offering.Market = 0 },
		"a market that is none":   func(i *provider.Instance) { i.Offering.Market = 99 },
		"no type":                 func(i *provider.Instance) { i.Offering.Type = "" },
		"no zone":                 func(i *provider.Instance) { i.Offering.Zone = "" },
		"an epoch before all":     func(i *provider.Instance) { i.Tags.Epoch = -1 },
		"a round before all":      func(i *provider.Instance) { i.Tags.Round = -1 },
		"memory that is none":     func(i *provider.Instance) { i.MemGiB = math.NaN() },
		"a cloud that is another": func(i *provider.Instance) { i.Offering.Cloud = "gcp" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, setup{plan: thrifty, offerings: []provider.Offering{smallSpot}})
			w.round(time.Minute) // the store's first round: no frozen start
			row := provider.Instance{
				ID: "i-strange", Offering: smallSpot, State: provider.Running, Launched: start, Started: start,
				Tags: provider.Tags{Fleet: "fleet"},
			}
			spoil(&row)
			w.withRows(row)
			w.stable = false
			for range 3 {
				w.advance(w.now.Add(time.Minute))
				if _, err := w.loop.Round(t.Context(), w.now); err != nil {
					t.Fatal(err)
				}
			}
			want, odd := 0, 1
			if name == "" {
				want, odd = 1, 0
			}
			if got := len(w.records()); got != want {
				t.Errorf("%d machines are on record, want %d\n%s", got, want, w.history())
			}
			if got := w.kinds()[autoscale.EventOdd]; got != odd {
				t.Errorf("it is told %d times, want %d\n%s", got, odd, w.history())
			}
		})
	}
}
