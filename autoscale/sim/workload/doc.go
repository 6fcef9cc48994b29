// Package workload draws job traces for simulations from published distributions:
// how long jobs run and on how many GPUs from the Philly traces, when they come
// from a Poisson stream, what they train and how fast from Gavel's measurements
// (GavelWeek) or from the roofline of today's models (Today).
//
// It also reads the traces and job streams of published experiments (ReadGavelTrace,
// ReadGavelStream), so that others' jobs can be replayed.
//
// Its noun is Config: the same config gives the same jobs. The example files that
// ship with the binary are these jobs, written down; data/README.md says where the
// distributions come from.
package workload
