package document

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
)

const policyText = `apiVersion: goodfleet/v1
kind: BudgetPolicy
metadata: {name: vision-month, owner: vision-leads}
spec:
  match:
    team: Vision
    where: market == "spot" && accelerators >= 4
  active: {start: "0 20 * * 1-5", for: 11h, zone: Europe/Berlin}
  budget:
    amount: 120000 USD
    per: month
    zone: America/New_York
    carryOver: {unused: 20%, overdraft: true}
  limits: {burn: 900 USD/h, rate: 40 USD/h, rateOfOnDemand: 70%, spotShare: {min: 40%, max: 90%}}
  steps:
    - {at: 80%, measure: forecast, quantile: 50%, rounds: 3, do: warn}
    - {at: 95.5%, measure: committed, do: no-new}
  margin: 3%
  cooldown: 30m
  fallback: {after: 45m, deadlines: true}
  approval: {above: 500 USD/h, within: 2h, from: [ml-leads]}
  exceptions:
    - {add: 20000 USD, until: "2026-12-20T00:00:00Z", owner: ada, reason: review}
  notify: [ops]
`

func policyOf(t *testing.T, text string) *budget.Policy {
	t.Helper()
	list, err := Policies("policy.yaml", []byte(text), budget.FromFile)
	if err != nil {
		t.Fatal(err)
	}
	return list[0]
}

func TestPolicyIsReadAsItIsWritten(t *testing.T) {
	p := policyOf(t, policyText)
	if p.Cap.Amount != 120_000*pricing.Dollar || p.Cap.Period != budget.Month || p.Cap.Unused != 0.2 || !p.Cap.Overdraft || p.Cap.Zone.String() != "America/New_York" {
		t.Errorf("budget %+v", p.Cap)
	}
	if p.Burn != 900*pricing.DollarPerHour || p.MaxRate != 40*pricing.DollarPerHour || p.OfList != 0.7 || *p.Spot != (budget.SpotShare{Min: 0.4, Max: 0.9}) {
		t.Errorf("limits %+v", p)
	}
	want := []budget.Step{{At: 0.8, Measure: budget.Foretold, Quantile: 0.5, Rounds: 3, Do: budget.Warn}, {At: 0.955, Measure: budget.Committed, Do: budget.NoNew}}
	if diff := cmp.Diff(want, p.Steps); diff != "" {
		t.Error(diff)
	}
	if p.Margin != 0.03 || p.Cooldown != 30*time.Minute || *p.Fallback != (budget.Fallback{After: 45 * time.Minute, Deadlines: true}) || p.Origin != budget.FromFile {
		t.Errorf("policy %+v", p)
	}
	friday := time.Date(2026, 11, 6, 21, 0, 0, 0, time.UTC) // 22:00 in Berlin
	if open, next := p.ActiveAt(friday); !open || !next.Equal(time.Date(2026, 11, 7, 6, 0, 0, 0, time.UTC)) {
		t.Errorf("active %t until %v", open, next)
	}
	four := budget.Facts{Team: "Vision", Market: "spot", Accelerators: 4}
	if !p.Over.Covers(four) || p.Over.Covers(budget.Facts{Team: "Vision", Market: "spot", Accelerators: 2}) || p.Over.Covers(budget.Facts{Market: "spot", Accelerators: 4}) {
		t.Error("the selector covers something else")
	}
}

