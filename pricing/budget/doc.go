// Package budget says what may be bought: it holds money back before a launch,
// so that no cap is passed by launches that run at the same time or whose answer
// was lost.
//
// Its nouns are Policy (what people write: caps on money and on rates, steps,
// exceptions, of the parts of machines that a Selector covers), Total (a cap on the
// money of a period), Limit (one cap on rates and what it covers), Position (how much of
// all limits is used), Guard (the position that launches are judged by) and Refused (the
// answer no, with its numbers). A launch is reserved before the call, committed or
// released after it, and observed from then on.
//
// Word of what happens is a Notice: Due finds them in a ledger, a Hook sends them to the
// Destinations that a policy names, and Sent keeps which were taken.
//
// A cap on money becomes a limit on rates: what is left, over the time that passes until
// everything could be stopped. So one sum decides about both, and the strictest of all
// limits answers.
package budget
