package report

import (
	"strings"
	"testing"
)

func TestWorkThatIsNoneIsRefusedByItsField(t *testing.T) {
	const sound = `{"apiVersion":"goodfleet/v1","kind":"Work","unit":"V100-hours","jobs":[{"job":"a","done":1,"cheapest_alternative":{"what":"x","hours":1,"cost":"2"}}]}`
	if _, err := ReadWork(strings.NewReader(sound)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, put, want string }{
		{sound, "", "it ends too soon"}, {sound, "[]", "document: "}, {sound, "null", "kind: "}, {sound, sound + "{}", "something follows"}, {"]}", "", "it ends too soon"},
		{"Work", "Job", "kind: "}, {`"V100-hours"`, `""`, "unit: "}, {`"done":1`, `"done":-1`, "jobs[0].done: "}, {`"done":1`, `"done":"1"`, "jobs.done: "}, {`"done":1`, `"done":1e400`, "jobs.done: "},
		{`"hours":1`, `"hours":-1`, "jobs[0].cheapest_alternative.hours: "}, {`"2"`, `"-2"`, "jobs[0].cheapest_alternative.cost: "}, {`"2"`, `"NaN"`, "not an amount"},
		{`"a"`, `""`, "jobs[0].job: "}, {`]}`, `,{"job":"a","done":1,"cheapest_alternative":null}]}`, "jobs[1].job: "}, {`"unit"`, `"colour":1,"unit"`, `unknown field "colour"`},
	} {
		text := strings.Replace(sound, c.old, c.put, 1)
		if _, err := ReadWork(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.put, err, c.want)
		}
	}
}
