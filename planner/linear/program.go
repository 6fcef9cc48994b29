package linear

import (
	"fmt"
	"math"
)

// Program is a linear program in columns. Column j has the entries
// Row[k], Value[k] for k in Begin[j] ≤ k < Begin[j+1], each row at most once.
type Program struct {
	Bound []float64 // b, one per row
	Equal []bool    // rows that hold with equality; nil: none
	Cost  []float64 // c, one per column, maximised
	Begin []int32   // one more than columns
	Row   []int32
	Value []float64
}

// NewProgram starts a program without columns on rows with the bounds b.
func NewProgram(b []float64) *Program {
	return &Program{Bound: b, Begin: []int32{0}}
}

// Add appends a column of the given cost and entries and returns its index.
func (p *Program) Add(cost float64, rows []int32, values []float64) int {
	if len(rows) != len(values) {
		panic("linear: a column with different numbers of rows and values")
	}
	p.Cost = append(p.Cost, cost)
	p.Row = append(p.Row, rows...)
	p.Value = append(p.Value, values...)
	p.Begin = append(p.Begin, int32(len(p.Row)))
	return len(p.Cost) - 1
}

// Columns is the number of columns.
func (p *Program) Columns() int { return len(p.Cost) }

// column returns the entries of column j.
func (p *Program) column(j int) ([]int32, []float64) {
	lo, hi := p.Begin[j], p.Begin[j+1]
	return p.Row[lo:hi], p.Value[lo:hi]
}

// Check reports the first number that is no number, or row that is not there.
func (p *Program) Check() error {
	if p.Equal != nil && len(p.Equal) != len(p.Bound) {
		return fmt.Errorf("linear: equal: %d entries for %d rows", len(p.Equal), len(p.Bound))
	}
	for i, b := range p.Bound {
		if math.IsNaN(b) || math.IsInf(b, 0) {
			return fmt.Errorf("linear: bound[%d]: %g is no bound", i, b)
		}
	}
	for j := range p.Cost {
		rows, values := p.column(j)
		if math.IsNaN(p.Cost[j]) || math.IsInf(p.Cost[j], 0) {
			return fmt.Errorf("linear: cost[%d]: %g is no cost", j, p.Cost[j])
		}
		for k, r := range rows {
			if r < 0 || int(r) >= len(p.Bound) {
				return fmt.Errorf("linear: column %d: there is no row %d", j, r)
			}
			if math.IsNaN(values[k]) || math.IsInf(values[k], 0) {
				return fmt.Errorf("linear: column %d, row %d: %g is no entry", j, r, values[k])
			}
		}
	}
	return nil
}

// Status says how a solve ended.
type Status uint8

// The ends of a solve. The zero value is none of them.
const (
	Optimal Status = iota + 1
	Infeasible
	Unbounded
	Limit // the iterations ran out; the point, if feasible, is still a point
	Stuck // rounding left no pivot; as Limit
)

func (s Status) String() string {
	switch s {
	case Optimal:
		return "optimal"
	case Infeasible:
		return "infeasible"
	case Unbounded:
		return "unbounded"
	case Limit:
		return "limit"
	case Stuck:
		return "stuck"
	}
	return "unknown"
}
