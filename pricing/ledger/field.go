package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// lineField is a field of a JSON object that is read into a T.
type lineField[T any] struct {
	name string
	must bool // Encode always writes it
	read func(raw []byte, into *T) error
}

// chargeFields are those of a line, in the order in which Encode writes them.
var chargeFields = []lineField[Charge]{
	{"id", true, func(raw []byte, c *Charge) error { return textOf(raw, &c.ID) }},
	{"kind", true, func(raw []byte, c *Charge) error { return textOf(raw, &c.Kind) }},
	{"item", false, func(raw []byte, c *Charge) error { return textOf(raw, &c.Item) }},
	{"instance", true, func(raw []byte, c *Charge) error { return textOf(raw, &c.Instance) }},
	{"run", true, func(raw []byte, c *Charge) error { return wholeOf(raw, &c.Run) }},
	{"offering", true, func(raw []byte, c *Charge) error { return objectOf(raw, offeringFields, &c.Offering) }},
	{"from", true, func(raw []byte, c *Charge) error { return timeOf(raw, &c.From) }},
	{"to", true, func(raw []byte, c *Charge) error { return timeOf(raw, &c.To) }},
	{"account", true, func(raw []byte, c *Charge) error { return textOf(raw, &c.Account) }},
	{"job", false, func(raw []byte, c *Charge) error { return textOf(raw, &c.Job) }},
	{"team", false, func(raw []byte, c *Charge) error { return textOf(raw, &c.Team) }},
	{"project", false, func(raw []byte, c *Charge) error { return textOf(raw, &c.Project) }},
	{"share", true, func(raw []byte, c *Charge) error { return wholeOf(raw, &c.Share) }},
	{"of", true, func(raw []byte, c *Charge) error { return wholeOf(raw, &c.Of) }},
	{"rate", true, func(raw []byte, c *Charge) error { return moneyOf(raw, &c.Rate) }},
	{"per", false, func(raw []byte, c *Charge) error { return wholeOf(raw, &c.Per) }},
	{"public", false, func(raw []byte, c *Charge) error { return moneyOf(raw, &c.Public) }},
	{"known", true, func(raw []byte, c *Charge) error { return flagOf(raw, &c.Known) }},
	{"prepaid", false, func(raw []byte, c *Charge) error { return flagOf(raw, &c.Prepaid) }},
	{"list", true, func(raw []byte, c *Charge) error { return moneyOf(raw, &c.List) }},
	{"quantity", false, func(raw []byte, c *Charge) error { return wholeOf(raw, &c.Quantity) }},
	{"price", false, func(raw []byte, c *Charge) error { return moneyOf(raw, &c.Price) }},
	{"amount", true, func(raw []byte, c *Charge) error { return moneyOf(raw, &c.Amount) }},
	{"invoiced", false, func(raw []byte, c *Charge) error { return timeOf(raw, &c.Invoiced) }},
	{"note", false, func(raw []byte, c *Charge) error { return textOf(raw, &c.Note) }},
	{"round", true, func(raw []byte, c *Charge) error { return wholeOf(raw, &c.Round) }},
}

var offeringFields = []lineField[provider.Offering]{
	{"cloud", true, func(raw []byte, o *provider.Offering) error { return textOf(raw, &o.Cloud) }},
	{"account", false, func(raw []byte, o *provider.Offering) error { return textOf(raw, &o.Account) }},
	{"region", true, func(raw []byte, o *provider.Offering) error { return textOf(raw, &o.Region) }},
	{"zone", true, func(raw []byte, o *provider.Offering) error { return textOf(raw, &o.Zone) }},
	{"type", true, func(raw []byte, o *provider.Offering) error { return textOf(raw, &o.Type) }},
	{"market", true, func(raw []byte, o *provider.Offering) (err error) {
		var word string
		if err = textOf(raw, &word); err == nil {
			if o.Market, err = provider.ParseBooked(word); err != nil {
				err = errors.New(short(raw) + ": want on-demand, spot, reserved, queued or none")
			}
		}
		return err
	}},
	{"reservation", false, func(raw []byte, o *provider.Offering) error { return textOf(raw, &o.Reservation) }},
}

