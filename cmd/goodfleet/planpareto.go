package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/autoscale/report"
	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/provider"
)

// frontAnswer is the JSON of plan --pareto.
type frontAnswer struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	At         time.Time    `json:"at"`
	Currency   string       `json:"currency"`
	Job        string       `json:"job,omitempty"` // absent: all jobs together
	Left       int          `json:"leftOut"`       // jobs that wait in some plan, or whose work is not known
	Points     []frontPoint `json:"points"`        // the cheapest first
}

// frontPoint is one way to spend that no other beats in money and in time.
type frontPoint struct {
	Cost        float64            `json:"cost"`  // USD to the end
	Hours       float64            `json:"hours"` // to the end; of all jobs: the mean
	Last        float64            `json:"lastHours"`
	Rate        float64            `json:"ratePerHour"`
	PerHour     *float64           `json:"costOfAnHourLess"` // USD; null: the cheapest
	Knee        bool               `json:"knee"`
	Config      *planner.Config    `json:"config,omitempty"`
	Offering    *provider.Offering `json:"offering,omitempty"`
	ValueOfTime float64            `json:"valueOfTimeFactor,omitempty"` // of all jobs: times each job's value of time
}

// plotFormat is the format of a drawing by the name of its file.
func plotFormat(flag, file string) (string, error) {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(file)), ".")
	if format != report.PlotPNG && format != report.PlotSVG {
		return "", fmt.Errorf("%s %q: want a file that ends in .png or .svg", flag, file)
	}
	return format, nil
}

// front answers plan --pareto: the table, and the drawing if one is asked for.
func (a *asked) front(s streams, cfg planConfig) error {
	data := frontAnswer{APIVersion: document.APIVersion, Kind: "CostTimeFront", At: a.state.Now, Currency: "USD", Job: cfg.job, Points: []frontPoint{}}
	var points []policy.FrontPoint
	var err error
	if cfg.job != "" {
		if err := a.knownJob("--job", cfg.job); err != nil {
			return err
		}
		points, err = a.reasons.JobFront(planner.JobID(cfg.job))
	} else {
		points, data.Left, err = a.reasons.QueueFront()
	}
	if err != nil {
		return err
	}
	for i, p := range points {
		f := frontPoint{Cost: p.Cost, Hours: p.Hours, Last: p.Last, Rate: p.Rate, Knee: p.Knee, ValueOfTime: p.Times}
		if i > 0 {
			f.PerHour = &points[i].PerHour
		}
		if cfg.job != "" {
			f.Config, f.Offering = &points[i].Config, &points[i].Offering
		}
		data.Points = append(data.Points, f)
	}
	if cfg.plot != "" {
		format, err := plotFormat("--plot", cfg.plot)
		if err != nil {
			return err
		}
		drawing := a.drawing(data)
		if err := writeFile(cfg.plot, func(w io.Writer) error { return drawing.Write(w, format) }); err != nil {
			return err
		}
	}
	return answer{data: data, grid: a.frontGrid(data)}.print(s.out, cfg.settings.output)
}

// knownJob refuses the name of a job that the plan does not have.
func (a *asked) knownJob(flag, name string) error {
	var names []string
	for i := range a.reasons.Problem().Jobs {
		names = append(names, string(a.reasons.Problem().Jobs[i].Job.ID))
		if names[i] == name {
			return nil
		}
	}
	return fmt.Errorf("%s %q: the plan has no such job%s", flag, name, suggestion(name, names))
}

func (a *asked) frontGrid(data frontAnswer) grid {
	alone := data.Job != ""
	g := grid{}
	add := func(name string, right bool, cell func(p *frontPoint) string) {
		g.head, g.right = append(g.head, name), append(g.right, right)
		for i := range data.Points {
			if len(g.rows) <= i {
				g.rows = append(g.rows, nil)
			}
			g.rows[i] = append(g.rows[i], cell(&data.Points[i]))
		}
	}
	hours := func(h float64) string { return strconv.FormatFloat(h, 'f', 2, 64) }
	add("cost USD", true, func(p *frontPoint) string { return cents(p.Cost) })
	if alone {
		add("hours", true, func(p *frontPoint) string { return hours(p.Hours) })
	} else {
		add("mean hours", true, func(p *frontPoint) string { return hours(p.Hours) })
		add("last hours", true, func(p *frontPoint) string { return hours(p.Last) })
	}
	add("USD/h", true, func(p *frontPoint) string { return cents(p.Rate) })
	add("an hour less costs USD", true, func(p *frontPoint) string {
		if p.PerHour == nil {
			return unknown
		}
		return cents(*p.PerHour)
	})
	add("cost × time", true, func(p *frontPoint) string {
		text := cents(p.Cost * p.Hours)
		if p.Knee {
			text = "knee  " + text
		}
		return text
	})
	if alone {
		add("runs on", false, func(p *frontPoint) string { return a.gangText(*p.Config) })
		add("where", false, func(p *frontPoint) string { return p.Offering.Zone + " " + p.Offering.Market.String() })
		g.notes = append(g.notes, "", "What the job would cost to its end and take, alone, on each config of which none other is both cheaper and faster.")
	} else {
		add("value of time", true, func(p *frontPoint) string { return "× " + short2(p.ValueOfTime) })
		g.notes = append(g.notes, "", "Plans for all jobs together, with the value of their time scaled; of these none other is both cheaper and faster.")
	}
	g.notes = append(g.notes, "The knee is the least cost × time. Hours count losses, waits, boot and bringing data.")
	if data.Left > 0 {
		g.notes = append(g.notes, fmt.Sprintf("%s left out of all sums: %s in some of the plans, or the work is not known.", areJobs(data.Left), waitsIn(data.Left)))
	}
	return g
}

func areJobs(n int) string {
	if n == 1 {
		return "1 job is"
	}
	return fmt.Sprintf("%d jobs are", n)
}

func waitsIn(n int) string {
	if n == 1 {
		return "it waits"
	}
	return "they wait"
}

// short2 is a factor with two digits that matter.
func short2(v float64) string {
	if v >= 10 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// drawing is the front as a picture.
func (a *asked) drawing(data frontAnswer) report.FrontPlot {
	d := report.FrontPlot{Title: "All jobs: what each dollar buys in time", Hours: "mean hours to the end of a job"}
	if data.Job != "" {
		d.Title, d.Hours = data.Job+": what each dollar buys in time", "hours to the end"
	}
	for _, p := range data.Points {
		point := report.FrontPoint{Cost: p.Cost, Hours: p.Hours, Knee: p.Knee}
		if p.Config != nil {
			t, _ := a.state.Catalogue.Lookup(p.Config.Cloud, p.Config.Type)
			point.Label = fmt.Sprintf("%d × %s %s, %s", p.Config.Replicas, t.Accelerator, p.Offering.Market, p.Offering.Zone)
		} else {
			point.Label = "value of time × " + short2(p.ValueOfTime)
		}
		d.Points = append(d.Points, point)
	}
	return d
}
