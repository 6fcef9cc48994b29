// Package share divides a fixed fleet among jobs: the policies of Gavel (Narayanan
// et al., OSDI 2020), exact and heterogeneity-aware, their agnostic and space-sharing
// forms, the baselines they are compared with, the power mean of Pollux (Qiao et al.,
// OSDI 2021), and the choice of one whole config per job by Sia's program (Jayaram
// Subramanya et al., SOSP 2023) or by Pollux's mean.
//
// A Problem is a fleet of workers by type and jobs with a throughput on each. An
// answer is x[j][w], the share of time that job j spends on type w with all its
// workers at once, under Σ_w x ≤ 1 for each job and Σ_j scale·x ≤ workers for each
// type. Throughputs are in steps per second of the whole job, prices in USD per hour
// and worker, times in seconds. With n jobs of equal throughput, the equal share of
// job j is E_j = Σ_w throughput·workers / all workers.
//
// Each policy states a program and reads its answer; the programs are solved by
// packages block and linear, and answers carry a bound. They are solved whole:
// cutting the jobs into parts that are solved apart, as POP does (SOSP 2021), is not
// needed at 10,000 jobs × 30 types in a second.
package share
