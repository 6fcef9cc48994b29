package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/goodfleet/goodfleet/pricing/ledger"
)

// eachCharge reads the charges of a ledger one by one; begin may be called again, to
// start anew. A charge given twice counts once; two that contradict each other, and
// any that do not add up, are an error.
func eachCharge(path string, begin func() func(c *ledger.Charge)) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("ledger %s: no such file; goodfleet simulate writes one into its --out folder", path)
	}
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	defer file.Close()
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
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	return ledger.NewFile(bytes.NewReader(text), int64(len(text))), nil
}

// readLedger reads all charges of a ledger.
func readLedger(path string) ([]ledger.Charge, error) { return chargesIn(path, span{}) }

// chargesIn reads the charges that begin in a window.
func chargesIn(path string, s span) ([]ledger.Charge, error) {
	var charges []ledger.Charge
	err := eachCharge(path, func() func(c *ledger.Charge) {
		charges = charges[:0]
		return func(c *ledger.Charge) {
			if s.holds(c.From) {
				charges = append(charges, *c)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return charges, nil
}
