package block

import (
	"fmt"
	"math"
	"slices"
)

// Program is a program of Jobs() jobs. Job j owns the columns i with
// First[j] ≤ i < First[j+1]; column i uses Use[k] of capacity row Row[k] for
// Entry[i] ≤ k < Entry[i+1].
type Program struct {
	First    []int32
	Entry    []int32
	Row      []int32
	Use      []float64 // ≥ 0
	Level    bool      // maximise the level t instead of gain
	Gain     []float64 // objective of a column; at a level, the second objective
	Speed    []float64 // ≥ 0; nil if no job has a floor
	Floor    []float64 // per job, ≥ 0; nil: none
	Follow   []float64 // per job, ≥ 0: the level t lifts the floor at this rate; nil: not
	Capacity []float64 // ≥ 0
	Size     float64   // of gains: what a gap is relative to, at least

	open bool // all capacities are known to be positive
	flat bool // each column is known to have just the entry of its own number
}

// Jobs is the number of jobs.
func (p *Program) Jobs() int { return len(p.First) - 1 }

// Columns is the number of columns.
func (p *Program) Columns() int { return len(p.Entry) - 1 }

// isFlat reports whether each column has one entry.
func (p *Program) isFlat() bool {
	for i, e := range p.Entry {
		if int(e) != i {
			return false
		}
	}
	return len(p.Row) == p.Columns()
}

// look notes what is known of the columns and capacities, all of which are there.
func (p *Program) look() {
	p.open = len(p.Capacity) == 0 || slices.Min(p.Capacity) > 0
	p.flat = p.isFlat()
}

// New starts a program on capacity rows; Job and Column fill it.
func New(capacity []float64) *Program {
	return &Program{First: []int32{0}, Entry: []int32{0}, Capacity: capacity}
}

// Column appends a column to the job being written.
func (p *Program) Column(gain, speed float64, rows []int32, use []float64) {
	p.Gain, p.Speed = append(p.Gain, gain), append(p.Speed, speed)
	p.Row, p.Use = append(p.Row, rows...), append(p.Use, use...)
	p.Entry = append(p.Entry, int32(len(p.Row)))
}

// Job ends the job being written: its columns are those since the last Job.
func (p *Program) Job(floor, follow float64) {
	p.First = append(p.First, int32(p.Columns()))
	p.Floor, p.Follow = append(p.Floor, floor), append(p.Follow, follow)
}

// Check reports the first number that the program may not hold.
func (p *Program) Check() error {
	for j := range p.Jobs() {
		if p.First[j] > p.First[j+1] {
			return fmt.Errorf("block: first[%d]: jobs are out of order", j)
		}
	}
	for _, list := range []struct {
		name   string
		values []float64
		least  float64
	}{{"use", p.Use, 0}, {"gain", p.Gain, -math.MaxFloat64}, {"speed", p.Speed, 0}, {"floor", p.Floor, 0}, {"follow", p.Follow, 0}, {"capacity", p.Capacity, 0}} {
		least := list.least
		for i, v := range list.values {
			if !(v >= least && v <= math.MaxFloat64) {
				return fmt.Errorf("block: %s[%d]: %g is not allowed", list.name, i, v)
			}
		}
	}
	for k, r := range p.Row {
		if r < 0 || int(r) >= len(p.Capacity) {
			return fmt.Errorf("block: row[%d]: there is no capacity row %d", k, r)
		}
	}
	return nil
}

func (p *Program) floor(j int) float64 {
	if p.Floor == nil {
		return 0
	}
	return p.Floor[j]
}

func (p *Program) follow(j int) float64 {
	if p.Follow == nil || !p.Level {
		return 0
	}
	return p.Follow[j]
}

// levels reports whether the objective is the level t.
func (p *Program) levels() bool { return p.Level }

// reach is Σ speed·x of job j.
func (p *Program) reach(x []float64, j int) float64 {
	sum := 0.0
	for i := p.First[j]; i < p.First[j+1]; i++ {
		sum += p.Speed[i] * x[i]
	}
	return sum
}

// LevelOf is the largest t that x allows, +Inf if no job follows it, and negative if
// x misses a floor by itself.
func (p *Program) LevelOf(x []float64) float64 {
	t := math.Inf(1)
	for j := range p.Jobs() {
		if n := p.follow(j); n > 0 {
			t = min(t, (p.reach(x, j)-p.floor(j))/n)
		}
	}
	return t
}

// weigh sums the gain of x, and finds its level, not below zero and zero where no job follows
// it, and by how much it misses its rows, relative to each row's size.
func (p *Program) weigh(x []float64) (gain, level, worst float64) {
	used := make([]float64, len(p.Capacity))
	reach := make([]float64, p.Jobs())
	level = math.Inf(1)
	for j := range reach {
		lo, hi := p.First[j], p.First[j+1]
		time, sum := 0.0, 0.0
		for c, v := range x[lo:hi] {
			if v == 0 {
				continue
			}
			i := lo + int32(c)
			worst = max(worst, -v)
			time += v
			sum += p.speed(i) * v
			gain += p.Gain[i] * v
			for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
				used[p.Row[k]] += p.Use[k] * v
			}
		}
		reach[j] = sum
		worst = max(worst, time-1)
		if n := p.follow(j); n > 0 {
			level = min(level, (sum-p.floor(j))/n)
		}
	}
	if level = max(0, level); math.IsInf(level, 1) {
		level = 0
	}
	for j, sum := range reach {
		if need := p.floor(j) + p.follow(j)*level; need > 0 {
			worst = max(worst, (need-sum)/need)
		}
	}
	for r, c := range p.Capacity {
		if used[r] > c {
			worst = max(worst, (used[r]-c)/max(c, 1e-300))
		}
	}
	return gain, level, worst
}
