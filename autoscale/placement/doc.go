// Package placement lays jobs onto machines: which accelerators of which instance
// each node of a gang holds. A gang is whole or not at all, a job that stays keeps
// its accelerators, and none is ever given twice.
//
// Turns makes rounds of fractional shares: who is to run until the next leases end.
//
// Its nouns are Machine (what there is), Want (who is to run where) and Gang (who
// holds what). Accelerators are numbered from 0 on each machine.
package placement
