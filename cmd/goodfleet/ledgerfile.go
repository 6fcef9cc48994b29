package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/autoscale/document"
	"github.com/goodfleet/goodfleet/autoscale/store"
	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// eachCharge reads the charges of a ledger one by one; begin may be called again, to
// start anew. A charge given twice counts once; two that contradict each other, and
// any that do not add up, are an error. Those that are only to be summed may come
// without ids and rounds.
func eachCharge(path string, summed bool, begin func() func(c *ledger.Charge)) error {
	file, err := openInput(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("ledger %s: no such file; goodfleet simulate writes one into its --out folder", path)
	}
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	defer file.Close()
	if isStore(file) {
		return eachStored(path, summed, begin)
	}
	lines, err := linesOf(file)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	err = lines.Each(begin)
	var line *ledger.LineError
	switch {
	case errors.As(err, &line):
		return fmt.Errorf("ledger %s:%d: %w", path, line.Line, line.Err)
	case err != nil:
		return fmt.Errorf("ledger %s: %w", path, err)
	}
	return nil
}

// isStore reports whether a file is a store in SQLite. What cannot be read twice is none.
func isStore(file *os.File) bool {
	head := make([]byte, len(sqliteMagic))
	n, err := file.ReadAt(head, 0)
	return err == nil && string(head[:n]) == sqliteMagic
}

// eachStored reads the charges of a store, in which each is there once. Those to be summed
// come without ids and rounds; where something is wrong all is read, to say of which.
func eachStored(path string, summed bool, begin func() func(c *ledger.Charge)) (err error) {
	ctx := context.Background()
	s, err := openStore(ctx, path, true)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var sums reading = func(ctx context.Context, from, to time.Time, each func(c *ledger.Charge) error) ([]string, error) {
		return s.EachSum(ctx, from, to, func(c *ledger.Charge) error {
			c.ID = "not read" // Check wants some
			return each(c)
		})
	}
	if summed && eachOf(ctx, sums, begin()) == nil {
		return nil
	}
	if err := eachOf(ctx, s.EachCharge, begin()); err != nil {
		return fmt.Errorf("ledger %s: %w", path, err)
	}
	return nil
}

// reading hands out the charges of a time.
type reading func(ctx context.Context, from, to time.Time, each func(c *ledger.Charge) error) (broken []string, err error)

// eachOf hands out all charges and proves that they add up.
func eachOf(ctx context.Context, read reading, each func(c *ledger.Charge)) error {
	proof := ledger.NewProof()
	broken, err := read(ctx, time.Time{}, time.Time{}, func(c *ledger.Charge) error {
		if err := c.Check(); err != nil {
			return fmt.Errorf("charge %s: %w", c.ID, err)
		}
		each(c)
		return proof.Add(c)
	})
	if err == nil && len(broken) > 0 {
		err = fmt.Errorf("%s, of %d rows that cannot be read", broken[0], len(broken))
	}
	if err == nil {
		err = proof.Done()
	}
	return err
}

// appendStored adds charges to a store, as one change. A controller that is about to
// store one of its own reads the store anew.
func appendStored(path string, charges []ledger.Charge) (err error) {
	ctx := context.Background()
	s, err := openStore(ctx, path, true)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	snap, err := s.Load(ctx)
	if err != nil {
		return fmt.Errorf("ledger %s: %w", path, err)
	}
	if err := s.Commit(ctx, autoscale.Change{Version: snap.Version, Round: snap.Round, Epoch: snap.Epoch, Charges: charges}); err != nil {
		return fmt.Errorf("ledger %s: %w", path, err)
	}
	return nil
}

// openStore opens a store: one that is there, or one that is made if need be.
func openStore(ctx context.Context, path string, existing bool) (*store.SQLite, error) {
	return store.OpenSQLite(ctx, store.SQLiteConfig{Path: path, Existing: existing, Jobs: store.Codec{Encode: document.EncodeJob, Decode: document.DecodeJob}})
}

// linesOf is the ledger in a file. What cannot be read twice, as a pipe, is read
// into memory.
func linesOf(file *os.File) (*ledger.File, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() {
		return ledger.NewFile(file, info.Size()), nil
	}
	text, err := readAll(file, file.Name(), mostPiped)
	if err != nil {
		return nil, fmt.Errorf("%w: write what comes by a pipe to a file first", err)
	}
	return ledger.NewFile(bytes.NewReader(text), int64(len(text))), nil
}

// readLedger reads all charges of a ledger.
func readLedger(path string) ([]ledger.Charge, error) { return chargesIn(path, span{}) }

// chargesIn reads what of the charges falls into a window.
func chargesIn(path string, s span) ([]ledger.Charge, error) {
	var charges []ledger.Charge
	err := eachCharge(path, false, func() func(c *ledger.Charge) {
		charges = charges[:0]
		return func(c *ledger.Charge) {
			if part, ok := c.Within(s.from, s.to); ok {
				charges = append(charges, part)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return charges, nil
}
