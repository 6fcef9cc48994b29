package autoscale

import (
	"math/bits"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// bootWeight is how much the newest boot counts against all before it: about the
// last five matter.
const bootWeight = 0.2

// bootsKept is how many boots of a type are remembered. The longest of fifty is a
// fair 99 % quantile, on the safe side.
const bootsKept = 50

// bootTimes are the times from launch to running that were seen, by cloud and type.
// Where machines are expected to call home, they last until they have.
type bootTimes map[[2]string]*boots

type boots struct {
	typ   provider.InstanceType
	mean  time.Duration
	last  []time.Duration // the newest at the end
	grant time.Duration   // see grantOf
}

// learn takes in one boot.
func (b bootTimes) learn(t provider.InstanceType, took time.Duration) {
	if took < 0 {
		return // clocks that disagree say nothing
	}
	key := [2]string{t.Cloud, t.Name}
	known, ok := b[key]
	if !ok {
		known = &boots{typ: t, mean: took}
		b[key] = known
	}
	known.mean = (known.mean + time.Duration(bootWeight*float64(took-known.mean))).Round(time.Second)
	known.last = append(known.last, took)
	if len(known.last) > bootsKept {
		known.last = slices.Delete(known.last, 0, 1)
	}
	last := slices.Sorted(slices.Values(known.last))
	known.grant = max(0, last[(9*len(last)+9)/10-1]-known.mean)
}

// like is how long a type is expected to take of which no boot was seen: the mean over
// the boots of those types of its cloud and kind that come nearest to it in accelerators,
// with one of prior beside them. Of each type no more count than matter for its mean.
//
// Without it a type that nobody has tried looks slower than those that were, by what prior
// is on the safe side, and is never tried.
func (b bootTimes) like(t provider.InstanceType, prior time.Duration) time.Duration {
	const atMost = int(1 / bootWeight)
	nearest, sum, n := -1, time.Duration(0), 0
	for _, seen := range b { // in any order: what is as near adds up
		if seen.typ.Cloud != t.Cloud || seen.typ.Kind != t.Kind {
			continue
		}
		far := bits.Len(uint(seen.typ.Count)) - bits.Len(uint(t.Count))
		far = max(far, -far)
		if nearest >= 0 && far > nearest {
			continue
		}
		if far != nearest {
			nearest, sum, n = far, 0, 0
		}
		count := min(len(seen.last), atMost)
		sum, n = sum+time.Duration(count)*seen.mean, n+count
	}
	return ((prior + sum) / time.Duration(1+n)).Round(time.Second)
}

// bootOf is the expected time from launch to running of an offering.
func (l *Loop) bootOf(o provider.Offering) time.Duration {
	if seen, ok := l.boots[[2]string{o.Cloud, o.Type}]; ok {
		return seen.mean
	}
	t, ok := l.typeOf(o)
	if !ok {
		return l.cfg.Settings.Boot
	}
	return l.boots.like(t, l.bootPrior(t))
}

// bootPrior is the time from launch to running of a type where nothing is known.
func (l *Loop) bootPrior(t provider.InstanceType) time.Duration {
	if l.cfg.Boot == nil {
		return l.cfg.Settings.Boot
	}
	return l.cfg.Boot(t)
}

// grantOf is by how much nine launches in ten take longer than bootOf at most. As long
// as few boots of a type were seen, any may take twice as long as expected; as long as
// none were, longer by what is expected where nothing is known.
func (l *Loop) grantOf(o provider.Offering) time.Duration {
	seen, ok := l.boots[[2]string{o.Cloud, o.Type}]
	if !ok {
		t, _ := l.typeOf(o)
		return max(l.bootOf(o), l.bootPrior(t))
	}
	if len(seen.last) < bootsTrusted {
		return l.bootOf(o)
	}
	return seen.grant
}

// upBy is how long a machine of an offering may take to come up: half as long again
// as the slowest of the last ones, within PendingMin and PendingMax. A type of which
// few were seen may take as long as any.
func (l *Loop) upBy(o provider.Offering) time.Duration {
	set := &l.cfg.Settings
	seen, ok := l.boots[[2]string{o.Cloud, o.Type}]
	if !ok || len(seen.last) < bootsTrusted {
		return set.PendingMax
	}
	slowest := slices.Max(seen.last)
	return min(max(slowest+slowest/2, set.PendingMin), set.PendingMax)
}

// bootsTrusted is how many boots of a type must have been seen before they say how
// long one may take.
const bootsTrusted = 3
