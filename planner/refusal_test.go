package planner

import (
	"testing"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// refusing is a job that policies keep from offers: by name, those that each is about.
func refusing(policies map[string]func(o *Offer) string, order ...string) *Job {
	return &Job{
		Curve: flat{"T4": 1, "V100": 2}, Resources: Resources{Replicas: Replicas{Min: 1, Max: 1}},
		Refuses: func(o *Offer) (by []Refusal) {
			for _, name := range order {
				if why := policies[name](o); why != "" {
					by = append(by, Refusal{By: name, Why: why})
				}
			}
			return by
		},
	}
}

func TestLacksNamesEachPolicyWithWhatItForbids(t *testing.T) {
	sold := []Offer{
		offer("aws", "r", "v", "V100", provider.GPU, 1, 8, 61, 16, provider.Spot, "1.2"),
		offer("aws", "r", "t", "T4", provider.GPU, 1, 4, 16, 16, provider.OnDemand, "0.5"),
		offer("aws", "r", "t", "T4", provider.GPU, 1, 4, 16, 16, provider.Spot, "0.2"),
		offer("aws", "r", "h", "H100", provider.GPU, 1, 4, 16, 16, provider.Spot, "0.1"), // its speed there is not known
	}
	policies := map[string]func(o *Offer) string{
		"dear":   func(o *Offer) string { return o.Rate.String() + " USD/h is too dear" },
		"used":   func(o *Offer) string { return "9 of 9 USD are spent" },
		"nospot": func(o *Offer) string { return unless(o.Offering.Market != provider.Spot, "no spot") },
		"mostly": func(o *Offer) string { return unless(o.Rate <= pricing.DollarPerHour/4, "more than 0.25") },
		"open":   func(o *Offer) string { return "" },
	}
	tests := map[string]struct {
		order []string
		sold  []Offer
		want  string // "": nothing is lacking
	}{
		"each offer for a reason of its own": {[]string{"dear"}, sold, "budget policies: dear forbids all 3 offerings that it fits (the cheapest, aws/r-a/t/spot: 0.2 USD/h is too dear)"},
		"all for one reason":                 {[]string{"open", "used"}, sold, "budget policies: used forbids all 3 offerings that it fits (9 of 9 USD are spent)"},
		"two that overlap":                   {[]string{"nospot", "dear"}, sold, "budget policies: dear forbids all 3 offerings that it fits (the cheapest, aws/r-a/t/spot: 0.2 USD/h is too dear); nospot forbids 2 of the 3 offerings that it fits, spot (no spot)"},
		"two that leave nothing together":    {[]string{"nospot", "mostly"}, sold, "budget policies: mostly forbids 2 of the 3 offerings that it fits (more than 0.25); nospot forbids 2 of the 3 offerings that it fits, spot (no spot)"},
		"a single offer":                     {[]string{"dear"}, sold[:1], "budget policies: dear forbids aws/r-a/v/spot (1.2 USD/h is too dear)"},
		"one is left":                        {[]string{"mostly"}, sold, ""},
		"what it lacks without policies":     {[]string{"used"}, sold[3:], "throughput: nothing is known of  on H100 at 1 replicas"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, lacks := Lacks(refusing(policies, tt.order...), tt.sold)
			if got != tt.want || lacks != (tt.want != "") {
				t.Errorf("got  %q, %v\nwant %q", got, lacks, tt.want)
			}
		})
	}
}

func TestProgramTellsAForbiddenJobFromOneThatNeverFits(t *testing.T) {
	sold := []Offer{offer("aws", "r", "t", "T4", provider.GPU, 1, 4, 16, 16, provider.Spot, "0.2")}
	no := map[string]func(o *Offer) string{"no": func(*Offer) string { return "no" }}
	for name, memory := range map[string]float64{"fits": 0, "never fits": 1000} {
		job := refusing(no, "no")
		job.ID, job.Resources.MemGiB = "a", memory
		pr, err := NewProgram(&Problem{Jobs: []JobState{{Job: job}}, Offers: sold}, Transfer{})
		if err != nil {
			t.Fatal(err)
		}
		if d := pr.Jobs[0]; len(d.Columns) > 0 || d.Lacks == "" || d.Refused != (memory == 0) {
			t.Errorf("%s: refused %v, lacks %q", name, d.Refused, d.Lacks)
		}
	}
}
