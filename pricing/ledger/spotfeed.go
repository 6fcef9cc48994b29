package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// feedFields are the columns of AWS's spot instance data feed.
var feedFields = []string{"Timestamp", "UsageType", "Operation", "InstanceID", "MyBidID", "MyMaxPrice", "MarketPrice", "Charge", "Version"}

// feedSlack is how much later than the start of a machine a feed's line may say.
const feedSlack = 2 * time.Minute

// IsSpotFeed reports whether a file that begins so is a spot feed.
func IsSpotFeed(head []byte) bool {
	return strings.HasPrefix(strings.TrimSpace(string(head)), "#Version")
}

// ReadSpotFeed reads AWS's spot instance data feed: a line for each instance-hour,
// with what was charged for it (A8). The price of a line is MarketPrice, its amount
// Charge; MyMaxPrice is never money (A5). Errors name the line and the field.
func ReadSpotFeed(r io.Reader) ([]Fact, error) {
	lines := bufio.NewScanner(r)
	var facts []Fact
	seen := map[string]bool{} // a line is one instance-hour: there twice, it is the same
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimRight(lines.Text(), "\r")
		if strings.TrimSpace(text) == "" || strings.HasPrefix(text, "#") {
			if fields, ok := strings.CutPrefix(text, "#Fields:"); ok && !slices.Equal(strings.Fields(fields), feedFields) {
				return nil, fmt.Errorf("line %d: #Fields: want %s", n, strings.Join(feedFields, " "))
			}
			continue
		}
		if seen[text] {
			continue
		}
		seen[text] = true
		f, err := readFeedLine(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		f.Line = n
		facts = append(facts, f)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(facts) == 0 {
		return nil, errors.New("no line of use in it")
	}
	return facts, nil
}

func readFeedLine(text string) (Fact, error) {
	cells := strings.Split(text, "\t")
	if len(cells) != len(feedFields) {
		return Fact{}, fmt.Errorf("%d columns: want %d, separated by tabs", len(cells), len(feedFields))
	}
	for i, cell := range cells {
		if !utf8.ValidString(cell) {
			return Fact{}, fmt.Errorf("%s: is no text in UTF-8", feedFields[i])
		}
	}
	at, err := time.Parse("2006-01-02 15:04:05 MST", cells[0])
	if err != nil || at.Location() != time.UTC && at.Location().String() != "UTC" {
		return Fact{}, fmt.Errorf("%s: %q: want a time such as 2026-11-03 19:09:02 UTC", feedFields[0], cells[0])
	}
	_, kind, ok := strings.Cut(cells[1], "SpotUsage:")
	if !ok {
		return Fact{}, fmt.Errorf("UsageType: %q: want SpotUsage and a type", cells[1])
	}
	if cells[3] == "" {
		return Fact{}, fmt.Errorf("%s: is missing", feedFields[3])
	}
	amount, currency, _ := strings.Cut(cells[7], " ")
	if currency != "USD" {
		return Fact{}, fmt.Errorf("Charge: %q: want USD; other currencies need a rate", cells[7])
	}
	money, err := ParseBilled(amount)
	if err != nil {
		return Fact{}, fmt.Errorf("Charge: %w", err)
	}
	if money < 0 {
		return Fact{}, fmt.Errorf("Charge: %q: is negative: a feed takes nothing back", cells[7])
	}
	return Fact{
		Cloud: "aws", Instance: provider.InstanceID(cells[3]), From: at.UTC(), To: at.UTC().Add(time.Hour), Amount: money,
		Offering: provider.Offering{Cloud: "aws", Type: kind, Market: provider.Spot},
		Says:     "spot feed, market price " + cells[6], Slack: feedSlack,
	}, nil
}

// billed is how bills write numbers: decimal, with a point, and maybe an exponent.
var billed = regexp.MustCompile(`^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?0*[0-9]{1,2})?$`)

// ParseBilled reads an amount of a bill, whose digits may go beyond the nano dollar:
// it is rounded half to even. Exponents are read, as some exports write them; signs
// between digits, other bases and what is no number are not.
func ParseBilled(text string) (pricing.Money, error) {
	if text == "" {
		return 0, fmt.Errorf("%w: is empty", pricing.ErrNotMoney)
	}
	exact, ok := new(big.Rat), false
	if len(text) <= 40 && billed.MatchString(text) {
		exact, ok = exact.SetString(text)
	}
	if !ok {
		return 0, fmt.Errorf("%w: %q: want a decimal number", pricing.ErrNotMoney, text)
	}
	exact.Mul(exact, new(big.Rat).SetInt64(int64(pricing.Dollar)))
	quotient, rest := new(big.Int).QuoRem(exact.Num(), exact.Denom(), new(big.Int))
	if twice := rest.Lsh(rest.Abs(rest), 1).Cmp(exact.Denom()); twice > 0 || twice == 0 && quotient.Bit(0) == 1 {
		quotient.Add(quotient, big.NewInt(int64(exact.Sign())))
	}
	if !quotient.IsInt64() {
		return 0, fmt.Errorf("%w: %q: out of range", pricing.ErrNotMoney, text)
	}
	return pricing.Money(quotient.Int64()), nil
}
