package throughput

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/goodfleet/goodfleet/planner/numeral"
)

//go:embed data/accelerators.csv
var acceleratorsCSV []byte

// acceleratorsFile is how errors call the embedded list.
const acceleratorsFile = "accelerators.csv"

// Kinds of accelerators. Each has efficiencies of its own: nothing is carried
// over from one to another.
const (
	gpuKind = "gpu"
	tpuKind = "tpu"
)

// Accelerator is what is published of one accelerator.
type Accelerator struct {
	Name            string
	Kind            string  // "gpu" or "tpu"
	PeakFlopPerSec  float64 // dense bf16 or fp16, on the matrix units where there are some
	MemBytesPerSec  float64 // of the device memory
	MemGiB          float64 // of the device memory
	LinkBytesPerSec float64 // to its peers in the machine or slice, one way
	NetBytesPerSec  float64 // its share of the machine's network, one way: the least of the machines that are sold with it
	Source          string
}

// acceleratorList keeps the order of the file.
type acceleratorList struct {
	names  []string
	byName map[string]Accelerator
}

// accelerators is the embedded list, read once.
var accelerators = sync.OnceValues(func() (acceleratorList, error) {
	return readAccelerators(acceleratorsFile, bytes.NewReader(acceleratorsCSV))
})

// LookupAccelerator returns what is published of an accelerator. ok is false when
// its peaks are not known here.
func LookupAccelerator(name string) (a Accelerator, ok bool) {
	list, err := accelerators()
	if err != nil {
		return Accelerator{}, false
	}
	a, ok = list.byName[name]
	return a, ok
}

// readAccelerators reads the list. It returns a *RowError for a kind that has no
// efficiencies and for a number that is not positive and finite.
func readAccelerators(name string, r io.Reader) (acceleratorList, error) {
	rows := csv.NewReader(r)
	header, err := rows.Read()
	if err != nil {
		return acceleratorList{}, fmt.Errorf("%s: header: %w", name, err)
	}
	list := acceleratorList{byName: make(map[string]Accelerator)}
	for {
		record, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return acceleratorList{}, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := rows.FieldPos(0)
		a := Accelerator{}
		fields := map[string]any{
			"accelerator": &a.Name, "kind": &a.Kind, "source": &a.Source,
			"peak_tflops": number{&a.PeakFlopPerSec, 1e12}, "memory_gb_per_s": number{&a.MemBytesPerSec, 1e9},
			"memory_gib": number{&a.MemGiB, 1}, "link_gb_per_s": number{&a.LinkBytesPerSec, 1e9},
			"network_gbit_per_s": number{&a.NetBytesPerSec, 1e9 / 8},
		}
		for i, column := range header {
			refuse := func(reason string) error {
				return &RowError{File: name, Line: line, Column: column, Reason: fmt.Sprintf("%q: %s", record[i], reason)}
			}
			switch field := fields[column].(type) {
			case *string:
				*field = record[i]
			case number:
				value, err := numeral.Parse(record[i])
				if err != nil || value <= 0 {
					return acceleratorList{}, refuse("want a positive number")
				}
				*field.to = value * field.unit
			default:
				return acceleratorList{}, &RowError{File: name, Line: 1, Column: column, Reason: "unknown column"}
			}
		}
		if _, known := efficiencies[a.Kind]; !known {
			return acceleratorList{}, &RowError{File: name, Line: line, Column: "kind", Reason: fmt.Sprintf("%q: want gpu or tpu", a.Kind)}
		}
		if _, twice := list.byName[a.Name]; twice || a.Name == "" {
			return acceleratorList{}, &RowError{File: name, Line: line, Column: "accelerator", Reason: fmt.Sprintf("%q: is empty or given twice", a.Name)}
		}
		list.names = append(list.names, a.Name)
		list.byName[a.Name] = a
	}
}

// number is where a column goes, and the unit that it is in.
type number struct {
	to   *float64
	unit float64
}
