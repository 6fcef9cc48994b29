package pricing

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// FileQuote is a quote and the row that it was read from.
type FileQuote struct {
	Quote
	File string `json:"file"`
	Line int    `json:"line"`
}

// columns of a price file: the first six must be there, in any order.
const (
	cloudColumn = iota
	regionColumn
	zoneColumn
	typeColumn
	marketColumn
	rateColumn
	currencyColumn
	atColumn
	fileColumns
	neededColumns = currencyColumn
)

var fileColumnNames = [fileColumns]string{"cloud", "region", "zone", "type", "market", "usd_per_hour", "currency", "at"}

// ReadPrices reads a price file: CSV whose first line names the columns cloud,
// region, zone, type, market and usd_per_hour, and maybe currency (USD where it
// is missing or empty) and at (RFC 3339; now where it is missing or empty). A row
// that cannot be used is refused, with its line and field; the others are read.
// An error means that the file as a whole is no price file.
func ReadPrices(name string, r io.Reader, now time.Time) ([]FileQuote, []Refusal, error) {
	reader := csv.NewReader(r)
	reader.FieldsPerRecord = -1 // a short row is refused, not the file
	header, err := reader.Read()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the file is empty")
		}
		return nil, nil, fmt.Errorf("%s:1: %w", name, err)
	}
	f := priceFile{name: name, now: now, width: len(header)}
	if err := f.columns(header); err != nil {
		return nil, nil, fmt.Errorf("%s:1: %w", name, err)
	}
	var quotes []FileQuote
	var refused []Refusal
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return quotes, refused, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := reader.FieldPos(0)
		q, refusal := f.row(row, line)
		if refusal != nil {
			refused = append(refused, *refusal)
			continue
		}
		quotes = append(quotes, q)
	}
}

// priceFile reads the rows of one file.
type priceFile struct {
	name  string
	now   time.Time
	width int
	at    [fileColumns]int // where each column is; -1: missing
}

func (f *priceFile) columns(header []string) error {
	for i := range f.at {
		f.at[i] = -1
	}
	for i, name := range header {
		if i == 0 {
			name = strings.TrimPrefix(name, "\ufeff") // spreadsheets put a byte order mark
		}
		column := slices.Index(fileColumnNames[:], name)
		switch {
		case column < 0:
			return fmt.Errorf("column %q: want %s", name, strings.Join(fileColumnNames[:], ", "))
		case f.at[column] >= 0:
			return fmt.Errorf("column %q is there twice", name)
		}
		f.at[column] = i
	}
	for column := range neededColumns {
		if f.at[column] < 0 {
			return fmt.Errorf("column %q is missing", fileColumnNames[column])
		}
	}
	return nil
}

// row reads one row, or says what is wrong with it.
func (f *priceFile) row(row []string, line int) (FileQuote, *Refusal) {
	refuse := func(column int, text string, reason Reason, detail string) (FileQuote, *Refusal) {
		return FileQuote{}, &Refusal{File: f.name, Line: line, Field: fileColumnNames[column], Text: text, Reason: reason, Detail: detail}
	}
	if len(row) != f.width {
		return FileQuote{}, &Refusal{
			File: f.name, Line: line, Field: "row", Text: strings.Join(row, ","), Reason: Unparsable,
			Detail: fmt.Sprintf("%d fields, want %d", len(row), f.width),
		}
	}
	get := func(column int) string {
		if f.at[column] < 0 {
			return ""
		}
		return row[f.at[column]]
	}
	for column := cloudColumn; column <= typeColumn; column++ {
		if text := get(column); text == "" || strings.ContainsFunc(text, isSpaceOrControl) {
			return refuse(column, text, BadOffering, "want a name without spaces")
		}
	}
	market, err := provider.ParseMarket(get(marketColumn))
	if err != nil || market != provider.OnDemand && market != provider.Spot {
		return refuse(marketColumn, get(marketColumn), BadOffering, "want on-demand or spot")
	}
	if unit := get(currencyColumn); unit != "" && unit != currency {
		return refuse(currencyColumn, unit, Foreign, "want "+currency)
	}
	rate, reason, detail := parsePrice(get(rateColumn))
	if reason != "" {
		return refuse(rateColumn, get(rateColumn), reason, detail)
	}
	at := f.now
	if text := get(atColumn); text != "" {
		if at, err = time.Parse(time.RFC3339, text); err != nil {
			return refuse(atColumn, text, BadTime, "want RFC 3339, as in 2026-11-29T10:00:00Z")
		}
		if at.After(f.now) {
			return refuse(atColumn, text, BadTime, "lies in the future")
		}
	}
	return FileQuote{
		Quote: Quote{
			Offering: provider.Offering{
				Cloud: get(cloudColumn), Region: get(regionColumn), Zone: get(zoneColumn), Type: get(typeColumn), Market: market,
			},
			Rate: rate, At: at.UTC(), Source: fmt.Sprintf("%s:%d", f.name, line),
		},
		File: f.name, Line: line,
	}, nil
}

func isSpaceOrControl(r rune) bool { return r <= ' ' || r == 0x7f || r == '\ufffd' }
