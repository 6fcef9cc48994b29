package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// write puts REPLAY.md, replay.csv, curves.csv, fronts.csv and the pictures, as SVG, into a
// folder.
func write(folder string, rows []*row) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	plannings, err := readPlannings(planningsIn(folder))
	if err != nil {
		return err
	}
	pictures, duels := picturesOf(rows, plannings), duels(rows)
	files := map[string][]byte{filepath.Join(folder, "REPLAY.md"): page(rows, pictures, duels), recordsIn(folder): table(rows), curvesIn(folder): curves(rows)}
	if len(duels) > 0 {
		files[frontsIn(folder)] = fronts(duels)
	}
	for _, p := range pictures {
		text, err := p.svg()
		if err != nil {
			return err
		}
		files[filepath.Join(folder, p.file)] = text
	}
	for name, text := range files {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// page is the report for people.
func page(rows []*row, pictures []picture, duels []duel) []byte {
	var b bytes.Buffer
	met, judged, open := 0, 0, 0
	for _, r := range rows {
		switch {
		case !r.complete():
			open++
		case r.judged():
			judged++
			if r.met() {
				met++
			}
		}
	}
	b.WriteString("# Published experiments, replayed\n\nWritten by `make replay`; do not edit. Each run goes through the loop that spends money, on a\n" +
		"cluster that stands or, where that is `bought`, on machines that are bought at recorded prices. Beside it,\n" +
		"`replay.csv` has a line for every run, with a hash of who ended when, and `curves.csv` the curves of runs.\n\n")
	fmt.Fprintf(&b, "%d of %d published numbers are met within their tolerance.", met, judged)
	if open > 0 {
		fmt.Fprintf(&b, " %d more points are listed and not run yet.", open)
	}
	if n := len(duels); n > 0 {
		won := 0
		for i := range duels {
			if duels[i].won() {
				won++
			}
		}
		fmt.Fprintf(&b, " Of %d duels with other rules that buy, %d are won.", n, won)
	}
	b.WriteString("\n")
	if len(pictures) > 0 {
		b.WriteString("\n## Pictures\n")
	}
	for _, p := range pictures {
		fmt.Fprintf(&b, "\n![%s](%s)\n\n%s\n", p.chart.Title, p.file, p.caption)
	}
	var last *experiment
	for i, r := range rows {
		if r.experiment != last {
			last = r.experiment
			head(&b, last, rows)
		}
		line(&b, r)
		if i+1 == len(rows) || rows[i+1].experiment != last {
			b.WriteString(duelTable(duels, last))
		}
	}
	return b.Bytes()
}

// head is what stands over the table of an experiment.
func head(b *bytes.Buffer, e *experiment, rows []*row) {
	fmt.Fprintf(b, "\n## %s\n\n%s, cluster `%s`. ", e.Title, upper(e.Measure), e.Cluster)
	if e.Shown {
		fmt.Fprintf(b, "%s %s", e.Source, e.Why)
	} else {
		fmt.Fprintf(b, "Published: %s. Tolerance %s: %s", e.Source, e.Tolerance, e.Why)
	}
	for _, m := range e.Beside {
		fmt.Fprintf(b, " %s: %s", upper(m.Measure), m.Why)
		if len(m.Published) > 0 {
			fmt.Fprintf(b, " Tolerance %s.", m.Tolerance)
		}
	}
	if e.PeerSource != "" {
		fmt.Fprintf(b, " The authors' own simulator: %s.", e.PeerSource)
	}
	fmt.Fprintf(b, " Again: `%s`.\n\n", commandOf(e))
	for _, r := range rows {
		if r.experiment == e && r.judged() && r.complete() && !r.met() {
			cause := e.Cause
			if cause == "" {
				cause = "not found yet."
			}
			fmt.Fprintf(b, "Cause of what is not met: %s\n\n", cause)
			break
		}
	}
	b.WriteString("| point | seeds | published | authors' simulator | ours | difference | |\n| --- | --- | --- | --- | --- | --- | --- |\n")
}

// line is a row of a table.
func line(b *bytes.Buffer, r *row) {
	at, peer, ours, difference, verdict := r.point.inWords(), "", "", "", r.verdict()
	if r.ablation != "" {
		at += ", " + r.ablation
	}
	if r.beside {
		at += ": " + r.measure
	}
	published := exact(r.point.Published)
	if r.beside && !r.shown {
		published = strconv.FormatFloat(r.point.Published, 'g', -1, 64) // it may be 0
	}
	if r.point.Peer > 0 {
		peer = fmt.Sprintf("%.3f", r.point.Peer)
	}
	switch verdict {
	case "not complete":
		verdict = "not run yet"
	case "not met":
		verdict = "**not met**"
	case "ablation":
		if r.experiment.Week != nil {
			verdict = "rule"
		}
	}
	if r.complete() {
		ours = fmt.Sprintf("%.3f", r.mean())
		if r.experiment.Week != nil {
			ours = fmt.Sprintf("%.2f at %.3f h", r.mean(), r.meanPlace().X)
		}
	}
	if r.complete() && !r.shown && r.measure == lateShare {
		difference = fmt.Sprintf("%+.2f points", r.mean()-r.point.Published)
	} else if r.complete() && r.point.Published > 0 {
		difference = fmt.Sprintf("%+.2f %%", 100*(r.mean()/r.point.Published-1))
	}
	fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", at, seedList(r), published, peer, ours, difference, verdict)
}

// inWords is at with what a parameter of a rule means.
func (p point) inWords() string {
	if p.Parameter == 0 || p.rule == nil {
		return p.at()
	}
	n := strconv.FormatFloat(p.Parameter, 'g', -1, 64)
	switch p.rule.Peer {
	case "fixed":
		return n + " accelerators"
	case "backlog":
		return "as many accelerators as do the work that is there within " + n + " h"
	case "greedy", "on-demand":
		return "the least rate over speed to the power " + n
	}
	return p.at()
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func seedList(r *row) string {
	var words []string
	for _, s := range r.point.seeds() {
		words = append(words, strconv.Itoa(s))
	}
	return strings.Join(words, " ")
}
