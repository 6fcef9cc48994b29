// Package report turns outcomes and the ledger into what people read: tables for
// a terminal, JSON and CSV for programs, and one self-contained HTML file with
// pictures that needs no network and prints well.
//
// Money is shown rounded, but rows are rounded together so that what is printed
// adds up to the printed total. What is not known is shown as "—", never as zero.
// Units stand in the headers; times are in UTC.
package report
