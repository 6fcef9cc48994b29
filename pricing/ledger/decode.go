package ledger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// decoder reads charges from lines of JSON. Lines as Encode writes them are read
// without encoding/json, which takes any other line, and all refusals: both give
// the same charge.
type decoder struct {
	words     map[string]string            // texts that come often
	recent    [256]string                  // some of them, by their length and end
	offerings map[string]provider.Offering // by their JSON
	object    string                       // the last of them, which mostly is that of the next line
	last      provider.Offering            //
	date      string                       // the last one read, and its midnight
	midnight  int64
}

func newDecoder() *decoder {
	return &decoder{words: map[string]string{}, offerings: map[string]provider.Offering{}}
}

// charge reads the one charge of a line, and checks it.
func (d *decoder) charge(line []byte, c *Charge) error {
	if !d.plain(line, c) {
		if err := decodeAny(line, c); err != nil {
			return err
		}
	}
	return c.Check()
}

// decodeAny reads any JSON object that is a charge. The error begins with the field.
func decodeAny(line []byte, c *Charge) error {
	*c = Charge{}
	if err := objectOf(bytes.TrimSpace(line), chargeFields, c); err != nil {
		return err // mostly with the field
	}
	if !utf8.Valid(line) {
		return errors.New("is no text in UTF-8")
	}
	return nil
}

// plain reads a line whose fields come in their order, without blanks and escapes.
// It is false for every other line, and then c is of no use.
func (d *decoder) plain(line []byte, c *Charge) bool {
	if !simple(line) {
		return false
	}
	s := scanner{rest: line}
	last := *c
	*c = Charge{}
	ok := s.skip(`{"id":`)
	c.ID = string(s.text())
	ok = ok && s.skip(`,"kind":`)
	c.Kind = Kind(d.word(s.text(), string(last.Kind)))
	if s.skip(`,"item":`) {
		c.Item = Item(d.word(s.text(), string(last.Item)))
	}
	ok = ok && s.skip(`,"instance":`)
	c.Instance = provider.InstanceID(d.word(s.text(), string(last.Instance)))
	ok = ok && s.skip(`,"run":`)
	c.Run = int(s.number())
	ok = ok && s.skip(`,"offering":`) && d.offering(s.object(), &c.Offering) && s.skip(`,"from":`)
	c.From = d.time(&s)
	ok = ok && s.skip(`,"to":`)
	c.To = d.time(&s)
	ok = ok && s.skip(`,"account":`)
	c.Account = Account(d.word(s.text(), string(last.Account)))
	if s.skip(`,"job":`) {
		c.Job = d.word(s.text(), last.Job)
	}
	if s.skip(`,"team":`) {
		c.Team = d.word(s.text(), last.Team)
	}
	if s.skip(`,"project":`) {
		c.Project = d.word(s.text(), last.Project)
	}
	ok = ok && s.skip(`,"share":`)
	c.Share = int(s.number())
	ok = ok && s.skip(`,"of":`)
	c.Of = int(s.number())
	ok = ok && s.skip(`,"rate":`)
	c.Rate = pricing.Rate(s.nano())
	if s.skip(`,"per":`) {
		c.Per = time.Duration(s.number())
	}
	if s.skip(`,"public":`) {
		c.Public = pricing.Rate(s.nano())
	}
	ok = ok && s.skip(`,"known":`)
	c.Known = s.bool()
	if s.skip(`,"prepaid":`) {
		c.Prepaid = s.bool()
	}
	ok = ok && s.skip(`,"list":`)
	c.List = pricing.Rate(s.nano())
	if s.skip(`,"quantity":`) {
		c.Quantity = s.number()
	}
	if s.skip(`,"price":`) {
		c.Price = pricing.Money(s.nano())
	}
	ok = ok && s.skip(`,"amount":`)
	c.Amount = pricing.Money(s.nano())
	if s.skip(`,"invoiced":`) {
		c.Invoiced = d.time(&s)
	}
	if s.skip(`,"note":`) {
		c.Note = d.word(s.text(), last.Note)
	}
	ok = ok && s.skip(`,"round":`)
	c.Round = s.number()
	return ok && s.skip("}") && len(s.rest) == 0 && !s.bad
}

// simple reports whether all of a line is what a JSON string may hold as it is: no
// escapes, no control characters, ASCII alone.
func simple(line []byte) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for len(line) >= 8 {
		x := binary.LittleEndian.Uint64(line)
		below := (x - ones*' ') &^ x    // the top bit of each byte below a blank, if no byte has its own
		slash := x ^ ones*'\\'          // a byte that is a backslash is now 0
		slash = (slash - ones) &^ slash // and now has its top bit
		if (x|below|slash)&tops != 0 {
			return false
		}
		line = line[8:]
	}
	for _, b := range line {
		if b < ' ' || b == '\\' || b >= 0x80 {
			return false
		}
	}
	return true
}

