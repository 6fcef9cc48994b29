// Package whole gives each job at most one of its options, whole: an option takes
// units of one capacity row and is worth something, and the sum of worths is to be
// largest. This is the choice of one config per job on a fixed fleet.
//
// The linear relaxation gives prices of capacity, a bound, and a vertex that is whole
// but for at most one job per row. Options that the prices show to lose more than what
// bound and best choice leave between them are struck. What remains of a small program
// is branched on until it is proved; of a large one, neighbourhoods are, that hold the
// jobs which nearly prefer something else. Branching parts a job's options by the rent
// that they would pay, that is by counts of dear machines, and both parts exclude the
// present fractions.
package whole
