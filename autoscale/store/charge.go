package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// chargeRun is what costs.
type chargeRun struct {
	item     ledger.Item
	instance provider.InstanceID
	run      int
	offering provider.Offering
	of       int
}

// chargeBearer is who bears it.
type chargeBearer struct {
	account            ledger.Account
	job, team, project string
}

// chargeTerms are at what it is charged, and why: few differ, but for volumes and notes,
// of which there are few.
type chargeTerms struct {
	kind           ledger.Kind
	rate           pricing.Rate
	per            time.Duration
	public         pricing.Rate
	known, prepaid bool
	list           pricing.Rate
	quantity       int64
	price          pricing.Money
	invoiced       sql.NullInt64 // nanoseconds since 1970
	note           string
}

// charge appends a line, once.
func (w *writer) charge(ctx context.Context, c *ledger.Charge) error {
	offering, err := w.offering(ctx, c.Offering)
	if err != nil {
		return err
	}
	run, err := idOf(ctx, w, w.runs, chargeRun{c.Item, c.Instance, c.Run, c.Offering, c.Of},
		"charge_runs", "instance, run, offering, item, of", c.Instance, c.Run, offering, c.Item, c.Of)
	if err != nil {
		return err
	}
	bearer, err := idOf(ctx, w, w.bearers, chargeBearer{c.Account, c.Job, c.Team, c.Project},
		"charge_bearers", "job, account, team, project", c.Job, c.Account, c.Team, c.Project)
	if err != nil {
		return err
	}
	t := chargeTerms{c.Kind, c.Rate, c.Per, c.Public, c.Known, c.Prepaid, c.List, c.Quantity, c.Price, nanos(c.Invoiced), c.Note}
	if !t.invoiced.Valid {
		t.invoiced.Int64 = 0 // one key for none
	}
	terms, err := idOf(ctx, w, w.terms, t, "charge_terms", "rate, list, quantity, note, kind, per, public, known, prepaid, price, invoiced",
		int64(t.rate), int64(t.list), t.quantity, t.note, t.kind, int64(t.per), int64(t.public), t.known, t.prepaid, int64(t.price), t.invoiced)
	if err != nil {
		return err
	}
	insert, err := w.statement(ctx, "INSERT INTO charge_lines ("+strings.Join(chargeColumns, ", ")+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING")
	if err != nil {
		return err
	}
	_, err = insert.ExecContext(ctx, run, bearer, terms, nanos(c.From), nanos(c.To), c.Share, int64(c.Amount), c.Round, c.ID)
	return err
}

// idOf is the row of a key in a table of those that lines name, made if it is new.
func idOf[K comparable](ctx context.Context, w *writer, known map[K]int64, key K, table, columns string, values ...any) (id int64, err error) {
	if id, ok := known[key]; ok {
		return id, nil
	}
	find, err := w.statement(ctx, "SELECT id FROM "+table+" WHERE "+strings.ReplaceAll(columns, ",", " IS ? AND")+" IS ?")
	if err != nil {
		return 0, err
	}
	err = find.QueryRowContext(ctx, values...).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		var add *sql.Stmt
		add, err = w.statement(ctx, "INSERT INTO "+table+" ("+columns+") VALUES (?"+strings.Repeat(", ?", len(values)-1)+") RETURNING id")
		if err == nil {
			err = add.QueryRowContext(ctx, values...).Scan(&id)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", table, err)
	}
	known[key] = id
	return id, nil
}

// Charges returns the charges of which some time lies in [from, to), as they were appended.
func (s *SQLite) Charges(ctx context.Context, from, to time.Time) (list []ledger.Charge, err error) {
	_, err = s.EachCharge(ctx, from, to, func(c *ledger.Charge) error { list = append(list, *c); return nil })
	return list, err
}

// EachCharge hands out the charges of which some time lies in [from, to) one by one, as
// they were appended, and stops at the first error. The charge is read over by the next
// one; a copy stays as it is. broken are the rows that cannot be read.
func (s *SQLite) EachCharge(ctx context.Context, from, to time.Time, each func(c *ledger.Charge) error) (broken []string, err error) {
	return s.eachCharge(ctx, from, to, lineColumns, each)
}

// EachSum is EachCharge for who sums: charges come without ids and rounds, and with a
// million of them in three quarters of the time.
func (s *SQLite) EachSum(ctx context.Context, from, to time.Time, each func(c *ledger.Charge) error) (broken []string, err error) {
	return s.eachCharge(ctx, from, to, sumColumns, each)
}

func (s *SQLite) eachCharge(ctx context.Context, from, to time.Time, columns int, each func(c *ledger.Charge) error) (broken []string, err error) {
	err = s.in(ctx, func(tx *sql.Tx) error {
		r := s.reader(tx)
		defer func() { broken = r.broken }()
		return r.eachCharge(ctx, from, to, columns, each)
	})
	return broken, err
}

// chargeColumns are those of a line, in the order of the constants below.
var chargeColumns = []string{"run", "bearer", "terms", "starts", "ends", "share", "amount", "round", "id"}

const (
	lineRun = iota
	lineBearer
	lineTerms
	lineStarts
	lineEnds
	lineShare
	lineAmount
	lineRound
	lineID
	lineColumns
	sumColumns = lineRound
)

// eachCharge reads columns as the driver has them: of a million lines, bringing each into
// the type of a field takes longer than all the rest.
func (r *reader) eachCharge(ctx context.Context, from, to time.Time, columns int, each func(c *ledger.Charge) error) error {
	query, edges := "SELECT "+strings.Join(chargeColumns[:columns], ", ")+" FROM charge_lines WHERE 1", []any(nil)
	if !from.IsZero() {
		query, edges = query+" AND ends > ?", append(edges, nanos(from))
	}
	if !to.IsZero() {
		query, edges = query+" AND starts < ?", append(edges, nanos(to))
	}
	rows, err := r.tx.QueryContext(ctx, query+" ORDER BY seq", edges...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var cells [lineColumns]any
	into := make([]any, columns)
	for i := range into {
		into[i] = &cells[i]
	}
	named := newNamed(r)
	var c ledger.Charge
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		id, _ := cells[lineID].(string)
		if err := named.charge(ctx, &cells, &c); err != nil {
			r.skip("charge", id, err)
			continue
		}
		c.ID = id
		if err := each(&c); err != nil {
			return err
		}
	}
	return rows.Err()
}

// named is what lines name, as far as it was asked for.
type named struct {
	runs    *rowsByID[chargeRun]
	bearers *rowsByID[chargeBearer]
	terms   *rowsByID[chargeTerms]
}

func newNamed(r *reader) named {
	return named{
		runs: newRowsByID(r, "SELECT n.id, item, instance, run, of, "+offeringColumns+` FROM charge_runs n JOIN offerings o ON o.id = n.offering`,
			func(scan func(...any) error, id *int64) (n chargeRun, err error) {
				var o offeringRow
				if err := scan(append([]any{id, &n.item, &n.instance, &n.run, &n.of}, o.into()...)...); err != nil {
					return n, err
				}
				n.offering, err = o.offering()
				return n, err
			}),
		bearers: newRowsByID(r, "SELECT n.id, account, job, team, project FROM charge_bearers n",
			func(scan func(...any) error, id *int64) (n chargeBearer, err error) {
				return n, scan(id, &n.account, &n.job, &n.team, &n.project)
			}),
		terms: newRowsByID(r, "SELECT n.id, kind, rate, per, public, known, prepaid, list, quantity, price, invoiced, note FROM charge_terms n",
			func(scan func(...any) error, id *int64) (n chargeTerms, err error) {
				var rate, per, public, list, price int64
				err = scan(id, &n.kind, &rate, &per, &public, &n.known, &n.prepaid, &list, &n.quantity, &price, &n.invoiced, &n.note)
				n.rate, n.per, n.public, n.list, n.price = pricing.Rate(rate), time.Duration(per), pricing.Rate(public), pricing.Rate(list), pricing.Money(price)
				return n, err
			}),
	}
}

// charge makes a charge of a line, but for its id.
func (n named) charge(ctx context.Context, cells *[lineColumns]any, c *ledger.Charge) error {
	var numbers [lineColumns]int64
	for i := range lineID {
		switch v := cells[i].(type) {
		case int64:
			numbers[i] = v
		case nil:
		default:
			return fmt.Errorf("%v is no number", v)
		}
	}
	run, err := n.runs.of(ctx, numbers[lineRun])
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	bearer, err := n.bearers.of(ctx, numbers[lineBearer])
	if err != nil {
		return fmt.Errorf("bearer: %w", err)
	}
	terms, err := n.terms.of(ctx, numbers[lineTerms])
	if err != nil {
		return fmt.Errorf("terms: %w", err)
	}
	at := func(i int) time.Time {
		return instant(sql.NullInt64{Int64: numbers[i], Valid: cells[i] != nil})
	}
	*c = ledger.Charge{
		Kind: terms.kind, Item: run.item, Instance: run.instance, Run: run.run, Offering: run.offering,
		From: at(lineStarts), To: at(lineEnds), Account: bearer.account, Job: bearer.job, Team: bearer.team, Project: bearer.project,
		Share: int(numbers[lineShare]), Of: run.of, Rate: terms.rate, Per: terms.per, Public: terms.public, Known: terms.known, Prepaid: terms.prepaid, List: terms.list,
		Quantity: terms.quantity, Price: terms.price, Amount: pricing.Money(numbers[lineAmount]), Invoiced: instant(terms.invoiced), Note: terms.note, Round: numbers[lineRound],
	}
	return nil
}

// rowsByID reads rows of a table when they are asked for. What was stored together is
// mostly asked for together, so that it reads some that follow with each.
type rowsByID[T any] struct {
	r     *reader
	query string // of all rows; its table is n
	read  func(scan func(...any) error, id *int64) (T, error)
	known map[int64]rowByID[T]
	last  [2]struct { // the last two that were asked for
		id  int64
		row *T
	}
}

type rowByID[T any] struct {
	row *T
	err error
}

// atOnce is how many rows are read with the one that is asked for.
const atOnce = 256

func newRowsByID[T any](r *reader, query string, read func(scan func(...any) error, id *int64) (T, error)) *rowsByID[T] {
	return &rowsByID[T]{r: r, query: query, read: read, known: map[int64]rowByID[T]{}}
}

func (l *rowsByID[T]) of(ctx context.Context, id int64) (*T, error) {
	for i := range l.last {
		if l.last[i].row != nil && l.last[i].id == id {
			return l.last[i].row, nil
		}
	}
	found, ok := l.known[id]
	if !ok {
		if err := l.load(ctx, id); err != nil {
			return nil, err
		}
		if found, ok = l.known[id]; !ok {
			return nil, fmt.Errorf("there is no row %d", id)
		}
	}
	if found.err == nil {
		l.last[1] = l.last[0]
		l.last[0].id, l.last[0].row = id, found.row
	}
	return found.row, found.err
}

func (l *rowsByID[T]) load(ctx context.Context, id int64) error {
	rows, err := l.r.tx.QueryContext(ctx, l.query+" WHERE n.id >= ? ORDER BY n.id LIMIT ?", id, atOnce)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		at := int64(0)
		row, err := l.read(rows.Scan, &at)
		l.known[at] = rowByID[T]{&row, err}
	}
	return rows.Err()
}
