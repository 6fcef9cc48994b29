package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// What a file of SQLite begins with: a word, and at versionAt the number that a store keeps
// its schema's version in (sqlite.org/fileformat).
const (
	fileStart  = "SQLite format 3\x00"
	fileHeader = 100
	versionAt  = 60
)

// look refuses a file that is no store before anything is done to it: a driver writes to what
// it opens, and takes a file of a few bytes for an empty one.
func (cfg *SQLiteConfig) look() error {
	if cfg.Path == ":memory:" {
		return nil
	}
	file, err := os.Open(cfg.Path)
	if errors.Is(err, fs.ErrNotExist) && !cfg.Existing {
		return nil
	}
	if err != nil {
		return errors.Unwrap(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("is no regular file")
	}
	header := make([]byte, fileHeader)
	n, err := io.ReadFull(file, header)
	switch {
	case n == 0 && !cfg.Existing && errors.Is(err, io.EOF):
		return nil
	case n == 0:
		return errors.New("is empty, and no store")
	case err != nil || string(header[:len(fileStart)]) != fileStart:
		return errors.New("is no store")
	}
	if log, err := os.Stat(cfg.Path + "-wal"); err == nil && log.Size() > 0 {
		return nil // what the file says is not yet all
	}
	if v := int(binary.BigEndian.Uint32(header[versionAt:])); v != schemaVersion {
		return fmt.Errorf("it has schema %d, this program reads %d", v, schemaVersion)
	}
	return nil
}
