package block

func (p *Program) warm(s *Solution, o Options) bool { return false }
