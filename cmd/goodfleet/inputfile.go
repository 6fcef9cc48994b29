package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/term"

	"github.com/goodfleet/goodfleet/autoscale/document"
)

// openInput opens a file to be read, or a pipe. A folder is none, and a device that has no
// end is refused before it fills the memory.
func openInput(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	refuse := func(why string) (*os.File, error) {
		return nil, errors.Join(&inputError{path, errors.New(why)}, file.Close())
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		return refuse(bare(err).Error())
	case info.IsDir():
		return refuse("is a folder, want a file")
	case info.Mode()&fs.ModeDevice != 0 && !bounded(file, info):
		return refuse("is a device, want a file or a pipe")
	}
	return file, nil
}

// bounded reports whether a device comes to an end: a terminal, or the one that is empty.
func bounded(file *os.File, info fs.FileInfo) bool {
	empty, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, empty) || term.IsTerminal(int(file.Fd()))
}

// inputError is what is wrong with a file, whatever it holds.
type inputError struct {
	path string
	err  error
}

func (e *inputError) Error() string { return e.path + ": " + e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// bare is what is wrong with a file, without the name of it and what was tried.
func bare(err error) error {
	if at := (*inputError)(nil); errors.As(err, &at) {
		return at.err
	}
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return at.Err
	}
	return err
}

// Bounds of what is read into memory: of a document, and of a ledger that comes by a pipe.
const (
	mostDocument = 256 << 20
	mostPiped    = 1 << 30
)

// readFile reads a file, whatever it holds.
func readFile(path string) ([]byte, error) {
	file, err := openInput(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file, path, mostDocument)
}

// readAll reads what has a name, up to a bound.
func readAll(in io.Reader, name string, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	switch {
	case err != nil:
		return nil, &inputError{name, bare(err)}
	case int64(len(text)) > most:
		return nil, &inputError{name, fmt.Errorf("is larger than %d MiB", most>>20)}
	}
	return text, nil
}

// smallFile is the most that a file of a secret or of certificates holds.
const smallFile = 1 << 20

// readSmall reads a file of a secret or of certificates, or a pipe.
func readSmall(path string) ([]byte, error) {
	file, err := openInput(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file, path, smallFile)
}

// readInput reads a file of text, or standard input for "-".
func readInput(s streams, path string) ([]byte, error) {
	name, data, err := path, []byte(nil), error(nil)
	if path == "-" {
		name = "stdin"
		data, err = readAll(s.in, name, mostDocument)
	} else {
		data, err = readFile(path)
	}
	if err != nil {
		return nil, err
	}
	return document.Text(name, data)
}
