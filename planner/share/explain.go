package share

import (
	"math"
	"strings"
)

// usedTol is the part of a row below which it counts as used up or whole.
const usedTol = 1e-6

// Explanation says what holds an answer where it is.
type Explanation struct {
	Types []TypeLimit
	Jobs  []JobLimit
	Rates bool // prices are rates at which the objective begins to improve, and a whole worker may improve it by more; else by no more than its price
}

// TypeLimit is one row of workers.
type TypeLimit struct {
	Type    string
	Used    float64 // workers in use, on average over time
	Workers int
	Binding bool
	Price   float64 // of one more worker, in the objective's unit: see Explanation.Rates
	Priced  bool    // false: the policy is a procedure, or solved in rounds, and has no prices; or the type has no worker, and programs leave it out
}

// JobLimit is what keeps a job from more.
type JobLimit struct {
	Job     string
	Theta   float64 // steps/s
	Binding bool    // it gets just what its deadline or the common level asks for
	Reason  string
}

// Explain reads the limits off an answer.
func (p *Problem) Explain(a *Answer) Explanation {
	y, _ := Find(a.Policy)
	e := Explanation{Rates: y.counts == byRatio} // all other objectives are concave in the workers
	used := p.used(a)
	for w, t := range p.Types {
		l := TypeLimit{Type: t.Name, Used: used[w], Workers: t.Workers, Priced: a.Price != nil && t.Workers > 0}
		l.Binding = t.Workers == 0 || used[w] >= float64(t.Workers)*(1-usedTol)
		if l.Priced {
			l.Price = a.Price[w]
		}
		e.Types = append(e.Types, l)
	}
	time := p.time(a)
	for j, job := range p.Jobs {
		l := JobLimit{Job: job.ID}
		if a.Theta != nil {
			l.Theta = a.Theta[j]
			l.Binding = a.Need != nil && a.Need[j] > 0 && l.Theta <= a.Need[j]*(1+usedTol)
		}
		l.Reason = p.limit(a, e.Types, &l, j, time[j])
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

// time is the part of its time that each job runs, alone or with another.
func (p *Problem) time(a *Answer) []float64 {
	time := make([]float64, len(p.Jobs))
	for j := range a.Share {
		for _, x := range a.Share[j] {
			time[j] += x
		}
	}
	for i, x := range a.PairShare {
		q := p.Pairs[i/len(p.Types)]
		time[q.A] += x
		time[q.B] += x
	}
	return time
}

// limit says in words what keeps job j from more.
func (p *Problem) limit(a *Answer, types []TypeLimit, l *JobLimit, j int, time float64) string {
	if a.Share == nil {
		return "no answer"
	}
	y, _ := Find(a.Policy)
	fastest := l.Theta >= p.fastest(j)*(1-usedTol)
	switch {
	case p.fastest(j) == 0:
		return "runs on no type that exists"
	case fastest && l.Binding && a.Level:
		return "its own speed: all its time on its fastest type, and the common level is no higher"
	case fastest && l.Binding:
		return "its own speed: all its time on its fastest type"
	case l.Binding && !a.Level:
		return "its deadline: it gets what that asks for, and no more"
	}
	// A job with time left could use any type on which time counts; one without only a type on
	// which it counts for more than where it is.
	spent, own := time >= 1-usedTol, 0.0
	if spent {
		own = y.counts.mean(p, a, j, time)
	}
	var full, room, less, same []string
	for w, t := range types {
		v := p.Jobs[j].Throughput[w]
		if v <= 0 {
			continue
		}
		value := y.counts.of(p, a, j, w, v)
		near := usedTol * max(math.Abs(own), math.Abs(value))
		switch {
		case value > own+near && t.Binding:
			full = append(full, t.Type)
		case value > own+near:
			room = append(room, t.Type)
		case !spent || v <= l.Theta*(1+usedTol) || t.Workers == 0:
		case value < own-near:
			less = append(less, t.Type)
		default:
			same = append(same, t.Type)
		}
	}
	names := strings.Join(full, ", ")
	also := ""
	if len(full) > 0 {
		also = "; full types: " + names
	}
	switch {
	case y.counts == byRule && len(room) > 0 && !fastest:
		return "the policy: its rule gives it no more" + also
	case spent && len(room) > 0 && a.Level: // above it, and no second objective looks at that
		return "the objective: more for it adds nothing"
	case spent && len(room) > 0 && !l.Binding:
		return "the objective: its time counts for more where it is than on " + strings.Join(room, ", ") + also
	case len(full) == 0 && fastest:
		return "its own speed: all its time on its fastest type"
	case len(full) == 0 && len(less) > 0:
		return "the objective: its time counts for more where it is than on " + strings.Join(less, ", ")
	case len(full) == 0 && len(same) > 0:
		return "the objective: its time counts as much where it is as on " + strings.Join(same, ", ")
	case len(full) == 0:
		return "the objective: more for it adds nothing"
	case l.Binding:
		return "it holds the common level; full types: " + names
	case spent && y.counts > bySpeed:
		return "its time is used up, and types where it counts for more are full: " + names
	case spent:
		return "its time is used up, and faster types are full: " + names
	}
	return "full types: " + names
}
