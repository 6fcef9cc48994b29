package policy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/planner"
	"github.com/goodfleet/goodfleet/planner/throughput"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// realProblem is a round with real prices of June 2023 on K80, P100 and V100
// machines of AWS and GCP, in two accounts where that is needed for as many offers, and
// jobs with Gavel's throughputs.
func realProblem(b testing.TB, jobs, mostOffers int) planner.Problem {
	b.Helper()
	history, err := pricing.EmbeddedHistory()
	if err != nil {
		b.Fatal(err)
	}
	catalogue, err := provider.EmbeddedCatalogue()
	if err != nil {
		b.Fatal(err)
	}
	now := time.Date(2023, 6, 1, 12, 0, 0, 0, time.UTC)
	book, err := history.Book(now)
	if err != nil {
		b.Fatal(err)
	}
	hazards := pricing.NewHazards(pricing.HazardConfig{Catalogue: catalogue})
	p := planner.Problem{Now: now}
	for _, account := range []string{"", "second"} { // a second account sells the same
		for _, q := range book.Quotes() {
			t, ok := catalogue.Lookup(q.Offering.Cloud, q.Offering.Type)
			if !ok || !strings.Contains("K80 P100 V100", t.Accelerator) || len(p.Offers) == mostOffers {
				continue
			}
			q.Offering.Account = account
			p.Offers = append(p.Offers, planner.Offer{
				Offering: q.Offering, Type: t, Rate: q.Rate, Booked: q.Rate, Hazard: hazards.Of(q.Offering, now),
				Boot: 3 * time.Minute, Cap: -1, Notice: 30 * time.Second,
			})
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	table, err := throughput.Gavel()
	if err != nil {
		b.Fatal(err)
	}
	models := table.Names()
	for i := range jobs {
		profile, ok := table.Profile(models[r.IntN(len(models))])
		if !ok {
			b.Fatal("a job type of the table has no profile")
		}
		size := []int{1, 1, 1, 2, 4, 8}[r.IntN(6)]
		curve := planner.TableCurve(profile)
		speed, ok := curve.Speed("V100", 1, size)
		if !ok {
			size = 1
			speed, ok = curve.Speed("V100", 1, size)
		}
		if !ok {
			b.Fatal(profile.Name())
		}
		p.Jobs = append(p.Jobs, planner.JobState{Job: &planner.Job{
			ID: planner.JobID(fmt.Sprintf("job-%03d", i)), Submitted: now.Add(-time.Duration(r.IntN(60)) * time.Minute),
			Work:       planner.Work{Samples: speed.Goodput * (0.5 + 30*r.Float64()), Kind: planner.WorkExact},
			Resources:  planner.Resources{Replicas: planner.Replicas{Set: []int{size}}, Ethernet: true},
			Checkpoint: planner.Checkpoint{Save: 10 * time.Second, Restore: 30 * time.Second},
			Curve:      curve,
		}})
	}
	return p
}

// cpu is the CPU time of the process so far, which a loaded machine stretches little.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkValue(b *testing.B) {
	for _, size := range []struct {
		jobs, offers int
		cap          pricing.Rate
	}{{10, 300, 0}, {40, 300, 0}, {40, 300, 30 * pricing.DollarPerHour}, {40, 2000, 0}, {100, 60, 0}, {100, 60, 100 * pricing.DollarPerHour}, {1000, 2000, 0}, {1000, 2000, 500 * pricing.DollarPerHour}} {
		b.Run(fmt.Sprintf("jobs=%d/offers=%d/cap=%s", size.jobs, size.offers, size.cap), func(b *testing.B) {
			p := realProblem(b, size.jobs, size.offers)
			p.BurnCap = size.cap
			var plan planner.Plan
			before := cpu()
			b.ResetTimer()
			for b.Loop() {
				var err error
				if plan, err = Value(p, Settings{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((cpu()-before).Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(len(p.Offers)), "offers")
			b.ReportMetric(100*plan.Gap, "gap_%")
		})
	}
}
