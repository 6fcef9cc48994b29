package store

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/goodfleet/goodfleet/autoscale"
)

//go:embed schema.sql
var schema string

// schemaVersion is raised with every change of schema.sql.
const schemaVersion = 13

// SQLiteConfig says where a store lies.
type SQLiteConfig struct {
	Path  string // of the file, made if it is not there; ":memory:" for one that goes with the process
	Jobs  Codec
	Fleet string // id of a store that is made now; "" draws one

	// Existing refuses to make a store where there is none.
	Existing bool

	// Broken is told of every row that cannot be read, whichever call meets it. The
	// row is left out, and the rest is served. Nil: nobody is.
	Broken func(row string)
}

// SQLite is a store in one file. It is safe for concurrent use.
type SQLite struct {
	db     *sql.DB
	jobs   Codec
	broken func(row string)
}

// OpenSQLite opens a store, or makes one.
func OpenSQLite(ctx context.Context, cfg SQLiteConfig) (*SQLite, error) {
	if cfg.Path == "" || cfg.Jobs.Encode == nil || cfg.Jobs.Decode == nil {
		return nil, errors.New("store: a path and a codec of jobs are required")
	}
	if err := cfg.look(); err != nil {
		return nil, fmt.Errorf("store %s: %w", cfg.Path, err)
	}
	// Durable when Commit returns: the log is synced with each commit.
	options := url.Values{
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"},
		"_txlock": {"immediate"},
	}
	name := "file:" + (&url.URL{Path: cfg.Path}).EscapedPath() + "?" + options.Encode()
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", cfg.Path, err)
	}
	db.SetMaxOpenConns(1) // one writer; and a store in memory is one connection's
	s := &SQLite{db: db, jobs: cfg.Jobs, broken: cfg.Broken}
	if err := s.prepare(ctx, cfg); err != nil {
		return nil, fmt.Errorf("store %s: %w", cfg.Path, errors.Join(err, db.Close()))
	}
	return s, nil
}

// Close closes the file.
func (s *SQLite) Close() error { return s.db.Close() }

// prepare makes the tables of a new store, and refuses one of another schema.
func (s *SQLite) prepare(ctx context.Context, cfg SQLiteConfig) error {
	return s.in(ctx, func(tx *sql.Tx) error {
		var version, tables int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
			return err
		}
		switch {
		case version == schemaVersion:
			return nil
		case version != 0 || tables != 0:
			return fmt.Errorf("it has schema %d, this program reads %d", version, schemaVersion)
		}
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return fmt.Errorf("make tables: %w", err)
		}
		fleet := cfg.Fleet
		if fleet == "" {
			fleet = newFleet()
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO fleet VALUES (1, ?, 1, 0, 0)", fleet); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", schemaVersion))
		return err
	})
}

// in runs f in a transaction: all of it, or nothing.
func (s *SQLite) in(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Commit stores one change.
func (s *SQLite) Commit(ctx context.Context, c autoscale.Change) error {
	return s.in(ctx, func(tx *sql.Tx) error {
		got, err := tx.ExecContext(ctx, "UPDATE fleet SET version = version + 1, round = max(round, ?), epoch = max(epoch, ?) WHERE version = ?", c.Round, c.Epoch, c.Version)
		if err != nil {
			return err
		}
		if n, err := got.RowsAffected(); err != nil {
			return err
		} else if n == 0 {
			return fmt.Errorf("%w: it is not at version %d", autoscale.ErrStale, c.Version)
		}
		w := newWriter(tx, s.jobs)
		return errors.Join(w.change(ctx, c), w.close())
	})
}

// nanos is a time as it is stored: NULL for none.
func nanos(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixNano(), Valid: !t.IsZero()}
}

// instant reads a time as it is stored.
func instant(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.Unix(0, n.Int64).UTC()
}
