// Package placement lays jobs onto machines: which accelerators of which instance
// each node of a gang holds. A gang is whole or not at all, a job that stays keeps
// its accelerators, and none is ever given twice.
//
// A network domain is an offering: a gang of several machines lies on machines of one
// type, zone, market and reservation. Free capacity of a zone is one domain, since EFA
// reaches no other zone and all of its own
// (https://docs.aws.amazon.com/parallelcluster/latest/ug/efa-v3.html); a reservation or
// a capacity block is another, and so is each rack of owned machines that is declared as
// a reservation of its own. A TPU slice is one machine.
//
// Turns makes rounds of fractional shares: who is to run until the next leases end.
//
// Its nouns are Machine (what there is), Want (who is to run where) and Gang (who
// holds what). Accelerators are numbered from 0 on each machine.
package placement