func TestPolicyWrittenIsReadAgain(t *testing.T) {
	docs, err := Decode("policy.yaml", []byte(policyText))
	if err != nil {
		t.Fatal(err)
	}
	text, err := YAML(docs[0].BudgetPolicy)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Decode("again.yaml", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if diff := cmp.Diff(docs[0].BudgetPolicy, again[0].BudgetPolicy); diff != "" {
		t.Errorf("-first +second\n%s", diff)
	}
}

func TestPolicyErrorsNameLineAndReason(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown key", "cooldown: 30m", "cooldwon: 30m", `policy.yaml:19:3: spec.cooldwon: unknown key; did you mean "cooldown"?`},
		{"a bare number", "120000 USD", "120000", "policy.yaml:10:13: spec.budget.amount: "},
		{"a period that is none", "per: month", "per: mnth", `policy.yaml:11:10: spec.budget.per: "mnth": want hour, day, week, month, window, total; did you mean "month"?`},
		{"an abbreviation of a zone", "America/New_York", "EST", `policy.yaml:12:11: spec.budget.zone: "EST": want UTC or a place of the IANA data base`},
		{"no share", "at: 80%", "at: 0.8", "spec.steps[0].at: "},
		{"a step without a quantile", "quantile: 50%, ", "", "policy.yaml:16:7: spec.steps[0]: want a quantile with measure: forecast, and with no other"},
		{"nothing of the rate on demand", "rateOfOnDemand: 70%", "rateOfOnDemand: 0%", "policy.yaml:14:61: spec.limits.rateOfOnDemand: want more than 0: to buy nothing"},
		{"a burn of nothing", "burn: 900 USD/h", "burn: 0 USD/h", "spec.limits.burn: "},
		{"a rate of nothing", "rate: 40 USD/h", "rate: 0 USD/h", "spec.limits.rate: "},
		{"another quantile", "quantile: 50%", "quantile: 75%", "spec.steps[0].quantile: want 50% or 90%"},
		{"a field that CEL does not know", "accelerators >= 4", "accelerator_count >= 4", `policy.yaml:7:12: spec.match.where: there is no "accelerator_count" (at 1:21 of the expression)`},
		{"CEL of another type", "accelerators >= 4", `accelerators >= "4"`, "spec.match.where: found no matching overload"},
		{"CEL that is no truth", `market == "spot" && accelerators >= 4`, "accelerators", "spec.match.where: it is of type int: want true or false"},
		{"CEL that does not parse", "accelerators >= 4", "accelerators >=", "spec.match.where: Syntax error"},
		{"an exception without an end", `until: "2026-12-20T00:00:00Z", `, "", "spec.exceptions[0].until: is required"},
		{"an exception without a reason", ", reason: review", "", "spec.exceptions[0].reason: is required"},
		{"a window without its ends", "per: month", "per: window", "spec.budget.from: is required per: window"},
		{"more than all carried over", "unused: 20%", "unused: 120%", "spec.budget.carryOver.unused: want 100% at most"},
		{"shares the wrong way round", "min: 40%, max: 90%", "min: 95%, max: 90%", "spec.limits.spotShare: min 0.95 is more than max 0.9"},
		{"a share of one market alone", "team: Vision", "market: spot", "spec.limits.spotShare: of market spot alone the share is always the same"},
		{"a margin over all", "margin: 3%", "margin: 300%", "policy.yaml:18:11: spec.margin: 300%: want less than 100%"},
		{"a margin over a step", "margin: 3%", "margin: 80%", "policy.yaml:18:11: spec.margin: 80%: the step at 80% would never be armed again"},
		{"a step that nothing comes to", "at: 80%", "at: 5000%", "policy.yaml:16:12: spec.steps[0].at: 5000%: no measure comes to it: want 1000% at most"},
		{"a rate that limits nothing", "rateOfOnDemand: 70%", "rateOfOnDemand: 5000%", "spec.limits.rateOfOnDemand: 5000%: it limits nothing"},
		{"more money than is counted", "120000 USD", "9000000000 USD", "policy.yaml:10:13: spec.budget.amount: 9000000000 USD: no fleet costs as much"},
		{"a burn of more", "burn: 900 USD/h", "burn: 9000000000 USD/h", "spec.limits.burn: 9000000000 USD"},
		{"years of cooling down", "cooldown: 30m", "cooldown: 4000d", "policy.yaml:19:13: spec.cooldown: 4000 days: want 366 at most"},
		{"a day that is none", `until: "2026-12-20T00:00:00Z"`, `until: "2026-02-30"`, `spec.exceptions[0].until: "2026-02-30" is no day and no time: want "2026-12-24", or RFC 3339`},
		{"a day of another age", `until: "2026-12-20T00:00:00Z"`, `until: "1026-12-20"`, `spec.exceptions[0].until: "1026-12-20": want a year from 1970 to 2200`},
		{"a stop after the stop", "{at: 95.5%, measure: committed, do: no-new}", "{at: 200%, measure: actual, do: stop}", "policy.yaml:17:12: spec.steps[1].at: it never comes to 200% of it: at 100% of the amount all is stopped"},
		{"nobody answers", ", owner: vision-leads", "", "metadata.owner: is required"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(policyText, c.old, c.new, 1)
			if text == policyText {
				t.Fatal("nothing was replaced")
			}
			_, err := Policies("policy.yaml", []byte(text), budget.FromFile)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "policy.yaml:") {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestPolicyNamesAreUniqueOverOrigins(t *testing.T) {
	if _, err := Policies("two.yaml", []byte(policyText+"---\n"+policyText), budget.FromFile); err == nil || !strings.Contains(err.Error(), `two.yaml:28:18: metadata.name: "vision-month" is given twice, first in line 3`) {
		t.Errorf("got %v", err)
	}
	file, hub := policyOf(t, policyText), policyOf(t, policyText)
	hub.Origin, hub.Place = budget.FromTerraform, ""
	if _, err := budget.NewPolicies(file, hub); err == nil || err.Error() != "budget policy vision-month comes twice: at policy.yaml:3 and from terraform" {
		t.Errorf("got %v", err)
	}
}

// Days of a window and of an exception begin when they do in the zone of the budget, on the
// days too on which its clocks are set.
func TestDaysAreOfTheZoneOfTheBudget(t *testing.T) {
	utc := func(text string) time.Time {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, c := range []struct{ zone, from, until, first, end string }{
		{"Europe/Berlin", "2026-03-01", "2026-04-01", "2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z"},  // summer time begins
		{"Europe/Berlin", "2026-10-25", "2026-10-26", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"},  // 25 hours
		{"America/Havana", "2026-03-08", "2026-03-09", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"}, // without a midnight
		{"UTC", "2026-03-01", "2026-03-02", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"},
		{"Europe/Berlin", "2026-03-01T12:00:00+01:00", "2026-04-01", "2026-03-01T11:00:00Z", "2026-03-31T22:00:00Z"},
	} {
		text := strings.Replace(policyText, `per: month
    zone: America/New_York
    carryOver: {unused: 20%, overdraft: true}`, "per: window\n    zone: "+c.zone+"\n    from: "+c.from+"\n    until: "+c.until, 1)
		text = strings.Replace(text, `until: "2026-12-20T00:00:00Z"`, "from: "+c.from+", until: "+c.until, 1)
		p := policyOf(t, text)
		from, until := p.Total("").Span(time.Now())
		if e := p.Exceptions[0]; !from.Equal(utc(c.first)) || !until.Equal(utc(c.end)) || !e.From.Equal(utc(c.first)) || !e.Until.Equal(utc(c.end)) {
			t.Errorf("%+v: the window is %s to %s, the exception %s to %s", c, from, until, e.From.UTC(), e.Until.UTC())
		}
	}
}

func TestMomentsAreReadAsTheyAreWritten(t *testing.T) {
	for _, text := range []string{"2026-12-24", "2026-12-24T18:00:00Z", "2026-12-24T18:00:00+01:00"} {
		m, err := ParseMoment(text)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := m.MarshalText(); err != nil || string(again) != text {
			t.Errorf("%s is written as %s (%v)", text, again, err)
		}
	}
}
