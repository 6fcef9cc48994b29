package fake

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/provider"
)

var start = time.Date(2023, 6, 1, 0, 0, 0, 0, time.UTC)

func testCatalogue(t testing.TB) *provider.Catalogue {
	t.Helper()
	c, err := provider.EmbeddedCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func offering(cloud, zone, name string, m provider.Market) provider.Offering {
	return provider.Offering{Cloud: cloud, Account: "acct", Region: strings.TrimRight(zone, "abc123"), Zone: zone, Type: name, Market: m}
}

var (
	v100Spot = offering("aws", "use1-az1", "p3.2xlarge", provider.Spot)
	v100     = offering("aws", "use1-az1", "p3.2xlarge", provider.OnDemand)
	v100x8   = offering("aws", "use1-az1", "p3.16xlarge", provider.OnDemand)
	k80Spot  = offering("aws", "use1-az2", "p2.xlarge", provider.Spot)
)

// calm is a climate in which nothing ever happens.
func calm() *Climate {
	return &Climate{
		Law:   func(provider.Pool, provider.InstanceType) Law { return Law{} },
		Boot:  func(provider.InstanceType) Boot { return Boot{Mean: time.Minute} },
		Depth: func(provider.InstanceType) Depth { return Depth{Median: 20} },
		Keep:  3 * time.Hour,
	}
}

// stormy is a climate of exponential spells of these means, in which a pool takes
// all of its machines.
func stormy(upHours, downHours float64) *Climate {
	c := calm()
	c.Law = func(provider.Pool, provider.InstanceType) Law {
		return Law{Up: Exponential(upHours), Down: Exponential(downHours)}
	}
	c.Together = 1
	c.Notice = Notice{Lead: 2 * time.Minute}
	return c
}

func newCloud(t testing.TB, climate *Climate, change func(*Config)) *Cloud {
	t.Helper()
	cfg := Config{
		Name: "aws", Account: "acct", Seed: 1, Start: start, Catalogue: testCatalogue(t),
		Offerings: []provider.Offering{v100Spot, v100, v100x8, k80Spot}, InterruptionScale: 1, Climate: climate,
	}
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func request(token string, o provider.Offering, count, min int) provider.LaunchRequest {
	return provider.LaunchRequest{Token: token, Offering: o, Count: count, Min: min, Tags: provider.Tags{Fleet: "f", Epoch: 1, Round: 2, Intent: token}}
}

func mustLaunch(t testing.TB, c *Cloud, req provider.LaunchRequest) []provider.Instance {
	t.Helper()
	got, err := c.Launch(context.Background(), req)
	if err != nil {
		t.Fatalf("launch: %v", err)
	}
	return got
}

func list(t testing.TB, c *Cloud) []provider.Instance {
	t.Helper()
	got, err := c.Instances(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// untilUp advances c to an instant at which a pool is up.
func untilUp(t testing.TB, c *Cloud, o provider.Offering) {
	t.Helper()
	for _, s := range c.Walk(o.Pool(), c.Now(), c.Now().Add(10_000*time.Hour)) {
		if s.Up {
			c.Advance(s.From)
			return
		}
	}
	t.Fatalf("pool %s is never up", o.Pool())
}

func TestLaunchRunsAfterBootAndBillsFromThen(t *testing.T) {
	c := newCloud(t, calm(), nil)
	got := mustLaunch(t, c, request("a", v100, 2, 2))
	for _, i := range got {
		if i.State != provider.Pending || !i.Launched.Equal(start) || !i.Started.IsZero() {
			t.Errorf("just launched: %+v", i)
		}
	}
	if at, ok := c.NextEvent(); !ok || !at.Equal(start.Add(time.Minute)) {
		t.Errorf("next event %v %v, want the end of the boot", at, ok)
	}
	c.Advance(start.Add(59 * time.Second))
	if s := list(t, c)[0].State; s != provider.Pending {
		t.Errorf("after 59 s: %v, want pending", s)
	}
	c.Advance(start.Add(time.Hour))
	for _, i := range list(t, c) {
		if i.State != provider.Running || !i.Started.Equal(start.Add(time.Minute)) {
			t.Errorf("after an hour: %+v", i)
		}
	}
	if at, ok := c.NextEvent(); ok {
		t.Errorf("next event %v, want none: on-demand machines are not lost", at)
	}
}

func TestLaunchRefusals(t *testing.T) {
	quota := provider.Quota{Class: provider.QuotaClass{Cloud: "aws", Region: v100.Region, Family: "P", Market: provider.OnDemand}, Unit: provider.VCPUs, Limit: 20}
	down := calm()
	down.Law = func(p provider.Pool, _ provider.InstanceType) Law {
		return Law{Up: Exponential(0.001), Down: Exponential(1e5)}
	}
	for _, tc := range []struct {
		name    string
		climate *Climate
		req     provider.LaunchRequest
		got     int
		kind    error
	}{
		{"all or nothing within the quota", calm(), request("a", v100, 2, 2), 2, nil},
		{"quota leaves a part", calm(), request("a", v100, 3, 1), 2, provider.ErrQuota},
		{"quota leaves less than the least", calm(), request("a", v100, 3, 3), 0, provider.ErrQuota},
		{"one machine over the quota", calm(), request("a", v100x8, 1, 1), 0, provider.ErrQuota},
		{"spot is counted apart", calm(), request("a", v100Spot, 20, 20), 20, nil},
		{"depth leaves a part", calm(), request("a", v100Spot, 25, 1), 20, provider.ErrCapacity},
		{"depth leaves less than the least", calm(), request("a", v100Spot, 25, 21), 0, provider.ErrCapacity},
		{"pool is down", down, request("a", v100Spot, 1, 1), 0, provider.ErrCapacity},
		{"not sold", calm(), request("a", offering("aws", "use1-az3", "p3.2xlarge", provider.Spot), 1, 1), 0, provider.ErrInvalid},
		{"another account", calm(), func() provider.LaunchRequest {
			r := request("a", v100, 1, 1)
			r.Offering.Account = "other"
			return r
		}(), 0, provider.ErrInvalid},
		{"no token", calm(), request("", v100, 1, 1), 0, provider.ErrInvalid},
		{"min over count", calm(), request("a", v100, 1, 2), 0, provider.ErrInvalid},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCloud(t, tc.climate, func(cfg *Config) { cfg.Quotas = []provider.Quota{quota} })
			got, err := c.Launch(context.Background(), tc.req)
			if len(got) != tc.got || provider.KindOf(err) != tc.kind {
				t.Fatalf("got %d machines, %v; want %d, %v", len(got), err, tc.got, tc.kind)
			}
			var failed *provider.LaunchError
			if err != nil && (!errors.As(err, &failed) || failed.Got != tc.got || failed.Want != tc.req.Count || failed.Offering != tc.req.Offering) {
				t.Errorf("error %#v does not say how far the launch came", err)
			}
			if n := len(list(t, c)); n != tc.got {
				t.Errorf("%d machines listed, want %d", n, tc.got)
			}
		})
	}
}

func TestTokenBuysOnce(t *testing.T) {
	ctx := context.Background()
	c := newCloud(t, calm(), nil)
	req := request("a", v100Spot, 25, 1)
	first, firstErr := c.Launch(ctx, req)
	again, againErr := c.Launch(ctx, req)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("repeated token, other machines: %s", diff)
	}
	if fmt.Sprint(firstErr) != fmt.Sprint(againErr) || firstErr == nil {
		t.Errorf("repeated token: error %v, first %v", againErr, firstErr)
	}
	other := req
	other.Count = 2
	if got, err := c.Launch(ctx, other); !errors.Is(err, provider.ErrInvalid) || got != nil {
		t.Errorf("same token, other request: %d machines, %v; want none, invalid", len(got), err)
	}
	for _, i := range first {
		if err := c.Terminate(ctx, i.ID, "i-unknown"); err != nil {
			t.Fatal(err)
		}
	}
	c.Advance(start.Add(100 * time.Hour))
	spent, err := c.Launch(ctx, req)
	if !errors.Is(err, provider.ErrSpent) || len(spent) != len(first) || spent[0].State != provider.Ended {
		t.Errorf("token whose machines ended: %d machines, %v; want %d ended ones, spent", len(spent), err, len(first))
	}
	if n := len(list(t, c)); n != 0 {
		t.Errorf("%d machines listed after a hundred hours, want none", n)
	}
}

func TestRefusedTokenMayBeTriedAgain(t *testing.T) {
	c := newCloud(t, stormy(1, 1), nil)
	for _, s := range c.Walk(v100Spot.Pool(), start, start.Add(1000*time.Hour)) {
		c.Advance(s.From)
		got, err := c.Launch(context.Background(), request("a", v100Spot, 1, 1))
		if s.Up {
			if err != nil || len(got) != 1 {
				t.Fatalf("up pool: %d machines, %v", len(got), err)
			}
			return
		}
		if !errors.Is(err, provider.ErrCapacity) {
			t.Fatalf("down pool: %v, want no capacity", err)
		}
	}
}

func TestTerminateFreesQuotaAndDepth(t *testing.T) {
	ctx := context.Background()
	c := newCloud(t, calm(), nil)
	first := mustLaunch(t, c, request("a", v100Spot, 20, 20))
	if _, err := c.Launch(ctx, request("b", v100Spot, 1, 1)); !errors.Is(err, provider.ErrCapacity) {
		t.Fatalf("full pool: %v, want no capacity", err)
	}
	if err := c.Terminate(ctx, first[0].ID, first[0].ID, first[1].ID); err != nil {
		t.Fatal(err)
	}
	mustLaunch(t, c, request("c", v100Spot, 2, 2))
	for _, i := range list(t, c)[:2] {
		if i.State != provider.Ended || i.Cause != provider.EndedByUs || !i.Ended.Equal(start) {
			t.Errorf("terminated machine: %+v", i)
		}
	}
}

func TestSpotPoolTakesAllItsMachinesWithNotice(t *testing.T) {
	ctx := context.Background()
	c := newCloud(t, stormy(5, 1), nil)
	untilUp(t, c, v100Spot)
	spell := c.Walk(v100Spot.Pool(), c.Now(), c.Now().Add(1000*time.Hour))[0]
	got := mustLaunch(t, c, request("a", v100Spot, 3, 3))
	notices := func() []provider.Interruption {
		l, err := c.Interruptions(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	c.Advance(spell.To.Add(-2*time.Minute - time.Second))
	if n := len(notices()); n != 0 {
		t.Fatalf("%d notices before the notice", n)
	}
	if at, ok := c.NextEvent(); !ok || !at.Equal(spell.To.Add(-2*time.Minute)) {
		t.Errorf("next event %v %v, want the notice at %v", at, ok, spell.To.Add(-2*time.Minute))
	}
	c.Advance(spell.To.Add(-time.Second))
	var want []provider.Interruption
	for _, i := range got {
		want = append(want, provider.Interruption{Instance: i.ID, Offering: v100Spot, Noticed: spell.To.Add(-2 * time.Minute), Loss: spell.To})
	}
	if diff := cmp.Diff(want, notices()); diff != "" {
		t.Errorf("notices: %s", diff)
	}
	if s := list(t, c)[0].State; s != provider.Running {
		t.Errorf("before the loss: %v, want running", s)
	}
	c.Advance(spell.To)
	for _, i := range list(t, c) {
		if i.State != provider.Ended || i.Cause != provider.Interrupted || !i.Ended.Equal(spell.To) {
			t.Errorf("at the loss: %+v", i)
		}
	}
	if diff := cmp.Diff(want, notices()); diff != "" {
		t.Errorf("past losses: %s", diff)
	}
	c.Advance(spell.To.Add(3*time.Hour + time.Second))
	if n := len(notices()); n != 0 {
		t.Errorf("%d losses listed after three hours", n)
	}
}

func TestNoticeEndsWithTheMachine(t *testing.T) {
	ctx := context.Background()
	c := newCloud(t, stormy(5, 1), nil)
	untilUp(t, c, v100Spot)
	spell := c.Walk(v100Spot.Pool(), c.Now(), c.Now().Add(1000*time.Hour))[0]
	got := mustLaunch(t, c, request("a", v100Spot, 1, 1))
	c.Advance(spell.To.Add(-time.Second))
	if err := c.Terminate(ctx, got[0].ID); err != nil {
		t.Fatal(err)
	}
	c.Advance(spell.To.Add(time.Minute))
	if l, _ := c.Interruptions(ctx); len(l) != 0 {
		t.Errorf("a machine that we ended before its loss is listed: %v", l)
	}
	if i := list(t, c)[0]; i.Cause != provider.EndedByUs {
		t.Errorf("cause %v, want by us", i.Cause)
	}
	if _, ok := c.NextEvent(); ok {
		t.Errorf("events are left for a machine that is gone")
	}
}

func TestOnDemandShortageRefusesButTakesNothing(t *testing.T) {
	climate := stormy(2, 2)
	climate.Depth = func(provider.InstanceType) Depth { return Depth{Median: 1000} }
	c := newCloud(t, climate, nil)
	untilUp(t, c, v100)
	mustLaunch(t, c, request("a", v100, 1, 1))
	for _, s := range c.Walk(v100.Pool(), c.Now(), c.Now().Add(100*time.Hour)) {
		c.Advance(s.From)
		_, err := c.Launch(context.Background(), request(s.From.String(), v100, 1, 1))
		if s.Up != (err == nil) {
			t.Fatalf("up %v, launch: %v", s.Up, err)
		}
	}
	for _, i := range list(t, c) {
		if i.State == provider.Ended {
			t.Errorf("on-demand machine ended: %+v", i)
		}
	}
}

func TestMissingNoticeComesWithTheLoss(t *testing.T) {
	climate := stormy(5, 1)
	climate.Notice.Missing = 1
	c := newCloud(t, climate, nil)
	untilUp(t, c, v100Spot)
	spell := c.Walk(v100Spot.Pool(), c.Now(), c.Now().Add(1000*time.Hour))[0]
	mustLaunch(t, c, request("a", v100Spot, 1, 1))
	c.Advance(spell.To.Add(-time.Second))
	if l, _ := c.Interruptions(context.Background()); len(l) != 0 {
		t.Errorf("notice before the loss: %v", l)
	}
	c.Advance(spell.To)
	l, _ := c.Interruptions(context.Background())
	if len(l) != 1 || !l[0].Noticed.Equal(l[0].Loss) {
		t.Errorf("interruptions %v, want one noticed at its loss", l)
	}
}

func TestIDsLookLikeTheCloudsOwn(t *testing.T) {
	aws := mustLaunch(t, newCloud(t, calm(), nil), request("a", v100, 1, 1))[0].ID
	if len(aws) != 19 || !strings.HasPrefix(string(aws), "i-") {
		t.Errorf("aws id %q", aws)
	}
	o := offering("gcp", "us-east1-c", "n1-standard-8+v100x1", provider.OnDemand)
	gcp := newCloud(t, calm(), func(cfg *Config) { cfg.Name, cfg.Offerings = "gcp", []provider.Offering{o} })
	id := mustLaunch(t, gcp, request("a", o, 1, 1))[0].ID
	if strings.Trim(string(id), "0123456789") != "" {
		t.Errorf("gcp id %q, want a number", id)
	}
}

func TestCancelledContextBuysNothing(t *testing.T) {
	c := newCloud(t, calm(), nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got, err := c.Launch(ctx, request("a", v100, 1, 1)); !errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("launch: %v, %v", got, err)
	}
	if _, err := c.Instances(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("instances: %v", err)
	}
	if n := len(list(t, c)); n != 0 {
		t.Errorf("%d machines after a cancelled launch", n)
	}
}

func TestNewRefusesWhatCannotBe(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"interruption scale 0": func(c *Config) { c.InterruptionScale = 0 },
		"interruption scale":   func(c *Config) { c.InterruptionScale = math.NaN() },
		"start is not set":     func(c *Config) { c.Start = time.Time{} },
		"no catalogue":         func(c *Config) { c.Catalogue = nil },
		"listed twice":         func(c *Config) { c.Offerings = append(c.Offerings, v100) },
		"another cloud":        func(c *Config) { c.Offerings = append(c.Offerings, offering("gcp", "z", "v2-8", provider.Spot)) },
		"no such type":         func(c *Config) { c.Offerings = append(c.Offerings, offering("aws", "z", "p9.huge", provider.Spot)) },
		"only on-demand and sp": func(c *Config) {
			c.Offerings = append(c.Offerings, offering("aws", "z", "p3.2xlarge", provider.Reserved))
		},
		"of account": func(c *Config) { c.Account = "other" },
		"limit -1":   func(c *Config) { c.Quotas = []provider.Quota{{Unit: provider.VCPUs, Limit: -1}} },
		"given twice": func(c *Config) {
			c.Quotas = make([]provider.Quota, 2)
			c.Quotas[0].Unit, c.Quotas[1].Unit = provider.VCPUs, provider.VCPUs
		},
		"probability of alone": func(c *Config) { c.Climate.Alone = 2 },
		"law, boot and depth":  func(c *Config) { c.Climate = &Climate{} },
		"down spells: shape": func(c *Config) {
			c.Climate.Law = func(provider.Pool, provider.InstanceType) Law { return Law{Up: Exponential(1)} }
		},
		"cloud \"azure\"": func(c *Config) { c.Name, c.Offerings, c.Climate = "azure", nil, nil },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{
				Name: "aws", Account: "acct", Start: start, Catalogue: testCatalogue(t),
				Offerings: []provider.Offering{v100}, InterruptionScale: 1, Climate: calm(),
			}
			change(&cfg)
			if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("error %v, want one that says %q", err, name)
			}
		})
	}
}
