package share

import (
	"fmt"
	"math"
)

// Explain says how full each type is, what one more accelerator would be worth, and
// what keeps each job from the option of largest worth.
func (a *Assignment) Explain(r *Assigned) Explanation {
	var e Explanation
	used := make([]float64, len(a.Types))
	for j, c := range r.Choice {
		if c >= 0 {
			o := a.Requests[j].Options[c]
			used[o.Type] += float64(o.GPUs)
		}
	}
	for k, t := range a.Types {
		l := TypeLimit{Type: t.Name, Used: used[k], Workers: t.Workers, Binding: used[k] >= float64(t.Workers), Priced: r.Price != nil && t.Workers > 0}
		if l.Priced {
			l.Price = r.Price[k]
		}
		e.Types = append(e.Types, l)
	}
	for j := range a.Requests {
		l := JobLimit{Job: a.Requests[j].ID, Reason: a.limit(j, r.Choice[j], used)}
		if c := r.Choice[j]; c >= 0 {
			l.Theta = a.Requests[j].Options[c].Goodput
		}
		e.Jobs = append(e.Jobs, l)
	}
	return e
}

// limit compares what job j has with its best option.
func (a *Assignment) limit(j, choice int, used []float64) string {
	q := &a.Requests[j]
	if q.Pinned {
		return "pinned to its config"
	}
	worths := a.worths(q)
	best := -1
	for i, v := range worths {
		if !math.IsNaN(v) && v > a.none() && (best < 0 || v > worths[best]) {
			best = i
		}
	}
	if best < 0 {
		return "no option is worth more than none"
	}
	if choice >= 0 && worths[choice] >= worths[best] {
		return "nothing: it has its best option"
	}
	o := q.Options[best]
	free := float64(a.Types[o.Type].Workers) - used[o.Type]
	if choice >= 0 && q.Options[choice].Type == o.Type {
		free += float64(q.Options[choice].GPUs)
	}
	return fmt.Sprintf("its best option, %d, takes %d of %s, with %d left to it", best, o.GPUs, a.Types[o.Type].Name, int(free))
}
