package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// Load returns the running fleet.
func (s *SQLite) Load(ctx context.Context) (snap autoscale.Snapshot, err error) {
	err = s.in(ctx, func(tx *sql.Tx) error {
		row := tx.QueryRowContext(ctx, "SELECT id, epoch, round, version FROM fleet")
		if err := row.Scan(&snap.Fleet, &snap.Epoch, &snap.Round, &snap.Version); err != nil {
			return err
		}
		r := s.reader(tx)
		if snap.Jobs, err = r.jobsWhere(ctx, "ended IS NULL OR gang IS NOT NULL"); err != nil {
			return err
		}
		if snap.Intents, err = r.openIntents(ctx); err != nil {
			return err
		}
		if snap.Instances, err = r.instancesWhere(ctx, "settled = 0"); err != nil {
			return err
		}
		if snap.Shortages, err = r.shortages(ctx); err != nil {
			return err
		}
		if snap.Overrides, err = r.overrides(ctx); err != nil {
			return err
		}
		if snap.Budgets, err = r.budgets(ctx); err != nil {
			return err
		}
		if snap.Questions, err = r.questions(ctx); err != nil {
			return err
		}
		snap.Broken = r.broken
		return nil
	})
	return snap, err
}

// Jobs returns every job there ever was, by time of submission and id.
func (s *SQLite) Jobs(ctx context.Context) (list []autoscale.JobRecord, err error) {
	err = s.in(ctx, func(tx *sql.Tx) error {
		list, err = s.reader(tx).jobsWhere(ctx, "1")
		return err
	})
	return list, err
}

// Instances returns every machine there ever was, by id.
func (s *SQLite) Instances(ctx context.Context) (list []autoscale.InstanceRecord, err error) {
	err = s.in(ctx, func(tx *sql.Tx) error {
		list, err = s.reader(tx).instancesWhere(ctx, "1")
		return err
	})
	return list, err
}

// Events returns the events in [from, to), as they were appended.
func (s *SQLite) Events(ctx context.Context, from, to time.Time) (list []autoscale.Event, err error) {
	err = s.in(ctx, func(tx *sql.Tx) error {
		r := s.reader(tx)
		list, err = query(ctx, r, "event", `SELECT seq, at, round, kind, job, instance, o.id, `+offeringColumns+`, text
			FROM events e LEFT JOIN offerings o ON o.id = e.offering
			WHERE (?1 IS NULL OR at >= ?1) AND (?2 IS NULL OR at < ?2) ORDER BY seq`,
			func(scan func(...any) error) (e autoscale.Event, err error) {
				var o offeringRow
				var at, id sql.NullInt64
				var seq int64
				if err := scan(append(append([]any{&seq, &at, &e.Round, &e.Kind, &e.Job, &e.Instance, &id}, o.into()...), &e.Text)...); err != nil {
					return e, err
				}
				e.At = instant(at)
				if id.Valid {
					offering, err := o.offering()
					if err != nil {
						return e, err
					}
					e.Offering = &offering
				}
				return e, nil
			}, nanos(from), nanos(to))
		return err
	})
	return list, err
}

// reader reads in one transaction, so that what it reads belongs together.
type reader struct {
	tx     *sql.Tx
	jobs   Codec
	broken []string         // rows that were left out
	tell   func(row string) // of each of them
}

func (s *SQLite) reader(tx *sql.Tx) *reader { return &reader{tx: tx, jobs: s.jobs, tell: s.broken} }

// skip notes a row that cannot be read.
func (r *reader) skip(what, key string, err error) {
	row := fmt.Sprintf("%s %s: %v", what, key, err)
	r.broken = append(r.broken, row)
	if r.tell != nil {
		r.tell(row)
	}
}

// query reads the rows of an answer. One that cannot be read is left out, and named
// by what it is and by its first column.
func query[T any](ctx context.Context, r *reader, what, text string, read func(scan func(...any) error) (T, error), args ...any) (list []T, err error) {
	err = eachRow(ctx, r, what, text, read, func(v *T) error { list = append(list, *v); return nil }, args...)
	return list, err
}

// eachRow is query for rows that are used one by one.
func eachRow[T any](ctx context.Context, r *reader, what, text string, read func(scan func(...any) error) (T, error), each func(v *T) error, args ...any) error {
	rows, err := r.tx.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		v, err := read(rows.Scan)
		if err != nil {
			r.skip(what, keyOf(rows), err)
			continue
		}
		if err := each(&v); err != nil {
			return err
		}
	}
	return rows.Err()
}

// keyOf is the first column of the present row, as text.
func keyOf(rows *sql.Rows) string {
	columns, err := rows.Columns()
	if err != nil {
		return "?"
	}
	values := make([]any, len(columns))
	for i := range values {
		values[i] = new(any)
	}
	if err := rows.Scan(values...); err != nil {
		return "?"
	}
	return fmt.Sprint(*values[0].(*any))
}

const offeringColumns = "o.cloud, o.account, o.region, o.zone, o.type, o.market, o.reservation"

