package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// offersConfig is what the offers verb is asked.
type offersConfig struct {
	settings settings
	gpu      string // "": every accelerator
	at       string // "": the newest prices
	why      bool
	state    string // overrides and shortages; "": none
	prices   string // file of prices; "": none
}

func newOffers(s streams) *cobra.Command {
	cfg := offersConfig{}
	cmd := &cobra.Command{
		Use:   "offers",
		Short: "Show the book: what is sold, its rate, the age of the quote, how often it is lost",
		Long: `Show the book at an instant: every offering (instance type, zone, market) with its
rate per hour of a machine and of one accelerator, the age of the quote, and the
hazard: how often per hour its pool is believed to be lost, with the interval that
holds it with 80 % probability.

--why adds the effective price of an accelerator (the rate over the share of paid
time that is useful to a job that saves in 30 s and restores in 1 min), what speaks
for each offering or against it (an override or a shortage of --state, a quota that
is used up, a cheaper one), where its quote was read, and what is not sold.`,
		Example: `  goodfleet offers --gpu V100
  goodfleet offers --gpu H100 --regions us-east-1,us-central1 --markets spot -o csv
  goodfleet offers --gpu V100 --at 2023-06-05 --why`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if cfg.settings, err = readSettings(cmd); err != nil {
				return err
			}
			return runOffers(cmd.Context(), s, cfg)
		},
	}
	addSettings(cmd, "clouds", "regions", "markets", "output", "quarantine")
	cmd.Flags().StringVar(&cfg.gpu, "gpu", "", "accelerator, such as V100, A100-80GB or \"TPU v5e\"")
	cmd.Flags().StringVar(&cfg.at, "at", "", "instant or day of the book (default: the newest prices)")
	cmd.Flags().BoolVar(&cfg.why, "why", false, "add effective prices, reasons for and against, sources, and what is not sold")
	cmd.Flags().StringVar(&cfg.state, "state", "", "overrides and shortages in force, with --why: a file of kind Fleet, or a store (default: none)")
	cmd.Flags().StringVar(&cfg.prices, "prices", "", "file of prices of your own, as prices check reads it; they go before the embedded ones")
	return cmd
}

// offerRow is an offering as offers prints it.
type offerRow struct {
	Offering       provider.Offering `json:"offering"`
	Accelerator    string            `json:"accelerator"`
	Count          int               `json:"count"`
	Rate           *pricing.Rate     `json:"rate"`           // USD/h; null: not known
	PerAccelerator *pricing.Rate     `json:"perAccelerator"` // USD/h, to the nano dollar
	QuotedAt       *time.Time        `json:"quotedAt"`
	AgeSeconds     *int64            `json:"ageSeconds"`
	HazardPerHour  *float64          `json:"hazardPerHour"` // losses of the pool
	HazardLow      *float64          `json:"hazardLow"`
	HazardHigh     *float64          `json:"hazardHigh"`
	Stale          bool              `json:"stale"`
	UsefulPaid     *float64          `json:"usefulPaid,omitempty"` // shares of time that are useful to the reference job
	UsefulWall     *float64          `json:"usefulWall,omitempty"`
	Effective      *float64          `json:"effectivePerAccelerator,omitempty"` // USD/h
	Blocked        string            `json:"blocked,omitempty"`
	Until          *time.Time        `json:"until,omitempty"`
	Reason         string            `json:"reason,omitempty"` // for or against it
	Source         string            `json:"source,omitempty"`
	Unpriced       string            `json:"unpriced,omitempty"`
}

// offersAnswer is the JSON of the verb.
type offersAnswer struct {
	APIVersion string        `json:"apiVersion"`
	Kind       string        `json:"kind"`
	At         time.Time     `json:"at"`
	Currency   string        `json:"currency"`
	Offers     []offerRow    `json:"offers"`
	NotSold    []notSold     `json:"notSold,omitempty"`   // anywhere that was asked for
	NotSoldIn  []unpricedRow `json:"notSoldIn,omitempty"` // in single regions; with --why
	Unpriced   []unpricedRow `json:"unpriced,omitempty"`
}

// notSold is a type that has a price in one market and none in another.
type notSold struct {
	Cloud  string          `json:"cloud"`
	Type   string          `json:"type"`
	Market provider.Market `json:"market"`
}

