package block

import (
	"fmt"
	"math"
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
		signed bool
	}{{"use", p.Use, false}, {"gain", p.Gain, true}, {"speed", p.Speed, false}, {"floor", p.Floor, false}, {"follow", p.Follow, false}, {"capacity", p.Capacity, false}} {
		for i, v := range list.values {
			if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 && !list.signed {
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

// value is the objective of x, whose level is t.
func (p *Program) value(x []float64, t float64) float64 {
	if p.levels() {
		return t
	}
	sum := 0.0
	for i, v := range x {
		sum += p.Gain[i] * v
	}
	return sum
}

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

// Violation is by how much x misses its rows, relative to each row's size.
func (p *Program) Violation(x []float64, t float64) float64 {
	worst := 0.0
	used := make([]float64, len(p.Capacity))
	for j := range p.Jobs() {
		time := 0.0
		for i := p.First[j]; i < p.First[j+1]; i++ {
			worst = max(worst, -x[i])
			time += x[i]
			for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
				used[p.Row[k]] += p.Use[k] * x[i]
			}
		}
		worst = max(worst, time-1)
		if need := p.floor(j) + p.follow(j)*t; need > 0 {
			worst = max(worst, (need-p.reach(x, j))/need)
		}
	}
	for r, c := range p.Capacity {
		if used[r] > c {
			worst = max(worst, (used[r]-c)/max(c, 1e-300))
		}
	}
	return worst
}
