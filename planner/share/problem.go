package share

import (
	"fmt"
	"math"
)

// Problem is what is to be shared, and by whom.
type Problem struct {
	Types    []Type // sorted by name
	Jobs     []Job  // in order of arrival
	Pairs    []Pair
	Entities []Entity // sorted by name; none: each job for itself
}

// Type is a kind of worker.
type Type struct {
	Name    string
	Workers int
	Price   float64 // USD per hour and worker; negative: unknown
}

// Job is a training run that uses Scale workers of one type at once.
type Job struct {
	ID         string
	Scale      int
	Weight     float64
	Steps      float64   // left
	Throughput []float64 // steps/s of the whole job by type; 0: cannot run there
	Elapsed    float64   // seconds since arrival
	Isolated   float64   // seconds of Elapsed that its fair part of the fleet would have taken
	Deadline   float64   // seconds left; NaN: none
}

// Pair is two jobs of equal scale on the same workers.
type Pair struct {
	A, B       int          // indices of jobs
	Throughput [][2]float64 // by type, of A and of B; zeros: not there
}

// Entity is a team that shares what it gets among its jobs.
type Entity struct {
	Name   string
	Weight float64
	FIFO   bool // all to the first job that can still grow; else by the jobs' weights
	Jobs   []int
}

// FieldError is a place in an input that cannot be used.
type FieldError struct {
	Field  string // "jobs[3].weight"; "" for the whole
	Reason string
}

// Error names the path and the reason.
func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return e.Field + ": " + e.Reason
}

func fieldErr(reason, path string, args ...any) error {
	return &FieldError{fmt.Sprintf(path, args...), reason}
}

// workers is the size of the fleet.
func (p *Problem) workers() float64 {
	sum := 0.0
	for _, t := range p.Types {
		sum += float64(t.Workers)
	}
	return sum
}

// equal is E_j, the throughput of job j at the equal share.
func (p *Problem) equal(j int) float64 {
	all, sum := p.workers(), 0.0
	if all == 0 {
		return 0
	}
	for w, t := range p.Types {
		sum += p.Jobs[j].Throughput[w] * float64(t.Workers) / all
	}
	return sum
}

// part is twice the part of its time that job j could run if it had all workers, and at most 1: a
// job of far more workers than there are can use a billionth of its time. Programs count its
// shares in it, for what it can use would else be below the tolerances of what others can; twice,
// so that it never has all of its part, and only the workers' prices limit it.
func (p *Problem) part(j int) float64 {
	if all := p.workers(); all > 0 {
		return min(1, 2*all/float64(p.Jobs[j].Scale))
	}
	return 1
}

// isolatedShare is the share of each type that job j gets on its n-th of the fleet.
func (p *Problem) isolatedShare(j int) []float64 {
	x := make([]float64, len(p.Types))
	total := 0.0
	for w, t := range p.Types {
		x[w] = float64(t.Workers) / (float64(len(p.Jobs)) * float64(p.Jobs[j].Scale))
		total += x[w]
	}
	for w := range x {
		x[w] /= max(1, total)
	}
	return x
}

// isolated is the throughput of job j on its n-th of the fleet.
func (p *Problem) isolated(j int) float64 {
	return dot(p.Jobs[j].Throughput, p.isolatedShare(j))
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// fastest is the largest throughput of job j on types that exist.
func (p *Problem) fastest(j int) float64 {
	most := 0.0
	for w, t := range p.Types {
		if t.Workers > 0 {
			most = max(most, p.Jobs[j].Throughput[w])
		}
	}
	return most
}

// quickest is the most of each job at any time, steps/s: alone, and if they count beside a partner on
// the same workers, who slows it mostly but is not forbidden to speed it up.
func (p *Problem) quickest(pairs bool) []float64 {
	theta := make([]float64, len(p.Jobs))
	for j := range theta {
		theta[j] = p.fastest(j)
	}
	for _, q := range p.Pairs {
		for w, v := range q.Throughput {
			if pairs && p.Types[w].Workers > 0 {
				theta[q.A], theta[q.B] = max(theta[q.A], v[0]), max(theta[q.B], v[1])
			}
		}
	}
	return theta
}

// hasDeadline reports whether job j has one.
func (j *Job) hasDeadline() bool { return !math.IsNaN(j.Deadline) }

// needPrices checks that every type has a positive price.
func (p *Problem) needPrices() error {
	for _, t := range p.Types {
		if t.Price < 0 {
			return fieldErr("is missing, and the policy needs it", "prices.%s", t.Name)
		}
		if t.Price == 0 {
			return fieldErr("0: want more than 0, the policy divides by it", "prices.%s", t.Name)
		}
	}
	return nil
}
