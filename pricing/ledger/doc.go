// Package ledger books what machines cost: append-only charges in nano US
// dollars, made from the lives of instances by the clouds' billing rules, split
// among the jobs that held the accelerators and the accounts that bear the rest.
//
// A Meter makes charges from an instance's life, by the Rule of its offering. A
// Ledger keeps them, Total sums them by any dimension and Check proves that they
// add up.
//
// Sums by any dimension are equal to the nano dollar, and do not depend on how
// often a machine was booked. A charge that is appended twice counts once. A
// machine whose rate is not known is booked at nothing and marks every sum that it
// is in as a lower bound.
//
// Times are UTC; rates are those of a whole machine in nano dollars per hour.
package ledger
