package main

import (
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/sim"
	"github.com/goodfleet/goodfleet/autoscale/sim/peer"
	"github.com/goodfleet/goodfleet/autoscale/sim/workload"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/planner/share"
	"github.com/goodfleet/goodfleet/planner/throughput"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// begin is when all replays begin: the day on which Gavel was presented.
var begin = time.Date(2020, time.November, 4, 0, 0, 0, 0, time.UTC)

// Numbers of the replays. Settings that only guard a fleet against mistakes are wide
// open: what a published scheduler wants is done.
const (
	gavelRound = 360 * time.Second
	anyNumber  = 1 << 30
	farAway    = 100 * 365 * 24 * time.Hour
	bookEvery  = 30 * 24 * time.Hour
)

// result is what one run came to.
type result struct {
	value  float64
	beside map[string]float64 // by measure; nil: none
	rounds int64
	hash   string // of who ended when
	curves []curve
}

// known reports whether it was run.
func (r result) known() bool { return r.rounds > 0 }

// tells reports whether it was run and told all measures beside.
func (r result) tells(all []further) bool {
	for _, b := range all {
		if _, ok := r.beside[b.Measure]; !ok {
			return false
		}
	}
	return r.known()
}

// with has one more measure beside.
func (r result) with(measure string, v float64) result {
	if r.beside == nil {
		r.beside = map[string]float64{}
	}
	r.beside[measure] = v
	return r
}

// run replays one seed of a point.
func run(ctx context.Context, data string, e experiment, p point, seed int) (result, error) {
	switch {
	case e.Spot != nil:
		return runSpot(ctx, data, e, p, seed)
	case e.Week != nil:
		return runWeek(ctx, e, p, seed)
	}
	s, on, err := settingOf(data, e, p, seed)
	if err != nil {
		return result{}, err
	}
	out, err := sim.Simulate(ctx, s)
	if err != nil {
		return result{}, err
	}
	r := result{rounds: out.Rounds, beside: map[string]float64{}}
	ended := newEnds()
	var hours []float64
	last := 0.0
	for _, j := range out.JobOutcomes {
		if s.Counted != nil && !s.Counted(&planner.Job{ID: j.Job}) {
			continue
		}
		if !j.Done {
			return result{}, fmt.Errorf("job %s is not done", j.Job)
		}
		hours = append(hours, j.JCTHours)
		last = max(last, j.Ended.Sub(begin).Hours())
		ended.add(string(j.Job), j.Ended.Sub(begin))
	}
	if r.value = last; e.Measure == meanJCT && len(hours) > 0 {
		r.value = 0
		for _, h := range hours {
			r.value += h
		}
		r.value /= float64(len(hours))
		r.beside[makespan] = roundedValue(last)
	}
	if on != nil {
		maps.Copy(r.beside, on.fairness(out.JobOutcomes))
	}
	if len(hours) > 0 {
		r.curves = []curve{jctOf(hours)}
	}
	r.value, r.hash = roundedValue(r.value), ended.hash()
	return r, nil
}

// roundedValue is a value as it is written and read again.
func roundedValue(v float64) float64 {
	scale := math.Pow10(valueDigits)
	return math.Round(v*scale) / scale
}

// ends hashes who ended when, to the millisecond.
type ends struct{ sum hash.Hash }

func newEnds() ends { return ends{sha256.New()} }

func (e ends) add(job string, at time.Duration) { fmt.Fprintf(e.sum, "%s %.3f\n", job, at.Seconds()) }

func (e ends) hash() string { return hex.EncodeToString(e.sum.Sum(nil))[:16] }

// nothingSold is a world whose fleet stands: every type is known and none has a price.
func nothingSold() (*provider.Catalogue, *pricing.History, error) {
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		return nil, nil, err
	}
	prices, err := pricing.NewHistory(nil, nil)
	return catalogue, prices, err
}

// gavelPlan is Gavel's rounds of a rule.
func gavelPlan(how scheduler, seed int) (autoscale.PlanFunc, error) {
	pack, err := packing(how, seed)
	if err != nil {
		return nil, err
	}
	rule, ok := share.Find(how.Rule)
	if !ok && pack == nil {
		return nil, fmt.Errorf("there is no rule %q", how.Rule)
	}
	cfg := peer.GavelConfig{Rule: rule, Pack: pack, Aware: how.Aware, Blind: how.Blind, FIFO: how.FIFO, Interior: how.Interior, Embedded: how.Embedded, Ever: how.Ever, Seed: uint64(seed)}
	return peer.NewGavel(cfg).Plan, nil
}