// unpricedRow is a machine that has no price, and why.
type unpricedRow struct {
	Row    string `json:"row"`
	Text   string `json:"text"`
	Reason string `json:"reason"`
}

func runOffers(ctx context.Context, s streams, cfg offersConfig) error {
	if cfg.state != "" && !cfg.why {
		return fmt.Errorf("--state %s: what is in force is shown by --why: want it beside", cfg.state)
	}
	world, err := newWorld(cfg.settings)
	if err != nil {
		return err
	}
	var prices *priceUse
	if cfg.prices != "" {
		at := time.Now().UTC()
		if cfg.at != "" {
			if at, err = instant("at", cfg.at); err != nil {
				return err
			}
		}
		if prices, err = world.use(cfg.settings, cfg.prices, s.in, at); err != nil {
			return err
		}
	}
	if err := world.check(cfg.settings); err != nil {
		return err
	}
	if known := world.names().Accelerators; cfg.gpu != "" && !slices.Contains(known, cfg.gpu) {
		return fmt.Errorf("--gpu: unknown accelerator %q%s", cfg.gpu, suggestion(cfg.gpu, known))
	}
	at := world.newest()
	if cfg.at != "" {
		if at, err = instant("at", cfg.at); err != nil {
			return err
		}
	}
	rows, err := world.offerRows(ctx, cfg, s.in, at)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return found("nothing that was asked for has a known price at %s", at.Format(time.RFC3339))
	}
	data := offersAnswer{APIVersion: document.APIVersion, Kind: "Offers", At: at, Currency: "USD", Offers: rows, NotSold: onlySpot(rows, cfg.settings.markets)}
	if cfg.why {
		data.NotSoldIn = world.notSoldIn(cfg, at, data.NotSold)
		if data.Unpriced, err = unpriced(); err != nil {
			return err
		}
	}
	if err := (answer{data: data, grid: offersGrid(data, cfg.why)}).print(s.out, cfg.settings.output); err != nil {
		return err
	}
	return prices.unused()
}

