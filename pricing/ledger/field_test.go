package ledger

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// fullLine is a charge in whose line every field stands, by its name.
func fullLine(t *testing.T) map[string]json.RawMessage {
	t.Helper()
	from := time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC)
	c := Charge{
		ID: "a", Kind: Correction, Item: Disk, Instance: "vol-1", Run: 1, Account: ToJob, Job: "j", Team: "t", Project: "p", Share: 1, Of: 1,
		Offering: provider.Offering{Cloud: "aws", Account: "1", Region: "us-east-1", Zone: "use1-az1", Type: "gp3", Market: provider.OnDemand, Reservation: "r"},
		From:     from, To: from.Add(time.Hour), Rate: 1, Per: time.Hour, Public: 2, Known: true, Prepaid: true, List: 2, Quantity: 1, Amount: 1,
		Invoiced: from, Note: "n", Round: 1,
	}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	c.Price = 1 // of a purchase only; here for its place in the line
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var line map[string]json.RawMessage
	if err := json.Unmarshal(text, &line); err != nil {
		t.Fatal(err)
	}
	if len(line) != len(chargeFields) {
		t.Fatalf("%d fields in a full line, want the %d that are read", len(line), len(chargeFields))
	}
	return line
}

// lineWith is the full line with a field's value replaced; "" leaves the field out.
func lineWith(t *testing.T, name, value string) []byte {
	line := fullLine(t)
	delete(line, "price")
	if line[name] = json.RawMessage(value); value == "" {
		delete(line, name)
	}
	text, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// refused reads a line as a file does, and wants an error that begins with the field.
func refused(t *testing.T, what string, line []byte, field string) {
	t.Helper()
	var c Charge
	err := newDecoder().charge(line, &c)
	if err == nil || !strings.HasPrefix(err.Error(), field+": ") || strings.Contains(err.Error(), "json:") {
		t.Errorf("%s: got %v, want an error of field %s\n%s", what, err, field, line)
	}
}

func TestEachFieldOfALineIsRefusedByItsName(t *testing.T) {
	var c Charge
	if err := newDecoder().charge(lineWith(t, "note", `"n"`), &c); err != nil {
		t.Fatalf("the line as it is: %v", err)
	}
	for _, f := range chargeFields {
		kinds := []string{`null`, `[]`, `[1]`, `{"a":1}`, `1e400`, `1.5`, `NaN`}
		first := fullLine(t)[f.name][0]
		if first != '"' {
			kinds = append(kinds, `"x"`)
		}
		if first != 't' {
			kinds = append(kinds, `true`)
		}
		if first != '{' && first != '"' {
			kinds = append(kinds, `{}`)
		}
		for _, value := range kinds {
			if value == "NaN" { // is no JSON, and has no field
				var c Charge
				text := bytes.Replace(lineWith(t, f.name, `"@"`), []byte(`"@"`), []byte(value), 1)
				if err := newDecoder().charge(text, &c); err == nil {
					t.Errorf("%s is NaN: read", f.name)
				}
				continue
			}
			text := bytes.Replace(lineWith(t, f.name, `"@"`), []byte(`"@"`), []byte(value), 1)
			field := f.name
			if f.name == "offering" && value[0] == '{' {
				field = "offering.a"
				if value == "{}" {
					field = "offering.cloud"
				}
			}
			refused(t, f.name+" is "+value, text, field)
		}
		if f.must {
			refused(t, f.name+" is absent", lineWith(t, f.name, ""), f.name)
		}
		whole := lineWith(t, f.name, string(fullLine(t)[f.name]))
		twice := append(bytes.TrimSuffix(whole, []byte("}")), `,"`+f.name+`":`+string(fullLine(t)[f.name])+"}"...)
		refused(t, f.name+" twice", twice, f.name)
	}
	refused(t, "an unknown field", lineWith(t, "colour", `"red"`), "colour")
	refused(t, "another case", lineWith(t, "ID", `"a"`), "ID")
	for _, f := range offeringFields {
		object := func(value string) []byte {
			var o map[string]json.RawMessage
			if err := json.Unmarshal(fullLine(t)["offering"], &o); err != nil {
				t.Fatal(err)
			}
			if o[f.name] = json.RawMessage(value); value == "" {
				delete(o, f.name)
			}
			text, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			return lineWith(t, "offering", string(text))
		}
		for _, value := range []string{`null`, `7`, `true`, `[]`, `{}`} {
			refused(t, "offering."+f.name+" is "+value, object(value), "offering."+f.name)
		}
		if f.must {
			refused(t, "offering."+f.name+" is absent", object(""), "offering."+f.name)
		}
	}
	refused(t, "a market that is none", lineWith(t, "offering", `{"cloud":"aws","region":"","zone":"","type":"gp3","market":"spto"}`), "offering.market")
}

func TestValuesThatCannotBeAreRefusedByTheirField(t *testing.T) {
	for _, c := range []struct{ field, value string }{
		{"run", `-1`}, {"run", `0`}, {"run", `99999999999`}, {"of", `-1`}, {"of", `99999999999`}, {"share", `99999999999`}, {"round", `-1`}, {"per", `-1`}, {"quantity", `-1`},
		{"run", `1e2`}, {"round", `99999999999999999999`},
		{"rate", `"-1"`}, {"public", `"-1"`}, {"list", `"-1"`}, {"price", `"-1"`}, {"price", `"1"`},
		{"amount", `"NaN"`}, {"amount", `""`}, {"amount", `"1e3"`}, {"amount", `"0x1p3"`}, {"amount", `"1,000"`}, {"amount", `"1.0000000001"`}, {"amount", `"99999999999"`}, {"rate", `"Inf"`}, {"list", `" 1"`}, {"amount", `12.5`},
		{"from", `"yesterday"`}, {"from", `"2026-13-01T00:00:00Z"`}, {"from", `"1926-11-03T10:00:00Z"`}, {"to", `"2026-11-03 11:00"`}, {"to", `"2026-11-03T10:00:00Z"`}, {"invoiced", `"9999-01-01T00:00:00Z"`}, {"invoiced", `""`},
		{"id", `""`}, {"kind", `"gift"`}, {"item", `"toaster"`}, {"instance", `""`}, {"account", `"petty cash"`}, {"job", `""`},
	} {
		refused(t, c.field+" "+c.value, lineWith(t, c.field, c.value), c.field)
	}
}

func TestWhatIsNoLineIsRefused(t *testing.T) {
	for _, text := range []string{"", "[]", "null", "7", `"a"`, "{", `{"id"`, `{"id":`, `{"id":"a"`, `{"id":"a"}]`, "\x00\x01", `{"id":"` + "\xff" + `"}`, "hello", string(lineWith(t, "note", `"n"`)) + "{}"} {
		var c Charge
		if err := newDecoder().charge([]byte(text), &c); err == nil || strings.ContainsAny(err.Error(), "\n") {
			t.Errorf("%q: got %v, want a refusal of one line", text, err)
		}
	}
}
