package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/provider"
)

// writer writes one change in a transaction.
type writer struct {
	tx        *sql.Tx
	jobs      Codec
	offerings map[provider.Offering]int64 // ids known so far
	runs      map[chargeRun]int64
	bearers   map[chargeBearer]int64
	terms     map[chargeTerms]int64
	prepared  map[string]*sql.Stmt // what is done for each of many rows
}

func newWriter(tx *sql.Tx, jobs Codec) *writer {
	return &writer{
		tx: tx, jobs: jobs, offerings: map[provider.Offering]int64{},
		runs: map[chargeRun]int64{}, bearers: map[chargeBearer]int64{}, terms: map[chargeTerms]int64{}, prepared: map[string]*sql.Stmt{},
	}
}

func (w *writer) close() error {
	var errs []error
	for _, statement := range w.prepared {
		errs = append(errs, statement.Close())
	}
	return errors.Join(errs...)
}

// statement is one that stays prepared for the whole change.
func (w *writer) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if known, ok := w.prepared[query]; ok {
		return known, nil
	}
	made, err := w.tx.PrepareContext(ctx, query)
	if err == nil {
		w.prepared[query] = made
	}
	return made, err
}

func (w *writer) change(ctx context.Context, c autoscale.Change) error {
	for _, r := range c.Jobs {
		if err := w.job(ctx, r); err != nil {
			return fmt.Errorf("job %s: %w", r.Job.ID, err)
		}
	}
	for _, x := range c.Intents {
		if err := w.intent(ctx, x); err != nil {
			return fmt.Errorf("intent %s: %w", x.Token, err)
		}
	}
	for _, r := range c.Instances {
		if err := w.instance(ctx, r); err != nil {
			return fmt.Errorf("instance %s: %w", r.Instance.ID, err)
		}
	}
	for _, s := range c.Shortages {
		if err := w.shortage(ctx, s); err != nil {
			return fmt.Errorf("shortage %s: %w", s.Scope, err)
		}
	}
	for _, key := range c.Lifted {
		if err := w.exec(ctx, "DELETE FROM overrides WHERE kind = ? AND subject = ?", key.Kind, key.Subject); err != nil {
			return fmt.Errorf("override %s %s: %w", key.Kind, key.Subject, err)
		}
	}
	for _, o := range c.Overrides {
		if err := w.override(ctx, o); err != nil {
			return fmt.Errorf("override %s %s: %w", o.Kind, o.Subject, err)
		}
	}
	for _, b := range c.Budgets {
		mark, err := json.Marshal(b.Mark)
		if err == nil {
			err = w.exec(ctx, "INSERT OR REPLACE INTO budgets VALUES (?, ?, ?, ?, ?, ?, ?)", b.Name, b.Team, nanos(b.Price.At), b.Price.Log, int64(b.Price.Left), int64(b.Price.Burn), string(mark))
		}
		if err != nil {
			return fmt.Errorf("budget %s: %w", b.Name, err)
		}
	}
	for _, q := range c.Questions {
		text, err := json.Marshal(q)
		if err == nil {
			err = w.exec(ctx, "INSERT OR REPLACE INTO questions VALUES (?, ?)", q.ID, string(text))
		}
		if err != nil {
			return fmt.Errorf("question %s: %w", q.ID, err)
		}
	}
	for i := range c.Charges {
		if err := w.charge(ctx, &c.Charges[i]); err != nil {
			return fmt.Errorf("charge %s: %w", c.Charges[i].ID, err)
		}
	}
	for _, e := range c.Events {
		if err := w.event(ctx, e); err != nil {
			return fmt.Errorf("event %s: %w", e.Kind, err)
		}
	}
	return nil
}

func (w *writer) exec(ctx context.Context, query string, args ...any) error {
	_, err := w.tx.ExecContext(ctx, query, args...)
	return err
}

// offering is the row of an offering, made if it is new.
func (w *writer) offering(ctx context.Context, o provider.Offering) (id int64, err error) {
	if id, ok := w.offerings[o]; ok {
		return id, nil
	}
	market, err := o.Market.MarshalText()
	if err != nil {
		return 0, err
	}
	key := []any{o.Cloud, o.Account, o.Region, o.Zone, o.Type, string(market), o.Reservation}
	if err := w.exec(ctx, "INSERT INTO offerings (cloud, account, region, zone, type, market, reservation) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", key...); err != nil {
		return 0, err
	}
	row := w.tx.QueryRowContext(ctx, "SELECT id FROM offerings WHERE cloud = ? AND account = ? AND region = ? AND zone = ? AND type = ? AND market = ? AND reservation = ?", key...)
	if err := row.Scan(&id); err != nil {
		return 0, err
	}
	w.offerings[o] = id
	return id, nil
}

// optional is the JSON of what v points to; NULL for nil.
func optional[T any](v *T) (sql.NullString, error) {
	if v == nil {
		return sql.NullString{}, nil
	}
	text, err := json.Marshal(v)
	return sql.NullString{String: string(text), Valid: true}, err
}

// ran is where a job ran; nil: nowhere.
func ran(o *provider.Offering) *provider.Offering {
	if *o == (provider.Offering{}) {
		return nil
	}
	return o
}

