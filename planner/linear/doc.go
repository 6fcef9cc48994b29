// Package linear solves sparse linear programs by the simplex method:
//
//	maximise c·x  subject to  A x ≤ b (or = b),  x ≥ 0,
//
// with A given by columns, which may be added while it runs. It is made for the
// programs of this module: thousands of rows that mostly hold one or two basic
// columns each, a few dense ones, and a good interior point to begin from.
//
// A basis is factored into sparse triangles, singletons first, and kept up to
// date by the row transformations of Forrest and Tomlin (Mathematical Programming
// 2, 1972). Start turns an interior point into a vertex that is no worse, moving
// one left-over column after the other in its better direction (Bixby and
// Saltzman, Operations Research Letters 15, 1994). The primal method serves
// added columns and changed objectives, the dual method added bounds.
//
// Wide solves small programs in 512-bit numbers, where entries lie too far apart for tolerances.
//
// All limits are numbers of iterations. Rows and columns should be scaled by the
// caller so that their largest entries are near 1: the tolerances are absolute.
package linear
