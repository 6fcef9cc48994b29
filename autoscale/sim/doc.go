// Package sim runs the one loop in virtual time: a job trace, price histories and
// clouds in memory around the code that spends money in production.
//
// Runner is simulated progress: gangs restore, compute, save and are lost, each
// at its exact instant. Simulate moves time from event to event and from round
// to round until every job has ended, and returns what it came to. Compare does
// so for several variants under the same weather and lays them side by side.
//
// Time is virtual and given; work is in samples, speeds in samples per hour,
// money exact. The same setting and seed give the same bytes.
package sim
