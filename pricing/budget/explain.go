package budget

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/provider"
)

// explainLasts is how long what is left of a cap must last for one machine more, in an
// explanation: as for a loop of default settings whose jobs save at once.
const explainLasts = 15 * time.Minute

// Verdict on one launch, of one policy.
type PolicyVerdict struct {
	Policy  string
	Covers  bool
	Says    string
	Decides bool   // of those that limit it, it leaves the least room
	Waits   string // what it wants before a launch that it does not refuse; "": nothing
	Asks    string // id of the question that waits for an answer; "": none
	Allows  string // a person's yes, by which it does not ask; "": none
	Alone   string // what it makes of a job that nothing else runs beside; "": nothing
}

// Known is what is known beside the ledger of a launch that policies are asked about.
type Known struct {
	Questions []Question

	// Runs is what is held and under way; nil: nothing is known of it. Tail is what that costs
	// against a cap beside what is spent, until it could be stopped; nil: it is not known.
	Runs *Position
	Tail func(*Standing) (pricing.Money, error)

	// Spot is what a policy's fallback makes of the job at now, and whether it has to wait;
	// "": nothing. nil: it is not known how long the job has waited.
	Spot func(*Policy) (says string, waits bool)
}

// Explain asks policies about a launch, by what was spent up to an instant and by what is
// known of what runs: what each says, and the refusal of the strictest; nil when none refuses.
func Explain(policies Policies, spends []Spend, a Ask, known Known, now time.Time) ([]PolicyVerdict, error) {
	var limits []Limit
	words := map[string][]string{}
	says := func(p *Policy, format string, args ...any) {
		words[p.Name] = append(words[p.Name], fmt.Sprintf(format, args...))
	}
	answers := map[string]answered{}
	waits := map[string][]string{}
	wait := func(p *Policy, format string, args ...any) {
		if !p.DryRun {
			waits[p.Name] = append(waits[p.Name], fmt.Sprintf(format, args...))
		}
	}
	covers := func(p *Policy) bool { n, _ := covered(a.For, p.Over.Covers); return n > 0 }
	pays := func(p *Policy) bool { return p.Cap != nil && p.paysAtOnce(a.For) }
	of := map[string]string{} // policy of a limit
	add := func(p *Policy, l Limit) {
		l.Over, of[l.Name] = p.Over.Covers, p.Name
		if !p.DryRun {
			limits = append(limits, l)
		}
	}
	for _, p := range policies {
		if !covers(p) && !pays(p) {
			says(p, "it is about %s", p.Over)
			continue
		}
		if p.DryRun {
			says(p, "dry run: it refuses nothing")
		}
		if p.Cap != nil {
			key := p.Cap.Each.Key(a.For[0].Facts)
			s := p.standing(key, spends, now)
			if inside := !now.Before(s.From) && now.Before(s.Until); inside && (p.Cap.Each == ForAll || key != "") {
				left := Left{Spent: s.Spent, Amount: s.Amount, Lasts: explainLasts}
				l := Limit{Name: s.Name(), Burn: left.Burn(), Left: &left}
				tail := pricing.Money(0)
				if known.Tail != nil {
					var err error
					if tail, err = known.Tail(&s); err != nil {
						return nil, err
					}
				}
				if step, reached := s.InForce(tail, now); left.Spent >= left.Amount {
					left.Room = s.Room(now)
					says(p, "%s of %s USD are spent: it is used up; %s", s.Spent, s.Amount, left.Room)
				} else if reached && step.Do.AtLeast(NoNew) {
					l.Closed = fmt.Sprintf("%s of %s USD are spent: %s; %s", s.Spent, s.Amount, step, s.Room(now))
					says(p, "%s", l.Closed)
				} else if left.Spent+tail >= left.Amount {
					l.Closed = fmt.Sprintf("%s of %s USD are spent, and up to %s go on until all has stopped; %s", s.Spent, s.Amount, tail, s.Room(now))
					says(p, "%s", l.Closed)
				} else {
					says(p, "%s of %s USD are spent, of a period with %s: what is left lasts %v at %s USD/h", s.Spent, s.Amount, until(s), explainLasts, left.Burn())
				}
				add(p, l)
			}
		}
		if !covers(p) {
			says(p, "of it, only what is paid at once counts")
			continue
		}
		if burn, _ := p.BurnAt(now); burn > 0 {
			says(p, "%s USD/h at a time", burn)
			add(p, Limit{Name: p.BurnName(), Burn: burn})
		}
		if open, next := p.ActiveAt(now); !open {
			says(p, "its limits hold from %s on", next.UTC().Format(time.RFC3339))
		} else {
			p.explainOpen(a, known, says, wait, add)
		}
		if limit := (Limit{Over: p.Over.Covers}); p.Approval != nil && limit.Share(a) > p.Approval.Above {
			x := p.answer(known.Questions, jobsOf(a), limit.Share(a), now)
			answers[p.Name] = x
			says(p, "%s", x.says)
			if x.waits != "" {
				wait(p, "%s", x.waits)
			}
		}
	}
	err := known.Runs.under(limits).Judge("", a)
	for _, p := range policies {
		if x := answers[p.Name]; err == nil && x.denied && !p.DryRun {
			of[p.Name], err = p.Name, &Refused{Policy: p.Name, Why: x.says}
		}
	}
	decides := ""
	if err != nil {
		if r, ok := err.(*Refused); ok {
			decides = of[r.Policy]
		}
	} else { // of what limits it, the least burn
		least := Unlimited
		for _, l := range limits {
			if l.Burn < least {
				least, decides = l.Burn, of[l.Name]
			}
		}
	}
	var list []PolicyVerdict
	for _, p := range policies {
		v := PolicyVerdict{Policy: p.Name, Covers: covers(p) || pays(p), Says: strings.Join(words[p.Name], "; "), Decides: p.Name == decides, Waits: strings.Join(waits[p.Name], "; ")}
		v.Asks, v.Allows = answers[p.Name].asks, answers[p.Name].allows
		if open, _ := p.ActiveAt(now); open && covers(p) && p.Spot != nil && !p.DryRun {
			v.Alone = p.Spot.Alone()
		}
		list = append(list, v)
	}
	return list, err
}

