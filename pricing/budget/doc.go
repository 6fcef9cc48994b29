// Package budget says what may be bought: it holds money back before a launch,
// so that no cap is passed by launches that run at the same time or whose answer
// was lost.
//
// Its nouns are Limit (one cap and what it covers), Guard (all limits, what is
// held and what is under way) and Refused (the answer no, with its numbers). A
// launch is reserved before the call, committed or released after it, and
// observed from then on. All amounts are rates: USD per hour of machines that run
// at once.
package budget
