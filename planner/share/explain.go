package share

import (
	"fmt"
	"strings"
)

// usedTol is the part of a row below which it counts as used up or whole.
const usedTol = 1e-6

// Explanation says what holds an answer where it is.
type Explanation struct {
	Types []TypeLimit
	Jobs  []JobLimit
}

// TypeLimit is one row of workers.
type TypeLimit struct {
	Type    string
	Used    float64 // workers in use, on average over time
	Workers int
	Binding bool
	Price   float64 // what one more worker would add to the objective, per worker; not in USD
}

// JobLimit is what keeps a job from more.
type JobLimit struct {
	Job    string
	Theta  float64 // steps/s
	Reason string
}

// Explain reads the limits off an answer.
func (p *Problem) Explain(a *Answer) Explanation {
	var e Explanation
	used := p.used(a)
	for w, t := range p.Types {
		l := TypeLimit{Type: t.Name, Used: used[w], Workers: t.Workers, Binding: used[w] >= float64(t.Workers)*(1-usedTol)}
		if a.Price != nil {
			l.Price = a.Price[w]
		}
		e.Types = append(e.Types, l)
	}
	for j, job := range p.Jobs {
		l := JobLimit{Job: job.ID, Reason: p.limit(a, e.Types, j)}
		if a.Theta != nil {
			l.Theta = a.Theta[j]
		}
		e.Jobs = append(e.Jobs, l)
	}
	return e
}

// used is how many workers of each type are busy on average; a pair counts once.
func (p *Problem) used(a *Answer) []float64 {
	used := make([]float64, len(p.Types))
	for j := range a.Share {
		for w, x := range a.Share[j] {
			used[w] += x * float64(p.Jobs[j].Scale)
		}
	}
	for i, x := range a.PairShare {
		used[i%len(p.Types)] += x * float64(p.Jobs[p.Pairs[i/len(p.Types)].A].Scale)
	}
	return used
}

func (p *Problem) limit(a *Answer, types []TypeLimit, j int) string {
	if a.Share == nil {
		return "no answer"
	}
	best := p.fastest(j)
	if best == 0 {
		return "runs on no type that exists"
	}
	time := 0.0
	for _, x := range a.Share[j] {
		time += x
	}
	for i, x := range a.PairShare {
		if q := p.Pairs[i/len(p.Types)]; q.A == j || q.B == j {
			time += x
		}
	}
	if a.Theta[j] >= best*(1-usedTol) {
		return "its own speed: all its time on its fastest type"
	}
	var full []string
	for w, t := range types {
		if v := p.Jobs[j].Throughput[w]; t.Binding && v > 0 && (time < 1-usedTol || v*float64(1) > a.Theta[j]) {
			full = append(full, t.Type)
		}
	}
	switch {
	case len(full) == 0:
		return "the objective: more for it adds nothing"
	case time >= 1-usedTol:
		return fmt.Sprintf("its time is used up, and faster types are full: %s", strings.Join(full, ", "))
	}
	return fmt.Sprintf("full types: %s", strings.Join(full, ", "))
}
