package pricing

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

//go:embed data/*.csv data/*.gz
var priceFiles embed.FS

// table is an embedded CSV file with a header.
type table struct {
	file    string
	columns []string
	rows    [][]string
}

// openEmbedded reads an embedded file whole, unpacked.
func openEmbedded(file string) ([]byte, error) {
	data, err := priceFiles.ReadFile("data/" + file)
	if err != nil || !strings.HasSuffix(file, ".gz") {
		return data, err
	}
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("data/%s: %w", file, err)
	}
	data, err = io.ReadAll(zip)
	if err = errors.Join(err, zip.Close()); err != nil {
		return nil, fmt.Errorf("data/%s: %w", file, err)
	}
	return data, nil
}

// embeddedTable reads an embedded CSV file that must have these columns.
func embeddedTable(file, columns string) (*table, error) {
	data, err := openEmbedded(file)
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("data/%s: %w", file, err)
	}
	want := strings.Split(columns, ",")
	if len(rows) == 0 || !slices.Equal(rows[0], want) {
		return nil, fmt.Errorf("data/%s: the first line is not %q", file, columns)
	}
	return &table{file: file, columns: want, rows: rows[1:]}, nil
}

// price reads the price in a column of a row, or says why it cannot be used.
func (t *table) price(row, column int) (Rate, *Refusal) {
	text := t.rows[row][column]
	rate, reason, detail := parsePrice(text)
	if reason == "" {
		return rate, nil
	}
	return 0, &Refusal{File: t.file, Line: row + 2, Field: t.columns[column], Text: text, Reason: reason, Detail: detail}
}
