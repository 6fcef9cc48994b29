package measured

import (
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/planner/goodput"
	"github.com/goodfleet/goodfleet/planner/numeral"
)

// Application is one training program, as it was measured. It does not change once read.
type Application struct {
	Name    string
	batches []int             // total batches that were trained with, ascending; the first is M0
	stats   [][]goodput.Noise // by batch and epoch
	steps   [][]float64       // made by the end of each epoch, by batch
	ends    []float64         // progress at the end of each epoch, samples, ascending
	types   map[string]*times // by accelerator
	slow    float64           // times as long as measured
	restore time.Duration
	restart time.Duration
	fits    map[string]goodput.Theta
}

// Spec says which epochs of a program a job is, and where its step times lie.
type Spec struct {
	Name     string
	Epochs   int
	Types    map[string]string // accelerator → suffix of its files; "" for those without
	MaxLocal map[string]int    // accelerator → largest local batch that is used; none: the largest measured
	Slow     float64           // times as long as measured; 0: 1
	Restore  time.Duration     // without progress at each new allocation
	Restart  time.Duration     // what a scheduler takes that to cost
}

// PolluxSpecs are the six applications of Pollux, on T4.
func PolluxSpecs() []Spec {
	const restart = 30 * time.Second
	t4 := map[string]string{"T4": ""}
	list := []Spec{
		{Name: "bert", Epochs: 2}, {Name: "cifar10", Epochs: 100}, {Name: "deepspeech2", Epochs: 80},
		{Name: "imagenet", Epochs: 90}, {Name: "ncf", Epochs: 10}, {Name: "yolov3", Epochs: 50, MaxLocal: map[string]int{"T4": 8}},
	}
	for i := range list {
		list[i].Types, list[i].Restore, list[i].Restart = t4, restart, restart
	}
	return list
}

// SiaSpecs are the five applications of Sia's traces on the types of its heterogeneous
// cluster, and how much slower than measured they were seen to run.
func SiaSpecs() []Spec {
	types := map[string]string{"T4": "-aws", "RTX 2080 Ti": "-rtx", "A100": "-dgx-ext"}
	list := []Spec{
		{Name: "bert", Epochs: 2, Restore: 120 * time.Second, Restart: 120 * time.Second},
		{Name: "cifar10", Epochs: 100, Slow: 1.8, Restore: 50 * time.Second, Restart: 30 * time.Second},
		{Name: "deepspeech2", Epochs: 80, MaxLocal: map[string]int{"RTX 2080 Ti": 57}, Restore: 25 * time.Second, Restart: 25 * time.Second},
		{Name: "imagenet", Epochs: 90, Restore: 250 * time.Second, Restart: 250 * time.Second},
		{Name: "yolov3", Epochs: 50, Restore: 80 * time.Second, Restart: 45 * time.Second},
	}
	for i := range list {
		list[i].Types = types
		if list[i].Slow == 0 {
			list[i].Slow = 1.2
		}
	}
	return list
}

// Read reads an application from the folder of its name in files.
func Read(files fs.FS, spec Spec) (*Application, error) {
	a := &Application{Name: spec.Name, types: map[string]*times{}, slow: cmp.Or(spec.Slow, 1), restore: spec.Restore, restart: spec.Restart, fits: map[string]goodput.Theta{}}
	names, err := fs.Glob(files, path.Join(spec.Name, "validation-*.csv.gz"))
	if err != nil {
		return nil, err
	}
	of := map[int]string{}
	for _, name := range names {
		text := strings.TrimSuffix(strings.TrimPrefix(path.Base(name), "validation-"), ".csv.gz")
		batch, err := strconv.Atoi(text)
		if err != nil || batch < 1 {
			return nil, fmt.Errorf("%s: %q is no batch", name, text)
		}
		a.batches, of[batch] = append(a.batches, batch), name
	}
	if len(a.batches) == 0 || spec.Epochs < 1 {
		return nil, fmt.Errorf("%s: %d epochs at %d batches: want some of both", spec.Name, spec.Epochs, len(a.batches))
	}
	slices.Sort(a.batches)
	for _, batch := range a.batches {
		if err := a.readEpochs(files, of[batch], spec.Epochs); err != nil {
			return nil, err
		}
	}
	for accelerator, suffix := range spec.Types {
		t, err := readTimes(files, spec.Name, suffix, spec.MaxLocal[accelerator])
		if err != nil {
			return nil, err
		}
		a.types[accelerator] = t
	}
	return a, nil
}

