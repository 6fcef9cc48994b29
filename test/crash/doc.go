// Package crash kills the loop at every call that it makes of a cloud, of its store
// or of the runner, starts it again on what was durable, and goes on to the end of a
// scenario in which everything goes wrong that the cloud in memory knows. What is
// checked is what is really there, as the cloud tells it to nobody but tests:
//
//   - a launch has an intent in the store, and a token means one request for ever;
//   - no intent has more machines than it asked for;
//   - no machine is without a record after two sweeps;
//   - no launch passes the fleet's cap;
//   - nothing is ended that a gang runs on, that is not ours, or that nothing
//     accounted for for less than the grace;
//   - every machine's whole life is booked once, to the nano dollar;
//   - every job comes to its end.
//
// A seed fixes all of it. `go test ./test/crash -crash.points 10000 -crash.seed 7`
// makes so many kills from that seed on.
package crash
