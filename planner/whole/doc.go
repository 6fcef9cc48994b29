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
// A kernel of the options that lose least goes through branch and bound first, up to 2,000
// jobs; it finds choices. What is left of the gap then is mostly the relaxation's: rows whose
// units are cheap are used by large options, and whole ones do not fill them. Over 8 rows for
// 1000 jobs HiGHS proves, in 19 CPU s, that the best choice is 4.6e-4 below the relaxation,
// relative as policies count it; over 20 rows 1.3e-3, in 29 CPU s; for 5000 jobs it has no
// choice at all after 225. So the whole program is branched on too, mostly at its root: it
// has each capacity row a second time, divided by the units of an option and rounded down,
// and counts of the jobs that have options of a row and size, then Gomory's cuts, most of
// them from counts and from small multiples of a row; each round of them strikes options,
// and what loses least is searched for a better choice. Above 40,000 options a few rounds without
// counts are all that pays.
//
// Every bound is summed anew from prices, so that what is proved does not hang on the
// tolerances of a linear program; what was left aside counts at the bound that left it aside.
//
// Few jobs are proved. Labels keep one way to each use of the rows that jobs can make
// together, which suits few rows and equal jobs. Where there are too many uses, the program
// is stated over patterns, the options that jobs take together of one row: prices of jobs
// then bound by a knapsack for each row, near enough that most options are struck and few
// nodes are left. They part the choices first by how many jobs are served, by all rows and
// by each, for that decides where options are worth much the same; then by how many equal
// jobs take options of more rent. 50 jobs with 60 options of any sizes are proved in 0.01
// to 0.3 CPU s, most within ten nodes; few take thousands.
package whole
