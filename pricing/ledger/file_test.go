package ledger_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// read reads a ledger from text.
func read(text string) ([]ledger.Charge, error) {
	var charges []ledger.Charge
	err := ledger.NewFile(strings.NewReader(text), int64(len(text))).Each(func() func(*ledger.Charge) {
		charges = nil
		return func(c *ledger.Charge) { charges = append(charges, *c) }
	})
	return charges, err
}

func encoded(t testing.TB, charges ...ledger.Charge) string {
	t.Helper()
	var b bytes.Buffer
	if err := ledger.Encode(&b, charges...); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// varied are charges in which every field is set somewhere.
func varied(t testing.TB) []ledger.Charge {
	m := ledger.NewMeter(history(t, quoted(awsSpot, day, "8"), quoted(awsSpot, clock(1, 30, 0), "9.123456789"), quoted(awsOnDemand, day, "20")), ledger.Rules{
		Discounts: []ledger.Discount{{Cloud: "aws", Factor: 910_000_000}}})
	shares := []ledger.Share{{Job: "a", Team: "Vision", Project: "clip", Accelerators: 2}, {Job: `b "2" ü`, Accelerators: 1}}
	charges := m.Settle(life("i-7", awsSpot, clock(1, 0, 0).Add(123456789), clock(4, 0, 0), provider.Interrupted), 8, shares, clock(5, 0, 0), 7)
	charges = append(charges, m.Transfer(ledger.Move{Out: ledger.ToJob, Into: ledger.ToWaste, Job: "a", From: clock(2, 0, 0), To: clock(3, 0, 0), Round: 9, Note: "lost"})...)
	charges = append(charges, m.Hold(ledger.Holding{Item: ledger.Disk, ID: "vol-1", Offering: awsOnDemand, Size: 500, Started: clock(1, 0, 0), Unit: 80_000_000, Known: true}, []ledger.Share{{Job: "a", Accelerators: 1}}, clock(9, 0, 0), 8)...)
	block := ledger.Capacity{ID: "cb-1", Item: ledger.Block, Offering: awsOnDemand, Machines: 2, From: clock(1, 0, 0), Until: clock(6, 0, 0), Upfront: usd(t, "100"), Known: true}
	charges = append(charges, block.Purchases(day, clock(20, 0, 0), 3)...)
	charges = append(charges, m.SettleCapacity(block, nil, clock(3, 0, 0), 3)...)
	credit, err := ledger.Grant{Source: "credit-1", Offering: awsOnDemand, Amount: usd(t, "5"), From: day, To: clock(1, 0, 0), Came: clock(2, 0, 0), Note: "a gift"}.Credit(3)
	if err != nil {
		t.Fatal(err)
	}
	return append(charges, credit)
}

func TestFileReadsWhatEncodeWrites(t *testing.T) {
	want := varied(t)
	text := encoded(t, want...)
	got, err := read(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApproxTime(0)); diff != "" {
		t.Error(diff)
	}
	// Blanks, empty lines, ends of lines of other systems and no end at all mean nothing.
	got, err = read(strings.TrimSpace(strings.NewReplacer(`,"`, `, "`, "\n", "\r\n \n").Replace(text)))
	if diff := cmp.Diff(want, got, cmpopts.EquateApproxTime(0)); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestFileCountsOnceWhatIsGivenTwice(t *testing.T) {
	want := varied(t)
	text := encoded(t, want...)
	got, err := read(text + text)
	if diff := cmp.Diff(want, got, cmpopts.EquateApproxTime(0)); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestFileNamesTheLineThatCannotBe(t *testing.T) {
	charges := sound(t)
	other := charges[0]
	other.Amount++
	alone := charges[0]
	alone.ID, alone.From, alone.To = "again", alone.From.Add(time.Minute), alone.To.Add(time.Minute)
	text := encoded(t, charges...)
	for _, c := range []struct {
		name, text, want string
		is               error
	}{
		{"another charge of the same id", text + encoded(t, other), "line 3: charge aws/i-7/1/", ledger.ErrConflict},
		{"no charge", text + "\n{}\n", "line 4: id: is missing", nil},
		{"cut", text[:len(text)-9], "line 2: the line ends within a charge", nil},
		{"held twice", text + encoded(t, alone), "10 of 8 accelerators are held", ledger.ErrUnbalanced},
		{"another field", `{"id":"a","color":"red"}`, `line 1: color: unknown field`, nil},
		{"before time", strings.ReplaceAll(text, "2026-", "1926-"), "line 1: from: 1926-11-03", nil},
		{"too much in all", strings.Repeat(" ", 3) + `{"id":"a","kind":"correction","instance":"i","run":1,"offering":{"cloud":"aws","region":"","zone":"","type":"x","market":"spot"},"from":"2026-11-03T10:00:00Z","to":"2026-11-03T11:00:00Z","account":"overhead","share":0,"of":1,"rate":"0","known":true,"list":"0","amount":"9000000000","round":0}
{"id":"b","kind":"correction","instance":"i","run":1,"offering":{"cloud":"aws","region":"","zone":"","type":"x","market":"spot"},"from":"2026-11-03T10:00:00Z","to":"2026-11-03T11:00:00Z","account":"overhead","share":0,"of":1,"rate":"0","known":true,"list":"0","amount":"9000000000","round":0}`, "line 2: instance i of aws: charges do not add up: charge b: with its 9000000000 USD the amounts sum to more than can be counted", ledger.ErrUnbalanced},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
