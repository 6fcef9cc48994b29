package document

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text is what a file says, without the byte order mark that some editors write. What is no
// text in UTF-8, or in JSON names half a character, is an *Error, with the field of JSON that
// it lies in: two such names would be read as the same.
func Text(file string, data []byte) ([]byte, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	at, reason := broken(data), "is no text in UTF-8"
	if at < 0 && isJSON(data) {
		at, reason = half(data), "holds half of a surrogate pair, which is no character"
	}
	if at < 0 {
		return data, nil
	}
	line := bytes.Count(data[:at], []byte{'\n'})
	column := at - bytes.LastIndexByte(data[:at], '\n')
	return nil, &Error{File: file, Line: 1 + line, Column: column, Path: pathAt(data, at), Reason: reason}
}

// broken is the place of the first byte that belongs to no character; -1: there is none.
func broken(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for at := 0; ; {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size <= 1 {
			return at
		}
		at += size
	}
}

func isJSON(data []byte) bool {
	start := bytes.TrimSpace(data)
	return len(start) > 0 && (start[0] == '{' || start[0] == '[')
}

// half is the place of the first escape that is one half of a surrogate pair without the
// other; -1: there is none.
func half(data []byte) int {
	unit := func(at int) (v uint64, ok bool) {
		if at+6 > len(data) || data[at] != '\\' || data[at+1] != 'u' {
			return 0, false
		}
		v, err := strconv.ParseUint(string(data[at+2:at+6]), 16, 32)
		return v, err == nil
	}
	for at := 0; at < len(data); at++ {
		if data[at] != '\\' {
			continue
		}
		v, ok := unit(at)
		if !ok {
			at++ // whatever is escaped
			continue
		}
		if v >= 0xd800 && v < 0xe000 {
			if low, ok := unit(at + 6); v >= 0xdc00 || !ok || low < 0xdc00 || low >= 0xe000 {
				return at
			}
			at += 6
		}
		at += 5
	}
	return -1
}

// pathAt is the path of the JSON value that a place lies in, as far as it can be read: the name
// of a field is that of the object around it.
func pathAt(data []byte, place int) string {
	type level struct {
		name  string
		index int
		list  bool
		named bool // of an object: its value comes next
	}
	var levels []level
	path := func() string {
		var b strings.Builder
		for _, l := range levels {
			switch {
			case l.list:
				b.WriteString("[" + strconv.Itoa(l.index) + "]")
			case l.named && b.Len() > 0:
				b.WriteString("." + l.name)
			case l.named:
				b.WriteString(l.name)
			}
		}
		return b.String()
	}
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	for {
		token, err := in.Token()
		if err != nil {
			return ""
		}
		if int(in.InputOffset()) > place {
			return path()
		}
		closes := token == json.Delim('}') || token == json.Delim(']')
		if closes {
			levels = levels[:len(levels)-1]
		}
		if opens := token == json.Delim('{') || token == json.Delim('['); opens {
			levels = append(levels, level{list: token == json.Delim('[')})
			continue
		}
		if len(levels) == 0 {
			continue
		}
		switch l := &levels[len(levels)-1]; {
		case l.list:
			l.index++
		case l.named:
			l.named = false
		default:
			l.name, _ = token.(string)
			l.named = true
		}
	}
}
