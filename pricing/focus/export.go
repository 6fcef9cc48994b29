package focus

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// Config says how a ledger is written.
type Config struct {
	Version Version
	Names   Names
	All     bool // write columns too that no row fills
}

// Summary is what was written.
type Summary struct {
	Rows    int
	Unknown int           // rows left out because their rate is not known: unknown is not zero
	Billed  pricing.Money // sum of BilledCost: exact
	Borne   pricing.Money // sum of EffectiveCost
	columns []column
}

// Export writes charges as one row for each thing, hour of the clock, price and
// bearer, by time. What was taken back or moved is netted within its row.
func Export(w io.Writer, charges []ledger.Charge, cfg Config) (Summary, error) {
	if cfg.Names.BillingAccount.ID == "" {
		return Summary{}, errors.New("focus: the id of the billing account is missing")
	}
	var sum Summary
	var rows []row
	used := map[string]bool{}
	for _, s := range segments(charges) {
		switch {
		case !s.first.Known:
			sum.Unknown++
			continue
		case s.gone():
			continue
		}
		r := s.row(cfg.Names)
		for id, value := range r {
			used[id] = used[id] || value != ""
		}
		rows = append(rows, r)
		sum.Billed += s.billed
		sum.Borne += s.amount
	}
	sum.Rows = len(rows)
	var head []string
	for _, c := range columns {
		if c.in(cfg.Version) && (!c.optional || cfg.All || used[c.id]) {
			sum.columns = append(sum.columns, c)
			head = append(head, c.id)
		}
	}
	out := csv.NewWriter(w)
	lines := [][]string{head}
	segmentID := slices.Index(head, "x_SegmentId")
	alike := map[string]int{}
	for _, r := range rows {
		line := make([]string, len(head))
		for i, id := range head {
			line[i] = printable(r[id])
		}
		whole := strings.Join(line, "\x00")
		if alike[whole]++; alike[whole] > 1 { // a reader takes rows that are alike in every column for one
			line[segmentID] += "/" + strconv.Itoa(alike[whole])
		}
		lines = append(lines, line)
	}
	if err := out.WriteAll(lines); err != nil {
		return sum, fmt.Errorf("focus: %w", err)
	}
	return sum, nil
}

// printable is a value without control characters, which a reader of bills refuses and a
// terminal obeys: each is written as Go writes it in quotes. Values stay as they are
// otherwise, also those that a spreadsheet takes for a formula: the standard wants names as
// their owner gave them.
func printable(text string) string {
	if strings.IndexFunc(text, unicode.IsControl) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unicode.IsControl(r) {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// segmentKey tells rows apart.
type segmentKey struct {
	cloud   string
	item    ledger.Item
	id      provider.InstanceID
	run     int
	hour    int64
	rate    pricing.Rate
	per     time.Duration
	list    pricing.Rate
	size    int64
	known   bool
	account ledger.Account
	job     string
	team    string
	project string
	share   int
	of      int
	kind    ledger.Kind // of what stands alone
	note    string
}

// segments puts the charges of one row together, in order of time and then by what
// they are of.
func segments(charges []ledger.Charge) []*segment {
	index := map[segmentKey]*segment{}
	var list []*segment
	for i := range charges {
		c := &charges[i]
		k := segmentKey{
			cloud: c.Offering.Cloud, item: c.Item, id: c.Instance, run: c.Run, hour: c.From.Unix() / 3600,
			rate: c.Rate, per: c.Per, list: c.List, size: c.Quantity, known: c.Known,
			account: c.Account, job: c.Job, team: c.Team, project: c.Project, share: max(c.Share, -c.Share), of: c.Of,
		}
		switch c.Kind {
		case ledger.Correction, ledger.Rise, ledger.Credit, ledger.Purchase:
			k.kind, k.note = c.Kind, c.ID
		}
		if c.Item == ledger.Traffic {
			k.size, k.note = 0, cmp.Or(k.note, c.Note)
		}
		s := index[k]
		if s == nil {
			s = &segment{first: *c, to: c.To}
			index[k] = s
			list = append(list, s)
		}
		s.add(c)
	}
	slices.SortStableFunc(list, func(a, b *segment) int {
		x, y := &a.first, &b.first
		return cmp.Or(x.From.Compare(y.From), cmp.Compare(x.Instance, y.Instance), cmp.Compare(x.Item, y.Item),
			cmp.Compare(x.Account, y.Account), cmp.Compare(x.Job, y.Job), cmp.Compare(x.ID, y.ID))
	})
	return list
}

// metadata is the file that goes with the data.
type metadata struct {
	Metadata struct {
		Generator string `json:"DataGenerator"`
		Schema    struct {
			ID      string           `json:"SchemaId"`
			Version Version          `json:"FocusVersion"`
			Created string           `json:"CreationDate"`
			Columns []metadataColumn `json:"ColumnDefinition"`
		} `json:"Schema"`
		Rows    int    `json:"x_Rows"`
		Unknown int    `json:"x_RowsWithoutKnownRate"`
		Billed  string `json:"x_BilledCost"`
		Borne   string `json:"x_EffectiveCost"`
	} `json:"Metadata"`
}

type metadataColumn struct {
	Name string `json:"ColumnName"`
	Type string `json:"DataType"`
}

// Metadata writes the file that the standard wants beside the data: what was
// written, in which version, when, with which columns.
func (s Summary) Metadata(w io.Writer, v Version, created time.Time) error {
	var m metadata
	m.Metadata.Generator = "goodfleet"
	m.Metadata.Schema.ID = "goodfleet-focus-" + string(v)
	m.Metadata.Schema.Version = v
	m.Metadata.Schema.Created = stamp(created)
	for _, c := range s.columns {
		m.Metadata.Schema.Columns = append(m.Metadata.Schema.Columns, metadataColumn{c.id, strings.ToUpper(kindNames[c.kind])})
	}
	m.Metadata.Rows, m.Metadata.Unknown = s.Rows, s.Unknown
	m.Metadata.Billed, m.Metadata.Borne = s.Billed.String(), s.Borne.String()
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(m); err != nil {
		return fmt.Errorf("focus metadata: %w", err)
	}
	return nil
}
