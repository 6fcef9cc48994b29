// Package peer is schedulers as their authors published them, for replays: what ours
// is held against on the ground of their own experiments, on machines that are owned; and
// rules by which teams buy from clouds (Fixed, Backlog, Greedy). Each makes plans for the
// one loop.
//
// A scheduler here may remember what it did before, as its authors' program does: it is
// made anew for each simulation, and is not for production. Its nouns are Gavel (rounds
// of fractional shares).
package peer
