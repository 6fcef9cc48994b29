// Package focus writes and reads bills in the FinOps Open Cost and Usage
// Specification (FOCUS): a ledger as FOCUS 1.2 or 1.3, with the metadata that the
// standard asks for; FOCUS 1.0 to 1.2 of a cloud as facts for a ledger; and a
// validator that names each row that breaks a rule.
//
// Amounts that are billed or borne are exact. List and contracted costs are the
// float64 products of the prices and quantities as printed, because the standard's
// own validator compares them so, without tolerance.
//
// Source: https://focus.finops.org/focus-specification/
package focus
