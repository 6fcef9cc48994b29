package providertest_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goodfleet/goodfleet/provider"
	"github.com/goodfleet/goodfleet/provider/fake"
	"github.com/goodfleet/goodfleet/provider/providertest"
)

// bent is a driver with one mistake; what is nil is done right.
type bent struct {
	*fake.Cloud
	name      func() string
	launch    func(context.Context, provider.LaunchRequest) ([]provider.Instance, error)
	instances func([]provider.Instance, error) ([]provider.Instance, error)
	notices   func([]provider.Interruption, error) ([]provider.Interruption, error)
	quotas    func([]provider.Quota, error) ([]provider.Quota, error)
	terminate func(context.Context, []provider.InstanceID) error
	keys      func([]string) []string
}

func (b *bent) Name() string {
	if b.name != nil {
		return b.name()
	}
	return b.Cloud.Name()
}

func (b *bent) Launch(ctx context.Context, req provider.LaunchRequest) ([]provider.Instance, error) {
	if b.launch != nil {
		return b.launch(ctx, req)
	}
	return b.Cloud.Launch(ctx, req)
}

func (b *bent) Instances(ctx context.Context) ([]provider.Instance, error) {
	list, err := b.Cloud.Instances(ctx)
	if b.instances != nil {
		return b.instances(list, err)
	}
	return list, err
}

func (b *bent) Interruptions(ctx context.Context) ([]provider.Interruption, error) {
	list, err := b.Cloud.Interruptions(ctx)
	if b.notices != nil {
		return b.notices(list, err)
	}
	return list, err
}

func (b *bent) Quotas(ctx context.Context) ([]provider.Quota, error) {
	list, err := b.Cloud.Quotas(ctx)
	if b.quotas != nil {
		return b.quotas(list, err)
	}
	return list, err
}

func (b *bent) Terminate(ctx context.Context, ids ...provider.InstanceID) error {
	if b.terminate != nil {
		return b.terminate(ctx, ids)
	}
	return b.Cloud.Terminate(ctx, ids...)
}

// each changes every row of a listing.
func each(change func(*provider.Instance)) func([]provider.Instance, error) ([]provider.Instance, error) {
	return func(list []provider.Instance, err error) ([]provider.Instance, error) {
		for i := range list {
			change(&list[i])
		}
		return list, err
	}
}

// keep leaves out rows of a listing.
func keep(which func(provider.Instance) bool) func([]provider.Instance, error) ([]provider.Instance, error) {
	return func(list []provider.Instance, err error) ([]provider.Instance, error) {
		return slices.DeleteFunc(list, func(i provider.Instance) bool { return !which(i) }), err
	}
}

