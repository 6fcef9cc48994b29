// Command replay runs published experiments through the loop that spends money, on the
// clusters of their authors, and holds what comes out against the published numbers.
//
// Each file of experiments/ is one experiment: what ran, where and by which scheduler;
// per point the published number; its source; by how much ours may differ, and why. A
// file may end in ablations, which are shown and not judged: they tell what a difference
// comes from.
//
//	replay [-quick] [-only NAME] [-at POINT] [-missing] [-against FILE] -out FOLDER
//
// It needs GOODFLEET_DATA, the folder of public data, and writes REPLAY.md and
// replay.csv into the folder: the same bytes each time, with a hash of each run. Both are
// written after each run, so that -missing goes on where a replay was stopped.
package main
