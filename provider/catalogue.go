package provider

import (
	"embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed catalogue/*.csv
var catalogueFiles embed.FS

// catalogueParts are the embedded files and the cloud whose types each one lists.
var catalogueParts = []struct{ file, cloud string }{
	{"aws.csv", "aws"},
	{"gcp.csv", "gcp"},
	{"gcp_n1.csv", "gcp"},
	{"gcp_tpu.csv", "gcp"},
}

var catalogueColumns = []string{
	"name", "accelerator", "kind", "count", "accelerator_mem_gib", "vcpu", "mem_gib", "disk_gib",
	"hosts", "network_gbps", "interconnect", "arch", "quota_family", "source", "date",
}

var embeddedCatalogue = sync.OnceValues(func() (*Catalogue, error) {
	var types []InstanceType
	for _, part := range catalogueParts {
		rows, err := embeddedRows(part.file, catalogueColumns)
		if err != nil {
			return nil, err
		}
		for i, row := range rows {
			t, err := parseInstanceType(part.cloud, row)
			if err != nil {
				return nil, fmt.Errorf("catalogue/%s:%d: %w", part.file, i+2, err)
			}
			types = append(types, t)
		}
	}
	return NewCatalogue(types)
})

// EmbeddedCatalogue is the catalogue that goodfleet carries: every accelerator
// machine and TPU slice that it knows, with the source and date of each row. The
// folder catalogue/ says where the facts come from and what was left out.
func EmbeddedCatalogue() (*Catalogue, error) { return embeddedCatalogue() }

func embeddedRows(file string, columns []string) ([][]string, error) {
	f, err := catalogueFiles.Open("catalogue/" + file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("catalogue/%s: %w", file, err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], columns) {
		return nil, fmt.Errorf("catalogue/%s: the first line is not %q", file, strings.Join(columns, ","))
	}
	return rows[1:], nil
}

// parseInstanceType reads a row of catalogueColumns.
func parseInstanceType(cloud string, row []string) (InstanceType, error) {
	t := InstanceType{
		Cloud: cloud, Name: row[0], Accelerator: row[1], Interconnect: row[10], Arch: row[11],
		QuotaFamily: row[12], Source: row[13], Date: row[14],
	}
	var err error
	if t.Kind, err = ParseAcceleratorKind(row[2]); err != nil {
		return t, err
	}
	for _, f := range []struct {
		column int
		to     *int
	}{{3, &t.Count}, {5, &t.VCPU}, {8, &t.Hosts}} {
		if *f.to, err = strconv.Atoi(row[f.column]); err != nil {
			return t, fmt.Errorf("%s: %s: %w", t.Name, catalogueColumns[f.column], err)
		}
	}
	for _, f := range []struct {
		column int
		to     *float64
	}{{4, &t.AcceleratorMemGiB}, {6, &t.MemGiB}, {7, &t.DiskGiB}, {9, &t.NetworkGbps}} {
		if *f.to, err = strconv.ParseFloat(row[f.column], 64); err != nil {
			return t, fmt.Errorf("%s: %s: %w", t.Name, catalogueColumns[f.column], err)
		}
	}
	return t, nil
}

// Accelerators lists the names of all accelerators, in alphabetical order.
func (c *Catalogue) Accelerators() []string {
	var names []string
	for _, t := range c.types {
		names = append(names, t.Accelerator)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// WithAccelerator lists the types that carry an accelerator, in the order of the
// source; empty when no type does.
func (c *Catalogue) WithAccelerator(accelerator string) []InstanceType {
	var types []InstanceType
	for _, t := range c.types {
		if t.Accelerator == accelerator {
			types = append(types, t)
		}
	}
	return types
}
