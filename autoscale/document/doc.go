// Package document reads and writes what people hand to goodfleet: documents of
// `apiVersion: goodfleet/v1` in YAML or JSON, several in one file if they like
// (separated by "---", or as one list). Its nouns: TrainingJob, Profile, Fleet, Sweep,
// BudgetPolicy and Config, each with one Go type and one published JSON Schema (Schema).
//
// The decoder is strict. An unknown key, a value out of bounds, a text that does
// not parse is one *Error, which names the file, the line, the column, the field
// and the reason, and what was probably meant. Names are kept as they were
// written.
//
// In a document a duration is text such as "30m", a size "80GiB", an amount
// "12.50 USD", a rate "3 USD/h", a time RFC 3339. Units of the Go types are those
// of package planner: GiB, samples, nano US dollars.
package document
