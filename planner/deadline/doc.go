// Package deadline holds the rules for a job that must be done by a deadline where
// cheap machines come and go and dear ones surely run: when to wait, when to take
// spot, when to pay for what surely runs.
//
// Times are in hours, and work is in hours on the job's hardware. Rates are relative
// to that of spot. The model, its words and the published rules are those of Wu et
// al., "Can't Be Late: Optimizing Spot Instance Savings under Deadlines", NSDI 2024:
// C is the work left, R the time to the deadline, d the changeover, k the rate of what
// surely runs over that of spot. Spot is there when any offering of it that the job can
// use is: several zones and types are one.
//
// Net is what every rule rests on: as long as it is obeyed, no deadline is missed
// whenever what surely runs is granted in time.
package deadline
