package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// staleMark is put behind the age of a price that is too old to be relied on.
const staleMark = " †"

// grid is the table of jobs. Columns that would be empty in every row are left out:
// what changes when nothing runs, deadlines when there are none.
func (data planAnswer) grid() grid {
	deadlines := slices.ContainsFunc(data.Jobs, func(j planJob) bool { return j.Deadline != nil })
	g := grid{}
	column := func(name string, right, shown bool, cell func(j *planJob) string) {
		if !shown {
			return
		}
		g.head, g.right = append(g.head, name), append(g.right, right)
		for i := range data.Jobs {
			if len(g.rows) <= i {
				g.rows = append(g.rows, nil)
			}
			g.rows[i] = append(g.rows[i], orUnknown(cell(&data.Jobs[i])))
		}
	}
	column("job", false, true, func(j *planJob) string { return j.Job })
	column("team", false, true, func(j *planJob) string { return j.Team })
	column("does", false, data.runs, func(j *planJob) string { return j.Change })
	column("runs on", false, true, func(j *planJob) string { return ifRuns(j, j.gang) })
	column("where", false, true, func(j *planJob) string {
		return ifRuns(j, func() string { return j.Offering.Zone + " " + j.Offering.Market.String() })
	})
	column("samples/h", true, true, func(j *planJob) string {
		return ifRuns(j, func() string { return short3(*j.PerHour) })
	})
	column("USD/h", true, true, func(j *planJob) string {
		return ifRuns(j, func() string { return cents(j.Rate.Dollars()) })
	})
	column("finish (UTC)", true, true, func(j *planJob) string {
		if j.Finish == nil {
			return ""
		}
		return j.Finish.Format("2006-01-02 15:04")
	})
	column("deadline", true, deadlines, func(j *planJob) string { return j.Deadline.text() })
	column("cost USD", true, true, func(j *planJob) string {
		if j.Cost == nil {
			return ""
		}
		return cents(j.Cost.Dollars())
	})
	column("price age", true, true, func(j *planJob) string { return ageOf(j.QuotedAt, j.Stale, data.At) })
	return g
}

func ifRuns(j *planJob, text func() string) string {
	if j.Config == nil {
		return ""
	}
	return text()
}

// text is a deadline for a screen: "met, 3 h spare", or "no net, 3 h spare" where the job is
// expected in time, and nothing that surely runs is reserved for it.
func (d *planDeadline) text() string {
	switch {
	case d == nil:
		return ""
	case d.Spare == nil:
		return "open"
	case d.State == deadlineLate:
		return "late by " + age(time.Duration(-*d.Spare*float64(time.Second)))
	}
	says := "met, "
	if d.Promise == promiseOpen {
		says = "no net, "
	}
	return says + age(time.Duration(*d.Spare*float64(time.Second))) + " spare"
}

// ageOf is how long ago a price was seen.
func ageOf(at *time.Time, stale bool, now time.Time) string {
	if at == nil {
		return ""
	}
	text := age(now.Sub(*at))
	if stale {
		text += staleMark
	}
	return text
}

// short3 is a number with three digits that matter: "7.2", "682 k", "1.01 M".
func short3(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= 0.9995*unit.size {
			return threeDigits(v/unit.size) + " " + unit.name
		}
	}
	return threeDigits(v)
}