// onlySpot lists the types of the answer that nobody sells on demand, as far as that
// was asked for: what is not there is neither free nor forgotten.
func onlySpot(rows []offerRow, asked []provider.Market) []notSold {
	if len(asked) > 0 && (!slices.Contains(asked, provider.OnDemand) || !slices.Contains(asked, provider.Spot)) {
		return nil
	}
	var list []notSold
	onDemand := map[notSold]bool{}
	for _, r := range rows {
		n := notSold{r.Offering.Cloud, r.Offering.Type, provider.OnDemand}
		if r.Offering.Market == provider.OnDemand {
			onDemand[n] = true
		} else if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return slices.DeleteFunc(list, func(n notSold) bool { return onDemand[n] })
}

// offerRows lists offerings from the cheapest accelerator-hour on.
func (world world) offerRows(ctx context.Context, cfg offersConfig, in io.Reader, at time.Time) ([]offerRow, error) {
	offers, err := world.offers(cfg.settings, at, world.places(at))
	if err != nil {
		return nil, err
	}
	if cfg.why {
		if offers, err = world.limited(ctx, cfg, in, at, offers); err != nil {
			return nil, err
		}
	}
	book, err := world.history.Book(at)
	if err != nil {
		return nil, err
	}
	var rows []offerRow
	for _, o := range offers {
		if cfg.gpu != "" && o.Type.Accelerator != cfg.gpu {
			continue
		}
		q, _ := book.Quote(o.Offering)
		count := pricing.Rate(o.Type.Count)
		each := (q.Rate + count/2) / count
		seen, stale := quoted(book, o.Offering, at)
		age := int64(at.Sub(*seen) / time.Second)
		row := offerRow{
			Offering: o.Offering, Accelerator: o.Type.Accelerator, Count: o.Type.Count,
			Rate: &q.Rate, PerAccelerator: &each, QuotedAt: seen, AgeSeconds: &age, Stale: stale, Source: q.Source,
		}
		if cfg.why {
			paid, wall := useful(&o)
			effective := each.Dollars() / max(paid, 1e-9)
			row.UsefulPaid, row.UsefulWall, row.Effective = &paid, &wall, &effective
			row.Blocked, row.Until = o.Blocked, timeOrNil(o.Until)
			if row.Blocked == "" && o.Cap == 0 {
				row.Blocked = "its quota is used up"
			}
		}
		if low, high, ok := o.Hazard.Interval80(); ok {
			row.HazardPerHour, row.HazardLow, row.HazardHigh = &o.Hazard.PoolPerHour, &low, &high
		}
		rows = append(rows, row)
	}
	if cfg.why {
		explainOffers(rows)
	}
	slices.SortStableFunc(rows, func(a, b offerRow) int {
		return cmp.Or(cmp.Compare(a.Accelerator, b.Accelerator), cmp.Compare(*a.PerAccelerator, *b.PerAccelerator), a.Offering.Compare(b.Offering))
	})
	return rows, nil
}

// unpriced lists what the embedded lists name without a price that can be used.
func unpriced() ([]unpricedRow, error) {
	sums, err := pricing.EmbeddedUnpriced()
	if err != nil {
		return nil, err
	}
	reports, err := pricing.EmbeddedReports()
	if err != nil {
		return nil, err
	}
	for _, r := range reports {
		sums = append(sums, r.Refused...)
	}
	rows := make([]unpricedRow, len(sums))
	for i, s := range sums {
		reason := string(s.Reason)
		if s.Detail != "" {
			reason += ": " + s.Detail
		}
		rows[i] = unpricedRow{Row: fmt.Sprintf("%s:%d", s.File, s.Line), Text: s.Field + " " + strconv.Quote(s.Text), Reason: reason}
	}
	return rows, nil
}

func offersGrid(data offersAnswer, why bool) grid {
	g := grid{
		head:  []string{"accelerator", "type", "zone", "market", "USD/h", "USD/h each", "age", "losses/h (80 %)"},
		right: []bool{false, false, false, false, true, true, true, true},
	}
	if why {
		g.head = append(g.head, "effective each", "useful wall", "for or against", "source")
		g.right = append(g.right, true, true)
	}
	for _, r := range data.Offers {
		cells := []string{
			fmt.Sprintf("%d × %s", r.Count, r.Accelerator), r.Offering.Cloud + "/" + r.Offering.Type, r.Offering.Zone, r.Offering.Market.String(),
			r.Rate.String(), strconv.FormatFloat(r.PerAccelerator.Dollars(), 'f', 4, 64), ageText(r), hazardText(r),
		}
		if why {
			cells = append(cells, strconv.FormatFloat(*r.Effective, 'f', 4, 64), fmt.Sprintf("%.0f %%", 100**r.UsefulWall), r.Reason, r.Source)
		}
		g.rows = append(g.rows, cells)
	}
	g.notes = append(g.notes, "", fmt.Sprintf("Prices as known at %s. Hazards are beliefs before any loss was seen.", data.At.Format(time.RFC3339)))
	if why {
		g.notes = append(g.notes, "Effective: the rate over the useful share of paid time of a job that saves in 30 s and restores in 1 min; useful wall: with waits.")
	}
	for _, n := range data.NotSold {
		g.notes = append(g.notes, fmt.Sprintf("%s/%s: %s: not sold, or its price is not known", n.Cloud, n.Type, n.Market))
	}
	g.notes = append(g.notes, unsoldNotes(data.NotSoldIn)...)
	for _, r := range data.Unpriced {
		g.notes = append(g.notes, fmt.Sprintf("unpriced: %s: %s: %s", r.Row, r.Text, r.Reason))
	}
	return g
}

// ageText is the age of a price, marked when it is too old to be relied on.
func ageText(r offerRow) string {
	text := age(time.Duration(*r.AgeSeconds) * time.Second)
	if r.Stale {
		text += staleMark
	}
	return text
}

func hazardText(r offerRow) string {
	if r.HazardPerHour == nil {
		return unknown
	}
	return fmt.Sprintf("%s (%s–%s)", short(*r.HazardPerHour), short(*r.HazardLow), short(*r.HazardHigh))
}

// short is a number with two digits that matter.
func short(v float64) string { return strconv.FormatFloat(v, 'g', 2, 64) }

// age is a length of time with one unit, for a screen.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d d", d/(24*time.Hour))
}
