package fake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goodfleet/goodfleet/provider"
)

// world is a cloud under random calls, and what must hold of it after each.
type world struct {
	t      *rapid.T
	c      *Cloud
	quotas []provider.Quota
	tokens map[string]provider.LaunchRequest
	bought map[string][]provider.InstanceID
	seen   map[provider.InstanceID]provider.Instance // as last listed or returned
	ended  map[provider.InstanceID]bool              // by us

	watch   Watch
	watched []provider.Instance // what all looks told, in their order
}

var propertyOfferings = []provider.Offering{v100Spot, v100, v100x8, k80Spot}

func newWorld(t *rapid.T, tb testing.TB) *world {
	climate := stormy(rapid.Float64Range(0.05, 5).Draw(t, "up"), rapid.Float64Range(0.05, 2).Draw(t, "down"))
	climate.Together, climate.Alone, climate.OnePerHour = 0.7, 0.5, 0.05
	climate.Notice = Notice{Lead: 2 * time.Minute, Missing: 0.3}
	climate.Boot = func(provider.InstanceType) Boot { return Boot{Mean: 4 * time.Minute, Spread: 3 * time.Minute} }
	climate.Depth = func(provider.InstanceType) Depth { return Depth{Median: 5} }
	quota := func(m provider.Market, limit int) provider.Quota {
		return provider.Quota{Class: provider.QuotaClass{Cloud: "aws", Region: v100.Region, Family: "P", Market: m}, Unit: provider.VCPUs, Limit: limit}
	}
	quotas := []provider.Quota{quota(provider.OnDemand, 80), quota(provider.Spot, 50)}
	c := newCloud(tb, climate, func(cfg *Config) {
		cfg.Seed, cfg.Quotas = rapid.Uint64().Draw(t, "seed"), quotas
	})
	return &world{t: t, c: c, quotas: quotas, tokens: map[string]provider.LaunchRequest{}, bought: map[string][]provider.InstanceID{},
		seen: map[provider.InstanceID]provider.Instance{}, ended: map[provider.InstanceID]bool{}}
}

func (w *world) launch(t *rapid.T) {
	count := rapid.IntRange(1, 8).Draw(t, "count")
	token := fmt.Sprint("t", rapid.IntRange(0, 30).Draw(t, "token"))
	req := request(token, rapid.SampledFrom(propertyOfferings).Draw(t, "offering"), count, rapid.IntRange(1, count).Draw(t, "min"))
	before, known := w.tokens[token]
	if known && rapid.Bool().Draw(t, "repeat") {
		req = before
	}
	got, err := w.c.Launch(context.Background(), req)
	var ids []provider.InstanceID
	for _, i := range got {
		ids = append(ids, i.ID)
		if i.Offering != req.Offering || i.Tags != req.Tags {
			t.Fatalf("asked for %+v, got %+v", req, i)
		}
	}
	switch {
	case known && req.Equal(before):
		if diff := cmp.Diff(w.bought[token], ids); diff != "" {
			t.Fatalf("repeated token: other machines: %s", diff)
		}
		live := false
		for _, i := range got {
			live = live || i.Live()
		}
		if live == errors.Is(err, provider.ErrSpent) {
			t.Fatalf("repeated token: live %v, error %v", live, err)
		}
	case known:
		if !errors.Is(err, provider.ErrInvalid) || got != nil {
			t.Fatalf("token used again for another request: %d machines, %v", len(got), err)
		}
	default:
		if len(got) != 0 && len(got) < req.Min || len(got) > req.Count || (err == nil) != (len(got) == req.Count) {
			t.Fatalf("asked for %d to %d, got %d, %v", req.Min, req.Count, len(got), err)
		}
		if kind := provider.KindOf(err); err != nil && kind != provider.ErrCapacity && kind != provider.ErrQuota {
			t.Fatalf("refused with %v", err)
		}
		if len(got) > 0 {
			w.tokens[token], w.bought[token] = req, ids
		}
	}
	for _, i := range got {
		w.see(i)
	}
}

func (w *world) terminate(t *rapid.T) {
	ids := []provider.InstanceID{"i-nobody"}
	for _, i := range w.list() {
		if rapid.IntRange(0, 3).Draw(t, "pick") == 0 {
			ids = append(ids, i.ID)
			if i.Live() {
				w.ended[i.ID] = true
			}
		}
	}
	if err := w.c.Terminate(context.Background(), ids...); err != nil {
		t.Fatal(err)
	}
}

func (w *world) advance(t *rapid.T) {
	to := w.c.Now().Add(time.Duration(rapid.IntRange(0, 7200).Draw(t, "seconds")) * time.Second)
	if at, ok := w.c.NextEvent(); ok && rapid.Bool().Draw(t, "to the event") {
		if !at.After(w.c.Now()) {
			t.Fatalf("next event at %v, now %v", at, w.c.Now())
		}
		to = at
	}
	w.c.Advance(to)
}

