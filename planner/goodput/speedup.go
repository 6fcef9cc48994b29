package goodput

// Speedups is the goodput of a model's best batch, relative to that of a base
// allocation, kept so that each allocation is searched once. It is not safe for
// concurrent use.
type Speedups struct {
	model   Model
	variant Variant
	base    float64
	known   map[[2]int]float64
}

// NewSpeedups prepares speedups against the base allocation. ok is false when the
// base cannot run.
func NewSpeedups(m Model, v Variant, baseNodes, baseReplicas int) (s *Speedups, ok bool) {
	base, ok := m.Best(v, baseNodes, baseReplicas)
	if !ok {
		return nil, false
	}
	return &Speedups{model: m, variant: v, base: base.Goodput, known: make(map[[2]int]float64)}, true
}

// Of is the speedup of an allocation; 0 for none at all and for one that cannot run.
func (s *Speedups) Of(nodes, replicas int) float64 {
	if replicas == 0 {
		return 0
	}
	key := [2]int{nodes, replicas}
	if v, ok := s.known[key]; ok {
		return v
	}
	best, _ := s.model.Best(s.variant, nodes, replicas)
	v := best.Goodput / s.base
	s.known[key] = v
	return v
}
