// Package whole gives each job at most one of its options, whole: an option takes
// units of one capacity row and is worth something, and the sum of worths is to be
// largest. This is the choice of one config per job on a fixed fleet.
//
// The linear relaxation gives prices of capacity and a bound. Any choice falls short of the
// bound by what its options lose at the prices and by the rent of the room it leaves, so
// the search is for little loss: exchanges over few rows at a time by dynamic programs,
// and chains of single changes over all rows. Options that lose more than bound and
// best choice leave between them are struck.
//
// What remains of a small program is proved. Labels keep one way to each use of the rows
// that jobs can make together, which suits few rows and equal jobs; when there are too
// many uses, branch and bound parts the options of equal jobs by how many take those of
// more rent.
package whole
