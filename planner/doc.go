// Package planner holds the nouns of demand (Job, Config, Allocation) and the
// decision itself: Problem in, Plan out, as a pure function. It decides which
// machines to hold and which config each job gets, by the formulas of the joint
// program: a unit of work is worth what its cheapest way of being done alone
// would cost, and a machine is bought when the work it carries is worth more
// than its rate.
//
// Work is counted in samples at the reference batch, goodput in samples per
// hour, rates in USD per hour, memory and disk in GiB.
package planner
