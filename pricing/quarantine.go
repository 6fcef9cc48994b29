package pricing

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const quarantineVersion = 1

// Acceptance is a suspect that a person took for a real price.
type Acceptance struct {
	Suspect
	AcceptedAt time.Time `json:"accepted_at"`
}

// Quarantine is the durable list of suspects, in a small file. Nothing in it is a
// price until it is accepted. A file has one writer at a time.
type Quarantine struct {
	path string
	doc  quarantineFile
}

type quarantineFile struct {
	Version  int          `json:"version"`
	Suspects []Suspect    `json:"suspects"` // by id
	Accepted []Acceptance `json:"accepted"` // by id
}

// OpenQuarantine reads the file, or starts an empty list where there is none. A
// file that cannot be read is an error: what it held must not be lost.
func OpenQuarantine(path string) (*Quarantine, error) {
	q := &Quarantine{path: path, doc: quarantineFile{Version: quarantineVersion}}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return q, nil
	}
	if err != nil {
		return nil, fmt.Errorf("quarantine: %w", err)
	}
	if err := q.doc.read(data); err != nil {
		return nil, fmt.Errorf("quarantine %s: %w", path, err)
	}
	return q, nil
}

// read takes what save wrote, and nothing else: an accepted price is planned with. The
// error begins with the field.
func (f *quarantineFile) read(data []byte) error {
	*f = quarantineFile{}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(f)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it ends too soon")
	case errors.As(err, &wrong):
		return fmt.Errorf("%s: a %s does not belong here", cmp.Or(wrong.Field, "document"), wrong.Value)
	case err != nil:
		return err
	case decoder.More():
		return errors.New("something follows the document")
	case f.Version != quarantineVersion:
		return fmt.Errorf("version: %d: want %d", f.Version, quarantineVersion)
	}
	check := func(field string, list []Suspect) error {
		for i, s := range list {
			at := fmt.Sprintf("%s[%d]", field, i)
			switch {
			case s.Quote.Rate <= 0:
				return fmt.Errorf("%s.quote.rate: %s: want more than 0", at, s.Quote.Rate)
			case s.ID != suspectID(s.Quote.Offering, s.Quote.Rate):
				return fmt.Errorf("%s.id: %q: is not that of its offering and rate", at, s.ID)
			case i > 0 && s.ID <= list[i-1].ID:
				return fmt.Errorf("%s.id: %q: comes after %q", at, s.ID, list[i-1].ID)
			}
		}
		return nil
	}
	accepted := make([]Suspect, len(f.Accepted))
	for i, a := range f.Accepted {
		accepted[i] = a.Suspect
	}
	return cmp.Or(check("suspects", f.Suspects), check("accepted", accepted))
}

// Suspects lists what waits for a person, by id.
func (q *Quarantine) Suspects() []Suspect { return slices.Clone(q.doc.Suspects) }

// Accepted reports whether a person accepted the suspect of that id.
func (q *Quarantine) Accepted(id string) bool {
	return slices.ContainsFunc(q.doc.Accepted, func(a Acceptance) bool { return a.ID == id })
}

// AcceptedQuotes lists the prices that a person accepted, by offering and time.
func (q *Quarantine) AcceptedQuotes() []Quote {
	quotes := make([]Quote, len(q.doc.Accepted))
	for i, a := range q.doc.Accepted {
		quotes[i] = a.Quote
	}
	slices.SortFunc(quotes, func(a, b Quote) int {
		if c := a.Offering.Compare(b.Offering); c != 0 {
			return c
		}
		return a.At.Compare(b.At)
	})
	return quotes
}

// Add puts suspects aside and makes that durable. One that is already there is
// replaced by its newest sighting; one that was accepted stays accepted.
func (q *Quarantine) Add(suspects ...Suspect) error {
	doc := q.doc
	doc.Suspects = slices.Clone(doc.Suspects)
	for _, s := range suspects {
		if q.Accepted(s.ID) {
			continue
		}
		i, there := slices.BinarySearchFunc(doc.Suspects, s.ID, func(t Suspect, id string) int { return strings.Compare(t.ID, id) })
		if there {
			doc.Suspects[i] = s
		} else {
			doc.Suspects = slices.Insert(doc.Suspects, i, s)
		}
	}
	return q.save(doc)
}

// Accept takes suspects for real prices and makes that durable. An id that is not
// there is an error, and then none is accepted; one accepted before is not.
func (q *Quarantine) Accept(now time.Time, ids ...string) ([]Quote, error) {
	doc := quarantineFile{Version: quarantineVersion, Accepted: slices.Clone(q.doc.Accepted)}
	var quotes []Quote
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = !q.Accepted(id)
	}
	for _, s := range q.doc.Suspects {
		if !wanted[s.ID] {
			doc.Suspects = append(doc.Suspects, s)
			continue
		}
		delete(wanted, s.ID)
		doc.Accepted = append(doc.Accepted, Acceptance{Suspect: s, AcceptedAt: now.UTC()})
		quotes = append(quotes, s.Quote)
	}
	for _, id := range ids {
		if wanted[id] {
			return nil, fmt.Errorf("quarantine %s: no suspect %q", q.path, id)
		}
	}
	slices.SortFunc(doc.Accepted, func(a, b Acceptance) int { return strings.Compare(a.ID, b.ID) })
	return quotes, q.save(doc)
}

// AcceptAll takes every suspect for a real price.
func (q *Quarantine) AcceptAll(now time.Time) ([]Quote, error) {
	ids := make([]string, len(q.doc.Suspects))
	for i, s := range q.doc.Suspects {
		ids[i] = s.ID
	}
	return q.Accept(now, ids...)
}

// save writes the whole file beside itself and moves it into place, so that a
// crash leaves the old or the new one.
func (q *Quarantine) save(doc quarantineFile) (err error) {
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	dir := filepath.Dir(q.path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	file, err := os.CreateTemp(dir, filepath.Base(q.path)+".*")
	if err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("quarantine: %w", errors.Join(err, os.Remove(file.Name())))
		}
	}()
	_, err = file.Write(append(data, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err = os.Rename(file.Name(), q.path); err != nil {
		return err
	}
	q.doc = doc
	return nil
}
