// Package throughput tells how many samples per second a training job does on an
// accelerator: from measured tables, and, where nothing was measured, from an
// estimate that says it is one.
//
// Its nouns: Table, the measured speeds of many job types; Profile, the speeds of
// one job; Entry, one measured speed; Completion, what a table lacks as estimated
// from what it has; PairCompletion, the same for jobs that share an accelerator;
// Tracker, a profile corrected by what is seen; Class and Roofline, the estimate
// of a model from the published peaks of the hardware.
//
// A speed is of the whole job, over all its replicas, in samples per second; a
// replica is one accelerator. A speed that is not known, or a job that does not
// fit, is absent, never zero.
//
// Sources: the measured tables are those published with Narayanan et al.,
// "Heterogeneity-Aware Cluster Scheduling Policies for Deep Learning Workloads",
// OSDI 2020 (MIT licence); data/README.md says where every embedded number
// comes from.
package throughput
