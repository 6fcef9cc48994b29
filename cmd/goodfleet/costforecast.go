package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/autoscale/report"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

func newCostForecast(s streams) *cobra.Command {
	cfg := costConfig{}
	cmd := &cobra.Command{
		Use:   "forecast",
		Short: "What the month will have cost at its end, P50 and P90",
		Long: `What is spent of the month of --now, and what it will come to: for the days left, the mean
of up to 28 whole days before; P90 adds their spread. The queue and the plan are not
in it. With fewer than 3 whole days to look back on, the end is not known.`,
		Example: `  goodfleet cost-report forecast
  goodfleet cost-report forecast --now 2023-06-09T12:00:00Z --zone Europe/Berlin`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if cfg.settings, err = readSettings(cmd); err != nil {
				return err
			}
			return runCostForecast(s.out, cfg, time.Now())
		},
	}
	addSettings(cmd, "ledger", "out", "output")
	cmd.Flags().StringVar(&cfg.span.zone, "zone", "UTC", "time zone of days and months, such as Europe/Berlin")
	cmd.Flags().StringVar(&cfg.span.now, "now", "", "instant up to which charges are known (default now)")
	return cmd
}

func runCostForecast(w io.Writer, cfg costConfig, now time.Time) error {
	span, err := cfg.span.read(now)
	if err != nil {
		return err
	}
	charges, err := readLedger(cfg.settings.ledger)
	if err != nil {
		return err
	}
	f := report.NewForecast(charges, span.now, span.zone)
	type forecast struct {
		Month string         `json:"month"`
		At    time.Time      `json:"at"`
		Spent pricing.Money  `json:"spent"`
		P50   *pricing.Money `json:"p50"`
		P90   *pricing.Money `json:"p90"`
		Days  int            `json:"days_looked_back"`
		Lower bool           `json:"lower_bound"`
	}
	data := forecast{Month: f.Month.Format("2006-01"), At: f.At.UTC(), Spent: f.Spent, Days: f.Days, Lower: f.Lower}
	note := "Fewer than 3 whole days to look back on: the end is not known."
	if f.Known {
		data.P50, data.P90 = &f.P50, &f.P90
		note = fmt.Sprintf("A day cost %s USD, give or take %s. The queue and the plan are not in it.", cents(f.PerDay.Dollars()), cents(f.Deviation.Dollars()))
	}
	if last := lastBegin(charges); !last.IsZero() && span.now.Sub(last) > 24*time.Hour {
		note += fmt.Sprintf("\nThe last charge began at %s: from then on, days count as free.", last.In(span.zone).Format("2006-01-02 15:04"))
	}
	if f.Lower {
		note += "\nSome of it has no known rate: spent, P50 and P90 are lower bounds."
	}
	g := grid{head: []string{"month", "spent USD", "P50 USD", "P90 USD", "days before"}, right: []bool{false, true, true, true, true}, notes: []string{"", note}}
	g.add(data.Month, f.Spent, data.P50, data.P90, fmt.Sprint(f.Days))
	return answer{data: data, grid: g}.print(w, cfg.settings.output)
}

// lastBegin is when the last charge began.
func lastBegin(charges []ledger.Charge) (last time.Time) {
	for i := range charges {
		if at := charges[i].From; at.After(last) {
			last = at
		}
	}
	return last
}

func newCostAnomalies(s streams) *cobra.Command {
	cfg := costConfig{}
	cmd := &cobra.Command{
		Use:   "anomalies",
		Short: "Days out of their usual range, disks without a job, machines that never carried one",
		Long: `Days whose cost is more than 3.5 robust deviations from the median of up to 28 days before;
disks that no job has borne for a day; machines that ran for an hour and never carried
a job. Exit code 2 when there is any.`,
		Example: `  goodfleet cost-report anomalies
  goodfleet cost-report anomalies --from 28d -o json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if cfg.settings, err = readSettings(cmd); err != nil {
				return err
			}
			return runCostAnomalies(s.out, cfg, time.Now())
		},
	}
	addSettings(cmd, "ledger", "out", "output")
	cfg.span.add(cmd)
	return cmd
}

func runCostAnomalies(w io.Writer, cfg costConfig, now time.Time) error {
	span, err := cfg.span.read(now)
	if err != nil {
		return err
	}
	charges, err := chargesIn(cfg.settings.ledger, span)
	if err != nil {
		return err
	}
	list := report.Anomalies(charges, span.zone)
	if list == nil {
		list = []report.Anomaly{}
	}
	g := grid{head: []string{"kind", "what", "from", "to", "USD", "why"}, right: []bool{false, false, false, false, true, false}}
	for _, a := range list {
		g.add(a.Kind, a.What, a.From.In(span.zone).Format("2006-01-02 15:04"), a.To.In(span.zone).Format("2006-01-02 15:04"), a.Amount, a.Why)
	}
	if len(list) == 0 {
		g.notes = []string{"Nothing to look at."}
	}
	if err := (answer{data: list, grid: g}).print(w, cfg.settings.output); err != nil {
		return err
	}
	if len(list) > 0 {
		return found("%s to look at", counted(len(list), "thing"))
	}
	return nil
}
