package focus

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// What the standard's Unit Format names: data sizes are abbreviated, and the same in singular
// and plural; time has the words of its table; any other noun counts things, and is capitalized.
var (
	sizeUnits = []string{"b", "Kb", "Mb", "Gb", "Tb", "Pb", "Eb", "Kib", "Mib", "Gib", "Tib", "Pib", "Eib",
		"B", "KB", "MB", "GB", "TB", "PB", "EB", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	timeUnits  = []string{"Year", "Month", "Day", "Hour", "Minute", "Second"}
	countUnits = []string{"Count", "Unit", "Request", "Token", "Connection", "Certificate", "Domain", "Core"}

	// otherTimes are what else bills call the units of time.
	otherTimes = map[string]string{
		"y": "Year", "yr": "Year", "mo": "Month", "mth": "Month", "mnth": "Month", "d": "Day", "dy": "Day",
		"h": "Hour", "hr": "Hour", "m": "Minute", "min": "Minute", "s": "Second", "sec": "Second",
	}
	sizeWords = regexp.MustCompile(`(?i)^(kilo|mega|giga|tera|peta|exa|zetta|yotta|kibi|mebi|gibi|tebi|pebi|exbi)?-?(bit|byte)s?$`)
	sizeForms = regexp.MustCompile(`(?i)^([kmgtpezy]i?)?bs?$`)
	quantity  = regexp.MustCompile(`^[1-9][0-9]*$`)
	nouns     = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*( [A-Z][A-Za-z0-9]*)*$`)
)

// number is the grammatical number that a part of a unit has.
type number uint8

const (
	singular number = iota
	plural
)

// unitFault says what of a unit is not as the standard writes it; "" when all is. A unit is
// "Hours", "GB-Hours" or "GB/Hour", with a quantity as "1000 Tokens", or with an interval as
// "Units/3 Months".
func unitFault(text string) string {
	above, below, ratio := strings.Cut(text, "/")
	if fault := leadingNumber(&above); fault != "" {
		return fault
	}
	parts := strings.Split(above, "-")
	if len(parts) > 2 {
		return `want at most two units with "-" between, as in "GB-Hours"`
	}
	for i, part := range parts {
		of := plural
		if i < len(parts)-1 {
			of = singular
		}
		if fault := wordFault(part, of); fault != "" {
			return fault
		}
	}
	if !ratio {
		return ""
	}
	before := below
	if fault := leadingNumber(&below); fault != "" {
		return fault
	}
	if before != below { // an interval
		return wordFault(below, plural)
	}
	return wordFault(below, singular)
}

// leadingNumber cuts the quantity, or interval, off a unit, which is a whole number.
func leadingNumber(text *string) (fault string) {
	first, rest, found := strings.Cut(*text, " ")
	if !found || !strings.ContainsAny(first[:min(1, len(first))], "0123456789+-.") {
		return ""
	}
	if !quantity.MatchString(first) {
		return fmt.Sprintf(`want a whole number in the place of %q, as in "1000 Tokens"`, first)
	}
	*text = rest
	return ""
}

// wordFault says what of one word of a unit is not as the standard writes it.
func wordFault(word string, of number) string {
	in := func(base string) string {
		if of == plural {
			return base + "s"
		}
		return base
	}
	lower := strings.ToLower(word)
	for _, list := range [][]string{timeUnits, countUnits} {
		for _, base := range list {
			if lower == strings.ToLower(base) || lower == strings.ToLower(base)+"s" {
				if word != in(base) {
					return fmt.Sprintf("want %s in the place of %q", in(base), word)
				}
				return ""
			}
		}
	}
	base, isTime := otherTimes[lower]
	if !isTime {
		base, isTime = otherTimes[strings.TrimSuffix(lower, "s")]
	}
	switch {
	case slices.Contains(sizeUnits, word):
		return ""
	case sizeWords.MatchString(word), sizeForms.MatchString(word):
		return fmt.Sprintf("want an abbreviation such as GB or GiB in the place of %q", word)
	case isTime:
		return fmt.Sprintf("want %s in the place of %q", in(base), word)
	case word == "":
		return "a unit is missing"
	case !nouns.MatchString(word):
		return fmt.Sprintf("want a capitalized noun in the place of %q", word)
	}
	return ""
}
