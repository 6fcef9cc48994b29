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
// Sources: Qiao et al., "Pollux: Co-adaptive Cluster Scheduling for
// Goodput-Optimized Deep Learning", OSDI 2021, and the AdaptDL project that goes
// with it; McCandlish et al., "An Empirical Model of Large-Batch Training", 2018,
// for the noise scale; Jayaram Subramanya et al., "Sia: Heterogeneity-aware,
// goodput-optimized ML-cluster scheduling", SOSP 2023, for predictions across
// types.
package goodput