// mistakes are drivers that break one clause each.
var mistakes = []struct {
	clause string
	what   string
	bend   func(b *bent)
}{
	{"launch-brings-what-was-asked", "it leaves out the time of the launch", func(b *bent) {
		b.launch = func(ctx context.Context, req provider.LaunchRequest) ([]provider.Instance, error) {
			got, err := b.Cloud.Launch(ctx, req)
			for i := range got {
				got[i].Launched = time.Time{}
			}
			return got, err
		}
	}},
	{"token-buys-once", "it forgets a token after a while", func(b *bent) {
		var mu sync.Mutex
		sent := map[string]time.Time{}
		b.launch = func(ctx context.Context, req provider.LaunchRequest) ([]provider.Instance, error) {
			mu.Lock()
			if first, known := sent[req.Token]; !known {
				sent[req.Token] = b.Now()
			} else if b.Now().Sub(first) > 10*time.Second {
				req.Token += " more"
			}
			mu.Unlock()
			return b.Cloud.Launch(ctx, req)
		}
	}},
	{"token-with-other-request", "it answers by the token alone", func(b *bent) {
		var mu sync.Mutex
		first := map[string]provider.LaunchRequest{}
		b.launch = func(ctx context.Context, req provider.LaunchRequest) ([]provider.Instance, error) {
			mu.Lock()
			if before, known := first[req.Token]; known {
				req = before
			} else if req.Validate() == nil {
				first[req.Token] = req
			}
			mu.Unlock()
			return b.Cloud.Launch(ctx, req)
		}
	}},
	{"token-sent-twice-at-once", "it notes a token after the launch, not before", func(b *bent) {
		var mu sync.Mutex
		under := 0
		all := make(chan struct{})
		b.launch = func(ctx context.Context, req provider.LaunchRequest) ([]provider.Instance, error) {
			if req.Token != "at once" { // there is nobody to wait for
				return b.Cloud.Launch(ctx, req)
			}
			mu.Lock()
			under++
			n := under
			if n == 2 {
				close(all)
			}
			mu.Unlock()
			<-all // two at least are under way
			if n == 2 {
				req.Token += " too"
			}
			return b.Cloud.Launch(ctx, req)
		}
	}},
	{"refused-token-may-be-sent-again", "it keeps the refusal for the token", func(b *bent) {
		var refusals sync.Map
		b.launch = func(ctx context.Context, req provider.LaunchRequest) ([]provider.Instance, error) {
			if err, known := refusals.Load(req.Token); known {
				return nil, err.(error)
			}
			got, err := b.Cloud.Launch(ctx, req)
			if errors.Is(err, provider.ErrCapacity) && len(got) == 0 {
				refusals.Store(req.Token, err)
			}
			return got, err
		}
	}},
	{"spent-token", "it takes a token whose machines ended for a success", func(b *bent) {
		b.launch = func(ctx context.Context, req provider.LaunchRequest) ([]provider.Instance, error) {
			got, err := b.Cloud.Launch(ctx, req)
			if errors.Is(err, provider.ErrSpent) {
				err = nil
			}
			return got, err
		}
	}},
	{"part-comes-with-error", "it drops the error beside a part", func(b *bent) {
		b.launch = func(ctx context.Context, req provider.LaunchRequest) ([]provider.Instance, error) {
			got, err := b.Cloud.Launch(ctx, req)
			if len(got) > 0 && errors.Is(err, provider.ErrCapacity) {
				err = nil
			}
			return got, err
		}
	}},
	{"least-is-kept", "it takes any part", func(b *bent) {
		b.launch = func(ctx context.Context, req provider.LaunchRequest) ([]provider.Instance, error) {
			req.Min = min(req.Min, 1)
			return b.Cloud.Launch(ctx, req)
		}
	}},
	{"lost-answer-is-found", "it takes a lost answer for a refusal", func(b *bent) {
		b.launch = func(ctx context.Context, req provider.LaunchRequest) ([]provider.Instance, error) {
			got, err := b.Cloud.Launch(ctx, req)
			if errors.Is(err, provider.ErrUnknown) && ctx.Err() == nil {
				err = &provider.LaunchError{Offering: req.Offering, Want: req.Count, Err: provider.ErrCapacity}
			}
			return got, err
		}
	}},
	{"alternates-come-as-one", "it asks in the first zone alone", func(b *bent) {
		b.launch = func(ctx context.Context, req provider.LaunchRequest) ([]provider.Instance, error) {
			req.Alternates = nil
			return b.Cloud.Launch(ctx, req)
		}
	}},
	{"cloud-has-its-name", "it calls itself by its product", func(b *bent) { b.name = func() string { return "EC2" } }},
	{"listed-within-grace", "it lists from a cache", func(b *bent) {
		b.instances = keep(func(i provider.Instance) bool { return b.Now().Sub(i.Launched) >= 50*time.Second })
	}},
	{"listing-has-every-machine", "it reads the first page", func(b *bent) {
		b.instances = func(list []provider.Instance, err error) ([]provider.Instance, error) {
			return list[:min(len(list), 20)], err
		}
	}},
	{"tags-come-back", "it keeps a round in a float", func(b *bent) {
		b.instances = each(func(i *provider.Instance) { i.Tags.Round = int64(float64(i.Tags.Round)) })
	}},
	{"tag-keys-are-plain", "it puts a path before its keys", func(b *bent) {
		b.keys = func(keys []string) []string {
			for i := range keys {
				keys[i] = "goodfleet.io/" + keys[i]
			}
			return keys
		}
	}},
	{"life-goes-forward", "it takes the launch for the start", func(b *bent) {
		b.instances = each(func(i *provider.Instance) {
			if i.State == provider.Pending {
				i.Started = i.Launched
			}
		})
	}},
	{"failed-listing-is-no-listing", "it takes a failed listing for an empty one", func(b *bent) {
		b.instances = func(list []provider.Instance, err error) ([]provider.Instance, error) {
			if errors.Is(err, provider.ErrThrottled) {
				return nil, nil
			}
			return list, err
		}
	}},
	{"others-are-listed", "it lists what is its own", func(b *bent) {
		b.instances = keep(func(i provider.Instance) bool { return i.Tags.Intent != "" })
	}},
	{"interruption-is-told", "it dates notices after the loss", func(b *bent) {
		b.notices = func(list []provider.Interruption, err error) ([]provider.Interruption, error) {
			for i := range list {
				if n := &list[i]; !n.Hint {
					n.Noticed = n.Loss.Add(time.Minute)
				}
			}
			return list, err
		}
	}},
	{"hint-is-no-notice", "it takes a hint for a notice", func(b *bent) {
		b.notices = func(list []provider.Interruption, err error) ([]provider.Interruption, error) {
			for i := range list {
				if n := &list[i]; n.Hint {
					n.Hint, n.Loss = false, n.Noticed
				}
			}
			return list, err
		}
	}},
	{"terminate-ends", "it does not say who ended a machine", func(b *bent) {
		b.instances = each(func(i *provider.Instance) {
			if i.Cause == provider.EndedByUs {
				i.Cause = provider.Failed
			}
		})
	}},
	{"terminate-again", "it refuses what is gone", func(b *bent) {
		gone := map[provider.InstanceID]bool{}
		b.terminate = func(ctx context.Context, ids []provider.InstanceID) error {
			for _, id := range ids {
				if gone[id] {
					return provider.ErrNotFound
				}
			}
			err := b.Cloud.Terminate(ctx, ids...)
			for _, id := range ids {
				gone[id] = err == nil
			}
			return err
		}
	}},
	{"terminate-unknown", "it gives up at an unknown id", func(b *bent) {
		b.terminate = func(ctx context.Context, ids []provider.InstanceID) error {
			for _, id := range ids {
				if !slices.ContainsFunc(b.Machines(), func(i provider.Instance) bool { return i.ID == id }) {
					return provider.ErrNotFound
				}
			}
			return b.Cloud.Terminate(ctx, ids...)
		}
	}},
	{"denied-end", "it takes a denial for an end", func(b *bent) {
		b.terminate = func(ctx context.Context, ids []provider.InstanceID) error {
			if err := b.Cloud.Terminate(ctx, ids...); !errors.Is(err, provider.ErrDenied) {
				return err
			}
			return nil
		}
	}},
	{"quota-is-kept", "it lists no quotas", func(b *bent) {
		b.quotas = func(_ []provider.Quota, err error) ([]provider.Quota, error) { return nil, err }
	}},
	{"refusals-have-their-kind", "it keeps the text of a throttling, not its kind", func(b *bent) {
		b.launch = func(ctx context.Context, req provider.LaunchRequest) ([]provider.Instance, error) {
			got, err := b.Cloud.Launch(ctx, req)
			if errors.Is(err, provider.ErrThrottled) {
				err = errors.New(err.Error())
			}
			return got, err
		}
	}},
	{"invalid-request", "it makes up a token", func(b *bent) {
		b.launch = func(ctx context.Context, req provider.LaunchRequest) ([]provider.Instance, error) {
			if req.Token == "" {
				req.Token = "made up"
			}
			return b.Cloud.Launch(ctx, req)
		}
	}},
	{"cancelled-context", "it goes on when it was told to stop", func(b *bent) {
		b.terminate = func(ctx context.Context, ids []provider.InstanceID) error {
			return b.Cloud.Terminate(context.WithoutCancel(ctx), ids...)
		}
	}},
	{"hang-ends-with-context", "it takes a call without an answer for a refusal", func(b *bent) {
		b.launch = func(ctx context.Context, req provider.LaunchRequest) ([]provider.Instance, error) {
			got, err := b.Cloud.Launch(ctx, req)
			if errors.Is(err, context.DeadlineExceeded) {
				err = &provider.LaunchError{Offering: req.Offering, Want: req.Count, Err: provider.ErrCapacity}
			}
			return got, err
		}
	}},
}