// fieldError is what is wrong with a field, by its path: "offering.market".
type fieldError struct{ path, reason string }

func (e *fieldError) Error() string { return e.path + ": " + e.reason }

// objectOf reads an object of which each field is known, is there once, and is there
// if it must. The error is a *fieldError, or about the text as a whole.
func objectOf[T any](text []byte, fields []lineField[T], into *T) error {
	if len(text) > 0 && text[0] != '{' {
		return errors.New(short(text) + ": want an object")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if _, err := decoder.Token(); err != nil {
		return unread(err)
	}
	var seen uint64 // by place in fields, which are fewer than 64
	for decoder.More() {
		token, err := decoder.Token()
		name, _ := token.(string)
		var raw json.RawMessage
		if err == nil {
			err = decoder.Decode(&raw)
		}
		if err != nil {
			return unread(err)
		}
		i := slices.IndexFunc(fields, func(f lineField[T]) bool { return f.name == name })
		switch {
		case i < 0:
			return &fieldError{name, "unknown field"}
		case seen&(1<<i) != 0:
			return &fieldError{name, "is given twice"}
		}
		seen |= 1 << i
		if err := fields[i].read(raw, into); err != nil {
			var inner *fieldError
			if errors.As(err, &inner) {
				return &fieldError{name + "." + inner.path, inner.reason}
			}
			return &fieldError{name, err.Error()}
		}
	}
	if _, err := decoder.Token(); err != nil { // the brace
		return unread(err)
	}
	if len(bytes.TrimSpace(text[decoder.InputOffset():])) > 0 {
		return errors.New("more than one charge on a line")
	}
	for i, f := range fields {
		if f.must && seen&(1<<i) == 0 {
			return &fieldError{f.name, "is missing"}
		}
	}
	return nil
}

// unread says of an error of the decoder what a reader of the file can use.
func unread(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the line ends within a charge")
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("is no JSON: %v", syntax)
	}
	return err
}

// short shows a value in an error.
func short(raw []byte) string {
	if most := 60; utf8.RuneCount(raw) > most {
		return string([]rune(string(raw))[:most]) + "…"
	}
	return string(raw)
}

func textOf[T ~string](raw []byte, into *T) error {
	var text string
	if raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return errors.New(short(raw) + ": want a text")
	}
	if !utf8.Valid(raw) {
		return errors.New("is no text in UTF-8")
	}
	if strings.ContainsRune(text, utf8.RuneError) && !bytes.ContainsRune(raw, utf8.RuneError) && !bytes.Contains(bytes.ToLower(raw), []byte(`\ufffd`)) {
		return errors.New(short(raw) + ": holds half of a surrogate pair, which is no character") // which the decoder made that sign
	}
	*into = T(text)
	return nil
}

func wholeOf[T ~int | ~int64](raw []byte, into *T) error {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || int64(T(n)) != n {
		return errors.New(short(raw) + ": want a whole number")
	}
	*into = T(n)
	return nil
}

func flagOf(raw []byte, into *bool) error {
	if raw[0] != 't' && raw[0] != 'f' {
		return errors.New(short(raw) + ": want true or false")
	}
	*into = raw[0] == 't'
	return nil
}

// moneyOf reads an amount or a rate in US dollars, which JSON carries as text.
func moneyOf[T ~int64](raw []byte, into *T) error {
	var text string
	if raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return errors.New(short(raw) + `: want US dollars as a decimal number in quotes, such as "12.5"`)
	}
	amount, err := pricing.ParseMoney(text)
	if err != nil {
		return err
	}
	*into = T(amount)
	return nil
}

func timeOf(raw []byte, into *time.Time) error {
	if raw[0] != '"' || into.UnmarshalJSON(raw) != nil {
		return errors.New(short(raw) + `: want a time such as "2026-11-03T10:00:00Z"`)
	}
	return nil
}
