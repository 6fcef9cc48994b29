// Package autoscale is the loop: observe, fit, quote, plan, place, act, settle.
// It holds the nouns of time: Round, State, Diff, Intent, Gang.
//
// One loop serves production and simulation. It reads no clock and does not know
// whether it is simulated: now is an argument, clouds, store and runner are
// seams, and a decision is a pure function from State to Diff.
package autoscale
