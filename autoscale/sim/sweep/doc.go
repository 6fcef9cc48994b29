// Package sweep runs many simulations side by side and keeps a row of each. Its nouns
// are Run (one simulation, and how it is called), Row (what it came to) and the journal,
// a file that gets a line as soon as a run has ended: a sweep that was stopped goes on
// from there, and ends in the same rows as one that was not.
//
// Times are in hours and money in USD.
package sweep
