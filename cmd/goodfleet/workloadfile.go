package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/autoscale/sim/workload"
	"github.com/goodfleet/goodfleet/planner"
)

// mostWorkload is how long a workload may be, unpacked: beyond, it is none.
const mostWorkload = 256 << 20

// readWorkload reads the jobs of --workload: documents, a CSV of jobs, a trace of
// Gavel's or a stream of its simulations, packed by gzip or not. What it is shows in
// its first line. Jobs of a file without dates come from the Monday on with which the
// example begins.
func (world world) readWorkload(cfg simulateConfig, in io.Reader) ([]*planner.Job, error) {
	name := cfg.workload
	text, err := workloadText(name, in)
	if err == nil {
		text, err = document.Text(name, text)
	}
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(string(text[:min(len(text), 4096)]), "\n")
	columns := strings.Split(strings.TrimSpace(first), ",")
	has := func(column string) bool { return slices.Contains(columns, column) }
	if cfg.load != 0 && !has("unit_arrival") {
		return nil, fmt.Errorf("--load %g: %s tells when its jobs come: it is no stream", cfg.load, name)
	}
	begin := workload.GavelWeekConfig().Start
	switch {
	case has("unit_arrival"):
		if !(cfg.load > 0) {
			return nil, fmt.Errorf("--load: %s is a stream of jobs: say how many come in an hour", name)
		}
		return workload.ReadGavelStream(name, bytes.NewReader(text), workload.Stream{PerHour: cfg.load}, begin)
	case has("application"):
		return nil, fmt.Errorf("%s: names applications of Pollux and Sia, and not how fast they are: want jobs with speeds", name)
	case has("job"):
		return workload.ReadJobs(name, bytes.NewReader(text))
	case strings.Contains(first, "\t"):
		return workload.ReadGavelTrace(name, bytes.NewReader(text), begin)
	}
	sold := world.names()
	sold.ReadFile = besides(name)
	return document.Jobs(name, text, sold)
}

// workloadText is what a file holds, unpacked.
func workloadText(name string, in io.Reader) ([]byte, error) {
	if name != "-" {
		f, err := openInput(name)
		if err != nil {
			return nil, fmt.Errorf("--workload: %w", err)
		}
		defer f.Close()
		in = f
	}
	if strings.HasSuffix(name, ".gz") {
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("--workload %s: %w", name, err)
		}
		in = unpacked
	}
	text, err := io.ReadAll(io.LimitReader(in, mostWorkload+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("--workload %s: %w", name, err)
	case len(text) > mostWorkload:
		return nil, fmt.Errorf("--workload %s: more than %d MiB", name, mostWorkload>>20)
	}
	return text, nil
}

// onCluster puts a setting on the cluster of --cluster, where nothing is bought.
func (cfg simulateConfig) onCluster(s *sim.Setting) error {
	if cfg.cluster == "" {
		return nil
	}
	cluster, err := sim.ParseCluster(cfg.cluster, s.Catalogue)
	if err != nil {
		return fmt.Errorf("--%w", err)
	}
	s.Offerings, s.Loop.Setup = nil, 0
	return cluster.Stand(s)
}
