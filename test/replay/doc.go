// Command replay runs published experiments through the loop that spends money, on the
// clusters of their authors, and holds what comes out against the published numbers.
//
// Each file of experiments/ is one experiment: what ran, where and by which scheduler;
// per point the published number; its source; by how much ours may differ, and why. A
// file may end in ablations, which are shown and not judged: they tell what a difference
// comes from.
//
// Of a week on machines that are bought, ablations are rules by which others buy. Their
// fronts of cost against JCT are held against ours when all of it was run, and one that is
// not beaten fails the replay.
//
// Measured apart, by -plans, is what one plan of a policy takes, over the number of jobs.
//
//	replay [-quick] [-only NAME] [-at POINT] [-missing] [-against FILE] -out FOLDER
//	replay -plans -out FOLDER
//
// It needs GOODFLEET_DATA, the folder of public data, and writes into the folder
// REPLAY.md, replay.csv (with a hash of each run), curves.csv (what is drawn of runs),
// fronts.csv (what fronts are worth) and the pictures as SVG: the same bytes each time. All
// are written after each run, so that -missing goes on where a replay was stopped. With
// -against, a run fails whose number lies far from that in the file.
package main
