package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/planner/policy"
	"github.com/goodfleet/goodfleet/provider"
)

// quotaAnswer is the JSON of why --quota. Savings are USD per month of 730 hours.
type quotaAnswer struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	At         time.Time  `json:"at"`
	Currency   string     `json:"currency"`
	Quotas     []quotaRow `json:"quotas"`
}

// quotaRow is one counter, and what more of it would save.
type quotaRow struct {
	Cloud        string          `json:"cloud"`
	Account      string          `json:"account,omitempty"`
	Region       string          `json:"region"`
	Family       string          `json:"family"`
	Market       provider.Market `json:"market"`
	Code         string          `json:"code,omitempty"`
	Unit         string          `json:"unit"`
	Limit        int             `json:"limit"`
	Left         int             `json:"left"` // after the plan
	UnitSaves    float64         `json:"oneMoreUnitSavesPerMonth"`
	Step         *int            `json:"step"`  // units that open a machine; null: none up to the largest saves anything
	Opens        string          `json:"opens"` // what a step opens
	StepSaves    float64         `json:"stepSavesPerMonth"`
	SpendChanges float64         `json:"stepSpendsPerMonth"` // more (+) or less (−) for machines
	NotOffered   bool            `json:"notOffered,omitempty"`
}

func runWhyQuota(ctx context.Context, s streams, cfg askConfig) error {
	if cfg.settings.config == nil || len(cfg.settings.config.Spec.Quotas) == 0 {
		return errors.New("why --quota: the settings name no quotas: list them in spec.quotas of a file of kind Config")
	}
	a, err := ask(ctx, cfg, s.in)
	if err != nil {
		return err
	}
	worths, err := a.reasons.Quotas()
	if err != nil {
		return err
	}
	data := quotaAnswer{APIVersion: document.APIVersion, Kind: "QuotaWorth", At: a.state.Now, Currency: "USD", Quotas: []quotaRow{}}
	g := grid{
		head:  []string{"quota", "market", "region", "code", "limit", "left", "unit", "one more unit saves USD/month", "a step of", "opens", "saves USD/month", "machines USD/month"},
		right: []bool{false, false, false, false, true, true, false, true, true, false, true, true},
		notes: []string{
			"",
			"Savings are money and the jobs' time together, if the queue goes on as it is now, for a month of 730 hours.",
			"Machines are whole: a step is the least number of units that opens one that pays.",
		},
	}
	for _, w := range worths {
		row := a.quotaRow(w)
		data.Quotas = append(data.Quotas, row)
		cells := []string{
			row.Cloud + " " + row.Family, row.Market.String(), row.Region, orUnknown(row.Code),
			strconv.Itoa(row.Limit), strconv.Itoa(row.Left), row.Unit, cents(row.UnitSaves), unknown, orUnknown(row.Opens), cents(row.StepSaves), unknown,
		}
		if row.Step != nil {
			cells[8], cells[11] = strconv.Itoa(*row.Step), fmt.Sprintf("%+.2f", row.SpendChanges)
		}
		if row.NotOffered {
			cells[9] = "nothing that is offered"
		}
		g.rows = append(g.rows, cells)
	}
	if err := (answer{data: data, grid: g}).print(s.out, cfg.settings.output); err != nil {
		return err
	}
	return a.prices.unused()
}

func (a *asked) quotaRow(w policy.QuotaWorth) quotaRow {
	q := w.Quota
	row := quotaRow{
		Cloud: q.Class.Cloud, Account: q.Class.Account, Region: q.Class.Region, Family: q.Class.Family, Market: q.Class.Market, Code: q.Code, Unit: q.Unit.String(), Left: w.Left, NotOffered: w.NoOffer, Opens: w.Opens,
		UnitSaves: w.Unit * policy.HoursPerMonth, StepSaves: w.Saves * policy.HoursPerMonth, SpendChanges: w.Burn * policy.HoursPerMonth,
	}
	if w.Step > 0 {
		row.Step = &w.Step
	}
	for _, limit := range a.state.Quotas {
		if limit.Class == q.Class {
			row.Limit = limit.Limit
		}
	}
	return row
}
