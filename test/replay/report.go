package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// write puts REPLAY.md and replay.csv into a folder.
func write(folder string, rows []*row) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, text := range map[string][]byte{"REPLAY.md": page(rows), "replay.csv": table(rows)} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// page is the report for people.
func page(rows []*row) []byte {
	var b bytes.Buffer
	met, judged := 0, 0
	for _, r := range rows {
		if r.judged() {
			judged++
			if r.met() {
				met++
			}
		}
	}
	fmt.Fprintf(&b, "# Published experiments, replayed\n\nWritten by `make replay`; do not edit. Each run goes through the loop that spends money, on machines that are owned.\n\n%d of %d published numbers are met within their tolerance.\n", met, judged)
	var last *experiment
	for _, r := range rows {
		e := r.experiment
		if e != last {
			fmt.Fprintf(&b, "\n## %s\n\n%s, cluster `%s`. Published: %s. Tolerance %s: %s\n\n| point | seeds | published | ours | difference | |\n| --- | --- | --- | --- | --- | --- |\n",
				e.Title, upper(e.Measure), e.Cluster, e.Source, e.Tolerance, e.Why)
			last = e
		}
		at, verdict := r.point.at(), "met"
		switch {
		case !r.judged():
			at, verdict = at+", "+r.ablation, "ablation"
		case !r.met():
			verdict = "**not met**"
		}
		fmt.Fprintf(&b, "| %s | %s | %.2f | %.3f | %+.2f %% | %s |\n", at, seedList(r), r.point.Published, r.mean(), 100*(r.mean()/r.point.Published-1), verdict)
	}
	return b.Bytes()
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func seedList(r *row) string {
	var words []string
	for _, s := range r.point.seeds() {
		words = append(words, strconv.Itoa(s))
	}
	return strings.Join(words, " ")
}

// table is one row a run, for programs.
func table(rows []*row) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write([]string{"experiment", "point", "seed", "ablation", "measure", "value", "rounds", "published_mean", "hash"}) // a buffer never fails
	for _, r := range rows {
		for i, x := range r.results {
			_ = w.Write([]string{
				r.experiment.Name, r.point.at(), strconv.Itoa(r.point.seeds()[i]), r.ablation, r.experiment.Measure, strconv.FormatFloat(x.value, 'f', 6, 64),
				strconv.FormatInt(x.rounds, 10), strconv.FormatFloat(r.point.Published, 'g', -1, 64), x.hash,
			})
		}
	}
	w.Flush()
	return b.Bytes()
}
