package ledger

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
	"pgregory.net/rapid"
)

// drawPlain draws a charge as it mostly is: its line needs no escapes, and its times,
// numbers and amounts are as short as the short way takes them.
func drawPlain(t *rapid.T) Charge {
	text := func(label string) string {
		return rapid.SampledFrom([]string{"", "a", "train-7", "i-0abc/disk-gp3", "a}b", "a b"}).Draw(t, label)
	}
	word := func(label string) string { // of an offering, whose end the short way finds by its brace
		return rapid.SampledFrom([]string{"", "aws", "use1-az1", "p4d.24xlarge"}).Draw(t, label)
	}
	money := func(label string) int64 {
		return rapid.OneOf(rapid.Int64Range(-1e12, 1e12), rapid.SampledFrom([]int64{0, 1, -1, 1e9, -1e9, 999_999_999_999_999_999, -999_999_999_999_999_999})).Draw(t, label)
	}
	number := func(label string) int64 {
		return rapid.Int64Range(-999_999_999_999_999_999, 999_999_999_999_999_999).Draw(t, label)
	}
	at := func(label string) time.Time { return time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, label), 0).UTC() }
	c := Charge{
		ID: text("id"), Kind: Kind(text("kind")), Item: Item(text("item")), Instance: provider.InstanceID(text("instance")), Run: int(rapid.Int32().Draw(t, "run")),
		Offering: provider.Offering{Cloud: word("cloud"), Account: word("owner"), Region: word("region"), Zone: word("zone"), Type: word("type"), Reservation: word("reservation"),
			Market: rapid.SampledFrom([]provider.Market{provider.OnDemand, provider.Spot, provider.Reserved, provider.NoMarket}).Draw(t, "market")},
		From: at("from"), To: at("to"), Account: Account(text("account")), Job: text("job"), Team: text("team"), Project: text("project"),
		Share: int(number("share")), Of: int(number("of")), Rate: pricing.Rate(money("rate")), Per: time.Duration(number("per")),
		Public: pricing.Rate(money("public")), Known: rapid.Bool().Draw(t, "known"), Prepaid: rapid.Bool().Draw(t, "prepaid"), List: pricing.Rate(money("list")),
		Quantity: number("quantity"), Price: pricing.Money(money("price")), Amount: pricing.Money(money("amount")), Note: text("note"), Round: number("round"),
	}
	if rapid.Bool().Draw(t, "has an invoice") {
		c.Invoiced = at("invoiced")
	}
	return c
}