// paysAtOnce reports whether a policy covers money that is paid at once.
func (p *Policy) paysAtOnce(list []Part) bool {
	return slices.ContainsFunc(list, func(part Part) bool {
		return slices.ContainsFunc(part.Lumps, func(x Lump) bool { return x.Amount > 0 && p.Over.Covers(x.Facts) })
	})
}

// until is the end of a period, after "with".
func until(s Standing) string {
	if s.Policy.Cap.Period.Endless() {
		return "no end"
	}
	return "its end at " + s.End()
}

// explainOpen is what the limits say that hold now and look at no sum.
func (p *Policy) explainOpen(a Ask, known Known, says, wait func(*Policy, string, ...any), add func(*Policy, Limit)) {
	if p.MaxRate > 0 || p.OfList > 0 {
		l := Limit{Name: p.PriceName(), Burn: Unlimited, MaxRate: p.MaxRate, OfList: p.OfList}
		if why := l.refuses(a.Rate, a.List); why != "" {
			says(p, "%s", why)
		} else {
			says(p, "%s USD/h is not too dear", a.Rate)
		}
		add(p, l)
	}
	if p.Spot != nil {
		says(p, "spot from %s to %s of the burn, by the plan", percent(p.Spot.Min), percent(p.Spot.Max))
		if alone := p.Spot.Alone(); alone != "" && !p.DryRun {
			says(p, "%s", alone)
		}
	}
	switch {
	case p.Fallback == nil:
	case known.Spot != nil:
		text, waits := known.Spot(p)
		if text != "" {
			says(p, "%s", text)
		}
		if waits {
			wait(p, "%s", text)
		}
	case a.Offering.Market == provider.OnDemand:
		text := fmt.Sprintf("only after %v without spot", p.Fallback.After)
		if p.Fallback.Deadlines {
			text += ", or with a deadline at risk"
		}
		says(p, "%s", text)
		wait(p, "%s", text)
	}
}

// answered is what came of the question whether a launch may be made.
type answered struct {
	says, waits  string // waits "": it does not
	asks, allows string // as in PolicyVerdict
	denied       bool
}

// jobsOf are the jobs that a launch is for.
func jobsOf(a Ask) (jobs []string) {
	for _, p := range a.For {
		if p.Facts.Job != "" {
			jobs = append(jobs, p.Facts.Job)
		}
	}
	return jobs
}

// answer is what came of the question about a launch; of one for nobody nothing has.
func (p *Policy) answer(questions []Question, jobs []string, burn pricing.Rate, now time.Time) answered {
	for i := range questions {
		q := &questions[i]
		verdict, why, over := q.Stands(now)
		if over || len(jobs) == 0 || !q.About(p.Name, jobs, burn) {
			continue
		}
		ends := q.Ends().UTC().Format(time.RFC3339)
		switch verdict {
		case Approved:
			text := why + ", until " + ends
			return answered{says: text, allows: text}
		case Denied:
			return answered{says: why + "; it is asked anew at " + ends, denied: true}
		}
		text := fmt.Sprintf("question %s waits for the yes of %s since %s", q.ID, q.Whom(), q.Asked.UTC().Format(time.RFC3339))
		if !q.Until.IsZero() {
			text += ", and is refused at " + q.Until.UTC().Format(time.RFC3339)
		}
		return answered{says: text, waits: text, asks: q.ID}
	}
	text := fmt.Sprintf("it wants the yes of %s first, over %s USD/h", p.Approval.Whom(), p.Approval.Above)
	return answered{says: text, waits: text}
}
