package pricing

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goodfleet/goodfleet/provider"
)

const (
	spotFile   = "aws_spot_series.txt.gz"
	spotHeader = "spot series 1"
	spotSource = "AWS spot price changes, replayed from the SkyPilot catalogue v5 aws/vms.csv 2022-12-02..2024-05-01"

	// spotUnit is what the file counts prices in: no AWS spot price has more than
	// four decimals.
	spotUnit = DollarPerHour / 10_000
)

// spotCount accounts for every event of the spot file: each is kept as a price,
// or ended a quote (an empty price, or the type left the zone), or was refused.
type spotCount struct {
	events, kept, ended int
	refused             []Refusal
}

// readSpotSeries reads the series of a spot file. After a line with the format's
// name comes one with every instant at which anything changed (unix seconds, each
// as the difference to the last), then two lines a series: its type, region, zone
// and number of events, and the events. An event is the steps along the instants
// since the last one, and the signed change of the price in 1/10000 USD; or "_"
// where the price was empty and "!" where the type left the zone.
func readSpotSeries(data []byte, set *seriesSet) (spotCount, error) {
	var count spotCount
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	if len(lines) < 2 || len(lines)%2 != 0 || string(lines[0]) != spotHeader {
		return count, fmt.Errorf("data/%s: not a %q file", spotFile, spotHeader)
	}
	instants, err := spotInstants(lines[1])
	if err != nil {
		return count, fmt.Errorf("data/%s:2: %w", spotFile, err)
	}
	source := set.source(spotSource)
	for n := 2; n < len(lines); n += 2 {
		head := strings.Fields(string(lines[n]))
		if len(head) != 4 {
			return count, fmt.Errorf("data/%s:%d: want type, region, zone, count", spotFile, n+1)
		}
		events, err := strconv.Atoi(head[3])
		if err != nil || events <= 0 {
			return count, fmt.Errorf("data/%s:%d: count %q", spotFile, n+1, head[3])
		}
		s := set.of(provider.Offering{Cloud: "aws", Region: head[1], Zone: head[2], Type: head[0], Market: provider.Spot})
		r := spotReader{text: lines[n+1], instants: instants, source: source, line: n + 2}
		s.steps = make([]step, 0, min(events, len(lines[n+1]))+2) // an event is a character or more; room for the later lists
		if err := r.read(s, &count); err != nil {
			return count, fmt.Errorf("data/%s:%d: %w", spotFile, n+2, err)
		}
		if r.events != events {
			return count, fmt.Errorf("data/%s:%d: %d events, want %d", spotFile, n+2, r.events, events)
		}
	}
	return count, nil
}

func spotInstants(line []byte) ([]int64, error) {
	fields := strings.Fields(string(line))
	instants := make([]int64, len(fields))
	at := int64(0)
	for i, f := range fields {
		step, err := strconv.ParseInt(f, 10, 64)
		if err != nil || step <= 0 {
			return nil, fmt.Errorf("instant %q", f)
		}
		at += step
		instants[i] = at
	}
	return instants, nil
}

// spotReader reads the events of one series.
type spotReader struct {
	text     []byte
	instants []int64
	source   int32
	line     int
	pos      int
	events   int
}

var errSpotEvent = errors.New("not an event")

func (r *spotReader) read(s *series, count *spotCount) error {
	at, price := -1, int64(0)
	for r.pos < len(r.text) {
		steps, ok := r.number()
		if at += int(steps); !ok || steps <= 0 || at >= len(r.instants) || r.pos >= len(r.text) {
			return errSpotEvent
		}
		st := step{at: r.instants[at], source: r.source}
		switch kind := r.text[r.pos]; kind {
		case '_', '!':
			r.pos++
			count.ended++
		case '+', '-':
			r.pos++
			change, ok := r.number()
			if !ok {
				return errSpotEvent
			}
			if kind == '-' {
				change = -change
			}
			price += change
			st.rate = Rate(price) * spotUnit
			if reason := spotReason(st.rate); reason != "" {
				count.refused = append(count.refused, Refusal{File: spotFile, Line: r.line, Field: "price", Text: st.rate.String(), Reason: reason})
				st.rate = 0 // nothing is known from here on
			} else {
				count.kept++
			}
		default:
			return errSpotEvent
		}
		s.steps = append(s.steps, st)
		r.events++
		count.events++
		if r.pos < len(r.text) {
			if r.text[r.pos] != ' ' {
				return errSpotEvent
			}
			r.pos++
		}
	}
	return nil
}

// spotReason is why a price of the spot file cannot be used.
func spotReason(rate Rate) Reason {
	switch {
	case rate < 0:
		return Negative
	case rate == 0:
		return Zero
	case rate == sentinels[0] || rate >= maxPrice:
		return Sentinel
	}
	return ""
}

// number reads digits. ok is false when there are none, or absurdly many.
func (r *spotReader) number() (n int64, ok bool) {
	start := r.pos
	for r.pos < len(r.text) && r.text[r.pos] >= '0' && r.text[r.pos] <= '9' {
		n = n*10 + int64(r.text[r.pos]-'0')
		r.pos++
	}
	return n, r.pos > start && r.pos-start <= 12
}
