// Package goodput tells how fast an elastic training job makes progress on a
// given number of accelerators, and at which batch it does so best.
//
// Its nouns: Theta, the seven parameters of the time of a step; Noise, the
// gradient statistics that say what a larger batch is worth; Limits, the batches
// that a job allows; Model, the three together; Sample, a measured step time,
// and Fit, which turns samples into Theta; Profile, what is known of a job on
// all accelerator types, with the uncertainty of every prediction.
//
// Times are in seconds, batches in samples, throughput in samples per second,
// goodput in samples of progress per second: a sample at the reference batch M0
// counts as one. A replica is one accelerator.
//
// A replica of a job that is parallel by pipelines is a group of S accelerators. Its
// step of M microbatches of b samples takes 3·(M + S − 1) forward passes of one stage,
// and a synchronization of the gradients: with each accelerator counted as a replica
// of M·b/S samples that is the form of Theta, without overlap (gamma 1). Such a job
// asks for replicas in multiples of S, and for the types alone that were measured:
// a prediction for another type takes its S to be the same.
//
// Sources: Qiao et al., "Pollux: Co-adaptive Cluster Scheduling for
// Goodput-Optimized Deep Learning", OSDI 2021, and the AdaptDL project that goes
// with it; McCandlish et al., "An Empirical Model of Large-Batch Training", 2018,
// for the noise scale; Jayaram Subramanya et al., "Sia: Heterogeneity-aware,
// goodput-optimized ML-cluster scheduling", SOSP 2023, for predictions across
// types.
package goodput
