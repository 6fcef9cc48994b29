// Package pricing holds the nouns of money: Money and Rate as exact integers of
// nano US dollars, Quote (a price seen, with time and source), Book (all quotes
// at one instant), History (how prices moved) and Hazard (how capacity is lost).
//
// A price that is not known is absent, never zero. Prices are parsed from decimal
// text; float64 is used on the way out only, for solvers and screens.
package pricing
