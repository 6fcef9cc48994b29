package share

// fifoDemand maximises Σ (m − j)·theta_j / the job's best throughput.
func fifoDemand(p *Problem) (demand, error) {
	d := demand{throughput: p.throughput, gain: make([]float64, len(p.Jobs))}
	for j := range d.gain {
		if best := p.best(j); best > 0 {
			d.gain[j] = float64(len(p.Jobs)-j) / best
		}
	}
	return d, nil
}

// best is the largest throughput of job j on any type, whether there are workers or not.
func (p *Problem) best(j int) float64 {
	most := 0.0
	for _, v := range p.Jobs[j].Throughput {
		most = max(most, v)
	}
	return most
}

func fifo(p *Problem, o Options) (Answer, error) { return p.maximise(fifoDemand, false, o) }

// fifoGreedy gives each job in order of arrival the fastest type with enough free
// workers (ties: first by name), all the time. The first job that fits nowhere ends the
// pass; one that fits but cannot run there is passed over.
func fifoGreedy(p *Problem, _ Options) (Answer, error) {
	free := make([]int, len(p.Types))
	for w, t := range p.Types {
		free[w] = t.Workers
	}
	x, objective := p.nothing(), 0.0
	for j, job := range p.Jobs {
		pick, fits := -1, false
		for w := range p.Types {
			if free[w] < job.Scale {
				continue
			}
			fits = true
			if v := job.Throughput[w]; v > 0 && (pick < 0 || v > job.Throughput[pick]) {
				pick = w
			}
		}
		if !fits {
			break
		}
		if pick < 0 {
			continue
		}
		free[pick] -= job.Scale
		x[j][pick] = 1
		objective += float64(len(p.Jobs)-j) * job.Throughput[pick] / p.best(j)
	}
	return exact(p, x, objective), nil
}
