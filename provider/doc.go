// Package provider holds the nouns of supply: what a cloud sells (InstanceType,
// Market, Offering), what we hold of it (Instance and its states, Interruption),
// how it is asked for (LaunchRequest), how it refuses (the error kinds) and the
// one seam that every cloud fills (Cloud). It also holds the catalogue of
// accelerator machines that goodfleet knows.
//
// Units: memory and disk in GiB, network in Gbit/s, quotas in the cloud's own
// unit (vCPUs or accelerators). Money is not known here: see package pricing.
package provider
