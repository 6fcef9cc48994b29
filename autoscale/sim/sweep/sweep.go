package sweep

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/goodfleet/goodfleet/autoscale/sim"
)

// Run is one simulation of a sweep.
type Run struct {
	Places  []string // on each axis
	Setting func() (sim.Setting, error)
}

// Config says what is swept.
type Config struct {
	Axes     []string
	Runs     []Run
	Inputs   []string // all else that rows depend on, such as hashes of files
	Journal  string   // file of rows
	Parallel int      // runs side by side; 0: as many as there are processors

	// Progress is told how much is done, one call at a time: runs, and how much of all
	// runs, from 0 to 1. Nil: nobody is.
	Progress func(runs int, part float64)
}

// Do runs what the journal does not hold yet and returns all rows, in the order of
// Runs. After an error, as when ctx is cancelled, the journal keeps the rows of those
// runs that have ended.
func Do(ctx context.Context, cfg Config) (Table, error) {
	if err := cfg.validate(); err != nil {
		return Table{}, fmt.Errorf("sweep: %w", err)
	}
	j, held, err := openJournal(cfg.Journal, cfg.head(), cfg.Runs)
	if err != nil {
		return Table{}, fmt.Errorf("sweep: %w", err)
	}
	w := &work{cfg: cfg, journal: j, rows: held, part: make([]float64, len(cfg.Runs))}
	for run := range held {
		w.part[run] = 1
	}
	w.tell()
	err = w.run(ctx)
	if shut := j.close(); err == nil {
		err = shut
	}
	if err != nil {
		return Table{}, fmt.Errorf("sweep: %w", err)
	}
	t := Table{Axes: cfg.Axes}
	for i := range cfg.Runs {
		t.Rows = append(t.Rows, w.rows[i])
	}
	return t, nil
}

func (cfg *Config) validate() error {
	if len(cfg.Runs) == 0 || cfg.Journal == "" {
		return fmt.Errorf("want a run and a journal at least")
	}
	seen := map[string]bool{}
	for _, r := range cfg.Runs {
		name := strings.Join(r.Places, "\x00")
		switch {
		case len(r.Places) != len(cfg.Axes) || r.Setting == nil:
			return fmt.Errorf("run %v: want a setting and a place on each of %v", r.Places, cfg.Axes)
		case seen[name]:
			return fmt.Errorf("run %v is there twice", r.Places)
		}
		seen[name] = true
	}
	for _, name := range cfg.Axes {
		if slices.Contains(Figures(), name) {
			return fmt.Errorf("axis %q is a figure", name)
		}
	}
	return nil
}

// head is what a journal of this sweep begins with.
func (cfg *Config) head() headLine {
	h := sha256.New()
	say := json.NewEncoder(h)
	_ = say.Encode([][]string{cfg.Axes, Figures(), cfg.Inputs}) // a hash never fails, and texts can be told
	for _, r := range cfg.Runs {
		_ = say.Encode(r.Places)
	}
	return headLine{Sweep: hex.EncodeToString(h.Sum(nil)), Runs: len(cfg.Runs)}
}

// work is a sweep under way.
type work struct {
	cfg Config

	mu      sync.Mutex // guards all below
	journal *journal
	rows    map[int]Row
	part    []float64 // done of each run
}

// run simulates what has no row.
func (w *work) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	if w.cfg.Parallel <= 0 {
		w.cfg.Parallel = runtime.GOMAXPROCS(0)
	}
	group.SetLimit(w.cfg.Parallel)
	for i, r := range w.cfg.Runs {
		w.mu.Lock()
		_, known := w.rows[i]
		w.mu.Unlock()
		if known {
			continue
		}
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := w.one(ctx, i, r); err != nil {
				return fmt.Errorf("%s: %w", w.cfg.name(r), err)
			}
			return nil
		})
	}
	return group.Wait()
}

// name is a run in words.
func (cfg *Config) name(r Run) string {
	var words []string
	for i, axis := range cfg.Axes {
		if r.Places[i] != "" {
			words = append(words, axis+" "+r.Places[i])
		}
	}
	return strings.Join(words, ", ")
}

// one simulates a run and keeps its row.
func (w *work) one(ctx context.Context, i int, r Run) error {
	s, err := r.Setting()
	if err != nil {
		return err
	}
	s.Progress = func(p sim.Progress) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if part := float64(p.Done) / float64(max(1, p.Jobs)); part > w.part[i] {
			w.part[i] = part
			w.tell()
		}
	}
	out, err := sim.Simulate(ctx, s)
	if err != nil {
		return err
	}
	row := Row{Places: r.Places, Figures: figuresOf(&out)}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.journal.add(i, row); err != nil {
		return err
	}
	w.rows[i], w.part[i] = row, 1
	w.tell()
	return nil
}

// tell reports progress; w.mu is held, or nobody else works yet.
func (w *work) tell() {
	if w.cfg.Progress == nil {
		return
	}
	sum := 0.0
	for _, p := range w.part {
		sum += p
	}
	w.cfg.Progress(len(w.rows), sum/float64(len(w.part)))
}