// readEpochs takes in a run at one batch. An epoch ends at the least progress of any.
func (a *Application) readEpochs(files fs.FS, name string, epochs int) error {
	var stats []goodput.Noise
	var steps []float64
	err := eachRow(files, name, []string{"progress", "grad_sqr", "grad_var", "iteration"}, func(v []float64) error {
		epoch := len(stats)
		if epoch == epochs {
			return nil
		}
		noise, ok := goodput.NewNoise(v[1], v[2])
		if !ok || !(v[0] > 0) {
			return fmt.Errorf("progress %g, grad_sqr %g, grad_var %g: want positive progress, and no negative statistics", v[0], v[1], v[2])
		}
		stats, steps = append(stats, noise), append(steps, v[3])
		end := v[0] * float64(a.batches[0])
		if epoch == len(a.ends) {
			a.ends = append(a.ends, end)
		}
		a.ends[epoch] = min(a.ends[epoch], end)
		return nil
	})
	if err != nil {
		return err
	}
	if len(stats) == 0 {
		return fmt.Errorf("%s: no epochs", name)
	}
	a.stats, a.steps = append(a.stats, stats), append(a.steps, steps)
	return nil
}

// M0 is the smallest batch, and Most the largest that was trained with.
func (a *Application) M0() int   { return a.batches[0] }
func (a *Application) Most() int { return a.batches[len(a.batches)-1] }

// Restore is the time without progress at each new allocation, and Restart what
// schedulers take that to cost.
func (a *Application) Restore() time.Duration { return a.restore }
func (a *Application) Restart() time.Duration { return a.restart }

// Work is the samples of a whole training run.
func (a *Application) Work() float64 { return a.ends[len(a.ends)-1] }

// Epochs counts the epochs of a run.
func (a *Application) Epochs() int { return len(a.ends) }

// End is the progress at which an epoch ends, samples.
func (a *Application) End(epoch int) float64 { return a.ends[epoch] }

// EpochAt is the epoch in which progress lies, the last beyond the end.
func (a *Application) EpochAt(progress float64) int {
	at, _ := slices.BinarySearch(a.ends, progress)
	for at < len(a.ends)-1 && a.ends[at] <= progress {
		at++
	}
	return min(at, len(a.ends)-1)
}

// Noise is the statistics in an epoch at a total batch: linear between the two nearest
// batches that were trained with.
func (a *Application) Noise(batch, epoch int) goodput.Noise {
	xs := a.xs()
	at := func(i int) goodput.Noise { return a.stats[i][min(epoch, len(a.stats[i])-1)] }
	return goodput.Noise{
		Sqr: between(xs, float64(batch), func(i int) float64 { return at(i).Sqr }),
		Var: between(xs, float64(batch), func(i int) float64 { return at(i).Var }),
	}
}

// Steps is how many steps a run at a total batch has made by the end of an epoch: linear
// between the two nearest batches that were trained with.
func (a *Application) Steps(batch, epoch int) float64 {
	return between(a.xs(), float64(batch), func(i int) float64 { return a.steps[i][min(epoch, len(a.steps[i])-1)] })
}

// xs are the batches as numbers.
func (a *Application) xs() []float64 {
	xs := make([]float64, len(a.batches))
	for i, b := range a.batches {
		xs[i] = float64(b)
	}
	return xs
}

// between is linear in x between the two nearest of ascending xs, and y of the nearest
// beyond them.
func between(xs []float64, x float64, y func(i int) float64) float64 {
	i, found := slices.BinarySearch(xs, x)
	switch {
	case found || i == 0:
		return y(i)
	case i == len(xs):
		return y(i - 1)
	}
	f := (x - xs[i-1]) / (xs[i] - xs[i-1])
	return (1-f)*y(i-1) + f*y(i)
}

// eachRow reads the given columns of a packed CSV as numbers.
func eachRow(files fs.FS, name string, columns []string, use func(v []float64) error) error {
	f, err := files.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	rows, err := csv.NewReader(text).ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(rows) < 2 {
		return fmt.Errorf("%s: no rows", name)
	}
	values := make([]float64, len(columns))
	for line, row := range rows[1:] {
		for i, column := range columns {
			at := slices.Index(rows[0], column)
			if at < 0 {
				return fmt.Errorf("%s: column %s is missing", name, column)
			}
			if values[i], err = numeral.Parse(row[at]); err != nil {
				return fmt.Errorf("%s:%d: %s: %q: %w", name, line+2, column, row[at], err)
			}
		}
		if err := use(values); err != nil {
			return fmt.Errorf("%s:%d: %w", name, line+2, err)
		}
	}
	return nil
}
