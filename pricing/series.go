package pricing

import (
	"cmp"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// step is the price of a series from one instant on. A rate of 0 stands for the
// end of a quote: not sold that way from here on. It never leaves this package.
type step struct {
	at     int64 // unix seconds
	rate   Rate
	source int32 // index into the history's sources
}

// series is the prices of one offering in time order.
type series struct {
	offering provider.Offering
	steps    []step
}

// find returns the last step at or before at. ok is false before the first one
// and while the offering is not sold.
func (s *series) find(at int64) (st step, ok bool) {
	lo, hi := 0, len(s.steps)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if s.steps[mid].at <= at {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 || s.steps[lo-1].rate == 0 {
		return step{}, false
	}
	return s.steps[lo-1], true
}

// seriesSet collects steps by offering while a history is being read.
type seriesSet struct {
	sources []string
	known   map[string]int32
	index   map[provider.Offering]int
	all     []series
}

func newSeriesSet() *seriesSet {
	return &seriesSet{known: map[string]int32{}, index: map[provider.Offering]int{}}
}

// source returns the index of a source's text.
func (b *seriesSet) source(text string) int32 {
	i, ok := b.known[text]
	if !ok {
		i = int32(len(b.sources))
		b.sources = append(b.sources, text)
		b.known[text] = i
	}
	return i
}

// of returns the series of o, which it creates if need be. The pointer holds until
// the next call.
func (b *seriesSet) of(o provider.Offering) *series {
	i, ok := b.index[o]
	if !ok {
		i = len(b.all)
		b.index[o] = i
		b.all = append(b.all, series{offering: o})
	}
	return &b.all[i]
}

// add appends a step; a rate of 0 ends the quote.
func (b *seriesSet) add(o provider.Offering, at time.Time, rate Rate, source string) {
	s := b.of(o)
	s.steps = append(s.steps, step{at: at.Unix(), rate: rate, source: b.source(source)})
}

// history sorts what was collected. Of two steps at one instant the later added
// counts.
func (b *seriesSet) history() *History {
	for i := range b.all {
		s := &b.all[i]
		if inOrder(s.steps) {
			continue // and maybe shared with another history: not written to
		}
		slices.SortStableFunc(s.steps, func(p, q step) int { return cmp.Compare(p.at, q.at) })
		kept := s.steps[:0]
		for k, st := range s.steps {
			if k+1 < len(s.steps) && s.steps[k+1].at == st.at {
				continue
			}
			kept = append(kept, st)
		}
		s.steps = kept
	}
	return newHistory(b.all, b.sources)
}

// inOrder reports whether each step lies after the one before it.
func inOrder(steps []step) bool {
	for k := 1; k < len(steps); k++ {
		if steps[k].at <= steps[k-1].at {
			return false
		}
	}
	return true
}
