package whole

import (
	"fmt"
	"math"
)

// Option is one way to serve a job.
type Option struct {
	Row   int     // of capacity
	Units float64 // of that row, more than 0
	Value float64 // worth of serving the job so; 0 or less: never chosen
}

// Problem is the options of each job and the capacity of each row.
type Problem struct {
	Options  [][]Option
	Capacity []float64
	Offset   float64 // what comes to the value, and counts when a gap is taken relative to it
	Scale    float64 // what gaps are relative to; 0: the larger of bound and value, with Offset
}

// Limits end a search before it is proved. The zero value means 6,000 nodes and a
// relative gap of 1e-9.
type Limits struct {
	Nodes int     // linear programs of branching; of more than 60 jobs fewer, by the square
	Gap   float64 // relative distance of bound and value that is enough
}

// Result is a choice with its proof.
type Result struct {
	Choice []int     // per job, index into its options; -1: none
	Value  float64   // Σ of what was chosen
	Bound  float64   // no choice is worth more
	Gap    float64   // relative
	Prices []float64 // per row, of one unit, in units of value
	Nodes  int
	Proved bool // the gap asked for was reached
}

// Check reports the first entry that cannot be used.
func (p *Problem) Check() error {
	for r, c := range p.Capacity {
		if math.IsNaN(c) || math.IsInf(c, 0) || c < 0 {
			return fmt.Errorf("whole: capacity[%d]: %g: want a number of at least 0", r, c)
		}
	}
	for j, list := range p.Options {
		for i, o := range list {
			switch {
			case o.Row < 0 || o.Row >= len(p.Capacity):
				return fmt.Errorf("whole: options[%d][%d].row: there is no row %d", j, i, o.Row)
			case !(o.Units > 0) || math.IsInf(o.Units, 0):
				return fmt.Errorf("whole: options[%d][%d].units: %g: want more than 0", j, i, o.Units)
			case math.IsNaN(o.Value) || math.IsInf(o.Value, 0):
				return fmt.Errorf("whole: options[%d][%d].value: %g is no worth", j, i, o.Value)
			}
		}
	}
	return nil
}

// gap is the relative distance of a bound and a value.
func (p *Problem) gap(bound, value float64) float64 {
	if bound <= value {
		return 0
	}
	if p.Scale > 0 {
		return (bound - value) / p.Scale
	}
	return (bound - value) / max(math.Abs(bound+p.Offset), math.Abs(value+p.Offset))
}

// value is what a choice is worth.
func (p *Problem) value(choice []int) float64 {
	sum := 0.0
	for j, c := range choice {
		if c >= 0 {
			sum += p.Options[j][c].Value
		}
	}
	return sum
}

// left is the capacity that a choice leaves.
func (p *Problem) left(choice []int) []float64 {
	left := append([]float64(nil), p.Capacity...)
	for j, c := range choice {
		if c >= 0 {
			left[p.Options[j][c].Row] -= p.Options[j][c].Units
		}
	}
	return left
}

// all lists the jobs.
func (p *Problem) all() []int {
	jobs := make([]int, len(p.Options))
	for j := range jobs {
		jobs[j] = j
	}
	return jobs
}

// fits reports whether a choice keeps to capacity.
func (p *Problem) fits(choice []int) bool {
	for _, l := range p.left(choice) {
		if l < -roomTol {
			return false
		}
	}
	return true
}

// rounding is what adding up what jobs and rows come to may lose of a sum.
func (p *Problem) rounding(sum float64) float64 {
	return float64(len(p.Options)+len(p.Capacity)+roundMore) * epsilon * math.Abs(sum)
}

const (
	epsilon   = 0x1p-52 // of a float64
	roundMore = 8       // operations beside the sums themselves
)

// roomTol is rounding in sums of units.
const roomTol = 1e-9

// useful marks the options that some best choice may need: of positive value, not
// larger than the row, and not beaten by one that takes no more of the same row.
func (p *Problem) useful() [][]bool {
	keep := make([][]bool, len(p.Options))
	for j, list := range p.Options {
		keep[j] = make([]bool, len(list))
		for i, o := range list {
			ok := o.Value > 0 && o.Units <= p.Capacity[o.Row]+roomTol
			for k, q := range list {
				if ok && k != i && q.Row == o.Row && q.Units <= o.Units && q.Value >= o.Value &&
					(q.Units < o.Units || q.Value > o.Value || k < i) {
					ok = false
				}
			}
			keep[j][i] = ok
		}
	}
	return keep
}