// offeringRow is where the columns of an offering are read to. They are NULL for
// an event that names none.
type offeringRow [7]sql.NullString

func (o *offeringRow) into() []any {
	list := make([]any, len(o))
	for i := range o {
		list[i] = &o[i]
	}
	return list
}

func (o *offeringRow) offering() (provider.Offering, error) {
	market, err := provider.ParseBooked(o[5].String)
	return provider.Offering{
		Cloud: o[0].String, Account: o[1].String, Region: o[2].String, Zone: o[3].String,
		Type: o[4].String, Market: market, Reservation: o[6].String,
	}, err
}

func (r *reader) jobsWhere(ctx context.Context, condition string) ([]autoscale.JobRecord, error) {
	return query(ctx, r, "job", `SELECT id, document, phase, generation, gang, begun, running, stopped, stopping, target, safe, seen, seen_at, waiting, held,
		started, ended, restarts, losses, failures, spent, measured, claims, claimed_at, lease, place FROM jobs WHERE `+condition+` ORDER BY submitted, id`,
		func(scan func(...any) error) (j autoscale.JobRecord, err error) {
			var id, document string
			var gang, target, measured, claims, place sql.NullString
			var begun, running, stopped, seenAt, waiting, started, ended, claimedAt, lease sql.NullInt64
			var held int64
			if err := scan(&id, &document, &j.Phase, &j.Generation, &gang, &begun, &running, &stopped, &j.Stopping, &target, &j.Safe, &j.Seen, &seenAt,
				&waiting, &held, &started, &ended, &j.Restarts, &j.Losses, &j.Failures, &j.Spent, &measured, &claims, &claimedAt, &lease, &place); err != nil {
				return j, err
			}
			if j.Job, err = r.jobs.Decode([]byte(document)); err != nil {
				return j, fmt.Errorf("document: %w", err)
			}
			if gang.Valid {
				if err := json.Unmarshal([]byte(gang.String), &j.Gang); err != nil {
					return j, fmt.Errorf("gang: %w", err)
				}
			}
			if target.Valid {
				if err := json.Unmarshal([]byte(target.String), &j.Target); err != nil {
					return j, fmt.Errorf("target: %w", err)
				}
			}
			if measured.Valid {
				if err := json.Unmarshal([]byte(measured.String), &j.Measured); err != nil {
					return j, fmt.Errorf("measured: %w", err)
				}
			}
			if claims.Valid {
				if err := json.Unmarshal([]byte(claims.String), &j.Claims); err != nil {
					return j, fmt.Errorf("claims: %w", err)
				}
			}
			if place.Valid {
				if err := json.Unmarshal([]byte(place.String), &j.Place); err != nil {
					return j, fmt.Errorf("place: %w", err)
				}
			}
			j.ClaimedAt, j.Lease = instant(claimedAt), instant(lease)
			j.Times = autoscale.GangTimes{Started: instant(begun), Running: instant(running), Stopping: instant(stopped)}
			j.SeenAt, j.Waiting, j.Started, j.Ended = instant(seenAt), instant(waiting), instant(started), instant(ended)
			j.Held = time.Duration(held)
			return j, sound(j)
		})
}

func (r *reader) openIntents(ctx context.Context) ([]autoscale.Intent, error) {
	return query(ctx, r, "intent", `SELECT token, epoch, round, `+offeringColumns+`, count, min, rate, reason, created, state, instances, error, alternates
		FROM intents i JOIN offerings o ON o.id = i.offering WHERE state = 1 ORDER BY token`,
		func(scan func(...any) error) (x autoscale.Intent, err error) {
			var o offeringRow
			var created sql.NullInt64
			var rate int64
			var instances string
			var alternates sql.NullString
			err = scan(append(append([]any{&x.Token, &x.Epoch, &x.Round}, o.into()...), &x.Count, &x.Min, &rate, &x.Reason, &created, &x.State, &instances, &x.Error, &alternates)...)
			if err != nil {
				return x, err
			}
			x.Created, x.Rate = instant(created), pricing.Rate(rate)
			if err := json.Unmarshal([]byte(instances), &x.Instances); err != nil {
				return x, fmt.Errorf("instances: %w", err)
			}
			if alternates.Valid {
				if err := json.Unmarshal([]byte(alternates.String), &x.Alternates); err != nil {
					return x, fmt.Errorf("alternates: %w", err)
				}
			}
			x.Offering, err = o.offering()
			return x, err
		})
}

