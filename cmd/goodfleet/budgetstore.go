package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/goodfleet/goodfleet/autoscale"
	"github.com/goodfleet/goodfleet/pricing"
	"github.com/goodfleet/goodfleet/pricing/budget"
	"github.com/goodfleet/goodfleet/provider"
)

// runningStore is what a store says to whom policies are explained.
type runningStore struct {
	path  string
	snap  *autoscale.Snapshot
	state autoscale.State          // under the policies
	tails map[string]pricing.Money // by the name of a standing, as far as they were asked for
}

// readStore reads --state, and puts what runs under the policies, as a round would.
func (x *explainer) readStore(ctx context.Context, cfg budgetConfig) (*runningStore, error) {
	snap, err := readStore(ctx, cfg.state)
	if err != nil {
		return nil, err
	}
	r := &runningStore{path: cfg.state, snap: snap, tails: map[string]pricing.Money{}, state: autoscale.State{Now: x.now, Catalogue: x.world.catalogue}}
	(&running{store: snap}).fromStore(&r.state)
	if r.state.Offers, err = x.world.offers(cfg.settings, x.at, x.world.places(x.at)); err != nil {
		return nil, err
	}
	return r, r.state.UnderPolicies(x.policies, budget.Standings(x.policies, x.spends, x.now), x.world.history)
}

// jobNamed finds a job in the store or, where it has run nowhere yet, in the file of jobs.
func (cfg budgetConfig) jobNamed(world world, store *runningStore, name string, in io.Reader) (*autoscale.JobRecord, error) {
	var list []autoscale.JobRecord
	if store != nil {
		list = store.snap.Jobs
	}
	if cfg.jobs != "" {
		jobs, err := world.readJobs(cfg.jobs, in)
		if err != nil {
			return nil, err
		}
		for _, j := range jobs {
			list = append(list, autoscale.JobRecord{Job: j})
		}
	}
	if store == nil && cfg.jobs == "" {
		return nil, fmt.Errorf("%s: a job is described by --jobs FILE or --state STORE; an offering is cloud/zone/type/market", name)
	}
	var near []string
	for i := range list {
		if string(list[i].Job.ID) == name {
			return &list[i], nil
		}
		near = append(near, string(list[i].Job.ID))
	}
	return nil, fmt.Errorf("there is no job %q%s", name, suggestion(name, near))
}

// known is what the store knows of a launch.
func (x *explainer) known(o provider.Offering, who buyer) budget.Known {
	if x.store == nil {
		return budget.Known{}
	}
	known := budget.Known{Questions: x.store.snap.Questions, Runs: x.store.state.Position, Tail: x.tail}
	if r := who.record; r != nil && (!r.Waiting.IsZero() || r.Target != nil || r.Gang != nil) { // the store knows it
		known.Spot = func(p *budget.Policy) (string, bool) {
			return x.spotWait(x.store.state.SpotWait(p.Name, who.record, o))
		}
	}
	return known
}

// tail is what the machines of the store go on to cost against a cap, as status counts it.
func (x *explainer) tail(s *budget.Standing) (pricing.Money, error) {
	if sum, known := x.store.tails[s.Name()]; known {
		return sum, nil
	}
	reckoned := autoscale.DefaultSettings()
	reckoned.Round = x.round
	list, err := x.store.state.Tails(x.policies, []budget.Standing{*s}, x.world.history, reckoned)
	if err != nil {
		return 0, err
	}
	x.store.tails[s.Name()] = list[0]
	return list[0], nil
}

// spotWait is how a job waits for spot, in words, and whether it has to.
func (x *explainer) spotWait(w autoscale.SpotWait) (says string, waits bool) {
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	switch {
	case w.Free != "":
		return "on demand at once: " + w.Free, false
	case w.Why == "":
		return "", false
	case w.Since.IsZero():
		return w.Why + ": it has what it runs on, and has not begun to wait", true
	}
	return fmt.Sprintf("%s: %v have passed since %s, it ends at %s", w.Why, x.now.Sub(w.Since).Round(time.Second), at(w.Since), at(w.Until)), true
}

// answers are the commands that answer questions.
func (x *explainer) answers(questions []string) (notes []string) {
	for _, id := range questions {
		notes = append(notes, fmt.Sprintf("Question %s: goodfleet budget approve %s --state %s --who YOU --why WHY, or deny.", id, id, x.store.path))
	}
	return notes
}

// traffic is what a job takes along costs at once.
type traffic struct {
	Traffic string `json:"traffic,omitempty"`        // USD; a lower bound where something is unknown
	Unknown string `json:"trafficUnknown,omitempty"` // what of it cannot be known
}

// trafficOf is what a job takes to an offering; record nil: nothing describes it.
func trafficOf(record *autoscale.JobRecord, o provider.Offering) (t traffic) {
	if record == nil {
		return traffic{Unknown: "nothing describes the job: name --jobs or --state"}
	}
	amount, unknown := record.Traffic(o)
	if t.Unknown = unknown; amount > 0 {
		t.Traffic = amount.String()
	}
	return t
}

// says is the traffic in words; "" where there is none.
func (t traffic) says() string {
	switch {
	case t.Unknown == "" && t.Traffic == "":
		return ""
	case t.Unknown == "":
		return "what it takes there costs " + t.Traffic + " USD at once"
	case t.Traffic == "":
		return "what it takes there cannot be known: " + t.Unknown
	}
	return "what it takes there costs at least " + t.Traffic + " USD at once: " + t.Unknown
}
