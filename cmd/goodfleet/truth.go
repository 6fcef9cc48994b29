package main

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"time"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/planner"
)

// truthFiles are the profiles that go with examples.
//
//go:embed examples/truth/*.yaml
var truthFiles embed.FS

// measuredScatter is the standard deviation of the logarithm of what simulated jobs
// measure, around what a truth says.
const measuredScatter = 0.02

// believeOtherwise lets jobs of a simulation do as the profiles of a file say, each as
// that of the name of its own, whatever they were handed in with.
func believeOtherwise(name string, s *sim.Setting) error {
	if name == "" {
		return nil
	}
	text, err := readFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if shipped, missing := truthFiles.ReadFile("examples/truth/" + name + ".yaml"); missing == nil {
			text, err = shipped, nil
		}
	}
	if err != nil {
		return fmt.Errorf("--truth: %w", err)
	}
	docs, err := document.Decode(name, text)
	if err != nil {
		return err
	}
	truth := map[string]sim.Elastic{}
	for _, d := range docs {
		if d.Profile == nil || len(d.Profile.Types) == 0 {
			return d.Fail("kind", "want documents of kind Profile with types here")
		}
		if _, twice := truth[d.Profile.Name]; twice {
			return d.Fail("metadata.name", "%q: is given twice", d.Profile.Name)
		}
		truth[d.Profile.Name] = sim.ElasticOf(d.Profile)
		used := false
		for _, j := range s.Jobs {
			p, ok := planner.GoodputProfileOf(j.Curve)
			used = used || ok && p.Name == d.Profile.Name
		}
		if !used {
			return d.Fail("metadata.name", "%q: no job has a profile of that name", d.Profile.Name)
		}
	}
	s.Truth.Scatter = measuredScatter
	s.Truth.Elastic = func(j *planner.Job) (sim.Elastic, bool) {
		p, ok := planner.GoodputProfileOf(j.Curve)
		if !ok {
			return sim.Elastic{}, false
		}
		if e, known := truth[p.Name]; known {
			return e, true
		}
		return sim.ElasticOf(p), true
	}
	return nil
}

// writeCourses tells where the jobs that adapt were sent, if there are any.
func writeCourses(w io.Writer, o sim.Outcome) error {
	table := grid{head: []string{"job", "at", "on", "batch", "believed", "true"}, right: []bool{3: true, 4: true, 5: true}}
	for _, j := range o.JobOutcomes {
		for _, c := range j.Course {
			table.rows = append(table.rows, []string{
				string(j.Job), c.At.Format(time.DateTime), fmt.Sprintf("%d × %s, %d nodes", c.Replicas, c.Accelerator, c.Nodes), strconv.Itoa(c.Batch),
				fmt.Sprintf("%.1f", c.Believed), fmt.Sprintf("%.1f", c.True),
			})
		}
	}
	if len(table.rows) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nWhere jobs that adapt were sent by %s; goodput in samples/s\n\n", o.Variant)
	table.table(w)
	return err
}