// packing is how a scheduler lets two jobs share workers; nil: it does not.
func packing(how scheduler, seed int) (peer.Packing, error) {
	switch how.Packed {
	case "":
		return nil, nil
	case "fair":
		if how.Embedded {
			return peer.PackFairest, nil
		}
		return peer.PackFair, nil
	case "fifo":
		return peer.PackFIFO, nil
	case "gandiva":
		return peer.NewGandiva(uint64(seed)).Pack, nil
	}
	return nil, fmt.Errorf("packed %q: want fair, fifo or gandiva", how.Packed)
}

// settingOf is the setting of a run, and the ground of one whose jobs may adapt; else nil.
func settingOf(data string, e experiment, p point, seed int) (sim.Setting, *ground, error) {
	if e.Workloads != "" {
		return elasticSetting(data, e, p, seed)
	}
	how := e.Scheduler
	if p.rule != nil {
		how = *p.rule
	}
	part := workload.Stream{PerHour: p.Load, Jobs: p.Jobs}
	if how.Packed != "" {
		var err error
		if part.Pairs, err = readPairs(data); err != nil {
			return sim.Setting{}, nil, err
		}
	}
	jobs, err := readStream(data, e.Stream, seed, part)
	if err != nil {
		return sim.Setting{}, nil, err
	}
	catalogue, prices, err := nothingSold()
	if err != nil {
		return sim.Setting{}, nil, err
	}
	var plan autoscale.PlanFunc
	switch how.Peer {
	case "":
		if plan, err = gavelPlan(how, seed); err != nil {
			return sim.Setting{}, nil, err
		}
	case "srpt":
		plan = srptPlan(how)
	default:
		return sim.Setting{}, nil, fmt.Errorf("peer %q knows no jobs of Gavel's", how.Peer)
	}
	s := sim.Setting{
		Variant: e.Name, Seed: uint64(seed), Start: begin, Horizon: farAway, Jobs: jobs, Catalogue: catalogue, Prices: prices, Plan: plan, Lockstep: true,
		Loop:  autoscale.Settings{Round: gavelRound, Book: bookEvery, SkipUnchanged: true, MaxMoves: anyNumber, ClockMax: farAway},
		Truth: sim.Truth{Step: func(j *planner.Job) float64 { return workload.GavelStep(j.Family) }},
	}
	if len(e.Window) == 2 {
		s.Counted = func(j *planner.Job) bool {
			n, err := strconv.Atoi(string(j.ID))
			return err == nil && n >= e.Window[0] && n < e.Window[1]
		}
	}
	cluster, err := sim.ParseCluster(cmp.Or(p.Cluster, e.Cluster), catalogue)
	if err != nil {
		return sim.Setting{}, nil, err
	}
	return s, nil, cluster.Stand(&s)
}

// settings are those of our policies.
func (how scheduler) settings() policy.Settings {
	return policy.Settings{Limits: planner.Limits{NoBound: how.NoBound}}
}

// readStream reads a job stream of Gavel's simulations.
func readStream(data, stream string, seed int, part workload.Stream) ([]*planner.Job, error) {
	name := filepath.Join("gavel", "generated", fmt.Sprintf("continuous_%s_seed%d.csv.gz", stream, seed))
	return unzipped(data, name, func(text io.Reader) ([]*planner.Job, error) {
		return workload.ReadGavelStream(name, text, part, begin)
	})
}

// readPairs reads what two jobs do on the same accelerators, as Gavel's authors measured it.
func readPairs(data string) (*throughput.Pairs, error) {
	name := filepath.Join("gavel", "gavel", "simulation_throughputs.json.gz")
	return unzipped(data, name, func(text io.Reader) (*throughput.Pairs, error) { return throughput.ReadPairs(name, text) })
}

// unzipped reads a zipped file of the public data.
func unzipped[T any](data, name string, read func(io.Reader) (T, error)) (T, error) {
	var none T
	f, err := os.Open(filepath.Join(data, name))
	if err != nil {
		return none, err
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		return none, fmt.Errorf("%s: %w", name, err)
	}
	return read(text)
}