// drawCharge draws any charge, whether it can be or not.
func drawCharge(t *rapid.T) Charge {
	text := func(label string) string {
		return rapid.SampledFrom([]string{"", "a", "train-7", `"`, `\`, "ü", "a}b", "\x01"}).Draw(t, label)
	}
	money := func(label string) int64 {
		return rapid.OneOf(rapid.Int64Range(-1e18, 1e18), rapid.Int64(), rapid.SampledFrom([]int64{0, 1, -1, 1e9, 999_999_999_999_999_999})).Draw(t, label)
	}
	at := func(label string) time.Time {
		return time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, label), rapid.SampledFrom([]int64{0, 0, 0, 1, 500_000_000}).Draw(t, label+" ns")).UTC()
	}
	return Charge{
		ID: text("id"), Kind: Kind(text("kind")), Item: Item(text("item")), Instance: provider.InstanceID(text("instance")), Run: int(rapid.Int32().Draw(t, "run")),
		Offering: provider.Offering{Cloud: text("cloud"), Account: text("owner"), Region: text("region"), Zone: text("zone"), Type: text("type"),
			Market: rapid.SampledFrom([]provider.Market{provider.OnDemand, provider.Spot, provider.Reserved, provider.NoMarket}).Draw(t, "market"), Reservation: text("reservation")},
		From: at("from"), To: at("to"), Account: Account(text("account")), Job: text("job"), Team: text("team"), Project: text("project"),
		Share: rapid.Int().Draw(t, "share"), Of: rapid.Int().Draw(t, "of"), Rate: pricing.Rate(money("rate")), Per: time.Duration(rapid.Int64().Draw(t, "per")),
		Public: pricing.Rate(money("public")), Known: rapid.Bool().Draw(t, "known"), Prepaid: rapid.Bool().Draw(t, "prepaid"), List: pricing.Rate(money("list")),
		Quantity: rapid.Int64().Draw(t, "quantity"), Price: pricing.Money(money("price")), Amount: pricing.Money(money("amount")), Note: text("note"), Round: rapid.Int64().Draw(t, "round"),
	}
}

func TestPlainLinesAreReadAsAnyOthers(t *testing.T) {
	d := newDecoder()
	rapid.Check(t, func(t *rapid.T) {
		read := func(c Charge) (line []byte, short bool) {
			var b bytes.Buffer
			if err := Encode(&b, c); err != nil {
				t.Fatal(err)
			}
			line = bytes.TrimSuffix(b.Bytes(), []byte("\n"))
			return line, agree(t, d, line)
		}
		if line, short := read(drawPlain(t)); !short {
			t.Errorf("%s: is not read in the short way", line)
		}
		read(drawCharge(t))
	})
}

// agree checks that what is read in the short way is what is read in the long one.
func agree(t interface {
	Errorf(format string, args ...any)
}, d *decoder, line []byte) (short bool) {
	var got, want Charge
	if !d.plain(line, &got) {
		return false
	}
	if err := decodeAny(line, &want); err != nil {
		t.Errorf("%s: read, though it is refused: %v", line, err)
		return true
	}
	if diff := cmp.Diff(want, got); diff != "" || got != want {
		t.Errorf("%s:\n%s", line, diff)
	}
	return true
}

func TestUsualLinesAreReadInTheShortWay(t *testing.T) {
	line := []byte(`{"id":"aws/i-1/1/2026-01-01T00:10:00Z/usage/job/train-0","kind":"usage","instance":"i-1","run":1,"offering":{"cloud":"aws","region":"us-east-1","zone":"use1-az1","type":"p4d.24xlarge","market":"on-demand"},"from":"2026-01-01T00:10:00Z","to":"2026-01-01T01:00:00Z","account":"job","job":"train-0","team":"team-0","share":4,"of":8,"rate":"21.957642","known":true,"list":"21.957642","amount":"9.1490175","round":1}`)
	if !agree(t, newDecoder(), line) {
		t.Error("it is not")
	}
	for _, change := range [][2]string{ // of these, encoding/json must say what they are
		{`"aws"`, `"a\u0077s"`}, {`"run":1`, `"run":01`}, {`"run":1`, `"run":1e0`}, {`"run":1,`, `"run":1,,`}, {`T01:`, `T24:`}, {`"2026-01-01T00`, `"2026-02-30T00`},
		{`"9.1490175"`, `"9."`}, {`"9.1490175"`, `".5"`}, {`"9.1490175"`, `"1.0000000001"`}, {`"9.1490175"`, `"1234567890.5"`}, {`"9.1490175"`, `"-"`},
		{`true`, `True`}, {`"round":1}`, `"round":1}}`}, {`"round":1}`, `"round":1} `}, {`"round":1}`, `"round":1,"round":2}`}, {"job/train-0", "job/\xff"}, {`"share":4`, `"share":-`},
	} {
		changed := bytes.Replace(line, []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(changed, line) || agree(t, newDecoder(), changed) {
			t.Errorf("%s for %s: read in the short way", change[1], change[0])
		}
	}
}

func FuzzPlainLines(f *testing.F) {
	f.Add([]byte(`{"id":"a","kind":"usage","instance":"i-1","run":1,"offering":{"cloud":"aws","region":"r","zone":"z","type":"t","market":"spot"},"from":"2026-01-01T00:10:00Z","to":"2026-01-01T01:00:00Z","account":"job","job":"j","share":4,"of":8,"rate":"21.957642","known":true,"list":"21","amount":"-9.1490175","round":1}`))
	f.Fuzz(func(t *testing.T, line []byte) { agree(t, newDecoder(), line) })
}