// job writes the document of a job once, and the rest each time.
func (w *writer) job(ctx context.Context, r autoscale.JobRecord) error {
	gang, err := optional(r.Gang)
	if err != nil {
		return err
	}
	target, err := optional(r.Target)
	if err != nil {
		return err
	}
	var measured any
	if len(r.Measured) > 0 {
		text, err := json.Marshal(r.Measured)
		if err != nil {
			return err
		}
		measured = string(text)
	}
	var claims any
	if len(r.Claims) > 0 {
		text, err := json.Marshal(r.Claims)
		if err != nil {
			return err
		}
		claims = string(text)
	}
	place, err := optional(ran(&r.Place))
	if err != nil {
		return err
	}
	values := []any{
		r.Phase, r.Generation, gang, nanos(r.Times.Started), nanos(r.Times.Running), nanos(r.Times.Stopping), r.Stopping,
		target, r.Safe, r.Seen, nanos(r.SeenAt), nanos(r.Waiting), int64(r.Held), nanos(r.Started), nanos(r.Ended),
		r.Restarts, r.Losses, r.Failures, int64(r.Spent), measured, claims, nanos(r.ClaimedAt), nanos(r.Lease), place,
	}
	got, err := w.tx.ExecContext(ctx, `UPDATE jobs SET phase = ?, generation = ?, gang = ?, begun = ?, running = ?, stopped = ?, stopping = ?,
		target = ?, safe = ?, seen = ?, seen_at = ?, waiting = ?, held = ?, started = ?, ended = ?, restarts = ?, losses = ?, failures = ?, spent = ?,
		measured = ?, claims = ?, claimed_at = ?, lease = ?, place = ? WHERE id = ?`, append(values, r.Job.ID)...)
	if err != nil {
		return err
	}
	if n, err := got.RowsAffected(); err != nil || n > 0 {
		return err
	}
	document, err := w.jobs.Encode(r.Job)
	if err != nil {
		return err
	}
	return w.exec(ctx, `INSERT INTO jobs (id, team, family, submitted, document, phase, generation, gang, begun, running, stopped, stopping,
		target, safe, seen, seen_at, waiting, held, started, ended, restarts, losses, failures, spent, measured, claims, claimed_at, lease, place)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		append([]any{r.Job.ID, r.Job.Team, r.Job.Family, nanos(r.Job.Submitted), string(document)}, values...)...)
}

func (w *writer) intent(ctx context.Context, x autoscale.Intent) error {
	offering, err := w.offering(ctx, x.Offering)
	if err != nil {
		return err
	}
	instances, err := json.Marshal(x.Instances)
	if err != nil {
		return err
	}
	var alternates any
	if len(x.Alternates) > 0 {
		text, err := json.Marshal(x.Alternates)
		if err != nil {
			return err
		}
		alternates = string(text)
	}
	return w.exec(ctx, "INSERT OR REPLACE INTO intents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		x.Token, x.Epoch, x.Round, offering, x.Count, x.Min, int64(x.Rate), x.Reason, nanos(x.Created), x.State, string(instances), x.Error, alternates)
}

func (w *writer) instance(ctx context.Context, r autoscale.InstanceRecord) error {
	i := r.Instance
	offering, err := w.offering(ctx, i.Offering)
	if err != nil {
		return err
	}
	return w.exec(ctx, "INSERT OR REPLACE INTO instances VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		i.ID, offering, i.State, i.Tags.Fleet, i.Tags.Epoch, i.Tags.Round, i.Tags.Intent,
		nanos(i.Launched), nanos(i.Started), nanos(i.Ended), i.Cause,
		nanos(r.ReadyAt), r.Draining, r.Reason, r.Ready, int64(r.Rate), nanos(r.Booked), nanos(r.Seen),
		nanos(r.Noticed), nanos(r.Loss), nanos(r.EndAsked), nanos(r.Denied), r.Settled,
		nanos(i.CalledHome), i.Accelerators, r.Gone, nanos(r.Missed), r.Silent, nanos(r.Quarantined), nanos(r.Orphan), i.MemGiB, nanos(r.Astray), nanos(r.Hinted))
}

func (w *writer) override(ctx context.Context, o autoscale.Override) error {
	config, err := optional(o.Config)
	if err != nil {
		return err
	}
	return w.exec(ctx, "INSERT OR REPLACE INTO overrides VALUES (?, ?, ?, ?, ?, ?, ?)", o.Kind, o.Subject, config, o.Who, o.Why, nanos(o.Since), nanos(o.Until))
}

func (w *writer) shortage(ctx context.Context, s autoscale.Shortage) error {
	key := []any{s.Scope.Cloud, s.Scope.Account, s.Scope.Region, s.Scope.Zone, s.Scope.Family, s.Scope.Type, s.Scope.Market, s.Scope.Reservation}
	if s.Streak == 0 {
		return w.exec(ctx, "DELETE FROM shortages WHERE cloud = ? AND account = ? AND region = ? AND zone = ? AND family = ? AND type = ? AND market = ? AND reservation = ?", key...)
	}
	return w.exec(ctx, "INSERT OR REPLACE INTO shortages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		append(key, s.Kind, nanos(s.Since), nanos(s.Until), s.Streak)...)
}

func (w *writer) event(ctx context.Context, e autoscale.Event) error {
	var offering sql.NullInt64
	if e.Offering != nil {
		id, err := w.offering(ctx, *e.Offering)
		if err != nil {
			return err
		}
		offering = sql.NullInt64{Int64: id, Valid: true}
	}
	return w.exec(ctx, "INSERT INTO events (at, round, kind, job, instance, offering, text) VALUES (?, ?, ?, ?, ?, ?, ?)",
		nanos(e.At), e.Round, e.Kind, e.Job, e.Instance, offering, e.Text)
}
