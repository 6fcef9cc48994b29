package sweep

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/goodfleet/goodfleet/autoscale/sim"
)

// Row is what a run came to: its place on each axis, then the figures.
type Row struct {
	Places  []string
	Figures []string // as Figures names them; numbers, but the last
}

// figures are what is told of an outcome.
var figures = []struct {
	name string
	of   func(out *sim.Outcome) string
}{
	{"jobs", func(out *sim.Outcome) string { return strconv.Itoa(out.Jobs) }},
	{"unfinished", func(out *sim.Outcome) string { return strconv.Itoa(out.Unfinished) }},
	{"failed", func(out *sim.Outcome) string { return strconv.Itoa(out.Failed) }},
	{"deadline_misses", func(out *sim.Outcome) string { return strconv.Itoa(out.DeadlineMisses) }},
	{"cost_usd", func(out *sim.Outcome) string { return out.Cost.String() }},
	{"avg_jct_hours", func(out *sim.Outcome) string { return number(out.AvgJCTHours) }},
	{"p50_jct_hours", func(out *sim.Outcome) string { return number(out.P50JCTHours) }},
	{"p95_jct_hours", func(out *sim.Outcome) string { return number(out.P95JCTHours) }},
	{"max_jct_hours", func(out *sim.Outcome) string { return number(out.MaxJCTHours) }},
	{"avg_queue_hours", func(out *sim.Outcome) string { return number(out.AvgQueueHours) }},
	{"makespan_hours", func(out *sim.Outcome) string { return number(out.MakespanHours) }},
	{"accelerator_hours", func(out *sim.Outcome) string { return number(out.AcceleratorHours) }},
	{"spot_accelerator_hours", func(out *sim.Outcome) string { return number(out.SpotHours) }},
	{"unknown_rate_hours", func(out *sim.Outcome) string { return number(out.UnknownHours) }},
	{"reference_hours", func(out *sim.Outcome) string { return number(out.ReferenceHours) }},
	{"reference_hours_per_usd", func(out *sim.Outcome) string { return number(out.ReferencePerDollar) }},
	{"idle_share", func(out *sim.Outcome) string { return number(out.IdleShare) }},
	{"boot_share", func(out *sim.Outcome) string { return number(out.BootShare) }},
	{"waste_share", func(out *sim.Outcome) string { return number(out.WasteShare) }},
	{"peak_burn_usd_per_hour", func(out *sim.Outcome) string { return number(out.PeakBurn) }},
	{"launches", func(out *sim.Outcome) string { return strconv.Itoa(out.Launches) }},
	{"interruptions", func(out *sim.Outcome) string { return strconv.Itoa(out.Interruptions) }},
	{"restarts", func(out *sim.Outcome) string { return strconv.Itoa(out.Restarts) }},
	{"rounds", func(out *sim.Outcome) string { return strconv.FormatInt(out.Rounds, 10) }},
	{"hash", func(out *sim.Outcome) string { return endsOf(out) }},
}

// Figures names the figures of a row, in their order. The last is a hash of who ended
// when, and for how much.
func Figures() []string {
	names := make([]string, len(figures))
	for i, f := range figures {
		names[i] = f.name
	}
	return names
}

func figuresOf(out *sim.Outcome) []string {
	list := make([]string, len(figures))
	for i, f := range figures {
		list[i] = f.of(out)
	}
	return list
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// endsOf is the hash of a row.
func endsOf(out *sim.Outcome) string {
	h := sha256.New()
	for _, j := range out.JobOutcomes {
		ended := "-"
		if j.Ended != nil {
			ended = strconv.FormatInt(j.Ended.UnixMilli(), 10)
		}
		fmt.Fprintf(h, "%s %s %s %s\n", j.Job, j.Phase, ended, j.Cost)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// Table is rows with their axes.
type Table struct {
	Axes []string
	Rows []Row
}

// CSV is a line a row, under a head.
func (t Table) CSV() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	lines := [][]string{append(append([]string(nil), t.Axes...), Figures()...)}
	for _, r := range t.Rows {
		lines = append(lines, append(append([]string(nil), r.Places...), r.Figures...))
	}
	err := w.WriteAll(lines)
	return b.Bytes(), err
}

// JSONL is an object a line, its keys in the order of the columns. Axes are texts,
// figures numbers, apart from the hash.
func (t Table) JSONL() ([]byte, error) {
	var b bytes.Buffer
	for _, r := range t.Rows {
		text, err := t.object(r)
		if err != nil {
			return nil, err
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// MarshalJSON is a list of the objects of JSONL.
func (t Table) MarshalJSON() ([]byte, error) {
	list := []json.RawMessage{}
	for _, r := range t.Rows {
		text, err := t.object(r)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return json.Marshal(list)
}

func (t Table) object(r Row) ([]byte, error) {
	var b bytes.Buffer
	field := func(name, value string, text bool) error {
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(key)
		b.WriteByte(':')
		if !text {
			b.WriteString(value)
			return nil
		}
		quoted, err := json.Marshal(value)
		b.Write(quoted)
		return err
	}
	b.WriteByte('{')
	for i, name := range t.Axes {
		if err := field(name, r.Places[i], true); err != nil {
			return nil, err
		}
	}
	for i, f := range figures {
		if err := field(f.name, r.Figures[i], i == len(figures)-1); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