func (r *reader) instancesWhere(ctx context.Context, condition string) ([]autoscale.InstanceRecord, error) {
	return query(ctx, r, "instance", `SELECT i.id, `+offeringColumns+`, state, tag_fleet, tag_epoch, tag_round, tag_intent, launched, started, ended, cause,
		ready_at, draining, reason, ready, rate, booked, seen, noticed, loss, end_asked, denied, settled,
		called_home, accelerators, gone, missed, silent, quarantined, orphan, mem_gib, astray, hinted
		FROM instances i JOIN offerings o ON o.id = i.offering WHERE `+condition+` ORDER BY i.id`,
		func(scan func(...any) error) (m autoscale.InstanceRecord, err error) {
			var o offeringRow
			var launched, started, ended, ready, booked, seen, noticed, loss, endAsked, denied, called, missed, quarantined, orphan, astray, hinted sql.NullInt64
			var rate int64
			i := &m.Instance
			err = scan(append(append([]any{&i.ID}, o.into()...), &i.State, &i.Tags.Fleet, &i.Tags.Epoch, &i.Tags.Round, &i.Tags.Intent,
				&launched, &started, &ended, &i.Cause, &ready, &m.Draining, &m.Reason, &m.Ready, &rate, &booked, &seen,
				&noticed, &loss, &endAsked, &denied, &m.Settled,
				&called, &i.Accelerators, &m.Gone, &missed, &m.Silent, &quarantined, &orphan, &i.MemGiB, &astray, &hinted)...)
			if err != nil {
				return m, err
			}
			i.Launched, i.Started, i.Ended = instant(launched), instant(started), instant(ended)
			m.ReadyAt, m.Booked, m.Seen, m.Rate = instant(ready), instant(booked), instant(seen), pricing.Rate(rate)
			m.Noticed, m.Loss, m.EndAsked, m.Denied = instant(noticed), instant(loss), instant(endAsked), instant(denied)
			i.CalledHome, m.Missed, m.Quarantined, m.Orphan, m.Astray, m.Hinted = instant(called), instant(missed), instant(quarantined), instant(orphan), instant(astray), instant(hinted)
			if i.State < provider.Pending || i.State > provider.Ended {
				return m, fmt.Errorf("state %d is none", uint8(i.State))
			}
			i.Offering, err = o.offering()
			return m, err
		})
}

func (r *reader) shortages(ctx context.Context) ([]autoscale.Shortage, error) {
	return query(ctx, r, "shortage", `SELECT cloud, account, region, zone, family, type, market, reservation, kind, since, until, streak FROM shortages
		ORDER BY cloud, account, region, zone, family, type, market, reservation`,
		func(scan func(...any) error) (s autoscale.Shortage, err error) {
			var since, until sql.NullInt64
			c := &s.Scope
			err = scan(&c.Cloud, &c.Account, &c.Region, &c.Zone, &c.Family, &c.Type, &c.Market, &c.Reservation, &s.Kind, &since, &until, &s.Streak)
			s.Since, s.Until = instant(since), instant(until)
			return s, err
		})
}

func (r *reader) budgets(ctx context.Context) ([]autoscale.BudgetRecord, error) {
	return query(ctx, r, "budget", "SELECT name, team, at, log, rest, burn, mark FROM budgets ORDER BY name",
		func(scan func(...any) error) (b autoscale.BudgetRecord, err error) {
			var at sql.NullInt64
			var mark string
			if err = scan(&b.Name, &b.Team, &at, &b.Price.Log, &b.Price.Left, &b.Price.Burn, &mark); err != nil {
				return b, err
			}
			b.Price.At = instant(at)
			if err := json.Unmarshal([]byte(mark), &b.Mark); err != nil {
				return b, fmt.Errorf("mark: %w", err)
			}
			return b, nil
		})
}

func (r *reader) questions(ctx context.Context) ([]budget.Question, error) {
	return query(ctx, r, "question", "SELECT id, document FROM questions ORDER BY id",
		func(scan func(...any) error) (q budget.Question, err error) {
			var id, document string
			if err = scan(&id, &document); err != nil {
				return q, err
			}
			err = json.Unmarshal([]byte(document), &q)
			return q, err
		})
}

// sound reports what a record of a job cannot say.
func sound(j autoscale.JobRecord) error {
	switch {
	case j.Job == nil || j.Job.Curve == nil:
		return errors.New("its document says nothing of its speed")
	case j.Phase < autoscale.JobWaiting || j.Phase > autoscale.JobCancelled:
		return fmt.Errorf("phase %d is none", uint8(j.Phase))
	case j.Gang != nil && (len(j.Gang.Nodes) == 0 || j.Gang.Job != j.Job.ID || j.Gang.Config.Nodes != len(j.Gang.Nodes)):
		return errors.New("its gang is not whole")
	case j.Target != nil && (len(j.Target.Machines) == 0 || j.Target.Config.Nodes != len(j.Target.Machines)):
		return errors.New("its target is not whole")
	}
	return nil
}

func (r *reader) overrides(ctx context.Context) ([]autoscale.Override, error) {
	return query(ctx, r, "override", `SELECT kind, subject, config, who, why, since, until FROM overrides ORDER BY kind, subject`,
		func(scan func(...any) error) (o autoscale.Override, err error) {
			var config sql.NullString
			var since, until sql.NullInt64
			if err := scan(&o.Kind, &o.Subject, &config, &o.Who, &o.Why, &since, &until); err != nil {
				return o, err
			}
			o.Since, o.Until = instant(since), instant(until)
			if config.Valid {
				if err := json.Unmarshal([]byte(config.String), &o.Config); err != nil {
					return o, fmt.Errorf("config: %w", err)
				}
			}
			return o, nil
		})
}
