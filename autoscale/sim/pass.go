package sim

import "context"

// pass lets the round that is due now pass where it would change nothing: no job came,
// no cloud and no gang has anything to say, and the loop declares that no clock and no
// price has. The round before something happens to a machine is always run: what is lost
// then is counted from what was last seen.
func (w *world) pass(ctx context.Context) (bool, error) {
	if w.s.Lockstep || w.s.everyRound || !w.calm() {
		return false, nil
	}
	passed, err := w.loop.Skip(ctx, w.now)
	if !passed || err != nil {
		return false, err
	}
	w.counts.rounds++
	w.counts.passed++
	w.lastRound = w.now
	w.rest()
	if w.s.Check {
		return true, w.check.round(w.now, w.live, w.runner.Gangs())
	}
	return true, nil
}

// calm reports whether nothing was said since the last round, and nothing happens to a
// machine before the next.
func (w *world) calm() bool {
	if !w.s.Loop.SkipUnchanged || !w.declared || w.closing || w.stirred || w.runner.news || w.s.hostile() || w.counted == 0 || !w.now.Before(w.end()) {
		return false
	}
	if len(w.coming) > 0 && !w.coming[0].Submitted.After(w.now) || w.open() == 0 && len(w.coming) == 0 {
		return false
	}
	next := w.now.Add(w.s.Loop.Round)
	for _, c := range w.clouds {
		if at, ok := c.NextEvent(); ok && !at.After(next) {
			return false
		}
	}
	return !w.runner.measures()
}
