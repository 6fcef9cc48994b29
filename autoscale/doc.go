// Package autoscale is the loop: observe, fit, quote, plan, place, act, settle.
// It holds the nouns of time: Round, State, Diff, Intent, Gang.
//
// One loop serves production and simulation. It reads no clock and does not know
// whether it is simulated: now is an argument, clouds, store and runner are
// seams, and a decision is a pure function from State to Diff.
//
// # The breaker
//
// A round that would end more than two machines, and more than a fifth of them or a
// quarter of the burn, does nothing until a person says Resume. The two come first:
// on a small fleet two machines are more than a fifth, and ending what nobody uses
// must not need a person. So the quarter counts from the third machine on.
//
// What counts are machines that end because of what they are (unfit, orphans, too
// old) and those that a plan takes from under jobs without giving them others. What
// does not: a notice or loss by the cloud, a drain that a person asked for, a cap
// that was lowered, a job that moves or has ended. Machines that nobody is on end
// step by step, as many in a round as the limits allow, and open no breaker.
//
// A plan that pushes out the jobs of more machines than that is refused, though it
// may be right: under the default policy a job that pays for itself keeps running,
// so that many at once without a place point to a price, a limit or a clock that is
// wrong. Nobody can be asked in a simulation; it resumes in the next round.
//
// A listing that lacks more than that, or all of several machines, is not believed:
// its cloud is frozen until it shows them again. A clock that jumps back by a minute
// or ahead by Settings.ClockMax opens the breaker.
package autoscale
