// Package fake is a cloud in memory and in virtual time. It fills provider.Cloud
// for the simulator, for tests and as the embedded default of the daemon.
//
// Capacity comes and goes by pool (one instance type in one zone and market): a
// pool is up or down in spells whose lengths are fitted on machines that really
// ran (see README.md). While a pool is down, launches are refused; when a spot
// pool goes down, the machines in it are lost, nearly always all at once. An
// on-demand pool that goes down refuses launches and takes nothing back.
//
// The weather of a pool depends on the seed and the pool alone, never on what was
// launched: two simulations that differ in policy see the same spells, and one at
// three times the interruptions sees the same draws, stretched less.
//
// Nothing here reads a clock. Time moves by Advance alone; everything that a
// machine will live through is drawn when it is launched, so the state of the
// cloud at an instant does not depend on the steps that led to it.
//
// By itself the cloud is truthful. A Scenario (lines that README.md describes) or
// Faults drawn from the seed let it misbehave: lost and late answers, partial
// fills, lagging and broken listings, throttling, machines that are not what was
// paid for, and whatever else real clouds were seen to do.
//
// Units: spell means in hours, boot and notice as time.Duration, quotas as in
// package provider.
package fake
