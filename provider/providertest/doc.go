// Package providertest is the conformance suite of provider.Cloud: what the loop
// relies on, clause by clause, whoever fills the seam. Every driver runs it.
//
// A clause is shown on a stage: an account with nothing in it, and the means to
// make its cloud misbehave. A driver whose test server cannot be made to do so
// declares the clause, and the output names it; a clause that is neither shown nor
// declared fails.
package providertest
