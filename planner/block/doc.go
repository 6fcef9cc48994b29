// Package block solves linear programs of jobs that meet in few rows:
//
//	maximise  Σ gain·x                    (or the level t, if Level is set)
//	  each job:   Σ x ≤ 1                 its time
//	              Σ speed·x ≥ floor + follow·t
//	  each row:   Σ use·x ≤ capacity      types, quotas, budgets
//	              x, t ≥ 0
//
// Every column belongs to one job. Solve runs an interior point method that
// eliminates each job's two rows in closed form, so that one iteration costs one
// pass over the columns and a dense Cholesky factor as large as the capacity rows.
// Large programs are sifted: prices from a sample of the jobs, the columns that
// these prices favour, then the bound over all columns and whatever it misses.
//
// The bound is computed from the capacity prices alone, job by job over the upper
// hull of its columns, and holds for any prices, however they were found. The
// point is repaired, checked against its rows and, on request, moved to a vertex by
// the simplex method of package linear, by a second gain among the best points. Programs
// of over 4000 jobs are settled instead: prices within 1e-4 decide nearly all jobs, and the
// others are a small program, whose vertex and prices are those of the whole. Where jobs are
// alike, or one caps the level so that prices decide nothing, what alike jobs have together is
// dealt out one job after the other, and the rest purified, until no more shares are split than
// there are capacity rows; in those cases the second gain, maximised inside the best level, is
// within 1e-6. The next round may begin with the last one's prices, which are settled the same
// way, and, where a job alone caps the level, with its point.
//
// Fill is the lexicographic max-min: level after level, each of which uses up a row or more. Where
// jobs stop because they can have no more alone is known without a program.
//
// Interior point: Mehrotra, SIAM Journal on Optimization 2, 1992.
package block
