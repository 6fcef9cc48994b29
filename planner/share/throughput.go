package share

// throughputDemand maximises Σ theta_j.
func throughputDemand(p *Problem) (demand, error) {
	d := demand{throughput: p.throughput, gain: make([]float64, len(p.Jobs))}
	for j := range d.gain {
		d.gain[j] = 1
	}
	return d, nil
}

// normalizedDemand maximises Σ theta_j/E_j.
func normalizedDemand(p *Problem) (demand, error) {
	d := demand{throughput: p.throughput, gain: make([]float64, len(p.Jobs))}
	for j := range d.gain {
		if e := p.equal(j); e > 0 {
			d.gain[j] = 1 / e
		}
	}
	return d, nil
}
