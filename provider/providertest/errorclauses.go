package providertest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/goodfleet/goodfleet/provider"
)

// hangLimit bounds how long a call may go on after its context has ended, in real
// time; hangWait is how long the context of a call that hangs lasts.
const (
	hangLimit = 10 * time.Second
	hangWait  = 50 * time.Millisecond
)

var errorClauses = []clause{
	{
		name:  "quota-is-kept",
		law:   "A limit of the account is listed, and a launch beyond it is ErrQuota.",
		needs: func(t Trouble) bool { return t.QuotaRoom != nil },
		show: func(ctx context.Context, s *scene) error {
			s.Trouble.QuotaRoom(1)
			quotas, err := s.Cloud.Quotas(ctx)
			if err != nil {
				return err
			}
			listed := false
			for _, q := range quotas {
				listed = listed || q.Class.Cloud == s.Offering.Cloud && q.Class.Region == s.Offering.Region && q.Class.Market == s.Offering.Market && q.Limit > 0
			}
			if !listed {
				return fmt.Errorf("%d quotas are listed, none of them of %s", len(quotas), s.Offering)
			}
			if got, err := s.Cloud.Launch(ctx, s.request("over", 2)); len(got) > 1 || provider.KindOf(err) != provider.ErrQuota {
				return fmt.Errorf("room for 1 of 2: %d machines, error %v, want ErrQuota", len(got), err)
			}
			return nil
		},
	},
	{
		name:  "refusals-have-their-kind",
		law:   "Each refusal of a launch wraps its error kind in a *LaunchError.",
		needs: func(t Trouble) bool { return t.Refuse != nil },
		show: func(ctx context.Context, s *scene) error {
			for _, kind := range s.Trouble.Refusals {
				s.Trouble.Refuse(kind)
				got, err := s.Cloud.Launch(ctx, s.request("kind of "+kind.Error(), 1))
				if len(got) != 0 {
					return fmt.Errorf("%w: %d machines came with it", kind, len(got))
				}
				if err := refused(err, kind, 1, 0); err != nil {
					return err
				}
			}
			return s.only(ctx, ids(nil))
		},
	},
	{
		name: "invalid-request",
		law:  "What can never work is ErrInvalid and buys nothing: no token, no count, a type that is not sold.",
		show: func(ctx context.Context, s *scene) error {
			noToken, noCount, noType := s.request("", 1), s.request("no count", 0), s.request("no type", 1)
			noType.Offering.Type = "no.such-type"
			for _, req := range []provider.LaunchRequest{noToken, noCount, noType} {
				if got, err := s.Cloud.Launch(ctx, req); len(got) != 0 || !errors.Is(err, provider.ErrInvalid) {
					return fmt.Errorf("%+v: %d machines, error %v, want ErrInvalid", req, len(got), err)
				}
			}
			return s.only(ctx, ids(nil))
		},
	},
	{
		name: "cancelled-context",
		law:  "A call whose context has ended fails with the context's error and changes nothing.",
		show: func(ctx context.Context, s *scene) error {
			want, err := s.launch(ctx, "before", 1)
			if err != nil {
				return err
			}
			s.Wait(s.Boot)
			ended, cancel := context.WithCancel(ctx)
			cancel()
			_, launchErr := s.Cloud.Launch(ended, s.request("cancelled", 1))
			_, listErr := s.Cloud.Instances(ended)
			_, noticesErr := s.Cloud.Interruptions(ended)
			_, quotasErr := s.Cloud.Quotas(ended)
			for _, call := range []struct {
				name string
				err  error
			}{
				{"launch", launchErr}, {"instances", listErr}, {"interruptions", noticesErr}, {"quotas", quotasErr},
				{"terminate", s.Cloud.Terminate(ended, want...)},
			} {
				if !errors.Is(call.err, context.Canceled) {
					return fmt.Errorf("%s: error %v, want context.Canceled", call.name, call.err)
				}
			}
			if _, err := s.state(ctx, want[0], provider.Running); err != nil {
				return err
			}
			return s.only(ctx, want)
		},
	},
	{
		name:  "hang-ends-with-context",
		law:   "A call that is never answered ends with its context, and its outcome is ErrUnknown.",
		needs: func(t Trouble) bool { return t.Hang != nil },
		show: func(ctx context.Context, s *scene) error {
			s.Trouble.Hang()
			ctx, cancel := context.WithTimeout(ctx, hangWait)
			defer cancel()
			done := make(chan error, 1)
			go func() {
				_, err := s.Cloud.Launch(ctx, s.request("hang", 1))
				done <- err
			}()
			select {
			case err := <-done:
				if provider.KindOf(err) != provider.ErrUnknown || !errors.Is(err, context.DeadlineExceeded) {
					return fmt.Errorf("error %v, want ErrUnknown for the end of the context", err)
				}
				return nil
			case <-time.After(hangLimit):
				return fmt.Errorf("no answer %v after its context ended", hangLimit)
			}
		},
	},
}