// bentSetup runs the suite on the fake cloud seen through a bent driver.
func bentSetup(bend func(*bent)) providertest.Setup {
	return providertest.Setup{Open: func(t testing.TB) providertest.Stage {
		b := &bent{Cloud: calm(t)}
		bend(b)
		return stage(t, b.Cloud, b)
	}}
}

func broken(results []providertest.Result) []string {
	var names []string
	for _, r := range results {
		if r.Broken != nil {
			names = append(names, r.Clause.Name)
		}
	}
	return names
}

func TestEachClauseCatchesItsMistakeAlone(t *testing.T) {
	for _, m := range mistakes {
		t.Run(m.clause, func(t *testing.T) {
			if diff := cmp.Diff([]string{m.clause}, broken(providertest.Check(t, bentSetup(m.bend)))); diff != "" {
				t.Errorf("%s: clauses broken (-want +got):\n%s", m.what, diff)
			}
		})
	}
}

func TestEveryClauseHasAMistake(t *testing.T) {
	var got, want []string
	for _, m := range mistakes {
		got = append(got, m.clause)
	}
	for _, c := range providertest.Clauses() {
		want = append(want, c.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mistakes (-want +got):\n%s", diff)
	}
}

func TestWhatCannotBeProvokedMustBeDeclared(t *testing.T) {
	setup := bentSetup(func(*bent) {})
	open := setup.Open
	setup.Open = func(t testing.TB) providertest.Stage {
		s := open(t)
		s.Trouble.Hang, s.Trouble.Interrupt = nil, nil
		return s
	}
	setup.CannotShow = map[string]string{
		"hang-ends-with-context": "the server always answers",
		"no-such-clause":         "it is a typing error",
		"terminate-ends":         "",
	}
	want := []string{"interruption-is-told", "hint-is-no-notice", "no-such-clause", "terminate-ends"}
	results := providertest.Check(t, setup)
	if diff := cmp.Diff(want, broken(results)); diff != "" {
		t.Errorf("broken (-want +got):\n%s", diff)
	}
	for _, r := range results {
		if (r.Clause.Name == "hang-ends-with-context") != (r.NotShown != "") {
			t.Errorf("%s: not shown %q", r.Clause.Name, r.NotShown)
		}
	}
}
