package pricing

// Bear appends to dst how many of a machine's accelerators, of in number, each of those
// bears who hold some: his own and, of those that nobody holds, whole ones in proportion
// to his own, by the largest remainders. Of equal remainders the earlier gets the last
// ones. Who holds none bears none, and what nobody holds of a machine that nobody is on
// is nobody's. It is the one rule by which plans, guards and the ledger count.
func Bear(dst []int, of int, held []int) []int {
	whole := 0
	for _, n := range held {
		whole += max(n, 0)
	}
	idle := max(of-whole, 0)
	left := idle
	for _, n := range held {
		bear := max(n, 0)
		if whole > 0 {
			bear += idle * bear / whole
		}
		left -= bear - max(n, 0)
		dst = append(dst, bear)
	}
	if whole == 0 || left == 0 {
		return dst
	}
	bear := dst[len(dst)-len(held):]
	for i, n := range held {
		before := 0 // those whose remainder comes first
		for k, m := range held {
			a, b := idle*max(n, 0)%whole, idle*max(m, 0)%whole
			if b > a || b == a && k < i {
				before++
			}
		}
		if before < left {
			bear[i]++
		}
	}
	return dst
}
