package ledger

import (
	"math/big"
	"math/bits"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
)

// listCost is the sum of an hourly rate × share × time, exact, by the accelerators
// of the machine, which divide it: of how many there are few.
type listCost []product

// product is a sum in nano dollars per hour × accelerators × nanoseconds.
type product struct {
	of        int
	high, low uint64   // in 128 bits, two's complement
	more      *big.Int // what those do not hold; nil: nothing
}

func (l *listCost) add(c *Charge, rate pricing.Rate) {
	for i := range *l {
		if p := &(*l)[i]; p.of == c.Of {
			p.add(int64(c.Time()), int64(rate))
			return
		}
	}
	*l = append(*l, product{of: c.Of})
	(*l)[len(*l)-1].add(int64(c.Time()), int64(rate))
}

// add adds time × rate. A product of two int64 fits, but not always on top of others.
func (p *product) add(time, rate int64) {
	high, low := bits.Mul64(uint64(time), uint64(rate))
	if time < 0 {
		high -= uint64(rate)
	}
	if rate < 0 {
		high -= uint64(time)
	}
	sumLow, carry := bits.Add64(p.low, low, 0)
	sumHigh, _ := bits.Add64(p.high, high, carry)
	if p.high>>63 == high>>63 && sumHigh>>63 != high>>63 { // signs agree, and that of the sum does not
		if p.more == nil {
			p.more = new(big.Int)
		}
		p.more.Add(p.more, wide(p.high, p.low))
		sumHigh, sumLow = high, low
	}
	p.high, p.low = sumHigh, sumLow
}

// wide is 128 bits in two's complement as a number.
func wide(high, low uint64) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(int64(high)), 64)
	return n.Add(n, new(big.Int).SetUint64(low))
}

// money rounds the exact sum half away from zero to the nano dollar.
func (l listCost) money() pricing.Money {
	exact := new(big.Rat)
	for _, p := range l { // a sum of exact numbers: the order does not matter
		total := wide(p.high, p.low)
		if p.more != nil {
			total.Add(total, p.more)
		}
		if p.of > 0 {
			exact.Add(exact, new(big.Rat).SetFrac(total, new(big.Int).Mul(big.NewInt(int64(p.of)), big.NewInt(int64(time.Hour)))))
		}
	}
	half := big.NewRat(1, 2)
	if exact.Sign() < 0 {
		half.Neg(half)
	}
	exact.Add(exact, half)
	return pricing.Money(new(big.Int).Quo(exact.Num(), exact.Denom()).Int64())
}
