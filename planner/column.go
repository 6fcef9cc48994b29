package planner

import (
	"math"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// Column is one way to run one job: nodes machines of one offer, each with the
// same number of accelerators. Times are in hours, money in USD per hour.
type Column struct {
	Offer   int // index into Problem.Offers
	Nodes   int
	PerNode int // accelerators on each machine
	Speed   Speed

	Alone  float64 // R: rate of its whole machines, were the job alone on them
	Loss   float64 // L: losses per hour up
	Dry    float64 // mean time after a loss until the same can be had again, h
	Down   float64 // D: mean unpaid wait after a loss, until this or another way runs, h
	Behind float64 // by how much a loss sets the work back beside the restart, h
	Dearer float64 // and what it costs more in money, since the other way has another rate, USD
	Useful float64 // a: useful share of paid time
	Resume float64 // S: time lost by starting here on machines that are there, h
	Boot   float64 // what S grows by when a machine has to be bought, h
	OneOff float64 // USD of moving data and checkpoint here, once

	// Worth is what an hour of it adds to a plan before the rates of its machines:
	// Stay on the machines that the job holds, Here on others that we hold, Bought
	// when at least one has to be bought. A policy sets them.
	Stay, Here, Bought float64
}

// Replicas is the gang size.
func (c *Column) Replicas() int { return c.Nodes * c.PerNode }

// CostOfWork is the money and time that a unit of work costs on c, in USD per
// sample, when an hour is worth v USD: [R + v·(1 + L·D)] / (G·a).
func (c *Column) CostOfWork(v float64) float64 {
	return (c.Alone + v*(1+c.Loss*c.Down)) / (c.Speed.Goodput * c.Useful)
}

// PaidHours is how long c is paid for to do work samples.
func (c *Column) PaidHours(work float64) float64 { return work / (c.Speed.Goodput * c.Useful) }

// Spend is the money that work samples cost on c, in USD, with what is dearer for a
// while after losses.
func (c *Column) Spend(work float64) float64 {
	return (c.Alone + c.Loss*c.Dearer) * c.PaidHours(work)
}

// WallHours is how long work samples take on c, with what losses set them back.
func (c *Column) WallHours(work float64) float64 { return c.PaidHours(work) * (1 + c.Loss*c.Behind) }

// Transfer holds what moving bytes between places costs.
type Transfer struct {
	BetweenRegions map[string]float64 // USD per GiB, by cloud
	BetweenClouds  map[string]float64 // USD per GiB, by the cloud that the bytes leave
	GiBPerSec      float64            // speed across regions or clouds
}

// perGB is the GB, of 10⁹ bytes, that a GiB holds.
const perGB = 1.073741824

// DefaultTransfer is list prices of leaving a region (AWS: 0.02 USD/GB between
// regions, 0.09 to the internet; Google Cloud: 0.02 USD/GiB between regions of a
// continent, 0.12 to the internet, first tiers) at 5 Gbit/s.
func DefaultTransfer() Transfer {
	return Transfer{
		BetweenRegions: map[string]float64{"aws": 0.02 * perGB, "gcp": 0.02},
		BetweenClouds:  map[string]float64{"aws": 0.09 * perGB, "gcp": 0.12},
		GiBPerSec:      0.6,
	}
}

// Move is the money (USD) and time (h) of bringing size from one place to another.
func (t Transfer) Move(size Size, fromCloud, fromRegion, toCloud, toRegion string) (usd, hours float64) {
	if !size.Known || size.GiB == 0 || fromRegion == "" {
		return 0, 0
	}
	switch {
	case fromCloud != "" && fromCloud != toCloud:
		usd = t.BetweenClouds[fromCloud] * size.GiB
	case fromRegion != toRegion:
		usd = t.BetweenRegions[toCloud] * size.GiB
	default:
		return 0, 0
	}
	if t.GiBPerSec > 0 {
		hours = size.GiB / t.GiBPerSec / 3600
	}
	return usd, hours
}

// newColumn is the job of s laid out as w on machines of o.
func newColumn(s *JobState, o *Offer, index int, w spread, tr Transfer) Column {
	j := s.Job
	hazard := o.Hazard.Over(w.stay)
	c := Column{
		Offer: index, Nodes: w.nodes, PerNode: w.perNode, Speed: w.speed,
		Alone: o.Rate.Dollars() * float64(w.nodes),
		Loss:  hazard.PerHour(w.nodes),
		Dry:   o.Hazard.Down.Hours(),
		Down:  o.Hazard.Down.Hours(), Behind: o.Hazard.Down.Hours(),
		Boot: o.Boot.Hours(),
	}
	if o.Type.Kind == provider.TPU {
		c.Loss = hazard.PoolPerHour + hazard.OnePerHour // a slice is lost as a whole
	}
	save, restore := j.Checkpoint.Save, j.Checkpoint.Restore
	c.Resume = restore.Hours()
	atCloud, atRegion := j.Data.Cloud, j.Data.Region
	usd, hours := tr.Move(j.Data.Size, atCloud, atRegion, o.Offering.Cloud, o.Offering.Region)
	if s.Running != nil {
		from := s.Running.Offering
		if from.Cloud == o.Offering.Cloud && from.Region == o.Offering.Region {
			usd, hours = 0, 0 // the data are there already
		}
		c.Resume += save.Hours()
		moreUSD, moreHours := tr.Move(j.Checkpoint.Size, from.Cloud, from.Region, o.Offering.Cloud, o.Offering.Region)
		usd, hours = usd+moreUSD, hours+moreHours
	}
	c.OneOff, c.Resume = usd, c.Resume+hours

	covered := o.Notice > 0 && o.Notice >= save+stopTime
	unannounced := c.Loss
	if covered {
		unannounced = 0
	}
	every := j.Checkpoint.Every
	if every == 0 {
		every = pricing.CheckpointEvery(save, unannounced)
	}
	// What a loss costs before work goes on. A notice saves the work and not the boot: the
	// gang stops when it comes, since a cloud may keep its word earlier than it said.
	after := restore + o.Boot
	c.Useful = pricing.UsefulPaid(c.Loss, after, save, every, covered)
	return c
}

// stopTime is what a gang needs to hear of a notice and begin its last checkpoint.
const stopTime = 5 * time.Second

// Remaining is the work a job has left, in samples, as its median (P50) and its
// 80 % quantile. For work that is not known the rest follows from what is done: that of
// the jobs of its family that took more (JobState.Alike). Where there are none, durations
// are taken as lognormal with median one hour at reference samples per
// hour and sigma 1.5, and the rest given that it has lasted so far.
func Remaining(s *JobState, reference float64) (p50, p80 float64) {
	w := s.Job.Work
	if w.Kind == WorkExact {
		left := max(w.Samples-s.Done, 0)
		return left, left
	}
	if rest := s.rests(); len(rest) > 0 {
		at := func(q float64) float64 { return rest[int(math.Ceil(q*float64(len(rest))))-1] }
		return at(0.5), at(0.8)
	}
	const sigma = 1.5
	mu := math.Log(reference)
	done := max(s.Done, 0)
	alive := 1.0
	if done > 0 {
		alive = tailNormal((math.Log(done) - mu) / sigma)
	}
	quantile := func(q float64) float64 {
		// The q quantile of the rest: P(S > x) = (1 − q)·P(S > done).
		return math.Exp(mu+sigma*quantileTail((1-q)*alive)) - done
	}
	p50, p80 = quantile(0.5), quantile(0.8)
	if w.Kind == WorkLimit {
		left := max(w.Samples-s.Done, 0)
		p50, p80 = min(p50, left), min(p80, left)
	}
	return p50, p80
}

// tailNormal is P(Z > z) of a standard normal.
func tailNormal(z float64) float64 { return 0.5 * math.Erfc(z/math.Sqrt2) }

// quantileTail is the z with P(Z > z) = p.
func quantileTail(p float64) float64 { return math.Sqrt2 * math.Erfcinv(2*p) }
