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
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// config is what is asked.
type config struct {
	data     string // folder of the public data
	out      string
	only     string // part of the names of experiments; "": all
	at       string // a point in words; "": all
	quick    bool
	missing  bool   // leave what out holds already
	against  string // file of recorded runs that ours are held against; "": none
	parallel int    // runs side by side; 0: as many as there are processors
	plans    bool   // measure what plans take, and run nothing
}

func main() {
	cfg := config{data: os.Getenv("GOODFLEET_DATA")}
	flag.StringVar(&cfg.out, "out", "", "folder that REPLAY.md, replay.csv, curves.csv and pictures are written to")
	flag.StringVar(&cfg.only, "only", "", "run only experiments with this in their name; what the folder holds of others stays")
	flag.StringVar(&cfg.at, "at", "", `run only points that are called so, as in "4 jobs/h"; what the folder holds of others stays`)
	flag.BoolVar(&cfg.quick, "quick", false, "run only the points of the quick set")
	flag.BoolVar(&cfg.missing, "missing", false, "run only what the folder does not hold yet")
	flag.StringVar(&cfg.against, "against", "", "tell which runs end otherwise than in this replay.csv, and fail where a number is far from it")
	flag.BoolVar(&cfg.plans, "plans", false, "run no experiment: measure what one plan takes, over the number of jobs, and draw it beside what the folder holds")
	flag.IntVar(&cfg.parallel, "parallel", 0, "runs side by side (0: as many as there are processors)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	debug.SetGCPercent(200) // much garbage; but the books of 5,000 jobs that move each round live to the end
	err := replay(ctx, os.Stderr, cfg)
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) == nil {
		fmt.Fprintf(os.Stderr, "replay: %d CPU s, %d MiB at most\n", used.Utime.Sec+used.Stime.Sec, used.Maxrss>>10)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

// errMissed says that some published number was not met.
var errMissed = errors.New("not every published number is met: see REPLAY.md")

// replay runs what is asked, tells of each run as it ends, and writes the report after
// each: what a stopped replay has done stays.
func replay(ctx context.Context, tell io.Writer, cfg config) error {
	switch info, err := os.Stat(cfg.data); {
	case cfg.data == "":
		return errors.New("GOODFLEET_DATA is not set: it names the folder of the public data, which goodfleet data fetch brings")
	case err != nil || !info.IsDir():
		return fmt.Errorf("GOODFLEET_DATA names %q, which is no folder", cfg.data)
	case cfg.out == "":
		return errors.New("-out: want the folder that the report is written to")
	case cfg.quick && cfg.missing:
		return errors.New("-quick runs all of the quick set: want no -missing beside it")
	case cfg.plans && (cfg.quick || cfg.only != "" || cfg.at != "" || cfg.against != ""):
		return errors.New("-plans runs no experiment: want no -quick, -only, -at or -against beside it")
	}
	all, err := readExperiments()
	if err != nil {
		return err
	}
	if cfg.plans {
		list, err := measurePlans(ctx, tell, cfg.data)
		if err != nil {
			return err
		}
		if err := writePlannings(cfg.out, list); err != nil {
			return err
		}
		rows := rowsOf(all, false)
		if err := takeRecorded(rows, cfg); err != nil {
			return err
		}
		return write(cfg.out, rows)
	}
	return replayThese(ctx, tell, cfg, all)
}

func replayThese(ctx context.Context, tell io.Writer, cfg config, all []experiment) error {
	rows := rowsOf(all, cfg.quick)
	asked := 0
	for _, r := range rows {
		if r.asked = strings.Contains(r.experiment.Name, cfg.only) && (cfg.at == "" || cfg.at == r.point.at()); r.asked {
			asked++
		}
	}
	if asked == 0 {
		return fmt.Errorf("-only %q -at %q: there is no such experiment", cfg.only, cfg.at)
	}
	if !cfg.quick && (cfg.only != "" || cfg.at != "" || cfg.missing) {
		if err := takeRecorded(rows, cfg); err != nil {
			return err
		}
	}
	if err := runAll(ctx, tell, cfg, rows); err != nil {
		return err
	}
	if cfg.against != "" {
		if err := compare(tell, cfg.against, rows); err != nil {
			return err
		}
	}
	ran := map[*experiment]bool{}
	for _, r := range rows {
		if r.asked && r.judged() && !r.met() {
			return errMissed
		}
		ran[r.experiment] = ran[r.experiment] || r.asked
	}
	for _, d := range duels(rows) {
		if ran[d.experiment] && !d.won() {
			return fmt.Errorf("%s: not won against %s: see REPLAY.md", d.experiment.Name, d.rule)
		}
	}
	return nil
}

// takeRecorded takes over what the folder holds of rows that are not to be run.
func takeRecorded(rows []*row, cfg config) error {
	held, err := readRecords(recordsIn(cfg.out))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	drawn, err := readCurves(curvesIn(cfg.out))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, r := range rows {
		for i := range r.results {
			x, ok := held[r.key(i)]
			switch {
			case !ok || !cfg.missing && r.asked:
			case r.beside:
				r.results[i] = r.results[i].with(r.measure, x.value)
			default:
				x.curves = drawn[r.curveKey(i)]
				r.results[i] = x
			}
		}
	}
	return nil
}

// row is a measure of a point with what it came to, one result per seed.
type row struct {
	experiment *experiment
	point      point
	ablation   string // what was changed; "": nothing
	measure    string
	tolerance  tolerance
	shown      bool     // there is nothing to hold it against
	beside     bool     // it has the results of the row before that is not, and is not run
	asked      bool     // it is to be run
	results    []result // of which those of no rounds are not known
}

// rowsOf lists what there is to run.
func rowsOf(all []experiment, quick bool) []*row {
	var rows []*row
	add := func(r *row) {
		if r.point.Quick || !quick {
			e := r.experiment
			r.measure, r.tolerance, r.shown = e.Measure, e.Tolerance, e.Shown
			r.results = make([]result, len(r.point.seeds()))
			rows = append(rows, r)
		}
	}
	for i := range all {
		e := &all[i]
		for at, p := range e.Points {
			add(&row{experiment: e, point: p})
			if quick && !p.Quick {
				continue
			}
			main := rows[len(rows)-1]
			for _, b := range e.Beside {
				more := &row{experiment: e, point: p, measure: b.Measure, tolerance: b.Tolerance, beside: true, results: main.results}
				more.point.Published, more.point.Peer = 0, 0
				if more.shown = len(b.Published) == 0 || b.Published[at] < 0; !more.shown {
					more.point.Published = b.Published[at]
				}
				rows = append(rows, more)
			}
		}
		for _, a := range e.Ablations {
			for _, p := range a.Points {
				p.rule = &a.Scheduler
				add(&row{experiment: e, point: p, ablation: a.What})
			}
		}
	}
	return rows
}

// runAll runs the rows that are asked for and whose results are not known, side by
// side, and writes all that is known after each run.
func runAll(ctx context.Context, tell io.Writer, cfg config, rows []*row) error {
	var mu sync.Mutex // guards tell and all results
	group, ctx := errgroup.WithContext(ctx)
	if cfg.parallel <= 0 {
		cfg.parallel = runtime.GOMAXPROCS(0)
	}
	group.SetLimit(cfg.parallel)
	for _, r := range rows {
		for i, seed := range r.point.seeds() {
			mu.Lock()
			known := r.results[i].tells(r.experiment.Beside)
			mu.Unlock()
			if known || !r.asked || r.beside {
				continue
			}
			group.Go(func() error {
				began := time.Now()
				x, err := run(ctx, cfg.data, *r.experiment, r.point, seed)
				if err != nil {
					return fmt.Errorf("%s at %s, seed %d: %w", r.experiment.Name, r.point.at(), seed, err)
				}
				mu.Lock()
				defer mu.Unlock()
				r.results[i] = x
				fmt.Fprintf(tell, "%s %s seed %d %s: %.4f (%d rounds, %.0f s)\n", r.experiment.Name, r.point.at(), seed, r.ablation, x.value, x.rounds, time.Since(began).Seconds())
				return write(cfg.out, rows)
			})
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return write(cfg.out, rows)
}

// complete reports whether all seeds are known.
func (r *row) complete() bool {
	for _, x := range r.results {
		if _, ok := r.value(x); !ok {
			return false
		}
	}
	return true
}

// value is what a result says of the measure of the row. ok is false where it was not run,
// or did not tell.
func (r *row) value(x result) (v float64, ok bool) {
	if r.beside {
		v, ok = x.beside[r.measure]
		return v, ok
	}
	return x.value, x.known()
}

// mean over the seeds; of what is the largest of a run, the largest.
func (r *row) mean() float64 {
	sum, most := 0.0, 0.0
	for _, x := range r.results {
		v, _ := r.value(x)
		sum, most = sum+v, max(most, v)
	}
	if r.measure == worstRho {
		return most
	}
	return sum / float64(len(r.results))
}

// judged rows must be met; ablations need not, and what is only shown.
func (r *row) judged() bool { return r.ablation == "" && !r.shown }

func (r *row) met() bool { return r.tolerance.holds(r.mean(), r.point.Published) }

// verdict of a row, in a word.
func (r *row) verdict() string {
	switch {
	case r.ablation != "":
		return "ablation"
	case !r.complete():
		return "not complete"
	case r.shown:
		return "shown"
	case !r.met():
		return "not met"
	}
	return "met"
}
