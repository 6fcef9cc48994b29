package block

// scaled is a program whose capacities, fastest speeds, largest gain and largest
// follow rate are 1, without the columns that can never be used.
type scaled struct {
	Program
	column []int32   // own column → column of the source
	gain   float64   // unit of gain
	level  float64   // unit of t
	speed  []float64 // unit of speed by job
	has    []bool    // jobs with a speed row
	single bool      // each column uses one capacity row, each job's different ones
}

// scale keeps the columns for which keep is true (nil: all). share multiplies capacities.
func (p *Program) scale(jobs []int32, keep []bool, share float64) *scaled {
	s := &scaled{gain: p.gainUnit()}
	s.First, s.Entry = make([]int32, 1, len(jobs)+1), make([]int32, 1, p.Columns()+1)
	s.Capacity = make([]float64, len(p.Capacity))
	for r := range s.Capacity {
		s.Capacity[r] = 1
	}
	s.speed, s.has = make([]float64, len(jobs)), make([]bool, len(jobs))
	s.Floor = make([]float64, len(jobs))
	s.Level = p.Level
	s.Size = p.Size / s.gain
	if p.levels() {
		s.Follow = make([]float64, len(jobs))
	}
	most := 0.0
	for n, j := range jobs {
		unit := 0.0
		for i := p.First[j]; i < p.First[j+1]; i++ {
			if p.usable(i) && p.Speed != nil {
				unit = max(unit, p.Speed[i])
			}
		}
		if unit == 0 {
			unit = 1
		}
		s.speed[n] = unit
		s.Floor[n] = p.floor(int(j)) / unit
		s.has[n] = p.floor(int(j)) > 0 || p.follow(int(j)) > 0
		if p.levels() {
			s.Follow[n] = p.Follow[j] / unit
			most = max(most, s.Follow[n])
		}
		for i := p.First[j]; i < p.First[j+1]; i++ {
			if !p.usable(i) || keep != nil && !keep[i] {
				continue
			}
			s.column = append(s.column, i)
			s.Gain = append(s.Gain, p.Gain[i]/s.gain)
			if p.Speed != nil {
				s.Speed = append(s.Speed, p.Speed[i]/unit)
			} else {
				s.Speed = append(s.Speed, 0)
			}
			for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
				if p.Use[k] > 0 {
					s.Row = append(s.Row, p.Row[k])
					s.Use = append(s.Use, p.Use[k]/(share*p.Capacity[p.Row[k]]))
				}
			}
			s.Entry = append(s.Entry, int32(len(s.Row)))
		}
		s.First = append(s.First, int32(len(s.column)))
	}
	s.level = 1
	if most > 0 {
		s.level = 1 / most
		for n := range s.Follow {
			s.Follow[n] /= most
		}
	}
	s.single = s.isSingle()
	return s
}

// usable reports whether column i uses only rows that hold anything.
func (p *Program) usable(i int32) bool {
	if p.open {
		return true
	}
	for k := p.Entry[i]; k < p.Entry[i+1]; k++ {
		if p.Use[k] > 0 && p.Capacity[p.Row[k]] <= 0 {
			return false
		}
	}
	return true
}

func (p *Program) gainUnit() float64 {
	most := 0.0
	for i, g := range p.Gain {
		if p.usable(int32(i)) {
			most = max(most, g, -g)
		}
	}
	if most == 0 || p.levels() {
		return 1
	}
	return most
}

// everyone lists all jobs.
func (p *Program) everyone() []int32 {
	list := make([]int32, p.Jobs())
	for j := range list {
		list[j] = int32(j)
	}
	return list
}
