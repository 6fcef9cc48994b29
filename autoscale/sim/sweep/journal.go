package sweep

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// ErrOther is wrapped by the error about a journal that was not begun by this sweep.
var ErrOther = errors.New("the journal is of another sweep")

// journal is a file of rows in the order in which their runs ended, after a head that
// says of which sweep it is.
type journal struct {
	f *os.File
}

// headLine is the first line of a journal.
type headLine struct {
	Sweep string `json:"sweep"` // hash of all that its rows depend on
	Runs  int    `json:"runs"`
}

// rowLine is a line of a run.
type rowLine struct {
	Run     int      `json:"run"` // its place in the sweep
	Places  []string `json:"places"`
	Figures []string `json:"figures"`
}

// openJournal opens the journal of a sweep, or begins it, and returns the rows that it
// holds by place. A line that was cut off as it was written is dropped.
func openJournal(path string, head headLine, runs []Run) (*journal, map[int]Row, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, fmt.Errorf("journal: %w", err)
	}
	rows, end, err := readJournal(path, f, head, runs)
	if err == nil {
		err = f.Truncate(end)
	}
	if err == nil {
		_, err = f.Seek(end, io.SeekStart)
	}
	j := &journal{f}
	if err == nil && end == 0 {
		err = j.line(head)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return j, rows, nil
}

// readJournal reads whole lines, and where they end.
func readJournal(path string, r io.Reader, want headLine, runs []Run) (rows map[int]Row, end int64, err error) {
	rows = map[int]Row{}
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return rows, end, nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("journal %s: %w", path, err)
		}
		end += int64(len(text))
		strict := json.NewDecoder(bytes.NewReader(text))
		strict.DisallowUnknownFields()
		if n == 1 {
			var got headLine
			if err := strict.Decode(&got); err != nil || got != want {
				return nil, 0, fmt.Errorf("%w: %s", ErrOther, path)
			}
			continue
		}
		var x rowLine
		switch err := strict.Decode(&x); {
		case err != nil:
			return nil, 0, fmt.Errorf("journal %s:%d: %w", path, n, err)
		case x.Run < 0 || x.Run >= len(runs) || !slices.Equal(x.Places, runs[x.Run].Places) || len(x.Figures) != len(figures):
			return nil, 0, fmt.Errorf("journal %s:%d: there is no such run", path, n)
		}
		if _, twice := rows[x.Run]; twice {
			return nil, 0, fmt.Errorf("journal %s:%d: run %d is told twice", path, n, x.Run)
		}
		rows[x.Run] = Row{Places: x.Places, Figures: x.Figures}
	}
}

// add writes a row as a whole line.
func (j *journal) add(run int, r Row) error { return j.line(rowLine{run, r.Places, r.Figures}) }

func (j *journal) line(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := j.f.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

func (j *journal) close() error { return j.f.Close() }
