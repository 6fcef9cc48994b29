package workload

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"
)

//go:embed data/philly.csv.gz
var phillyGZ []byte

//go:embed data/arrivals.csv
var arrivalsCSV []byte

// phillySizes is the duration and the number of GPUs of the jobs of the Philly
// distribution, in the order of the file.
var phillySizes = sync.OnceValues(func() ([]size, error) {
	text, err := gzip.NewReader(bytes.NewReader(phillyGZ))
	if err != nil {
		return nil, fmt.Errorf("philly.csv.gz: %w", err)
	}
	var sizes []size
	err = eachRow("philly.csv.gz", text, 2, func(row []string) error {
		seconds, err := strconv.Atoi(row[0])
		if err != nil || seconds <= 0 {
			return fmt.Errorf("duration %q: want whole seconds", row[0])
		}
		gpus, err := strconv.Atoi(row[1])
		if err != nil || gpus <= 0 {
			return fmt.Errorf("gpus %q: want a positive number", row[1])
		}
		sizes = append(sizes, size{time.Duration(seconds) * time.Second, gpus})
		return nil
	})
	return sizes, err
})

// unitArrivals is the instants of a Poisson process of rate 1.
var unitArrivals = sync.OnceValues(func() ([]float64, error) {
	var at []float64
	err := eachRow("arrivals.csv", bytes.NewReader(arrivalsCSV), 1, func(row []string) error {
		t, err := strconv.ParseFloat(row[0], 64)
		if err != nil || len(at) > 0 && !(t >= at[len(at)-1]) {
			return fmt.Errorf("arrival %q: want ascending numbers", row[0])
		}
		at = append(at, t)
		return nil
	})
	return at, err
})

// eachRow reads a CSV of n fields after its header.
func eachRow(name string, r io.Reader, n int, use func(row []string) error) error {
	rows := csv.NewReader(r)
	rows.FieldsPerRecord = n
	all, err := rows.ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(all) < 2 {
		return fmt.Errorf("%s: no rows", name)
	}
	for i, row := range all[1:] {
		if err := use(row); err != nil {
			return fmt.Errorf("%s:%d: %w", name, i+2, err)
		}
	}
	return nil
}

// arrive draws when the jobs come: as many successive arrivals of the unit stream,
// from a drawn place in it on, stretched over the span so that each hour gets its
// share by the profile.
func (d *draw) arrive() ([]time.Time, error) {
	stream, err := unitArrivals()
	if err != nil {
		return nil, err
	}
	n := d.cfg.Jobs
	if n >= len(stream) {
		return nil, fmt.Errorf("workload: %d jobs: the stream has %d arrivals", n, len(stream)-1)
	}
	from := d.rng.IntN(len(stream) - n)
	first, past := stream[from], stream[from+n]

	// weight[h] is the share of the arrivals that come before hour h of the span.
	hours := int((d.cfg.Span + time.Hour - 1) / time.Hour)
	weight := make([]float64, hours+1)
	for h := range hours {
		begins := d.cfg.Start.Add(time.Duration(h) * time.Hour)
		part := min(1, (d.cfg.Span - time.Duration(h)*time.Hour).Hours())
		weight[h+1] = weight[h] + part*busy(begins)
	}
	arrivals := make([]time.Time, n)
	for i := range arrivals {
		share := (stream[from+i] - first) / (past - first) * weight[hours]
		h, exact := slices.BinarySearch(weight, share)
		if !exact {
			h--
		}
		within := (share - weight[h]) / busy(d.cfg.Start.Add(time.Duration(h)*time.Hour))
		arrivals[i] = d.cfg.Start.Add(time.Duration((float64(h) + within) * float64(time.Hour))).Truncate(time.Minute)
	}
	return arrivals, nil
}

// Arrivals per hour, relative to a night hour of a working day.
const (
	workHours    = 3.0 // 08:00 to 18:00
	eveningHours = 1.5 // 18:00 to 23:00
	nightHours   = 1.0
	weekend      = 0.4 // times that on Saturday and Sunday
)

// busy is how many jobs come in the hour from t on, relative to a weekday's night.
// Hours are UTC.
func busy(t time.Time) float64 {
	rate := nightHours
	switch hour := t.UTC().Hour(); {
	case hour >= 8 && hour < 18:
		rate = workHours
	case hour >= 18 && hour < 23:
		rate = eveningHours
	}
	if day := t.UTC().Weekday(); day == time.Saturday || day == time.Sunday {
		rate *= weekend
	}
	return rate
}
