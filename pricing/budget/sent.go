package budget

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"time"
)

// Sent is a file of the notices that were sent: lines of JSON, to which lines are added and
// in which none is changed. It outlives a crash: a line that a crash left unfinished counts
// as not there. Two that add to it at once send some notices twice, under one id each.
type Sent struct {
	path  string
	file  *os.File // nil: it is only looked at
	known map[sentTo]bool
}

// sentTo is a notice to a destination.
type sentTo struct{ id, to string }

// sentLine is a line of the file.
type sentLine struct {
	ID     string    `json:"id"`
	To     string    `json:"to"`
	Sent   time.Time `json:"sent"`
	Policy string    `json:"policy"`
	Text   string    `json:"text"`
}

// plainID is what Notice.ID gives.
var plainID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// ReadSent reads the file to be looked at; one that does not exist has no lines.
func ReadSent(path string) (*Sent, error) {
	s := &Sent{path: path, known: map[sentTo]bool{}}
	if err := regular(path); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	_, err = s.read(text)
	return s, err
}

// OpenSent opens the file to be added to, and makes one where there is none. An unfinished
// last line is cut off.
func OpenSent(path string) (*Sent, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	s := &Sent{path: path, file: file, known: map[sentTo]bool{}}
	text, err := io.ReadAll(file)
	if err == nil {
		var whole int
		if whole, err = s.read(text); err == nil {
			err = s.mend(text, whole)
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return s, nil
}

// regular refuses what is there and no regular file: a device or a pipe keeps nothing.
func regular(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: is no regular file", path)
	}
	return nil
}

// mend ends the last line, or takes it away: whole are the bytes that were read.
func (s *Sent) mend(text []byte, whole int) error {
	if whole < len(text) {
		return s.file.Truncate(int64(whole))
	}
	if whole > 0 && text[whole-1] != '\n' {
		_, err := s.file.WriteString("\n")
		return err
	}
	return nil
}

// lineStart is how each line begins.
const lineStart = `{"id":"`

// read reads the lines of a file and returns how many bytes they are: less than all where
// the last was left unfinished.
func (s *Sent) read(text []byte) (whole int, err error) {
	for n := 1; whole < len(text); n++ {
		line, _, ended := bytes.Cut(text[whole:], []byte("\n"))
		err := s.line(line)
		if err != nil && !ended && !json.Valid(line) && bytes.HasPrefix(line, []byte(lineStart)[:min(len(line), len(lineStart))]) {
			return whole, nil
		}
		if err != nil {
			return 0, fmt.Errorf("%s:%d: %w", s.path, n, err)
		}
		whole += len(line)
		if ended {
			whole++
		}
	}
	return whole, nil
}

// line reads one line. An error names the field and the reason.
func (s *Sent) line(text []byte) error {
	var x sentLine
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(&x)
	if err == nil && len(bytes.TrimSpace(text[d.InputOffset():])) > 0 {
		err = errors.New("something follows it")
	}
	switch {
	case err != nil:
		return fmt.Errorf("is no line of notices that were sent: %w", err)
	case !plainID.MatchString(x.ID):
		return fmt.Errorf("id: %q: want 32 hexadecimal digits", x.ID)
	case !plainName.MatchString(x.To):
		return fmt.Errorf("to: %q is no name of a destination", x.To)
	}
	s.known[sentTo{x.ID, x.To}] = true
	return nil
}

// Has reports whether a notice was sent to its destination.
func (s *Sent) Has(n Notice) bool { return s.known[sentTo{n.ID(), n.To}] }

// add notes that a notice was sent, on the disk.
func (s *Sent) add(n Notice, at time.Time) error {
	line, err := json.Marshal(sentLine{ID: n.ID(), To: n.To, Sent: at.UTC(), Policy: n.Policy, Text: n.Text})
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	if _, err := s.file.Write(append(line, '\n')); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	s.known[sentTo{n.ID(), n.To}] = true
	return nil
}

// Close closes the file.
func (s *Sent) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