func threeDigits(v float64) string {
	switch {
	case v >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func orUnknown(text string) string {
	if text == "" {
		return unknown
	}
	return text
}

func cents(dollars float64) string { return strconv.FormatFloat(dollars, 'f', 2, 64) }

// details is what follows the table: reasons, machines, worth.
func (data planAnswer) details(w io.Writer) error {
	var text bytes.Buffer
	add := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	add("")
	add("Why")
	for _, j := range data.Jobs {
		estimated := ""
		if j.Estimated {
			estimated = " (speed estimated)"
		}
		add("  %s%s: %s", j.Job, estimated, j.Reason)
		if j.PutOff != "" {
			add("    put off: %s", j.PutOff)
		}
		if r := j.RunnerUp; r != nil {
			add("    next best: %d × %s on %s at %s USD/h: %s", r.Config.Replicas, r.accelerator, r.Offering, cents(r.Rate.Dollars()), r.Reason)
		}
		if d := j.Deadline; d != nil && d.Says != "" {
			add("    deadline %s: %s", d.At.UTC().Format("2006-01-02 15:04"), d.Says)
		}
	}
	add("")
	if g := data.machineGrid(); len(g.rows) > 0 {
		g.table(&text)
	} else {
		add("No machine is bought, kept or ended.")
	}
	add("")
	data.totals(add)
	_, err := w.Write(text.Bytes())
	return err
}

// totals are the last lines of a plan.
func (data planAnswer) totals(add func(format string, args ...any)) {
	limit := "no burn cap"
	if data.BurnCap != nil {
		limit = "burn cap " + data.BurnCap.String() + " USD/h"
	}
	add("Burn %s USD/h (%s). Worth %s %s; no plan is worth more than %s (%s bound): gap %s %%.",
		cents(data.Burn.Dollars()), limit, cents(data.Value), data.Unit, cents(data.Bound.Value), data.Bound.Kind, strconv.FormatFloat(100*data.Gap, 'f', 2, 64))
	runs, waits, cost, open, off := 0, 0, pricing.Money(0), 0, 0
	for _, j := range data.Jobs {
		if j.PutOff != "" {
			off++
		}
		switch {
		case j.Config == nil:
			waits++
		case j.Cost == nil:
			runs, open = runs+1, open+1
		default:
			runs, cost = runs+1, cost+*j.Cost
		}
	}
	line := fmt.Sprintf("%s, %d waiting; %s USD to the end of those that run", counted(runs, "job")+" running", waits, cents(cost.Dollars()))
	if open > 0 {
		line += fmt.Sprintf(", and what %s with unknown work will take", counted(open, "job"))
	}
	add("%s.", line)
	if off > 0 {
		add("%s off and cannot begin now: burn and cost are those of the plan as it should be.", numbered(off, "job is put", "jobs are put"))
	}
	add("Planned for %s.", data.At.Format(time.RFC3339))
	stale := slices.ContainsFunc(data.Jobs, func(j planJob) bool { return j.Stale }) ||
		slices.ContainsFunc(data.Machines, func(m planMachine) bool { return m.Stale })
	if stale {
		add("† a spot price older than %s, or another older than %s: give newer ones by --prices.", age(spotStale), age(listStale))
	}
	if u := data.Prices; u != nil {
		add("%s of %s used, before the embedded prices.", counted(u.Used, "price"), u.File)
	}
	if data.Later > 0 {
		add("%s left out.", comes(data.Later))
	}
	for _, row := range data.Broken {
		add("The store holds a row that cannot be read: %s.", row)
	}
}

func comes(n int) string {
	if n == 1 {
		return "1 job comes later and is"
	}
	return fmt.Sprintf("%d jobs come later and are", n)
}

// machineRow is machines of one offering with which a plan does one thing.
type machineRow struct {
	does     string
	offering provider.Offering
	rate     pricing.Rate
	known    bool // the rate is
	quotedAt *time.Time
	stale    bool
	names    []string // of those that are there
	count    int
	why      []string
}

// What a plan does with machines.
const (
	doesBuy  = "buy"
	doesKeep = "keep"
	doesIdle = "keep idle"
	doesEnd  = "end"
)

// machineRows groups machines: those bought, then those kept, then those ended.
func (data planAnswer) machineRows() []*machineRow {
	var list []*machineRow
	row := func(does string, o provider.Offering) *machineRow {
		for _, r := range list {
			if r.does == does && r.offering == o {
				return r
			}
		}
		list = append(list, &machineRow{does: does, offering: o})
		return list[len(list)-1]
	}
	for _, m := range data.Machines {
		does := doesKeep
		switch {
		case m.Buy:
			does = doesBuy
		case len(m.Jobs) == 0:
			does = doesIdle
		}
		r := row(does, m.Offering)
		r.count++
		r.rate, r.known, r.quotedAt, r.stale = m.Rate, true, m.QuotedAt, m.Stale
		if m.Instance != "" {
			r.names = append(r.names, m.Instance)
		}
		for _, share := range m.Jobs {
			if !slices.Contains(r.why, share.Job) {
				r.why = append(r.why, share.Job)
			}
		}
		if len(m.Jobs) == 0 && m.Reason != "" && !slices.Contains(r.why, m.Reason) {
			r.why = append(r.why, m.Reason)
		}
	}
	for _, e := range data.Releases {
		r := row(doesEnd, e.Offering)
		r.count++
		r.names = append(r.names, e.Instance)
		if !slices.Contains(r.why, e.Reason) {
			r.why = append(r.why, e.Reason)
		}
	}
	order := []string{doesBuy, doesKeep, doesIdle, doesEnd}
	slices.SortStableFunc(list, func(a, b *machineRow) int { return slices.Index(order, a.does) - slices.Index(order, b.does) })
	return list
}

// machineGrid is the table of machines.
func (data planAnswer) machineGrid() grid {
	g := grid{
		head:  []string{"machines", "does", "offering", "USD/h each", "price age", "for"},
		right: []bool{true, false, false, true, true, false},
	}
	for _, r := range data.machineRows() {
		rate := unknown
		if r.known {
			rate = r.rate.String()
		}
		purpose := strings.Join(r.why, ", ")
		if len(r.names) > 0 && len(r.names) <= 3 {
			purpose = strings.Join(r.names, ", ") + ": " + purpose
		}
		g.rows = append(g.rows, []string{strconv.Itoa(r.count), r.does, r.offering.String(), rate, orUnknown(ageOf(r.quotedAt, r.stale, data.At)), purpose})
	}
	return g
}
