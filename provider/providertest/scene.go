package providertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goodfleet/goodfleet/provider"
)

// scene is a stage with the calls that clauses are made of.
type scene struct{ Stage }

// fleet is the id in the tags of what the suite launches.
const fleet = "4f6e0c0a-conformance"

// request asks for a number of machines, any part of them.
func (s *scene) request(token string, count int) provider.LaunchRequest {
	return provider.LaunchRequest{
		Token: token, Offering: s.Offering, Count: count, Min: 1,
		Tags: provider.Tags{Fleet: fleet, Epoch: 3, Round: 7, Intent: token},
	}
}

// launch buys machines and fails if not all come up.
func (s *scene) launch(ctx context.Context, token string, count int) ([]provider.InstanceID, error) {
	got, err := s.Cloud.Launch(ctx, s.request(token, count))
	if err != nil {
		return nil, fmt.Errorf("launch: %w", err)
	}
	if len(got) != count {
		return nil, fmt.Errorf("launch of %d brought %d and no error", count, len(got))
	}
	return ids(got), nil
}

// ids are the ids of instances, in order.
func ids(list []provider.Instance) []provider.InstanceID {
	names := make([]provider.InstanceID, len(list))
	for i, inst := range list {
		names[i] = inst.ID
	}
	slices.Sort(names)
	return names
}

// patience is how many times the grace the suite waits for what is bound to come.
const patience = 10

// await lists until what is listed satisfies done, for that long at most.
func (s *scene) await(ctx context.Context, what string, done func([]provider.Instance) bool) ([]provider.Instance, error) {
	for i := 0; ; i++ {
		list, err := s.Cloud.Instances(ctx)
		if err != nil {
			return nil, fmt.Errorf("list: %w", err)
		}
		if done(list) {
			return list, nil
		}
		if i == patience {
			return nil, fmt.Errorf("%s: not in %v", what, patience*s.Grace)
		}
		s.Wait(s.Grace)
	}
}

// listed waits until all of some machines are listed.
func (s *scene) listed(ctx context.Context, want []provider.InstanceID) ([]provider.Instance, error) {
	return s.await(ctx, fmt.Sprintf("%d machines listed", len(want)), func(list []provider.Instance) bool {
		got := ids(list)
		for _, id := range want {
			if !slices.Contains(got, id) {
				return false
			}
		}
		return true
	})
}

// only fails unless exactly some machines are listed, after they had time to appear.
func (s *scene) only(ctx context.Context, want []provider.InstanceID) error {
	s.Wait(s.Grace)
	list, err := s.listed(ctx, want)
	if err != nil {
		return err
	}
	if got := ids(list); !slices.Equal(got, want) {
		return fmt.Errorf("%d machines are listed, want %d", len(got), len(want))
	}
	return nil
}

// find is one machine of a listing.
func find(list []provider.Instance, id provider.InstanceID) (provider.Instance, bool) {
	i := slices.IndexFunc(list, func(inst provider.Instance) bool { return inst.ID == id })
	if i < 0 {
		return provider.Instance{}, false
	}
	return list[i], true
}

// state waits until a machine is in a state.
func (s *scene) state(ctx context.Context, id provider.InstanceID, want provider.InstanceState) (provider.Instance, error) {
	var found provider.Instance
	_, err := s.await(ctx, fmt.Sprintf("%s is %v", id, want), func(list []provider.Instance) bool {
		inst, there := find(list, id)
		found = inst
		return there && inst.State == want
	})
	return found, err
}

// refused fails unless err is of a kind and tells how far a launch came.
func refused(err, kind error, want, got int) error {
	var told *provider.LaunchError
	switch {
	case err == nil:
		return fmt.Errorf("no error, want one of kind %q", kind)
	case provider.KindOf(err) != kind:
		return fmt.Errorf("error %q is of kind %q, want %q", err, provider.KindOf(err), kind)
	case !errors.As(err, &told):
		return fmt.Errorf("error %q is no *provider.LaunchError", err)
	case told.Want != want || told.Got != got:
		return fmt.Errorf("error %q says %d of %d, want %d of %d", strings.TrimSpace(err.Error()), told.Got, told.Want, got, want)
	}
	return nil
}