func (w *world) list() []provider.Instance {
	got, err := w.c.Instances(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

// see checks one instance against what was seen of it before and against its life.
func (w *world) see(i provider.Instance) {
	now, m := w.c.Now(), w.c.machines[i.ID]
	if old, known := w.seen[i.ID]; known {
		if i.State < old.State || i.Launched != old.Launched || !old.Started.IsZero() && i.Started != old.Started || old.State == provider.Ended && i != old {
			w.t.Fatalf("a machine went from %+v to %+v", old, i)
		}
	}
	w.seen[i.ID] = i
	switch i.State {
	case provider.Pending:
		if !i.Started.IsZero() || !m.boots.After(now) {
			w.t.Fatalf("pending at %v, boots %v: %+v", now, m.boots, i)
		}
	case provider.Running:
		if !i.Started.Equal(m.boots) || i.Started.After(now) || !m.loss.IsZero() && !m.loss.After(now) {
			w.t.Fatalf("running at %v, boots %v, loss %v: %+v", now, m.boots, m.loss, i)
		}
	case provider.Ended:
		want := provider.Interrupted
		if w.ended[i.ID] {
			want = provider.EndedByUs
		}
		if i.Cause != want || i.Ended.After(now) || i.Ended.Before(i.Launched) || i.Ended.Before(i.Started) {
			w.t.Fatalf("ended, want cause %v: %+v", want, i)
		}
		if i.Cause == provider.Interrupted && (i.Offering.Market != provider.Spot || !i.Ended.Equal(m.loss)) {
			w.t.Fatalf("interrupted, loss %v: %+v", m.loss, i)
		}
	}
	if i.Live() && (i.Cause != provider.NotEnded || !i.Ended.IsZero()) {
		w.t.Fatalf("live with an end: %+v", i)
	}
}

// check holds after every call.
func (w *world) check(t *rapid.T) {
	used := map[provider.Market]int{}
	live := map[provider.Pool]int{}
	liveIDs := map[provider.InstanceID]bool{}
	for _, i := range w.list() {
		w.see(i)
		if i.Live() {
			typ, _ := w.c.cfg.Catalogue.Lookup(i.Offering.Cloud, i.Offering.Type)
			if i.Offering.Region == v100.Region {
				used[i.Offering.Market] += typ.VCPU
			}
			live[i.Offering.Pool()]++
			liveIDs[i.ID] = true
		}
	}
	for _, q := range w.quotas {
		if used[q.Class.Market] > q.Limit {
			t.Fatalf("%d vCPUs of %v are live, quota %d", used[q.Class.Market], q.Class.Market, q.Limit)
		}
		if counted := w.c.used[w.c.ours(q.Class)]; counted != used[q.Class.Market] {
			t.Fatalf("the quota of %v counts %d, live %d", q.Class.Market, counted, used[q.Class.Market])
		}
	}
	for _, o := range propertyOfferings {
		p := w.c.pools[o.Pool()]
		if live[p.key] > p.depth || p.live != live[p.key] {
			t.Fatalf("pool %s: %d live, counts %d, holds %d", p.key, live[p.key], p.live, p.depth)
		}
	}
	for id, i := range w.seen {
		if i.Live() && !liveIDs[id] {
			t.Fatalf("live machine %s is not listed", id)
		}
	}
	for _, i := range w.watch.Look(w.c) {
		at := slices.IndexFunc(w.watched, func(o provider.Instance) bool { return o.ID == i.ID })
		if at < 0 {
			w.watched = append(w.watched, i)
		} else if w.watched[at].State == provider.Ended {
			t.Fatalf("told twice that %s has ended", i.ID)
		} else {
			w.watched[at] = i
		}
	}
	if diff := cmp.Diff(w.c.Machines(), w.watched, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("looks tell something else (-machines +told):\n%s", diff)
	}
	notices, err := w.c.Interruptions(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range notices {
		if n.Noticed.After(w.c.Now()) || n.Loss.Before(n.Noticed) || w.seen[n.Instance].Cause == provider.EndedByUs {
			t.Fatalf("at %v: notice %+v of %+v", w.c.Now(), n, w.seen[n.Instance])
		}
		if w.seen[n.Instance].Live() && !n.Loss.After(w.c.Now()) {
			t.Fatalf("at %v: %+v outlives its loss", w.c.Now(), n)
		}
	}
}

func TestRandomCallsKeepQuotasTokensAndLives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(rt, t)
		rt.Repeat(map[string]func(*rapid.T){
			"launch": w.launch, "terminate": w.terminate, "advance": w.advance, "": w.check,
		})
	})
}

func TestConcurrentCallsKeepTheCounts(t *testing.T) {
	quota := provider.Quota{Class: provider.QuotaClass{Cloud: "aws", Region: v100.Region, Family: "P", Market: provider.OnDemand}, Unit: provider.VCPUs, Limit: 8 * 12}
	c := newCloud(t, calm(), func(cfg *Config) { cfg.Quotas = []provider.Quota{quota} })
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			ctx := context.Background()
			for i := range 50 {
				// Two goroutines send each token.
				got, err := c.Launch(ctx, request(fmt.Sprint(g/2, "-", i), v100, 1, 1))
				if err != nil && provider.KindOf(err) != provider.ErrQuota && provider.KindOf(err) != provider.ErrSpent {
					t.Errorf("launch: %v", err)
				}
				if len(got) > 0 && i%3 == 0 {
					if err := c.Terminate(ctx, got[0].ID); err != nil {
						t.Errorf("terminate: %v", err)
					}
				}
				c.Advance(start.Add(time.Duration(i) * time.Minute))
				c.NextEvent()
				if _, err := c.Instances(ctx); err != nil {
					t.Errorf("list: %v", err)
				}
			}
		})
	}
	wg.Wait()
	intents := map[string]int{}
	live := 0
	for _, i := range list(t, c) {
		intents[i.Tags.Intent]++
		if i.Live() {
			live++
		}
	}
	if live != 12 || live != c.pools[v100.Pool()].live {
		t.Errorf("%d machines live, pool counts %d, the quota allows 12", live, c.pools[v100.Pool()].live)
	}
	for intent, n := range intents {
		if n != 1 {
			t.Errorf("intent %s bought %d machines", intent, n)
		}
	}
}