// word is a text that is kept once, however often it comes. It mostly is what it was
// on the last line.
func (d *decoder) word(text []byte, last string) string {
	if string(text) == last {
		return last
	}
	if len(text) == 0 {
		return ""
	}
	recent := &d.recent[uint8(len(text))*61+text[len(text)-1]*17+text[len(text)/2]]
	if string(text) == *recent {
		return *recent
	}
	word, ok := d.words[string(text)]
	if !ok {
		word = string(text)
		d.words[word] = word
	}
	*recent = word
	return word
}

func (d *decoder) offering(object []byte, o *provider.Offering) bool {
	if len(object) > 0 && string(object) == d.object {
		*o = d.last
		return true
	}
	known, ok := d.offerings[string(object)]
	if !ok {
		if objectOf(object, offeringFields, &known) != nil {
			return false
		}
		d.offerings[string(object)] = known
	}
	d.object, d.last = string(object), known
	*o = known
	return true
}

// time reads an instant of UTC in whole seconds, as in "2026-11-03T10:00:00Z".
func (d *decoder) time(s *scanner) time.Time {
	const form = `"2006-01-02T15:04:05Z"`
	if len(s.rest) < len(form) || s.rest[0] != '"' || s.rest[11] != 'T' || s.rest[14] != ':' || s.rest[17] != ':' || s.rest[20] != 'Z' || s.rest[21] != '"' {
		s.bad = true
		return time.Time{}
	}
	date := s.rest[1:11]
	if string(date) != d.date {
		at, err := time.Parse(time.DateOnly, string(date))
		if err != nil {
			s.bad = true
			return time.Time{}
		}
		d.date, d.midnight = string(date), at.Unix()
	}
	two := func(at int, below byte) int64 {
		high, low := s.rest[at]-'0', s.rest[at+1]-'0'
		if high > 9 || low > 9 || 10*high+low >= below {
			s.bad = true
		}
		return int64(10*high + low)
	}
	seconds := d.midnight + 3600*two(12, 24) + 60*two(15, 60) + two(18, 60)
	s.rest = s.rest[len(form):]
	return time.Unix(seconds, 0).UTC()
}

// scanner takes a line apart from its left end.
type scanner struct {
	rest []byte
	bad  bool // something was not as it must be
}

// skip takes a word off, if it comes next.
func (s *scanner) skip(word string) bool {
	if len(s.rest) < len(word) || string(s.rest[:len(word)]) != word {
		return false
	}
	s.rest = s.rest[len(word):]
	return true
}

// text takes a JSON string off a simple line, where it is the same in Go.
func (s *scanner) text() []byte {
	if len(s.rest) == 0 || s.rest[0] != '"' {
		s.bad = true
		return nil
	}
	end := bytes.IndexByte(s.rest[1:], '"')
	if end < 0 {
		s.bad = true
		return nil
	}
	text := s.rest[1 : 1+end]
	s.rest = s.rest[end+2:]
	return text
}

// object takes a JSON object off that has no other inside.
func (s *scanner) object() []byte {
	end := bytes.IndexByte(s.rest, '}')
	if end < 0 || s.rest[0] != '{' {
		s.bad = true
		return nil
	}
	object := s.rest[:end+1]
	s.rest = s.rest[end+1:]
	return object
}

// number takes a whole number of at most 18 digits off.
func (s *scanner) number() int64 {
	negative := s.skip("-")
	n, digits := int64(0), 0
	for digits < len(s.rest) && s.rest[digits]-'0' <= 9 {
		n = 10*n + int64(s.rest[digits]-'0')
		if digits++; digits > 18 {
			s.bad = true
			return 0
		}
	}
	if digits == 0 || digits > 1 && s.rest[0] == '0' {
		s.bad = true
		return 0
	}
	s.rest = s.rest[digits:]
	if negative {
		return -n
	}
	return n
}

// nano takes a decimal number in quotes off, with at most nine digits on either
// side of the point.
func (s *scanner) nano() int64 {
	text := s.text()
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	n, digits, decimals := int64(0), 0, -1
	for _, b := range text {
		switch {
		case b-'0' <= 9 && decimals < 0:
			n = 10*n + int64(b-'0')
			digits++
		case b-'0' <= 9:
			n = 10*n + int64(b-'0')
			decimals++
		case b == '.' && decimals < 0:
			decimals = 0
		default:
			s.bad = true
			return 0
		}
		if digits > 9 || decimals > 9 {
			s.bad = true
			return 0
		}
	}
	if digits == 0 || decimals == 0 {
		s.bad = true
		return 0
	}
	for decimals = max(0, decimals); decimals < 9; decimals++ {
		n *= 10
	}
	if negative {
		return -n
	}
	return n
}

func (s *scanner) bool() bool {
	if s.skip("true") {
		return true
	}
	s.bad = s.bad || !s.skip("false")
	return false
}
