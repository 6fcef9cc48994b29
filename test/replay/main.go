package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// config is what is asked.
type config struct {
	data  string // folder of the public data
	out   string
	only  string // part of the names of experiments; "": all
	quick bool
}

func main() {
	cfg := config{data: os.Getenv("GOODFLEET_DATA")}
	flag.StringVar(&cfg.out, "out", "", "folder that REPLAY.md and replay.csv are written to")
	flag.StringVar(&cfg.only, "only", "", "run only experiments with this in their name")
	flag.BoolVar(&cfg.quick, "quick", false, "run only the points of the quick set")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	debug.SetGCPercent(400) // much garbage, little that lives
	if err := replay(ctx, os.Stderr, cfg); err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

// errMissed says that some published number was not met.
var errMissed = errors.New("not every published number is met: see REPLAY.md")

// replay runs what is asked, tells of each run as it ends, and writes the report.
func replay(ctx context.Context, tell io.Writer, cfg config) error {
	switch info, err := os.Stat(cfg.data); {
	case cfg.data == "":
		return errors.New("GOODFLEET_DATA is not set: it names the folder of the public data, which goodfleet data fetch brings")
	case err != nil || !info.IsDir():
		return fmt.Errorf("GOODFLEET_DATA names %q, which is no folder", cfg.data)
	case cfg.out == "":
		return errors.New("-out: want the folder that the report is written to")
	}
	all, err := readExperiments()
	if err != nil {
		return err
	}
	rows := rowsOf(all, cfg)
	if len(rows) == 0 {
		return fmt.Errorf("-only %q: there is no such experiment", cfg.only)
	}
	if err := runAll(ctx, tell, cfg.data, rows); err != nil {
		return err
	}
	if err := write(cfg.out, rows); err != nil {
		return err
	}
	for _, r := range rows {
		if r.judged() && !r.met() {
			return errMissed
		}
	}
	return nil
}

// row is a point with what it came to, one result per seed.
type row struct {
	experiment *experiment
	point      point
	ablation   string // what was changed; "": nothing
	results    []result
}

// rowsOf lists what is to be run.
func rowsOf(all []experiment, cfg config) []*row {
	var rows []*row
	for i := range all {
		e := &all[i]
		if !strings.Contains(e.Name, cfg.only) {
			continue
		}
		for _, p := range e.Points {
			if p.Quick || !cfg.quick {
				rows = append(rows, &row{experiment: e, point: p})
			}
		}
		for _, a := range e.Ablations {
			for _, p := range a.Points {
				if p.Quick || !cfg.quick {
					p.rule = &a.Scheduler
					rows = append(rows, &row{experiment: e, point: p, ablation: a.What})
				}
			}
		}
	}
	return rows
}

// runAll runs all rows side by side, as many at a time as there are processors.
func runAll(ctx context.Context, tell io.Writer, data string, rows []*row) error {
	var mu sync.Mutex // guards tell
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, r := range rows {
		r.results = make([]result, len(r.point.seeds()))
		for i, seed := range r.point.seeds() {
			group.Go(func() (err error) {
				began := time.Now()
				if r.results[i], err = run(ctx, data, *r.experiment, r.point, seed); err != nil {
					return fmt.Errorf("%s at %s, seed %d: %w", r.experiment.Name, r.point.at(), seed, err)
				}
				mu.Lock()
				defer mu.Unlock()
				fmt.Fprintf(tell, "%s %s seed %d %s: %.4f (%d rounds, %.0f s)\n", r.experiment.Name, r.point.at(), seed, r.ablation, r.results[i].value, r.results[i].rounds, time.Since(began).Seconds())
				return nil
			})
		}
	}
	return group.Wait()
}

// mean over the seeds.
func (r *row) mean() float64 {
	sum := 0.0
	for _, x := range r.results {
		sum += x.value
	}
	return sum / float64(len(r.results))
}

// judged rows must be met; ablations need not.
func (r *row) judged() bool { return r.ablation == "" }

func (r *row) met() bool { return r.experiment.Tolerance.holds(r.mean(), r.point.Published) }
