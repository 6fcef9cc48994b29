package goodput

import "math"

// Kinds of accelerators. Nothing measured on one kind is carried over to another.
const (
	KindGPU = "gpu"
	KindTPU = "tpu"
)

// Hardware is what is published of an accelerator. A zero number is not known.
type Hardware struct {
	Kind            string
	MemGiB          float64 // of the device memory
	MemBytesPerSec  float64 // of the device memory
	LinkBytesPerSec float64 // to its peers on the machine or slice, one way
	NetBytesPerSec  float64 // its share of the machine's network, one way
}

// Exponents and errors of what is carried over between types, from the public
// measurements of six applications on five GPU types (Sia's artifact): with them
// the error of the logarithm of step times on several accelerators of an unseen
// type was least, and as large as stated.
const (
	// linkExponent: synchronization scales with the ratio of the types' computation
	// times, and with this power of the ratio of their links.
	linkExponent = 0.25
	// computeExponent: computation scales with this power of the ratio of memory
	// bandwidths, when nothing was measured on the type. One application gains all
	// of it and another, bound by its input, none.
	computeExponent = 0.5

	computeSD  = 0.5 // of ln computation time, by computeExponent
	transferSD = 0.9 // of ln synchronization time, carried over
	ringSD     = 0.9 // of ln synchronization time by the ring of an all-reduce
	optimismSD = 1.0 // of ln synchronization time that is taken for next to nothing
)

// linkOf is the bandwidth that synchronization has per accelerator; 0: not known.
func (h Hardware) linkOf(spread bool) float64 {
	if !spread {
		return h.LinkBytesPerSec
	}
	if h.LinkBytesPerSec > 0 && h.NetBytesPerSec > 0 {
		return min(h.LinkBytesPerSec, h.NetBytesPerSec)
	}
	return h.NetBytesPerSec
}

// ratioPower is (a/b)^exponent; 1 when one of the two is not known.
func ratioPower(a, b, exponent float64) float64 {
	if a <= 0 || b <= 0 {
		return 1
	}
	return math.Pow(a/b, exponent)
}

// ringSec is the time of an all-reduce of bytes in a ring of replicas. ok is false
// when the bytes or the bandwidth are not known.
func (h Hardware) ringSec(bytes float64, nodes, replicas int) (sec float64, ok bool) {
	bandwidth := h.LinkBytesPerSec
	if nodes > 1 {
		// The replicas of a machine share its network, and one ring crosses it once.
		net := float64(replicas/nodes) * h.NetBytesPerSec
		if bandwidth <= 0 || net < bandwidth {
			bandwidth = net
		}
	}
	if bytes <= 0 || bandwidth <= 0 || replicas < 2 {
		return 0, false
	}
	k := float64(replicas)
	return 2 * (k - 1) / k * bytes / bandwidth, true
}
