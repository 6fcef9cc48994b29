package store

import (
	"database/sql"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/ledger"
	"github.com/goodfleet/goodfleet/provider"
)

// drawCharge draws any charge that fits its types, whether a meter makes it or not. Of
// most fields few values are drawn, so that lines have them alike.
func drawCharge(t *rapid.T, id string) ledger.Charge {
	words := rapid.SampledFrom([]string{"", "a", "b", "it's", "é\u0000x", strings.Repeat("long", 100)})
	word := func(name string) string { return words.Draw(t, name) }
	numbers := rapid.OneOf(rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MinInt64}), rapid.Int64())
	number := func(name string) int64 { return numbers.Draw(t, name) }
	instant := func(name string) time.Time {
		if rapid.IntRange(0, 4).Draw(t, name+" unset") == 0 {
			return time.Time{}
		}
		return time.Unix(0, rapid.SampledFrom([]int64{0, 1, -1, 1_780_000_000_000_000_000, 9_214_646_400_000_000_000}).Draw(t, name)).UTC()
	}
	return ledger.Charge{
		ID: id, Kind: ledger.Kind(word("kind")), Item: ledger.Item(word("item")), Instance: provider.InstanceID(word("instance")),
		Run: int(rapid.Int32().Draw(t, "run")),
		Offering: provider.Offering{
			Cloud: word("cloud"), Account: word("account of it"), Region: word("region"), Zone: word("zone"), Type: word("type"),
			Market: rapid.SampledFrom([]provider.Market{provider.OnDemand, provider.Spot, provider.Reserved, provider.NoMarket}).Draw(t, "market"), Reservation: word("reservation"),
		},
		From: instant("from"), To: instant("to"), Account: ledger.Account(word("account")), Job: word("job"), Team: word("team"), Project: word("project"),
		Share: int(number("share")), Of: int(number("of")), Rate: pricing.Rate(number("rate")), Per: time.Duration(number("per")), Public: pricing.Rate(number("public")),
		Known: rapid.Bool().Draw(t, "known"), Prepaid: rapid.Bool().Draw(t, "prepaid"), List: pricing.Rate(number("list")),
		Quantity: number("quantity"), Price: pricing.Money(number("price")), Amount: pricing.Money(number("amount")), Invoiced: instant("invoiced"),
		Note: word("note"), Round: number("round"),
	}
}

// Every field comes back as it went in, whatever else is stored beside it, and the view
// shows the same.
func TestChargesComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := OpenSQLite(t.Context(), SQLiteConfig{Path: ":memory:", Jobs: testCodec, Fleet: "f"})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var want []ledger.Charge
		for version := range int64(rapid.IntRange(1, 3).Draw(t, "commits")) {
			var charges []ledger.Charge
			for i := range rapid.IntRange(0, 6).Draw(t, "charges") {
				charges = append(charges, drawCharge(t, fmt.Sprintf("%d-%d", version, i)))
			}
			if err := s.Commit(t.Context(), autoscale.Change{Version: version, Charges: charges}); err != nil {
				t.Fatal(err)
			}
			want = append(want, charges...)
		}
		got, err := s.Charges(t.Context(), time.Time{}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("charges (-stored +read):\n%s", diff)
		}
		for i, c := range inView(t, s) {
			if diff := cmp.Diff(want[i], c); diff != "" {
				t.Fatalf("view of charge %d (-stored +read):\n%s", i, diff)
			}
		}
	})
}

// inView reads the charges as a person would who asks by SQL.
func inView(t *rapid.T, s *SQLite) (list []ledger.Charge) {
	rows, err := s.db.QueryContext(t.Context(), `SELECT c.id, kind, item, instance, run, `+offeringColumns+`, starts, ends, c.account, job, team, project, share, of,
			rate, per, public, known, prepaid, list, quantity, price, amount, invoiced, note, round
		FROM charges c JOIN offerings o ON o.id = c.offering ORDER BY seq`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var c ledger.Charge
		var o offeringRow
		var starts, ends, invoiced sql.NullInt64
		var rate, per, public, onDemand, price, amount int64
		err := rows.Scan(append(append([]any{&c.ID, &c.Kind, &c.Item, &c.Instance, &c.Run}, o.into()...),
			&starts, &ends, &c.Account, &c.Job, &c.Team, &c.Project, &c.Share, &c.Of,
			&rate, &per, &public, &c.Known, &c.Prepaid, &onDemand, &c.Quantity, &price, &amount, &invoiced, &c.Note, &c.Round)...)
		if err != nil {
			t.Fatal(err)
		}
		c.From, c.To, c.Invoiced = instant(starts), instant(ends), instant(invoiced)
		c.Rate, c.Per, c.Public, c.List = pricing.Rate(rate), time.Duration(per), pricing.Rate(public), pricing.Rate(onDemand)
		c.Price, c.Amount = pricing.Money(price), pricing.Money(amount)
		if c.Offering, err = o.offering(); err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// A line whose run, bearer or terms are gone or broken is left out by its name alone.
func TestBrokenPartsOfChargesTakeTheirLinesAlone(t *testing.T) {
	for _, tt := range []struct{ name, change, want string }{
		{"run that is gone", "UPDATE charge_lines SET run = 99 WHERE id = 'c-1'", "charge c-1: run: there is no row 99"},
		{"bearer that is gone", "UPDATE charge_lines SET bearer = -1 WHERE id = 'c-1'", "charge c-1: bearer: there is no row -1"},
		{"terms that are gone", "UPDATE charge_lines SET terms = 0 WHERE id = 'c-1'", "charge c-1: terms: there is no row 0"},
		{"terms that do not fit", "UPDATE charge_terms SET known = 7 WHERE id = (SELECT terms FROM charge_lines WHERE id = 'c-1')", "charge c-1: terms: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, told := damaged(t, tt.change)
			charges, err := s.Charges(t.Context(), time.Time{}, time.Time{})
			if err != nil || len(charges) != 1 || charges[0].ID != "c-2" || len(*told) != 1 || !strings.HasPrefix((*told)[0], tt.want) {
				t.Errorf("%d charges, told %q, %v: want c-2 and one row that begins with %q", len(charges), *told, err, tt.want)
			}
		})
	}
}

// Whether a line is known by a map or by the table, a run, bearer and terms are stored once.
func TestWhatLinesHaveAlikeIsStoredOnce(t *testing.T) {
	s, err := OpenSQLite(t.Context(), SQLiteConfig{Path: ":memory:", Jobs: testCodec, Fleet: "f"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for version := range int64(3) {
		change := autoscale.Change{Version: version}
		for i := range 2 {
			c := testCharge(fmt.Sprintf("%d-%d", version, i))
			c.Round = version
			change.Charges = append(change.Charges, c)
		}
		if err := s.Commit(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	for table, want := range map[string]int{"charge_lines": 6, "charge_runs": 1, "charge_bearers": 1, "charge_terms": 1} {
		var got int
		if err := s.db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %d rows, %v, want %d", table, got, err, want)
		}
	}
	var plan string
	row := s.db.QueryRowContext(t.Context(), `EXPLAIN QUERY PLAN SELECT id FROM charge_terms WHERE rate IS 1 AND list IS 2 AND quantity IS 0 AND note IS ''
		AND kind IS 'usage' AND per IS 0 AND public IS 0 AND known IS 1 AND prepaid IS 0 AND price IS 0 AND invoiced IS NULL`)
	if err := row.Scan(new(int), new(int), new(int), &plan); err != nil || !strings.Contains(plan, "USING COVERING INDEX") {
		t.Errorf("terms are found by %q, %v: want an index", plan, err)
	}
}
