package providertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/goodfleet/goodfleet/provider"
)

// clauses are all clauses, in order.
var clauses = slices.Concat(launchClauses, listingClauses, endClauses, errorClauses)

var launchClauses = []clause{
	{
		name: "launch-brings-what-was-asked",
		law:  "A launch without error returns as many live machines as were asked for, each with an id of its own, the offering and the time of the launch.",
		show: func(ctx context.Context, s *scene) error {
			got, err := s.Cloud.Launch(ctx, s.request("asked", 3))
			if err != nil {
				return err
			}
			if n := len(slices.Compact(ids(got))); n != 3 {
				return fmt.Errorf("%d different ids, want 3", n)
			}
			for _, inst := range got {
				if inst.ID == "" || !inst.Live() || inst.Offering != s.Offering || inst.Launched.IsZero() {
					return fmt.Errorf("launched %+v", inst)
				}
			}
			return nil
		},
	},
	{
		name: "token-buys-once",
		law:  "A token sent again, at once or later, buys nothing more and returns what the first call bought.",
		show: func(ctx context.Context, s *scene) error {
			first, err := s.launch(ctx, "once", 2)
			if err != nil {
				return err
			}
			for range 2 {
				again, err := s.launch(ctx, "once", 2)
				if err != nil {
					return fmt.Errorf("again: %w", err)
				}
				if !slices.Equal(first, again) {
					return fmt.Errorf("again: other machines: %v, first %v", again, first)
				}
				s.Wait(s.Grace)
			}
			return s.only(ctx, first)
		},
	},
	{
		name: "token-with-other-request",
		law:  "A token sent with another request is ErrInvalid and buys nothing.",
		show: func(ctx context.Context, s *scene) error {
			first, err := s.launch(ctx, "other", 2)
			if err != nil {
				return err
			}
			got, err := s.Cloud.Launch(ctx, s.request("other", 3))
			if err := refused(err, provider.ErrInvalid, 3, len(got)); err != nil {
				return err
			}
			return s.only(ctx, first)
		},
	},
	{
		name: "token-sent-twice-at-once",
		law:  "A token sent several times at once buys once.",
		show: func(ctx context.Context, s *scene) error {
			const senders = 4
			var wg sync.WaitGroup
			got, errs := make([][]provider.Instance, senders), make([]error, senders)
			for i := range senders {
				wg.Go(func() { got[i], errs[i] = s.Cloud.Launch(ctx, s.request("at once", 2)) })
			}
			wg.Wait()
			var bought []provider.InstanceID
			for i := range senders {
				if errs[i] != nil && provider.KindOf(errs[i]) != provider.ErrUnknown {
					return fmt.Errorf("sender %d: %w", i, errs[i])
				}
				bought = append(bought, ids(got[i])...)
			}
			slices.Sort(bought)
			bought = slices.Compact(bought)
			if len(bought) != 2 {
				return fmt.Errorf("%d machines were bought, want 2", len(bought))
			}
			return s.only(ctx, bought)
		},
	},
	{
		name:  "refused-token-may-be-sent-again",
		law:   "A token that was refused and bought nothing buys when it is sent again and there is capacity.",
		needs: func(t Trouble) bool { return t.Refuse != nil },
		show: func(ctx context.Context, s *scene) error {
			s.Trouble.Refuse(provider.ErrCapacity)
			got, err := s.Cloud.Launch(ctx, s.request("refused", 1))
			if err := refused(err, provider.ErrCapacity, 1, len(got)); err != nil {
				return err
			}
			if _, err := s.launch(ctx, "refused", 1); err != nil {
				return fmt.Errorf("again: %w", err)
			}
			return nil
		},
	},
	{
		name: "spent-token",
		law:  "A token whose machines have all ended is ErrSpent, returns them if it still can, and buys nothing.",
		show: func(ctx context.Context, s *scene) error {
			first, err := s.launch(ctx, "spent", 2)
			if err != nil {
				return err
			}
			if err := s.Cloud.Terminate(ctx, first...); err != nil {
				return err
			}
			for _, id := range first {
				if _, err := s.state(ctx, id, provider.Ended); err != nil {
					return err
				}
			}
			got, err := s.Cloud.Launch(ctx, s.request("spent", 2))
			if !errors.Is(err, provider.ErrSpent) {
				return fmt.Errorf("sent again: %d machines, error %v, want ErrSpent", len(got), err)
			}
			for _, inst := range got {
				if inst.Live() || !slices.Contains(first, inst.ID) {
					return fmt.Errorf("sent again: it brought %+v", inst)
				}
			}
			return s.only(ctx, first)
		},
	},
	{
		name:  "part-comes-with-error",
		law:   "Where only a part can be had, and it is at least Min, it is returned together with a *LaunchError about the rest.",
		needs: func(t Trouble) bool { return t.Room != nil },
		show: func(ctx context.Context, s *scene) error {
			s.Trouble.Room(2)
			got, err := s.Cloud.Launch(ctx, s.request("part", 3))
			if len(got) != 2 {
				return fmt.Errorf("room for 2 of 3: %d machines, error %v", len(got), err)
			}
			if err := refused(err, provider.ErrCapacity, 3, 2); err != nil {
				return err
			}
			return s.only(ctx, ids(got))
		},
	},
	{
		name:  "least-is-kept",
		law:   "Where fewer than Min can be had, none is bought.",
		needs: func(t Trouble) bool { return t.Room != nil },
		show: func(ctx context.Context, s *scene) error {
			s.Trouble.Room(2)
			req := s.request("least", 3)
			req.Min = 3
			got, err := s.Cloud.Launch(ctx, req)
			if len(got) != 0 {
				return fmt.Errorf("room for 2, min 3: %d machines, error %v", len(got), err)
			}
			if err := refused(err, provider.ErrCapacity, 3, 0); err != nil {
				return err
			}
			return s.only(ctx, ids(nil))
		},
	},
	{
		name:  "lost-answer-is-found",
		law:   "A launch whose answer is lost is ErrUnknown; the same token then returns what it bought, and the listing shows it with its intent.",
		needs: func(t Trouble) bool { return t.LoseAnswer != nil },
		show: func(ctx context.Context, s *scene) error {
			s.Trouble.LoseAnswer()
			got, err := s.Cloud.Launch(ctx, s.request("lost", 2))
			if len(got) != 0 || provider.KindOf(err) != provider.ErrUnknown {
				return fmt.Errorf("answer lost: %d machines, error %v, want ErrUnknown", len(got), err)
			}
			again, err := s.launch(ctx, "lost", 2)
			if err != nil {
				return fmt.Errorf("again: %w", err)
			}
			list, err := s.listed(ctx, again)
			if err != nil {
				return err
			}
			for _, inst := range list {
				if inst.Tags.Intent != "lost" {
					return fmt.Errorf("listed with intent %q, want %q", inst.Tags.Intent, "lost")
				}
			}
			return s.only(ctx, again)
		},
	},
	{
		name:  "alternates-come-as-one",
		law:   "A launch that leaves the zone open brings machines of one of the zones that it names, where the first has none, and its token buys once.",
		needs: func(t Trouble) bool { return t.Room != nil },
		show: func(ctx context.Context, s *scene) error {
			s.Trouble.Room(0)
			req := s.request("alternates", 2)
			req.Min, req.Alternates = 2, []provider.Offering{s.Other}
			var ever []provider.InstanceID
			for range 2 {
				got, err := s.Cloud.Launch(ctx, req)
				if err != nil || len(got) != 2 {
					return fmt.Errorf("%d machines, error %v, want 2", len(got), err)
				}
				for _, inst := range got {
					if inst.Offering != s.Other {
						return fmt.Errorf("a machine of %s, want both of %s", inst.Offering, s.Other)
					}
				}
				if ever = ids(got); len(ever) != 2 {
					return fmt.Errorf("machines %v", ever)
				}
			}
			return s.only(ctx, ever)
		},
	},
}
