//go:build ignore

// Generate writes aws_spot_series.txt.gz, the compact form of the replayed AWS
// spot price history, from its CSV (see README.md for where that comes from):
//
//	go run generate.go aws_spot_history_2022-12_2024-05.csv.gz aws_spot_series.txt.gz
//
// The CSV has the columns instance_type,region,zone_id,unix_ts,spot_usd_per_hour
// and holds each series in one run of lines, in time order.
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"
)

type event struct {
	at    int64
	price string
}

type key struct{ typ, region, zone string }

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: generate CSV.gz OUT.gz")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(from, to string) error {
	keys, events, err := read(from)
	if err != nil {
		return err
	}
	var times []int64
	for _, list := range events {
		for _, e := range list {
			times = append(times, e.at)
		}
	}
	slices.Sort(times)
	times = slices.Compact(times)

	file, err := os.Create(to)
	if err != nil {
		return err
	}
	zip, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(zip)
	fmt.Fprintln(out, "spot series 1")
	last := int64(0)
	for i, at := range times {
		if i > 0 {
			out.WriteByte(' ')
		}
		fmt.Fprint(out, at-last)
		last = at
	}
	out.WriteByte('\n')
	for _, k := range keys {
		fmt.Fprintf(out, "%s %s %s %d\n", k.typ, k.region, k.zone, len(events[k]))
		if err := write(out, events[k], times); err != nil {
			return fmt.Errorf("%s %s: %w", k.typ, k.zone, err)
		}
	}
	return errors.Join(out.Flush(), zip.Close(), file.Close())
}

func read(name string) ([]key, map[key][]event, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	zip, err := gzip.NewReader(file)
	if err != nil {
		return nil, nil, err
	}
	rows := csv.NewReader(zip)
	if _, err := rows.Read(); err != nil { // header
		return nil, nil, err
	}
	var keys []key
	events := map[key][]event{}
	for {
		row, err := rows.Read()
		if err == io.EOF {
			return keys, events, nil
		}
		if err != nil {
			return nil, nil, err
		}
		k := key{row[0], row[1], row[2]}
		at, err := strconv.ParseInt(row[3], 10, 64)
		if err != nil {
			return nil, nil, err
		}
		if events[k] == nil {
			keys = append(keys, k)
		}
		events[k] = append(events[k], event{at, row[4]})
	}
}

// write puts one series on a line: for each event the steps along the list of
// times since the last one, then the change of the price in 1/10000 USD with its
// sign, or "_" for an empty price, or "!" for a type that left the zone.
func write(out *bufio.Writer, events []event, times []int64) error {
	at, price := -1, int64(0)
	for i, e := range events {
		next, _ := slices.BinarySearch(times, e.at)
		if next <= at {
			return fmt.Errorf("events at %d are not in order", e.at)
		}
		if i > 0 {
			out.WriteByte(' ')
		}
		fmt.Fprint(out, next-at)
		at = next
		switch e.price {
		case "":
			out.WriteByte('_')
		case "NA":
			out.WriteByte('!')
		default:
			units, err := parse(e.price)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%+d", units-price)
			price = units
		}
	}
	out.WriteByte('\n')
	return nil
}

// parse reads a price of at most four decimals, exactly.
func parse(text string) (int64, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) > 4 {
		return 0, fmt.Errorf("price %q has more than four decimals", text)
	}
	return strconv.ParseInt(whole+fraction+strings.Repeat("0", 4-len(fraction)), 10, 64)
}
