package ledger

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
)

// longest is the most bytes that the line of a charge can have.
const longest = 1 << 20

// File is a ledger as lines of JSON, one charge each.
type File struct {
	in   io.ReaderAt
	size int64
}

// NewFile is the ledger in the first size bytes of in.
func NewFile(in io.ReaderAt, size int64) *File { return &File{in: in, size: size} }

// Encode writes charges as File reads them.
func Encode(w io.Writer, charges ...Charge) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	for i := range charges {
		if err := encoder.Encode(&charges[i]); err != nil {
			return fmt.Errorf("charge %s: %w", charges[i].ID, err)
		}
	}
	return nil
}

// LineError is what is wrong with a line of a File.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

func (e *LineError) Unwrap() error { return e.Err }

// Each reads the charges in their order, holding one line at a time, and then
// proves that they add up. begin gives what is called with each of them; it is
// called again, and what came before forgotten, when some were given twice, since
// such count once. The charge is read over by the next one; a copy stays as it is.
//
// The first line that cannot be read, that Charge.Check refuses or that gives
// another charge under an id that was given before is a *LineError; charges that do
// not add up are ErrUnbalanced. What was called before an error is of no use.
func (f *File) Each(begin func() func(c *Charge)) error {
	ids := idsOf(f)
	proof := NewProof()
	each := begin()
	err := f.lines(func(c *Charge, _ int64) error {
		ids.add(c.ID)
		if err := proof.Add(c); err != nil {
			return err
		}
		each(c)
		return nil
	})
	again := ids.twice()
	if len(again) == 0 {
		if err != nil {
			return err
		}
		return proof.Done()
	}
	// Some hash comes twice: mostly because a charge does.
	proof, each = NewProof(), begin()
	err = f.lines(func(c *Charge, place int64) error {
		if known, err := ids.before(f, again, c, place); known || err != nil {
			return err
		}
		if err := proof.Add(c); err != nil {
			return err
		}
		each(c)
		return nil
	})
	if err != nil {
		return err
	}
	return proof.Done()
}

// lines reads the charges and where their lines begin.
func (f *File) lines(each func(c *Charge, place int64) error) error {
	lines := bufio.NewScanner(io.NewSectionReader(f.in, 0, f.size))
	lines.Buffer(make([]byte, 0, 256<<10), longest)
	var next int64
	lines.Split(func(data []byte, atEOF bool) (advance int, token []byte, err error) {
		advance, token, err = bufio.ScanLines(data, atEOF)
		next += int64(advance)
		return advance, token, err
	})
	d, n, place := newDecoder(), 1, int64(0)
	var c Charge
	for ; lines.Scan(); n, place = n+1, next {
		line := lines.Bytes()
		if len(line) == 0 || len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := d.charge(line, &c); err != nil {
			return &LineError{n, err}
		}
		if err := each(&c, place); err != nil {
			return &LineError{n, err}
		}
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("has more than %d KiB: want a charge a line", longest>>10)
		}
		return &LineError{n, err}
	}
	return nil
}

// ids knows charges again by a hash of their ids. Which hash an id has does not
// matter: where two are equal, their lines are compared.
type ids struct {
	seed   maphash.Seed
	hashes []uint64
}

// bytesALine is the size of a short line.
const bytesALine = 400

func idsOf(f *File) *ids {
	return &ids{seed: maphash.MakeSeed(), hashes: make([]uint64, 0, f.size/bytesALine)}
}

func (s *ids) add(id string) { s.hashes = append(s.hashes, maphash.String(s.seed, id)) }

// twice are the hashes that came more than once, without the places of their lines.
func (s *ids) twice() map[uint64][]int64 {
	slices.Sort(s.hashes)
	again := map[uint64][]int64{}
	for i := 1; i < len(s.hashes); i++ {
		if s.hashes[i] == s.hashes[i-1] {
			again[s.hashes[i]] = nil
		}
	}
	return again
}

// before reports whether the charge of the line at a place was given before, at the
// places that are known of its hash. One that is another under an id that was given
// is ErrConflict.
func (s *ids) before(f *File, places map[uint64][]int64, c *Charge, place int64) (bool, error) {
	hash := maphash.String(s.seed, c.ID)
	earlier, again := places[hash]
	if !again {
		return false, nil
	}
	for _, at := range earlier {
		first, err := f.chargeAt(at)
		switch {
		case err != nil:
			return false, err
		case first.ID != c.ID:
			continue
		case !first.same(*c):
			return false, fmt.Errorf("charge %s of %s USD: %w", c.ID, c.Amount, ErrConflict)
		}
		return true, nil
	}
	places[hash] = append(earlier, place)
	return false, nil
}

// chargeAt reads the line at a place again.
func (f *File) chargeAt(place int64) (c Charge, err error) {
	line, err := bufio.NewReaderSize(io.NewSectionReader(f.in, place, f.size-place), 4<<10).ReadBytes('\n')
	if err != nil && err != io.EOF {
		return c, err
	}
	return c, decodeAny(line, &c)
}
