package deadline

// Patient is the rule of our own. It differs from UniformProgress in three ways.
//
// It waits as long as the slack is more than an eighth of the time left, wherever the
// job stands: slack is what waits and changeovers are paid with, and a job that keeps
// some for the changeovers to come can use spot up to its end. (UniformProgress waits
// while slack is more than its first share of the time left, be that a half or a
// tenth.)
//
// It leaves what surely runs for spot that has been there for h = k·d/(k − 1) hours,
// half of the life that pays for going there and back, and only where such spells are
// long: the mean life and this one's age must make 4·h. Spells of spot have heavy
// tails: one that has lasted is likely to last as long again.
//
// It goes to spot only while all that was paid, with the way there and back, stays
// within what the work done would have cost on what surely runs alone, and
// RegretStarts changeovers there: more than that it never costs, whatever spot does.
func Patient(c *Case, v View) Mode {
	m, decided := first(c, v)
	if decided {
		return m
	}
	if c.Rate <= 1 {
		return Sure
	}
	slack := c.slack(v)
	half := c.Rate * c.Changeover / (c.Rate - 1)
	age := v.Age + c.Tick/2
	lasts := age >= half && (v.Life == 0 || v.Life+age >= spellHalves*half)
	backForth := v.Spent + (1+c.Rate)*c.Changeover
	usable := v.There && backForth <= c.Rate*(c.Work-v.Work)+RegretStarts*c.Rate*c.Changeover
	switch {
	case v.Mode == Sure && usable && lasts && slack >= 0:
		return Spot
	case v.Mode == Sure:
		return Sure
	case usable:
		return Spot
	case v.There || slack < PatientShare*v.Time:
		return Sure
	}
	return Idle
}

const (
	// PatientShare is the share of the time left that Patient keeps as slack. It and
	// spellHalves were chosen on the traces of Wu et al., where costs change by less
	// than 1 % between a ninth and a seventh, and between 3 and 5 halves.
	PatientShare = 1.0 / 8
	spellHalves  = 4

	// RegretStarts bounds what Patient may lose by spot that never pays, in changeovers
	// at the rate of what surely runs.
	RegretStarts = 8
)
