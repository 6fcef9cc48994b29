package main

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/goodfleet/goodfleet/planner/share"
	"pgregory.net/rapid"
)

// TestSharesAsTheyAreToldGiveWhatIsSaid: however little time a job has on a type, what is told
// of it adds up to the job's progress.
func TestSharesAsTheyAreToldGiveWhatIsSaid(t *testing.T) {
	policies := share.Policies()
	rapid.Check(t, func(t *rapid.T) {
		p := &share.Problem{Types: []share.Type{{Name: "a", Workers: rapid.IntRange(1, 9).Draw(t, "workers"), Price: 1}, {Name: "b", Workers: 1, Price: 2}}}
		for j := range rapid.IntRange(1, 4).Draw(t, "jobs") {
			far := func(what string) float64 { return math.Pow(10, rapid.Float64Range(-6, 9).Draw(t, what)) }
			p.Jobs = append(p.Jobs, share.Job{ID: string(rune('x' + j)), Scale: 1, Weight: 1, Steps: far("steps"), Deadline: 1000, Throughput: []float64{far("a"), far("b")}})
		}
		y := policies[rapid.IntRange(0, len(policies)-1).Draw(t, "policy")]
		a, err := y.Share(p, share.Options{})
		if err != nil || a.Status == "infeasible" {
			return
		}
		out := newAllocated(p, &a, false)
		for j, job := range p.Jobs {
			got := 0.0
			for w, v := range job.Throughput {
				got += v * out.Allocation[job.ID][p.Types[w].Name]
			}
			if math.Abs(got-a.Theta[j]) > 1e-8*a.Theta[j] {
				t.Fatalf("%s: job %s has %g steps/s, and is told shares of %g", y.Name, job.ID, a.Theta[j], got)
			}
		}
	})
}

// TestPricesAreSaidToBeWhatTheyAre: fields, text and documentation call the price of a type a bound on
// what one more worker gains, or, of a ratio, a rate.
func TestPricesAreSaidToBeWhatTheyAre(t *testing.T) {
	p, err := share.Parse([]byte(`{"cluster":{"k80":1,"v100":4},"prices":{"v100":2,"k80":0.5},"jobs":[
	 {"id":"a","steps_left":100,"throughput":{"v100":10},"slo_left_s":20},
	 {"id":"b","steps_left":1000,"throughput":{"k80":20}},{"id":"c","steps_left":1000,"throughput":{"k80":20,"v100":1}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("docs/allocate.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"`price_is` is\n`bound`", "`price_is` is `rate`"} {
		if !strings.Contains(string(text), word) {
			t.Errorf("docs/allocate.md does not say %q", word)
		}
	}
	for _, y := range share.Policies() {
		a, err := y.Share(p, share.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want, phrase := "", "what one more is worth is not known"
		switch {
		case a.Price != nil && y.Name == "cost_ratio_slo":
			want, phrase = priceRate, "a part of one more is worth that part of"
		case a.Price != nil:
			want, phrase = priceBound, "one more is worth at most"
		}
		out := newAllocated(p, &a, true)
		if out.Explain.PriceIs != want {
			t.Errorf("%s: price_is is %q, want %q", y.Name, out.Explain.PriceIs, want)
		}
		for _, note := range out.notes()[1:] {
			if !strings.Contains(note, phrase) {
				t.Errorf("%s: %q, want %q", y.Name, note, phrase)
			}
		}
	}
}
