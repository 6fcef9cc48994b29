package autoscale

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
)

// Answer approves or denies a question in a store. A loop that runs on the store finds
// it when it next loads: its commit after this one is refused, and it begins anew.
func Answer(ctx context.Context, store Store, now time.Time, id string, v budget.Verdict, who, why string) (budget.Question, error) {
	snap, err := store.Load(ctx)
	if err != nil {
		return budget.Question{}, fmt.Errorf("load: %w", err)
	}
	at := slices.IndexFunc(snap.Questions, func(q budget.Question) bool { return q.ID == id })
	if at < 0 {
		return budget.Question{}, fmt.Errorf("there is no question %s", id)
	}
	q := snap.Questions[at]
	if err := q.Answer(v, who, why, now); err != nil {
		return q, err
	}
	e := Event{At: now, Round: snap.Round, Kind: EventBudget, Text: fmt.Sprintf("%s: %s %s by %s: %s", q.Policy, q.ID, v, who, why)}
	return q, store.Commit(ctx, Change{Version: snap.Version, Round: snap.Round, Questions: []budget.Question{q}, Events: []Event{e}})
}

// waiting is a question that is open.
type waiting struct {
	question string // its id
	unasked  bool   // it is new
}

// approves says why a group waits for a yes; "" when it does not. What has to be asked is
// kept.
func (a *admission) approves(g *group) string {
	for _, p := range a.s.Policies {
		if p.Approval == nil {
			continue
		}
		limit := budget.Limit{Over: p.Over.Covers}
		burn := limit.Share(a.asks(g)...)
		if burn <= p.Approval.Above {
			continue
		}
		jobs := make([]string, len(g.jobs))
		for i, id := range g.jobs {
			jobs[i] = string(id)
		}
		q, known := a.question(p, jobs, burn)
		v, why, _ := q.Stands(a.s.Now)
		switch {
		case !known:
			a.questions = append(a.questions, q)
			fallthrough
		case v == budget.Open:
			for _, id := range g.jobs {
				a.waitsFor[id] = waiting{q.ID, !known}
			}
			return fmt.Sprintf("budget policy %s: a launch of %s USD/h waits for the yes of %s", p.Name, burn, q.Whom())
		case v == budget.Denied:
			return fmt.Sprintf("budget policy %s: a launch of %s USD/h: %s", p.Name, burn, why)
		}
	}
	return ""
}

// question is the one that is about a launch, or a new one.
func (a *admission) question(p *budget.Policy, jobs []string, burn pricing.Rate) (q budget.Question, known bool) {
	for _, list := range [][]budget.Question{a.s.Questions, a.questions} {
		for i := range list {
			x := &list[i]
			if _, _, over := x.Stands(a.s.Now); !over && x.About(p.Name, jobs, burn) {
				return *x, true
			}
		}
	}
	return p.NewQuestion(jobs, burn, a.s.Now), false
}

// keepQuestions keeps questions, and has them told.
func (l *Loop) keepQuestions(questions []budget.Question, now time.Time) {
	for _, q := range questions {
		if slices.ContainsFunc(l.cache.questions, func(x budget.Question) bool { return x.ID == q.ID }) {
			continue
		}
		l.cache.questions = insert(l.cache.questions, q, func(a, b budget.Question) int { return cmp.Compare(a.ID, b.ID) })
		l.cache.asked = append(l.cache.asked, q)
		text := q.Text()
		l.event(Event{At: now, Kind: EventBudget, Text: text})
		for _, p := range l.cfg.Policies {
			if p.Name == q.Policy {
				l.tellHooks(p, now, "", text)
			}
		}
	}
}

// questionClocks tells when answers, or the time for them, are over.
func (l *Loop) questionClocks(tell func(at time.Time)) {
	for i := range l.cache.questions {
		q := &l.cache.questions[i]
		if q.Verdict == budget.Open {
			tell(q.Until)
		}
		tell(q.Ends())
	}
}
